//! The program that reads declaration files and profiles, compiled for the host by the Zig that runs the build.
const Reader = @This();

const std = @import("std");

step: *std.Build.Step,
/// The executable.
output: std.Build.LazyPath,
artifact: *std.Build.Step.Compile,

pub const Options = struct {
    /// The builder of this package, whose source it is.
    package: *std.Build,
};

pub fn create(b: *std.Build, options: Options) Reader {
    const artifact = b.addExecutable(.{
        .name = "build-capture-reader",
        .root_module = b.createModule(.{
            .root_source_file = options.package.path("zig_bridge/reader/main.zig"),
            .target = b.graph.host,
        }),
    });
    return .{ .step = &artifact.step, .output = artifact.getEmittedBin(), .artifact = artifact };
}
