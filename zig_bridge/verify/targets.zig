//! What a GPU allows, as far as a set can break it. build_capture/targets.py has the same table; a test compares them.

const std = @import("std");

/// A GPU that sets are made for.
pub const Target = struct {
    /// 10 * major + minor: 121 is sm_121.
    sm: u32,
    /// Shared memory that one block may opt in to, in KiB.
    shared_kib: u32,
};

/// Every GPU that is known.
pub const known = [_]Target{
    .{ .sm = 80, .shared_kib = 163 },
    .{ .sm = 86, .shared_kib = 99 },
    .{ .sm = 87, .shared_kib = 163 },
    .{ .sm = 89, .shared_kib = 99 },
    .{ .sm = 90, .shared_kib = 227 },
    .{ .sm = 100, .shared_kib = 227 },
    .{ .sm = 103, .shared_kib = 227 },
    .{ .sm = 110, .shared_kib = 227 },
    .{ .sm = 120, .shared_kib = 99 },
    .{ .sm = 121, .shared_kib = 99 },
};

/// The target that is written `sm_121`, or `sm121` as folders are named; null for any other text.
pub fn parse(text: []const u8) ?Target {
    if (!std.mem.startsWith(u8, text, "sm")) return null;
    const digits = if (std.mem.startsWith(u8, text, "sm_")) text["sm_".len..] else text["sm".len..];
    for (digits) |digit| if (!std.ascii.isDigit(digit)) return null;
    const number = std.fmt.parseInt(u32, digits, 10) catch return null;
    for (known) |target| if (target.sm == number) return target;
    return null;
}

test "targets: names as people write them and as folders have them" {
    try std.testing.expectEqual(121, parse("sm_121").?.sm);
    try std.testing.expectEqual(90, parse("sm90").?.sm);
    for ([_][]const u8{ "", "sm", "sm_", "sm_12", "sm_1210", "sm-121", "sm_+90", "121", "gfx942", "sm_99999999999" }) |text| {
        try std.testing.expectEqual(null, parse(text));
    }
}
