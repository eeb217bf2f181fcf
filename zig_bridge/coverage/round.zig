//! What a consumer's `rounds.zig` imports as `build_capture`: the rounds that it is asked to drive.
//!
//! The tool owns the enumeration. It hands every round within the limits to the consumer's `layouts`,
//! which says how the round's tables can lie in memory, and then to `drive` once for each layout:
//!
//!     const capture = @import("build_capture");
//!     const cuda = @import("cuda");
//!     pub const declarations = @import("triton.zig");
//!     pub const Layout = struct { items: u32 };
//!     pub fn layouts(round: capture.Round, list: *capture.Layouts(Layout)) !void {
//!         try list.add(.{ .items = 0 });
//!     }
//!     pub fn drive(set: *const cuda.aot.Set, round: capture.Round, layout: Layout) !void {
//!         const tri: declarations.Tri = .{ .set = set, .s = .{} };
//!         try tri.embed(round.rows(), ...);
//!     }
//!
//! `drive` runs on the host and launches nothing. Addresses are made up; only whether they are
//! multiples of 16 matters, so they must be as aligned as the engine's, and no more.

const std = @import("std");

/// How large a server's rounds get.
pub const Limits = struct {
    /// Streams that a round holds at most.
    parallel: u32,
    /// Rows that one stream's window holds at most: 1 without drafting.
    window_rows: u32,
    /// Rows that a prompt chunk holds at most; 0 where prompts run through other kernels.
    prompt_rows: u32,

    /// More streams than any server runs; a larger limit is a slip of the keyboard.
    pub const parallel_max = 1024;
    /// The same for the rows of a window.
    pub const window_rows_max = 4096;
    /// The same for the rows of a prompt chunk.
    pub const prompt_rows_max = 1 << 20;

    /// What is wrong with the limits; null if nothing is.
    pub fn problem(limits: Limits) ?[]const u8 {
        if (limits.parallel < 1 or limits.parallel > parallel_max) {
            return std.fmt.comptimePrint("parallel must be from 1 to {d}", .{parallel_max});
        }
        if (limits.window_rows < 1 or limits.window_rows > window_rows_max) {
            return std.fmt.comptimePrint("window rows must be from 1 to {d}", .{window_rows_max});
        }
        if (limits.prompt_rows > prompt_rows_max) {
            return std.fmt.comptimePrint("prompt rows must be from 0 to {d}", .{prompt_rows_max});
        }
        return null;
    }
};

/// One forward pass of the server.
pub const Round = struct {
    /// What the round does.
    kind: Kind,
    /// The limits that the round lies within.
    limits: Limits,
    /// The rows of each stream's window, none of them 0. A decode round of as many streams and rows
    /// may deal its rows otherwise; the tool shows one deal, as even as it goes, and `layouts`
    /// answers for all.
    windows: []const u32,

    /// The two kinds of round.
    pub const Kind = enum {
        /// A window of rows for each of one or more streams.
        decode,
        /// A chunk of one stream's prompt.
        prompt,
    };

    /// How many streams take part.
    pub fn streams(round: Round) u32 {
        return @intCast(round.windows.len);
    }

    /// How many rows the streams have in all (W).
    pub fn rows(round: Round) u32 {
        var total: u32 = 0;
        for (round.windows) |window| total += window;
        return total;
    }
};

/// The layouts of one round, as `layouts` lists them. `Layout` is the consumer's struct of ints,
/// bools and enums: whatever decides, beside streams and rows, how the round's tables lie.
pub fn Layouts(comptime Layout: type) type {
    return struct {
        const Self = @This();
        /// Layouts differ in alignments only, so a round has few; more is an endless loop.
        pub const capacity = 256;

        buffer: [capacity]Layout = undefined,
        count: usize = 0,

        /// Adds a layout that the round can have.
        pub fn add(list: *Self, layout: Layout) error{TooManyLayouts}!void {
            if (list.count == capacity) return error.TooManyLayouts;
            list.buffer[list.count] = layout;
            list.count += 1;
        }

        /// The layouts added so far.
        pub fn items(list: *const Self) []const Layout {
            return list.buffer[0..list.count];
        }
    };
}

test "round: limits name what is out of range" {
    const good: Limits = .{ .parallel = 1, .window_rows = 1, .prompt_rows = 0 };
    try std.testing.expectEqual(@as(?[]const u8, null), good.problem());
    var bad = good;
    bad.parallel = 0;
    try std.testing.expectEqualStrings("parallel must be from 1 to 1024", bad.problem().?);
    bad = good;
    bad.window_rows = Limits.window_rows_max + 1;
    try std.testing.expectEqualStrings("window rows must be from 1 to 4096", bad.problem().?);
    bad = good;
    bad.prompt_rows = Limits.prompt_rows_max + 1;
    try std.testing.expectEqualStrings("prompt rows must be from 0 to 1048576", bad.problem().?);
}

test "round: layouts are bounded" {
    var list: Layouts(u32) = .{};
    for (0..Layouts(u32).capacity) |index| try list.add(@intCast(index));
    try std.testing.expectError(error.TooManyLayouts, list.add(0));
    try std.testing.expectEqual(@as(usize, Layouts(u32).capacity), list.items().len);
}
