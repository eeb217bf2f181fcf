//! The program `replay-set`, for the machines that have a GPU: it launches from Zig what a capture launched there from Python.

const std = @import("std");
const Modules = @import("Modules.zig");
const shipped = @import("shipped.zig");

/// The oldest C library that it starts with: that of the distributions that CUDA 12 supports.
const glibc_oldest: std.SemanticVersion = .{ .major = 2, .minor = 28, .patch = 0 };

/// Makes `step` install the program for each kind of machine. It opens the CUDA driver, so that it needs the C library there.
pub fn add(b: *std.Build, package: *std.Build, step: *std.Build.Step) void {
    for (shipped.architectures) |architecture| {
        const program = b.addExecutable(.{
            .name = "replay-set",
            .root_module = module(package, Modules.Own.create(package).set, .{
                .target = b.resolveTargetQuery(.{ .cpu_arch = architecture, .os_tag = .linux, .abi = .gnu, .glibc_version = glibc_oldest }),
                .optimize = shipped.safe,
            }),
        });
        const install = b.addInstallBinFile(program.getEmittedBin(), b.fmt("replay-set-{t}-linux", .{architecture}));
        step.dependOn(&install.step);
    }
}

/// What the program is built for; nothing for tests, which run on the host.
pub const Build = struct {
    target: ?std.Build.ResolvedTarget = null,
    optimize: ?std.builtin.OptimizeMode = null,
};

/// The root module of the program; `set` is the module of that name.
pub fn module(package: *std.Build, set: *std.Build.Module, build: Build) *std.Build.Module {
    return package.createModule(.{
        .root_source_file = package.path("zig_bridge/set/runtime/replay_main.zig"),
        .target = build.target,
        .optimize = build.optimize,
        .link_libc = true,
        .imports = &.{.{ .name = "set", .module = set }},
    });
}
