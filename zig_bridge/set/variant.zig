//! A captured set in memory: the variants of `aot.json` in file order, found by function.

const std = @import("std");

/// One runtime parameter of a variant.
pub const Param = struct {
    /// The kernel parameter's name.
    name: []const u8,
    /// Triton's type: `*bf16`, `i32`, `i64`, `u64`, `fp32`.
    type: []const u8,
    /// The code assumes a multiple of 16.
    div16: bool,
    /// Triton was told not to specialize on the value.
    nospec: bool,
};

/// The value of a constexpr.
pub const Constant = union(enum) {
    /// An int or a bool.
    int: i64,
    /// The bits of a 32-bit float.
    f32: u32,
    /// Python's `None`.
    none,
};

/// A constexpr of a variant.
pub const NamedConstant = struct {
    /// The kernel parameter's name.
    name: []const u8,
    /// What the code was compiled for.
    value: Constant,
};

/// One entry of a set: a compiled kernel and the specialization that it serves.
pub const Variant = struct {
    /// The name that a launch asks for.
    function: []const u8,
    /// Triton's hash; also the cubin's file name.
    hash: []const u8,
    /// The entry symbol inside the cubin.
    name: []const u8,
    /// Warps in a block.
    num_warps: u32,
    /// Pipeline stages; 0 where the set does not say.
    num_stages: u32 = 0,
    /// Blocks in a cluster.
    num_ctas: u32 = 1,
    /// Threads in a warp.
    warp_size: u32 = 32,
    /// Dynamic shared memory in bytes.
    shared: u32 = 0,
    /// Launched with programmatic dependent launch.
    pdl: bool = false,
    /// The SHA-256 of the cubin in hexadecimal; null where the set does not record it.
    sha256: ?[]const u8 = null,
    /// Runtime parameters in launch order.
    params: []const Param,
    /// Constexprs and folded ints.
    consts: []const NamedConstant,

    /// The runtime parameter of that name.
    pub fn param(variant: *const Variant, name: []const u8) ?Param {
        for (variant.params) |candidate| {
            if (std.mem.eql(u8, candidate.name, name)) return candidate;
        }
        return null;
    }

    /// The constant of that name.
    pub fn constant(variant: *const Variant, name: []const u8) ?Constant {
        for (variant.consts) |candidate| {
            if (std.mem.eql(u8, candidate.name, name)) return candidate.value;
        }
        return null;
    }
};

/// A captured set. It owns nothing: its memory is the arena that it was made with.
pub const Set = struct {
    /// Every variant in file order.
    variants: []const Variant,
    /// The variants of each function, in file order.
    by_function: std.StringHashMapUnmanaged([]const *const Variant),
    /// The folder with the compiled kernels, beside `aot.json`.
    bin_dir: []const u8,
    /// The file ending of the compiled kernels.
    bin_ext: []const u8,
    /// What the set is for, `sm_121`; null where it does not say.
    target: ?[]const u8 = null,

    /// A set of these variants, indexed by function.
    pub fn init(arena: std.mem.Allocator, variants: []const Variant) error{OutOfMemory}!Set {
        var lists: std.StringHashMapUnmanaged(std.ArrayList(*const Variant)) = .empty;
        for (variants) |*variant| {
            const entry = try lists.getOrPut(arena, variant.function);
            if (!entry.found_existing) entry.value_ptr.* = .empty;
            try entry.value_ptr.append(arena, variant);
        }
        var by_function: std.StringHashMapUnmanaged([]const *const Variant) = .empty;
        var iterator = lists.iterator();
        while (iterator.next()) |entry| {
            try by_function.put(arena, entry.key_ptr.*, entry.value_ptr.items);
        }
        return .{ .variants = variants, .by_function = by_function, .bin_dir = "cubins", .bin_ext = "cubin" };
    }

    /// The variants of a function in file order; none for a function that the set lacks.
    pub fn ofFunction(set: *const Set, function: []const u8) []const *const Variant {
        return set.by_function.get(function) orelse &.{};
    }

    /// The smallest int that a function's variants hold for a constexpr, from `at_least` on.
    pub fn smallestConst(set: *const Set, function: []const u8, name: []const u8, at_least: i64) ?i64 {
        var smallest: ?i64 = null;
        for (set.ofFunction(function)) |variant| {
            const value = switch (variant.constant(name) orelse continue) {
                .int => |number| number,
                .f32, .none => continue,
            };
            if (value < at_least) continue;
            if (smallest == null or value < smallest.?) smallest = value;
        }
        return smallest;
    }
};
