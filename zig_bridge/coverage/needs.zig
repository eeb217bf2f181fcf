//! Prints needs as the JSON that the capture reads.

const std = @import("std");
const set = @import("set");
const record = @import("record.zig");
const Stringify = std.json.Stringify;
const Error = Stringify.Error;

/// What is written beside the needs themselves.
pub const Options = struct {
    /// Which rounds ask for each need, as ranges of rows.
    spans: bool = false,
};

/// Writes `{"rounds", "calls", "launches", "needs"}`; the needs are sorted by function, then specialization.
pub fn write(recorder: *record.Recorder, options: Options, writer: *std.Io.Writer) Error!void {
    std.mem.sort(record.Need, recorder.needs.items, {}, lessThan);
    var json: Stringify = .{ .writer = writer, .options = .{} };
    try json.beginObject();
    try member(&json, "rounds", recorder.rounds);
    try member(&json, "calls", recorder.calls);
    try member(&json, "launches", recorder.launches);
    try json.objectField("needs");
    try json.beginArray();
    for (recorder.needs.items) |need| try writeNeed(&json, need, options);
    try json.endArray();
    try json.endObject();
    try writer.writeByte('\n');
}

/// The order of needs wherever they are listed.
pub fn lessThan(_: void, left: record.Need, right: record.Need) bool {
    const by_function = std.mem.order(u8, left.function, right.function);
    if (by_function != .eq) return by_function == .lt;
    return std.mem.order(u8, left.text, right.text) == .lt;
}

fn writeNeed(json: *Stringify, need: record.Need, options: Options) Error!void {
    try json.beginObject();
    try member(json, "function", need.function);
    try json.objectField("arguments");
    try json.beginArray();
    for (need.arguments) |argument| try writeArgument(json, argument);
    try json.endArray();
    try json.objectField("constexprs");
    try json.beginArray();
    for (need.constexprs) |constexpr| {
        try json.beginObject();
        try member(json, "name", constexpr.name);
        if (constexpr.int) |value| try member(json, "int", value);
        if (constexpr.f32) |value| try member(json, "f32", @as(u32, @bitCast(value)));
        try json.endObject();
    }
    try json.endArray();
    try member(json, "options", need.options);
    try member(json, "launches", need.launches);
    try member(json, "launches_of_calls", need.launches_of_calls);
    try member(json, "rounds", need.rounds);
    try json.objectField("witness");
    try writeWitness(json, need);
    if (options.spans) try member(json, "spans", need.spans.items);
    try json.endObject();
}

fn writeArgument(json: *Stringify, argument: set.Arg) Error!void {
    try json.beginObject();
    try member(json, "name", argument.name);
    try member(json, "kind", @tagName(argument.value));
    try member(json, "type", argument.value.typeName());
    try member(json, "class", set.class.ofValue(argument.value));
    try json.endObject();
}

fn writeWitness(json: *Stringify, need: record.Need) Error!void {
    const witness = need.witness;
    try json.beginObject();
    try member(json, "kind", witness.kind);
    try member(json, "method", witness.method);
    try member(json, "streams", witness.windows.len);
    try member(json, "rows", witness.rows());
    try member(json, "windows", witness.windows);
    try json.objectField("layout");
    try json.beginObject();
    for (witness.layout) |field| {
        try json.objectField(field.name);
        switch (field.value) {
            .none => try json.write(null),
            inline else => |value| try json.write(value),
        }
    }
    try json.endObject();
    try member(json, "grid", need.grid);
    try json.objectField("values");
    try json.beginArray();
    for (need.arguments) |argument| try writeValue(json, argument);
    try json.endArray();
    try json.endObject();
}

/// Values are text: a 64-bit address or word does not survive every reader's numbers.
fn writeValue(json: *Stringify, argument: set.Arg) Error!void {
    try json.beginObject();
    try member(json, "name", argument.name);
    try json.objectField("value");
    switch (argument.value) {
        .ptr => |pointer| try json.print("\"0x{x}\"", .{pointer.addr}),
        .i32 => |value| try json.print("\"{d}\"", .{value}),
        .u64 => |value| try json.print("\"{d}\"", .{value}),
        .f32 => |value| try json.print("\"{e}\"", .{value}),
    }
    try json.endObject();
}

fn member(json: *Stringify, name: []const u8, value: anytype) Error!void {
    try json.objectField(name);
    try json.write(value);
}
