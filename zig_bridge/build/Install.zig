//! Installs a set where engines look for it: `share/<family>/cuda/sm<NN>/`, the manifest and the cubins, nothing else.
const Install = @This();

const std = @import("std");
const target_names = @import("target_names.zig");

/// Depends on everything that has to be installed.
steps: [2]*std.Build.Step,

pub const Options = struct {
    family: []const u8,
    target: []const u8,
    set: std.Build.LazyPath,
    /// What has to be done before the set is looked at.
    after: *std.Build.Step,
};

pub fn create(b: *std.Build, options: Options) Install {
    const folder = b.fmt("share/{s}/cuda/{s}", .{ options.family, target_names.folder(b, options.target) });
    const manifest = b.addInstallFile(options.set.path(b, "aot.json"), b.fmt("{s}/aot.json", .{folder}));
    const cubins = b.addInstallDirectory(.{
        .source_dir = options.set.path(b, "cubins"),
        .install_dir = .prefix,
        .install_subdir = b.fmt("{s}/cubins", .{folder}),
        .include_extensions = &.{".cubin"},
    });
    const steps = [2]*std.Build.Step{ &manifest.step, &cubins.step };
    for (steps) |step| step.dependOn(options.after);
    return .{ .steps = steps };
}
