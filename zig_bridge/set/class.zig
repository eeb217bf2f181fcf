//! The classes into which Triton sorts the values of a runtime argument; it compiles one variant for each.

const std = @import("std");
const launch = @import("launch.zig");

/// What a specialization knows of one argument's value.
pub const Class = enum {
    /// The int is 1, so Triton folds it into the code.
    one,
    /// The int is a multiple of 16; 0 and negative multiples are, too.
    div16,
    /// Any other int.
    any,
    /// The address is a multiple of 16.
    aligned,
    /// Any other address.
    unaligned,
};

/// The bytes or units that `div16` and `aligned` divide by.
pub const divisor = 16;

/// The class of an i32.
pub fn ofInt(value: i32) Class {
    if (value == 1) return .one;
    return if (@mod(value, divisor) == 0) .div16 else .any;
}

/// The class of a u64. The exact rule knows no folded one: a variant without the parameter serves no value of it.
pub fn ofWord(value: u64) Class {
    return if (value % divisor == 0) .div16 else .any;
}

/// The class of an address.
pub fn ofAddress(address: u64) Class {
    return if (address % divisor == 0) .aligned else .unaligned;
}

/// The class of an argument's value; null for a float, which has none.
pub fn ofValue(value: launch.Value) ?Class {
    return switch (value) {
        .ptr => |pointer| ofAddress(pointer.addr),
        .i32 => |number| ofInt(number),
        .u64 => |number| ofWord(number),
        .f32 => null,
    };
}

test "class: ints at and around every border" {
    const cases = [_]struct { value: i32, class: Class }{
        .{ .value = 1, .class = .one },
        .{ .value = 0, .class = .div16 },
        .{ .value = 16, .class = .div16 },
        .{ .value = -16, .class = .div16 },
        .{ .value = std.math.minInt(i32), .class = .div16 },
        .{ .value = -1, .class = .any },
        .{ .value = 2, .class = .any },
        .{ .value = 17, .class = .any },
        .{ .value = std.math.maxInt(i32), .class = .any },
    };
    for (cases) |case| try std.testing.expectEqual(case.class, ofInt(case.value));
}

test "class: words, addresses and floats" {
    try std.testing.expectEqual(Class.any, ofValue(.{ .u64 = 1 }).?);
    try std.testing.expectEqual(Class.div16, ofValue(.{ .u64 = 1 << 63 }).?);
    try std.testing.expectEqual(Class.any, ofValue(.{ .u64 = std.math.maxInt(u64) }).?);
    try std.testing.expectEqual(Class.aligned, ofAddress(0x7000_0000_0010));
    try std.testing.expectEqual(Class.unaligned, ofAddress(0x7000_0000_0008));
    try std.testing.expectEqual(@as(?Class, null), ofValue(.{ .f32 = 1.0 }));
}
