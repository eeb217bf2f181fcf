//! Tests of opening sets and loading their cubins on a fake device.

const std = @import("std");
const cuda = @import("runtime.zig");
const Bench = @import("runtime_test.zig").Bench;
const cubin = @import("fake_driver.zig").cubin;
const sha256 = @import("set").sha256;
const aot = cuda.aot;
const testing = std.testing;

fn checkRefused(bench: *Bench, want: anyerror, says: []const u8) !void {
    const opened = aot.Set.open(testing.io, testing.allocator, bench.path, .{ .context = &bench.context, .load = .all });
    if (opened) |captured| captured.close() else |_| {}
    try testing.expectError(want, opened);
    if (std.mem.indexOf(u8, bench.notebook.text.items, says) == null) try testing.expectEqualStrings(says, bench.notebook.text.items);
    bench.notebook.clear();
}

test "set: all at once, or each cubin before its first launch" {
    const bench: *Bench = try .create(90);
    defer bench.destroy();
    try bench.writeSet("\"target\": \"sm_90\",");
    const all = try bench.open(.exact, .all);
    try testing.expect(std.mem.startsWith(u8, bench.fake.notes.items, "load 1\nfunction _mixed_0 of 1\nload 2\n"));
    try testing.expect(std.mem.endsWith(u8, bench.fake.notes.items, "load 5\nfunction g of 5\n"));
    bench.fake.clear();
    try all.runWith(.{}, "_pinned", .{ 1, 1, 1 }, &.{}, &.{}, .{});
    try bench.fake.expectNotes("launch 30 grid 1x1x1 block 128x1x1 shared 0 stream 0 params\n");
    all.close();
    bench.fake.clear();
    const lazy = try bench.open(.exact, .lazy);
    try bench.fake.expectNotes("");
    lazy.close();
    try bench.fake.expectNotes("");
}

test "set: entries of one cubin share its module" {
    const bench: *Bench = try .create(90);
    defer bench.destroy();
    const entry =
        \\{"fn": "_f", "hash": "aa", "name": "f", "num_warps": 1, "params": [{"name": "N", "type": "i32", "div16": %, "nospec": false}], "consts": {}}
    ;
    const first = try std.mem.replaceOwned(u8, testing.allocator, entry, "%", "true");
    defer testing.allocator.free(first);
    const second = try std.mem.replaceOwned(u8, testing.allocator, entry, "%", "false");
    defer testing.allocator.free(second);
    const text = try std.fmt.allocPrint(testing.allocator, "{{\"kernels\": [{s}, {s}]}}", .{ first, second });
    defer testing.allocator.free(text);
    try bench.write("aot.json", text);
    try bench.write("cubins/aa.cubin", &cubin(9));
    const captured = try bench.open(.exact, .all);
    try bench.fake.expectNotes("load 9\nfunction f of 9\nfunction f of 9\n");
    captured.close();
    try bench.fake.expectNotes("module unloaded 9\n");
}

test "set: another GPU's" {
    const bench: *Bench = try .create(121);
    defer bench.destroy();
    try bench.writeSet("\"target\": \"sm_90\",");
    try checkRefused(bench, error.OtherTarget, ": have sm90, need sm121, which is the device's (Fake)");
    // Minor versions of one major version are other GPUs, too.
    try bench.writeSet("\"target\": \"sm_120\",");
    try checkRefused(bench, error.OtherTarget, ": have sm120, need sm121");
    try bench.writeSet("\"target\": \"gfx942\",");
    try checkRefused(bench, error.OtherTarget, ": have gfx942, need sm121");
    try bench.fake.expectNotes("");
}

test "set: files that are absent or no set" {
    const bench: *Bench = try .create(90);
    defer bench.destroy();
    try checkRefused(bench, error.SetUnreadable, "aot.json: cannot be read (FileNotFound); expected the folder of a captured set");
    try bench.write("aot.json", "{\"kernels\": [{}]}");
    try checkRefused(bench, error.InvalidSet, "aot.json: kernels[0]: `fn` is missing");
    try bench.write("aot.json", &@as([300]u8, @splat('[')));
    try checkRefused(bench, error.InvalidSet, "aot.json: ");
    try bench.writeSet("");
    try bench.folder.dir.deleteFile(testing.io, "cubins/bb.cubin");
    try checkRefused(bench, error.CubinUnreadable, "cubins/bb.cubin: cannot be read (FileNotFound); the set is no whole: copy or install it anew");
    try bench.write("cubins/bb.cubin", "// PTX");
    try checkRefused(bench, error.CubinChanged, "cubins/bb.cubin: it is no whole ELF file: copy or install the set anew");
    // What was loaded before is unloaded again.
    try testing.expect(std.mem.endsWith(u8, bench.fake.notes.items, "load 1\nfunction _mixed_0 of 1\nmodule unloaded 1\n"));
}

test "set: what the driver refuses fails the launch, not the process" {
    const bench: *Bench = try .create(90);
    defer bench.destroy();
    try bench.writeSet("");
    const captured = try bench.open(.exact, .lazy);
    defer captured.close();
    const refusals = [_]struct { call: []const u8, says: []const u8 }{
        .{ .call = "cuModuleLoadData", .says = "err cuModuleLoadData: CUDA_ERROR_OF_THE_FAKE (209): CUDA_ERROR_OF_THE_FAKE\n" },
        .{ .call = "cuModuleGetFunction", .says = "err cuModuleGetFunction: CUDA_ERROR_OF_THE_FAKE (209)" },
        .{ .call = "cuFuncSetAttribute", .says = "err cuFuncSetAttribute: CUDA_ERROR_OF_THE_FAKE (209)" },
        .{ .call = "cuLaunchKernelEx", .says = "err cuLaunchKernelEx: CUDA_ERROR_OF_THE_FAKE (209)" },
    };
    for (refusals) |refusal| {
        bench.fake.failing = .{ .call = refusal.call, .code = @enumFromInt(209) };
        try testing.expectError(error.CudaFailed, captured.run(.{}, "_wide", .{ 1, 1, 1 }, &.{}, &.{}));
        try testing.expect(std.mem.startsWith(u8, bench.notebook.text.items, refusal.says));
        bench.notebook.clear();
    }
    bench.fake.failing = null;
    try captured.run(.{}, "_wide", .{ 1, 1, 1 }, &.{}, &.{});
    try bench.expectLog("");
}

/// One kernel, with the hash of its cubin.
fn writeRecorded(bench: *Bench, image: []const u8) !sha256.Hex {
    const hex = sha256.of(image);
    const text = try std.fmt.allocPrint(
        testing.allocator,
        "{{\"kernels\": [{{\"fn\": \"_f\", \"hash\": \"aa\", \"name\": \"f\", \"num_warps\": 1, \"sha256\": \"{s}\", \"params\": [], \"consts\": {{}}}}]}}",
        .{&hex},
    );
    defer testing.allocator.free(text);
    try bench.write("aot.json", text);
    try bench.write("cubins/aa.cubin", image);
    const listed = try std.fmt.allocPrint(testing.allocator, "{s}  aot.json\n{s}  cubins/aa.cubin\n", .{ &sha256.of(text), &hex });
    defer testing.allocator.free(listed);
    return sha256.of(listed);
}

test "set: a cubin that is not the recorded one, and the digest that packages name" {
    const bench: *Bench = try .create(90);
    defer bench.destroy();
    const want = try writeRecorded(bench, &cubin(7));
    {
        const captured = try bench.open(.exact, .all);
        defer captured.close();
        try testing.expectEqualStrings(&want, &captured.digest().?);
    }
    try bench.write("cubins/aa.cubin", &cubin(8));
    try checkRefused(bench, error.CubinChanged, "cubins/aa.cubin: its SHA-256 is ");
    try bench.writeSet("");
    const foreign = try bench.open(.exact, .lazy);
    defer foreign.close();
    try testing.expectEqual(null, foreign.digest());
}

test "set: which folder of an installed engine holds it" {
    const bench: *Bench = try .create(121);
    defer bench.destroy();
    var arena: std.heap.ArenaAllocator = .init(testing.allocator);
    defer arena.deinit();
    const search: aot.Search = .{ .prefix = bench.path, .family = "qwen27" };
    const parent = try std.fmt.allocPrint(arena.allocator(), "{s}/share/qwen27/cuda", .{bench.path});
    const refusals = [_]struct { file: []const u8, says: []const u8 }{
        .{ .file = "share/qwen27/cuda/notes/readme", .says = "there is no set, need sm121, which is the device's (Fake)" },
        .{ .file = "share/qwen27/cuda/sm90/aot.json", .says = "have sm90, need sm121, which is the device's (Fake)" },
        .{ .file = "share/qwen27/cuda/sm120/aot.json", .says = "have sm120, sm90, need sm121, which is the device's (Fake)" },
    };
    for (refusals) |refusal| {
        try bench.write(refusal.file, "{}");
        try testing.expectError(error.SetNotFound, aot.locate(testing.io, arena.allocator(), &bench.context, search));
        try bench.expectLog(try std.fmt.allocPrint(arena.allocator(), "err {s}: {s}\n", .{ parent, refusal.says }));
    }
    var explicit = search;
    explicit.explicit = "elsewhere";
    try testing.expectEqualStrings("elsewhere", try aot.locate(testing.io, arena.allocator(), &bench.context, explicit));
    try bench.write("share/qwen27/cuda/sm121/aot.json", "{}");
    const found = try aot.locate(testing.io, arena.allocator(), &bench.context, search);
    try testing.expect(std.mem.endsWith(u8, found, "share/qwen27/cuda/sm121"));
    try testing.expectEqualStrings("elsewhere", try aot.locate(testing.io, arena.allocator(), &bench.context, explicit));
}

test "set: threads that launch at once load a cubin once" {
    const bench: *Bench = try .create(90);
    defer bench.destroy();
    try bench.writeSet("");
    const captured = try bench.open(.exact, .lazy);
    defer captured.close();
    var threads: [8]std.Thread = undefined;
    for (&threads) |*thread| thread.* = try .spawn(.{}, launchOnce, .{&captured});
    for (threads) |thread| thread.join();
    try testing.expectEqual(1, std.mem.count(u8, bench.fake.notes.items, "load "));
    try testing.expectEqual(threads.len, std.mem.count(u8, bench.fake.notes.items, "launch "));
}

fn launchOnce(captured: *const aot.Set) void {
    captured.run(.{}, "_pinned", .{ 1, 1, 1 }, &.{}, &.{}) catch @panic("a launch failed");
}
