//! What is wrong with a set, gathered: all of it is told in one run.

const std = @import("std");
const Writer = std.Io.Writer;

/// How any damage is mended: nothing in a set is worth repairing.
pub const anew = "copy, unpack or install it anew";

/// One thing that is wrong.
pub const Problem = struct {
    /// The file or folder, as the user knows it.
    file: []const u8,
    what: []const u8,
    mend: []const u8 = anew,

    /// Writes it as a compiler would: `file: error: what; mend`.
    pub fn write(problem: Problem, writer: *Writer) Writer.Error!void {
        try writer.print("{s}: error: {s}", .{ problem.file, problem.what });
        if (problem.mend.len > 0) try writer.print("; {s}", .{problem.mend});
        try writer.writeByte('\n');
    }
};

/// The problems of one set.
pub const Problems = struct {
    arena: std.mem.Allocator,
    /// The folder of the set, as the user knows it.
    shown: []const u8,
    list: std.ArrayList(Problem) = .empty,

    /// Adds a problem of the file `name`, which is relative to the set's folder; empty for the folder itself.
    pub fn add(problems: *Problems, name: []const u8, comptime format: []const u8, values: anytype) error{OutOfMemory}!void {
        return problems.addMended(name, anew, format, values);
    }

    /// The same, for what is mended in another way.
    pub fn addMended(problems: *Problems, name: []const u8, mend: []const u8, comptime format: []const u8, values: anytype) error{OutOfMemory}!void {
        const arena = problems.arena;
        try problems.list.append(arena, .{
            .file = if (name.len == 0) problems.shown else try std.fmt.allocPrint(arena, "{s}/{s}", .{ problems.shown, name }),
            .what = try std.fmt.allocPrint(arena, format, values),
            .mend = mend,
        });
    }

    /// Whether something was said of this file.
    pub fn has(problems: *const Problems, name: []const u8) bool {
        for (problems.list.items) |problem| {
            const at = problems.shown.len;
            if (problem.file.len == at + 1 + name.len and std.mem.endsWith(u8, problem.file, name) and problem.file[at] == '/') return true;
        }
        return false;
    }

    /// In the order of the files.
    pub fn sort(problems: *Problems) void {
        std.mem.sort(Problem, problems.list.items, {}, before);
    }

    fn before(_: void, left: Problem, right: Problem) bool {
        const files = std.mem.order(u8, left.file, right.file);
        return files == .lt or (files == .eq and std.mem.order(u8, left.what, right.what) == .lt);
    }
};
