//! What keeps a launch from a variant, in words.

const std = @import("std");
const class = @import("class.zig");
const launch = @import("launch.zig");
const variant_types = @import("variant.zig");

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
    if (param.isPointer()) return if (param.div16) "aligned" else "unaligned";
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

    /// Adds one.
    pub fn add(differences: *Differences, difference: Difference) void {
        if (differences.count < differences.kept.len) differences.kept[differences.count] = difference;
        differences.count += 1;
    }
};
