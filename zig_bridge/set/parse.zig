//! Reads `aot.json`. Nothing in the file is trusted: whatever is wrong comes back as one message that names the kernel
//! and the field. build_capture/sets/parse.py takes and refuses the same files, with the same messages.

const std = @import("std");
const json = std.json;
const fields_types = @import("fields.zig");
const soundness = @import("soundness.zig");
const variant_types = @import("variant.zig");
const Fields = fields_types.Fields;
const Reader = fields_types.Reader;
const article = fields_types.article;
const isWord = fields_types.isWord;
const Set = variant_types.Set;
const Variant = variant_types.Variant;
const Param = variant_types.Param;
const NamedConstant = variant_types.NamedConstant;
const NamedText = variant_types.NamedText;

pub const Error = fields_types.Error;
pub const Diagnostic = fields_types.Diagnostic;

/// Engines refuse a larger `aot.json`.
pub const bytes_max = 16 << 20;

/// Objects and lists inside each other: a set needs 6, and each of them costs a reader far more memory than its one byte.
const nesting_max = 64;

/// CUDA gives a kernel 32,764 bytes of parameters: none has more than this.
const params_max = 1024;

/// The set that the text describes. It lives in the arena, as does a diagnostic's message. A set that claims to be sealed
/// must be, in each entry, and no entry may claim what its cubin does not bear out; one without seals, of another tool, is
/// `foreign`.
pub fn parse(arena: std.mem.Allocator, text: []const u8, diagnostic: *Diagnostic) Error!Set {
    const reader: Reader = .{ .arena = arena, .diagnostic = diagnostic };
    if (text.len == 0) return reader.fail("the file is empty; expected one JSON object with `kernels`", .{});
    if (text.len > bytes_max) {
        return reader.fail("the file has {d} bytes; expected at most {d}, as engines read no more", .{ text.len, bytes_max });
    }
    if (isNestedTooDeeply(text)) return reader.fail("no valid JSON (it is nested too deeply)", .{});
    const top = switch (try parseDocument(reader, text)) {
        .object => |object| object,
        else => |other| return reader.fail("the file holds {s}; expected an object with `kernels`", .{article(other)}),
    };
    const list = switch (top.get("kernels") orelse return reader.fail("`kernels` is missing", .{})) {
        .array => |array| array.items,
        else => |other| return reader.fail("`kernels` is {s}; expected a list", .{article(other)}),
    };
    const sealed = for (list) |value| {
        if (claimsSeal(value)) break true;
    } else false;
    const ours = isOurs(top.get("generator") orelse .null);
    if (ours and list.len > 0 and !sealed) return reader.fail(
        "no entry has a `seal`, though `generator` says that build-capture wrote the set: what its cubins assume was taken out of it; capture it anew",
        .{},
    );
    const foreign = !ours and !sealed;
    const variants = try arena.alloc(Variant, list.len);
    for (list, variants, 0..) |value, *variant, index| {
        variant.* = try parseKernel(try reader.fields(value, try reader.print("kernels[{d}]", .{index})), foreign);
    }
    const header: Fields = .{ .reader = reader, .object = top, .place = "aot.json" };
    var set: Set = try .init(arena, variants);
    set.foreign = foreign;
    if (top.contains("target")) set.target = try header.word("target");
    if (top.contains("bin_dir")) set.bin_dir = try header.fileName("bin_dir");
    if (top.contains("bin_ext")) set.bin_ext = try header.fileName("bin_ext");
    if (!foreign) {
        if (try soundness.problem(arena, variants)) |problem| return reader.fail("{s}", .{problem});
    }
    return set;
}

fn parseDocument(reader: Reader, text: []const u8) Error!json.Value {
    var scanner: json.Scanner = .initCompleteInput(reader.arena, text);
    var position: json.Diagnostics = .{};
    scanner.enableDiagnostics(&position);
    return json.parseFromTokenSourceLeaky(json.Value, reader.arena, &scanner, .{}) catch |failure| switch (failure) {
        error.OutOfMemory => error.OutOfMemory,
        else => reader.fail("{d}:{d}: no valid JSON ({s})", .{ position.getLine(), position.getColumn(), @errorName(failure) }),
    };
}

fn isNestedTooDeeply(text: []const u8) bool {
    var depth: usize = 0;
    var in_string = false;
    var escaped = false;
    for (text) |byte| {
        if (in_string) {
            if (byte == '"' and !escaped) in_string = false;
            escaped = byte == '\\' and !escaped;
        } else switch (byte) {
            '"' => in_string = true,
            '[', '{' => depth += 1,
            ']', '}' => depth -|= 1,
            else => {},
        }
        if (depth > nesting_max) return true;
    }
    return false;
}

/// Whether `generator` names this project, every version of which seals its sets: one that is taken for another tool's may
/// claim whatever it likes.
fn isOurs(generator: json.Value) bool {
    const name = if (generator == .object) generator.object.get("name") orelse return false else generator;
    return name == .string and std.mem.eql(u8, name.string, "build-capture");
}

/// Whether an entry has a field that only sealed ones have: then it must be sealed, whole.
fn claimsSeal(value: json.Value) bool {
    if (value != .object) return false;
    if (value.object.contains("seal") or value.object.contains("alias")) return true;
    const params = value.object.get("params") orelse return false;
    if (params != .array) return false;
    for (params.array.items) |param| {
        if (param == .object and param.object.contains("assumes16")) return true;
    }
    return false;
}

fn parseKernel(fields: Fields, foreign: bool) Error!Variant {
    const function = try fields.word("fn");
    const hash = try fields.fileName("hash");
    const name = try fields.word("name");
    const num_warps = try fields.unsigned("num_warps", null, .{ .smallest = 1, .largest = 64 });
    const num_stages = try fields.unsigned("num_stages", 0, .{ .smallest = 0, .largest = 1024 });
    const variant: Variant = .{
        .function = function,
        .hash = hash,
        .name = name,
        .num_warps = num_warps,
        .num_stages = num_stages,
        .num_ctas = try fields.unsigned("num_ctas", 1, .{ .smallest = 1, .largest = 32 }),
        .warp_size = try fields.unsigned("warp_size", 32, .{ .smallest = 1, .largest = 128 }),
        .shared = try fields.unsigned("shared", 0, .{ .smallest = 0, .largest = 1 << 30 }),
        .pdl = try fields.boolean("pdl", false),
        .params = try parseParams(fields, foreign),
        .consts = try parseConsts(fields),
        .sha256 = if (foreign and !fields.object.contains("sha256")) null else try fields.word("sha256"),
        .requested = try parseRequested(fields, foreign, .{ .num_warps = num_warps, .num_stages = num_stages }),
        .kinds = try parseTexts(fields, "kinds", &.{ "bool", "f64" }),
        .texts = try parseTexts(fields, "texts", null),
        .alias = try fields.boolean("alias", if (foreign) false else null),
        .seal = if (foreign) null else try fields.word("seal"),
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
        return fields.reader.fail("{s} ({s}): `{s}` is {d}; expected {d}, since engines give no scratch memory", .{
            fields.place, function, field.name, found, field.wanted,
        });
    }
    return variant;
}

fn parseParams(fields: Fields, foreign: bool) Error![]const Param {
    const reader = fields.reader;
    const list = try fields.items("params");
    if (list.len > params_max) return reader.fail("{s}: `params` has {d} items; expected at most {d}", .{ fields.place, list.len, params_max });
    const result = try reader.arena.alloc(Param, list.len);
    for (list, result, 0..) |value, *param, index| {
        const inner = try reader.fields(value, try reader.print("{s}.params[{d}]", .{ fields.place, index }));
        const name = try inner.word("name");
        const type_name = try inner.word("type");
        const div16 = try inner.boolean("div16", null);
        param.* = .{
            .name = name,
            .type = type_name,
            .div16 = div16,
            .nospec = try inner.boolean("nospec", null),
            .assumes16 = if (foreign) div16 else try inner.boolean("assumes16", null),
        };
        for (result[0..index]) |earlier| {
            if (!std.mem.eql(u8, earlier.name, param.name)) continue;
            return reader.fail("{s}: a second param named `{s}`", .{ inner.place, param.name });
        }
    }
    return result;
}

fn parseConsts(fields: Fields) Error![]const NamedConstant {
    const reader = fields.reader;
    const object = try fields.members("consts");
    const result = try reader.arena.alloc(NamedConstant, object.count());
    for (object.keys(), object.values(), result) |name, value, *constant| {
        if (!isWord(name)) return reader.fail("{s}: `consts` has a name that holds a space or a control character", .{fields.place});
        constant.* = .{ .name = name, .value = parseConstant(value) orelse {
            return reader.fail("{s}.consts.{s}: expected exactly one of {{\"int\": n}}, {{\"f32\": bits}} and {{\"none\": true}}", .{ fields.place, name });
        } };
    }
    std.mem.sort(NamedConstant, result, {}, isBefore(NamedConstant));
    return result;
}

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

/// The options that were asked for; those that are launched where a foreign set does not say.
fn parseRequested(fields: Fields, foreign: bool, launched: Variant.Requested) Error!Variant.Requested {
    if (foreign and !fields.object.contains("requested")) return launched;
    const object = try fields.members("requested");
    const inner: Fields = .{ .reader = fields.reader, .object = object, .place = try fields.reader.print("{s}.requested", .{fields.place}) };
    const num_stages = try inner.unsigned("num_stages", null, .{ .smallest = 0, .largest = 1024 });
    return .{ .num_warps = try inner.unsigned("num_warps", null, .{ .smallest = 1, .largest = 64 }), .num_stages = num_stages };
}

/// An object of strings by name, sorted; none where it is absent. The strings are among `valid` where that is given.
fn parseTexts(fields: Fields, name: []const u8, valid: ?[]const []const u8) Error![]const NamedText {
    const reader = fields.reader;
    if (!fields.object.contains(name)) return &.{};
    const object = try fields.members(name);
    const result = try reader.arena.alloc(NamedText, object.count());
    for (object.keys(), object.values(), result) |key, value, *text| {
        if (!isWord(key) or value != .string) return reader.fail("{s}: `{s}` is no object of strings by name", .{ fields.place, name });
        text.* = .{ .name = key, .value = value.string };
        const words = valid orelse continue;
        for (words) |word| {
            if (std.mem.eql(u8, word, value.string)) break;
        } else return reader.fail("{s}: `{s}` holds `{s}`; expected {s} or {s}", .{ fields.place, name, value.string, words[0], words[1] });
    }
    std.mem.sort(NamedText, result, {}, isBefore(NamedText));
    return result;
}

fn isBefore(comptime Item: type) fn (void, Item, Item) bool {
    return struct {
        fn isBefore(_: void, left: Item, right: Item) bool {
            return std.mem.lessThan(u8, left.name, right.name);
        }
    }.isBefore;
}

test {
    _ = @import("parse_test.zig");
    _ = @import("seal.zig");
    _ = @import("sha256.zig");
    _ = @import("soundness_test.zig");
}
