//! The sink that writes down what the launches of many rounds need: one need for each distinct
//! specialization, with the first round that asked for it.

const std = @import("std");
const set = @import("set");
const cuda = @import("cuda");
const build_capture = @import("build_capture");
const specialization = @import("specialization.zig");

/// The round, or the call over domains, in which a need was seen first.
pub const Witness = struct {
    /// Decode round, prompt chunk, or a call of a method that no round drives.
    kind: Kind,
    /// Of a call: the method.
    method: ?[]const u8 = null,
    /// The rows of each stream's window.
    windows: []const u32,
    /// The fields of the round's layout, as the consumer's `Layout` names them; of a call, its parameters.
    layout: []const LayoutField,

    /// A round's kinds, and a call.
    pub const Kind = enum { decode, prompt, call };

    /// The rows of all windows (W).
    pub fn rows(witness: Witness) u32 {
        var total: u32 = 0;
        for (witness.windows) |window| total += window;
        return total;
    }
};

/// One field of a consumer's `Layout`, or one parameter of a call.
pub const LayoutField = struct {
    /// The field's name.
    name: []const u8,
    /// Its value.
    value: union(enum) { int: i128, boolean: bool, text: []const u8, float: f64, none },
};

/// A specialization that some round launches.
pub const Need = struct {
    /// The Triton function's name.
    function: []const u8,
    /// The first launch's arguments, in its order.
    arguments: []const set.Arg,
    /// The constexprs that the launch names, in its order.
    constexprs: []const set.Const,
    /// The launch options that the call site passes.
    options: set.Launch,
    /// The first launch's grid; null where the variant was only looked up.
    grid: ?[3]u32,
    /// The specialization as one line; two needs never share it.
    text: []const u8,
    /// How many launches asked for it.
    launches: u64,
    /// How many of them came from calls over domains, not from rounds.
    launches_of_calls: u64,
    /// How many rounds the others were in.
    rounds: u64,
    /// The last of those rounds, by number.
    round_last: u64,
    /// The first of those rounds.
    witness: Witness,
    /// All of them, in the order of the enumeration.
    spans: std.ArrayList(Span) = .empty,

    /// Notes that a round of this shape asks for it; shapes come in the order of the enumeration.
    fn note(need: *Need, arena: std.mem.Allocator, shape: Shape) error{OutOfMemory}!void {
        if (need.spans.items.len > 0) {
            const span = &need.spans.items[need.spans.items.len - 1];
            if (span.kind == shape.kind and span.streams == shape.streams and shape.rows - span.rows_last <= 1) {
                span.rows_last = shape.rows;
                return;
            }
        }
        try need.spans.append(arena, .{ .kind = shape.kind, .streams = shape.streams, .rows_first = shape.rows, .rows_last = shape.rows });
    }
};

/// What rounds differ in, their layouts left out.
pub const Shape = struct {
    kind: Witness.Kind,
    streams: u32,
    /// W, the rows of all windows.
    rows: u32,
};

/// Rounds of one kind and number of streams that differ in their rows: every number from the first to the last.
pub const Span = struct {
    kind: Witness.Kind,
    streams: u32,
    rows_first: u32,
    rows_last: u32,
};

/// The values of a constexpr that a profile lists for `Set.smallestConst`, which a probe, having no
/// set yet, cannot answer otherwise.
pub const Constants = struct {
    /// The Triton function's name.
    function: []const u8,
    /// The constexpr's name.
    name: []const u8,
    /// Every value that is to be captured.
    values: []const i64,
};

/// What answers `Set.smallestConst`.
pub const Answers = union(enum) {
    /// What the profile lists.
    listed: []const Constants,
    /// A captured set.
    captured: *const set.Set,
};

/// Takes every launch. All memory comes from the arena.
pub const Recorder = struct {
    arena: std.mem.Allocator,
    answers: Answers,
    needs: std.ArrayList(Need) = .empty,
    by_key: std.StringHashMapUnmanaged(usize) = .empty,
    key: std.ArrayList(u8) = .empty,
    /// The needs of the round at hand, by index, launch by launch.
    taken: std.ArrayList(usize) = .empty,
    /// The round at hand.
    shape: Shape = .{ .kind = .decode, .streams = 0, .rows = 0 },
    /// Rounds begun, calls over domains made, launches taken.
    rounds: u64 = 0,
    calls: u64 = 0,
    launches: u64 = 0,
    /// The first thing that went wrong; nothing is trusted after it.
    failure: ?[]const u8 = null,

    /// More specializations of one function than this are no set but a runaway constexpr. The capture refuses far
    /// fewer values of one constexpr, and counts them all before it does.
    pub const needs_of_function_max = 1 << 13;

    /// A round or a call with more launches than this is in a loop without an end.
    pub const launches_of_round_max = 1 << 20;

    const functions: cuda.aot.Sink.Functions = .{ .launch = launch, .smallestConst = smallestConst };

    /// What a launch answers that only looks at the variant. The probe has none yet.
    const placeholder: set.Variant = .{ .function = "", .hash = "", .name = "", .num_warps = 4, .params = &.{}, .consts = &.{} };

    /// The set that a consumer's `drive` launches into.
    pub fn standIn(recorder: *Recorder) cuda.aot.Set {
        return .{ .sink = .{ .context = recorder, .functions = &functions } };
    }

    /// Whether a need of another recorder is one of this one's, too.
    pub fn knows(recorder: *const Recorder, need: Need) bool {
        for (recorder.needs.items) |own| {
            if (std.mem.eql(u8, own.text, need.text)) return true;
        }
        return false;
    }

    /// Notes a failure, unless there is an earlier one.
    pub fn fail(recorder: *Recorder, comptime format: []const u8, arguments: anytype) error{OutOfMemory}!void {
        if (recorder.failure != null) return;
        recorder.failure = try std.fmt.allocPrint(recorder.arena, format, arguments);
    }

    fn launch(context: *anyopaque, call: cuda.aot.Call) cuda.aot.Error!*const set.Variant {
        const recorder: *Recorder = @ptrCast(@alignCast(context));
        recorder.key.clearRetainingCapacity();
        try specialization.appendKey(&recorder.key, recorder.arena, call);
        recorder.launches += 1;
        if (recorder.taken.items.len == launches_of_round_max) {
            try recorder.fail("more than {d} launches; expected a loop that ends", .{launches_of_round_max});
            return error.MalformedLaunch;
        }
        const found = recorder.by_key.get(recorder.key.items);
        const index = found orelse try recorder.add(call);
        try recorder.taken.append(recorder.arena, index);
        const need = &recorder.needs.items[index];
        need.launches += 1;
        if (recorder.calls > 0) {
            // Calls over domains come after the last round.
            need.launches_of_calls += 1;
            return &placeholder;
        }
        try need.note(recorder.arena, recorder.shape);
        if (need.round_last != recorder.rounds) {
            need.round_last = recorder.rounds;
            need.rounds += 1;
        }
        return &placeholder;
    }

    fn add(recorder: *Recorder, call: cuda.aot.Call) cuda.aot.Error!usize {
        if (specialization.problem(call)) |what| {
            try recorder.fail("{s}: {s} {s}", .{ call.function, what.name, what.message });
            return error.MalformedLaunch;
        }
        const index = recorder.needs.items.len;
        const arena = recorder.arena;
        const arguments = try arena.dupe(set.Arg, call.arguments);
        for (arguments) |*argument| {
            argument.name = try arena.dupe(u8, argument.name);
            if (argument.value == .ptr) argument.value.ptr.ty = try arena.dupe(u8, argument.value.ptr.ty);
        }
        const constexprs = try arena.dupe(set.Const, call.constexprs);
        for (constexprs) |*constexpr| constexpr.name = try arena.dupe(u8, constexpr.name);
        try recorder.needs.append(arena, .{
            .function = try arena.dupe(u8, call.function),
            .arguments = arguments,
            .constexprs = constexprs,
            .options = call.options,
            .grid = call.grid,
            .text = try specialization.text(arena, call),
            .launches = 0,
            .launches_of_calls = 0,
            .rounds = 0,
            .round_last = 0,
            .witness = .{ .kind = .decode, .windows = &.{}, .layout = &.{} },
        });
        try recorder.by_key.put(arena, try arena.dupe(u8, recorder.key.items), index);
        try recorder.refuseTooMany(call.function);
        return index;
    }

    /// A constexpr that follows a runtime size would compile one kernel for each size.
    fn refuseTooMany(recorder: *Recorder, function: []const u8) cuda.aot.Error!void {
        if (recorder.needs.items.len <= needs_of_function_max) return;
        var count: usize = 0;
        for (recorder.needs.items) |need| {
            if (std.mem.eql(u8, need.function, function)) count += 1;
        }
        if (count <= needs_of_function_max) return;
        const widest = try specialization.widestConstexpr(Need, recorder.arena, recorder.needs.items, function);
        try recorder.fail("{s}: more than {d} specializations; constexpr {s} alone takes {d} values; " ++
            "expected a bounded choice; try a runtime argument or a bucket of sizes", .{
            function, needs_of_function_max, widest.name, widest.count,
        });
        return error.MalformedLaunch;
    }

    fn smallestConst(context: *anyopaque, function: []const u8, name: []const u8, at_least: i64) ?i64 {
        const recorder: *Recorder = @ptrCast(@alignCast(context));
        const listed = switch (recorder.answers) {
            .captured => |captured| return captured.smallestConst(function, name, at_least),
            .listed => |listed| listed,
        };
        for (listed) |constants| {
            if (!std.mem.eql(u8, constants.function, function)) continue;
            if (!std.mem.eql(u8, constants.name, name)) continue;
            var smallest: ?i64 = null;
            for (constants.values) |value| {
                if (value >= at_least and (smallest == null or value < smallest.?)) smallest = value;
            }
            return smallest;
        }
        // The signature has no room for an error, so the failure waits for the end of the round.
        recorder.fail("smallestConst(\"{s}\", \"{s}\", {d}): no set to look at yet; expected the values to capture; " ++
            "try `.constants = .{{ .{s} = .{{ .{s} = .{{ 16, 32 }} }} }}` in the profile and " ++
            "`pub const constants = profile.constants;` in rounds.zig", .{ function, name, at_least, function, name }) catch {};
        return null;
    }
};
