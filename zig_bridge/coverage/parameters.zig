//! Prints what the parameters of methods are, as Zig itself sees them: aliases followed, structs of other files opened.
//! A generated program hands over the declaration file and the names of its methods.

const std = @import("std");
const cuda = @import("cuda");
const Stringify = std.json.Stringify;
const Error = Stringify.Error;

/// A method by name.
pub const Method = struct {
    /// The names that lead from the declaration file to the method: `Tri`, `embed`.
    path: []const [:0]const u8,
};

/// Structs in structs deeper than this are not parameters but machinery.
const depth_max = 8;

/// Writes `[{"found", "parameters"}]`, one object for each method, in their order. A method that the declaration file does
/// not give out is not found.
pub fn print(init: std.process.Init, comptime declarations: type, comptime methods: []const Method) !void {
    var buffer: [1 << 16]u8 = undefined;
    var stdout = std.Io.File.stdout().writerStreaming(init.io, &buffer);
    try write(declarations, methods, &stdout.interface);
    try stdout.interface.flush();
}

fn write(comptime declarations: type, comptime methods: []const Method, writer: *std.Io.Writer) Error!void {
    @setEvalBranchQuota(1 << 20);
    var json: Stringify = .{ .writer = writer };
    try json.beginArray();
    inline for (methods) |method| {
        try json.beginObject();
        try member(&json, "found", comptime isReached(declarations, method.path));
        try json.objectField("parameters");
        try json.beginArray();
        if (comptime isReached(declarations, method.path)) try writeParameters(@TypeOf(reach(declarations, method.path)), &json);
        try json.endArray();
        try json.endObject();
    }
    try json.endArray();
    try writer.writeByte('\n');
}

fn isReached(comptime container: type, comptime path: []const [:0]const u8) bool {
    if (!@hasDecl(container, path[0])) return false;
    if (path.len == 1) return @typeInfo(@TypeOf(@field(container, path[0]))) == .@"fn";
    const inner = @field(container, path[0]);
    return @TypeOf(inner) == type and isContainer(inner) and isReached(inner, path[1..]);
}

fn isContainer(comptime T: type) bool {
    return switch (@typeInfo(T)) {
        .@"struct", .@"union", .@"enum", .@"opaque" => true,
        else => false,
    };
}

fn reach(comptime container: type, comptime path: []const [:0]const u8) @TypeOf(if (path.len == 1) @field(container, path[0]) else reach(@field(container, path[0]), path[1..])) {
    return if (path.len == 1) @field(container, path[0]) else reach(@field(container, path[0]), path[1..]);
}

fn writeParameters(comptime Function: type, json: *Stringify) Error!void {
    const info = @typeInfo(Function).@"fn";
    // A function with one comptime parameter cannot be called with values that a loop has, so that none of it is known.
    if (comptime @hasField(@TypeOf(info), "params")) {
        inline for (info.params) |parameter| try writeMaybeType(if (info.is_generic) null else parameter.type, json);
    } else {
        // Zig 0.17 keeps the types in a list of their own.
        inline for (info.param_types) |T| try writeMaybeType(if (info.is_generic) null else T, json);
    }
}

fn writeMaybeType(comptime T: ?type, json: *Stringify) Error!void {
    if (T) |Known| return writeType(Known, 0, json);
    try json.beginObject();
    try member(json, "kind", "unknown");
    try member(json, "type", "anytype or comptime");
    try json.endObject();
}

fn writeType(comptime T: type, comptime depth: usize, json: *Stringify) Error!void {
    try json.beginObject();
    try member(json, "type", @typeName(T));
    try member(json, "kind", comptime kindOf(T, depth));
    switch (@typeInfo(T)) {
        .int => |info| {
            try member(json, "signed", info.signedness == .signed);
            try member(json, "bits", info.bits);
        },
        .@"enum" => try member(json, "tags", std.meta.fieldNames(T)),
        .optional => |info| try child(info.child, depth, json),
        .pointer => |info| if (info.size == .one) try child(info.child, depth, json),
        .array => |info| {
            try member(json, "length", info.len);
            try child(info.child, depth, json);
        },
        .@"struct" => if (comptime kindOf(T, depth) == .@"struct") {
            try json.objectField("fields");
            try json.beginArray();
            inline for (comptime std.meta.fieldNames(T)) |name| {
                try json.beginObject();
                try member(json, "name", name);
                try json.objectField("value");
                try writeType(@FieldType(T, name), depth + 1, json);
                try json.endObject();
            }
            try json.endArray();
        },
        else => {},
    }
    try json.endObject();
}

fn child(comptime T: type, comptime depth: usize, json: *Stringify) Error!void {
    try json.objectField("child");
    if (depth < depth_max) return writeType(T, depth + 1, json);
    try writeMaybeType(null, json);
}

const Kind = enum { int, float, bool, @"enum", text, optional, pointer, array, @"struct", set, probe, stream, unknown };

fn kindOf(comptime T: type, comptime depth: usize) Kind {
    if (T == cuda.aot.Set) return .set;
    if (T == cuda.aot.Probe) return .probe;
    if (T == cuda.Stream or T == cuda.Event) return .stream;
    return switch (@typeInfo(T)) {
        .int => .int,
        .float => .float,
        .bool => .bool,
        .@"enum" => .@"enum",
        .optional => .optional,
        .array => .array,
        .pointer => |info| switch (info.size) {
            .one => .pointer,
            .slice => if (info.child == u8) .text else .unknown,
            else => .unknown,
        },
        .@"struct" => if (depth < depth_max) .@"struct" else .unknown,
        else => .unknown,
    };
}

fn member(json: *Stringify, name: []const u8, value: anytype) Error!void {
    try json.objectField(name);
    try json.write(value);
}

const Sample = struct {
    pub const Mode = enum { causal, full };
    pub const Plan = struct { width: u32, parents: ?u64, mode: Mode };
    pub const Tri = struct {
        set: ?*const cuda.aot.Set,
        s: cuda.Stream,

        pub fn attention(_: Tri, rows: usize, plan: *const Plan, ty: []const u8, sides: [2]i32, on: bool, scale: f32) !void {
            _ = .{ rows, plan, ty, sides, on, scale };
        }
        fn hidden(_: Tri) void {}
    };
    pub fn free(_: Tri, comptime what: type, other: anytype) void {
        _ = .{ what, other };
    }
};

test "parameters: types are opened, and what cannot be called is told" {
    var text: std.Io.Writer.Allocating = .init(std.testing.allocator);
    defer text.deinit();
    try write(Sample, &.{
        .{ .path = &.{ "Tri", "attention" } },
        .{ .path = &.{ "Tri", "gone" } },
        .{ .path = &.{"free"} },
        .{ .path = &.{ "nobody", "gone" } },
    }, &text.writer);
    const parsed = try std.json.parseFromSlice(std.json.Value, std.testing.allocator, text.written(), .{});
    defer parsed.deinit();
    const methods = parsed.value.array.items;
    try std.testing.expectEqual(@as(usize, 4), methods.len);
    const attention = methods[0].object.get("parameters").?.array.items;
    const kinds = [_][]const u8{ "struct", "int", "pointer", "text", "array", "bool", "float" };
    try std.testing.expectEqual(kinds.len, attention.len);
    for (kinds, attention) |want, parameter| try std.testing.expectEqualStrings(want, parameter.object.get("kind").?.string);
    const fields = attention[2].object.get("child").?.object.get("fields").?.array.items;
    try std.testing.expectEqualStrings("parents", fields[1].object.get("name").?.string);
    try std.testing.expectEqualStrings("full", fields[2].object.get("value").?.object.get("tags").?.array.items[1].string);
    try std.testing.expect(!methods[1].object.get("found").?.bool);
    try std.testing.expect(!methods[3].object.get("found").?.bool);
    try std.testing.expectEqualStrings("unknown", methods[2].object.get("parameters").?.array.items[2].object.get("kind").?.string);
}
