//! The Zig modules around a declaration file. They have no target of their own, so that a consumer's program and the
//! coverage test, which runs on the host, can both import them.
const Modules = @This();

const std = @import("std");
const Profile = @import("Profile.zig");

const Module = std.Build.Module;

/// `aot.json`: parse and match.
set: *Module,
/// The stand-in for an engine's `cuda` module.
cuda: *Module,
/// The runtime that a serving program imports as `cuda`. It needs libc, which opens the CUDA driver.
runtime: *Module,
/// What a `rounds.zig` imports.
build_capture: *Module,
/// The consumer's `capture.zon`.
profile: *Module,
/// The consumer's `rounds.zig`; null where it has none.
rounds: ?*Module,
/// The consumer's declaration file, where no `rounds.zig` imports it: a file belongs to one module.
declarations: ?*Module,
/// Enumerates the rounds and checks a set.
coverage: *Module,
/// Whether a set carries a `domains.zig` that drives what no round does.
drives_domains: bool,

/// The modules that need no consumer; `package` is the builder of this package.
pub const Own = struct {
    set: *Module,
    cuda: *Module,
    runtime: *Module,
    build_capture: *Module,
    coverage: *Module,

    pub fn create(package: *std.Build) Own {
        const set = package.createModule(.{ .root_source_file = package.path("zig_bridge/set/set.zig") });
        const cuda = package.createModule(.{
            .root_source_file = package.path("zig_bridge/cuda/cuda.zig"),
            .imports = &.{.{ .name = "set", .module = set }},
        });
        const build_capture = package.createModule(.{ .root_source_file = package.path("zig_bridge/coverage/round.zig") });
        return .{
            .set = set,
            .cuda = cuda,
            .runtime = package.createModule(.{
                .root_source_file = package.path("zig_bridge/set/runtime/runtime.zig"),
                .link_libc = true,
                .imports = &.{.{ .name = "set", .module = set }},
            }),
            .build_capture = build_capture,
            .coverage = package.createModule(.{
                .root_source_file = package.path("zig_bridge/coverage/coverage.zig"),
                .imports = &.{
                    .{ .name = "set", .module = set },
                    .{ .name = "cuda", .module = cuda },
                    .{ .name = "build_capture", .module = build_capture },
                },
            }),
        };
    }
};

/// Where the profile and what it names are.
pub const Sources = struct {
    profile: std.Build.LazyPath,
    declarations: std.Build.LazyPath,
    rounds: ?std.Build.LazyPath,
    /// The folder of the Triton kernels.
    kernels: std.Build.LazyPath,
    drives_domains: bool,

    /// The profile's paths are relative to the profile.
    pub fn create(b: *std.Build, profile: Profile, file: std.Build.LazyPath) Sources {
        return .{
            .profile = file,
            .declarations = file.dirname().path(b, profile.declarations),
            .rounds = if (profile.rounds) |rounds| file.dirname().path(b, rounds) else null,
            .kernels = file.dirname().path(b, profile.kernels),
            .drives_domains = profile.drives_domains,
        };
    }
};

pub fn create(b: *std.Build, own: Own, sources: Sources) Modules {
    const profile = b.createModule(.{ .root_source_file = sources.profile });
    const consumer = b.createModule(.{
        .root_source_file = sources.rounds orelse sources.declarations,
        .imports = &.{
            .{ .name = "cuda", .module = own.cuda },
            .{ .name = "build_capture", .module = own.build_capture },
            .{ .name = "profile", .module = profile },
        },
    });
    return .{
        .set = own.set,
        .cuda = own.cuda,
        .runtime = own.runtime,
        .build_capture = own.build_capture,
        .coverage = own.coverage,
        .profile = profile,
        .rounds = if (sources.rounds != null) consumer else null,
        .declarations = if (sources.rounds == null) consumer else null,
        .drives_domains = sources.drives_domains,
    };
}

/// What the coverage test of a set drives: the rounds, or the `domains.zig` of the set, which hands on the rounds as well.
/// Null is for a consumer whose rounds drive everything.
pub fn driven(modules: Modules, b: *std.Build, domains: ?std.Build.LazyPath) *Module {
    std.debug.assert(modules.drives_domains == (domains != null));
    const file = domains orelse return modules.rounds.?;
    const consumer: std.Build.Module.Import = if (modules.rounds) |rounds|
        .{ .name = "rounds", .module = rounds }
    else
        .{ .name = "declarations", .module = modules.declarations.? };
    return b.createModule(.{
        .root_source_file = file,
        .imports = &.{
            .{ .name = "coverage", .module = modules.coverage },
            .{ .name = "profile", .module = modules.profile },
            consumer,
        },
    });
}
