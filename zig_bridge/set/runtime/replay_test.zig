//! Tests of replaying on a fake device, whose kernel adds one to every byte.

const std = @import("std");
const cuda = @import("runtime.zig");
const Bench = @import("runtime_test.zig").Bench;
const Fake = @import("fake_driver.zig").Fake;
const cubin = @import("fake_driver.zig").cubin;
const functions_types = @import("functions.zig");
const replay_types = @import("replay.zig");
const values_types = @import("values.zig");
const testing = std.testing;

const manifest =
    \\{"kernels": [{"fn": "_f", "hash": "aa", "name": "f", "num_warps": 4, "num_stages": 2, "params": [
    \\  {"name": "X", "type": "*i8", "div16": false, "nospec": false},
    \\  {"name": "Y", "type": "*i8", "div16": true, "nospec": false}], "consts": {"D": {"int": 4}}}]}
;
const list =
    \\{"target": "sm_90", "launches": [{"fn": "_f", "grid": [1, 1, 1], "num_warps": 4, "num_stages": 2,
    \\ "arguments": [{"name": "X", "type": "*i8", "buffer": 0, "offset": 1}, {"name": "Y", "type": "*i8", "buffer": 1, "offset": 0}],
    \\ "constexprs": [{"name": "D", "int": 4}],
    \\ "buffers": [{"bytes": 5, "before": 0, "after": null}, {"bytes": 4, "before": null, "after": 5}]}]}
;

fn addOne(fake: *Fake, _: *const functions_types.LaunchConfig, params: [*]const ?*const anyopaque) void {
    const x = @as(*const u64, @ptrCast(@alignCast(params[0].?))).*;
    const y = @as(*const u64, @ptrCast(@alignCast(params[1].?))).*;
    for (fake.at(y, 4), fake.at(x, 4)) |*to, from| to.* = from + 1;
}

/// Replays the list with `values.bin` of these bytes. `log` is how the log begins.
fn check(text: []const u8, blob: []const u8, launches: u32, refused: u32, bits: u64, log: []const u8) !void {
    var arena: std.heap.ArenaAllocator = .init(testing.allocator);
    defer arena.deinit();
    const bench: *Bench = try .create(90);
    defer bench.destroy();
    try bench.write("aot.json", manifest);
    try bench.write("cubins/aa.cubin", &cubin(1));
    try bench.write("values.bin", blob);
    const captured = try bench.open(.pinned, .lazy);
    defer captured.close();
    bench.fake.kernel = addOne;
    const file = try bench.folder.dir.openFile(testing.io, "values.bin", .{});
    defer file.close(testing.io);
    var diagnostic: values_types.Diagnostic = .{};
    const stream: cuda.Stream = try .create(&bench.context);
    defer stream.destroy();
    var replay: replay_types.Replay = .{
        .io = testing.io,
        .arena = arena.allocator(),
        .context = &bench.context,
        .stream = stream,
        .captured = &captured,
        .blob = file,
    };
    try replay.run(try values_types.parse(arena.allocator(), text, blob.len, &diagnostic));
    try testing.expectEqual(log.len == 0, bench.notebook.text.items.len == 0);
    try testing.expect(std.mem.startsWith(u8, bench.notebook.text.items, log));
    try testing.expectEqual(launches, replay.findings.launches);
    try testing.expectEqual(refused, replay.findings.refused);
    try testing.expectEqual(bits, replay.findings.bits_differing);
    try testing.expectEqual(launches - refused, replay.findings.tallies.items.len);
    for (replay.findings.tallies.items) |tally| try testing.expectEqual(@as(u64, 4), tally.bytes);
}

test "replay: the same bytes, and others" {
    try check(list, "\x09abcdbcde", 1, 0, 0, "");
    try check(list, "\x09abcdbcdf", 1, 0, 2, "err launch 0 of _f: Y differs in 2 bits, first at byte 3: 65 instead of 66\n");
}

test "replay: a launch that the set refuses" {
    var arena: std.heap.ArenaAllocator = .init(testing.allocator);
    defer arena.deinit();
    // The address is aligned now, and the variant serves none.
    const aligned = try std.mem.replaceOwned(u8, arena.allocator(), list, "\"offset\": 1", "\"offset\": 0");
    try check(aligned, "\x09abcdbcde", 1, 1, 0, "err no captured Triton variant of _f for this launch (warps 4, stages 2):\n");
    const pinned = try std.mem.replaceOwned(u8, arena.allocator(), list, "\"num_warps\": 4", "\"num_warps\": 8");
    try check(pinned, "\x09abcdbcde", 1, 1, 0, "err no captured Triton variant of _f for this launch (warps 8, stages 2):\n");
}
