//! For tests: the text of a set that serves given needs, as a capture would write it.

const std = @import("std");
const set = @import("set");
const record = @import("record.zig");

/// An `aot.json` with one kernel for each need that `keep` takes.
pub fn text(arena: std.mem.Allocator, needs: []const record.Need, keep: *const fn (record.Need) bool) ![]const u8 {
    var allocating: std.Io.Writer.Allocating = .init(arena);
    var json: std.json.Stringify = .{ .writer = &allocating.writer };
    try json.beginObject();
    try json.objectField("kernels");
    try json.beginArray();
    for (needs, 0..) |need, index| {
        if (keep(need)) try writeKernel(&json, need, index);
    }
    try json.endArray();
    try json.endObject();
    return allocating.written();
}

/// Keeps every need.
pub fn all(_: record.Need) bool {
    return true;
}

fn writeKernel(json: *std.json.Stringify, need: record.Need, index: usize) !void {
    try json.beginObject();
    try member(json, "fn", need.function);
    try json.objectField("hash");
    try json.print("\"HASH{d:0>12}\"", .{index});
    try member(json, "name", need.function);
    try member(json, "num_warps", 4);
    try json.objectField("params");
    try json.beginArray();
    for (need.arguments) |argument| {
        const class = set.class.ofValue(argument.value);
        if (argument.value == .i32 and class == .one) continue;
        const div16 = class == .div16 or class == .aligned;
        try json.write(.{ .name = argument.name, .type = argument.value.typeName(), .div16 = div16, .nospec = false });
    }
    try json.endArray();
    try json.objectField("consts");
    try json.beginObject();
    for (need.arguments) |argument| {
        if (argument.value != .i32 or argument.value.i32 != 1) continue;
        try member(json, argument.name, .{ .int = 1 });
    }
    for (need.constexprs) |constexpr| {
        if (constexpr.int) |value| try member(json, constexpr.name, .{ .int = value });
        if (constexpr.f32) |value| try member(json, constexpr.name, .{ .f32 = @as(u32, @bitCast(value)) });
    }
    try json.endObject();
    try json.endObject();
}

fn member(json: *std.json.Stringify, name: []const u8, value: anytype) !void {
    try json.objectField(name);
    try json.write(value);
}
