//! Tests of reading cubins: good ones, wrong ones, and bytes that no compiler wrote.

const std = @import("std");
const elf = @import("elf.zig");
const fake_cubin = @import("fake_cubin.zig");
const testing = std.testing;

fn checkRefused(bytes: []const u8, want: elf.Error) !void {
    try testing.expectError(want, elf.Cubin.init(bytes));
}

test "elf: a cubin says its SM, its functions and their parameters" {
    var arena: std.heap.ArenaAllocator = .init(testing.allocator);
    defer arena.deinit();
    for ([_]u8{ 80, 89, 90, 100, 120, 121 }) |sm| {
        const cubin: elf.Cubin = try .init(try fake_cubin.bytes(arena.allocator(), .{ .sm = sm, .entry = "_copy", .parameters = 5 }));
        try testing.expectEqual(sm, cubin.sm());
        try testing.expect(try cubin.defines("_copy"));
        for ([_][]const u8{ "", "_cop", "_copy2", ".nv.info._copy" }) |name| try testing.expect(!try cubin.defines(name));
        const info = (try cubin.info("_copy")).?;
        try testing.expectEqual(5, try info.parameterCount());
        try testing.expectEqual([3]u32{ 128, 1, 1 }, try info.dimensions(.block));
        try testing.expectEqual(null, try info.dimensions(.cluster));
        var places: [6]?elf.EntryParameter = undefined;
        try info.writeParameters(&places);
        try testing.expectEqual(elf.EntryParameter{ .offset = 32, .bytes = 8 }, places[4]);
        try testing.expectEqual(null, places[5]);
        try testing.expectEqual(null, try cubin.info("_cop"));
    }
}

test "elf: other files and other machines are told apart" {
    var arena: std.heap.ArenaAllocator = .init(testing.allocator);
    defer arena.deinit();
    try checkRefused("", error.NotElf);
    try checkRefused("MZ and more", error.NotElf);
    try checkRefused("\x7fELF", error.Damaged);
    var small: [100]u8 = @splat(1);
    small[0..4].* = "\x7fELF".*;
    try checkRefused(&small, error.NotCuda);
    try checkRefused(try fake_cubin.bytes(arena.allocator(), .{ .entry = "_copy", .parameters = 1, .machine = 62 }), error.NotCuda);
}

test "elf: a cubin cut short anywhere is refused" {
    var arena: std.heap.ArenaAllocator = .init(testing.allocator);
    defer arena.deinit();
    const whole = try fake_cubin.bytes(arena.allocator(), .{ .entry = "_copy", .parameters = 3 });
    for (0..whole.len) |length| {
        // Exact allocations, so that a read past the end is seen.
        const short = try testing.allocator.dupe(u8, whole[0..length]);
        defer testing.allocator.free(short);
        try checkRefused(short, if (length < 4) error.NotElf else error.Damaged);
    }
}

test "elf: a symbol behind the one that is looked for is read too" {
    var arena: std.heap.ArenaAllocator = .init(testing.allocator);
    defer arena.deinit();
    const whole = try fake_cubin.bytes(arena.allocator(), .{ .entry = "_copy", .parameters = 1 });
    const changed = try arena.allocator().dupe(u8, whole);
    // A function of section 3; the symbol before it is empty.
    const kind = std.mem.find(u8, changed, &.{ 0x12, 0, 3, 0 }).?;
    const bytes = @sizeOf(std.elf.Elf64_Sym);
    const symbol = changed[kind - 4 ..][0..bytes];
    @memcpy(changed[kind - 4 - bytes ..][0..bytes], symbol);
    try look(changed);
    @memset(symbol[0..4], 0xff);
    try testing.expectError(error.Damaged, look(changed));
}

test "elf: random bytes in a cubin end in facts or in an error" {
    var arena: std.heap.ArenaAllocator = .init(testing.allocator);
    defer arena.deinit();
    const whole = try fake_cubin.bytes(arena.allocator(), .{ .entry = "_copy", .parameters = 3 });
    var prng: std.Random.DefaultPrng = .init(0);
    const random = prng.random();
    const changed = try testing.allocator.dupe(u8, whole);
    defer testing.allocator.free(changed);
    var refused: u32 = 0;
    for (0..2000) |_| {
        @memcpy(changed, whole);
        for (0..random.intRangeAtMost(usize, 1, 8)) |_| changed[random.uintLessThan(usize, changed.len)] = random.int(u8);
        if (look(changed)) |_| {} else |_| refused += 1;
    }
    try testing.expect(refused > 200 and refused < 2000);
}

fn look(bytes: []const u8) elf.Error!void {
    const cubin: elf.Cubin = try .init(bytes);
    _ = cubin.sm();
    _ = try cubin.defines("_copy");
    const info = try cubin.info("_copy") orelse return;
    _ = try info.parameterCount();
}
