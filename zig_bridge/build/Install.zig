//! Installs sets where engines look for them: `share/<family>/cuda/sm<NN>/`, the manifest and the cubins, nothing else.
const Install = @This();

const std = @import("std");
const target_names = @import("target_names.zig");

step: *std.Build.Step,

pub const Options = struct {
    package: *std.Build,
    /// The module `set`, which reads an `aot.json`.
    set_module: *std.Build.Module,
    family: []const u8,
    target: []const u8,
    set: std.Build.LazyPath,
    /// What has to be done before the set is looked at.
    after: *std.Build.Step,
};

pub fn create(b: *std.Build, options: Options) Install {
    // Zig's own install steps leave the cubins of an earlier set where they are. This program has no output that Zig
    // knows, so that it runs in every build and restores what was deleted; it writes only what differs.
    const run = b.addRunArtifact(b.addExecutable(.{
        .name = "install-set",
        .root_module = b.createModule(.{
            .root_source_file = options.package.path("zig_bridge/build/install_set.zig"),
            .target = b.graph.host,
            .imports = &.{.{ .name = "set", .module = options.set_module }},
        }),
    }));
    run.setName(b.fmt("install the set of {s}", .{options.target}));
    run.addDirectoryArg(options.set);
    const folder = b.fmt("share/{s}/cuda", .{options.family});
    if (@hasDecl(std.Build, "getInstallPath")) {
        run.addArg(b.getInstallPath(.prefix, folder));
    } else {
        run.addDirectoryArg(b.graph.path(.install_prefix, folder));
    }
    run.addArg(target_names.folder(b, options.target));
    run.step.dependOn(options.after);
    return .{ .step = &run.step };
}
