//! What a round's int32 tables hold, where an engine's upload has them.

const std = @import("std");
const profile = @import("profile");
const plan = @import("../plan.zig");
const windows_types = @import("windows.zig");
const Round = windows_types.Round;
const Window = windows_types.Window;

const geometry = profile.geometry;
const queries = geometry.query_heads / geometry.kv_heads;

/// What the tables that attention does not read hold: no row, stream or token.
const unread = -7;

/// The upload of one round's attention plan.
pub const Upload = struct {
    /// The tables behind each other.
    words: []const i32,
    places: plan.PlanPlaces,
    items: u32,

    /// The tables of a round; the words live in `list`.
    pub fn make(list: *std.ArrayList(i32), allocator: std.mem.Allocator, round: *const Round) error{OutOfMemory}!Upload {
        var items: u32 = 0;
        for (round.windows()) |*window| items += itemsOf(window);
        const places = plan.planOf(.{ .streams = round.count, .rows = round.rows(), .items = items });
        list.clearRetainingCapacity();
        const words = try list.addManyAsSlice(allocator, places.end);
        @memset(words, unread);
        var row: u32 = 0;
        var item: u32 = 0;
        for (round.windows(), 0..) |*window, stream| {
            const entry = words[places.streams + 4 * stream ..][0..4];
            entry.* = .{ @intCast(row), @intCast(window.rows), @intCast(window.committed), @intCast(plan.slots(window.committed, window.rows)) };
            @memset(words[places.rows + row ..][0..window.rows], @intCast(stream));
            for (words[places.parents + row ..][0..window.rows], window.parents[0..window.rows]) |*parent, within| {
                parent.* = if (within < 0) -1 else @as(i32, @intCast(row)) + within;
            }
            item = writeItems(words[places.items..places.parents], item, @intCast(stream), window);
            row += window.rows;
        }
        std.debug.assert(item == items and places.rows + row == places.streams);
        return .{ .words = words, .places = places, .items = items };
    }
};

fn itemsOf(window: *const Window) u32 {
    const parts = plan.foldedGroups(window.committed, window.rows) + plan.looseChunks(window.committed, window.rows);
    return parts * plan.itemsOfChunk(window.rows);
}

/// A stream's folded groups, then its loose chunks: for each, 16 pairs an item.
fn writeItems(words: []i32, first: u32, stream: i32, window: *const Window) u32 {
    var item = first;
    const folded = plan.foldedGroups(window.committed, window.rows);
    for (0..folded + plan.looseChunks(window.committed, window.rows)) |part| {
        const code: i32 = if (part < folded) @intCast(part) else -1 - @as(i32, @intCast(part - folded));
        var pair: u32 = 0;
        while (pair < window.rows * queries) : (pair += geometry.pairs_in_item) {
            words[3 * item ..][0..3].* = .{ stream, @intCast(pair), code };
            item += 1;
        }
    }
    return item;
}

fn windowOf(stream: u32, committed: u32, parents: []const i8) Window {
    var window: Window = .{ .stream = stream, .committed = committed, .rows = @intCast(parents.len), .parents = @splat(-1) };
    @memcpy(window.parents[0..parents.len], parents);
    return window;
}

test "tables: a chain and a tree, as kernels/qwen27/rounds.py lays them" {
    var list: std.ArrayList(i32) = .empty;
    defer list.deinit(std.testing.allocator);
    var round: Round = .{ .count = 2 };
    round.buffer[0] = windowOf(5, 600, &.{ -1, 0, 1 });
    round.buffer[1] = windowOf(2, 1024, &.{ -1, 0, 0 });
    const upload: Upload = try .make(&list, std.testing.allocator, &round);
    const rows = [_]i32{ 0, 0, 0, 1, 1, 1 };
    const streams = [_]i32{ 0, 3, 600, 2, 3, 3, 1024, 3 };
    const items = [_]i32{ 0, 0, -1, 0, 16, -1, 1, 0, -1, 1, 16, -1, 1, 0, -2, 1, 16, -2 };
    const parents = [_]i32{ -1, 0, 1, -1, 3, 3 };
    const start = 10 * 6 + 2 + 1;
    for (upload.words[0..start]) |word| try std.testing.expectEqual(unread, word);
    try std.testing.expectEqualSlices(i32, &(rows ++ streams ++ items ++ parents), upload.words[start..]);
    try std.testing.expectEqual(6, upload.items);
}

test "tables: a single stream has folded groups, then loose chunks" {
    var list: std.ArrayList(i32) = .empty;
    defer list.deinit(std.testing.allocator);
    var chain: [16]i8 = undefined;
    for (&chain, 0..) |*parent, row| parent.* = @as(i8, @intCast(row)) - 1;
    const round: Round = .alone(windowOf(0, 9000, &chain));
    const upload: Upload = try .make(&list, std.testing.allocator, &round);
    try std.testing.expectEqual(5 * 6, upload.items);
    const items = upload.words[upload.places.items..upload.places.parents];
    try std.testing.expectEqualSlices(i32, &.{ 0, 0, 0, 0, 16, 0 }, items[0..6]);
    try std.testing.expectEqualSlices(i32, &.{ 0, 80, 3, 0, 0, -1 }, items[3 * 23 ..][0..6]);
    try std.testing.expectEqualSlices(i32, &.{ 0, 16, 9000, 6 }, upload.words[upload.places.streams..upload.places.items]);
}
