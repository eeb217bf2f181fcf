//! Tests of rounds that fail while they are driven, and of what a probe answers without a set.

const std = @import("std");
const build_capture = @import("build_capture");
const cuda = @import("cuda");
const coverage = @import("coverage.zig");
const record = @import("record.zig");
const testing = std.testing;

const limits: build_capture.Limits = .{ .parallel = 3, .window_rows = 4096, .prompt_rows = 0 };

/// A consumer whose rounds have one layout and launch what `launch` does.
fn Rounds(comptime launch: fn (*const cuda.aot.Set, build_capture.Round) anyerror!void) type {
    return struct {
        pub const Layout = struct { items: u32 };
        pub fn layouts(_: build_capture.Round, list: *build_capture.Layouts(Layout)) !void {
            try list.add(.{ .items = 5 });
        }
        pub fn drive(set: *const cuda.aot.Set, round: build_capture.Round, _: Layout) !void {
            try launch(set, round);
        }
        pub const constants = .{ ._listed = .{ .BM = .{ 32, 16 } } };
    };
}

/// Wants driving to fail, with this message.
fn checkFailure(comptime launch: fn (*const cuda.aot.Set, build_capture.Round) anyerror!void, want: []const u8) !void {
    var arena: std.heap.ArenaAllocator = .init(testing.allocator);
    defer arena.deinit();
    const rounds = Rounds(launch);
    var recorder: record.Recorder = .{ .arena = arena.allocator(), .answers = .{ .listed = coverage.listedConstants(rounds) } };
    try testing.expectError(error.RoundFailed, coverage.drive.all(rounds, &recorder, limits));
    try testing.expectEqualStrings(want, recorder.failure.?);
}

const first_round = "drive failed in a decode round of 1 stream, 1 row, layout items=5: ";

fn failsLate(_: *const cuda.aot.Set, round: build_capture.Round) !void {
    if (round.rows() == 3) return error.PlanTooLong;
}

fn givesTwice(set: *const cuda.aot.Set, _: build_capture.Round) !void {
    try set.run(cuda.Stream{}, "_f", .{ 1, 1, 1 }, &.{ cuda.aot.int("W", 2), cuda.aot.int("W", 3) }, &.{});
}

fn givesNoType(set: *const cuda.aot.Set, _: build_capture.Round) !void {
    try set.run(cuda.Stream{}, "_f", .{ 1, 1, 1 }, &.{cuda.aot.ptr("X", "bf16", 0)}, &.{});
}

fn givesNoConstant(set: *const cuda.aot.Set, _: build_capture.Round) !void {
    try set.run(cuda.Stream{}, "_f", .{ 1, 1, 1 }, &.{}, &.{.{ .name = "D" }});
}

fn followsRows(set: *const cuda.aot.Set, round: build_capture.Round) !void {
    try set.run(cuda.Stream{}, "_f", .{ 1, 1, 1 }, &.{}, &.{ cuda.aot.ci("D", 64), cuda.aot.ci("T", round.rows()) });
}

fn asksUnlisted(set: *const cuda.aot.Set, _: build_capture.Round) !void {
    _ = set.smallestConst("_f", "BM", 16);
}

fn launchesForever(set: *const cuda.aot.Set, _: build_capture.Round) !void {
    while (true) try set.run(cuda.Stream{}, "_f", .{ 1, 1, 1 }, &.{cuda.aot.int("W", 2)}, &.{});
}

test "drive: a round that launches without an end is refused" {
    try checkFailure(launchesForever, first_round ++ "more than 1048576 launches; expected a loop that ends");
}

test "drive: a round that fails is named" {
    try checkFailure(failsLate, "drive failed in a decode round of 1 stream, 3 rows, layout items=5: PlanTooLong");
}

/// Launches once for each window of two, with a table behind all rows of the round.
fn perWindow(set: *const cuda.aot.Set, round: build_capture.Round) !void {
    if (round.streams() != 2 or round.rows() > 8) return;
    for (round.windows) |rows| {
        try set.run(cuda.Stream{}, "_f", .{ 1, 1, 1 }, &.{ cuda.aot.ptr("T", "*i32", 4 * round.rows()), cuda.aot.int("W", @intCast(rows)) }, &.{});
    }
}

/// The same without the table: every window occurs in a round of one stream.
fn perWindowAlone(set: *const cuda.aot.Set, round: build_capture.Round) !void {
    for (round.windows) |rows| try set.run(cuda.Stream{}, "_f", .{ 1, 1, 1 }, &.{cuda.aot.int("W", @intCast(rows))}, &.{});
}

test "drive: what only another deal of the rows launches is refused, unless some round launches it" {
    try checkFailure(perWindow, "a decode round of 2 streams, 4 rows (windows 1 3), layout items=5 launches _f(T: *i32 aligned, W: i32 one), " ++
        "which no round launches with its rows dealt out evenly; expected `layouts` to list whatever depends on how rows are dealt to windows; " ++
        "try a field of Layout for it, and no round.windows in `drive`");
    var arena: std.heap.ArenaAllocator = .init(testing.allocator);
    defer arena.deinit();
    const rounds = Rounds(perWindowAlone);
    var recorder: record.Recorder = .{ .arena = arena.allocator(), .answers = .{ .listed = coverage.listedConstants(rounds) } };
    try coverage.drive.all(rounds, &recorder, .{ .parallel = 3, .window_rows = 16, .prompt_rows = 2 });
    try testing.expectEqual(@as(usize, 3), recorder.needs.items.len);
    try testing.expectEqual(@as(u64, 16 + 31 + 46 + 2), recorder.rounds);
}

test "record: a malformed launch is refused by function and name" {
    try checkFailure(givesTwice, first_round ++ "_f: W is given twice; expected each argument once");
    try checkFailure(givesNoType, first_round ++ "_f: X has no pointer type; expected one like *bf16");
    try checkFailure(givesNoConstant, first_round ++ "_f: D needs exactly one of an int and an f32 value");
}

test "record: a constexpr that follows the rows is refused with its count" {
    try checkFailure(followsRows, "drive failed in a decode round of 3 streams, 8193 rows (windows 2731 2731 2731), layout items=5: " ++
        "_f: more than 8192 specializations; constexpr T alone takes 8193 values; expected a bounded choice; " ++
        "try a runtime argument or a bucket of sizes");
}

test "record: smallestConst without a list says how to give one" {
    try checkFailure(asksUnlisted, first_round ++ "smallestConst(\"_f\", \"BM\", 16): no set to look at yet; " ++
        "expected the values to capture; try `.constants = .{ ._f = .{ .BM = .{ 16, 32 } } }` in the profile and " ++
        "`pub const constants = profile.constants;` in rounds.zig");
}

fn asksListed(set: *const cuda.aot.Set, round: build_capture.Round) !void {
    const tile = set.smallestConst("_listed", "BM", @min(round.rows(), 32)).?;
    try testing.expectEqual(@as(?i64, null), set.smallestConst("_listed", "BM", 33));
    try set.run(cuda.Stream{}, "_listed", .{ 1, 1, 1 }, &.{}, &.{cuda.aot.ci("BM", tile)});
}

test "record: smallestConst answers from the profile's list" {
    var arena: std.heap.ArenaAllocator = .init(testing.allocator);
    defer arena.deinit();
    const rounds = Rounds(asksListed);
    var recorder: record.Recorder = .{ .arena = arena.allocator(), .answers = .{ .listed = coverage.listedConstants(rounds) } };
    try coverage.drive.all(rounds, &recorder, limits);
    try testing.expectEqual(@as(usize, 2), recorder.needs.items.len);
    try testing.expectEqualStrings("_listed() BM=16", recorder.needs.items[0].text);
    try testing.expectEqual(@as(u32, 17), recorder.needs.items[1].witness.rows());
}

test "drive: limits out of range are refused" {
    var arena: std.heap.ArenaAllocator = .init(testing.allocator);
    defer arena.deinit();
    var recorder: record.Recorder = .{ .arena = arena.allocator(), .answers = .{ .listed = &.{} } };
    const none: build_capture.Limits = .{ .parallel = 0, .window_rows = 1, .prompt_rows = 0 };
    try testing.expectError(error.RoundFailed, coverage.drive.all(Rounds(failsLate), &recorder, none));
    try testing.expectEqualStrings("limits: parallel must be from 1 to 1024", recorder.failure.?);
}
