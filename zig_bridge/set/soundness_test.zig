//! Tests of sealed sets: the parser takes what is sound, and refuses each claim that a cubin does not bear out.

const std = @import("std");
const parse_module = @import("parse.zig");
const seal = @import("seal.zig");
const variant_types = @import("variant.zig");
const Variant = variant_types.Variant;
const testing = std.testing;

const aligned: variant_types.Param = .{ .name = "X", .type = "*bf16", .div16 = true, .nospec = false, .assumes16 = true };
const any: variant_types.Param = .{ .name = "N", .type = "i32", .div16 = false, .nospec = false, .assumes16 = false };
const div16: variant_types.Param = .{ .name = "N", .type = "i32", .div16 = true, .nospec = false, .assumes16 = true };

/// What was compiled: aligned X, any N, folded M.
const compiled: Variant = .{
    .function = "_f",
    .hash = "ab",
    .name = "_f",
    .num_warps = 4,
    .num_stages = 3,
    .sha256 = "cd",
    .requested = .{ .num_warps = 4, .num_stages = 3 },
    .params = &.{ aligned, any },
    .consts = &.{.{ .name = "M", .value = .{ .int = 1 } }},
};

fn with(variant: Variant, comptime field: []const u8, value: @FieldType(Variant, field)) Variant {
    var changed = variant;
    @field(changed, field) = value;
    return changed;
}

fn withParam(comptime param: variant_types.Param, comptime field: []const u8, value: bool) variant_types.Param {
    var changed = param;
    @field(changed, field) = value;
    return changed;
}

const alias = with(with(compiled, "alias", true), "params", &.{ aligned, withParam(any, "nospec", true) });

/// The text of a set of these variants, each sealed as it is.
fn textOf(arena: std.mem.Allocator, variants: []const Variant) ![]const u8 {
    var allocating: std.Io.Writer.Allocating = .init(arena);
    const writer = &allocating.writer;
    try writer.writeAll("{\"kernels\": [");
    for (variants, 0..) |*variant, index| {
        if (index > 0) try writer.writeAll(",\n");
        try writer.print(
            \\{{"fn": "{s}", "hash": "{s}", "name": "{s}", "num_warps": {d}, "num_stages": {d}, "shared": {d}, "pdl": {},
            \\ "sha256": "{s}", "requested": {{"num_stages": {d}, "num_warps": {d}}}, "alias": {}, "seal": "{s}", "params": [
        , .{
            variant.function, variant.hash,                 variant.name,                variant.num_warps, variant.num_stages, variant.shared, variant.pdl,
            variant.sha256.?, variant.requested.num_stages, variant.requested.num_warps, variant.alias,     seal.of(variant),
        });
        for (variant.params, 0..) |param, place| {
            if (place > 0) try writer.writeByte(',');
            try std.json.Stringify.value(param, .{}, writer);
        }
        try writer.writeAll("], \"consts\": {");
        for (variant.consts, 0..) |constant, place| {
            if (place > 0) try writer.writeByte(',');
            try writer.print("\"{s}\": {{\"int\": {d}}}", .{ constant.name, constant.value.int });
        }
        try writer.writeAll("}}");
    }
    try writer.writeAll("]}");
    return allocating.written();
}

fn checkRefused(variants: []const Variant, want: []const u8) !void {
    var arena: std.heap.ArenaAllocator = .init(testing.allocator);
    defer arena.deinit();
    try checkTextRefused(arena.allocator(), try textOf(arena.allocator(), variants), want);
}

fn checkTextRefused(arena: std.mem.Allocator, text: []const u8, want: []const u8) !void {
    var diagnostic: parse_module.Diagnostic = .{};
    try testing.expectError(error.InvalidSet, parse_module.parse(arena, text, &diagnostic));
    try testing.expectEqualStrings(want, diagnostic.message);
}

test "soundness: a sealed set with an alias that assumes less" {
    var arena: std.heap.ArenaAllocator = .init(testing.allocator);
    defer arena.deinit();
    var diagnostic: parse_module.Diagnostic = .{};
    const set = try parse_module.parse(arena.allocator(), try textOf(arena.allocator(), &.{ compiled, alias }), &diagnostic);
    try testing.expect(!set.foreign);
    try testing.expect(!set.variants[0].alias and set.variants[1].alias);
    try testing.expect(set.variants[0].params[0].assumes16 and !set.variants[1].params[1].assumes16);
    try testing.expectEqual(Variant.Requested{ .num_warps = 4, .num_stages = 3 }, set.variants[1].requested);
}

test "soundness: an entry that was changed or lacks a part of its seal" {
    var arena: std.heap.ArenaAllocator = .init(testing.allocator);
    defer arena.deinit();
    const text = try textOf(arena.allocator(), &.{ compiled, alias });
    const seal_text = try std.fmt.allocPrint(arena.allocator(), "\"seal\": \"{s}\", ", .{seal.of(&alias)});
    const changed = "kernels[0] (_f): `seal` is not that of the entry: something in it was changed";
    const cases = [_]struct { part: []const u8, replacement: []const u8, want: []const u8 }{
        .{ .part = "\"shared\": 0", .replacement = "\"shared\": 16", .want = changed },
        .{ .part = "\"num_warps\": 4, ", .replacement = "\"num_warps\": 8, ", .want = changed },
        .{ .part = "\"type\":\"*bf16\",\"div16\":true", .replacement = "\"type\":\"*bf16\",\"div16\":false", .want = changed },
        .{ .part = "\"sha256\": \"cd\"", .replacement = "\"sha256\": \"ce\"", .want = changed },
        .{ .part = "{\"int\": 1}", .replacement = "{\"int\": 2}", .want = changed },
        .{ .part = "{\"num_stages\": 3", .replacement = "{\"num_stages\": 2", .want = changed },
        .{ .part = seal_text, .replacement = "", .want = "kernels[1]: `seal` is missing" },
        .{ .part = "\"sha256\": \"cd\", ", .replacement = "", .want = "kernels[0]: `sha256` is missing" },
        .{ .part = "\"alias\": false, ", .replacement = "", .want = "kernels[0]: `alias` is missing" },
        .{ .part = ",\"assumes16\":false", .replacement = "", .want = "kernels[0].params[1]: `assumes16` is missing" },
        .{ .part = "\"requested\"", .replacement = "\"asked\"", .want = "kernels[0]: `requested` is missing" },
    };
    for (cases) |case| {
        const broken = try std.mem.replaceOwned(u8, arena.allocator(), text, case.part, case.replacement);
        try testing.expect(!std.mem.eql(u8, text, broken));
        try checkTextRefused(arena.allocator(), broken, case.want);
    }
}

test "soundness: a set of ours that lost all its seals" {
    var arena: std.heap.ArenaAllocator = .init(testing.allocator);
    defer arena.deinit();
    const format =
        \\{{"generator": {s}, "kernels": [{{"fn": "_f", "hash": "ab", "name": "_f", "num_warps": 4, "params": [], "consts": {{}}}}]}}
    ;
    const lost = "no entry has a `seal`, though `generator` says that build-capture wrote the set: what its cubins assume was taken out of it; capture it anew";
    inline for (.{ "\"build-capture\"", "{\"name\": \"build-capture\", \"version\": \"9\"}" }) |generator| {
        try checkTextRefused(arena.allocator(), try std.fmt.allocPrint(arena.allocator(), format, .{generator}), lost);
    }
    inline for (.{ "\"another\"", "{\"version\": \"1\"}", "null" }) |generator| {
        var diagnostic: parse_module.Diagnostic = .{};
        const text = try std.fmt.allocPrint(arena.allocator(), format, .{generator});
        try testing.expect((try parse_module.parse(arena.allocator(), text, &diagnostic)).foreign);
    }
}

test "soundness: an alias that claims what its code does not serve" {
    const more = "kernels[1] (_f): `X` serves values that its code does not: the code assumes a multiple of 16";
    try checkRefused(&.{ compiled, with(alias, "params", &.{ withParam(aligned, "div16", false), any }) }, more);
    // Saying that the code assumes less does not help: the entry of what was compiled says otherwise.
    const denied = withParam(withParam(aligned, "div16", false), "assumes16", false);
    const other = "kernels[1] (_f): `params` is not that of kernels[0], which has the same `hash`";
    try checkRefused(&.{ compiled, with(alias, "params", &.{ denied, any }) }, other);
    const of_multiples = with(compiled, "params", &.{div16});
    const every = with(with(of_multiples, "alias", true), "params", &.{withParam(div16, "nospec", true)});
    try checkRefused(&.{ of_multiples, every }, "kernels[1] (_f): `N` serves values that its code does not: the code assumes a multiple of 16");
    // What was compiled serves what it was compiled for, no more and no less.
    const less = "kernels[0] (_f): `N`: `div16` is not `assumes16`; only an alias may serve other values than its code was compiled for";
    try checkRefused(&.{with(compiled, "params", &.{withParam(any, "div16", true)})}, less);
}

test "soundness: entries of one cubin that contradict each other" {
    const same_hash = " is not that of kernels[0], which has the same `hash`";
    try checkRefused(&.{ compiled, compiled }, "kernels[1] (_f): `alias` is false, as in kernels[0]; expected one such entry of a `hash`");
    try checkRefused(&.{alias}, "kernels[0] (_f): an alias whose `hash` no entry with `alias` false has");
    try checkRefused(&.{ compiled, with(alias, "shared", 512) }, "kernels[1] (_f): `shared`" ++ same_hash);
    try checkRefused(&.{ compiled, with(alias, "num_warps", 8) }, "kernels[1] (_f): `num_warps`" ++ same_hash);
    try checkRefused(&.{ compiled, with(alias, "name", "_g") }, "kernels[1] (_f): `name`" ++ same_hash);
    try checkRefused(&.{ compiled, with(alias, "function", "_g") }, "kernels[1] (_g): `fn`" ++ same_hash);
    try checkRefused(&.{ compiled, with(alias, "sha256", "ce") }, "kernels[1] (_f): `sha256`" ++ same_hash);
    try checkRefused(&.{ compiled, with(alias, "requested", .{ .num_warps = 8, .num_stages = 3 }) }, "kernels[1] (_f): `requested`" ++ same_hash);
    // A folded int stays folded.
    try checkRefused(&.{ compiled, with(alias, "consts", &.{}) }, "kernels[1] (_f): `consts`" ++ same_hash);
    try checkRefused(&.{ compiled, with(alias, "params", &.{aligned}) }, "kernels[1] (_f): `params`" ++ same_hash);
}
