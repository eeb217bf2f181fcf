//! The `domains.zig` of a set, which drives what no round does. A set carries its text in `aot.json`, so that whoever has
//! the set can test its coverage without Python.
const Domains = @This();

const std = @import("std");

step: *std.Build.Step,
/// The file.
output: std.Build.LazyPath,

pub const Options = struct {
    package: *std.Build,
    set: std.Build.LazyPath,
    /// What has to be done before the set is looked at.
    after: *std.Build.Step,
};

pub fn create(b: *std.Build, options: Options) Domains {
    const run = b.addRunArtifact(b.addExecutable(.{
        .name = "write-domains",
        .root_module = b.createModule(.{
            .root_source_file = options.package.path("zig_bridge/build/write_domains.zig"),
            .target = b.graph.host,
        }),
    }));
    run.setName("take the domains out of the set");
    run.addFileArg(options.set.path(b, "aot.json"));
    const output = run.addOutputFileArg("domains.zig");
    run.step.dependOn(options.after);
    return .{ .step = &run.step, .output = output };
}
