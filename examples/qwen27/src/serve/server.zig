//! Runs rounds of attention on a device, through the unmodified declaration file.

const std = @import("std");
const cuda = @import("cuda");
const profile = @import("profile");
const declarations = @import("../triton.zig");
const plan = @import("../plan.zig");
const state_types = @import("state.zig");
const tables = @import("tables.zig");
const windows_types = @import("windows.zig");
const Round = windows_types.Round;
const State = state_types.State;
const Upload = tables.Upload;

const geometry = profile.geometry;
/// Partials that a row can have at the most: one a chunk, and the tail's two.
const slots_max = windows_types.keys_max / geometry.chunk_keys + 2;
/// A byte of which NaNs are made: what a launch leaves unwritten shows.
const poison = 0xff;

/// How a round fails.
pub const Error = cuda.aot.Error || error{NoStream};

/// The device's side of a server.
pub const Server = struct {
    allocator: std.mem.Allocator,
    state: *const State,
    stream: cuda.Stream,
    kernels: declarations.Tri,
    buffers: Buffers,
    /// The bytes of uploads, while they are put together.
    words: std.ArrayList(i32) = .empty,
    rows: std.ArrayList(u16) = .empty,

    /// `set` and `context` must stay where they are.
    pub fn init(allocator: std.mem.Allocator, context: *const cuda.Context, set: *const cuda.aot.Set, state: *const State, limits: windows_types.Limits) Error!Server {
        const stream: cuda.Stream = try .create(context);
        errdefer stream.destroy();
        const buffers: Buffers = try .init(context, limits);
        errdefer buffers.free();
        try buffers.cache.copyIn(stream, 0, std.mem.sliceAsBytes(state.cache));
        return .{ .allocator = allocator, .state = state, .stream = stream, .kernels = .{ .set = set, .s = stream }, .buffers = buffers };
    }

    pub fn deinit(server: *Server) void {
        server.words.deinit(server.allocator);
        server.rows.deinit(server.allocator);
        server.buffers.free();
        server.stream.destroy();
    }

    /// Runs one round and returns its rows' outputs, [rows, query_values] bf16, in `output`.
    pub fn run(server: *Server, round: *const Round, output: []u16) Error![]const u16 {
        const buffers = &server.buffers;
        const rows = round.rows();
        const made = try server.upload(round);
        try server.clear(round);
        const at = buffers.upload.address;
        try server.kernels.treePaths(rows, at + bytesOf(made.places.parents), buffers.paths.address, buffers.depths.address, geometry.tree_nodes_max);
        try server.kernels.attention(
            buffers.queries.address,
            buffers.keys.address,
            buffers.values.address,
            // One origin in the middle of the caches: some offsets are negative.
            .{ .origin = buffers.cache.address + server.state.cache.len / 2 * @sizeOf(u16), .offsets = buffers.offsets.address },
            .{
                .streams = at + bytesOf(made.places.streams),
                .rows = at + bytesOf(made.places.rows),
                .items = at + bytesOf(made.places.items),
                .item_count = made.items,
                .paths = buffers.paths.address,
                .depths = buffers.depths.address,
                .row_count = rows,
            },
            .{ .out = buffers.partial_out.address, .maximum = buffers.partial_maximum.address, .sum = buffers.partial_sum.address },
            buffers.output.address,
            plan.attention,
            plan.chunks,
        );
        const written = output[0 .. rows * state_types.query_values];
        try buffers.output.copyOut(server.stream, 0, std.mem.sliceAsBytes(written));
        try server.stream.synchronize();
        return written;
    }

    /// Uploads the round's tables, its streams' cache offsets, and its rows.
    fn upload(server: *Server, round: *const Round) Error!Upload {
        const buffers = &server.buffers;
        const made: Upload = try .make(&server.words, server.allocator, round);
        try buffers.upload.copyIn(server.stream, 0, std.mem.sliceAsBytes(made.words));
        var offsets: [windows_types.streams_max][2]i64 = undefined;
        const middle: i64 = @intCast(server.state.cache.len / 2);
        for (round.windows(), offsets[0..round.count]) |window, *both| {
            for (both, 0..) |*offset, half| offset.* = @as(i64, @intCast((2 * @as(u64, window.stream) + half) * state_types.cache_values)) - middle;
        }
        try buffers.offsets.copyIn(server.stream, 0, std.mem.sliceAsBytes(offsets[0..round.count]));
        const parts = .{ .{ buffers.queries, State.queriesOf }, .{ buffers.keys, State.keysOf }, .{ buffers.values, State.valuesOf } };
        inline for (parts) |part| {
            const memory, const rowsOf = part;
            server.rows.clearRetainingCapacity();
            for (round.windows()) |window| try server.rows.appendSlice(server.allocator, rowsOf(server.state, window.stream, window.rows));
            try memory.copyIn(server.stream, 0, std.mem.sliceAsBytes(server.rows.items));
        }
        return made;
    }

    /// Poisons what the round is going to write.
    fn clear(server: *Server, round: *const Round) Error!void {
        const buffers = &server.buffers;
        const rows: usize = round.rows();
        var slots: usize = 0;
        for (round.windows()) |window| slots = @max(slots, plan.slots(window.committed, window.rows));
        std.debug.assert(slots <= slots_max);
        const pairs = slots * rows * geometry.query_heads;
        try buffers.partial_out.fill(server.stream, 0, pairs * geometry.head_width * @sizeOf(f32), poison);
        try buffers.partial_maximum.fill(server.stream, 0, pairs * @sizeOf(f32), poison);
        try buffers.partial_sum.fill(server.stream, 0, pairs * @sizeOf(f32), poison);
        try buffers.paths.fill(server.stream, 0, rows * geometry.tree_nodes_max * @sizeOf(i32), poison);
        try buffers.depths.fill(server.stream, 0, rows * @sizeOf(i32), poison);
        try buffers.output.fill(server.stream, 0, rows * state_types.query_values * @sizeOf(u16), poison);
    }
};

fn bytesOf(words: u64) u64 {
    return words * @sizeOf(i32);
}

/// Device memory, each piece an allocation of its own, as large as the largest round needs.
const Buffers = struct {
    cache: cuda.Memory,
    upload: cuda.Memory,
    offsets: cuda.Memory,
    queries: cuda.Memory,
    keys: cuda.Memory,
    values: cuda.Memory,
    paths: cuda.Memory,
    depths: cuda.Memory,
    partial_out: cuda.Memory,
    partial_maximum: cuda.Memory,
    partial_sum: cuda.Memory,
    output: cuda.Memory,

    fn init(context: *const cuda.Context, limits: windows_types.Limits) cuda.Error!Buffers {
        const streams: usize = limits.parallel;
        const rows = streams * limits.window_rows;
        const pairs = slots_max * rows * geometry.query_heads;
        const items = streams * plan.itemsOfChunk(limits.window_rows) * windows_types.keys_max / geometry.chunk_keys;
        const largest = plan.SharedPlaces.of(.{ .streams = streams, .rows = rows, .items = items });
        var buffers: Buffers = undefined;
        var allocated: usize = 0;
        const names = comptime std.meta.fieldNames(Buffers);
        errdefer inline for (names, 0..) |name, index| if (index < allocated) @field(buffers, name).free();
        const sizes = .{
            .cache = streams * 2 * state_types.cache_values * @sizeOf(u16),
            .upload = largest.plan.end * @sizeOf(i32),
            .offsets = streams * 2 * @sizeOf(i64),
            .queries = rows * state_types.query_values * @sizeOf(u16),
            .keys = rows * state_types.key_values * @sizeOf(u16),
            .values = rows * state_types.key_values * @sizeOf(u16),
            .paths = rows * geometry.tree_nodes_max * @sizeOf(i32),
            .depths = rows * @sizeOf(i32),
            .partial_out = pairs * geometry.head_width * @sizeOf(f32),
            .partial_maximum = pairs * @sizeOf(f32),
            .partial_sum = pairs * @sizeOf(f32),
            .output = rows * state_types.query_values * @sizeOf(u16),
        };
        inline for (names) |name| {
            @field(buffers, name) = try .alloc(context, @field(sizes, name));
            allocated += 1;
        }
        return buffers;
    }

    fn free(buffers: *const Buffers) void {
        inline for (comptime std.meta.fieldNames(Buffers)) |name| @field(buffers, name).free();
    }
};
