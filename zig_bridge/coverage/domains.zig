//! Drives methods over domains: what a generated `domains.zig` calls. Where `rounds.zig` knows the real layout of a
//! round, a domain only knows what one parameter ranges over, so every combination is called.

const std = @import("std");
const build_capture = @import("build_capture");
const cuda = @import("cuda");
const drive = @import("drive.zig");
const record = @import("record.zig");

/// Calls methods and writes down what they launch.
pub const Driver = struct {
    recorder: *record.Recorder,
    /// What ranges and formulas are bounded by.
    limits: build_capture.Limits,
    /// What methods launch into.
    set: cuda.aot.Set,
    /// What methods of another generation launch into.
    probe: cuda.aot.Probe,
    /// Calls of the method at hand.
    calls: u64 = 0,

    pub const Error = drive.Error;

    /// More calls of one method than this take too long in every build.
    pub const calls_of_method_max = 8 << 20;

    /// `limits` must have no problem.
    pub fn init(recorder: *record.Recorder, limits: build_capture.Limits) Driver {
        std.debug.assert(limits.problem() == null);
        const captured = recorder.standIn();
        return .{ .recorder = recorder, .limits = limits, .set = captured, .probe = .{ .sink = captured.sink } };
    }

    /// Calls a method once. `values` is a struct with the value of each parameter by its path, for the witness.
    pub fn call(
        driver: *Driver,
        comptime method: []const u8,
        comptime function: anytype,
        arguments: std.meta.ArgsTuple(@TypeOf(function)),
        values: anytype,
    ) Error!void {
        const recorder = driver.recorder;
        const known = recorder.needs.items.len;
        driver.calls += 1;
        recorder.calls += 1;
        recorder.taken.clearRetainingCapacity();
        const position: drive.Position(@TypeOf(values)) = .{ .kind = .call, .method = method, .values = &values };
        drive.enter(position.any());
        defer drive.leave();
        const result = @call(.auto, function, arguments);
        if (@typeInfo(@TypeOf(result)) == .error_union) {
            _ = result catch |failure| return driver.explain(method, failure, values);
        }
        if (recorder.failure != null) return driver.explain(method, error.MalformedLaunch, values);
        if (driver.calls > calls_of_method_max) return driver.explain(method, error.TooManyCalls, values);
        if (recorder.needs.items.len == known) return;
        const witness: record.Witness = .{ .kind = .call, .method = method, .windows = &.{}, .layout = try drive.describe(recorder.arena, values) };
        for (recorder.needs.items[known..]) |*need| need.witness = witness;
    }

    /// A value as the type that a parameter has. A domain that crosses a width would be another type for Triton.
    pub fn int(driver: *Driver, comptime T: type, comptime path: []const u8, value: i128) Error!T {
        if (std.math.cast(T, value)) |fitting| return fitting;
        try driver.recorder.fail("{s}: {d} does not fit {s}; expected a domain within it", .{ path, value, @typeName(T) });
        return error.RoundFailed;
    }

    /// The same for a parameter that may be null.
    pub fn optional(driver: *Driver, comptime T: type, comptime path: []const u8, value: i128) Error!?T {
        return if (value == absent) null else try driver.int(T, path, value);
    }

    fn explain(driver: *Driver, comptime method: []const u8, failure: anyerror, values: anytype) Error {
        if (failure == error.OutOfMemory) return error.OutOfMemory;
        const recorder = driver.recorder;
        var text: std.Io.Writer.Allocating = .init(recorder.arena);
        const witness: record.Witness = .{ .kind = .call, .method = method, .windows = &.{}, .layout = try drive.describe(recorder.arena, values) };
        drive.writeRound(&text.writer, witness) catch return error.OutOfMemory;
        const cause = recorder.failure orelse switch (failure) {
            error.TooManyCalls => std.fmt.comptimePrint("more than {d} calls; expected fewer; try narrower domains", .{calls_of_method_max}),
            else => @errorName(failure),
        };
        recorder.failure = try std.fmt.allocPrint(recorder.arena, "a {s} failed: {s}", .{ text.written(), cause });
        return error.RoundFailed;
    }
};

/// What the parameter at `index` of a function points at.
pub fn Pointed(comptime Function: type, comptime index: usize) type {
    const Tuple = std.meta.ArgsTuple(Function);
    return @typeInfo(@FieldType(Tuple, std.fmt.comptimePrint("{d}", .{index}))).pointer.child;
}

/// Stands for null among the values of a parameter that may be null. No domain reaches it.
pub const absent: i128 = std.math.minInt(i128);

/// A part of a domain.
pub const Piece = union(enum) {
    /// These values.
    list: []const i128,
    /// `from`, `from + step`, up to `to`; nothing where `to` is less than `from`.
    range: Range,

    pub const Range = struct { from: i128, to: i128, step: i128 = 1 };

    fn contains(piece: Piece, value: i128) bool {
        return switch (piece) {
            .list => |list| std.mem.findScalar(i128, list, value) != null,
            .range => |range| value >= range.from and value <= range.to and @mod(value - range.from, range.step) == 0,
        };
    }

    fn at(piece: Piece, index: usize) ?i128 {
        switch (piece) {
            .list => |list| return if (index < list.len) list[index] else null,
            .range => |range| {
                const value = range.from + range.step * @as(i128, index);
                return if (value <= range.to) value else null;
            },
        }
    }
};

/// Walks the values of a domain, each once, in the order of its pieces.
pub const Values = struct {
    pieces: []const Piece,
    piece: usize = 0,
    index: usize = 0,

    pub fn init(pieces: []const Piece) Values {
        for (pieces) |piece| std.debug.assert(piece != .range or piece.range.step > 0);
        return .{ .pieces = pieces };
    }

    /// The next value, or null after the last.
    pub fn next(values: *Values) ?i128 {
        while (values.piece < values.pieces.len) {
            const value = values.pieces[values.piece].at(values.index) orelse {
                values.piece += 1;
                values.index = 0;
                continue;
            };
            values.index += 1;
            if (!values.isSeen(value)) return value;
        }
        return null;
    }

    fn isSeen(values: *const Values, value: i128) bool {
        for (values.pieces[0..values.piece]) |piece| {
            if (piece.contains(value)) return true;
        }
        // A list may repeat itself; a range does not.
        const piece = values.pieces[values.piece];
        return piece == .list and std.mem.findScalar(i128, piece.list[0 .. values.index - 1], value) != null;
    }
};

/// What formulas are made of. A divisor that is not positive is a fault of the profile.
pub const formula = struct {
    /// `ceil(value / divisor)`
    pub fn ceilDivide(value: i128, divisor: i128) i128 {
        return -@divFloor(-value, positive(divisor));
    }

    /// `value / divisor`, rounded down.
    pub fn floorDivide(value: i128, divisor: i128) i128 {
        return @divFloor(value, positive(divisor));
    }

    /// `value % divisor`, never negative.
    pub fn modulo(value: i128, divisor: i128) i128 {
        return @mod(value, positive(divisor));
    }

    /// The next power of two, 1 for all that is less.
    pub fn powerOfTwo(value: i128) i128 {
        if (value <= 1) return 1;
        return @as(i128, 1) << @intCast(std.math.log2_int_ceil(u128, @intCast(value)));
    }

    fn positive(divisor: i128) i128 {
        if (divisor <= 0) @panic("a formula of the profile divides by what is not positive");
        return divisor;
    }
};

fn checkValues(pieces: []const Piece, want: []const i128) !void {
    var values: Values = .init(pieces);
    for (want) |value| try std.testing.expectEqual(@as(?i128, value), values.next());
    try std.testing.expectEqual(@as(?i128, null), values.next());
    try std.testing.expectEqual(@as(?i128, null), values.next());
}

test "domains: values come once, in the order of the pieces" {
    try checkValues(&.{}, &.{});
    try checkValues(&.{.{ .range = .{ .from = 2, .to = 1 } }}, &.{});
    try checkValues(&.{.{ .range = .{ .from = -32, .to = 17, .step = 16 } }}, &.{ -32, -16, 0, 16 });
    try checkValues(&.{ .{ .range = .{ .from = 1, .to = 3 } }, .{ .list = &.{ 1, 2, 4, 8, 4 } } }, &.{ 1, 2, 3, 4, 8 });
    try checkValues(&.{ .{ .list = &.{ absent, 7 } }, .{ .range = .{ .from = 6, .to = 8, .step = 1 } } }, &.{ absent, 7, 6, 8 });
}

test "domains: formulas round as they say" {
    try std.testing.expectEqual(@as(i128, 2), formula.ceilDivide(65, 64));
    try std.testing.expectEqual(@as(i128, 1), formula.ceilDivide(64, 64));
    try std.testing.expectEqual(@as(i128, 0), formula.ceilDivide(-63, 64));
    try std.testing.expectEqual(@as(i128, -1), formula.floorDivide(-63, 64));
    try std.testing.expectEqual(@as(i128, 1), formula.modulo(-63, 64));
    const cases = [_][2]i128{ .{ -3, 1 }, .{ 0, 1 }, .{ 1, 1 }, .{ 2, 2 }, .{ 3, 4 }, .{ 16, 16 }, .{ 17, 32 } };
    for (cases) |case| try std.testing.expectEqual(case[1], formula.powerOfTwo(case[0]));
}
