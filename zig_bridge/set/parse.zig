//! Reads `aot.json`. Nothing in the file is trusted: whatever is wrong comes back as one message
//! that names the kernel and the field.

const std = @import("std");
const json = std.json;
const variant_types = @import("variant.zig");
const Set = variant_types.Set;
const Variant = variant_types.Variant;
const Param = variant_types.Param;
const NamedConstant = variant_types.NamedConstant;

/// Engines refuse a larger `aot.json`.
pub const bytes_max = 16 << 20;

/// The file is no set, or memory ran out.
pub const Error = error{ InvalidSet, OutOfMemory };

/// Where `parse` puts the message of an `error.InvalidSet`.
pub const Diagnostic = struct {
    /// What is wrong, and where.
    message: []const u8 = "",
};

/// The set that the text describes. It lives in the arena, as does a diagnostic's message.
pub fn parse(arena: std.mem.Allocator, text: []const u8, diagnostic: *Diagnostic) Error!Set {
    const reader: Reader = .{ .arena = arena, .diagnostic = diagnostic };
    if (text.len == 0) return reader.fail("the file is empty; expected one JSON object with `kernels`", .{});
    if (text.len > bytes_max) {
        return reader.fail("the file has {d} bytes; expected at most {d}, as engines read no more", .{ text.len, bytes_max });
    }
    const top = switch (try reader.document(text)) {
        .object => |object| object,
        else => |other| return reader.fail("the file holds {s}; expected an object with `kernels`", .{article(other)}),
    };
    const list = switch (top.get("kernels") orelse return reader.fail("`kernels` is missing", .{})) {
        .array => |array| array.items,
        else => |other| return reader.fail("`kernels` is {s}; expected a list", .{article(other)}),
    };
    const variants = try arena.alloc(Variant, list.len);
    for (list, variants, 0..) |value, *variant, index| {
        const object = switch (value) {
            .object => |object| object,
            else => |other| return reader.fail("kernels[{d}] is {s}; expected an object", .{ index, article(other) }),
        };
        variant.* = try reader.kernel(.{ .reader = reader, .object = object, .place = try reader.print("kernels[{d}]", .{index}) });
    }
    var set: Set = try .init(arena, variants);
    const header: Fields = .{ .reader = reader, .object = top, .place = "aot.json" };
    if (top.contains("bin_dir")) set.bin_dir = try header.fileName("bin_dir");
    if (top.contains("target")) set.target = try header.text("target");
    if (top.contains("bin_ext")) set.bin_ext = try header.fileName("bin_ext");
    return set;
}

const Reader = struct {
    arena: std.mem.Allocator,
    diagnostic: *Diagnostic,

    fn print(reader: Reader, comptime format: []const u8, arguments: anytype) error{OutOfMemory}![]const u8 {
        return std.fmt.allocPrint(reader.arena, format, arguments);
    }

    fn fail(reader: Reader, comptime format: []const u8, arguments: anytype) Error {
        reader.diagnostic.message = try reader.print(format, arguments);
        return error.InvalidSet;
    }

    fn document(reader: Reader, text: []const u8) Error!json.Value {
        var scanner: json.Scanner = .initCompleteInput(reader.arena, text);
        var position: json.Diagnostics = .{};
        scanner.enableDiagnostics(&position);
        return json.parseFromTokenSourceLeaky(json.Value, reader.arena, &scanner, .{}) catch |failure| switch (failure) {
            error.OutOfMemory => error.OutOfMemory,
            else => reader.fail("{d}:{d}: no valid JSON ({s})", .{ position.getLine(), position.getColumn(), @errorName(failure) }),
        };
    }

    fn kernel(reader: Reader, fields: Fields) Error!Variant {
        const variant: Variant = .{
            .function = try fields.text("fn"),
            .hash = try fields.fileName("hash"),
            .name = try fields.text("name"),
            .num_warps = try fields.unsigned("num_warps", null, .{ .smallest = 1, .largest = 64 }),
            .num_stages = try fields.unsigned("num_stages", 0, .{ .smallest = 0, .largest = 1024 }),
            .num_ctas = try fields.unsigned("num_ctas", 1, .{ .smallest = 1, .largest = 32 }),
            .warp_size = try fields.unsigned("warp_size", 32, .{ .smallest = 1, .largest = 128 }),
            .shared = try fields.unsigned("shared", 0, .{ .smallest = 0, .largest = 1 << 30 }),
            .pdl = try fields.boolean("pdl", false),
            .sha256 = if (fields.object.contains("sha256")) try fields.text("sha256") else null,
            .params = try reader.params(fields),
            .consts = try reader.consts(fields),
        };
        // Launchers pass null for both scratch pointers, so a kernel that needs either cannot run.
        const scratch: [3]struct { name: []const u8, wanted: u32 } = .{
            .{ .name = "global_scratch", .wanted = 0 },
            .{ .name = "global_align", .wanted = 1 },
            .{ .name = "profile_scratch", .wanted = 0 },
        };
        for (scratch) |field| {
            const found = try fields.unsigned(field.name, field.wanted, .{ .smallest = 0, .largest = std.math.maxInt(u32) });
            if (found == field.wanted) continue;
            return reader.fail("{s} ({s}): `{s}` is {d}; expected {d}, since engines give no scratch memory", .{
                fields.place, variant.function, field.name, found, field.wanted,
            });
        }
        return variant;
    }

    fn params(reader: Reader, fields: Fields) Error![]const Param {
        const list = switch (try fields.required("params")) {
            .array => |array| array.items,
            else => |other| return fields.wrong("params", other, "a list"),
        };
        const result = try reader.arena.alloc(Param, list.len);
        for (list, result, 0..) |value, *param, index| {
            const place = try reader.print("{s}.params[{d}]", .{ fields.place, index });
            const object = switch (value) {
                .object => |object| object,
                else => |other| return reader.fail("{s} is {s}; expected an object", .{ place, article(other) }),
            };
            const inner: Fields = .{ .reader = reader, .object = object, .place = place };
            param.* = .{
                .name = try inner.text("name"),
                .type = try inner.text("type"),
                .div16 = try inner.boolean("div16", null),
                .nospec = try inner.boolean("nospec", null),
            };
            for (result[0..index]) |earlier| {
                if (!std.mem.eql(u8, earlier.name, param.name)) continue;
                return reader.fail("{s}: a second param named `{s}`", .{ place, param.name });
            }
        }
        return result;
    }

    fn consts(reader: Reader, fields: Fields) Error![]const NamedConstant {
        const object = switch (try fields.required("consts")) {
            .object => |object| object,
            else => |other| return fields.wrong("consts", other, "an object"),
        };
        const result = try reader.arena.alloc(NamedConstant, object.count());
        for (object.keys(), object.values(), result) |name, value, *constant| {
            const place = try reader.print("{s}.consts.{s}", .{ fields.place, name });
            constant.* = .{ .name = name, .value = parseConstant(value) orelse {
                return reader.fail("{s}: expected exactly one of {{\"int\": n}}, {{\"f32\": bits}} and {{\"none\": true}}", .{place});
            } };
        }
        return result;
    }
};

fn parseConstant(value: json.Value) ?variant_types.Constant {
    if (value != .object or value.object.count() != 1) return null;
    const kind = value.object.keys()[0];
    const inner = value.object.values()[0];
    if (std.mem.eql(u8, kind, "none")) return if (inner == .bool and inner.bool) .none else null;
    if (inner != .integer) return null;
    if (std.mem.eql(u8, kind, "int")) return .{ .int = inner.integer };
    if (!std.mem.eql(u8, kind, "f32")) return null;
    return .{ .f32 = std.math.cast(u32, inner.integer) orelse return null };
}

/// The fields of one object, read with messages that say where it stands.
const Fields = struct {
    reader: Reader,
    object: json.ObjectMap,
    place: []const u8,

    fn required(fields: Fields, name: []const u8) Error!json.Value {
        return fields.object.get(name) orelse fields.reader.fail("{s}: `{s}` is missing", .{ fields.place, name });
    }

    fn wrong(fields: Fields, name: []const u8, value: json.Value, expected: []const u8) Error {
        return fields.reader.fail("{s}: `{s}` is {s}; expected {s}", .{ fields.place, name, article(value), expected });
    }

    fn text(fields: Fields, name: []const u8) Error![]const u8 {
        switch (try fields.required(name)) {
            .string => |string| {
                if (string.len == 0) return fields.reader.fail("{s}: `{s}` is empty", .{ fields.place, name });
                return string;
            },
            else => |other| return fields.wrong(name, other, "a string"),
        }
    }

    /// A string that names a file in the set's folder, so it must not lead out of it.
    fn fileName(fields: Fields, name: []const u8) Error![]const u8 {
        const string = try fields.text(name);
        for (string) |byte| {
            if (std.ascii.isAlphanumeric(byte) or byte == '-' or byte == '_') continue;
            return fields.reader.fail("{s}: `{s}` is no file name; expected letters, digits, - and _", .{ fields.place, name });
        }
        return string;
    }

    fn boolean(fields: Fields, name: []const u8, default: ?bool) Error!bool {
        if (default) |absent| {
            if (!fields.object.contains(name)) return absent;
        }
        return switch (try fields.required(name)) {
            .bool => |value| value,
            else => |other| fields.wrong(name, other, "true or false"),
        };
    }

    fn unsigned(fields: Fields, name: []const u8, default: ?u32, range: struct { smallest: u32, largest: u32 }) Error!u32 {
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

fn article(value: json.Value) []const u8 {
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

test {
    _ = @import("parse_test.zig");
}
