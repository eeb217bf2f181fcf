//! The table of a round lies behind one int32 for each of its rows.

const std = @import("std");
const capture = @import("build_capture");
const cuda = @import("cuda");

pub const declarations = @import("triton.zig");

const word_bytes = std.fmt.parseInt(u64, @embedFile("word_bytes.txt"), 10) catch unreachable;

pub const Layout = struct {};

pub fn layouts(_: capture.Round, list: *capture.Layouts(Layout)) !void {
    try list.add(.{});
}

pub fn drive(set: *const cuda.aot.Set, round: capture.Round, _: Layout) !void {
    const tri: declarations.Tri = .{ .set = set, .s = .{} };
    try tri.attend(round.rows(), 1 << 16, (1 << 20) + word_bytes * round.rows());
}
