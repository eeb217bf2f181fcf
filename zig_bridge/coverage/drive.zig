//! Drives a consumer's rounds into a recorder: every round within the limits, in every layout; then, over their
//! domains, the methods that no round drives.

const std = @import("std");
const build_capture = @import("build_capture");
const absent = @import("domains.zig").absent;
const Driver = @import("domains.zig").Driver;
const enumerate = @import("enumerate.zig");
const record = @import("record.zig");
const Recorder = record.Recorder;
const watch = @import("watch.zig");

/// A round failed; the recorder's `failure` says which and why.
pub const Error = error{ RoundFailed, OutOfMemory };

/// Launches every round of `rounds` within the limits into the recorder, and makes its calls over domains. `rounds` is a
/// consumer's `rounds.zig`, or a generated `domains.zig`, which holds the rounds as well where there are any.
pub fn all(comptime rounds: type, recorder: *Recorder, limits: build_capture.Limits) Error!void {
    if (limits.problem()) |problem| {
        try recorder.fail("limits: {s}", .{problem});
        return error.RoundFailed;
    }
    watch.start();
    if (@hasDecl(rounds, "drive")) {
        var enumeration: enumerate.Rounds = .init(limits);
        while (enumeration.next()) |round| {
            const layouts = try layoutsOf(rounds, recorder, round);
            for (layouts.items()) |layout| try one(rounds, recorder, round, layout);
        }
        try refuseOtherDeals(rounds, recorder, limits);
    }
    if (@hasDecl(rounds, "driveDomains")) {
        var driver: Driver = .init(recorder, limits);
        try rounds.driveDomains(&driver);
    }
}

/// Fails where a round whose rows are dealt out to its windows in another way launches what no round did so far. One deal
/// of each round is driven; what depends on the deal has to be in the layouts, or it would be missing unnoticed.
fn refuseOtherDeals(comptime rounds: type, recorder: *Recorder, limits: build_capture.Limits) Error!void {
    var others: Recorder = .{ .arena = recorder.arena, .answers = recorder.answers };
    var windows: [build_capture.Limits.parallel_max]u32 = undefined;
    var enumeration: enumerate.Rounds = .init(limits);
    while (enumeration.next()) |_| {
        for ([_]enumerate.Rounds.Order{ .short_first, .long_first }) |order| {
            const round = enumeration.unevenly(order, &windows) orelse continue;
            const known = others.needs.items.len;
            defer if (others.failure) |failure| {
                recorder.failure = failure;
            };
            const layouts = try layoutsOf(rounds, &others, round);
            for (layouts.items()) |layout| try one(rounds, &others, round, layout);
            for (others.needs.items[known..]) |need| {
                if (recorder.knows(need)) continue;
                var text: std.Io.Writer.Allocating = .init(recorder.arena);
                writeRound(&text.writer, need.witness) catch return error.OutOfMemory;
                try recorder.fail("a {s} launches {s}, which no round launches with its rows dealt out evenly; expected " ++
                    "`layouts` to list whatever depends on how rows are dealt to windows; try a field of Layout for it, and no " ++
                    "round.windows in `drive`", .{ text.written(), need.text });
                return error.RoundFailed;
            }
        }
    }
}

/// The layouts that a round can have.
pub fn layoutsOf(comptime rounds: type, recorder: *Recorder, round: build_capture.Round) Error!build_capture.Layouts(rounds.Layout) {
    var layouts: build_capture.Layouts(rounds.Layout) = .{};
    const position: Position(struct {}) = .{ .kind = kindOf(round), .windows = round.windows, .values = &.{} };
    enter(position.any());
    defer leave();
    rounds.layouts(round, &layouts) catch |failure| {
        return explain(recorder, failure, "layouts", round, &.{});
    };
    return layouts;
}

/// Launches one round in one layout into the recorder.
pub fn one(comptime rounds: type, recorder: *Recorder, round: build_capture.Round, layout: rounds.Layout) Error!void {
    const captured = recorder.standIn();
    const known = recorder.needs.items.len;
    recorder.rounds += 1;
    recorder.shape = .{ .kind = kindOf(round), .streams = round.streams(), .rows = round.rows() };
    recorder.taken.clearRetainingCapacity();
    const position: Position(rounds.Layout) = .{ .kind = kindOf(round), .windows = round.windows, .values = &layout };
    enter(position.any());
    defer leave();
    rounds.drive(&captured, round, layout) catch |failure| {
        return explain(recorder, failure, "drive", round, try describe(recorder.arena, layout));
    };
    if (recorder.failure != null) {
        return explain(recorder, error.MalformedLaunch, "drive", round, try describe(recorder.arena, layout));
    }
    if (recorder.needs.items.len == known) return;
    const witness: record.Witness = .{
        .kind = kindOf(round),
        .windows = try recorder.arena.dupe(u32, round.windows),
        .layout = try describe(recorder.arena, layout),
    };
    for (recorder.needs.items[known..]) |*need| need.witness = witness;
}

/// What is driven at this moment, for who has to tell after a panic in the declaration file or a loop without an end; null
/// between rounds.
pub var at: ?AnyPosition = null;

/// Says what is driven from now on.
pub fn enter(position: AnyPosition) void {
    at = position;
    watch.move();
}

/// Says that it came back.
pub fn leave() void {
    at = null;
    watch.move();
}

/// What a round or a call takes in words, at the most; what is longer is cut.
pub const text_bytes_max = 1 << 14;

/// A round or a call while it is driven, whatever the type of its values.
pub const AnyPosition = struct {
    context: *const anyopaque,
    witnessOf: *const fn (context: *const anyopaque, arena: std.mem.Allocator) error{OutOfMemory}!record.Witness,

    /// What `writeRound` writes of it, where nothing can be allocated.
    pub fn tell(position: AnyPosition, text: *[text_bytes_max]u8) []const u8 {
        var memory: [text_bytes_max]u8 = undefined;
        var allocator: std.heap.FixedBufferAllocator = .init(&memory);
        var writer: std.Io.Writer = .fixed(text);
        if (position.witnessOf(position.context, allocator.allocator())) |witness| writeRound(&writer, witness) catch {} else |_| {}
        return writer.buffered();
    }
};

/// A round with its layout, or a call with its parameters. It has to outlive what is driven.
pub fn Position(comptime Values: type) type {
    return struct {
        const Self = @This();

        kind: record.Witness.Kind,
        method: ?[]const u8 = null,
        windows: []const u32 = &.{},
        values: *const Values,

        pub fn any(position: *const Self) AnyPosition {
            return .{ .context = position, .witnessOf = witnessOf };
        }

        fn witnessOf(context: *const anyopaque, arena: std.mem.Allocator) error{OutOfMemory}!record.Witness {
            const position: *const Self = @ptrCast(@alignCast(context));
            const layout = try describe(arena, position.values.*);
            return .{ .kind = position.kind, .method = position.method, .windows = position.windows, .layout = layout };
        }
    };
}

fn explain(recorder: *Recorder, failure: anyerror, function: []const u8, round: build_capture.Round, layout: []const record.LayoutField) Error {
    if (failure == error.OutOfMemory) return error.OutOfMemory;
    var text: std.Io.Writer.Allocating = .init(recorder.arena);
    const witness: record.Witness = .{ .kind = kindOf(round), .windows = round.windows, .layout = layout };
    writeRound(&text.writer, witness) catch return error.OutOfMemory;
    const cause = recorder.failure orelse @errorName(failure);
    recorder.failure = try std.fmt.allocPrint(recorder.arena, "{s} failed in a {s}: {s}", .{ function, text.written(), cause });
    return error.RoundFailed;
}

/// The kind that a round's witness has.
pub fn kindOf(round: build_capture.Round) record.Witness.Kind {
    return switch (round.kind) {
        .decode => .decode,
        .prompt => .prompt,
    };
}

/// A round as people say it: `decode round of 2 streams, 3 rows (windows 2 1), layout items=1`; or a call:
/// `call of Tri.embed with rows=1 ids=4096`.
pub fn writeRound(writer: *std.Io.Writer, witness: record.Witness) std.Io.Writer.Error!void {
    if (witness.kind == .call) {
        try writer.print("call of {s}", .{witness.method.?});
        return writeFields(writer, witness.layout, " with ");
    }
    const streams = witness.windows.len;
    try writer.print("{s} of {d} {s}, {d} {s}", .{
        switch (witness.kind) {
            .decode => "decode round",
            .prompt => "prompt chunk",
            .call => unreachable,
        },
        streams,
        if (streams == 1) "stream" else "streams",
        witness.rows(),
        if (witness.rows() == 1) "row" else "rows",
    });
    if (streams > 1) {
        try writer.writeAll(" (windows");
        for (witness.windows) |window| try writer.print(" {d}", .{window});
        try writer.writeByte(')');
    }
    try writeFields(writer, witness.layout, ", layout ");
}

fn writeFields(writer: *std.Io.Writer, fields: []const record.LayoutField, before: []const u8) std.Io.Writer.Error!void {
    for (fields, 0..) |field, index| {
        try writer.print("{s}{s}=", .{ if (index == 0) before else " ", field.name });
        switch (field.value) {
            .int => |value| try writer.print("{d}", .{value}),
            .boolean => |value| try writer.print("{}", .{value}),
            .text => |value| try writer.writeAll(value),
            .float => |value| try writer.print("{d}", .{value}),
            .none => try writer.writeAll("null"),
        }
    }
}

/// The fields of a consumer's layout with their values.
pub fn describe(arena: std.mem.Allocator, layout: anytype) error{OutOfMemory}![]const record.LayoutField {
    const names = comptime std.meta.fieldNames(@TypeOf(layout));
    const fields = try arena.alloc(record.LayoutField, names.len);
    inline for (names, fields) |name, *field| field.* = .{ .name = name, .value = describeValue(name, @field(layout, name)) };
    return fields;
}

fn describeValue(comptime name: []const u8, value: anytype) @FieldType(record.LayoutField, "value") {
    return switch (@typeInfo(@TypeOf(value))) {
        .int, .comptime_int => if (value == absent) .none else .{ .int = value },
        .bool => .{ .boolean = value },
        .@"enum", .enum_literal => .{ .text = @tagName(value) },
        .float, .comptime_float => .{ .float = value },
        .null => .none,
        .optional => if (value) |some| describeValue(name, some) else .none,
        .pointer => .{ .text = value },
        else => @compileError("Layout." ++ name ++ ": expected an int, a bool or an enum, found " ++ @typeName(@TypeOf(value))),
    };
}
