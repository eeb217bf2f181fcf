//! The identity of a launch's specialization: as a key that is quick to build, and as a line to read.

const std = @import("std");
const set = @import("set");
const cuda = @import("cuda");
const Call = cuda.aot.Call;

/// Appends the identity of a launch: function, options, arguments with types and classes, constexprs.
/// The bytes are copied rather than hashed by address, because a declaration file may build names
/// in a buffer that it uses again.
pub fn appendKey(key: *std.ArrayList(u8), gpa: std.mem.Allocator, call: Call) error{OutOfMemory}!void {
    try appendName(key, gpa, call.function);
    try appendOption(key, gpa, call.options.num_warps);
    try appendOption(key, gpa, call.options.num_stages);
    for (call.arguments) |argument| {
        try appendName(key, gpa, argument.name);
        try appendName(key, gpa, argument.value.typeName());
        const class = if (set.class.ofValue(argument.value)) |known| @tagName(known)[0] else '-';
        // "any" and "aligned" share a letter, but a type is never both an int and a pointer.
        try key.append(gpa, class);
    }
    // An argument's name is never empty, so this separates the constexprs from the arguments.
    try appendName(key, gpa, "");
    for (call.constexprs) |constexpr| {
        try appendName(key, gpa, constexpr.name);
        if (constexpr.int) |value| {
            try key.append(gpa, 'i');
            try key.appendSlice(gpa, std.mem.asBytes(&value));
        }
        if (constexpr.f32) |value| {
            try key.append(gpa, 'f');
            try key.appendSlice(gpa, std.mem.asBytes(&value));
        }
    }
}

fn appendName(key: *std.ArrayList(u8), gpa: std.mem.Allocator, name: []const u8) error{OutOfMemory}!void {
    try key.appendSlice(gpa, name);
    try key.append(gpa, 0);
}

fn appendOption(key: *std.ArrayList(u8), gpa: std.mem.Allocator, option: ?u32) error{OutOfMemory}!void {
    const value: u64 = option orelse std.math.maxInt(u64);
    try key.appendSlice(gpa, std.mem.asBytes(&value));
}

/// The specialization as one line:
/// `_shared(Q: *bf16 aligned, W: i32 any) H=24 SCALE=f32:0x3d800000 warps=4`.
pub fn text(arena: std.mem.Allocator, call: Call) error{OutOfMemory}![]const u8 {
    var allocating: std.Io.Writer.Allocating = .init(arena);
    writeText(&allocating.writer, call) catch return error.OutOfMemory;
    return allocating.written();
}

fn writeText(writer: *std.Io.Writer, call: Call) std.Io.Writer.Error!void {
    try writer.print("{s}(", .{call.function});
    for (call.arguments, 0..) |argument, index| {
        if (index > 0) try writer.writeAll(", ");
        try writer.print("{s}: {s}", .{ argument.name, argument.value.typeName() });
        if (set.class.ofValue(argument.value)) |class| try writer.print(" {s}", .{@tagName(class)});
    }
    try writer.writeByte(')');
    for (call.constexprs) |constexpr| {
        try writer.writeByte(' ');
        try writeConstexpr(writer, constexpr);
    }
    if (call.options.num_warps) |warps| try writer.print(" warps={d}", .{warps});
    if (call.options.num_stages) |stages| try writer.print(" stages={d}", .{stages});
}

/// A constexpr as `H=24` or, by its bits, `SCALE=f32:0x3d800000`.
pub fn writeConstexpr(writer: *std.Io.Writer, constexpr: set.Const) std.Io.Writer.Error!void {
    if (constexpr.int) |value| try writer.print("{s}={d}", .{ constexpr.name, value });
    if (constexpr.f32) |value| {
        try writer.print("{s}=f32:0x{x:0>8}", .{ constexpr.name, @as(u32, @bitCast(value)) });
    }
}

/// What is wrong with one argument or constexpr of a launch.
pub const Problem = struct {
    /// The argument or constexpr.
    name: []const u8,
    /// What is wrong, what is expected.
    message: []const u8,
};

/// The first thing that makes a launch malformed; null for a good one.
pub fn problem(call: Call) ?Problem {
    if (call.function.len == 0) return .{ .name = "launch", .message = "has no function name" };
    for (call.arguments, 0..) |argument, index| {
        if (argument.name.len == 0) return .{ .name = "an argument", .message = "has no name" };
        for (call.arguments[0..index]) |earlier| {
            if (!std.mem.eql(u8, earlier.name, argument.name)) continue;
            return .{ .name = argument.name, .message = "is given twice; expected each argument once" };
        }
        if (argument.value != .ptr) continue;
        const ty = argument.value.ptr.ty;
        if (ty.len < 2 or ty[0] != '*') {
            return .{ .name = argument.name, .message = "has no pointer type; expected one like *bf16" };
        }
    }
    for (call.constexprs, 0..) |constexpr, index| {
        if ((constexpr.int == null) == (constexpr.f32 == null)) {
            return .{ .name = constexpr.name, .message = "needs exactly one of an int and an f32 value" };
        }
        for (call.constexprs[0..index]) |earlier| {
            if (!std.mem.eql(u8, earlier.name, constexpr.name)) continue;
            return .{ .name = constexpr.name, .message = "is given twice; expected each constexpr once" };
        }
    }
    return null;
}

/// The int constexpr of a function that takes the most values over its needs.
pub fn widestConstexpr(comptime Need: type, gpa: std.mem.Allocator, needs: []const Need, function: []const u8) error{OutOfMemory}!struct { name: []const u8, count: usize } {
    var widest_name: []const u8 = "(none)";
    var widest_count: usize = 0;
    for (needs) |first| {
        if (!std.mem.eql(u8, first.function, function)) continue;
        for (first.constexprs) |constexpr| {
            var values: std.AutoHashMapUnmanaged(i64, void) = .empty;
            defer values.deinit(gpa);
            for (needs) |need| {
                if (!std.mem.eql(u8, need.function, function)) continue;
                for (need.constexprs) |other| {
                    const value = other.int orelse continue;
                    if (std.mem.eql(u8, other.name, constexpr.name)) try values.put(gpa, value, {});
                }
            }
            if (values.count() <= widest_count) continue;
            widest_name = constexpr.name;
            widest_count = values.count();
        }
        // Every launch of a function names the same constexprs; the first one shows them all.
        break;
    }
    return .{ .name = widest_name, .count = widest_count };
}
