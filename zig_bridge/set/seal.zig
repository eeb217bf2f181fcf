//! The seal of an entry: the SHA-256 of its canonical text, so that a change by hand is noticed.

const std = @import("std");
const variant_types = @import("variant.zig");
const Variant = variant_types.Variant;
const sha256 = @import("sha256.zig");

/// The seal of a variant, in lower-case hexadecimal.
pub fn of(variant: *const Variant) sha256.Hex {
    var buffer: [512]u8 = undefined;
    var hashing: std.Io.Writer.Hashing(sha256.Hasher) = .init(&buffer);
    writeCanonical(variant, &hashing.writer) catch unreachable; // A hash takes every byte.
    hashing.writer.flush() catch unreachable;
    return sha256.finish(&hashing.hasher);
}

/// Writes all that an entry says but its seal, one fact a line. build_capture/sets/seal.py writes the same text.
pub fn writeCanonical(variant: *const Variant, writer: *std.Io.Writer) std.Io.Writer.Error!void {
    try writer.print("fn {s}\nhash {s}\nname {s}\nsha256 {s}\n", .{ variant.function, variant.hash, variant.name, variant.sha256 orelse "" });
    // The parser takes no other scratch than this.
    try writer.print("launch {d} {d} {d} {d} {d} 0 1 0 {}\n", .{
        variant.num_warps, variant.num_stages, variant.num_ctas, variant.warp_size, variant.shared, variant.pdl,
    });
    try writer.print("requested {d} {d}\n", .{ variant.requested.num_warps, variant.requested.num_stages });
    try writer.print("alias {}\n", .{variant.alias});
    for (variant.params) |param| {
        try writer.print("param {s} {s} {} {} {}\n", .{ param.name, param.type, param.div16, param.nospec, param.assumes16 });
    }
    std.debug.assert(isSorted(variant.consts) and isSorted(variant.kinds) and isSorted(variant.texts));
    for (variant.consts) |constant| switch (constant.value) {
        .int => |value| try writer.print("const {s} int {d}\n", .{ constant.name, value }),
        .f32 => |bits| try writer.print("const {s} f32 {d}\n", .{ constant.name, bits }),
        .none => try writer.print("const {s} none\n", .{constant.name}),
    };
    for (variant.kinds) |kind| try writer.print("kind {s} {s}\n", .{ kind.name, kind.value });
    // A string may hold line breaks, which would let it pass for further lines.
    for (variant.texts) |text| try writer.print("text {s} {x}\n", .{ text.name, text.value });
}

fn isSorted(items: anytype) bool {
    if (items.len < 2) return true;
    for (items[0 .. items.len - 1], items[1..]) |left, right| {
        if (!std.mem.lessThan(u8, left.name, right.name)) return false;
    }
    return true;
}

test "seal: the canonical text of an entry with every kind of line" {
    const variant: Variant = .{
        .function = "_f",
        .hash = "ab",
        .name = "_f_0",
        .num_warps = 8,
        .num_stages = 3,
        .shared = 512,
        .pdl = true,
        .sha256 = "cd",
        .requested = .{ .num_warps = 4, .num_stages = 3 },
        .params = &.{.{ .name = "X", .type = "*bf16", .div16 = true, .nospec = false, .assumes16 = false }},
        .consts = &.{
            .{ .name = "D", .value = .{ .int = -1 } },
            .{ .name = "F", .value = .{ .f32 = 7 } },
            .{ .name = "N", .value = .none },
        },
        .kinds = &.{.{ .name = "D", .value = "bool" }},
        .texts = &.{.{ .name = "MODE", .value = "a\nb" }},
        .alias = true,
    };
    var buffer: [512]u8 = undefined;
    var writer: std.Io.Writer = .fixed(&buffer);
    try writeCanonical(&variant, &writer);
    try std.testing.expectEqualStrings(
        \\fn _f
        \\hash ab
        \\name _f_0
        \\sha256 cd
        \\launch 8 3 1 32 512 0 1 0 true
        \\requested 4 3
        \\alias true
        \\param X *bf16 true false false
        \\const D int -1
        \\const F f32 7
        \\const N none
        \\kind D bool
        \\text MODE 610a62
        \\
    , writer.buffered());
    try std.testing.expectEqualStrings(&sha256.of(writer.buffered()), &of(&variant));
}
