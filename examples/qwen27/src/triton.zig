//! The launches of the qwen27 family. Launch options live beside the kernels.

const std = @import("std");
const cuda = @import("cuda");
const shape = @import("shape.zig");
const aot = cuda.aot;
const p = aot.ptr;

const bf16 = "*bf16";
const f32p = "*fp32";
const i32p = "*i32";
const i64p = "*i64";

/// Columns of one block of an embedding row.
const embed_block = 64;
/// Columns of one block of the gated activation.
const swiglu_block = 1024;
/// Values that share a sum, and sums of one block.
const group_values = 64;
const group_block = 16;
/// Values of a head that one block of the merge folds.
const merge_slice = 64;

fn int(name: []const u8, value: usize) aot.Arg {
    return aot.int(name, @intCast(value));
}

fn ci(name: []const u8, value: usize) aot.Const {
    return aot.ci(name, @intCast(value));
}

fn cb(name: []const u8, value: bool) aot.Const {
    return aot.ci(name, @intFromBool(value));
}

fn cdiv(value: usize, divisor: usize) u32 {
    return @intCast((value + divisor - 1) / divisor);
}

fn pow2(value: usize) usize {
    return std.math.ceilPowerOfTwoAssert(usize, value);
}

fn dim(value: usize) u32 {
    return @intCast(value);
}

/// The kernels of one engine: the captured set and the stream that they run on.
pub const Tri = struct {
    set: *const aot.Set,
    s: cuda.Stream,

    fn run(t: Tri, function: []const u8, grid: [3]u32, args: []const aot.Arg, consts: []const aot.Const) !void {
        try t.set.run(t.s, function, grid, args, consts);
    }

    /// Rows of a 4-bit table.
    pub fn embed(t: Tri, rows: usize, d: usize, ids: u64, table: shape.Affine, out: u64) !void {
        try t.run("_embed", .{ dim(rows), dim(d / embed_block), 1 }, &.{
            p("IDS", i32p, ids),
            p("Wt", i32p, table.words),
            p("S", bf16, table.scales),
            p("B", bf16, table.biases),
            p("OUT", bf16, out),
        }, &.{ci("D", d)});
    }

    /// RMS norm of x, or of x + residual, whose sum then goes to `sum_out`.
    pub fn addRmsNorm(t: Tri, rows: usize, d: usize, x: u64, residual: ?u64, w: u64, sum_out: u64, y: u64, sums: u64, eps: f32) !void {
        try t.run("_add_rmsnorm", .{ dim(rows), 1, 1 }, &.{
            p("X", bf16, x),
            p("R", bf16, residual orelse x),
            p("W", bf16, w),
            p("H", bf16, if (residual != null) sum_out else x),
            p("Y", bf16, y),
            p("XS", f32p, sums),
            aot.float("eps", eps),
        }, &.{ ci("D", d), ci("BLOCK", pow2(d)), cb("HAS_R", residual != null) });
    }

    /// Convolution, activation and norms before a DeltaNet step.
    pub fn gdnPre(t: Tri, rows: usize, a: shape.Delta, size: shape.DeltaShape) !void {
        const channels = (2 * size.key_heads + size.value_heads) * size.width;
        try t.run("_gdn_pre", .{ dim(rows), dim(2 * size.key_heads + size.value_heads), 1 }, &.{
            p("QKV", bf16, a.qkv),
            p("CS", bf16, a.conv_state),
            p("CW", bf16, a.conv_weight),
            p("WIN", i32p, a.windows),
            p("A", bf16, a.a),
            p("B", bf16, a.b),
            p("ALOG", f32p, a.a_log),
            p("DTB", f32p, a.dt_bias),
            p("Q", bf16, a.q),
            p("K", bf16, a.k),
            p("V", bf16, a.v),
            p("G", f32p, a.g),
            p("BETA", f32p, a.beta),
            p("SID", i32p, a.stream_ids orelse a.windows),
        }, &.{
            ci("C", channels),
            ci("KH", size.key_heads),
            ci("VH", size.value_heads),
            ci("DK", size.width),
            ci("NKEEP", size.kept),
            cb("MULTI", a.stream_ids != null),
        });
    }

    /// RMS norm of each value head, gated.
    pub fn gatedNorm(t: Tri, rows: usize, size: shape.DeltaShape, y: u64, z: u64, w: u64, out: u64, sums: u64, eps: f32) !void {
        try t.run("_gated_norm", .{ dim(rows), dim(size.value_heads), 1 }, &.{
            p("Yr", bf16, y),
            p("Z", bf16, z),
            p("W", bf16, w),
            p("OUT", bf16, out),
            p("XS", f32p, sums),
            aot.float("eps", eps),
        }, &.{ ci("VH", size.value_heads), ci("DV", size.width) });
    }

    /// The gated activation of a feed-forward layer.
    pub fn swiglu(t: Tri, rows: usize, n: usize, gate: u64, up: u64, out: u64, sums: u64) !void {
        try t.run("_swiglu", .{ dim(rows), cdiv(n, swiglu_block), 1 }, &.{
            p("GATE", bf16, gate),
            p("UP", bf16, up),
            p("OUT", bf16, out),
            p("XS", f32p, sums),
        }, &.{ ci("N", n), ci("BLOCK", swiglu_block) });
    }

    /// Norm and rotary of the query and key heads. The text model has no multimodal rotary.
    pub fn attnPrep(t: Tri, rows: usize, a: shape.Prep, size: shape.AttentionShape) !void {
        try t.run("_attn_prep", .{ dim(rows), dim(size.heads + size.kv_heads), 1 }, &.{
            p("QG", bf16, a.query_gate),
            p("KV", bf16, a.key),
            p("QN", bf16, a.query_norm),
            p("KN", bf16, a.key_norm),
            p("POS", i32p, a.positions),
            p("INV", f32p, a.frequencies),
            p("QOUT", bf16, a.query_out),
            p("KOUT", bf16, a.key_out),
            aot.float("eps", a.eps),
        }, &.{
            ci("H", size.heads),
            ci("HKV", size.kv_heads),
            ci("D", size.width),
            ci("HALF", a.rotary_half),
            ci("MROPE", 0),
            ci("ROWS", 0),
            ci("HSEC", a.height_section),
            ci("WSEC", a.width_section),
        });
    }

    /// Attention output times the sigmoid of its gate.
    pub fn gateMul(t: Tri, rows: usize, size: shape.AttentionShape, o: u64, query_gate: u64, out: u64, sums: u64) !void {
        try t.run("_gate_mul", .{ dim(rows), dim(size.heads), 1 }, &.{
            p("O", bf16, o),
            p("QG", bf16, query_gate),
            p("OUT", bf16, out),
            p("XS", f32p, sums),
        }, &.{ ci("H", size.heads), ci("D", size.width) });
    }

    /// Sums of 64 values for rows that no other kernel has summed.
    pub fn groupSums(t: Tri, rows: usize, k: usize, x: u64, sums: u64, row_stride: usize) !void {
        const groups = k / group_values;
        try t.run("_group_sums", .{ dim(rows), cdiv(groups, group_block), 1 }, &.{
            p("X", bf16, x),
            p("XS", f32p, sums),
            int("ldx", row_stride),
        }, &.{ ci("KG", groups), ci("GS", group_values), ci("GB", group_block) });
    }

    /// Each row's way from the root of its tree.
    pub fn treePaths(t: Tri, rows: usize, parents: u64, paths: u64, depths: u64, depth_max: usize) !void {
        try t.run("_paths", .{ dim(rows), 1, 1 }, &.{
            p("PARENTS", i32p, parents),
            p("PATHS", i32p, paths),
            p("DEPTHS", i32p, depths),
        }, &.{ci("MAXD", depth_max)});
    }

    /// Attention over the committed keys: whole groups and loose chunks, then the tail with each
    /// row's own path, then the fold.
    pub fn attention(t: Tri, q: u64, k_new: u64, v_new: u64, cache: shape.Cache, plan: shape.Plan, part: shape.Partials, out: u64, size: shape.AttentionShape, chunks: shape.Chunks) !void {
        if (plan.item_count > 0) try t.shared(q, cache, plan, part, size, chunks);
        try t.tail(q, k_new, v_new, cache, plan, part, size, chunks);
        try t.merge(plan, part, out, size, chunks);
    }

    fn shared(t: Tri, q: u64, cache: shape.Cache, plan: shape.Plan, part: shape.Partials, size: shape.AttentionShape, chunks: shape.Chunks) !void {
        try t.run("_shared", .{ dim(plan.item_count * size.kv_heads), 1, 1 }, &.{
            p("Q", bf16, q),
            p("KC", bf16, cache.origin),
            p("VC", bf16, cache.origin),
            p("OFF", i64p, cache.offsets),
            p("STREAM", i32p, plan.streams),
            p("ITEMS", i32p, plan.items),
            p("PO", f32p, part.out),
            p("PM", f32p, part.maximum),
            p("PL", f32p, part.sum),
            int("W", plan.row_count),
        }, &.{
            ci("H", size.heads),
            ci("HK", size.kv_heads),
            ci("D", size.width),
            ci("G", size.heads / size.kv_heads),
            ci("CH", chunks.keys),
            aot.cf("SCALE", scale(size)),
            ci("GR", chunks.in_group),
        });
    }

    fn tail(t: Tri, q: u64, k_new: u64, v_new: u64, cache: shape.Cache, plan: shape.Plan, part: shape.Partials, size: shape.AttentionShape, chunks: shape.Chunks) !void {
        const tail_chunks = 1 + cdiv(chunks.depth_max, chunks.keys);
        try t.run("_tail", .{ dim(plan.row_count), dim(size.kv_heads), tail_chunks }, &.{
            p("Q", bf16, q),
            p("KN", bf16, k_new),
            p("VN", bf16, v_new),
            p("KC", bf16, cache.origin),
            p("VC", bf16, cache.origin),
            p("OFF", i64p, cache.offsets),
            p("STREAM", i32p, plan.streams),
            p("ROWS", i32p, plan.rows),
            p("PATHS", i32p, plan.paths),
            p("DEPTHS", i32p, plan.depths),
            p("PO", f32p, part.out),
            p("PM", f32p, part.maximum),
            p("PL", f32p, part.sum),
            int("W", plan.row_count),
        }, &.{
            ci("H", size.heads),
            ci("HK", size.kv_heads),
            ci("D", size.width),
            ci("G", size.heads / size.kv_heads),
            ci("CH", chunks.keys),
            ci("MAXD", chunks.depth_max),
            aot.cf("SCALE", scale(size)),
            ci("GR", chunks.in_group),
        });
    }

    fn merge(t: Tri, plan: shape.Plan, part: shape.Partials, out: u64, size: shape.AttentionShape, chunks: shape.Chunks) !void {
        try t.run("_merge", .{ dim(plan.row_count), dim(size.kv_heads), dim(size.width / merge_slice) }, &.{
            p("PO", f32p, part.out),
            p("PM", f32p, part.maximum),
            p("PL", f32p, part.sum),
            p("OUT", bf16, out),
            p("STREAM", i32p, plan.streams),
            p("ROWS", i32p, plan.rows),
            int("W", plan.row_count),
        }, &.{
            ci("H", size.heads),
            ci("D", size.width),
            ci("G", size.heads / size.kv_heads),
            ci("DS", merge_slice),
            ci("CH", chunks.keys),
            ci("GR", chunks.in_group),
        });
    }
};

/// The usual softmax scale of a head.
fn scale(size: shape.AttentionShape) f32 {
    return 1.0 / @sqrt(@as(f32, @floatFromInt(size.width)));
}
