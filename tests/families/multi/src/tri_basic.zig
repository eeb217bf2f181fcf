//! The engine's kernels and the launches that every family has.

const cuda = @import("cuda");
const aot = cuda.aot;
const arguments = @import("arguments.zig");
const shape = @import("shape.zig");

pub const Tri = struct {
    set: *const aot.Set,
    s: cuda.Stream,

    /// Hands a launch on; its callers make the lists.
    pub fn run(t: Tri, function: []const u8, grid: [3]u32, args: []const aot.Arg, consts: []const aot.Const) !void {
        try t.set.run(t.s, function, grid, args, consts);
    }

    pub fn copy(t: Tri, n: usize, x: u64, y: u64) !void {
        try t.run("_multi_copy", .{ 1, 1, 1 }, &(arguments.pointers(x, y) ++ arguments.count(n)), &.{});
    }

    pub fn mask(t: *Tri, mode: shape.Mode, is_packed: bool, n: u32) !void {
        const consts = [_]aot.Const{aot.ci("MODE", @intFromEnum(mode))};
        try t.run("_multi_mask", .{ n, 1, 1 }, &.{aot.int("n", @intCast(n))}, &(consts ++ .{aot.ci("PACKED", @intFromBool(is_packed))}));
    }
};
