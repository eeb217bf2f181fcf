//! The rounds of a qwen27 server: how a round's tables lie in memory, and what it launches.
//!
//! Every buffer of its own starts 256-byte aligned. What is not aligned is what lies behind other
//! tables in one upload, and that follows from the streams, the rows and the items of the round.

const std = @import("std");
const capture = @import("build_capture");
const cuda = @import("cuda");
const profile = @import("profile");
const plan_of_round = @import("plan.zig");
const shape = @import("shape.zig");

pub const declarations = @import("triton.zig");

const geometry = profile.geometry;
const attention = plan_of_round.attention;
const chunks = plan_of_round.chunks;
const itemsOfChunk = plan_of_round.itemsOfChunk;

/// What beside streams and rows decides how a round's tables lie.
pub const Layout = struct {
    /// Items of the attention plan.
    items: u32,
    /// A prompt chunk that names its stream's state by id, since the server keeps several.
    stream_ids: bool = false,
};

const delta: shape.DeltaShape = .{
    .key_heads = geometry.delta_key_heads,
    .value_heads = geometry.delta_value_heads,
    .width = geometry.delta_width,
    .kept = geometry.conv_taps_kept,
};

/// Every layout that a round of this shape can have.
///
/// Items move the tables behind them by 12 bytes each, so they count modulo 4, and only whether
/// there are any decides about `_shared`. A round has n = sum over its streams of m * c(rows) items,
/// c(rows) = `itemsOfChunk(rows)`, m >= 0 being the chunks and folded groups of the stream's
/// committed keys. A stream whose keys do not fill a chunk has m = 0, so n = m * c(rows) with a
/// single stream is reachable for every window that some deal of the rows holds.
/// These already reach every residue: an odd c reaches all four with m = 1 to 4; where every c is
/// even, any sum of them is even and only a c of 2 modulo 4 leaves the multiples of 4 (16 full
/// windows have c = 6, so never an odd n). The windows that a deal can hold are the ones that
/// leave each other stream at least one row and at most a full window.
pub fn layouts(round: capture.Round, list: *capture.Layouts(Layout)) !void {
    try list.add(.{ .items = 0 });
    if (round.kind == .prompt) {
        if (round.limits.parallel > 1) try list.add(.{ .items = 0, .stream_ids = true });
        return;
    }
    const others = round.streams() - 1;
    const shortest = @max(1, round.rows() -| others * round.limits.window_rows);
    const longest = @min(round.limits.window_rows, round.rows() - others);
    var smallest: [4]?u32 = @splat(null);
    for (shortest..longest + 1) |window| {
        const step = itemsOfChunk(@intCast(window));
        for (1..5) |count| {
            const items = step * @as(u32, @intCast(count));
            const known = &smallest[items % 4];
            if (known.* == null or items < known.*.?) known.* = items;
        }
    }
    for (smallest) |items| {
        if (items) |reachable| try list.add(.{ .items = reachable });
    }
}

/// Launches one round in the order of a forward pass: the embedding, one layer of each kind, the
/// feed-forward layer and the last norm. Further layers repeat the same specializations.
pub fn drive(set: *const cuda.aot.Set, round: capture.Round, layout: Layout) !void {
    const tri: declarations.Tri = .{ .set = set, .s = .{} };
    const rows = round.rows();
    const tables: Tables = switch (round.kind) {
        .prompt => .ofPrompt(layout),
        .decode => if (round.streams() == 1) .ofOneStream(rows, layout) else .ofStreams(round.streams(), rows, layout),
    };
    const hidden = geometry.hidden;
    const eps = geometry.eps;
    try tri.embed(rows, hidden, tables.ids, .{ .words = at(.embed_words), .scales = at(.embed_scales), .biases = at(.embed_biases) }, at(.x));
    try tri.addRmsNorm(rows, hidden, at(.x), null, at(.norm), at(.h), at(.y), at(.sums), eps);
    try driveDelta(tri, rows, tables);
    try tri.addRmsNorm(rows, hidden, at(.x), at(.residual), at(.norm), at(.h), at(.y), at(.sums), eps);
    try driveAttention(tri, rows, tables, layout);
    try tri.swiglu(rows, geometry.intermediate, at(.gate), at(.up), at(.wide), at(.sums));
    // The inputs of projections that no kernel above has summed, one width each.
    const widths = [_]usize{ hidden, geometry.query_heads * geometry.head_width, geometry.intermediate };
    for (widths) |width| try tri.groupSums(rows, width, at(.wide), at(.sums), width);
    if (round.kind == .prompt) {
        // Only the last row of a chunk goes on to the vocabulary.
        const before = @as(u64, rows - 1) * hidden * @sizeOf(u16);
        try tri.addRmsNorm(1, hidden, at(.x) + before, at(.residual) + before, at(.norm), at(.h), at(.y), at(.sums), eps);
    }
}

fn driveDelta(tri: declarations.Tri, rows: usize, tables: Tables) !void {
    try tri.gdnPre(rows, .{
        .qkv = at(.qkv),
        .conv_state = at(.conv_state),
        .conv_weight = at(.conv_weight),
        .windows = tables.windows,
        .a = at(.a),
        .b = at(.b),
        .a_log = at(.a_log),
        .dt_bias = at(.dt_bias),
        .q = at(.q),
        .k = at(.k),
        .v = at(.v),
        .g = at(.g),
        .beta = at(.beta),
        .stream_ids = tables.stream_ids,
    }, delta);
    try tri.gatedNorm(rows, delta, at(.y), at(.z), at(.norm), at(.wide), at(.sums), geometry.eps);
}

fn driveAttention(tri: declarations.Tri, rows: usize, tables: Tables, layout: Layout) !void {
    try tri.attnPrep(rows, .{
        .query_gate = at(.qkv),
        .key = at(.k),
        .query_norm = at(.query_norm),
        .key_norm = at(.key_norm),
        .positions = tables.positions,
        .frequencies = at(.frequencies),
        .query_out = at(.q),
        .key_out = at(.k_new),
        .eps = geometry.eps,
        .rotary_half = geometry.rotary_half,
        .height_section = geometry.rope_sections.height,
        .width_section = geometry.rope_sections.width,
    }, attention);
    // A prompt chunk attends through kernels of the engine's own, without a plan.
    if (tables.plan) |plan| {
        try tri.treePaths(rows, plan.parents, at(.paths), at(.depths), geometry.tree_nodes_max);
        try tri.attention(at(.q), at(.k_new), at(.v), .{ .origin = at(.cache), .offsets = at(.cache_offsets) }, .{
            .streams = plan.streams,
            .rows = plan.rows,
            .items = plan.items,
            .item_count = layout.items,
            .paths = at(.paths),
            .depths = at(.depths),
            .row_count = rows,
        }, .{ .out = at(.partial_out), .maximum = at(.partial_maximum), .sum = at(.partial_sum) }, at(.o), attention, chunks);
    }
    try tri.gateMul(rows, attention, at(.o), at(.qkv), at(.wide), at(.sums));
}

/// The int32 tables of a round.
const Tables = struct {
    positions: u64,
    stream_ids: ?u64,
    ids: u64,
    windows: u64,
    plan: ?Plan,

    const Plan = struct {
        rows: u64,
        streams: u64,
        items: u64,
        parents: u64,

        fn at(places: plan_of_round.PlanPlaces) Plan {
            return .{
                .rows = element(.upload, places.rows),
                .streams = element(.upload, places.streams),
                .items = element(.upload, places.items),
                .parents = element(.upload, places.parents),
            };
        }
    };

    /// Several streams: one upload for all.
    fn ofStreams(streams: u64, rows: u64, layout: Layout) Tables {
        const places: plan_of_round.SharedPlaces = .of(.{ .streams = streams, .rows = rows, .items = layout.items });
        return .{
            .positions = element(.upload, places.positions),
            .stream_ids = element(.upload, places.stream_ids),
            .ids = element(.upload, places.ids),
            .windows = element(.upload, places.windows),
            .plan = .at(places.plan),
        };
    }

    /// A single stream: uploads of their own, and only the attention plan's tables share one.
    fn ofOneStream(rows: u64, layout: Layout) Tables {
        return .{
            .positions = at(.positions),
            .stream_ids = null,
            .ids = at(.ids),
            .windows = at(.windows),
            .plan = .at(plan_of_round.planOf(.{ .streams = 1, .rows = rows, .items = layout.items })),
        };
    }

    /// A prompt chunk: buffers of their own.
    fn ofPrompt(layout: Layout) Tables {
        return .{
            .positions = at(.positions),
            .stream_ids = if (layout.stream_ids) at(.stream_ids) else null,
            .ids = at(.ids),
            .windows = at(.windows),
            .plan = null,
        };
    }
};

/// Every buffer that the engine allocates.
const Buffer = enum {
    // zig fmt: off
    upload, positions, stream_ids, ids, windows,
    embed_words, embed_scales, embed_biases, norm, query_norm, key_norm, frequencies,
    conv_weight, a_log, dt_bias, conv_state, cache, cache_offsets,
    x, residual, h, y, z, sums, qkv, a, b, q, k, v, g, beta, k_new, o, gate, up, wide,
    paths, depths, partial_out, partial_maximum, partial_sum,
    // zig fmt: on
};

/// A made-up address of a buffer: 256-byte aligned, far from every other buffer.
fn at(buffer: Buffer) u64 {
    const first = 0x7000_0000_0000;
    const apart = 1 << 32;
    return first + apart * std.enums.EnumIndexer(Buffer).indexOf(buffer);
}

/// The address of an int32 element of a buffer.
fn element(buffer: Buffer, index: u64) u64 {
    return at(buffer) + index * @sizeOf(i32);
}

const served: capture.Limits = .{
    .parallel = profile.limits.parallel,
    .window_rows = profile.limits.window_rows,
    .prompt_rows = profile.limits.prompt_rows,
};

test "layouts: exactly the residues that some deal of the rows reaches" {
    // Every deal of up to three windows, by brute force, with up to four chunks a stream.
    for (1..4) |streams| {
        for (streams..streams * served.window_rows + 1) |rows| {
            var windows: [3]u32 = @splat(1);
            windows[0] = @intCast(rows - (streams - 1));
            const round: capture.Round = .{ .kind = .decode, .limits = served, .windows = windows[0..streams] };
            var list: capture.Layouts(Layout) = .{};
            try layouts(round, &list);
            var listed: [4]bool = @splat(false);
            for (list.items()) |layout| listed[layout.items % 4] = true;
            try std.testing.expectEqual(@as(u32, 0), list.items()[0].items);
            try std.testing.expectEqual(bruteForce(streams, rows), listed);
        }
    }
}

/// The residues modulo 4 of the items that so many streams with so many rows can have.
fn bruteForce(streams: usize, rows: usize) [4]bool {
    var residues: [4]bool = @splat(false);
    if (streams == 0) {
        residues[0] = rows == 0;
        return residues;
    }
    for (1..served.window_rows + 1) |window| {
        if (window > rows) break;
        const others = bruteForce(streams - 1, rows - window);
        for (0..5) |count| {
            const items = count * itemsOfChunk(@intCast(window));
            for (others, 0..) |other, residue| {
                if (other) residues[(residue + items) % 4] = true;
            }
        }
    }
    return residues;
}

test "layouts: full windows never have an odd number of items" {
    const windows: [16]u32 = @splat(16);
    const round: capture.Round = .{ .kind = .decode, .limits = served, .windows = &windows };
    var list: capture.Layouts(Layout) = .{};
    try layouts(round, &list);
    try std.testing.expectEqual(@as(usize, 3), list.items().len);
    for (list.items(), [_]u32{ 0, 12, 6 }) |layout, items| try std.testing.expectEqual(items, layout.items);
}

test "tables: one upload for several streams, one of the plan for a single one" {
    const base = at(.upload);
    const tables: Tables = .ofStreams(2, 3, .{ .items = 1 });
    try std.testing.expectEqual(base + 4 * 3, tables.stream_ids.?);
    try std.testing.expectEqual(base + 4 * (6 * 3 + 3), tables.windows);
    try std.testing.expectEqual(base + 4 * (11 * 3 + 11 + 3), tables.plan.?.parents);
    const alone: Tables = .ofOneStream(3, .{ .items = 2 });
    try std.testing.expectEqual(base, alone.plan.?.rows);
    try std.testing.expectEqual(base + 4 * 13, alone.plan.?.parents);
    try std.testing.expectEqual(at(.windows), alone.windows);
    try std.testing.expectEqual(@as(?u64, null), alone.stream_ids);
}

test {
    _ = plan_of_round;
}
