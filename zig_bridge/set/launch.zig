//! What a launch consists of, as declaration files write it: arguments, constexprs and launch options.

/// One runtime argument of a launch.
pub const Arg = struct {
    /// The kernel parameter's name.
    name: []const u8,
    /// What the launch passes for it.
    value: Value,
};

/// The value of a runtime argument.
pub const Value = union(enum) {
    /// A device pointer.
    ptr: Pointer,
    /// A 32-bit signed int.
    i32: i32,
    /// A 32-bit float.
    f32: f32,
    /// A 64-bit unsigned int.
    u64: u64,

    /// Triton's name of the value's type: `*bf16`, `i32`, `fp32`, `u64`.
    pub fn typeName(value: Value) []const u8 {
        return switch (value) {
            .ptr => |pointer| pointer.ty,
            .i32 => "i32",
            .f32 => "fp32",
            .u64 => "u64",
        };
    }
};

/// A device address with the element type that the kernel sees there.
pub const Pointer = struct {
    /// The device address in bytes.
    addr: u64,
    /// Triton's pointer type: `*bf16`, `*fp32`, `*i32`.
    ty: []const u8,
};

/// One constexpr of a launch: exactly one of `int` and `f32` is set.
pub const Const = struct {
    /// The kernel parameter's name.
    name: []const u8,
    /// The value of an int or a bool.
    int: ?i64 = null,
    /// The value of a float; the set compares it by its bits.
    f32: ?f32 = null,
};

/// Launch options that a call site passes; null leaves the choice to the variant.
pub const Launch = struct {
    /// Warps in a block.
    num_warps: ?u32 = null,
    /// Stages of the software pipeline.
    num_stages: ?u32 = null,
};

/// A pointer argument.
pub fn ptr(name: []const u8, ty: []const u8, addr: u64) Arg {
    return .{ .name = name, .value = .{ .ptr = .{ .addr = addr, .ty = ty } } };
}

/// A 32-bit signed int argument.
pub fn int(name: []const u8, value: i32) Arg {
    return .{ .name = name, .value = .{ .i32 = value } };
}

/// A 32-bit float argument.
pub fn float(name: []const u8, value: f32) Arg {
    return .{ .name = name, .value = .{ .f32 = value } };
}

/// A 64-bit unsigned int argument.
pub fn word(name: []const u8, value: u64) Arg {
    return .{ .name = name, .value = .{ .u64 = value } };
}

/// An int constexpr.
pub fn ci(name: []const u8, value: i64) Const {
    return .{ .name = name, .int = value };
}

/// A float constexpr.
pub fn cf(name: []const u8, value: f32) Const {
    return .{ .name = name, .f32 = value };
}
