//! Checks what rounds need against a captured set, and says what is missing as a compiler would.

const std = @import("std");
const set = @import("set");
const drive = @import("drive.zig");
const record = @import("record.zig");
const specialization = @import("specialization.zig");
const Limits = @import("build_capture").Limits;
const Writer = std.Io.Writer;

/// One launch that the declaration file makes.
pub const Declared = struct {
    /// The Triton function's name; null where the text does not show it. Such a launch cannot be
    /// told apart from others, so whether a round reaches it is not checked.
    function: ?[]const u8,
    /// The Zig function that makes the launch.
    method: []const u8,
    /// The file, relative to the declaration file's folder.
    file: []const u8,
    /// The line of the launch, from 1.
    line: u32,
    /// The names of the arguments, in the launch's order; null where the text does not show each.
    arguments: ?[]const []const u8 = null,
    /// The names of the constexprs, likewise.
    constexprs: ?[]const []const u8 = null,

    /// Whether the need can come from this launch. Two launches of one function with the same names are not told apart.
    fn makes(declared: Declared, function: []const u8, need: record.Need) bool {
        if (!std.mem.eql(u8, need.function, function)) return false;
        if (declared.arguments) |names| if (!hasNames(set.Arg, need.arguments, names)) return false;
        if (declared.constexprs) |names| if (!hasNames(set.Const, need.constexprs, names)) return false;
        return true;
    }
};

fn hasNames(comptime Element: type, elements: []const Element, names: []const []const u8) bool {
    if (elements.len != names.len) return false;
    for (elements, names) |element, name| if (!std.mem.eql(u8, element.name, name)) return false;
    return true;
}

/// What a coverage check needs to know.
pub const Options = struct {
    /// The rounds that must be served.
    limits: Limits,
    /// Every launch of the declaration file. Each must be reached by some round, so that no launch
    /// goes unchecked because the rounds forget it.
    launches: []const Declared,
    /// The command that captures what is missing.
    command: []const u8,
    /// What the set has to be for, `sm_121`; null where any will do. A set that does not say what it is for is taken.
    target: ?[]const u8 = null,
    /// How many missing specializations are described before only their number is told.
    described_max: usize = 20,
};

/// Why a set is refused.
pub const Error = error{
    /// A launch has no variant, or a declared launch is reached by no round.
    NotCovered,
    /// The `aot.json` is empty or malformed, or holds no kernels.
    InvalidSet,
    /// A round failed before its launches were known.
    RoundFailed,
    /// No round or no launch was checked.
    NothingChecked,
    /// The report cannot be written.
    WriteFailed,
    OutOfMemory,
};

/// What was checked.
pub const Summary = struct {
    rounds: u64,
    /// Calls of methods over their domains.
    calls: u64,
    launches: u64,
    specializations: u64,

    fn writeDriven(summary: Summary, writer: *Writer) Writer.Error!void {
        try writer.print("{d} rounds", .{summary.rounds});
        if (summary.calls > 0) try writer.print(", {d} calls over domains", .{summary.calls});
    }
};

/// Drives every round of `rounds` within the limits against the set, under the exact rule. The
/// writer gets one line on success and every problem on failure. Memory comes from the arena.
pub fn run(comptime rounds: type, arena: std.mem.Allocator, aot_json: []const u8, options: Options, writer: *Writer) Error!Summary {
    var diagnostic: set.Diagnostic = .{};
    const captured = set.parse(arena, aot_json, &diagnostic) catch |failure| {
        if (failure == error.OutOfMemory) return error.OutOfMemory;
        try writer.print("aot.json: error: {s}; try {s}\n", .{ diagnostic.message, options.command });
        return error.InvalidSet;
    };
    if (captured.variants.len == 0) {
        try writer.print("aot.json: error: the set holds no kernels; try {s}\n", .{options.command});
        return error.InvalidSet;
    }
    if (options.target) |wanted| if (captured.target) |found| if (!std.mem.eql(u8, wanted, found)) {
        try writer.print("aot.json: error: found {s}, want {s}; try {s}\n", .{ found, wanted, options.command });
        return error.InvalidSet;
    };
    var recorder: record.Recorder = .{ .arena = arena, .answers = .{ .captured = &captured } };
    drive.all(rounds, &recorder, options.limits) catch |failure| {
        if (failure == error.OutOfMemory) return error.OutOfMemory;
        try writer.print("{s}: error: {s}\n", .{ sourceName(rounds), recorder.failure.? });
        return error.RoundFailed;
    };
    const summary: Summary = .{
        .rounds = recorder.rounds,
        .calls = recorder.calls,
        .launches = recorder.launches,
        .specializations = recorder.needs.items.len,
    };
    if (summary.rounds + summary.calls == 0 or summary.launches == 0) {
        try writer.print("{s}: error: {d} rounds and {d} calls with {d} launches were checked; expected launches; " ++
            "try a layout for each round and a launch in drive, or domains that are not empty\n", .{
            sourceName(rounds), summary.rounds, summary.calls, summary.launches,
        });
        return error.NothingChecked;
    }
    // Within a function the sort keeps the order of the rounds, so that the smallest round that
    // fails is told first.
    std.mem.sort(record.Need, recorder.needs.items, {}, byFunction);
    const missing = try reportMissing(arena, &captured, recorder.needs.items, options, writer);
    const unreached = try reportUnreached(recorder.needs.items, options, writer);
    if (missing > 0 or unreached > 0) {
        try writer.print("coverage: {d} of {d} specializations missing, {d} declared {s} reached by no round " ++
            "(", .{ missing, summary.specializations, unreached, if (unreached == 1) "launch" else "launches" });
        try summary.writeDriven(writer);
        try writer.print(", {d} launches, parallel {d}, window rows {d})\n", .{
            summary.launches, options.limits.parallel, options.limits.window_rows,
        });
        return error.NotCovered;
    }
    try writer.writeAll("coverage: ");
    try summary.writeDriven(writer);
    try writer.print(", {d} launches, {d} specializations: all captured (parallel {d}, window rows {d})\n", .{
        summary.launches, summary.specializations, options.limits.parallel, options.limits.window_rows,
    });
    return summary;
}

/// The file that a failure to drive is the fault of.
fn sourceName(comptime rounds: type) []const u8 {
    return if (@hasDecl(rounds, "driveDomains")) "domains.zig" else "rounds.zig";
}

fn byFunction(_: void, left: record.Need, right: record.Need) bool {
    return std.mem.order(u8, left.function, right.function) == .lt;
}

fn reportMissing(arena: std.mem.Allocator, captured: *const set.Set, list: []const record.Need, options: Options, writer: *Writer) Error!usize {
    var missing: usize = 0;
    for (list) |*need| {
        const request: set.match.Request = .{ .function = need.function, .arguments = need.arguments, .constexprs = need.constexprs };
        if (set.match.exact(captured, request) != null) continue;
        missing += 1;
        if (missing > options.described_max) continue;
        try describe(arena, captured, need, request, options, writer);
    }
    if (missing > options.described_max) {
        try writer.print("... and {d} more missing specializations\n", .{missing - options.described_max});
    }
    return missing;
}

fn describe(arena: std.mem.Allocator, captured: *const set.Set, need: *const record.Need, request: set.match.Request, options: Options, writer: *Writer) Error!void {
    try writePlace(need.function, options.launches, writer);
    try writer.print("error: no captured variant of {s} for a launch of a ", .{need.function});
    try drive.writeRound(writer, need.witness);
    try writer.writeAll("\n");
    for (need.arguments) |argument| {
        try writer.print("    {s}: {s} ", .{ argument.name, argument.value.typeName() });
        switch (argument.value) {
            .ptr => |pointer| try writer.print("{s}\n", .{@tagName(set.class.ofAddress(pointer.addr))}),
            .i32 => |value| try writer.print("{d} ({s})\n", .{ value, @tagName(set.class.ofInt(value)) }),
            .u64 => |value| try writer.print("{d} ({s})\n", .{ value, @tagName(set.class.ofWord(value)) }),
            .f32 => |value| try writer.print("{e}\n", .{value}),
        }
    }
    if (need.constexprs.len > 0) {
        try writer.writeAll("    constexprs:");
        for (need.constexprs) |constexpr| {
            try writer.writeByte(' ');
            try specialization.writeConstexpr(writer, constexpr);
        }
        try writer.writeByte('\n');
    }
    try writeNearest(arena, captured, request, writer);
    try writer.print("    needed by {d} {s}", .{ need.launches, if (need.launches == 1) "launch" else "launches" });
    if (need.rounds > 0) try writer.print(" in {d} {s}", .{ need.rounds, if (need.rounds == 1) "round" else "rounds" });
    try writer.print("\n    try: {s}\n", .{options.command});
}

/// Where the function is launched: each declared place, the last one leading the message's line.
fn writePlace(function: []const u8, launches: []const Declared, writer: *Writer) Error!void {
    var last: ?Declared = null;
    for (launches) |declared| {
        const name = declared.function orelse continue;
        if (!std.mem.eql(u8, name, function)) continue;
        if (last) |earlier| try writer.print("{s}:{d}: note: {s} is launched here, too\n", .{ earlier.file, earlier.line, function });
        last = declared;
    }
    if (last) |declared| try writer.print("{s}:{d}: ", .{ declared.file, declared.line });
}

fn writeNearest(arena: std.mem.Allocator, captured: *const set.Set, request: set.match.Request, writer: *Writer) Error!void {
    const near = set.match.nearest(captured, request) orelse {
        const known = try nearestName(arena, captured, request.function);
        return writer.print("    the set has no variant of {s} at all; its nearest function is {s}\n", .{ request.function, known });
    };
    try writer.print("    nearest variant {s}: ", .{near.variant.hash[0..@min(12, near.variant.hash.len)]});
    for (near.differences.items(), 0..) |difference, index| {
        if (index > 0) try writer.writeAll("; ");
        try difference.write(writer);
    }
    const left = near.differences.count - near.differences.items().len;
    if (left > 0) try writer.print("; and {d} more", .{left});
    try writer.writeByte('\n');
}

/// The function of the set whose name takes the fewest edits.
fn nearestName(arena: std.mem.Allocator, captured: *const set.Set, function: []const u8) Error![]const u8 {
    var best: []const u8 = captured.variants[0].function;
    var best_distance: usize = std.math.maxInt(usize);
    for (captured.variants) |variant| {
        const distance = try editDistance(arena, variant.function, function);
        if (distance >= best_distance) continue;
        best = variant.function;
        best_distance = distance;
    }
    return best;
}

/// Levenshtein's distance, one row of the table at a time.
fn editDistance(arena: std.mem.Allocator, left: []const u8, right: []const u8) Error!usize {
    const row = try arena.alloc(usize, right.len + 1);
    defer arena.free(row);
    for (row, 0..) |*cell, index| cell.* = index;
    for (left, 1..) |left_byte, left_count| {
        var diagonal = row[0];
        row[0] = left_count;
        for (right, 1..) |right_byte, index| {
            const above = row[index];
            const replaced = diagonal + @intFromBool(left_byte != right_byte);
            row[index] = @min(replaced, @min(above, row[index - 1]) + 1);
            diagonal = above;
        }
    }
    return row[right.len];
}

fn reportUnreached(list: []const record.Need, options: Options, writer: *Writer) Error!usize {
    var unreached: usize = 0;
    for (options.launches) |declared| {
        const function = declared.function orelse continue;
        if (reached(list, declared, function)) continue;
        unreached += 1;
        try writer.print("{s}:{d}: error: the launch of {s} in {s} is reached by no round; expected rounds.zig or a domain to reach it; " ++
            "try a call of {s} in drive\n", .{ declared.file, declared.line, function, declared.method, declared.method });
    }
    return unreached;
}

fn reached(list: []const record.Need, declared: Declared, function: []const u8) bool {
    for (list) |need| if (declared.makes(function, need)) return true;
    return false;
}
