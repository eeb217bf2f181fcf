//! Latent attention: launch options and tiles follow the bucket of rows, pointer types are parameters themselves.

const std = @import("std");
const cuda = @import("cuda");
const aot = cuda.aot;
const p = aot.ptr;

const bf16 = "*bf16";

pub const Plan = struct {
    /// Parts that the keys are split into; none before the first key.
    splits: usize,
    /// One int32 a row, behind other tables.
    table: u64,
    bias: ?u64,
};

fn int(name: []const u8, value: usize) aot.Arg {
    return aot.int(name, @intCast(value));
}

fn ci(name: []const u8, value: usize) aot.Const {
    return aot.ci(name, @intCast(value));
}

fn cb(name: []const u8, value: bool) aot.Const {
    return aot.ci(name, @intFromBool(value));
}

/// The tile that a number of rows fills best.
fn tileOf(rows: usize) usize {
    return @max(16, std.math.ceilPowerOfTwoAssert(usize, rows));
}

pub const Tri = struct {
    set: *const aot.Set,
    s: cuda.Stream,

    fn run(t: Tri, function: []const u8, grid: [3]u32, args: []const aot.Arg, consts: []const aot.Const, launch: aot.Launch) !void {
        try t.set.runWith(t.s, function, grid, args, consts, launch);
    }

    pub fn absorb(t: Tri, rows: usize, latent: usize, x: u64, w: u64, out: u64) !void {
        const tile = tileOf(rows);
        try t.run("_mla_absorb", .{ @intCast((rows + tile - 1) / tile), 1, 1 }, &.{
            p("X", bf16, x),
            p("W", bf16, w),
            p("OUT", bf16, out),
            int("M", rows),
        }, &.{ ci("L", latent), ci("BM", tile) }, .{ .num_warps = if (tile <= 32) 4 else 8, .num_stages = 2 });
    }

    pub fn decode(t: Tri, q: u64, plan: *const Plan, branch_ty: []const u8) !void {
        if (plan.splits > 0) try t.run("_mla_decode", .{ @intCast(plan.splits), 1, 1 }, &.{
            p("Q", branch_ty, q),
            p("TABLE", "*i32", plan.table),
            p("BIAS", "*fp32", plan.bias orelse q),
            int("SPLITS", plan.splits),
        }, &.{cb("HAS_BIAS", plan.bias != null)}, .{});
    }
};

test "tiles are powers of two from 16 on" {
    try std.testing.expectEqual(@as(usize, 16), tileOf(1));
    try std.testing.expectEqual(@as(usize, 64), tileOf(33));
}
