//! The exact rule: which variant of a set a launch takes, and what each other one differs in.

const std = @import("std");
const class = @import("class.zig");
const launch = @import("launch.zig");
const variant_types = @import("variant.zig");
const Variant = variant_types.Variant;

/// What a launch asks a set for.
pub const Request = struct {
    /// The Triton function's name.
    function: []const u8,
    /// The runtime arguments.
    arguments: []const launch.Arg,
    /// The constexprs that the call site names.
    constexprs: []const launch.Const,
};

/// One thing in which a variant does not fit a launch.
pub const Difference = union(enum) {
    /// The variant lacks a constexpr that the launch names.
    constexpr_absent: launch.Const,
    /// The variant holds another value.
    constexpr_value: struct { launch: launch.Const, variant: variant_types.Constant },
    /// The variant has no parameter for the argument, and did not fold it.
    argument_absent: launch.Arg,
    /// The variant folded an int to 1, which the launch's is not.
    folded: launch.Arg,
    /// The variant's parameter is of another type.
    type: struct { launch: launch.Arg, variant: variant_types.Param },
    /// The variant's code is for another class of values.
    class: struct { launch: launch.Arg, variant: variant_types.Param },
    /// The launch gives no argument for the variant's parameter.
    param_left: variant_types.Param,

    /// Writes the difference as a clause: `W is 1 (folded) there, 2 (any) here`.
    pub fn write(difference: Difference, writer: *std.Io.Writer) std.Io.Writer.Error!void {
        switch (difference) {
            .constexpr_absent => |constexpr| try writer.print("no constexpr {s} there", .{constexpr.name}),
            .constexpr_value => |values| {
                try writer.print("constexpr {s} is ", .{values.launch.name});
                switch (values.variant) {
                    .int => |value| try writer.print("{d}", .{value}),
                    .f32 => |bits| try writer.print("{e}", .{@as(f32, @bitCast(bits))}),
                    .none => try writer.writeAll("None"),
                }
                try writer.writeAll(" there, ");
                if (values.launch.int) |value| try writer.print("{d}", .{value});
                if (values.launch.f32) |value| try writer.print("{e}", .{value});
                try writer.writeAll(" here");
            },
            .argument_absent => |argument| try writer.print("no param {s} there", .{argument.name}),
            .folded => |argument| {
                try writer.print("{s} is 1 (folded) there, ", .{argument.name});
                try writeHere(writer, argument);
            },
            .type => |both| try writer.print("{s} is {s} there, {s} here", .{
                both.launch.name, both.variant.type, both.launch.value.typeName(),
            }),
            .class => |both| {
                try writer.print("{s} is {s} there, ", .{ both.launch.name, paramClass(both.variant) });
                try writeHere(writer, both.launch);
            },
            .param_left => |param| try writer.print("{s} is a param there, not given here", .{param.name}),
        }
    }
};

fn writeHere(writer: *std.Io.Writer, argument: launch.Arg) std.Io.Writer.Error!void {
    switch (argument.value) {
        .ptr => |pointer| try writer.print("{s} here", .{@tagName(class.ofAddress(pointer.addr))}),
        .i32 => |value| try writer.print("{d} ({s}) here", .{ value, @tagName(class.ofInt(value)) }),
        .u64 => |value| try writer.print("{d} ({s}) here", .{ value, @tagName(class.ofWord(value)) }),
        .f32 => |value| try writer.print("{e} here", .{value}),
    }
}

fn paramClass(param: variant_types.Param) []const u8 {
    if (param.type.len > 0 and param.type[0] == '*') return if (param.div16) "aligned" else "unaligned";
    if (param.div16) return if (param.nospec) "div16 though not specialized" else "div16";
    return if (param.nospec) "not specialized" else "any";
}

/// The differences of one variant. They are counted to the end, and kept as far as there is room.
pub const Differences = struct {
    kept: [8]Difference = undefined,
    count: usize = 0,

    /// The differences that were kept, in the order of the launch.
    pub fn items(differences: *const Differences) []const Difference {
        return differences.kept[0..@min(differences.count, differences.kept.len)];
    }

    fn add(differences: *Differences, difference: Difference) void {
        if (differences.count < differences.kept.len) differences.kept[differences.count] = difference;
        differences.count += 1;
    }
};

/// The first variant in file order that fits; null if none does.
pub fn exact(set: *const variant_types.Set, request: Request) ?*const Variant {
    for (set.ofFunction(request.function)) |variant| {
        if (compare(variant, request).count == 0) return variant;
    }
    return null;
}

/// A variant that does not fit, with the reasons.
pub const Near = struct {
    /// The variant.
    variant: *const Variant,
    /// What keeps the launch from taking it.
    differences: Differences,
};

/// The variant of the function with the fewest differences, the first in file order where several
/// have as few; null where the set has no variant of the function at all.
pub fn nearest(set: *const variant_types.Set, request: Request) ?Near {
    var best: ?Near = null;
    for (set.ofFunction(request.function)) |variant| {
        const differences = compare(variant, request);
        if (best == null or differences.count < best.?.differences.count) {
            best = .{ .variant = variant, .differences = differences };
        }
    }
    return best;
}

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
    for (request.arguments) |argument| {
        if (compareArgument(variant, argument)) |difference| differences.add(difference);
    }
    for (variant.params) |param| {
        if (!gives(request.arguments, param.name)) differences.add(.{ .param_left = param });
    }
    return differences;
}

/// Whether the launch's constexpr has the held value; a float has it bit for bit.
fn holds(held: variant_types.Constant, constexpr: launch.Const) bool {
    return switch (held) {
        .int => |value| constexpr.f32 == null and constexpr.int != null and constexpr.int.? == value,
        .f32 => |bits| constexpr.int == null and constexpr.f32 != null and @as(u32, @bitCast(constexpr.f32.?)) == bits,
        .none => false,
    };
}

fn compareArgument(variant: *const Variant, argument: launch.Arg) ?Difference {
    const param = variant.param(argument.name) orelse {
        const folded = variant.constant(argument.name) orelse return .{ .argument_absent = argument };
        const folded_to_one = folded == .int and folded.int == 1;
        if (argument.value != .i32 or !folded_to_one) return .{ .argument_absent = argument };
        return if (argument.value.i32 == 1) null else .{ .folded = argument };
    };
    if (!std.mem.eql(u8, param.type, argument.value.typeName())) {
        return .{ .type = .{ .launch = argument, .variant = param } };
    }
    const fits = switch (argument.value) {
        .ptr => |pointer| param.div16 == (pointer.addr % class.divisor == 0),
        .i32 => |value| if (param.nospec) !param.div16 else value != 1 and param.div16 == (@mod(value, class.divisor) == 0),
        .u64 => |value| param.div16 == (value % class.divisor == 0),
        .f32 => true,
    };
    return if (fits) null else .{ .class = .{ .launch = argument, .variant = param } };
}

fn gives(arguments: []const launch.Arg, name: []const u8) bool {
    for (arguments) |argument| {
        if (std.mem.eql(u8, argument.name, name)) return true;
    }
    return false;
}

test {
    _ = @import("match_test.zig");
}
