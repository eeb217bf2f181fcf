//! Tests of methods that are driven over domains, by a driver such as the capture generates.

const std = @import("std");
const build_capture = @import("build_capture");
const cuda = @import("cuda");
const coverage = @import("coverage.zig");
const fake_set = @import("fake_set.zig");
const record = @import("record.zig");
const Driver = coverage.domains.Driver;
const Values = coverage.domains.Values;
const testing = std.testing;

const limits: build_capture.Limits = .{ .parallel = 3, .window_rows = 1, .prompt_rows = 0 };

const Tri = struct {
    set: *const cuda.aot.Set,
    s: cuda.Stream,

    pub fn rows(t: Tri, count: u8, residual: ?u64, mode: enum { first, second }) !void {
        if (count == 2 and mode == .second) return error.PlanTooLong;
        const x = cuda.aot.ptr("X", "*bf16", residual orelse 0x100);
        try t.set.run(t.s, "_rows", .{ 1, 1, 1 }, &.{ x, cuda.aot.int("W", @intCast(count)) }, &.{});
    }

    pub fn late(t: Tri) !void {
        try t.set.run(t.s, "_late", .{ 1, 1, 1 }, &.{}, &.{});
    }
};

/// A driver that calls `rows` up to `last` rows, in these modes.
fn Domains(comptime last: i128, comptime modes: anytype) type {
    return struct {
        pub fn driveDomains(driver: *Driver) Driver.Error!void {
            var counts: Values = .init(&.{.{ .range = .{ .from = 1, .to = last } }});
            while (counts.next()) |count| {
                var residuals: Values = .init(&.{.{ .list = &.{ coverage.domains.absent, 0x204 } }});
                while (residuals.next()) |residual| {
                    inline for (modes) |mode| try driver.call("Tri.rows", Tri.rows, .{
                        .{ .set = &driver.set, .s = .{} },
                        try driver.int(u8, "count", count),
                        try driver.optional(u64, "residual", residual),
                        mode,
                    }, .{ .count = count, .residual = residual, .mode = mode });
                }
            }
        }
    };
}

fn driven(comptime domains: type, arena: std.mem.Allocator) !record.Recorder {
    var recorder: record.Recorder = .{ .arena = arena, .answers = .{ .listed = coverage.listedConstants(domains) } };
    coverage.drive.all(domains, &recorder, limits) catch |failure| {
        if (recorder.failure == null) return failure;
    };
    return recorder;
}

test "domains: calls become needs, with the method and its parameters as the witness" {
    var arena: std.heap.ArenaAllocator = .init(testing.allocator);
    defer arena.deinit();
    const recorder = try driven(Domains(3, .{.first}), arena.allocator());
    try testing.expectEqual(@as(?[]const u8, null), recorder.failure);
    try testing.expectEqual([_]u64{ 0, 6, 6 }, [_]u64{ recorder.rounds, recorder.calls, recorder.launches });
    const needs = recorder.needs.items;
    try testing.expectEqual(@as(usize, 4), needs.len);
    try testing.expectEqualStrings("_rows(X: *bf16 aligned, W: i32 any)", needs[2].text);
    try testing.expectEqual([_]u64{ 2, 2, 0 }, [_]u64{ needs[2].launches, needs[2].launches_of_calls, needs[2].rounds });
    var text: std.Io.Writer.Allocating = .init(arena.allocator());
    try coverage.drive.writeRound(&text.writer, needs[2].witness);
    try testing.expectEqualStrings("call of Tri.rows with count=2 residual=null mode=first", text.written());
}

test "domains: a call that fails is named, and so is a value that does not fit" {
    var arena: std.heap.ArenaAllocator = .init(testing.allocator);
    defer arena.deinit();
    const failing = try driven(Domains(3, .{ .first, .second }), arena.allocator());
    try testing.expectEqualStrings("a call of Tri.rows with count=2 residual=null mode=second failed: PlanTooLong", failing.failure.?);
    const wide = try driven(Domains(256, .{.first}), arena.allocator());
    try testing.expectEqualStrings("count: 256 does not fit u8; expected a domain within it", wide.failure.?);
}

test "domains: a set is checked against every call" {
    var arena: std.heap.ArenaAllocator = .init(testing.allocator);
    defer arena.deinit();
    const recorder = try driven(Domains(3, .{.first}), arena.allocator());
    const full = try fake_set.text(arena.allocator(), recorder.needs.items, fake_set.all);
    const folded = try fake_set.text(arena.allocator(), recorder.needs.items, isFolded);
    const options: coverage.Options = .{ .limits = limits, .launches = &.{}, .command = "zig build" };
    var report: std.Io.Writer.Allocating = .init(arena.allocator());
    _ = try coverage.checkTo(Domains(3, .{.first}), arena.allocator(), full, options, &report.writer);
    try testing.expectEqualStrings("coverage: 0 rounds, 6 calls over domains, 6 launches, 4 specializations: all captured " ++
        "(parallel 3, window rows 1)\n", report.written());
    report.clearRetainingCapacity();
    const result = coverage.checkTo(Domains(3, .{.first}), arena.allocator(), folded, options, &report.writer);
    try testing.expectError(error.NotCovered, result);
    const want = "no captured variant of _rows for a launch of a call of Tri.rows with count=2 residual=null mode=first\n";
    try testing.expect(std.mem.indexOf(u8, report.written(), want) != null);
    try testing.expect(std.mem.indexOf(u8, report.written(), "    needed by 2 launches\n") != null);
}

fn isFolded(need: record.Need) bool {
    return std.mem.indexOf(u8, need.text, "W: i32 one") != null;
}
