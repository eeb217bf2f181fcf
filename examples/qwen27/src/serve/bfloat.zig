//! bf16: the upper half of a 32-bit float.

const std = @import("std");

/// The nearest bf16, ties to even, of a finite number.
pub fn of(value: f32) u16 {
    const bits: u32 = @bitCast(value);
    return @intCast((bits + 0x7fff + ((bits >> 16) & 1)) >> 16);
}

/// The number that it is.
pub fn toFloat(value: u16) f32 {
    return @bitCast(@as(u32, value) << 16);
}

/// Writes normally distributed values times `scale`.
pub fn fillNormal(random: std.Random, values: []u16, scale: f32) void {
    // One of 4096 drawn before: drawing each of some 400 million anew would take as long as the rounds.
    var drawn: [4096]u16 = undefined;
    for (&drawn) |*value| value.* = of(scale * random.floatNorm(f32));
    var index: usize = 0;
    while (index < values.len) {
        var bits = random.int(u64);
        for (0..@min(5, values.len - index)) |_| {
            values[index] = drawn[bits % drawn.len];
            bits /= drawn.len;
            index += 1;
        }
    }
}

test "bfloat: rounding to nearest, ties to even" {
    try std.testing.expectEqual(0x3f80, of(1.0));
    try std.testing.expectEqual(0x3f80, of(1.0 + 0x1p-8));
    try std.testing.expectEqual(0x3f82, of(1.0 + 0x3p-8));
    try std.testing.expectEqual(0x3f81, of(1.0 + 0x1.8p-8));
    try std.testing.expectEqual(-0.5, toFloat(of(-0.5)));
    var prng: std.Random.DefaultPrng = .init(1);
    var values: [1003]u16 = undefined;
    fillNormal(prng.random(), &values, 3.0);
    var squares: f64 = 0;
    for (values) |value| squares += toFloat(value) * toFloat(value);
    try std.testing.expectApproxEqAbs(9.0, squares / values.len, 1.5);
}
