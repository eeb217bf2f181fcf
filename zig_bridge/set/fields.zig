//! Reads the fields of untrusted JSON objects, with messages that say where each stands. As build_capture/sets/fields.py.

const std = @import("std");
const json = std.json;

/// The file is no set, or memory ran out.
pub const Error = error{ InvalidSet, OutOfMemory };

/// Where the message of an `error.InvalidSet` goes.
pub const Diagnostic = struct {
    /// What is wrong, and where.
    message: []const u8 = "",
};

/// Where memory and messages come from.
pub const Reader = struct {
    arena: std.mem.Allocator,
    diagnostic: *Diagnostic,

    /// A text in the arena.
    pub fn print(reader: Reader, comptime format: []const u8, arguments: anytype) error{OutOfMemory}![]const u8 {
        return std.fmt.allocPrint(reader.arena, format, arguments);
    }

    /// The error of a file that is no set, with its message.
    pub fn fail(reader: Reader, comptime format: []const u8, arguments: anytype) Error {
        reader.diagnostic.message = try reader.print(format, arguments);
        return error.InvalidSet;
    }

    /// The fields of a value that must be an object.
    pub fn fields(reader: Reader, value: json.Value, place: []const u8) Error!Fields {
        return switch (value) {
            .object => |object| .{ .reader = reader, .object = object, .place = place },
            else => |other| reader.fail("{s} is {s}; expected an object", .{ place, article(other) }),
        };
    }
};

/// The fields of one object.
pub const Fields = struct {
    reader: Reader,
    object: json.ObjectMap,
    place: []const u8,

    /// A field that must be there.
    pub fn required(fields: Fields, name: []const u8) Error!json.Value {
        return fields.object.get(name) orelse fields.reader.fail("{s}: `{s}` is missing", .{ fields.place, name });
    }

    fn wrong(fields: Fields, name: []const u8, value: json.Value, expected: []const u8) Error {
        return fields.reader.fail("{s}: `{s}` is {s}; expected {s}", .{ fields.place, name, article(value), expected });
    }

    /// A list.
    pub fn items(fields: Fields, name: []const u8) Error![]const json.Value {
        return switch (try fields.required(name)) {
            .array => |array| array.items,
            else => |other| fields.wrong(name, other, "a list"),
        };
    }

    /// An object.
    pub fn members(fields: Fields, name: []const u8) Error!json.ObjectMap {
        return switch (try fields.required(name)) {
            .object => |object| object,
            else => |other| fields.wrong(name, other, "an object"),
        };
    }

    /// A string without spaces, as all names are: a seal's text could not tell where another ends.
    pub fn word(fields: Fields, name: []const u8) Error![]const u8 {
        const string = switch (try fields.required(name)) {
            .string => |string| string,
            else => |other| return fields.wrong(name, other, "a string"),
        };
        if (string.len == 0) return fields.reader.fail("{s}: `{s}` is empty", .{ fields.place, name });
        if (!isWord(string)) return fields.reader.fail("{s}: `{s}` is no name: it holds a space or a control character", .{ fields.place, name });
        return string;
    }

    /// A string that names a file in the set's folder, so it must not lead out of it.
    pub fn fileName(fields: Fields, name: []const u8) Error![]const u8 {
        const string = try fields.word(name);
        for (string) |byte| {
            if (std.ascii.isAlphanumeric(byte) or byte == '-' or byte == '_') continue;
            return fields.reader.fail("{s}: `{s}` is no file name; expected letters, digits, - and _", .{ fields.place, name });
        }
        return string;
    }

    /// True or false; the default where it is absent.
    pub fn boolean(fields: Fields, name: []const u8, default: ?bool) Error!bool {
        if (default) |absent| {
            if (!fields.object.contains(name)) return absent;
        }
        return switch (try fields.required(name)) {
            .bool => |value| value,
            else => |other| fields.wrong(name, other, "true or false"),
        };
    }

    /// A whole number in the range; the default where it is absent.
    pub fn unsigned(fields: Fields, name: []const u8, default: ?u32, range: struct { smallest: u32, largest: u32 }) Error!u32 {
        if (default) |absent| {
            if (!fields.object.contains(name)) return absent;
        }
        const value = switch (try fields.required(name)) {
            .integer => |value| value,
            else => |other| return fields.wrong(name, other, "a whole number"),
        };
        if (value < range.smallest or value > range.largest) {
            return fields.reader.fail("{s}: `{s}` is {d}; expected {d} to {d}", .{ fields.place, name, value, range.smallest, range.largest });
        }
        return @intCast(value);
    }
};

/// Whether a text can be a name: not empty, no space, no control character.
pub fn isWord(text: []const u8) bool {
    for (text) |byte| {
        if (byte <= ' ' or byte == std.ascii.control_code.del) return false;
    }
    return text.len > 0;
}

/// A JSON value's kind, as messages name it.
pub fn article(value: json.Value) []const u8 {
    return switch (value) {
        .null => "null",
        .bool => "a bool",
        .integer => "an integer",
        .float, .number_string => "a number that is no integer of 64 bits",
        .string => "a string",
        .array => "a list",
        .object => "an object",
    };
}
