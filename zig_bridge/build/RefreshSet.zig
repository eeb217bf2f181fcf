//! Puts a captured set where it is kept in the tree, in one step and only where it differs, so that a diff of the tree shows
//! what changed.
const RefreshSet = @This();

const std = @import("std");

step: *std.Build.Step,

pub const Options = struct {
    package: *std.Build,
    set_module: *std.Build.Module,
    set: std.Build.LazyPath,
    /// As given on the command line: absolute, or relative to where `zig build` was called.
    folder: []const u8,
    /// What has to be done before the set is looked at.
    after: *std.Build.Step,
};

pub fn create(b: *std.Build, options: Options) RefreshSet {
    const run = b.addRunArtifact(b.addExecutable(.{
        .name = "refresh-set",
        .root_module = b.createModule(.{
            .root_source_file = options.package.path("zig_bridge/build/refresh_set.zig"),
            .target = b.graph.host,
            .imports = &.{.{ .name = "set", .module = options.set_module }},
        }),
    }));
    run.setName(b.fmt("refresh -Dcapture-set={s}", .{options.folder}));
    run.addDirectoryArg(options.set);
    // It has no output that Zig knows, so that it looks at the folder in every build.
    run.addDirectoryArg(.{ .cwd_relative = b.dupe(options.folder) });
    run.stdio = .inherit;
    run.step.dependOn(options.after);
    return .{ .step = &run.step };
}
