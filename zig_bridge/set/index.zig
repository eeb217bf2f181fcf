//! Finds the variants that can fit a launch without looking at the others: by function, by the constexprs in which a
//! function's variants differ, and by the arguments' classes. What it finds is compared with the launch in full, so that
//! two keys of one hash do no harm.

const std = @import("std");
const launch = @import("launch.zig");
const rule = @import("rule.zig");
const variant_types = @import("variant.zig");
const Request = rule.Request;
const Variant = variant_types.Variant;
const Wyhash = std.hash.Wyhash;

const Names = []const []const u8;
const Lists = std.AutoHashMapUnmanaged(u64, std.ArrayList(*const Variant));

/// The arguments of a launch that a lookup hashes; a launch with more is compared with every variant of its function.
const arguments_max = 64;

/// The variants of a set, found by launch.
pub const Index = struct {
    functions: std.StringHashMapUnmanaged(Function),

    /// An index of these variants, which must stay where they are: their order in memory is the file's.
    pub fn init(arena: std.mem.Allocator, variants: []const Variant) error{OutOfMemory}!Index {
        var lists: std.StringHashMapUnmanaged(std.ArrayList(*const Variant)) = .empty;
        for (variants) |*variant| {
            const entry = try lists.getOrPut(arena, variant.function);
            if (!entry.found_existing) entry.value_ptr.* = .empty;
            try entry.value_ptr.append(arena, variant);
        }
        var index: Index = .{ .functions = .empty };
        var iterator = lists.iterator();
        while (iterator.next()) |entry| {
            try index.functions.put(arena, entry.key_ptr.*, try .init(arena, entry.value_ptr.items));
        }
        return index;
    }

    /// The variants of a function in file order.
    pub fn ofFunction(index: *const Index, function: []const u8) []const *const Variant {
        return if (index.functions.getPtr(function)) |found| found.variants else &.{};
    }

    /// The variants that can hold the constexprs that the launch names, in file order.
    pub fn ofConstexprs(index: *const Index, request: Request) []const *const Variant {
        const function = index.functions.getPtr(request.function) orelse return &.{};
        const values = function.valuesOfLaunch(request.constexprs) orelse return function.variants;
        return itemsOf(&function.by_values, values);
    }

    /// The variants that fit the launch under the exact rule.
    pub fn fitting(index: *const Index, request: Request) Fitting {
        const function = index.functions.getPtr(request.function) orelse return .{ .request = request, .candidates = &.{} };
        const values = function.valuesOfLaunch(request.constexprs) orelse return .{ .request = request, .candidates = function.variants };
        if (request.arguments.len > arguments_max) return .{ .request = request, .candidates = function.variants };
        return .{ .request = request, .candidates = &.{}, .lists = .{ .function = function, .values = values } };
    }
};

/// The variants that fit a launch, one by one. Their order is not the file's: a variant's address tells that.
pub const Fitting = struct {
    request: Request,
    candidates: []const *const Variant,
    lists: ?struct { function: *const Function, values: u64, next: usize = 0 } = null,

    /// The next one.
    pub fn next(fitting: *Fitting) ?*const Variant {
        while (true) {
            while (fitting.candidates.len > 0) {
                const candidate = fitting.candidates[0];
                fitting.candidates = fitting.candidates[1..];
                if (rule.fits(candidate, fitting.request)) return candidate;
            }
            const lists = &(fitting.lists orelse return null);
            if (lists.next == lists.function.unspecialized.len) return null;
            const names = lists.function.unspecialized[lists.next];
            lists.next += 1;
            const key = keyOf(lists.values, names, classesOfLaunch(fitting.request.arguments, names));
            fitting.candidates = itemsOf(&lists.function.by_classes, key);
        }
    }
};

/// The variants of one function.
const Function = struct {
    variants: []const *const Variant,
    /// The constants in which the variants differ, sorted.
    keyed: Names,
    /// Each list of parameters that some variant has unspecialized.
    unspecialized: []const Names,
    /// By the values of the keyed constants.
    by_values: Lists,
    /// By these, by the unspecialized parameters and by the classes of the others.
    by_classes: Lists,

    fn init(arena: std.mem.Allocator, variants: []const *const Variant) error{OutOfMemory}!Function {
        var function: Function = .{
            .variants = variants,
            .keyed = try varying(arena, variants),
            .unspecialized = &.{},
            .by_values = .empty,
            .by_classes = .empty,
        };
        var unspecialized: std.ArrayList(Names) = .empty;
        for (variants) |variant| {
            var values: u64 = 0;
            for (function.keyed) |name| values = hashValue(values, variant.constant(name));
            const names = for (unspecialized.items) |known| {
                if (isUnspecializedIn(variant, known)) break known;
            } else names: {
                const new = try unspecializedOf(arena, variant);
                try unspecialized.append(arena, new);
                break :names new;
            };
            try append(arena, &function.by_values, values, variant);
            try append(arena, &function.by_classes, keyOf(values, names, classesOfVariant(variant)), variant);
        }
        function.unspecialized = unspecialized.items;
        return function;
    }

    /// A hash of the values that the launch names of the keyed constants; null where it does not name them all.
    fn valuesOfLaunch(function: *const Function, constexprs: []const launch.Const) ?u64 {
        var values: u64 = 0;
        for (function.keyed) |name| {
            const constexpr = for (constexprs) |candidate| {
                if (std.mem.eql(u8, candidate.name, name)) break candidate;
            } else return null;
            // One with both values or none fits no variant, whatever its hash.
            if (constexpr.int) |value| {
                values = hashValue(values, .{ .int = value });
            } else if (constexpr.f32) |value| {
                values = hashValue(values, .{ .f32 = @bitCast(value) });
            }
        }
        return values;
    }
};

/// The constants in which variants differ; a name that some variant has as a parameter is a folded int, no constexpr.
fn varying(arena: std.mem.Allocator, variants: []const *const Variant) error{OutOfMemory}!Names {
    var params: std.StringHashMapUnmanaged(void) = .empty;
    var counts: std.StringArrayHashMapUnmanaged(struct { value: variant_types.Constant, holders: usize, differs: bool }) = .empty;
    for (variants) |variant| {
        for (variant.params) |param| try params.put(arena, param.name, {});
        for (variant.consts) |constant| {
            const entry = try counts.getOrPut(arena, constant.name);
            if (!entry.found_existing) entry.value_ptr.* = .{ .value = constant.value, .holders = 0, .differs = false };
            entry.value_ptr.holders += 1;
            if (!std.meta.eql(entry.value_ptr.value, constant.value)) entry.value_ptr.differs = true;
        }
    }
    var names: std.ArrayList([]const u8) = .empty;
    for (counts.keys(), counts.values()) |name, count| {
        if (params.contains(name) or !count.differs and count.holders == variants.len) continue;
        try names.append(arena, name);
    }
    return names.items;
}

/// Whether of the variant's parameters any value fits, whatever its class: its launches' classes do not tell.
fn isUnspecialized(param: variant_types.Param) bool {
    return param.nospec and std.mem.eql(u8, param.type, "i32");
}

fn unspecializedOf(arena: std.mem.Allocator, variant: *const Variant) error{OutOfMemory}!Names {
    var names: std.ArrayList([]const u8) = .empty;
    for (variant.params) |param| {
        if (isUnspecialized(param)) try names.append(arena, param.name);
    }
    return names.items;
}

/// Whether `names` are all the unspecialized parameters of the variant, in its order.
fn isUnspecializedIn(variant: *const Variant, names: Names) bool {
    var count: usize = 0;
    for (variant.params) |param| {
        if (!isUnspecialized(param)) continue;
        if (count == names.len or !std.mem.eql(u8, names[count], param.name)) return false;
        count += 1;
    }
    return count == names.len;
}

fn classesOfVariant(variant: *const Variant) u64 {
    var sum: u64 = 0;
    for (variant.params) |param| {
        const known: Known = if (isUnspecialized(param) or std.mem.eql(u8, param.type, "fp32")) .nothing else if (param.div16) .div16 else .other;
        sum +%= hashParam(param.name, param.type, known);
    }
    return sum;
}

/// What a variant with these parameters unspecialized has where it fits. Its other ints of value 1 are folded, so it lacks
/// them. A sum does not depend on the order of the arguments; one that is given twice counts once.
fn classesOfLaunch(arguments: []const launch.Arg, unspecialized: Names) u64 {
    var seen: [arguments_max]u64 = undefined;
    var count: usize = 0;
    var sum: u64 = 0;
    for (arguments) |argument| {
        const free = argument.value == .i32 and contains(unspecialized, argument.name);
        if (!free and argument.value == .i32 and argument.value.i32 == 1) continue;
        const known: Known = if (free or argument.value == .f32) .nothing else if (rule.isDivisible(argument.value)) .div16 else .other;
        const hash = hashParam(argument.name, argument.value.typeName(), known);
        if (std.mem.indexOfScalar(u64, seen[0..count], hash) != null) continue;
        seen[count] = hash;
        count += 1;
        sum +%= hash;
    }
    return sum;
}

const Known = enum(u64) { nothing, div16, other };

fn hashParam(name: []const u8, type_name: []const u8, known: Known) u64 {
    return Wyhash.hash(Wyhash.hash(@intFromEnum(known), type_name), name);
}

fn hashValue(seed: u64, constant: ?variant_types.Constant) u64 {
    const words: [2]u64 = if (constant) |value| switch (value) {
        .int => |number| .{ 0, @bitCast(number) },
        .f32 => |bits| .{ 1, bits },
        .none => .{ 2, 0 },
    } else .{ 3, 0 };
    return Wyhash.hash(seed, std.mem.sliceAsBytes(&words));
}

fn keyOf(values: u64, unspecialized: Names, classes: u64) u64 {
    var key = Wyhash.hash(values, std.mem.asBytes(&classes));
    for (unspecialized) |name| key = Wyhash.hash(key, name);
    return key;
}

fn contains(names: Names, name: []const u8) bool {
    for (names) |candidate| {
        if (std.mem.eql(u8, candidate, name)) return true;
    }
    return false;
}

fn append(arena: std.mem.Allocator, lists: *Lists, key: u64, variant: *const Variant) error{OutOfMemory}!void {
    const entry = try lists.getOrPut(arena, key);
    if (!entry.found_existing) entry.value_ptr.* = .empty;
    try entry.value_ptr.append(arena, variant);
}

fn itemsOf(lists: *const Lists, key: u64) []const *const Variant {
    return if (lists.getPtr(key)) |list| list.items else &.{};
}
