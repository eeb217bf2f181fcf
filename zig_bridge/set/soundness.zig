//! Whether the entries of a sealed set claim only what their cubins bear out: a claim of more is a wrong result on the GPU.

const std = @import("std");
const seal = @import("seal.zig");
const variant_types = @import("variant.zig");
const Param = variant_types.Param;
const Variant = variant_types.Variant;

/// The first thing that is wrong with the entries; null if nothing is. build_capture/sets/seal.py says the same.
pub fn problem(arena: std.mem.Allocator, variants: []const Variant) error{OutOfMemory}!?[]const u8 {
    for (variants, 0..) |*variant, index| {
        const found = try problemOfOne(arena, variant) orelse continue;
        return try std.fmt.allocPrint(arena, "kernels[{d}] ({s}): {s}", .{ index, variant.function, found });
    }
    var compiled: std.StringHashMapUnmanaged(usize) = .empty;
    for (variants, 0..) |*variant, index| {
        if (variant.alias) continue;
        const entry = try compiled.getOrPut(arena, variant.hash);
        if (entry.found_existing) return try std.fmt.allocPrint(
            arena,
            "kernels[{d}] ({s}): `alias` is false, as in kernels[{d}]; expected one such entry of a `hash`",
            .{ index, variant.function, entry.value_ptr.* },
        );
        entry.value_ptr.* = index;
    }
    for (variants, 0..) |*variant, index| {
        const first = compiled.get(variant.hash) orelse return try std.fmt.allocPrint(
            arena,
            "kernels[{d}] ({s}): an alias whose `hash` no entry with `alias` false has",
            .{ index, variant.function },
        );
        const field = otherCode(&variants[first], variant) orelse continue;
        return try std.fmt.allocPrint(
            arena,
            "kernels[{d}] ({s}): `{s}` is not that of kernels[{d}], which has the same `hash`",
            .{ index, variant.function, field, first },
        );
    }
    return null;
}

fn problemOfOne(arena: std.mem.Allocator, variant: *const Variant) error{OutOfMemory}!?[]const u8 {
    if (!std.mem.eql(u8, variant.seal orelse "", &seal.of(variant))) {
        return "`seal` is not that of the entry: something in it was changed";
    }
    for (variant.params) |param| {
        if (param.assumes16 and (!param.div16 or param.nospec and !param.isPointer())) {
            return try std.fmt.allocPrint(arena, "`{s}` serves values that its code does not: the code assumes a multiple of 16", .{param.name});
        }
        if (!variant.alias and param.assumes16 != param.div16) return try std.fmt.allocPrint(
            arena,
            "`{s}`: `div16` is not `assumes16`; only an alias may serve other values than its code was compiled for",
            .{param.name},
        );
    }
    return null;
}

/// The first field in which two entries of one cubin contradict each other.
fn otherCode(left: *const Variant, right: *const Variant) ?[]const u8 {
    if (!std.mem.eql(u8, left.function, right.function)) return "fn";
    if (!std.mem.eql(u8, left.name, right.name)) return "name";
    inline for (.{ "num_warps", "num_stages", "num_ctas", "warp_size", "shared", "pdl" }) |name| {
        if (@field(left, name) != @field(right, name)) return name;
    }
    if (!areConstsSame(left.consts, right.consts)) return "consts";
    if (!std.mem.eql(u8, left.sha256.?, right.sha256.?)) return "sha256";
    if (!std.meta.eql(left.requested, right.requested)) return "requested";
    if (!areTextsSame(left.kinds, right.kinds)) return "kinds";
    if (!areTextsSame(left.texts, right.texts)) return "texts";
    return if (areParamsSame(left.params, right.params)) null else "params";
}

fn areConstsSame(left: []const variant_types.NamedConstant, right: []const variant_types.NamedConstant) bool {
    if (left.len != right.len) return false;
    for (left, right) |one, other| {
        if (!std.mem.eql(u8, one.name, other.name) or !std.meta.eql(one.value, other.value)) return false;
    }
    return true;
}

fn areTextsSame(left: []const variant_types.NamedText, right: []const variant_types.NamedText) bool {
    if (left.len != right.len) return false;
    for (left, right) |one, other| {
        if (!std.mem.eql(u8, one.name, other.name) or !std.mem.eql(u8, one.value, other.value)) return false;
    }
    return true;
}

/// Whether code takes the same parameters: what each entry serves (`div16`, `nospec`) is another matter.
fn areParamsSame(left: []const Param, right: []const Param) bool {
    if (left.len != right.len) return false;
    for (left, right) |one, other| {
        if (!std.mem.eql(u8, one.name, other.name) or !std.mem.eql(u8, one.type, other.type)) return false;
        if (one.assumes16 != other.assumes16) return false;
    }
    return true;
}
