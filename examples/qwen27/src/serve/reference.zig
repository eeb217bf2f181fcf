//! Attention of one row in float64 on the host: what the kernels must compute, to bf16 accuracy.

const std = @import("std");
const profile = @import("profile");
const bfloat = @import("bfloat.zig");
const state_types = @import("state.zig");
const windows_types = @import("windows.zig");
const State = state_types.State;
const Window = windows_types.Window;

const geometry = profile.geometry;
const width = geometry.head_width;
const queries = geometry.query_heads / geometry.kv_heads;
const keys_max = windows_types.keys_max + windows_types.rows_max;

/// The largest ||got - want|| / ||want|| of a row that passes: bf16 keeps 8 bits, and so do the weights on the way.
pub const error_limit = 4e-3;

/// A row's output as one softmax over all of its keys.
pub const Reference = struct {
    /// Scores, then weights, of the queries of one KV head.
    scores: [queries][keys_max]f64 = undefined,
    output: [state_types.query_values]f64 = undefined,

    const Vector = @Vector(8, f64);

    /// Computes a row of a window into `output`.
    pub fn compute(reference: *Reference, state: *const State, window: *const Window, row: u32) void {
        var buffer: [windows_types.rows_max]u32 = undefined;
        const path = window.path(row, &buffer);
        const count = window.committed + path.len;
        const query_row = state.queriesOf(window.stream, window.rows)[row * state_types.query_values ..][0..state_types.query_values];
        for (0..geometry.kv_heads) |kv_head| {
            var query: [queries][width]f64 = undefined;
            for (&query, 0..) |*head, index| widen(head, query_row[(kv_head * queries + index) * width ..][0..width]);
            for (0..count) |key| {
                var widened: [width]f64 = undefined;
                widen(&widened, keyOf(state, window, path, 0, key)[kv_head * width ..][0..width]);
                for (&reference.scores, &query) |*scores, *head| scores[key] = dot(head, &widened) * scale;
            }
            var sums: [queries]f64 = @splat(0);
            for (&reference.scores, &sums) |*scores, *sum| sum.* = exponentiate(scores[0..count]);
            const output = reference.output[kv_head * queries * width ..][0 .. queries * width];
            @memset(output, 0);
            for (0..count) |key| {
                var widened: [width]f64 = undefined;
                widen(&widened, keyOf(state, window, path, 1, key)[kv_head * width ..][0..width]);
                for (&reference.scores, sums, 0..) |*scores, sum, index| addScaled(output[index * width ..][0..width], scores[key] / sum, &widened);
            }
        }
    }

    /// ||got - want|| / ||want|| of the row that was computed; infinite where `got` holds no numbers.
    pub fn errorOf(reference: *const Reference, got: []const u16) f64 {
        var difference: f64 = 0;
        var norm: f64 = 0;
        for (reference.output, got) |want, value| {
            difference += std.math.pow(f64, bfloat.toFloat(value) - want, 2);
            norm += want * want;
        }
        const found = @sqrt(difference / norm);
        return if (std.math.isFinite(found)) found else std.math.inf(f64);
    }
};

const scale = 1.0 / @sqrt(@as(f64, width));

fn keyOf(state: *const State, window: *const Window, path: []const u32, half: u1, key: usize) []const u16 {
    if (key < window.committed) return state.committed(window.stream, half, @intCast(key));
    const rows = if (half == 0) state.keysOf(window.stream, window.rows) else state.valuesOf(window.stream, window.rows);
    return rows[path[key - window.committed] * state_types.key_values ..][0..state_types.key_values];
}

fn widen(to: *[width]f64, from: *const [width]u16) void {
    for (to, from) |*wide, value| wide.* = bfloat.toFloat(value);
}

fn dot(left: *const [width]f64, right: *const [width]f64) f64 {
    var sum: Reference.Vector = @splat(0);
    for (0..width / 8) |step| sum += @as(Reference.Vector, left[8 * step ..][0..8].*) * @as(Reference.Vector, right[8 * step ..][0..8].*);
    return @reduce(.Add, sum);
}

fn addScaled(to: *[width]f64, factor: f64, from: *const [width]f64) void {
    for (0..width / 8) |step| {
        const sum = @as(Reference.Vector, to[8 * step ..][0..8].*) + @as(Reference.Vector, @splat(factor)) * @as(Reference.Vector, from[8 * step ..][0..8].*);
        to[8 * step ..][0..8].* = sum;
    }
}

/// Turns scores into exp(score - largest) and returns the sum.
fn exponentiate(scores: []f64) f64 {
    const largest = std.mem.max(f64, scores);
    var sum: f64 = 0;
    for (scores) |*score| {
        score.* = @exp(score.* - largest);
        sum += score.*;
    }
    return sum;
}

test "reference: one key is its value, two are weighed by their scores" {
    var arena: std.heap.ArenaAllocator = .init(std.testing.allocator);
    defer arena.deinit();
    var prng: std.Random.DefaultPrng = .init(3);
    const state: State = try .init(arena.allocator(), prng.random(), 1);
    var window: Window = .{ .stream = 0, .committed = 0, .rows = 3, .parents = @splat(-1) };
    window.parents[1] = 0;
    window.parents[2] = 0;
    const reference = try arena.allocator().create(Reference);
    // The root attends to itself alone.
    reference.compute(&state, &window, 0);
    const values = state.valuesOf(0, 3);
    for (0..geometry.query_heads) |head| {
        for (0..width) |dim| {
            const want: f64 = bfloat.toFloat(values[head / queries * width + dim]);
            try std.testing.expectApproxEqAbs(want, reference.output[head * width + dim], 1e-12);
        }
    }
    // Row 2 attends to the root and itself, not to row 1.
    reference.compute(&state, &window, 2);
    var scores: [2]f64 = @splat(0);
    for (0..width) |dim| {
        const query: f64 = bfloat.toFloat(state.queriesOf(0, 3)[2 * state_types.query_values + dim]);
        for (&scores, [_]usize{ 0, 2 }) |*score, row| score.* += query * bfloat.toFloat(state.keysOf(0, 3)[row * state_types.key_values + dim]) / 16.0;
    }
    const weight = 1.0 / (1.0 + @exp(scores[1] - scores[0]));
    const want = weight * bfloat.toFloat(values[0]) + (1 - weight) * bfloat.toFloat(values[2 * state_types.key_values]);
    try std.testing.expectApproxEqAbs(want, reference.output[0], 1e-9);

    var got: [state_types.query_values]u16 = undefined;
    for (&got, reference.output) |*value, exact| value.* = bfloat.of(@floatCast(exact));
    try std.testing.expect(reference.errorOf(&got) < error_limit);
    got[0] = bfloat.of(@floatCast(reference.output[0] + 1));
    try std.testing.expect(reference.errorOf(&got) > error_limit);
    got[0] = 0xffff;
    try std.testing.expectEqual(std.math.inf(f64), reference.errorOf(&got));
}
