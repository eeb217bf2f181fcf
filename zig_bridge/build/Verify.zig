//! The steps around the program `verify-set`: one checks the sets of this build, one installs the program for the machines
//! that sets are shipped to.

const std = @import("std");
const build_capture = @import("build_capture.zig");
const CoverageSource = @import("CoverageSource.zig");
const Modules = @import("Modules.zig");
const shipped = @import("shipped.zig");
const target_names = @import("target_names.zig");
const VerifySet = @import("VerifySet.zig");

pub const Options = struct {
    package: *std.Build,
    sources: Modules.Sources,
    modules: Modules,
    sets: []const build_capture.Set,
    /// The launches and limits that the installed program checks for.
    source: CoverageSource,
    verify_step: *std.Build.Step,
    verifier_step: *std.Build.Step,
};

pub fn add(b: *std.Build, options: Options) void {
    if (options.sets.len == 0) {
        const fail = b.addFail("there is no set to verify; expected -Dcapture=true or -Dcapture-set=DIR");
        options.verify_step.dependOn(&fail.step);
    }
    for (options.sets) |set| addRun(b, options, set);
    // Where domains are driven, a set is what knows how.
    if (options.modules.drives_domains and options.sets.len == 0) {
        const fail = b.addFail("the profile has domains, and only a set says how to drive them; expected -Dcapture=true or -Dcapture-set=DIR");
        options.verifier_step.dependOn(&fail.step);
        return;
    }
    for (shipped.architectures) |architecture| addShipped(b, options, architecture);
}

fn addRun(b: *std.Build, options: Options, set: build_capture.Set) void {
    const program = VerifySet.create(b, .{
        .package = options.package,
        .set = options.modules.set,
        .consumer = set.source.module(b, options.modules, set.domains, null),
    });
    const run = b.addRunArtifact(program.artifact);
    run.setName(b.fmt("verify the set of {s}", .{set.target}));
    if (target_names.known(set.target)) |target| run.addArgs(&.{ "--target", target });
    // The folder is an input by name only, and the program has no output, so that it looks at the files in every build.
    run.addDirectoryArg(set.folder);
    run.stdio = .inherit;
    run.step.dependOn(set.after);
    options.verify_step.dependOn(&run.step);
}

fn addShipped(b: *std.Build, options: Options, architecture: std.Target.Cpu.Arch) void {
    // The modules of this build may belong to the host by now, where a consumer tests them.
    const own: Modules.Own = .create(options.package);
    const modules = Modules.create(b, own, options.sources);
    const domains = if (options.modules.drives_domains) options.sets[0].domains else null;
    const program = VerifySet.create(b, .{
        .package = options.package,
        .set = own.set,
        .consumer = options.source.module(b, modules, domains, null),
        .target = b.resolveTargetQuery(.{ .cpu_arch = architecture, .os_tag = .linux, .abi = .musl }),
    });
    const install = b.addInstallBinFile(program.output, b.fmt("verify-set-{t}-linux", .{architecture}));
    options.verifier_step.dependOn(&install.step);
}
