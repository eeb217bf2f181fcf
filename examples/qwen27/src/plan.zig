//! How a round's attention is cut into programs, and where the round's int32 tables lie. rounds.zig drives the rounds that
//! follow from this, and serve.zig fills and launches them.

const std = @import("std");
const profile = @import("profile");
const shape = @import("shape.zig");

const geometry = profile.geometry;

/// The heads of an attention layer.
pub const attention: shape.AttentionShape = .{ .heads = geometry.query_heads, .kv_heads = geometry.kv_heads, .width = geometry.head_width };
/// How committed keys are cut.
pub const chunks: shape.Chunks = .{ .keys = geometry.chunk_keys, .in_group = geometry.chunks_in_group, .depth_max = geometry.tree_nodes_max };

/// Groups times rows from which on one program folds a whole group.
const folded_rows_least = 64;

/// Items that one chunk, or one folded group, of a stream with this many rows takes.
pub fn itemsOfChunk(rows: u32) u32 {
    const pairs = rows * (geometry.query_heads / geometry.kv_heads);
    return (pairs + geometry.pairs_in_item - 1) / geometry.pairs_in_item;
}

/// Whole groups of a stream's committed keys that are folded in one program each.
pub fn foldedGroups(committed: u32, rows: u32) u32 {
    const whole: u32 = committed / (geometry.chunks_in_group * geometry.chunk_keys);
    return if (whole * rows >= folded_rows_least) whole else 0;
}

/// Whole chunks of the committed keys that are in no folded group.
pub fn looseChunks(committed: u32, rows: u32) u32 {
    return committed / geometry.chunk_keys - geometry.chunks_in_group * foldedGroups(committed, rows);
}

/// Partials that each row of a stream has.
pub fn slots(committed: u32, rows: u32) u32 {
    const all = (committed + rows + geometry.chunk_keys - 1) / geometry.chunk_keys;
    return all - (geometry.chunks_in_group - 1) * foldedGroups(committed, rows);
}

/// The attention plan's tables behind each other, in int32 elements: each row's stream; 4 a stream; 3 an item; each row's
/// parent.
pub const PlanPlaces = struct {
    rows: u64,
    streams: u64,
    items: u64,
    parents: u64,
    /// Behind the last of them.
    end: u64,

    fn from(first: u64, size: Size) PlanPlaces {
        const streams = first + size.rows;
        const items = streams + 4 * size.streams;
        const parents = items + 3 * size.items;
        return .{ .rows = first, .streams = streams, .items = items, .parents = parents, .end = parents + size.rows };
    }
};

/// What the places of a round's tables follow from.
pub const Size = struct { streams: u64, rows: u64, items: u64 };

/// Several streams: one upload for all tables, each where the one before ends. Between stream ids and token ids lie the
/// DeltaNet plan (3 a row) and the row starts (one a stream, and the end).
pub const SharedPlaces = struct {
    positions: u64,
    stream_ids: u64,
    ids: u64,
    windows: u64,
    plan: PlanPlaces,

    pub fn of(size: Size) SharedPlaces {
        const ids = 5 * size.rows + size.streams + 1;
        const windows = ids + size.rows;
        return .{
            .positions = 0,
            .stream_ids = size.rows,
            .ids = ids,
            .windows = windows,
            .plan = .from(windows + 4 * size.rows, size),
        };
    }
};

/// Where a round's attention plan lies: a single stream's is an upload of its own.
pub fn planOf(size: Size) PlanPlaces {
    std.debug.assert(size.streams > 0);
    return if (size.streams == 1) .from(0, size) else SharedPlaces.of(size).plan;
}

test "plan: each table starts where the contract's offsets say" {
    const places: SharedPlaces = .of(.{ .streams = 2, .rows = 3, .items = 1 });
    try std.testing.expectEqual(0, places.positions);
    try std.testing.expectEqual(3, places.stream_ids);
    try std.testing.expectEqual(5 * 3 + 3, places.ids);
    try std.testing.expectEqual(6 * 3 + 3, places.windows);
    try std.testing.expectEqual(10 * 3 + 3, places.plan.rows);
    try std.testing.expectEqual(11 * 3 + 3, places.plan.streams);
    try std.testing.expectEqual(11 * 3 + 11, places.plan.items);
    try std.testing.expectEqual(11 * 3 + 11 + 3, places.plan.parents);
    try std.testing.expectEqual(12 * 3 + 11 + 3, places.plan.end);
    try std.testing.expectEqual(places.plan, planOf(.{ .streams = 2, .rows = 3, .items = 1 }));
    const alone = planOf(.{ .streams = 1, .rows = 3, .items = 2 });
    try std.testing.expectEqual(PlanPlaces{ .rows = 0, .streams = 3, .items = 7, .parents = 13, .end = 16 }, alone);
}

test "plan: chunks, folded groups and slots on and beside their boundaries" {
    const cases = [_]struct { committed: u32, rows: u32, folded: u32, loose: u32, slots: u32 }{
        .{ .committed = 0, .rows = 1, .folded = 0, .loose = 0, .slots = 1 },
        .{ .committed = 511, .rows = 1, .folded = 0, .loose = 0, .slots = 1 },
        .{ .committed = 511, .rows = 2, .folded = 0, .loose = 0, .slots = 2 },
        .{ .committed = 512, .rows = 1, .folded = 0, .loose = 1, .slots = 2 },
        // 4 groups of 16 rows fold, 4 groups of 15 do not.
        .{ .committed = 8192, .rows = 16, .folded = 4, .loose = 0, .slots = 5 },
        .{ .committed = 8192, .rows = 15, .folded = 0, .loose = 16, .slots = 17 },
        .{ .committed = 8191, .rows = 16, .folded = 0, .loose = 15, .slots = 17 },
        .{ .committed = 9000, .rows = 16, .folded = 4, .loose = 1, .slots = 6 },
    };
    for (cases) |case| {
        try std.testing.expectEqual(case.folded, foldedGroups(case.committed, case.rows));
        try std.testing.expectEqual(case.loose, looseChunks(case.committed, case.rows));
        try std.testing.expectEqual(case.slots, slots(case.committed, case.rows));
    }
}
