//! What `capture --values` wrote: launches that were made through Triton, and the bytes of their buffers before and after.
//! build_capture/capture/gpu/values.py writes it. Nothing in the files is trusted.

const std = @import("std");
const set = @import("set");

/// Larger lists are refused, in bytes.
pub const list_bytes_max = 64 << 20;
/// No device has more memory.
const buffer_bytes_max = 1 << 40;

/// The list: `values.json`.
pub const Values = struct {
    /// What the launches were made on: `sm_90`.
    target: []const u8,
    launches: []const Launch,
};

/// One launch.
pub const Launch = struct {
    @"fn": []const u8,
    grid: [3]u32,
    num_warps: ?u32,
    num_stages: ?u32,
    arguments: []const Argument,
    constexprs: []const Constexpr,
    buffers: []const Buffer,
};

/// A runtime argument: a pointer into a buffer, an int, or the bits of a float, by its type.
pub const Argument = struct {
    name: []const u8,
    type: []const u8,
    buffer: ?u32 = null,
    offset: u64 = 0,
    value: ?i128 = null,
    bits: ?u32 = null,

    /// The argument as a launch passes it; `addresses` are the buffers'. Null where no launch in Zig can.
    pub fn toLaunch(argument: Argument, addresses: []const u64) ?set.Arg {
        const eql = std.mem.eql;
        if (std.mem.startsWith(u8, argument.type, "*")) {
            return set.ptr(argument.name, argument.type, addresses[argument.buffer orelse return null] + argument.offset);
        }
        if (eql(u8, argument.type, "fp32")) return set.float(argument.name, @bitCast(argument.bits orelse return null));
        const value = argument.value orelse return null;
        if (eql(u8, argument.type, "i32")) return set.int(argument.name, std.math.cast(i32, value) orelse return null);
        if (eql(u8, argument.type, "u64")) return set.word(argument.name, std.math.cast(u64, value) orelse return null);
        return null;
    }
};

/// A constexpr: an int, or the bits of a float.
pub const Constexpr = struct {
    name: []const u8,
    int: ?i64 = null,
    f32: ?u32 = null,

    /// The constexpr as a launch names it.
    pub fn toLaunch(constexpr: Constexpr) set.Const {
        return .{ .name = constexpr.name, .int = constexpr.int, .f32 = if (constexpr.f32) |bits| @bitCast(bits) else null };
    }
};

/// A piece of device memory, 256-byte aligned.
pub const Buffer = struct {
    bytes: u64,
    /// Where `values.bin` has its bytes before the launch; null for zeros.
    before: ?u64,
    /// Where it has those after the launch; null where they are not compared.
    after: ?u64,
};

/// What was wrong with the files.
pub const Diagnostic = struct { message: []const u8 = "" };

/// The list in a text; `blob_bytes` is the size of `values.bin`. It lives in the arena, as does the diagnostic's message.
pub fn parse(arena: std.mem.Allocator, text: []const u8, blob_bytes: u64, diagnostic: *Diagnostic) error{ InvalidValues, OutOfMemory }!Values {
    if (text.len > list_bytes_max) return fail(arena, diagnostic, "it has {d} bytes; expected at most {d}", .{ text.len, list_bytes_max });
    const values = std.json.parseFromSliceLeaky(Values, arena, text, .{ .ignore_unknown_fields = true }) catch |failure| switch (failure) {
        error.OutOfMemory => return error.OutOfMemory,
        else => return fail(arena, diagnostic, "it is no list of launches ({t})", .{failure}),
    };
    if (values.launches.len == 0) return fail(arena, diagnostic, "it lists no launch", .{});
    for (values.launches, 0..) |launch, index| {
        const places = .{ index, launch.@"fn" };
        for (launch.buffers) |buffer| {
            if (buffer.bytes > buffer_bytes_max) return fail(arena, diagnostic, "launches[{d}] ({s}): a buffer has {d} bytes", places ++ .{buffer.bytes});
            for ([_]?u64{ buffer.before, buffer.after }) |place| {
                if (isInside(place orelse continue, buffer.bytes, blob_bytes)) continue;
                return fail(arena, diagnostic, "launches[{d}] ({s}): a buffer's bytes are not in values.bin", places);
            }
        }
        for (launch.arguments) |argument| {
            if (argument.buffer) |number| {
                if (number >= launch.buffers.len or argument.offset > launch.buffers[number].bytes) {
                    return fail(arena, diagnostic, "launches[{d}] ({s}): `{s}` points out of its buffer", places ++ .{argument.name});
                }
            }
            const addresses = try arena.alloc(u64, launch.buffers.len);
            @memset(addresses, 0);
            if (argument.toLaunch(addresses) != null) continue;
            return fail(arena, diagnostic, "launches[{d}] ({s}): `{s}` is {s}, which no launch in Zig passes, or lacks its value", places ++ .{ argument.name, argument.type });
        }
    }
    return values;
}

fn isInside(place: u64, bytes: u64, blob_bytes: u64) bool {
    return place <= blob_bytes and bytes <= blob_bytes - place;
}

fn fail(arena: std.mem.Allocator, diagnostic: *Diagnostic, comptime format: []const u8, values: anytype) error{ InvalidValues, OutOfMemory } {
    diagnostic.message = try std.fmt.allocPrint(arena, format, values);
    return error.InvalidValues;
}

test "values: a list, and what is wrong with others" {
    var arena: std.heap.ArenaAllocator = .init(std.testing.allocator);
    defer arena.deinit();
    const good =
        \\{"target": "sm_90", "launches": [{"fn": "_f", "identity": "x", "grid": [1, 2, 3], "num_warps": 4, "num_stages": null,
        \\ "arguments": [{"name": "X", "type": "*bf16", "buffer": 0, "offset": 2}, {"name": "N", "type": "i32", "value": -3},
        \\  {"name": "S", "type": "u64", "value": 18446744073709551615}, {"name": "eps", "type": "fp32", "bits": 1065353216}],
        \\ "constexprs": [{"name": "D", "int": 64}, {"name": "SCALE", "f32": 1056964608}],
        \\ "buffers": [{"bytes": 8, "before": null, "after": 2}]}]}
    ;
    var diagnostic: Diagnostic = .{};
    const values = try parse(arena.allocator(), good, 10, &diagnostic);
    const launch = values.launches[0];
    try std.testing.expectEqual(set.ptr("X", "*bf16", 258).value.ptr.addr, launch.arguments[0].toLaunch(&.{256}).?.value.ptr.addr);
    try std.testing.expectEqual(-3, launch.arguments[1].toLaunch(&.{}).?.value.i32);
    try std.testing.expectEqual(std.math.maxInt(u64), launch.arguments[2].toLaunch(&.{}).?.value.u64);
    try std.testing.expectEqual(1.0, launch.arguments[3].toLaunch(&.{}).?.value.f32);
    try std.testing.expectEqual(64, launch.constexprs[0].toLaunch().int);
    try std.testing.expectEqual(0.5, launch.constexprs[1].toLaunch().f32);

    const cases = [_]struct { part: []const u8, replacement: []const u8, want: []const u8 }{
        .{ .part = "\"after\": 2", .replacement = "\"after\": 3", .want = "launches[0] (_f): a buffer's bytes are not in values.bin" },
        .{ .part = "\"before\": null", .replacement = "\"before\": 18446744073709551615", .want = "launches[0] (_f): a buffer's bytes are not in values.bin" },
        .{ .part = "\"buffer\": 0", .replacement = "\"buffer\": 1", .want = "launches[0] (_f): `X` points out of its buffer" },
        .{ .part = "\"offset\": 2", .replacement = "\"offset\": 9", .want = "launches[0] (_f): `X` points out of its buffer" },
        .{ .part = "\"value\": -3", .replacement = "\"value\": 2147483648", .want = "launches[0] (_f): `N` is i32, which no launch in Zig passes, or lacks its value" },
        .{ .part = "\"value\": -3", .replacement = "\"buffer\": 0", .want = "launches[0] (_f): `N` is i32, which no launch in Zig passes, or lacks its value" },
        .{ .part = "{\"bytes\": 8, \"before\": null, \"after\": 2}", .replacement = "{\"bytes\": 1099511627777, \"before\": null, \"after\": null}", .want = "launches[0] (_f): a buffer has 1099511627777 bytes" },
        .{ .part = "\"type\": \"i32\"", .replacement = "\"type\": \"u1\"", .want = "launches[0] (_f): `N` is u1, which no launch in Zig passes, or lacks its value" },
        .{ .part = "\"buffer\": 0, ", .replacement = "", .want = "launches[0] (_f): `X` is *bf16, which no launch in Zig passes, or lacks its value" },
        .{ .part = "[1, 2, 3]", .replacement = "[1, 2]", .want = "it is no list of launches (UnexpectedToken)" },
        .{ .part = "[{\"fn\"", .replacement = "[], \"more\": [{\"fn\"", .want = "it lists no launch" },
    };
    for (cases) |case| {
        const broken = try std.mem.replaceOwned(u8, arena.allocator(), good, case.part, case.replacement);
        try std.testing.expect(!std.mem.eql(u8, good, broken));
        try std.testing.expectError(error.InvalidValues, parse(arena.allocator(), broken, 10, &diagnostic));
        try std.testing.expectEqualStrings(case.want, diagnostic.message);
    }
}
