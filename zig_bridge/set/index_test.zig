//! Tests of `index.zig`: whatever the set and the launch, the index finds what comparing each variant finds.

const std = @import("std");
const launch = @import("launch.zig");
const rule = @import("rule.zig");
const match = @import("match.zig");
const variant_types = @import("variant.zig");
const Variant = variant_types.Variant;
const Random = std.Random;

const names = [_][]const u8{ "A", "B", "C", "D" };
const variant_types_drawn = [_][]const u8{ "i32", "i32", "*i8", "u64", "fp32" };
const sets_count = 1000;
const launches_count = 10;

fn drawVariants(arena: std.mem.Allocator, random: Random) ![]const Variant {
    const variants = try arena.alloc(Variant, random.intRangeAtMost(usize, 1, 6));
    for (variants) |*variant| {
        var params: std.ArrayList(variant_types.Param) = .empty;
        var consts: std.ArrayList(variant_types.NamedConstant) = .empty;
        for (names) |name| switch (random.uintLessThan(u8, 4)) {
            0, 1 => try params.append(arena, .{
                .name = name,
                .type = variant_types_drawn[random.uintLessThan(usize, variant_types_drawn.len)],
                .div16 = random.boolean(),
                .nospec = random.uintLessThan(u8, 3) == 0,
                .assumes16 = false,
            }),
            2 => try consts.append(arena, .{ .name = name, .value = drawConstant(random) }),
            else => {},
        };
        variant.* = .{
            .function = if (random.uintLessThan(u8, 8) == 0) "_g" else "_f",
            .hash = "h",
            .name = "_f",
            .num_warps = 4,
            .params = params.items,
            .consts = consts.items,
        };
    }
    return variants;
}

fn drawConstant(random: Random) variant_types.Constant {
    return switch (random.uintLessThan(u8, 6)) {
        0 => .none,
        1 => .{ .f32 = @intCast(random.uintLessThan(u8, 2)) },
        else => .{ .int = random.uintLessThan(u8, 3) },
    };
}

/// A launch that has much of a variant, so that it often fits, and now and then names something twice.
fn drawRequest(arena: std.mem.Allocator, random: Random, variant: *const Variant) !match.Request {
    var arguments: std.ArrayList(launch.Arg) = .empty;
    var constexprs: std.ArrayList(launch.Const) = .empty;
    for (variant.params) |param| {
        try arguments.append(arena, drawArgument(random, param.name, param.type));
        if (random.uintLessThan(u8, 16) == 0) try arguments.append(arena, drawArgument(random, param.name, param.type));
    }
    for (variant.consts) |constant| switch (random.uintLessThan(u8, 4)) {
        0 => try arguments.append(arena, launch.int(constant.name, random.uintLessThan(u8, 3))),
        1, 2 => try constexprs.append(arena, switch (constant.value) {
            .int => |value| launch.ci(constant.name, value),
            .f32 => |bits| launch.cf(constant.name, @bitCast(bits)),
            .none => launch.ci(constant.name, 0),
        }),
        else => {},
    };
    random.shuffle(launch.Arg, arguments.items);
    random.shuffle(launch.Const, constexprs.items);
    return .{ .function = variant.function, .arguments = arguments.items, .constexprs = constexprs.items };
}

fn drawArgument(random: Random, name: []const u8, ty: []const u8) launch.Arg {
    const values = [_]i32{ 1, 2, 16, -16, 0 };
    const value = values[random.uintLessThan(usize, values.len)];
    if (std.mem.eql(u8, ty, "i32")) return launch.int(name, value);
    if (std.mem.eql(u8, ty, "fp32")) return launch.float(name, @floatFromInt(value));
    const word: u64 = @bitCast(@as(i64, value));
    return if (std.mem.eql(u8, ty, "u64")) launch.word(name, word) else launch.ptr(name, ty, word);
}

test "index: it finds what a comparison with each variant finds" {
    var prng: Random.DefaultPrng = .init(0x5eed);
    var found_count: usize = 0;
    for (0..sets_count) |_| {
        var arena: std.heap.ArenaAllocator = .init(std.testing.allocator);
        defer arena.deinit();
        const variants = try drawVariants(arena.allocator(), prng.random());
        const set: variant_types.Set = try .init(arena.allocator(), variants);
        for (0..launches_count) |_| {
            const model = &variants[prng.random().uintLessThan(usize, variants.len)];
            const request = try drawRequest(arena.allocator(), prng.random(), model);
            var wanted: [8]bool = @splat(false);
            for (variants, 0..) |*variant, place| {
                wanted[place] = std.mem.eql(u8, variant.function, request.function) and rule.fits(variant, request);
            }
            var found: [8]bool = @splat(false);
            var fitting = set.index.fitting(request);
            while (fitting.next()) |variant| {
                try std.testing.expect(!found[variant - variants.ptr]);
                found[variant - variants.ptr] = true;
                found_count += 1;
            }
            try std.testing.expectEqual(wanted, found);
            const first: ?*const Variant = if (std.mem.indexOfScalar(bool, &wanted, true)) |place| &variants[place] else null;
            try std.testing.expectEqual(first, match.exact(&set, request));
        }
    }
    // A test in which nothing fits, or everything, would tell nothing.
    try std.testing.expect(found_count > sets_count * launches_count / 5 and found_count < sets_count * launches_count);
}

test "index: a launch with more arguments than are hashed" {
    var arena: std.heap.ArenaAllocator = .init(std.testing.allocator);
    defer arena.deinit();
    var params: [70]variant_types.Param = undefined;
    var arguments: [70]launch.Arg = undefined;
    for (&params, &arguments, 0..) |*param, *argument, place| {
        const name = try std.fmt.allocPrint(arena.allocator(), "P{d}", .{place});
        param.* = .{ .name = name, .type = "i32", .div16 = false, .nospec = false, .assumes16 = false };
        argument.* = launch.int(name, 2);
    }
    const variants = [_]Variant{.{ .function = "_f", .hash = "h", .name = "_f", .num_warps = 4, .params = &params, .consts = &.{} }};
    const set: variant_types.Set = try .init(arena.allocator(), &variants);
    const request: match.Request = .{ .function = "_f", .arguments = &arguments, .constexprs = &.{} };
    try std.testing.expectEqual(&variants[0], match.exact(&set, request).?);
    arguments[69] = launch.int("P69", 16);
    try std.testing.expectEqual(@as(?*const Variant, null), match.exact(&set, request));
}
