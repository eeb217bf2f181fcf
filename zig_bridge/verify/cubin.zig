//! Compares one cubin with the entries of `aot.json` that name it.

const std = @import("std");
const set = @import("set");
const elf = @import("elf.zig");
const Problems = @import("problems.zig").Problems;
const Target = @import("targets.zig").Target;

/// Triton's global and profile scratch pointers, which every entry takes after its runtime parameters.
const hidden_parameters = 2;

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
        const count = try opened.parameters(variant.name) orelse {
            return problems.add(cubin.name, "its cubin does not say how many parameters {s} takes", .{variant.name});
        };
        if (count != variant.params.len + hidden_parameters) {
            try problems.add(cubin.name, "the entry {s} takes {d} parameters; engines pass {d} and {d} scratch pointers", .{
                variant.name, count, variant.params.len, hidden_parameters,
            });
        }
        const needed = variant.shared +| try opened.staticShared(variant.name);
        if (target) |wanted| if (needed > wanted.shared_kib * 1024) {
            try problems.add(cubin.name, "{s} needs {d} bytes of shared memory; sm_{d} has {d} a block", .{
                variant.function, needed, wanted.sm, wanted.shared_kib * 1024,
            });
        };
    }
};
