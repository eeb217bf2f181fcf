//! A set that was captured elsewhere, or earlier and is kept in the tree. No Python starts; a folder that is no whole set, or
//! that was made from other sources than those in the tree, fails the build by name.
const FinishedSet = @This();

const std = @import("std");
const Modules = @import("Modules.zig");
const target_names = @import("target_names.zig");
const VerifySet = @import("VerifySet.zig");

step: *std.Build.Step,
/// The folder of the set.
output: std.Build.LazyPath,

pub const Options = struct {
    package: *std.Build,
    /// The module `set`, which reads an `aot.json`.
    set: *std.Build.Module,
    sources: Modules.Sources,
    /// As given on the command line: absolute, or relative to where `zig build` was called.
    folder: []const u8,
    /// `sm_121`, or `native`: any target.
    target: []const u8,
    /// `refuse` or `warn`: what a source that changed means.
    stale: []const u8,
};

pub fn create(b: *std.Build, options: Options) FinishedSet {
    const output: std.Build.LazyPath = .{ .cwd_relative = b.dupe(options.folder) };
    const program = VerifySet.create(b, .{ .package = options.package, .set = options.set, .consumer = null });
    const run = b.addRunArtifact(program.artifact);
    run.setName(b.fmt("check the files of -Dcapture-set={s}", .{options.folder}));
    if (target_names.known(options.target)) |target| run.addArgs(&.{ "--target", target });
    run.addArgs(&.{ "--folder", "--stale", options.stale });
    addTree(run, options.sources);
    // The folder is an input by name only, and the program has no output, so that it looks at the files in every build.
    run.addDirectoryArg(output);
    // What it warns of is for the user.
    run.stdio = .inherit;
    return .{ .step = &run.step, .output = output };
}

fn addTree(run: *std.Build.Step.Run, sources: Modules.Sources) void {
    run.addArg("--profile");
    run.addFileArg(sources.profile);
    run.addArg("--declarations");
    run.addFileArg(sources.declarations);
    if (sources.rounds) |rounds| {
        run.addArg("--rounds");
        run.addFileArg(rounds);
    }
    run.addArg("--kernels");
    run.addDirectoryArg(sources.kernels);
}
