//! The root of several files. It has free functions that take the engine's kernels, and lists that grow in a buffer.

const std = @import("std");
const cuda = @import("cuda");
const aot = cuda.aot;
const shape = @import("shape.zig");

pub const tri_basic = @import("tri_basic.zig");
pub const Tri = tri_basic.Tri;

pub fn norm(t: Tri, rows: usize, x: u64, w: u64, eps: f32) !void {
    const block = comptime std.math.ceilPowerOfTwoAssert(usize, shape.hidden);
    try t.run("_multi_norm", .{ @intCast(rows), 1, 1 }, &.{
        aot.ptr("X", "*bf16", x),
        aot.ptr("W", "*bf16", w),
        aot.int("ROWS", @intCast(rows)),
        aot.float("eps", eps),
    }, &.{ aot.ci("D", shape.hidden), aot.ci("BLOCK", block) });
}

pub fn pair(t: Tri, sides: [2]i32) !void {
    var buffer: [4]aot.Arg = undefined;
    const names = [_][]const u8{ "A", "B" };
    for (sides, names, 0..) |side, name, index| buffer[index] = aot.int(name, side);
    try t.run("_multi_pair", .{ 1, 1, 1 }, buffer[0..sides.len], &.{});
}
