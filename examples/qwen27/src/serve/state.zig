//! What the streams of a server hold on the host: the same bytes as on the device.

const std = @import("std");
const profile = @import("profile");
const bfloat = @import("bfloat.zig");
const windows_types = @import("windows.zig");
const rows_max = windows_types.rows_max;
const keys_max = windows_types.keys_max;

const geometry = profile.geometry;
/// bf16 values of a row of keys or values.
pub const key_values = geometry.kv_heads * geometry.head_width;
/// bf16 values of a row of queries or outputs.
pub const query_values = geometry.query_heads * geometry.head_width;
/// bf16 values of a stream's committed keys, or of their values.
pub const cache_values = keys_max * key_values;

/// Random keys, values and queries of every stream. All are bf16.
pub const State = struct {
    /// [streams, 2, keys_max, key_values]: a stream's committed keys, then their values.
    cache: []u16,
    /// [streams, rows_max, query_values]
    queries: []u16,
    /// [streams, rows_max, key_values]: the keys of the window's own rows.
    keys: []u16,
    /// The same of the values.
    values: []u16,

    /// The arena holds about 50 MB a stream.
    pub fn init(arena: std.mem.Allocator, random: std.Random, streams: u32) error{OutOfMemory}!State {
        const state: State = .{
            .cache = try arena.alloc(u16, @as(usize, streams) * 2 * cache_values),
            .queries = try arena.alloc(u16, @as(usize, streams) * rows_max * query_values),
            .keys = try arena.alloc(u16, @as(usize, streams) * rows_max * key_values),
            .values = try arena.alloc(u16, @as(usize, streams) * rows_max * key_values),
        };
        bfloat.fillNormal(random, state.cache, 1.0);
        // Larger queries make some keys count for much more than others, as in a model.
        bfloat.fillNormal(random, state.queries, 3.0);
        bfloat.fillNormal(random, state.keys, 1.0);
        bfloat.fillNormal(random, state.values, 1.0);
        return state;
    }

    /// A row of committed keys (`half` 0) or their values (1).
    pub fn committed(state: *const State, stream: u32, half: u1, key: u32) *const [key_values]u16 {
        return state.cache[(2 * @as(usize, stream) + half) * cache_values + @as(usize, key) * key_values ..][0..key_values];
    }

    /// The queries of a stream's rows from 0 on.
    pub fn queriesOf(state: *const State, stream: u32, rows: u32) []const u16 {
        return state.queries[@as(usize, stream) * rows_max * query_values ..][0 .. rows * query_values];
    }

    /// The keys of a stream's window's rows from 0 on.
    pub fn keysOf(state: *const State, stream: u32, rows: u32) []const u16 {
        return state.keys[@as(usize, stream) * rows_max * key_values ..][0 .. rows * key_values];
    }

    /// The values of a stream's window's rows from 0 on.
    pub fn valuesOf(state: *const State, stream: u32, rows: u32) []const u16 {
        return state.values[@as(usize, stream) * rows_max * key_values ..][0 .. rows * key_values];
    }
};
