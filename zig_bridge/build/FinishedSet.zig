//! A set that was captured elsewhere. No Python starts; a folder that is no whole set fails the build by name.
const FinishedSet = @This();

const std = @import("std");

step: *std.Build.Step,
/// The folder of the set.
output: std.Build.LazyPath,

pub const Options = struct {
    package: *std.Build,
    /// The module `set`, which reads an `aot.json`.
    set: *std.Build.Module,
    /// As given on the command line: absolute, or relative to where `zig build` was called.
    folder: []const u8,
};

pub fn create(b: *std.Build, options: Options) FinishedSet {
    const output: std.Build.LazyPath = .{ .cwd_relative = b.dupe(options.folder) };
    const run = b.addRunArtifact(b.addExecutable(.{
        .name = "check-set",
        .root_module = b.createModule(.{
            .root_source_file = options.package.path("zig_bridge/build/check_set.zig"),
            .target = b.graph.host,
            .imports = &.{.{ .name = "set", .module = options.set }},
        }),
    }));
    run.setName(b.fmt("-Dcapture-set={s} is a whole set", .{options.folder}));
    // The folder is an input by name only, and the program has no output, so that it looks at the files in every build.
    run.addDirectoryArg(output);
    return .{ .step = &run.step, .output = output };
}
