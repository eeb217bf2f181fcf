//! What streams bring to a round: windows of rows, chains and trees, over committed keys of any number.

const std = @import("std");
const profile = @import("profile");

const geometry = profile.geometry;
/// Rows of the largest window.
pub const rows_max = profile.limits.window_rows;
/// Streams of the largest round.
pub const streams_max = profile.limits.parallel;
/// Committed keys that a stream has room for.
pub const keys_max = 25 * geometry.chunk_keys;

/// What one stream brings.
pub const Window = struct {
    /// Which of the server's streams it is.
    stream: u32,
    /// Keys of the stream before the window.
    committed: u32,
    rows: u32,
    /// Each row's parent row within the window, before the row itself; -1 for the root.
    parents: [rows_max]i8,

    /// Rows from the root to a row, the row included, root first.
    pub fn path(window: *const Window, row: u32, buffer: *[rows_max]u32) []const u32 {
        var count: usize = 0;
        var node: i8 = @intCast(row);
        while (node >= 0) : (node = window.parents[@intCast(node)]) {
            count += 1;
            buffer[rows_max - count] = @intCast(node);
        }
        return buffer[rows_max - count ..];
    }
};

/// The windows of one round, in its order.
pub const Round = struct {
    buffer: [streams_max]Window = undefined,
    count: u32 = 0,

    /// The windows.
    pub fn windows(round: *const Round) []const Window {
        return round.buffer[0..round.count];
    }

    /// Rows of all windows.
    pub fn rows(round: *const Round) u32 {
        var sum: u32 = 0;
        for (round.windows()) |window| sum += window.rows;
        return sum;
    }

    /// A round of one window.
    pub fn alone(window: Window) Round {
        var round: Round = .{ .count = 1 };
        round.buffer[0] = window;
        return round;
    }
};

/// What rounds are made within.
pub const Limits = struct { parallel: u32, window_rows: u32 };

/// Draws rounds. The same seed draws the same rounds.
pub const Source = struct {
    random: std.Random,
    limits: Limits,
    drawn: u32 = 0,

    /// The next round. The first ones climb: 1, 2, … streams of one row, then of full windows. All others are random.
    pub fn next(source: *Source) Round {
        const parallel = source.limits.parallel;
        defer source.drawn += 1;
        if (source.drawn < parallel) return source.draw(source.drawn + 1, 1);
        if (source.drawn < 2 * parallel) return source.draw(source.drawn - parallel + 1, source.limits.window_rows);
        return source.draw(source.random.intRangeAtMost(u32, 1, parallel), null);
    }

    /// A round of some streams in any order; every window has `rows` rows, or a number of its own.
    fn draw(source: *Source, count: u32, rows: ?u32) Round {
        var streams: [streams_max]u32 = undefined;
        for (&streams, 0..) |*stream, index| stream.* = @intCast(index);
        source.random.shuffle(u32, streams[0..source.limits.parallel]);
        var round: Round = .{ .count = count };
        for (round.buffer[0..count], streams[0..count]) |*window, stream| {
            window.* = source.drawWindow(stream, rows orelse source.windowRows());
        }
        return round;
    }

    /// One row and full windows are what servers do most.
    fn windowRows(source: *Source) u32 {
        return switch (source.random.uintLessThan(u32, 8)) {
            0, 1 => 1,
            2, 3 => source.limits.window_rows,
            else => source.random.intRangeAtMost(u32, 1, source.limits.window_rows),
        };
    }

    fn drawWindow(source: *Source, stream: u32, rows: u32) Window {
        const random = source.random;
        const is_tree = random.boolean();
        var drawn: Window = .{ .stream = stream, .committed = source.drawCommitted(), .rows = rows, .parents = @splat(-1) };
        for (1..rows) |row| {
            drawn.parents[row] = if (is_tree) @intCast(random.uintLessThan(usize, row)) else @intCast(row - 1);
        }
        return drawn;
    }

    /// Any number of keys, as often as not on or beside a boundary of a chunk or a group.
    fn drawCommitted(source: *Source) u32 {
        const random = source.random;
        if (random.boolean()) return random.uintLessThan(u32, keys_max - 2 * rows_max);
        const boundaries = [_]u32{ 0, 1, 4, 8, 16, 20, 24 };
        const beside = [_]i32{ -17, -1, 0, 1, 13 };
        const boundary: i32 = @intCast(boundaries[random.uintLessThan(usize, boundaries.len)] * geometry.chunk_keys);
        return @intCast(@max(0, boundary + beside[random.uintLessThan(usize, beside.len)]));
    }
};

test "windows: a row's path, root first" {
    var window: Window = .{ .stream = 0, .committed = 0, .rows = 5, .parents = @splat(-1) };
    @memcpy(window.parents[0..5], &[_]i8{ -1, 0, 0, 2, 3 });
    var buffer: [rows_max]u32 = undefined;
    try std.testing.expectEqualSlices(u32, &.{0}, window.path(0, &buffer));
    try std.testing.expectEqualSlices(u32, &.{ 0, 1 }, window.path(1, &buffer));
    try std.testing.expectEqualSlices(u32, &.{ 0, 2, 3, 4 }, window.path(4, &buffer));
}

test "windows: rounds climb first, stay within the limits, and reach both ends of them" {
    var prng: std.Random.DefaultPrng = .init(7);
    const limits: Limits = .{ .parallel = 3, .window_rows = 5 };
    var source: Source = .{ .random = prng.random(), .limits = limits };
    const climbing = [_]u32{ 1, 2, 3, 5, 10, 15 };
    for (climbing) |rows| try std.testing.expectEqual(rows, source.next().rows());
    var trees: u32 = 0;
    var seen_rows: [16]bool = @splat(false);
    for (0..200) |_| {
        const round = source.next();
        seen_rows[round.rows()] = true;
        var seen_streams: [streams_max]bool = @splat(false);
        for (round.windows()) |window| {
            try std.testing.expect(!seen_streams[window.stream] and window.stream < limits.parallel);
            seen_streams[window.stream] = true;
            try std.testing.expect(window.rows >= 1 and window.rows <= limits.window_rows and window.committed + rows_max <= keys_max);
            for (window.parents[0..window.rows], 0..) |parent, row| {
                try std.testing.expect(parent < @as(i8, @intCast(row)) and (parent >= 0) == (row > 0));
                if (parent >= 0 and parent + 1 < row) trees += 1;
            }
        }
    }
    try std.testing.expect(trees > 0 and seen_rows[1] and seen_rows[15]);
}
