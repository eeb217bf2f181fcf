//! A mixture of experts: sizes derived from the rows, launches in a loop, tiles that the set itself offers, two branches.

const std = @import("std");
const cuda = @import("cuda");
const aot = cuda.aot;
const p = aot.ptr;

/// An expert that every row takes.
pub const Shared = struct {
    gate: u64,
    scale: f32,
};

fn int(name: []const u8, value: usize) aot.Arg {
    return aot.int(name, @intCast(value));
}

fn ci(name: []const u8, value: usize) aot.Const {
    return aot.ci(name, @intCast(value));
}

pub const Tri = struct {
    set: *const aot.Set,
    s: cuda.Stream,
    experts: usize,

    pub fn route(t: Tri, rows: usize, top_k: usize, logits: u64, ids: u64, weights: u64) !void {
        const block = std.math.ceilPowerOfTwoAssert(usize, t.experts);
        try t.set.runWith(t.s, "_moe_route", .{ @intCast(rows), 1, 1 }, &.{
            p("LOGITS", "*bf16", logits),
            p("IDS", "*i32", ids),
            p("WEIGHTS", "*fp32", weights),
            int("N", rows * top_k),
        }, &.{ ci("E", t.experts), ci("BLOCK", block), ci("K", top_k) }, .{ .num_warps = if (block <= 32) 2 else 4 });
    }

    pub fn gemm(t: Tri, rows: usize, pairs: usize, tiles: usize, x: u64, w: u64, out: u64) !void {
        const tile = t.set.smallestConst("_moe_gemm", "BM", @intCast(@min(rows, 32))) orelse return error.NoTile;
        for ([_]bool{ false, true }) |down| {
            try t.set.run(t.s, "_moe_gemm", .{ @intCast(tiles), 1, 1 }, &.{
                p("X", "*bf16", x),
                p("W", "*bf16", w),
                p("OUT", "*bf16", out),
                int("M", pairs),
                int("TILES", tiles),
            }, &.{ aot.ci("BM", tile), ci("DOWN", @intFromBool(down)) });
        }
    }

    pub fn combine(t: Tri, rows: usize, out: u64, shared: ?Shared) !void {
        const grid = [3]u32{ @intCast(rows), 1, 1 };
        if (shared) |expert| {
            try t.set.run(t.s, "_moe_shared", grid, &.{
                p("OUT", "*bf16", out),
                p("GATE", "*bf16", expert.gate),
                aot.float("scale", expert.scale),
                int("R", rows),
            }, &.{});
        } else {
            try t.set.run(t.s, "_moe_plain", grid, &.{ p("OUT", "*bf16", out), int("R", rows) }, &.{});
        }
    }
};
