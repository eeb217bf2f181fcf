//! `profile FILE`: a ZON file as JSON, each value with its place.

const std = @import("std");
const Allocator = std.mem.Allocator;
const Writer = std.Io.Writer;
const Json = std.json.Stringify;
const Zoir = std.zig.Zoir;
const compat = @import("compat.zig");
const Diagnostics = @import("diagnostics.zig").Diagnostics;
const Position = @import("diagnostics.zig").Position;
const nesting = @import("nesting.zig");
const source = @import("source.zig");
const Source = source.Source;

const Error = source.Error || Writer.Error;

/// Writes the tree of `file`, or adds what is wrong to `diagnostics`.
pub fn write(io: std.Io, arena: Allocator, file: []const u8, writer: *Writer, diagnostics: *Diagnostics) Error!void {
    const bytes = source.readBytes(io, arena, file) catch |failure| {
        if (failure == error.OutOfMemory) return error.OutOfMemory;
        try diagnostics.add(file, null, "{s}; expected a profile (capture.zon); try the path of one", .{try source.whyUnreadable(arena, failure)});
        return error.Reported;
    };
    const parsed = try source.parse(arena, bytes, .{
        .path = file,
        .shown = file,
        .mode = .zon,
        .bounds = nesting.profile_bounds,
    }, diagnostics);
    const zoir = try std.zig.ZonGen.generate(arena, parsed.tree, .{});
    if (zoir.compile_errors.len > 0) return reportErrors(&parsed, &zoir, diagnostics);
    var json: Json = .{ .writer = writer };
    var printer: Printer = .{ .arena = arena, .source = &parsed, .zoir = &zoir, .json = &json, .diagnostics = diagnostics };
    try printer.node(.root);
    if (diagnostics.list.items.len > 0) return error.Reported;
    try writer.writeByte('\n');
}

fn reportErrors(parsed: *const Source, zoir: *const Zoir, diagnostics: *Diagnostics) Error {
    for (zoir.compile_errors) |failure| {
        const position = place(parsed, failure.token, failure.node_or_offset);
        try diagnostics.add(parsed.shown, position, "{s}", .{compat.zonString(zoir, failure.msg)});
        for (compat.zonNotes(zoir, failure)) |note| {
            try diagnostics.note(parsed.shown, place(parsed, note.token, note.node_or_offset), "{s}", .{compat.zonString(zoir, note.msg)});
        }
    }
    return error.Reported;
}

fn place(parsed: *const Source, token: std.zig.Ast.OptionalTokenIndex, node_or_offset: u32) Position {
    if (token.unwrap()) |at| return parsed.position(parsed.tree.tokenStart(at) + node_or_offset);
    return parsed.nodePosition(@enumFromInt(node_or_offset));
}

/// Recurses as deep as the profile nests, which `nesting.profile_bounds` bounds.
const Printer = struct {
    arena: Allocator,
    source: *const Source,
    zoir: *const Zoir,
    json: *Json,
    diagnostics: *Diagnostics,

    fn node(self: *Printer, index: Zoir.Node.Index) Error!void {
        const position = self.source.nodePosition(compat.zonAstNode(self.zoir, index));
        try self.json.beginObject();
        try self.writePosition(position);
        switch (compat.zonNode(self.zoir, index)) {
            .true => try self.scalar("bool", true),
            .false => try self.scalar("bool", false),
            .null => try self.kind("null"),
            .pos_inf, .neg_inf, .nan => try self.diagnostics.add(self.source.shown, position, "not a finite number; expected one; try a large number instead", .{}),
            .int_literal => |value| switch (value) {
                .small => |small| try self.scalar("int", small),
                .big => |big| try self.bigInteger(big),
            },
            .char_literal => |value| try self.scalar("int", value),
            .float_literal => |value| try self.float(position, value),
            .enum_literal => |name| try self.text("enum", position, compat.zonString(self.zoir, name)),
            .string_literal => |value| try self.text("string", position, value),
            .empty_literal => {
                try self.kind("struct");
                try self.json.objectField("fields");
                try self.json.beginArray();
                try self.json.endArray();
            },
            .array_literal => |items| try self.array(items),
            .struct_literal => |value| try self.structure(value.names, value.vals),
        }
        try self.json.endObject();
    }

    fn array(self: *Printer, items: Zoir.Node.Index.Range) Error!void {
        try self.kind("array");
        try self.json.objectField("items");
        try self.json.beginArray();
        for (0..items.len) |index| try self.node(items.at(@intCast(index)));
        try self.json.endArray();
    }

    fn structure(self: *Printer, names: []const Zoir.NullTerminatedString, values: Zoir.Node.Index.Range) Error!void {
        try self.kind("struct");
        try self.json.objectField("fields");
        try self.json.beginArray();
        for (names, 0..) |name, index| {
            const value = values.at(@intCast(index));
            // A field's name lies two tokens before its value: `.name = value`.
            const name_token = self.source.tree.firstToken(compat.zonAstNode(self.zoir, value)) - 2;
            const position = self.source.tokenPosition(name_token);
            const written = compat.zonString(self.zoir, name);
            try self.json.beginObject();
            try self.json.objectField("name");
            try self.utf8(position, written);
            try self.writePosition(position);
            try self.json.objectField("value");
            try self.node(value);
            try self.json.endObject();
        }
        try self.json.endArray();
    }

    fn writePosition(self: *Printer, position: Position) Error!void {
        try self.json.objectField("line");
        try self.json.write(position.line);
        try self.json.objectField("column");
        try self.json.write(position.column);
    }

    fn kind(self: *Printer, name: []const u8) Error!void {
        try self.json.objectField("kind");
        try self.json.write(name);
    }

    fn scalar(self: *Printer, name: []const u8, value: anytype) Error!void {
        try self.kind(name);
        try self.json.objectField("value");
        try self.json.write(value);
    }

    fn bigInteger(self: *Printer, value: std.math.big.int.Const) Error!void {
        try self.kind("int");
        try self.json.objectField("value");
        try self.json.print("{s}", .{try value.toStringAlloc(self.arena, 10, .lower)});
    }

    fn float(self: *Printer, position: Position, value: f128) Error!void {
        const narrowed: f64 = @floatCast(value);
        if (!std.math.isFinite(narrowed)) {
            return self.diagnostics.add(self.source.shown, position, "beyond the range of a 64-bit float; expected a smaller number; try one", .{});
        }
        try self.scalar("float", narrowed);
    }

    fn text(self: *Printer, name: []const u8, position: Position, value: []const u8) Error!void {
        try self.kind(name);
        try self.json.objectField("value");
        try self.utf8(position, value);
    }

    /// JSON is UTF-8; an escape such as `\xff` makes a string that is not.
    fn utf8(self: *Printer, position: Position, value: []const u8) Error!void {
        if (std.unicode.utf8ValidateSlice(value)) return self.json.write(value);
        try self.diagnostics.add(self.source.shown, position, "the string is not UTF-8; expected text; try \\u{{…}} in place of \\x", .{});
        try self.json.write(null);
    }
};
