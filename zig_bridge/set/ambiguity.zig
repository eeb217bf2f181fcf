//! What file order alone decides: variants that fit one launch and differ in what the launch does not tell.

const std = @import("std");
const rule = @import("rule.zig");
const variant_types = @import("variant.zig");
const Request = rule.Request;
const Param = variant_types.Param;
const Set = variant_types.Set;
const Variant = variant_types.Variant;

/// Something in which the variants that fit a launch differ and of which the launch does not tell what it wants.
pub const Ambiguity = struct {
    /// What they differ in: `num_warps`, `num_stages`, a constexpr's name, or `code` where the set records nothing.
    what: []const u8,
    /// The first variant in file order that fits.
    first: *const Variant,
    /// Another one.
    second: *const Variant,
};

/// The ambiguity of a launch: of an option before that of a constexpr, by name; null if there is none. What the arguments
/// tell apart (a folded int beside a general variant) is none: either serves the launch. An engine that knows the exact
/// rule alone takes the first variant without a word.
pub fn ambiguity(set: *const Set, request: Request) ?Ambiguity {
    const first = nextAfter(set, request, null) orelse return null;
    var found: ?Ambiguity = null;
    var last: *const Variant = first;
    while (nextAfter(set, request, last)) |variant| : (last = variant) {
        const what = differenceOf(request, first, variant) orelse continue;
        if (found == null or isBefore(what, found.?.what)) found = .{ .what = what, .first = first, .second = variant };
    }
    return found orelse sameIdentityOtherCode(set, request, first);
}

/// The variant next in file order that fits and keeps the pins; the first one after null.
fn nextAfter(set: *const Set, request: Request, last: ?*const Variant) ?*const Variant {
    var next: ?*const Variant = null;
    var fitting = set.index.fitting(request);
    while (fitting.next()) |variant| {
        if (!rule.keepsPins(variant, request.options)) continue;
        if (last) |before| if (!before.isBefore(variant)) continue;
        if (next == null or variant.isBefore(next.?)) next = variant;
    }
    return next;
}

const option_names = [_][]const u8{ "num_warps", "num_stages" };

/// Options come first, then constexprs by name.
fn isBefore(left: []const u8, right: []const u8) bool {
    for (option_names) |name| {
        if (std.mem.eql(u8, right, name)) return false;
        if (std.mem.eql(u8, left, name)) return true;
    }
    return std.mem.lessThan(u8, left, right);
}

fn differenceOf(request: Request, left: *const Variant, right: *const Variant) ?[]const u8 {
    if (request.options.num_warps == null and left.num_warps != right.num_warps) return option_names[0];
    if (request.options.num_stages == null and left.num_stages != right.num_stages) return option_names[1];
    return constantApart(request, left, right);
}

/// The first name, in order, of a constant in which variants differ and which is no argument of the launch.
fn constantApart(request: Request, left: *const Variant, right: *const Variant) ?[]const u8 {
    var first: ?[]const u8 = null;
    for ([_]*const Variant{ left, right }) |variant| {
        for (variant.consts) |constant| keepFirst(&first, request, left, right, constant.name);
        for (variant.texts) |text| keepFirst(&first, request, left, right, text.name);
    }
    return first;
}

fn keepFirst(first: *?[]const u8, request: Request, left: *const Variant, right: *const Variant, name: []const u8) void {
    if (first.*) |known| if (!std.mem.lessThan(u8, name, known)) return;
    for (request.arguments) |argument| {
        if (std.mem.eql(u8, argument.name, name)) return;
    }
    if (!isConstantSame(left, right, name)) first.* = name;
}

fn isConstantSame(left: *const Variant, right: *const Variant, name: []const u8) bool {
    return std.meta.eql(left.constant(name), right.constant(name)) and
        isTextSame(variant_types.textOf(left.kinds, name), variant_types.textOf(right.kinds, name)) and
        isTextSame(variant_types.textOf(left.texts, name), variant_types.textOf(right.texts, name));
}

fn isTextSame(left: ?[]const u8, right: ?[]const u8) bool {
    const text = left orelse return right == null;
    return right != null and std.mem.eql(u8, text, right.?);
}

/// Variants of one specialization with other code: the set does not record in what they differ.
fn sameIdentityOtherCode(set: *const Set, request: Request, first: *const Variant) ?Ambiguity {
    var last = first;
    while (nextAfter(set, request, last)) |variant| : (last = variant) {
        var same = first;
        while (!isIdentitySame(same, variant)) same = nextAfter(set, request, same).?;
        if (!std.mem.eql(u8, same.hash, variant.hash)) return .{ .what = "code", .first = same, .second = variant };
    }
    return null;
}

/// Whether variants that fit one launch serve the same ones: all else of their identity is the same.
fn isIdentitySame(left: *const Variant, right: *const Variant) bool {
    if (!std.meta.eql(left.requested, right.requested) or left.params.len != right.params.len) return false;
    for (left.params, right.params) |one, other| {
        if (!std.mem.eql(u8, one.name, other.name) or !std.mem.eql(u8, one.type, other.type)) return false;
        if (std.mem.eql(u8, one.type, "fp32")) continue;
        if (one.div16 != other.div16 or !one.isPointer() and one.nospec != other.nospec) return false;
    }
    return left.consts.len == right.consts.len;
}
