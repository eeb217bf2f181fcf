//! The stand-in for an engine's `cuda` module, so that an unmodified declaration file compiles and
//! runs on a host without CUDA.
//!
//! It offers what declaration files launch with: `Stream`, `Event` and, below `aot`, the names of aot.zig
//! (docs/declarations.md lists them all). If the compiler says that this file has no member of some
//! name, the declaration file uses more of its engine's module than that: such code belongs into
//! another file of the engine. A name that launches need is added here or in aot.zig: a type with only
//! the fields and methods that declaration files touch, a launching function that hands its call to the
//! sink as `aot.Set.runWith` does.

const std = @import("std");

pub const aot = @import("aot.zig");

/// A CUDA stream. The host has none: the handle stays null and nothing is ordered.
pub const Stream = struct {
    /// The driver's handle.
    handle: ?*anyopaque = null,

    /// Records an event on the stream.
    pub fn record(_: Stream, _: anytype) error{}!void {}

    /// Makes the stream wait for an event.
    pub fn wait(_: Stream, _: anytype) error{}!void {}
};

/// A CUDA event, as empty as the stream.
pub const Event = struct {
    /// The driver's handle.
    handle: ?*anyopaque = null,

    /// Records the event on a stream.
    pub fn record(_: Event, _: anytype) error{}!void {}

    /// Makes a stream wait for the event.
    pub fn wait(_: Event, _: anytype) error{}!void {}
};

/// Notes what it was given, for the tests below.
const Notebook = struct {
    calls: u32 = 0,
    last: ?aot.Call = null,

    const functions: aot.Sink.Functions = .{ .launch = launch, .smallestConst = smallestConst };
    const variant: aot.Variant = .{ .function = "_f", .hash = "h", .name = "f", .num_warps = 4, .params = &.{}, .consts = &.{} };

    fn sink(notebook: *Notebook) aot.Sink {
        return .{ .context = notebook, .functions = &functions };
    }

    fn launch(context: *anyopaque, call: aot.Call) aot.Error!*const aot.Variant {
        const notebook: *Notebook = @ptrCast(@alignCast(context));
        notebook.calls += 1;
        notebook.last = call;
        return if (std.mem.eql(u8, call.function, "_f")) &variant else error.MissingTritonVariant;
    }

    fn smallestConst(_: *anyopaque, _: []const u8, _: []const u8, at_least: i64) ?i64 {
        return if (at_least <= 32) 32 else null;
    }
};

test "cuda: every name of a declaration file reaches the sink" {
    var notebook: Notebook = .{};
    const captured: aot.Set = .{ .sink = notebook.sink() };
    const stream: Stream = .{};
    const event: Event = .{};
    try stream.record(event);
    try stream.wait(event);
    try event.record(stream);
    try event.wait(stream);
    try std.testing.expectEqual(@as(?*anyopaque, null), stream.handle);

    const arguments = [_]aot.Arg{ aot.ptr("X", "*bf16", 256), aot.int("N", 3), aot.float("eps", 1e-6), aot.word("seed", 7) };
    const constexprs = [_]aot.Const{ aot.ci("D", 64), aot.cf("SCALE", 0.5) };
    try captured.run(stream, "_f", .{ 1, 2, 3 }, &arguments, &constexprs);
    try std.testing.expectEqual([3]u32{ 1, 2, 3 }, notebook.last.?.grid.?);
    try captured.runWith(stream, "_f", .{ 1, 1, 1 }, &arguments, &constexprs, .{ .num_warps = 8 });
    try std.testing.expectEqual(@as(?u32, 8), notebook.last.?.options.num_warps);
    try std.testing.expectEqual(@as(u32, 4), (try captured.find("_f", &arguments, &constexprs)).num_warps);
    _ = try captured.findWith("_f", &arguments, &constexprs, .{ .num_stages = 2 });
    try std.testing.expectEqual(@as(?u32, 2), notebook.last.?.options.num_stages);
    const probe: aot.Probe = .{ .sink = notebook.sink() };
    try probe.add("_f", &arguments, &constexprs, .{});
    try std.testing.expectEqual(@as(u32, 5), notebook.calls);
    try std.testing.expectEqual(@as(?[3]u32, null), notebook.last.?.grid);
    try std.testing.expectEqual(@as(?i64, 32), captured.smallestConst("_f", "BM", 16));
    try std.testing.expectEqual(@as(?i64, null), captured.smallestConst("_f", "BM", 33));
}

test "cuda: a launch that the sink refuses fails as in the engine" {
    var notebook: Notebook = .{};
    const captured: aot.Set = .{ .sink = notebook.sink() };
    try std.testing.expectError(error.MissingTritonVariant, captured.run(Stream{}, "_g", .{ 1, 1, 1 }, &.{}, &.{}));
}
