//! A captured set in memory: the variants of `aot.json` in file order, found by function.

const std = @import("std");
const Index = @import("index.zig").Index;

/// One runtime parameter of a variant.
pub const Param = struct {
    /// The kernel parameter's name.
    name: []const u8,
    /// Triton's type: `*bf16`, `i32`, `i64`, `u64`, `fp32`.
    type: []const u8,
    /// The variant serves multiples of 16, and, unless `nospec`, nothing else.
    div16: bool,
    /// Any value of an int fits, whatever its class.
    nospec: bool,
    /// The code was compiled for a multiple of 16: no entry may serve a value that breaks it. Where a set does not say,
    /// it is what `div16` is.
    assumes16: bool,

    /// Whether it is a pointer, whose `div16` speaks of the address.
    pub fn isPointer(param: Param) bool {
        return param.type.len > 0 and param.type[0] == '*';
    }
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

/// A string that a variant records under a name.
pub const NamedText = struct {
    name: []const u8,
    value: []const u8,
};

/// The string that a variant records under a name.
pub fn textOf(texts: []const NamedText, name: []const u8) ?[]const u8 {
    for (texts) |candidate| {
        if (std.mem.eql(u8, candidate.name, name)) return candidate.value;
    }
    return null;
}

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
    /// The options that were asked for; those above are what the launch uses.
    requested: Requested = .{},
    /// Runtime parameters in launch order.
    params: []const Param,
    /// Constexprs and folded ints.
    consts: []const NamedConstant,
    /// The kind of each constant whose form does not tell: bool, f64.
    kinds: []const NamedText = &.{},
    /// Constants that are strings, which no launch can name.
    texts: []const NamedText = &.{},
    /// A further entry, by which a cubin serves more launches than those of the specialization that was compiled.
    alias: bool = false,
    /// The SHA-256 of the entry's canonical text; null where the set records none.
    seal: ?[]const u8 = null,

    /// Launch options that a capture asked Triton for; 0 where the set does not say.
    pub const Requested = struct {
        num_warps: u32 = 0,
        num_stages: u32 = 0,
    };

    /// Whether it is before another variant in the file: a set's variants lie in one list.
    pub fn isBefore(variant: *const Variant, other: *const Variant) bool {
        return @intFromPtr(variant) < @intFromPtr(other);
    }

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
    /// Finds the variants of a launch.
    index: Index,
    /// The folder with the compiled kernels, beside `aot.json`.
    bin_dir: []const u8,
    /// The file ending of the compiled kernels.
    bin_ext: []const u8,
    /// What the set is for, `sm_121`; null where it does not say.
    target: ?[]const u8 = null,
    /// The set records no seals, as another tool's does. Nothing proves what its cubins assume.
    foreign: bool = true,

    /// A set of these variants, indexed.
    pub fn init(arena: std.mem.Allocator, variants: []const Variant) error{OutOfMemory}!Set {
        return .{ .variants = variants, .index = try .init(arena, variants), .bin_dir = "cubins", .bin_ext = "cubin" };
    }

    /// The variants of a function in file order; none for a function that the set lacks.
    pub fn ofFunction(set: *const Set, function: []const u8) []const *const Variant {
        return set.index.ofFunction(function);
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
