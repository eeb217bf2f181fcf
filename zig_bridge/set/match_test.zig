//! Tests of `match.zig`: one row for each side of each rule.

const std = @import("std");
const launch = @import("launch.zig");
const match = @import("match.zig");
const variant_types = @import("variant.zig");
const testing = std.testing;
const Param = variant_types.Param;
const Variant = variant_types.Variant;
const ptr = launch.ptr;
const int = launch.int;
const word = launch.word;
const float = launch.float;
const ci = launch.ci;
const cf = launch.cf;

fn variantOf(params: []const Param, consts: []const variant_types.NamedConstant) Variant {
    return .{ .function = "_f", .hash = "h", .name = "_f", .num_warps = 4, .params = params, .consts = consts };
}

fn param(name: []const u8, ty: []const u8, div16: bool) Param {
    return .{ .name = name, .type = ty, .div16 = div16, .nospec = false, .assumes16 = div16 };
}

fn nospec(name: []const u8, ty: []const u8, div16: bool) Param {
    return .{ .name = name, .type = ty, .div16 = div16, .nospec = true, .assumes16 = div16 };
}

/// Wants the launch to take the variant, or (`want` not empty) to differ in just that.
fn check(variant: Variant, arguments: []const launch.Arg, constexprs: []const launch.Const, want: []const u8) !void {
    const differences = match.compare(&variant, .{ .function = "_f", .arguments = arguments, .constexprs = constexprs });
    if (want.len == 0) return testing.expectEqual(@as(usize, 0), differences.count);
    try testing.expectEqual(@as(usize, 1), differences.count);
    var buffer: [256]u8 = undefined;
    var writer: std.Io.Writer = .fixed(&buffer);
    try differences.items()[0].write(&writer);
    try testing.expectEqualStrings(want, writer.buffered());
}

test "match: an i32 with a param" {
    const any = variantOf(&.{param("W", "i32", false)}, &.{});
    const div16 = variantOf(&.{param("W", "i32", true)}, &.{});
    const wide = variantOf(&.{param("W", "i64", false)}, &.{});
    try check(any, &.{int("W", 2)}, &.{}, "");
    try check(any, &.{int("W", -1)}, &.{}, "");
    try check(any, &.{int("W", 1)}, &.{}, "W is any there, 1 (one) here");
    try check(any, &.{int("W", 16)}, &.{}, "W is any there, 16 (div16) here");
    try check(any, &.{int("W", 0)}, &.{}, "W is any there, 0 (div16) here");
    try check(div16, &.{int("W", 32)}, &.{}, "");
    try check(div16, &.{int("W", 0)}, &.{}, "");
    try check(div16, &.{int("W", -16)}, &.{}, "");
    try check(div16, &.{int("W", 17)}, &.{}, "W is div16 there, 17 (any) here");
    try check(div16, &.{int("W", 1)}, &.{}, "W is div16 there, 1 (one) here");
    try check(wide, &.{int("W", 2)}, &.{}, "W is i64 there, i32 here");
}

test "match: an i32 that is not specialized" {
    const generic = variantOf(&.{nospec("W", "i32", false)}, &.{});
    for ([_]i32{ 1, 2, 16, 0, -16 }) |value| try check(generic, &.{int("W", value)}, &.{}, "");
    // Code for a multiple of 16 is no code for every value, whatever the entry claims.
    const claims = variantOf(&.{nospec("W", "i32", true)}, &.{});
    try check(claims, &.{int("W", 16)}, &.{}, "W is div16 though not specialized there, 16 (div16) here");
}

test "match: an i32 that was folded" {
    const folded = variantOf(&.{}, &.{.{ .name = "W", .value = .{ .int = 1 } }});
    const other = variantOf(&.{}, &.{.{ .name = "W", .value = .{ .int = 2 } }});
    const absent = variantOf(&.{}, &.{});
    try check(folded, &.{int("W", 1)}, &.{}, "");
    try check(folded, &.{int("W", 2)}, &.{}, "W is 1 (folded) there, 2 (any) here");
    try check(folded, &.{int("W", 16)}, &.{}, "W is 1 (folded) there, 16 (div16) here");
    try check(other, &.{int("W", 2)}, &.{}, "no param W there");
    try check(absent, &.{int("W", 1)}, &.{}, "no param W there");
    // Only an i32 folds.
    try check(folded, &.{word("W", 1)}, &.{}, "no param W there");
}

test "match: a pointer" {
    const aligned = variantOf(&.{param("X", "*bf16", true)}, &.{});
    const unaligned = variantOf(&.{param("X", "*bf16", false)}, &.{});
    const generic = variantOf(&.{nospec("X", "*bf16", false)}, &.{});
    try check(aligned, &.{ptr("X", "*bf16", 0x100)}, &.{}, "");
    try check(aligned, &.{ptr("X", "*bf16", 0x108)}, &.{}, "X is aligned there, unaligned here");
    try check(aligned, &.{ptr("X", "*fp32", 0x100)}, &.{}, "X is *bf16 there, *fp32 here");
    try check(unaligned, &.{ptr("X", "*bf16", 0x104)}, &.{}, "");
    try check(unaligned, &.{ptr("X", "*bf16", 0x100)}, &.{}, "X is unaligned there, aligned here");
    // nospec plays no part for a pointer.
    try check(generic, &.{ptr("X", "*bf16", 0x100)}, &.{}, "X is unaligned there, aligned here");
    try check(generic, &.{ptr("X", "*bf16", 0x101)}, &.{}, "");
}

test "match: a u64 and an f32" {
    const any = variantOf(&.{param("S", "u64", false)}, &.{});
    const div16 = variantOf(&.{param("S", "u64", true)}, &.{});
    const eps = variantOf(&.{param("eps", "fp32", false)}, &.{});
    try check(any, &.{word("S", 1)}, &.{}, "");
    try check(any, &.{word("S", 1 << 63)}, &.{}, "S is any there, 9223372036854775808 (div16) here");
    try check(div16, &.{word("S", 1 << 63)}, &.{}, "");
    try check(div16, &.{word("S", 1)}, &.{}, "S is div16 there, 1 (any) here");
    try check(any, &.{int("S", 3)}, &.{}, "S is u64 there, i32 here");
    try check(eps, &.{float("eps", 1e-6)}, &.{}, "");
    try check(any, &.{float("S", 1)}, &.{}, "S is u64 there, fp32 here");
}

test "match: constexprs" {
    const variant = variantOf(&.{}, &.{
        .{ .name = "D", .value = .{ .int = 64 } },
        .{ .name = "SCALE", .value = .{ .f32 = 0 } },
        .{ .name = "MASK", .value = .none },
    });
    try check(variant, &.{}, &.{}, "");
    try check(variant, &.{}, &.{ci("D", 64)}, "");
    try check(variant, &.{}, &.{ ci("D", 64), cf("SCALE", 0.0) }, "");
    try check(variant, &.{}, &.{ci("D", 65)}, "constexpr D is 64 there, 65 here");
    try check(variant, &.{}, &.{cf("D", 64)}, "constexpr D is 64 there, 6.4e1 here");
    // The bits count: 0.0 and -0.0 compile apart.
    try check(variant, &.{}, &.{cf("SCALE", -0.0)}, "constexpr SCALE is 0e0 there, -0e0 here");
    try check(variant, &.{}, &.{ci("SCALE", 0)}, "constexpr SCALE is 0e0 there, 0 here");
    try check(variant, &.{}, &.{ci("MASK", 0)}, "constexpr MASK is None there, 0 here");
    try check(variant, &.{}, &.{ci("E", 1)}, "no constexpr E there");
}

test "match: arguments and params that have no counterpart" {
    const variant = variantOf(&.{ param("X", "*bf16", true), param("N", "i32", false) }, &.{});
    try check(variant, &.{ int("N", 2), ptr("X", "*bf16", 16) }, &.{}, "");
    try check(variant, &.{ptr("X", "*bf16", 16)}, &.{}, "N is a param there, not given here");
    try check(variant, &.{ ptr("X", "*bf16", 16), int("N", 2), int("M", 2) }, &.{}, "no param M there");
}

test "match: the first entry in file order wins" {
    var arena: std.heap.ArenaAllocator = .init(testing.allocator);
    defer arena.deinit();
    var variants = [_]Variant{
        variantOf(&.{param("W", "i32", true)}, &.{}),
        variantOf(&.{nospec("W", "i32", false)}, &.{}),
        variantOf(&.{param("W", "i32", false)}, &.{}),
        variantOf(&.{param("W", "i32", false)}, &.{}),
    };
    variants[3].function = "_g";
    const set: variant_types.Set = try .init(arena.allocator(), &variants);
    try testing.expectEqual(&variants[0], match.exact(&set, .{ .function = "_f", .arguments = &.{int("W", 16)}, .constexprs = &.{} }).?);
    try testing.expectEqual(&variants[1], match.exact(&set, .{ .function = "_f", .arguments = &.{int("W", 2)}, .constexprs = &.{} }).?);
    try testing.expectEqual(&variants[3], match.exact(&set, .{ .function = "_g", .arguments = &.{int("W", 2)}, .constexprs = &.{} }).?);
    try testing.expect(match.exact(&set, .{ .function = "_g", .arguments = &.{int("W", 1)}, .constexprs = &.{} }) == null);
    try testing.expect(match.exact(&set, .{ .function = "_h", .arguments = &.{}, .constexprs = &.{} }) == null);
}

test "match: the nearest variant differs least, and says in what" {
    var arena: std.heap.ArenaAllocator = .init(testing.allocator);
    defer arena.deinit();
    const consts = [_]variant_types.NamedConstant{.{ .name = "D", .value = .{ .int = 64 } }};
    const variants = [_]Variant{
        variantOf(&.{ param("X", "*bf16", false), param("W", "i32", true) }, &consts),
        variantOf(&.{ param("X", "*bf16", true), param("W", "i32", true) }, &consts),
    };
    const set: variant_types.Set = try .init(arena.allocator(), &variants);
    const request: match.Request = .{ .function = "_f", .arguments = &.{ ptr("X", "*bf16", 16), int("W", 2) }, .constexprs = &.{ci("D", 64)} };
    const near = match.nearest(&set, request).?;
    try testing.expectEqual(&variants[1], near.variant);
    try testing.expectEqual(@as(usize, 1), near.differences.count);
    try testing.expect(match.nearest(&set, .{ .function = "_g", .arguments = &.{}, .constexprs = &.{} }) == null);
}
