//! The rule by which one variant fits a launch. build_capture/sets/rule.py answers the same; a test compares the two.

const std = @import("std");
const class = @import("class.zig");
const launch = @import("launch.zig");
const variant_types = @import("variant.zig");
const difference_types = @import("difference.zig");
const Difference = difference_types.Difference;
const Differences = difference_types.Differences;
const Param = variant_types.Param;
const Variant = variant_types.Variant;

/// What a launch asks a set for.
pub const Request = struct {
    /// The Triton function's name.
    function: []const u8,
    /// The runtime arguments.
    arguments: []const launch.Arg,
    /// The constexprs that the call site names.
    constexprs: []const launch.Const,
    /// The options that the call site pins. The exact rule does not look at them.
    options: launch.Launch = .{},
};

/// Everything that keeps a launch of the variant's function from taking it; nothing if it fits.
pub fn compare(variant: *const Variant, request: Request) Differences {
    std.debug.assert(std.mem.eql(u8, variant.function, request.function));
    var differences: Differences = .{};
    for (request.constexprs) |constexpr| {
        const held = variant.constant(constexpr.name) orelse {
            differences.add(.{ .constexpr_absent = constexpr });
            continue;
        };
        if (!holds(held, constexpr)) differences.add(.{ .constexpr_value = .{ .launch = constexpr, .variant = held } });
    }
    var params: Params = .{ .list = variant.params };
    for (request.arguments) |argument| {
        if (compareArgument(variant, params.find(argument.name), argument)) |difference| differences.add(difference);
    }
    var arguments: Arguments = .{ .list = request.arguments };
    for (variant.params) |param| {
        if (arguments.find(param.name) == null) differences.add(.{ .param_left = param });
    }
    return differences;
}

/// Whether the variant serves the launch under the exact rule.
pub fn fits(variant: *const Variant, request: Request) bool {
    return compare(variant, request).count == 0;
}

/// Whether the variant has the options that the launch pins. One whose stages are not recorded (0) matches any pin of them.
pub fn keepsPins(variant: *const Variant, options: launch.Launch) bool {
    if (options.num_warps) |warps| if (warps != variant.num_warps) return false;
    const stages = options.num_stages orelse return true;
    return variant.num_stages == 0 or variant.num_stages == stages;
}

/// Of how many arguments the variant knows what the launch has: folded, or a multiple of 16. Null where the variant
/// assumes what the launch lacks.
pub fn hintsShared(variant: *const Variant, request: Request) ?usize {
    for (request.constexprs) |constexpr| {
        if (!holds(variant.constant(constexpr.name) orelse return null, constexpr)) return null;
    }
    var shared: usize = 0;
    var params: Params = .{ .list = variant.params };
    for (request.arguments) |argument| {
        const param = params.find(argument.name);
        // A class apart harms only where the variant serves multiples of 16: all else in it is right for every value.
        if (compareArgument(variant, param, argument)) |difference| {
            if (difference != .class or param.?.div16 and !isDivisible(argument.value)) return null;
        }
        if (param == null or param.?.div16 and argument.value != .f32) shared += 1;
    }
    var arguments: Arguments = .{ .list = request.arguments };
    for (variant.params) |param| {
        if (arguments.find(param.name) == null) return null;
    }
    return shared;
}

/// Whether a pointer or an int is a multiple of 16; 0 and negative multiples are.
pub fn isDivisible(value: launch.Value) bool {
    return switch (class.ofValue(value) orelse return false) {
        .div16, .aligned => true,
        .one, .any, .unaligned => false,
    };
}

/// Whether the launch's constexpr has the held value; a float has it bit for bit.
fn holds(held: variant_types.Constant, constexpr: launch.Const) bool {
    return switch (held) {
        .int => |value| constexpr.f32 == null and constexpr.int != null and constexpr.int.? == value,
        .f32 => |bits| constexpr.int == null and constexpr.f32 != null and @as(u32, @bitCast(constexpr.f32.?)) == bits,
        .none => false,
    };
}

fn compareArgument(variant: *const Variant, found: ?Param, argument: launch.Arg) ?Difference {
    const param = found orelse {
        const folded = variant.constant(argument.name) orelse return .{ .argument_absent = argument };
        const folded_to_one = folded == .int and folded.int == 1;
        if (argument.value != .i32 or !folded_to_one) return .{ .argument_absent = argument };
        return if (argument.value.i32 == 1) null else .{ .folded = argument };
    };
    if (!std.mem.eql(u8, param.type, argument.value.typeName())) {
        return .{ .type = .{ .launch = argument, .variant = param } };
    }
    const fit = switch (argument.value) {
        .ptr, .u64 => param.div16 == isDivisible(argument.value),
        .i32 => |value| if (param.nospec) !param.div16 else value != 1 and param.div16 == isDivisible(argument.value),
        .f32 => true,
    };
    return if (fit) null else .{ .class = .{ .launch = argument, .variant = param } };
}

const Params = Finder(Param);
const Arguments = Finder(launch.Arg);

/// Finds the items of a list by name, at once where they are asked for in the list's order, as launches do.
fn Finder(comptime Item: type) type {
    return struct {
        list: []const Item,
        next: usize = 0,

        fn find(finder: *@This(), name: []const u8) ?Item {
            for (0..finder.list.len) |step| {
                const at = (finder.next + step) % finder.list.len;
                if (!std.mem.eql(u8, finder.list[at].name, name)) continue;
                finder.next = at + 1;
                return finder.list[at];
            }
            return null;
        }
    };
}
