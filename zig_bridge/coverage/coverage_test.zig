//! Tests of recording and checking, over a small consumer with two launches.

const std = @import("std");
const build_capture = @import("build_capture");
const cuda = @import("cuda");
const coverage = @import("coverage.zig");
const fake_set = @import("fake_set.zig");
const record = @import("record.zig");
const testing = std.testing;

const ptr = cuda.aot.ptr;
const int = cuda.aot.int;
const ci = cuda.aot.ci;

const limits: build_capture.Limits = .{ .parallel = 2, .window_rows = 8, .prompt_rows = 0 };
const declared = [_]coverage.Declared{
    .{ .function = "_rows", .method = "rows", .file = "triton.zig", .line = 10 },
    .{ .function = "_late", .method = "late", .file = "triton.zig", .line = 20 },
    .{ .function = null, .method = "run", .file = "triton.zig", .line = 30 },
};
const options: coverage.Options = .{ .limits = limits, .launches = &declared, .command = "zig build -Dcapture=true" };

/// `_rows` for every round; `_late` only where the layout is late.
const Small = struct {
    pub const Layout = struct { items: u32, late: bool, order: enum { packed_tables, own_tables } };

    pub fn layouts(round: build_capture.Round, list: *build_capture.Layouts(Layout)) !void {
        try list.add(.{ .items = 0, .late = false, .order = .own_tables });
        if (round.streams() > 1) try list.add(.{ .items = 3, .late = true, .order = .packed_tables });
    }

    pub fn drive(set: *const cuda.aot.Set, round: build_capture.Round, layout: Layout) !void {
        const rows: i32 = @intCast(round.rows());
        const grid = [3]u32{ round.rows(), 1, 1 };
        try set.run(cuda.Stream{}, "_rows", grid, &.{ ptr("X", "*bf16", 0x100), int("W", rows) }, &.{ci("D", 64)});
        if (!layout.late) return;
        try set.runWith(cuda.Stream{}, "_late", grid, &.{ptr("T", "*i32", 0x100 + 4 * @as(u64, layout.items))}, &.{}, .{ .num_warps = 8 });
    }
};

fn recorded(comptime rounds: type, arena: std.mem.Allocator) !record.Recorder {
    var recorder: record.Recorder = .{ .arena = arena, .answers = .{ .listed = coverage.listedConstants(rounds) } };
    try coverage.drive.all(rounds, &recorder, limits);
    return recorder;
}

fn setOf(comptime rounds: type, arena: std.mem.Allocator, keep: *const fn (record.Need) bool) ![]const u8 {
    const recorder = try recorded(rounds, arena);
    return fake_set.text(arena, recorder.needs.items, keep);
}

/// Wants the check to end so, with each of the texts in its report.
fn checkReport(comptime rounds: type, aot_json: []const u8, with: coverage.Options, failure: ?coverage.Error, wants: []const []const u8) !void {
    var arena: std.heap.ArenaAllocator = .init(testing.allocator);
    defer arena.deinit();
    var report: std.Io.Writer.Allocating = .init(arena.allocator());
    const result = coverage.checkTo(rounds, arena.allocator(), aot_json, with, &report.writer);
    if (failure) |expected| try testing.expectError(expected, result) else _ = try result;
    for (wants) |want| {
        if (std.mem.indexOf(u8, report.written(), want) != null) continue;
        std.debug.print("missing from the report: {s}\n---\n{s}\n---\n", .{ want, report.written() });
        return error.TestUnexpectedResult;
    }
}

test "record: launches become needs with counts and first witness" {
    var arena: std.heap.ArenaAllocator = .init(testing.allocator);
    defer arena.deinit();
    var recorder = try recorded(Small, arena.allocator());
    // One stream: 8 rounds. Two: 15 shapes of 2..16 rows in two layouts.
    try testing.expectEqual(@as(u64, 8 + 2 * 15), recorder.rounds);
    try testing.expectEqual(@as(u64, 8 + 3 * 15), recorder.launches);
    var json: std.Io.Writer.Allocating = .init(arena.allocator());
    try coverage.needs.write(&recorder, .{ .spans = true }, &json.writer);
    const needs = recorder.needs.items;
    try testing.expectEqual(@as(usize, 4), needs.len);
    try testing.expectEqualStrings("_late(T: *i32 unaligned) warps=8", needs[0].text);
    try testing.expectEqualStrings("_rows(X: *bf16 aligned, W: i32 any) D=64", needs[1].text);
    try testing.expectEqualStrings("_rows(X: *bf16 aligned, W: i32 div16) D=64", needs[2].text);
    try testing.expectEqualStrings("_rows(X: *bf16 aligned, W: i32 one) D=64", needs[3].text);
    try testing.expectEqual([_]u64{ 15, 35, 2, 1 }, [_]u64{ needs[0].launches, needs[1].launches, needs[2].launches, needs[3].launches });
    try testing.expectEqual(@as(u64, 35), needs[1].rounds);
    try testing.expectEqual(@as(u32, 2), needs[1].witness.rows());
    try testing.expect(std.mem.startsWith(u8, json.written(), "{\"rounds\":38,\"calls\":0,\"launches\":53,\"needs\":[{\"function\":\"_late\"," ++
        "\"arguments\":[{\"name\":\"T\",\"kind\":\"ptr\",\"type\":\"*i32\",\"class\":\"unaligned\"}],\"constexprs\":[]," ++
        "\"options\":{\"num_warps\":8,\"num_stages\":null},\"launches\":15,\"launches_of_calls\":0,\"rounds\":15," ++
        "\"witness\":{\"kind\":\"decode\",\"method\":null,\"streams\":2,\"rows\":2,\"windows\":[1,1]," ++
        "\"layout\":{\"items\":3,\"late\":true,\"order\":\"packed_tables\"},\"grid\":[2,1,1]," ++
        "\"values\":[{\"name\":\"T\",\"value\":\"0x10c\"}]}," ++
        "\"spans\":[{\"kind\":\"decode\",\"streams\":2,\"rows_first\":2,\"rows_last\":16}]}"));
    // W of one stream's rounds is 1 to 8, of two streams' 2 to 16: only 1 and 16 are not in class `any`.
    try testing.expectEqualSlices(record.Span, &.{
        .{ .kind = .decode, .streams = 1, .rows_first = 2, .rows_last = 8 },
        .{ .kind = .decode, .streams = 2, .rows_first = 2, .rows_last = 15 },
    }, needs[1].spans.items);
    try testing.expectEqualSlices(record.Span, &.{.{ .kind = .decode, .streams = 2, .rows_first = 16, .rows_last = 16 }}, needs[2].spans.items);
}

test "coverage: a full set passes and says what was checked" {
    var arena: std.heap.ArenaAllocator = .init(testing.allocator);
    defer arena.deinit();
    const full = try setOf(Small, arena.allocator(), fake_set.all);
    try checkReport(Small, full, options, null, &.{
        "coverage: 38 rounds, 53 launches, 4 specializations: all captured (parallel 2, window rows 8)\n",
    });
}

fn notAny(need: record.Need) bool {
    return std.mem.indexOf(u8, need.text, "W: i32 any") == null;
}

fn notLate(need: record.Need) bool {
    return !std.mem.eql(u8, need.function, "_late");
}

fn foldedOnly(need: record.Need) bool {
    return std.mem.indexOf(u8, need.text, "W: i32 one") != null;
}

test "coverage: a missing specialization is described" {
    var arena: std.heap.ArenaAllocator = .init(testing.allocator);
    defer arena.deinit();
    try checkReport(Small, try setOf(Small, arena.allocator(), notAny), options, error.NotCovered, &.{
        "triton.zig:10: error: no captured variant of _rows for a launch of a decode round of 1 stream, 2 rows, " ++
            "layout items=0 late=false order=own_tables\n" ++
            "    X: *bf16 aligned\n" ++
            "    W: i32 2 (any)\n" ++
            "    constexprs: D=64\n" ++
            "    nearest variant HASH00000000: W is 1 (folded) there, 2 (any) here\n" ++
            "    needed by 35 launches in 35 rounds\n" ++
            "    try: zig build -Dcapture=true\n",
        "coverage: 1 of 4 specializations missing",
    });
}

test "coverage: all missing specializations are listed, up to a bound" {
    var arena: std.heap.ArenaAllocator = .init(testing.allocator);
    defer arena.deinit();
    const folded = try setOf(Small, arena.allocator(), foldedOnly);
    try checkReport(Small, folded, options, error.NotCovered, &.{ "W: i32 2 (any)", "W: i32 16 (div16)", "triton.zig:20: error: ", "3 of 4 specializations missing" });
    var bounded = options;
    bounded.described_max = 1;
    try checkReport(Small, folded, bounded, error.NotCovered, &.{ "... and 2 more missing specializations\n", "3 of 4" });
}

test "coverage: a function that the set lacks names the nearest one" {
    var arena: std.heap.ArenaAllocator = .init(testing.allocator);
    defer arena.deinit();
    try checkReport(Small, try setOf(Small, arena.allocator(), notLate), options, error.NotCovered, &.{
        "the set has no variant of _late at all; its nearest function is _rows\n",
        "decode round of 2 streams, 2 rows (windows 1 1), layout items=3 late=true order=packed_tables",
        "T: *i32 unaligned",
    });
}

test "coverage: an empty or malformed set is refused" {
    try checkReport(Small, "", options, error.InvalidSet, &.{"aot.json: error: the file is empty"});
    try checkReport(Small, "{", options, error.InvalidSet, &.{ "no valid JSON", "try zig build -Dcapture=true" });
    try checkReport(Small, "{\"kernels\": []}", options, error.InvalidSet, &.{"the set holds no kernels"});
}

test "coverage: a set for another target is refused, one that names none is taken" {
    var arena: std.heap.ArenaAllocator = .init(testing.allocator);
    defer arena.deinit();
    var with = options;
    with.target = "sm_121";
    const foreign = try setOf(Small, arena.allocator(), fake_set.all);
    try checkReport(Small, foreign, with, null, &.{"all captured"});
    for ([_][]const u8{ "sm_121", "sm_90" }, [_]?coverage.Error{ null, error.InvalidSet }) |target, failure| {
        const named = try std.fmt.allocPrint(arena.allocator(), "{{\"target\": \"{s}\", {s}", .{ target, foreign[1..] });
        const want = if (failure == null) "all captured" else "aot.json: error: found sm_90, want sm_121; try zig build -Dcapture=true\n";
        try checkReport(Small, named, with, failure, &.{want});
    }
}

/// A u64 of 1 and of 16: of the classes of an i32 it has all but the folded one.
const words = struct {
    pub const Layout = struct { value: u8 };

    pub fn layouts(_: build_capture.Round, list: *build_capture.Layouts(Layout)) !void {
        for ([_]u8{ 1, 2, 16 }) |value| try list.add(.{ .value = value });
    }

    pub fn drive(set: *const cuda.aot.Set, _: build_capture.Round, layout: Layout) !void {
        try set.run(cuda.Stream{}, "_word", .{ 1, 1, 1 }, &.{cuda.aot.word("N", layout.value)}, &.{});
    }
};

test "coverage: a u64 of 1 takes the variant of any" {
    var arena: std.heap.ArenaAllocator = .init(testing.allocator);
    defer arena.deinit();
    const recorder = try recorded(words, arena.allocator());
    const needs = recorder.needs.items;
    try testing.expectEqual(@as(usize, 2), needs.len);
    try testing.expectEqualStrings("_word(N: u64 any)", needs[0].text);
    try testing.expectEqualStrings("_word(N: u64 div16)", needs[1].text);
    var with = options;
    with.launches = &.{};
    try checkReport(words, try setOf(words, arena.allocator(), fake_set.all), with, null, &.{"2 specializations: all captured"});
}

test "coverage: a declared launch that no round reaches is refused" {
    var arena: std.heap.ArenaAllocator = .init(testing.allocator);
    defer arena.deinit();
    const full = try setOf(Small, arena.allocator(), fake_set.all);
    var with = options;
    with.limits.parallel = 1;
    try checkReport(Small, full, with, error.NotCovered, &.{
        "triton.zig:20: error: the launch of _late in late is reached by no round",
        "0 of 2 specializations missing, 1 declared launch reached by no round",
    });
}

test "coverage: a second launch of a function, with other names, is reached by itself" {
    var arena: std.heap.ArenaAllocator = .init(testing.allocator);
    defer arena.deinit();
    const full = try setOf(Small, arena.allocator(), fake_set.all);
    const first: coverage.Declared = .{ .function = "_rows", .method = "rows", .file = "triton.zig", .line = 10, .arguments = &.{ "X", "W" }, .constexprs = &.{"D"} };
    var with = options;
    with.launches = &.{first};
    try checkReport(Small, full, with, null, &.{"all captured"});
    var hidden = first;
    hidden.arguments = null;
    hidden.constexprs = null;
    const others = [_]coverage.Declared{
        secondOf(first, &.{ "X", "W", "B" }, &.{"D"}),
        secondOf(first, &.{ "W", "X" }, null),
        secondOf(first, null, &.{}),
        secondOf(first, null, &.{"E"}),
    };
    for (others) |other| {
        with.launches = &.{ first, hidden, other };
        try checkReport(Small, full, with, error.NotCovered, &.{
            "triton.zig:11: error: the launch of _rows in second is reached by no round",
            "1 declared launch reached by no round",
        });
    }
}

fn secondOf(first: coverage.Declared, arguments: ?[]const []const u8, constexprs: ?[]const []const u8) coverage.Declared {
    var second = first;
    second.method = "second";
    second.line = 11;
    second.arguments = arguments;
    second.constexprs = constexprs;
    return second;
}

const no_layouts = struct {
    pub const Layout = struct { items: u32 };
    pub fn layouts(_: build_capture.Round, _: *build_capture.Layouts(Layout)) !void {}
    pub fn drive(_: *const cuda.aot.Set, _: build_capture.Round, _: Layout) !void {}
};

const no_launches = struct {
    pub const Layout = struct {};
    pub fn layouts(_: build_capture.Round, list: *build_capture.Layouts(Layout)) !void {
        try list.add(.{});
    }
    pub fn drive(_: *const cuda.aot.Set, _: build_capture.Round, _: Layout) !void {}
};

test "coverage: checking nothing is a failure" {
    var arena: std.heap.ArenaAllocator = .init(testing.allocator);
    defer arena.deinit();
    const full = try setOf(Small, arena.allocator(), fake_set.all);
    try checkReport(no_layouts, full, options, error.NothingChecked, &.{"0 rounds and 0 calls with 0 launches"});
    try checkReport(no_launches, full, options, error.NothingChecked, &.{"23 rounds and 0 calls with 0 launches"});
}

test {
    _ = @import("failure_test.zig");
}
