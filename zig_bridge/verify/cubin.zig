//! Compares one cubin with the entries of `aot.json` that name it.

const std = @import("std");
const set = @import("set");
const elf = @import("elf.zig");
const Problems = @import("problems.zig").Problems;
const Target = @import("targets.zig").Target;

/// Triton's global and profile scratch pointers, which every entry takes after its runtime parameters.
const hidden_parameters = 2;

/// A cubin's bytes, and where its problems go.
pub const Cubin = struct {
    problems: *Problems,
    /// Relative to the set's folder.
    name: []const u8,
    bytes: []const u8,
    /// Their SHA-256.
    hex: []const u8,

    /// Adds what is wrong for any of `variants`, which all name this cubin. `line_info` is what the set records; null
    /// where it records nothing.
    pub fn check(cubin: Cubin, variants: []const *const set.Variant, target: ?Target, line_info: ?bool) error{OutOfMemory}!void {
        const problems = cubin.problems;
        for (variants) |variant| {
            const recorded = variant.sha256 orelse continue;
            if (std.mem.eql(u8, recorded, cubin.hex)) continue;
            return problems.add(cubin.name, "its bytes are not those that aot.json records for {s}", .{variant.function});
        }
        const known = problems.list.items.len;
        cubin.checkElf(variants, target, line_info) catch |failure| switch (failure) {
            error.OutOfMemory => return error.OutOfMemory,
            error.NotElf => try problems.add(cubin.name, "its cubin is not an ELF", .{}),
            error.NotCuda => try problems.add(cubin.name, "its cubin is an ELF for another machine, not for CUDA", .{}),
            // One word of a damaged file is enough.
            error.Damaged => if (problems.list.items.len == known) {
                try problems.add(cubin.name, "its cubin is damaged: it is cut short, or its parts do not fit together", .{});
            },
        };
    }

    fn checkElf(cubin: Cubin, variants: []const *const set.Variant, target: ?Target, line_info: ?bool) (elf.Error || error{OutOfMemory})!void {
        const problems = cubin.problems;
        const opened: elf.Cubin = try .init(cubin.bytes);
        if (target) |wanted| if (opened.sm() != wanted.sm) {
            return problems.add(cubin.name, "its cubin is for sm_{d}, not sm_{d}", .{ opened.sm(), wanted.sm });
        };
        for (variants) |variant| {
            if (target) |wanted| if (variant.shared > wanted.shared_kib * 1024) {
                try problems.add(cubin.name, "{s} needs {d} bytes of shared memory; sm_{d} has {d} a block", .{
                    variant.function, variant.shared, wanted.sm, wanted.shared_kib * 1024,
                });
            };
            if (!try opened.defines(variant.name)) {
                try problems.add(cubin.name, "its cubin has no entry {s}", .{variant.name});
                continue;
            }
            const count = try opened.parameters(variant.name) orelse {
                try problems.add(cubin.name, "its cubin does not say how many parameters {s} takes", .{variant.name});
                continue;
            };
            if (count != variant.params.len + hidden_parameters) {
                try problems.add(cubin.name, "the entry {s} takes {d} parameters; engines pass {d} and {d} scratch pointers", .{
                    variant.name, count, variant.params.len, hidden_parameters,
                });
            }
        }
        const has_lines = try opened.hasLineTables();
        if (line_info) |recorded| if (recorded != has_lines) {
            try problems.add(cubin.name, "it {s} line tables, and aot.json records `line_info` {}", .{ if (has_lines) "has" else "lacks", recorded });
        };
    }
};
