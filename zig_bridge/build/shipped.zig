//! How the programs are built that sets are shipped with.

const std = @import("std");

/// The machines that serve.
pub const architectures = [_]std.Target.Cpu.Arch{ .aarch64, .x86_64 };

/// Optimized, with every check: such a program reads files that nobody vouches for. Zig 0.17 names it anew.
pub const safe: std.builtin.OptimizeMode = if (@hasField(std.builtin.OptimizeMode, "ReleaseSafe")) .ReleaseSafe else .safe;
