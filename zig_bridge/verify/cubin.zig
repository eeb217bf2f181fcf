//! Compares one cubin with the entries of `aot.json` that name it.

const std = @import("std");
const set = @import("set");
const elf = @import("elf.zig");
const Problems = @import("problems.zig").Problems;
const Target = @import("targets.zig").Target;

/// What Triton lets every entry take after its runtime parameters.
const hidden_parameters = [_][]const u8{ "the global scratch pointer", "the profile scratch pointer" };
const pointer_bytes = 8;
/// A set with more parameters in one variant is refused when it is read.
const parameters_max = 1024 + hidden_parameters.len;

/// What every cubin of a set has to agree on.
pub const Facts = struct { sm: u32, has_line_tables: bool };

/// A cubin's bytes, and where its problems go.
pub const Cubin = struct {
    problems: *Problems,
    /// Relative to the set's folder.
    name: []const u8,
    bytes: []const u8,
    /// Their SHA-256.
    hex: []const u8,

    /// Adds what is wrong for any of `variants`, which all name this cubin. Null where it is not the cubin that was
    /// captured, or none at all.
    pub fn check(cubin: Cubin, variants: []const *const set.Variant, target: ?Target) error{OutOfMemory}!?Facts {
        const problems = cubin.problems;
        for (variants) |variant| {
            const recorded = variant.sha256 orelse continue;
            if (std.mem.eql(u8, recorded, cubin.hex)) continue;
            try problems.add(cubin.name, "its bytes are not those that aot.json records for {s}", .{variant.function});
            return null;
        }
        return cubin.checkElf(variants, target) catch |failure| {
            switch (failure) {
                error.OutOfMemory => return error.OutOfMemory,
                error.NotElf => try problems.add(cubin.name, "its cubin is not an ELF", .{}),
                error.NotCuda => try problems.add(cubin.name, "its cubin is an ELF for another machine, not for CUDA", .{}),
                error.Damaged => try problems.add(cubin.name, "its cubin is damaged: it is cut short, or its parts do not fit together", .{}),
            }
            return null;
        };
    }

    fn checkElf(cubin: Cubin, variants: []const *const set.Variant, target: ?Target) (elf.Error || error{OutOfMemory})!Facts {
        const opened: elf.Cubin = try .init(cubin.bytes);
        const facts: Facts = .{ .sm = opened.sm(), .has_line_tables = try opened.hasLineTables() };
        if (target) |wanted| if (facts.sm != wanted.sm) {
            try cubin.problems.add(cubin.name, "its cubin is for sm_{d}, not sm_{d}", .{ facts.sm, wanted.sm });
            return facts;
        };
        for (variants) |variant| try cubin.checkEntry(opened, variant, target);
        return facts;
    }

    fn checkEntry(cubin: Cubin, opened: elf.Cubin, variant: *const set.Variant, target: ?Target) (elf.Error || error{OutOfMemory})!void {
        const problems = cubin.problems;
        if (!try opened.defines(variant.name)) return problems.add(cubin.name, "its cubin has no entry {s}", .{variant.name});
        if (try opened.info(variant.name)) |info| {
            const count = try info.parameterCount();
            if (count == variant.params.len + hidden_parameters.len) {
                try cubin.checkLayout(info, variant);
            } else try problems.add(cubin.name, "the entry {s} takes {d} parameters; engines pass {d} and {d} scratch pointers", .{
                variant.name, count, variant.params.len, hidden_parameters.len,
            });
            try cubin.checkLaunch(variant, "blocks", "threads", try info.dimensions(.block), variant.warp_size * variant.num_warps);
            try cubin.checkLaunch(variant, "clusters", "blocks", try info.dimensions(.cluster), variant.num_ctas);
        } else try problems.add(cubin.name, "its cubin does not say how many parameters {s} takes", .{variant.name});
        const needed = variant.shared +| try opened.staticShared(variant.name);
        if (target) |wanted| if (needed > wanted.shared_kib * 1024) {
            try problems.add(cubin.name, "{s} needs {d} bytes of shared memory; sm_{d} has {d} a block", .{
                variant.function, needed, wanted.sm, wanted.shared_kib * 1024,
            });
        };
    }

    /// Adds the first parameter that the entry takes with another size, or from another place, than its type has. What
    /// follows a type that is not known is not compared.
    fn checkLayout(cubin: Cubin, info: elf.Info, variant: *const set.Variant) (elf.Error || error{OutOfMemory})!void {
        var buffer: [parameters_max]?elf.EntryParameter = undefined;
        const taken = buffer[0 .. variant.params.len + hidden_parameters.len];
        try info.writeParameters(taken);
        var end: u32 = 0;
        for (taken, 0..) |place, ordinal| {
            const is_hidden = ordinal >= variant.params.len;
            const name = if (is_hidden) hidden_parameters[ordinal - variant.params.len] else variant.params[ordinal].name;
            const bytes = if (is_hidden) pointer_bytes else bytesOf(variant.params[ordinal]) orelse return;
            const offset = std.mem.alignForward(u32, end, bytes);
            const found = place orelse {
                return cubin.problems.add(cubin.name, "its cubin does not say where the entry {s} takes {s}", .{ variant.name, name });
            };
            if (found.offset != offset or found.bytes != bytes) {
                return cubin.problems.add(cubin.name, "the entry {s} takes {s} as {d} bytes at {d}; engines pass {d} bytes at {d}", .{
                    variant.name, name, found.bytes, found.offset, bytes, offset,
                });
            }
            end = offset + bytes;
        }
    }

    fn checkLaunch(cubin: Cubin, variant: *const set.Variant, group: []const u8, unit: []const u8, taken: ?[3]u32, launched: u32) error{OutOfMemory}!void {
        const x, const y, const z = taken orelse return;
        if (x == launched and y == 1 and z == 1) return;
        try cubin.problems.add(cubin.name, "the entry {s} takes {s} of {d} x {d} x {d} {s}; engines launch {d} x 1 x 1", .{
            variant.name, group, x, y, z, unit, launched,
        });
    }
};

/// How many bytes a parameter takes, by the bits that Triton's types of numbers end in: i32, u1, fp16, bf16, f32. Null for a type
/// that is not known.
fn bytesOf(param: set.Param) ?u32 {
    if (param.isPointer()) return pointer_bytes;
    const bits = std.mem.trimStart(u8, param.type, "bfipu");
    if (bits.len == param.type.len) return null;
    const names = [_][]const u8{ "1", "8", "16", "32", "64" };
    const bytes = [_]u32{ 1, 1, 2, 4, 8 };
    for (names, bytes) |name, count| if (std.mem.eql(u8, bits, name)) return count;
    return null;
}
