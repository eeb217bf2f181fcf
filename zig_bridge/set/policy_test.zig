//! The table of the contract: sets and launches in which each rule, each policy and each disagreement between the engines'
//! exact rule and Triton appears, with a launch that is served and one that is not.

const std = @import("std");
const launch = @import("launch.zig");
const match = @import("match.zig");
const variant_types = @import("variant.zig");
const Param = variant_types.Param;
const Variant = variant_types.Variant;
const ptr = launch.ptr;
const int = launch.int;
const word = launch.word;
const float = launch.float;
const ci = launch.ci;
const cf = launch.cf;

/// A set, a launch, and what each policy gives: the variant's place in the file, with `~` before one that is a fallback;
/// `-` where it is missing; `a?b` where the variants a and b make it ambiguous. Then what file order alone decides.
const Row = struct {
    rule: []const u8,
    set: []const Variant,
    arguments: []const launch.Arg = &.{},
    constexprs: []const launch.Const = &.{},
    options: launch.Launch = .{},
    exact: []const u8,
    pinned: []const u8,
    fallback: []const u8,
    ambiguity: []const u8 = "",
};

fn param(ty: []const u8, hints: Hints) Param {
    return .{ .name = "X", .type = ty, .div16 = hints.div16, .nospec = hints.nospec, .assumes16 = hints.div16 };
}

fn variantOf(params: []const Param, consts: []const variant_types.NamedConstant) Variant {
    return .{ .function = "_f", .hash = "h", .name = "_f", .num_warps = 4, .params = params, .consts = consts };
}

fn ofOne(comptime one: Param) Variant {
    return variantOf(&.{one}, &.{});
}

fn ofConst(comptime name: []const u8, comptime value: variant_types.Constant) Variant {
    return variantOf(&.{}, &.{.{ .name = name, .value = value }});
}

fn withOptions(num_warps: u32, num_stages: u32) Variant {
    return .{ .function = "_f", .hash = "h", .name = "_f", .num_warps = num_warps, .num_stages = num_stages, .params = &.{}, .consts = &.{} };
}

fn withHash(variant: Variant, hash: []const u8) Variant {
    var changed = variant;
    changed.hash = hash;
    return changed;
}

fn aliasOf(variant: Variant, comptime params: []const Param) Variant {
    var changed = variant;
    changed.params = params;
    changed.alias = true;
    return changed;
}

const any = ofOne(param("i32", .{}));
const div16 = ofOne(param("i32", .{ .div16 = true }));
const nospec = ofOne(param("i32", .{ .nospec = true }));
const folded = ofConst("X", .{ .int = 1 });
const aligned = ofOne(param("*bf16", .{ .div16 = true }));
const unaligned = ofOne(param("*bf16", .{}));

const arguments_table = [_]Row{
    .{ .rule = "an i32 of class any", .set = &.{any}, .arguments = &.{int("X", 2)}, .exact = "0", .pinned = "0", .fallback = "0" },
    .{ .rule = "any is no 1", .set = &.{any}, .arguments = &.{int("X", 1)}, .exact = "-", .pinned = "-", .fallback = "~0" },
    .{ .rule = "any is no multiple", .set = &.{any}, .arguments = &.{int("X", 16)}, .exact = "-", .pinned = "-", .fallback = "~0" },
    .{ .rule = "an i32 of class div16", .set = &.{div16}, .arguments = &.{int("X", 16)}, .exact = "0", .pinned = "0", .fallback = "0" },
    .{ .rule = "0 is a multiple", .set = &.{div16}, .arguments = &.{int("X", 0)}, .exact = "0", .pinned = "0", .fallback = "0" },
    .{ .rule = "-16 is a multiple", .set = &.{div16}, .arguments = &.{int("X", -16)}, .exact = "0", .pinned = "0", .fallback = "0" },
    .{ .rule = "17 is no multiple", .set = &.{div16}, .arguments = &.{int("X", 17)}, .exact = "-", .pinned = "-", .fallback = "-" },
    .{ .rule = "1 is no multiple", .set = &.{div16}, .arguments = &.{int("X", 1)}, .exact = "-", .pinned = "-", .fallback = "-" },
    .{ .rule = "a folded 1", .set = &.{folded}, .arguments = &.{int("X", 1)}, .exact = "0", .pinned = "0", .fallback = "0" },
    .{ .rule = "a folded 1 serves no 2", .set = &.{folded}, .arguments = &.{int("X", 2)}, .exact = "-", .pinned = "-", .fallback = "-" },
    .{ .rule = "only 1 folds", .set = &.{ofConst("X", .{ .int = 2 })}, .arguments = &.{int("X", 2)}, .exact = "-", .pinned = "-", .fallback = "-" },
    .{ .rule = "only an i32 folds", .set = &.{folded}, .arguments = &.{word("X", 1)}, .exact = "-", .pinned = "-", .fallback = "-" },
    .{ .rule = "nospec serves 1", .set = &.{nospec}, .arguments = &.{int("X", 1)}, .exact = "0", .pinned = "0", .fallback = "0" },
    .{ .rule = "nospec serves 16", .set = &.{nospec}, .arguments = &.{int("X", 16)}, .exact = "0", .pinned = "0", .fallback = "0" },
    .{ .rule = "nospec with div16 fits none", .set = &.{ofOne(param("i32", .{ .nospec = true, .div16 = true }))}, .arguments = &.{int("X", 17)}, .exact = "-", .pinned = "-", .fallback = "-" },
    .{ .rule = "another width", .set = &.{ofOne(param("i64", .{}))}, .arguments = &.{int("X", 2)}, .exact = "-", .pinned = "-", .fallback = "-" },
    .{ .rule = "an aligned pointer", .set = &.{aligned}, .arguments = &.{ptr("X", "*bf16", 32)}, .exact = "0", .pinned = "0", .fallback = "0" },
    .{ .rule = "aligned code, unaligned address", .set = &.{aligned}, .arguments = &.{ptr("X", "*bf16", 34)}, .exact = "-", .pinned = "-", .fallback = "-" },
    .{ .rule = "an unaligned pointer", .set = &.{unaligned}, .arguments = &.{ptr("X", "*bf16", 34)}, .exact = "0", .pinned = "0", .fallback = "0" },
    .{ .rule = "unaligned code, aligned address", .set = &.{unaligned}, .arguments = &.{ptr("X", "*bf16", 32)}, .exact = "-", .pinned = "-", .fallback = "~0" },
    .{ .rule = "another pointee", .set = &.{aligned}, .arguments = &.{ptr("X", "*fp16", 32)}, .exact = "-", .pinned = "-", .fallback = "-" },
    .{ .rule = "nospec plays no part for a pointer", .set = &.{ofOne(param("*bf16", .{ .nospec = true }))}, .arguments = &.{ptr("X", "*bf16", 32)}, .exact = "-", .pinned = "-", .fallback = "~0" },
    .{ .rule = "a u64 of class any", .set = &.{ofOne(param("u64", .{}))}, .arguments = &.{word("X", 1)}, .exact = "0", .pinned = "0", .fallback = "0" },
    .{ .rule = "a u64 of class div16", .set = &.{ofOne(param("u64", .{ .div16 = true }))}, .arguments = &.{word("X", 1 << 63)}, .exact = "0", .pinned = "0", .fallback = "0" },
    .{ .rule = "a u64 out of class", .set = &.{ofOne(param("u64", .{ .div16 = true }))}, .arguments = &.{word("X", 1)}, .exact = "-", .pinned = "-", .fallback = "-" },
    .{ .rule = "a float", .set = &.{ofOne(param("fp32", .{}))}, .arguments = &.{float("X", 16)}, .exact = "0", .pinned = "0", .fallback = "0" },
    .{ .rule = "a float of another type", .set = &.{ofOne(param("fp64", .{}))}, .arguments = &.{float("X", 16)}, .exact = "-", .pinned = "-", .fallback = "-" },
    .{ .rule = "an argument too many", .set = &.{any}, .arguments = &.{ int("X", 2), int("Y", 2) }, .exact = "-", .pinned = "-", .fallback = "-" },
    .{ .rule = "a param that is not given", .set = &.{any}, .exact = "-", .pinned = "-", .fallback = "-" },
    .{ .rule = "no variant at all", .set = &.{}, .exact = "-", .pinned = "-", .fallback = "-" },
};

const constexprs_table = [_]Row{
    .{ .rule = "an int", .set = &.{ofConst("D", .{ .int = 64 })}, .constexprs = &.{ci("D", 64)}, .exact = "0", .pinned = "0", .fallback = "0" },
    .{ .rule = "another int", .set = &.{ofConst("D", .{ .int = 64 })}, .constexprs = &.{ci("D", 65)}, .exact = "-", .pinned = "-", .fallback = "-" },
    .{ .rule = "one that is not named is ignored", .set = &.{ofConst("D", .{ .int = 64 })}, .exact = "0", .pinned = "0", .fallback = "0" },
    .{ .rule = "one that is not held", .set = &.{ofConst("D", .{ .int = 64 })}, .constexprs = &.{ci("E", 64)}, .exact = "-", .pinned = "-", .fallback = "-" },
    .{ .rule = "a float by its bits", .set = &.{ofConst("S", .{ .f32 = 0 })}, .constexprs = &.{cf("S", 0.0)}, .exact = "0", .pinned = "0", .fallback = "0" },
    .{ .rule = "-0.0 is other bits", .set = &.{ofConst("S", .{ .f32 = 0 })}, .constexprs = &.{cf("S", -0.0)}, .exact = "-", .pinned = "-", .fallback = "-" },
    .{ .rule = "an int is no float", .set = &.{ofConst("S", .{ .f32 = 0 })}, .constexprs = &.{ci("S", 0)}, .exact = "-", .pinned = "-", .fallback = "-" },
    .{ .rule = "None is no value", .set = &.{ofConst("M", .none)}, .constexprs = &.{ci("M", 0)}, .exact = "-", .pinned = "-", .fallback = "-" },
};

const four_two = withOptions(4, 2);
const policies_table = [_]Row{
    .{ .rule = "file order", .set = &.{ nospec, any }, .arguments = &.{int("X", 2)}, .exact = "0", .pinned = "0", .fallback = "0" },
    .{ .rule = "file order, the other way", .set = &.{ div16, any, nospec }, .arguments = &.{int("X", 2)}, .exact = "1", .pinned = "1", .fallback = "1" },
    .{ .rule = "warps apart, unpinned", .set = &.{ four_two, withOptions(8, 2) }, .exact = "0", .pinned = "0?1", .fallback = "0?1", .ambiguity = "num_warps" },
    .{ .rule = "warps apart, pinned", .set = &.{ four_two, withOptions(8, 2) }, .options = .{ .num_warps = 8 }, .exact = "0", .pinned = "1", .fallback = "1" },
    .{ .rule = "warps that no variant has", .set = &.{ four_two, withOptions(8, 2) }, .options = .{ .num_warps = 2 }, .exact = "0", .pinned = "-", .fallback = "-" },
    .{ .rule = "stages apart, warps pinned", .set = &.{ four_two, withOptions(4, 3) }, .options = .{ .num_warps = 4 }, .exact = "0", .pinned = "0?1", .fallback = "0?1", .ambiguity = "num_stages" },
    .{ .rule = "stages apart, pinned", .set = &.{ four_two, withOptions(4, 3) }, .options = .{ .num_stages = 3 }, .exact = "0", .pinned = "1", .fallback = "1" },
    .{ .rule = "stages not recorded match any pin", .set = &.{withOptions(4, 0)}, .options = .{ .num_stages = 7 }, .exact = "0", .pinned = "0", .fallback = "0" },
    .{ .rule = "recorded stages do not", .set = &.{four_two}, .options = .{ .num_stages = 7 }, .exact = "0", .pinned = "-", .fallback = "-" },
    .{ .rule = "the pair that differs", .set = &.{ four_two, withHash(four_two, "g"), withOptions(8, 2) }, .exact = "0", .pinned = "0?2", .fallback = "0?2", .ambiguity = "num_warps" },
    .{ .rule = "fallback to what shares most", .set = &.{ two(.{}, .{}), two(.{ .div16 = true }, .{}) }, .arguments = &.{ ptr("X", "*i8", 16), ptr("Y", "*i8", 16) }, .exact = "-", .pinned = "-", .fallback = "~1" },
    .{ .rule = "fallback in file order among equals", .set = &.{ two(.{}, .{ .div16 = true }), two(.{ .div16 = true }, .{}) }, .arguments = &.{ ptr("X", "*i8", 16), ptr("Y", "*i8", 16) }, .exact = "-", .pinned = "-", .fallback = "~0" },
    .{ .rule = "fallback to a folded 1 before a general int", .set = &.{ pointerAnd(&.{param("i32", .{ .nospec = true })}, &.{}), pointerAnd(&.{}, &.{.{ .name = "X", .value = .{ .int = 1 } }}) }, .arguments = &.{ ptr("Y", "*i8", 16), int("X", 1) }, .exact = "-", .pinned = "-", .fallback = "~1" },
    .{ .rule = "fallback to no more than is kept", .set = &.{two(.{ .div16 = true }, .{})}, .arguments = &.{ ptr("X", "*i8", 4), ptr("Y", "*i8", 16) }, .exact = "-", .pinned = "-", .fallback = "-" },
    .{ .rule = "fallback keeps pins", .set = &.{any}, .arguments = &.{int("X", 16)}, .options = .{ .num_warps = 8 }, .exact = "-", .pinned = "-", .fallback = "-" },
    .{ .rule = "fallback keeps constexprs", .set = &.{ofConst("D", .{ .int = 64 })}, .constexprs = &.{ci("D", 65)}, .exact = "-", .pinned = "-", .fallback = "-" },
};

const Hints = struct { div16: bool = false, nospec: bool = false };

/// A variant with two pointers, X and Y.
fn two(comptime x: Hints, comptime y: Hints) Variant {
    const other: Param = .{ .name = "Y", .type = "*i8", .div16 = y.div16, .nospec = false, .assumes16 = y.div16 };
    return variantOf(&.{ param("*i8", x), other }, &.{});
}

/// A variant with an unaligned pointer Y and what else is given.
fn pointerAnd(comptime params: []const Param, comptime consts: []const variant_types.NamedConstant) Variant {
    const pointer = [_]Param{.{ .name = "Y", .type = "*i8", .div16 = false, .nospec = false, .assumes16 = false }};
    return variantOf(&pointer ++ params, consts);
}

/// A pointer without hints, served when aligned, too.
const aligned_alias = aliasOf(unaligned, &.{.{ .name = "X", .type = "*bf16", .div16 = true, .nospec = false, .assumes16 = false }});
/// An annotated int, which Triton does not fold, served at 1, too.
const nospec_alias = aliasOf(any, &.{.{ .name = "X", .type = "i32", .div16 = false, .nospec = true, .assumes16 = false }});
const flag_none = withHash(ofConst("FLAG", .none), "none");
const flag_three = withHash(ofConst("FLAG", .{ .int = 3 }), "three");

const disagreements_table = [_]Row{
    .{ .rule = "a pointer without hints is refused when aligned", .set = &.{unaligned}, .arguments = &.{ptr("X", "*bf16", 16)}, .exact = "-", .pinned = "-", .fallback = "~0" },
    .{ .rule = "an alias serves it", .set = &.{ unaligned, aligned_alias }, .arguments = &.{ptr("X", "*bf16", 16)}, .exact = "1", .pinned = "1", .fallback = "1" },
    .{ .rule = "beside the variant itself", .set = &.{ unaligned, aligned_alias }, .arguments = &.{ptr("X", "*bf16", 8)}, .exact = "0", .pinned = "0", .fallback = "0" },
    .{ .rule = "an annotated int is refused at 1", .set = &.{ div16, any }, .arguments = &.{int("X", 1)}, .exact = "-", .pinned = "-", .fallback = "~1" },
    .{ .rule = "an alias serves it, after the exact ones", .set = &.{ div16, any, nospec_alias }, .arguments = &.{int("X", 1)}, .exact = "2", .pinned = "2", .fallback = "2" },
    .{ .rule = "which stay first", .set = &.{ div16, any, nospec_alias }, .arguments = &.{int("X", 32)}, .exact = "0", .pinned = "0", .fallback = "0" },
    .{ .rule = "an i64 is no u64", .set = &.{ofOne(param("i64", .{}))}, .arguments = &.{word("X", 1 << 40)}, .exact = "-", .pinned = "-", .fallback = "-" },
    .{ .rule = "a bool is no i32", .set = &.{ofOne(param("u1", .{}))}, .arguments = &.{int("X", 1)}, .exact = "-", .pinned = "-", .fallback = "-" },
    .{ .rule = "too few constexprs named", .set = &.{ flag_none, flag_three }, .exact = "0", .pinned = "0", .fallback = "0", .ambiguity = "FLAG" },
    .{ .rule = "in either file order", .set = &.{ flag_three, flag_none }, .exact = "0", .pinned = "0", .fallback = "0", .ambiguity = "FLAG" },
    .{ .rule = "all constexprs named", .set = &.{ flag_none, flag_three }, .constexprs = &.{ci("FLAG", 3)}, .exact = "1", .pinned = "1", .fallback = "1" },
    .{ .rule = "a string, which no launch can name", .set = &.{ ofText("ieee"), ofText("tf32") }, .exact = "0", .pinned = "0", .fallback = "0", .ambiguity = "MODE" },
    .{ .rule = "a bool beside the int of its value", .set = &.{ ofBool("FLAG"), withHash(ofConst("FLAG", .{ .int = 1 }), "int") }, .constexprs = &.{ci("FLAG", 1)}, .exact = "0", .pinned = "0", .fallback = "0", .ambiguity = "FLAG" },
    .{ .rule = "one specialization, two cubins", .set = &.{ any, withHash(any, "g") }, .arguments = &.{int("X", 2)}, .exact = "0", .pinned = "0", .fallback = "0", .ambiguity = "code" },
    .{ .rule = "a folded int beside a general one", .set = &.{ folded, withHash(nospec, "g") }, .arguments = &.{int("X", 1)}, .exact = "0", .pinned = "0", .fallback = "0" },
};

fn ofText(comptime mode: []const u8) Variant {
    var variant = withHash(variantOf(&.{}, &.{}), mode);
    variant.texts = &.{.{ .name = "MODE", .value = mode }};
    return variant;
}

fn ofBool(comptime name: []const u8) Variant {
    var variant = ofConst(name, .{ .int = 1 });
    variant.kinds = &.{.{ .name = name, .value = "bool" }};
    return variant;
}

fn check(row: Row) !void {
    var arena: std.heap.ArenaAllocator = .init(std.testing.allocator);
    defer arena.deinit();
    const set: variant_types.Set = try .init(arena.allocator(), row.set);
    const request: match.Request = .{ .function = "_f", .arguments = row.arguments, .constexprs = row.constexprs, .options = row.options };
    const wanted = [_][]const u8{ row.exact, row.pinned, row.fallback };
    for (std.enums.values(match.Policy), wanted) |policy, want| {
        var buffer: [32]u8 = undefined;
        const found = try show(&buffer, &set, match.select(&set, request, policy));
        std.testing.expectEqualStrings(want, found) catch |failure| {
            std.debug.print("{s}, under {t}\n", .{ row.rule, policy });
            return failure;
        };
    }
    const ambiguity = if (match.ambiguity(&set, request)) |found| found.what else "";
    std.testing.expectEqualStrings(row.ambiguity, ambiguity) catch |failure| {
        std.debug.print("{s}, what file order decides\n", .{row.rule});
        return failure;
    };
}

fn show(buffer: []u8, set: *const variant_types.Set, selection: match.Selection) ![]const u8 {
    return switch (selection) {
        .exact => |variant| std.fmt.bufPrint(buffer, "{d}", .{placeOf(set, variant)}),
        .fallback => |variant| std.fmt.bufPrint(buffer, "~{d}", .{placeOf(set, variant)}),
        .missing => "-",
        .ambiguous => |pair| std.fmt.bufPrint(buffer, "{d}?{d}", .{ placeOf(set, pair.first), placeOf(set, pair.second) }),
    };
}

fn placeOf(set: *const variant_types.Set, variant: *const Variant) usize {
    return variant - set.variants.ptr;
}

test "policies: arguments" {
    for (arguments_table) |row| try check(row);
}

test "policies: constexprs" {
    for (constexprs_table) |row| try check(row);
}

test "policies: options, file order and fallback" {
    for (policies_table) |row| try check(row);
}

test "policies: where the exact rule and Triton disagree" {
    for (disagreements_table) |row| try check(row);
}
