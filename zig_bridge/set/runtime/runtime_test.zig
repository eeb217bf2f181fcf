//! Tests of the runtime against a fake driver: what a launch gives the driver, and what the log says.

const std = @import("std");
const set = @import("set");
const cuda = @import("runtime.zig");
const Fake = @import("fake_driver.zig").Fake;
const cubin = @import("fake_driver.zig").cubin;
const Notebook = @import("log.zig").Notebook;
const aot = cuda.aot;
const testing = std.testing;

/// A foreign set of small kernels; `cubins` are written as `<hash>` -> its module's number.
const kernels =
    \\{"fn": "_mixed", "hash": "aa", "name": "_mixed_0", "num_warps": 4, "shared": 512, "params": [
    \\  {"name": "X", "type": "*bf16", "div16": true, "nospec": false},
    \\  {"name": "N", "type": "i32", "div16": false, "nospec": false},
    \\  {"name": "eps", "type": "fp32", "div16": false, "nospec": false},
    \\  {"name": "seed", "type": "u64", "div16": false, "nospec": false}], "consts": {"M": {"int": 1}, "D": {"int": 64}}},
    \\{"fn": "_wide", "hash": "bb", "name": "_wide_0", "num_warps": 8, "shared": 65536, "num_ctas": 16, "pdl": true, "params": [], "consts": {}},
    \\{"fn": "_pinned", "hash": "cc", "name": "p4", "num_warps": 4, "num_stages": 2, "params": [], "consts": {}},
    \\{"fn": "_pinned", "hash": "dd", "name": "p8", "num_warps": 8, "num_stages": 3, "params": [], "consts": {}},
    \\{"fn": "_general", "hash": "0123456789abcdef", "name": "g", "num_warps": 1, "params": [
    \\  {"name": "N", "type": "i32", "div16": false, "nospec": false}], "consts": {"BM": {"int": 32}}}
;
const modules = [_]struct { hash: []const u8, module: u8 }{
    .{ .hash = "aa", .module = 1 },
    .{ .hash = "bb", .module = 2 },
    .{ .hash = "cc", .module = 3 },
    .{ .hash = "dd", .module = 4 },
    .{ .hash = "0123456789abcdef", .module = 5 },
};

/// A set in a folder of its own, opened on a fake device.
pub const Bench = struct {
    folder: std.testing.TmpDir,
    path: []const u8,
    fake: Fake,
    notebook: Notebook,
    driver: cuda.Driver,
    context: cuda.Context,

    pub fn create(capability: u32) !*Bench {
        const bench = try testing.allocator.create(Bench);
        bench.folder = testing.tmpDir(.{});
        bench.path = try std.fmt.allocPrint(testing.allocator, ".zig-cache/tmp/{s}", .{&bench.folder.sub_path});
        bench.fake = .{ .allocator = testing.allocator, .capability = capability };
        bench.notebook = .{ .allocator = testing.allocator };
        bench.driver = bench.fake.driver(bench.notebook.log());
        bench.context = try .open(&bench.driver, 0);
        return bench;
    }

    pub fn destroy(bench: *Bench) void {
        bench.context.close();
        bench.fake.deinit();
        bench.notebook.deinit();
        testing.allocator.free(bench.path);
        bench.folder.cleanup();
        testing.allocator.destroy(bench);
    }

    /// Writes a file of the set.
    pub fn write(bench: *Bench, name: []const u8, text: []const u8) !void {
        if (std.fs.path.dirname(name)) |folder| try bench.folder.dir.createDirPath(testing.io, folder);
        try bench.folder.dir.writeFile(testing.io, .{ .sub_path = name, .data = text });
    }

    /// Writes the set of the tests: its target, and what else the top of it says.
    pub fn writeSet(bench: *Bench, comptime top: []const u8) !void {
        try bench.write("aot.json", "{" ++ top ++ "\"kernels\": [" ++ kernels ++ "]}");
        for (modules) |module| {
            var name: [64]u8 = undefined;
            try bench.write(try std.fmt.bufPrint(&name, "cubins/{s}.cubin", .{module.hash}), &cubin(module.module));
        }
    }

    pub fn open(bench: *Bench, policy: aot.Policy, load: aot.Set.Load) !aot.Set {
        const opened = try aot.Set.open(testing.io, testing.allocator, bench.path, .{
            .context = &bench.context,
            .policy = policy,
            .load = load,
            .command = "zig build -Dcapture=true -Dparallel=2",
        });
        // What it says of itself holds the folder's random name.
        bench.notebook.clear();
        return opened;
    }

    pub fn expectLog(bench: *Bench, want: []const u8) !void {
        try testing.expectEqualStrings(want, bench.notebook.text.items);
        bench.notebook.clear();
    }
};

const mixed = [_]aot.Arg{ aot.word("seed", 7), aot.float("eps", 0.5), aot.int("M", 1), aot.int("N", -3), aot.ptr("X", "*bf16", 4096) };

test "runtime: parameters in the variant's order, two null scratch pointers, the block, the stream" {
    const bench: *Bench = try .create(90);
    defer bench.destroy();
    try bench.writeSet("\"target\": \"sm_90\",");
    const captured = try bench.open(.exact, .lazy);
    const stream: cuda.Stream = try .create(&bench.context);
    try bench.fake.expectNotes("created 1\n");
    bench.fake.params = "pifwpp";
    try captured.run(stream, "_mixed", .{ 3, 2, 1 }, &mixed, &.{aot.ci("D", 64)});
    try bench.fake.expectNotes(
        "load 1\nfunction _mixed_0 of 1\n" ++
            "launch 10 grid 3x2x1 block 128x1x1 shared 512 stream 80 params 4096 -3 0.5 7 0 0\n",
    );
    // What is loaded stays loaded; a grid without programs launches nothing; the default stream has no handle.
    bench.fake.params = "";
    try captured.run(stream, "_mixed", .{ 3, 0, 1 }, &mixed, &.{});
    try bench.fake.expectNotes("");
    try captured.run(.{}, "_mixed", .{ 1, 1, 1 }, &mixed, &.{});
    try bench.fake.expectNotes("launch 10 grid 1x1x1 block 128x1x1 shared 512 stream 0 params\n");
    try bench.expectLog("");
    captured.close();
    try bench.fake.expectNotes("module unloaded 1\n");
}

test "runtime: shared memory over 48 KiB, clusters and dependent launches" {
    const bench: *Bench = try .create(90);
    defer bench.destroy();
    try bench.writeSet("");
    const captured = try bench.open(.exact, .lazy);
    defer captured.close();
    try captured.run(.{}, "_wide", .{ 2, 1, 1 }, &.{}, &.{});
    try bench.fake.expectNotes(
        "load 2\nfunction _wide_0 of 2\nfunction 20 dynamic_shared_bytes_max 65536\nfunction 20 non_portable_cluster_size 1\n" ++
            "launch 20 grid 32x1x1 block 256x1x1 shared 65536 stream 0 params pdl 1 cluster 16x1x1 scheduling 1\n",
    );
}

test "runtime: a missing variant is told in the engines' lines, and how to capture it" {
    const bench: *Bench = try .create(90);
    defer bench.destroy();
    try bench.writeSet("");
    const lines =
        \\err   X: *bf16 at 0x1008 (16-aligned false)
        \\err   N: i32 16
        \\err   M: i32 2
        \\err   eps: fp32 0.5
        \\err   seed: u64 7
        \\err   constexpr D = 64
        \\err the nearest variant, aa, is of another class: X is aligned there, unaligned here; N is any there, 16 (div16) here; M is 1 (folded) there, 2 (any) here; to capture it: zig build -Dcapture=true -Dparallel=2
        \\
    ;
    const arguments = [_]aot.Arg{ aot.ptr("X", "*bf16", 4104), aot.int("N", 16), aot.int("M", 2), aot.float("eps", 0.5), aot.word("seed", 7) };
    {
        const captured = try bench.open(.exact, .lazy);
        defer captured.close();
        try testing.expectError(error.MissingTritonVariant, captured.run(.{}, "_mixed", .{ 1, 1, 1 }, &arguments, &.{aot.ci("D", 64)}));
        try bench.expectLog("err no captured Triton variant of _mixed for this launch:\n" ++ lines);
        const probe: aot.Probe = .{ .set = &captured };
        try testing.expectError(error.MissingTritonVariant, probe.add("_absent", &.{}, &.{aot.cf("S", 0.25)}, .{}));
        try bench.expectLog(
            \\err no captured Triton variant of _absent for this launch:
            \\err   constexpr S = 0.25
            \\err the set has no variant of _absent at all; to capture it: zig build -Dcapture=true -Dparallel=2
            \\
        );
    }
    const captured = try bench.open(.pinned, .lazy);
    defer captured.close();
    try testing.expectError(error.MissingTritonVariant, captured.runWith(.{}, "_mixed", .{ 1, 1, 1 }, &arguments, &.{aot.ci("D", 64)}, .{ .num_warps = 4 }));
    try bench.expectLog("err no captured Triton variant of _mixed for this launch (warps 4, stages null):\n" ++ lines);
    // The variants fit, and their options are not those that the launch pins.
    try testing.expectError(error.MissingTritonVariant, captured.findWith("_pinned", &.{}, &.{}, .{ .num_stages = 5 }));
    try bench.expectLog(
        \\err no captured Triton variant of _pinned for this launch (warps null, stages 5):
        \\err the nearest variant, cc, is of another class: 4 warps, 2 stages; to capture it: zig build -Dcapture=true -Dparallel=2
        \\
    );
    try bench.fake.expectNotes("");
}

test "runtime: ambiguous launches, pins, and the exact rule that knows neither" {
    const bench: *Bench = try .create(90);
    defer bench.destroy();
    try bench.writeSet("");
    const pinned = try bench.open(.pinned, .lazy);
    defer pinned.close();
    try testing.expectError(error.AmbiguousTritonVariant, pinned.run(.{}, "_pinned", .{ 1, 1, 1 }, &.{}, &.{}));
    try bench.expectLog("err several captured Triton variants of _pinned match; pin num_warps/num_stages (Launch)\n");
    try testing.expectEqual(@as(u32, 8), (try pinned.findWith("_pinned", &.{}, &.{}, .{ .num_warps = 8 })).num_warps);
    const exact = try bench.open(.exact, .lazy);
    defer exact.close();
    try testing.expectEqual(@as(u32, 4), (try exact.find("_pinned", &.{}, &.{})).num_warps);
    try bench.expectLog("");
    try testing.expectEqual(@as(?i64, 32), exact.smallestConst("_general", "BM", 17));
    try testing.expectEqual(@as(?i64, null), exact.smallestConst("_general", "BM", 33));
}

test "runtime: a fallback warns once for a variant" {
    const bench: *Bench = try .create(90);
    defer bench.destroy();
    try bench.writeSet("");
    const captured = try bench.open(.fallback, .lazy);
    defer captured.close();
    bench.fake.params = "i";
    for ([_]i32{ 16, 1, 7 }) |rows| try captured.run(.{}, "_general", .{ 1, 1, 1 }, &.{aot.int("N", rows)}, &.{});
    try bench.expectLog("warn _general: a launch whose specialization no captured variant has runs variant 0123456789ab (assumes less)\n");
    try bench.fake.expectNotes(
        \\load 5
        \\function g of 5
        \\launch 50 grid 1x1x1 block 32x1x1 shared 0 stream 0 params 16
        \\launch 50 grid 1x1x1 block 32x1x1 shared 0 stream 0 params 1
        \\launch 50 grid 1x1x1 block 32x1x1 shared 0 stream 0 params 7
        \\
    );
    try testing.expectError(error.MissingTritonVariant, captured.run(.{}, "_general", .{ 1, 1, 1 }, &.{aot.word("N", 16)}, &.{}));
}

test "runtime: streams, events and memory reach the driver" {
    const bench: *Bench = try .create(121);
    defer bench.destroy();
    try testing.expectEqual(@as(u32, 121), bench.context.capability);
    try testing.expectEqualStrings("Fake", bench.context.name());
    const stream: cuda.Stream = try .create(&bench.context);
    const event: cuda.Event = try .create(&bench.context);
    try stream.record(event);
    try stream.wait(event);
    try event.synchronize();
    try stream.synchronize();
    try testing.expectEqual(@as(f32, 1.5), try event.millisecondsSince(event));
    event.destroy();
    stream.destroy();
    try bench.fake.expectNotes(
        \\created 1
        \\created 0
        \\event 80 recorded on stream 80
        \\stream 80 waits for event 80
        \\event synchronized 80
        \\stream synchronized 80
        \\event destroyed 80
        \\stream destroyed 80
        \\
    );
    try testing.expectError(error.NoEvent, stream.record(.{}));
    try testing.expectError(error.NoStream, (cuda.Stream{}).synchronize());

    const memory: cuda.Memory = try .alloc(&bench.context, 8);
    defer memory.free();
    const other: cuda.Memory = try .alloc(&bench.context, 4);
    defer other.free();
    try memory.fill(stream, 0, 8, 0xff);
    try memory.copyIn(stream, 1, "abcd");
    try other.copyFrom(stream, 1, memory, 3, 3);
    var found: [8]u8 = undefined;
    try memory.copyOut(stream, 0, &found);
    try testing.expectEqualStrings("\xffabcd\xff\xff\xff", &found);
    try other.copyOut(stream, 1, found[0..3]);
    try testing.expectEqualStrings("cd\xff", found[0..3]);
    bench.fake.failing = .{ .call = "cuMemAlloc_v2", .code = .out_of_memory };
    try testing.expectError(error.CudaOutOfMemory, cuda.Memory.alloc(&bench.context, 8));
    try bench.expectLog("err cuMemAlloc_v2: CUDA_ERROR_OUT_OF_MEMORY (2): CUDA_ERROR_OUT_OF_MEMORY\n");
    try testing.expectError(error.CudaNotFound, cuda.Context.open(&bench.driver, 1));
    try bench.expectLog("err there is no CUDA device 1; the driver has 1\n");
}
