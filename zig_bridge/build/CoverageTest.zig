//! The coverage test: it drives the declaration file for every round within the limits against one set.
const CoverageTest = @This();

const std = @import("std");
const CoverageSource = @import("CoverageSource.zig");
const Modules = @import("Modules.zig");

/// Runs the test.
step: *std.Build.Step,

pub const Options = struct {
    package: *std.Build,
    source: CoverageSource,
    modules: Modules,
    set: std.Build.LazyPath,
    /// The set's `domains.zig`; null where rounds drive everything.
    domains: ?std.Build.LazyPath,
    /// What has to be done before the set is looked at.
    after: *std.Build.Step,
    target: []const u8,
};

pub fn create(b: *std.Build, options: Options) CoverageTest {
    const root = options.source.module(b, options.modules, options.domains, b.graph.host);
    root.addAnonymousImport("aot.json", .{ .root_source_file = options.set.path(b, "aot.json") });
    const compile = b.addTest(.{
        .name = b.fmt("coverage-{s}", .{options.target}),
        .root_module = root,
        .test_runner = .{ .path = options.package.path("zig_bridge/coverage/test_runner.zig"), .mode = .simple },
    });
    compile.step.dependOn(options.after);
    const run = b.addRunArtifact(compile);
    run.setName(b.fmt("check the coverage of {s}", .{options.target}));
    // What it prints, the count of what it checked, is for the user, every time the check is asked for.
    run.stdio = .inherit;
    return .{ .step = &run.step };
}
