//! `cuda.aot` as declaration files see it. Nothing is launched: every call goes to a sink.

const set = @import("set");
const sink_types = @import("sink.zig");

pub const Arg = set.Arg;
pub const Value = set.Value;
pub const Const = set.Const;
pub const Launch = set.Launch;
pub const Variant = set.Variant;
pub const ptr = set.ptr;
pub const int = set.int;
pub const float = set.float;
pub const word = set.word;
pub const ci = set.ci;
pub const cf = set.cf;
pub const Sink = sink_types.Sink;
pub const Call = sink_types.Call;
pub const Error = sink_types.Error;

/// The captured set that a launch takes its variant from.
pub const Set = struct {
    /// What answers in the set's place.
    sink: Sink,

    /// Launches a function.
    pub fn run(self: *const Set, stream: anytype, function: []const u8, grid: [3]u32, args: []const Arg, consts: []const Const) Error!void {
        return self.runWith(stream, function, grid, args, consts, .{});
    }

    /// Launches a function with launch options.
    pub fn runWith(self: *const Set, stream: anytype, function: []const u8, grid: [3]u32, args: []const Arg, consts: []const Const, launch: Launch) Error!void {
        _ = stream; // The order of launches between streams changes no specialization.
        _ = try pass(self.sink, function, grid, args, consts, launch);
    }

    /// The variant that a launch would take.
    pub fn find(self: *const Set, function: []const u8, args: []const Arg, consts: []const Const) Error!*const Variant {
        return self.findWith(function, args, consts, .{});
    }

    /// The variant that a launch with options would take.
    pub fn findWith(self: *const Set, function: []const u8, args: []const Arg, consts: []const Const, launch: Launch) Error!*const Variant {
        return pass(self.sink, function, null, args, consts, launch);
    }

    /// The smallest value of a constexpr among the function's variants, from `at_least` on.
    pub fn smallestConst(self: *const Set, function: []const u8, name: []const u8, at_least: i64) ?i64 {
        return self.sink.functions.smallestConst(self.sink.context, function, name, at_least);
    }
};

/// What some families launch into instead of a set, to learn what they need.
pub const Probe = struct {
    /// What takes the calls.
    sink: Sink,

    /// Notes a launch.
    pub fn add(self: *const Probe, function: []const u8, args: []const Arg, consts: []const Const, launch: Launch) Error!void {
        _ = try pass(self.sink, function, null, args, consts, launch);
    }
};

fn pass(sink: Sink, function: []const u8, grid: ?[3]u32, args: []const Arg, consts: []const Const, launch: Launch) Error!*const Variant {
    return sink.functions.launch(sink.context, .{
        .function = function,
        .grid = grid,
        .arguments = args,
        .constexprs = consts,
        .options = launch,
    });
}
