//! What a consumer's `build.zig` gets from `@import("build_capture")`: one function that adds the capture to a build.

const std = @import("std");

const Capture = @import("Capture.zig");
const CoverageSource = @import("CoverageSource.zig");
const CoverageTest = @import("CoverageTest.zig");
const Domains = @import("Domains.zig");
const FinishedSet = @import("FinishedSet.zig");
const Install = @import("Install.zig");
const NotCaptured = @import("NotCaptured.zig");
const Profile = @import("Profile.zig");
const Reader = @import("Reader.zig");
const RefreshSet = @import("RefreshSet.zig");
const Replay = @import("Replay.zig");
const Report = @import("Report.zig");
const Verify = @import("Verify.zig");

pub const Modules = @import("Modules.zig");
pub const Options = @import("Options.zig");

/// What `add` made. Nothing of it runs unless a step that is asked for depends on it.
pub const Result = struct {
    /// One for each target; empty where nothing is captured.
    sets: []const Set,
    /// Checks that every launch of every round has a variant; also the step `capture-test`.
    test_step: *std.Build.Step,
    /// For a program of the consumer's own that drives the declarations on the host.
    modules: Modules,
    /// The options as given, with the profile's defaults.
    options: Options,

    /// Makes `step` install the sets; without a set it changes nothing.
    pub fn installWith(result: Result, step: *std.Build.Step) void {
        for (result.sets) |set| {
            step.dependOn(set.install.step);
            if (set.refresh) |refresh| step.dependOn(refresh.step);
        }
    }
};

/// One set, captured in this build or finished before.
pub const Set = struct {
    /// `sm_121`
    target: []const u8,
    /// The folder: `aot.json` and `cubins/`.
    folder: std.Build.LazyPath,
    install: Install,
    coverage_test: CoverageTest,
    /// The launches and limits that it is tested for.
    source: CoverageSource,
    /// The set's `domains.zig`; null where rounds drive everything.
    domains: ?std.Build.LazyPath,
    /// What has to be done before the set is looked at.
    after: *std.Build.Step,
    /// Puts the set where it is kept in the tree; null where it is kept nowhere.
    refresh: ?RefreshSet,
};

/// Adds the options, the steps and the modules of the capture to `b`. `package` is the builder of this package,
/// `profile_value` the imported `capture.zon` and `profile_file` the same as a file.
pub fn add(
    b: *std.Build,
    package: *std.Build,
    comptime profile_value: anytype,
    profile_file: std.Build.LazyPath,
) Result {
    const profile = Profile.create(profile_value);
    const sources = Modules.Sources.create(b, profile, profile_file);
    const modules = Modules.create(b, Modules.Own.create(package), sources);
    const options = Options.create(b, profile);
    const context: Context = .{
        .b = b,
        .package = package,
        .profile = profile,
        .sources = sources,
        .modules = modules,
        .options = options,
        .reader = Reader.create(b, .{ .package = package }),
        .steps = Steps.create(b),
    };
    if (options.set != null and options.targets.len > 1) {
        std.log.err("-Dcapture-set is one set, for one target; expected one -Dcapture-target, found {d}", .{options.targets.len});
        b.invalid_user_input = true;
    }
    const sets = if (options.capture)
        addCaptures(context)
    else if (options.set) |folder|
        addFinished(context, folder)
    else
        addNothing(context);
    Verify.add(b, .{
        .package = package,
        .sources = sources,
        .modules = modules,
        .sets = sets,
        .source = addSource(context, if (options.targets.len == 1) options.targets[0] else null),
        .verify_step = context.steps.verify,
        .verifier_step = context.steps.verifier,
    });
    Replay.add(b, package, context.steps.replayer);
    return .{ .sets = sets, .test_step = context.steps.tests, .modules = modules, .options = options };
}

const Steps = struct {
    capture: *std.Build.Step,
    tests: *std.Build.Step,
    report: *std.Build.Step,
    verify: *std.Build.Step,
    verifier: *std.Build.Step,
    replayer: *std.Build.Step,

    fn create(b: *std.Build) Steps {
        return .{
            .capture = b.step("capture", "Install the captured sets (with -Dcapture=true)"),
            .tests = b.step("capture-test", "Check that every launch of every round has a variant"),
            .report = b.step("capture-report", "Print what the captured sets hold (with -Dcapture=true)"),
            .verify = b.step("verify-set", "Check every file of the sets, and their coverage (with -Dcapture=true or -Dcapture-set=DIR)"),
            .verifier = b.step("verifier", "Install bin/verify-set-<arch>-linux: static programs that check a set where it is deployed"),
            .replayer = b.step("replayer", "Install bin/replay-set-<arch>-linux: programs that launch on a GPU what a capture there launched, and compare the bits"),
        };
    }
};

/// What the parts of the graph share.
const Context = struct {
    b: *std.Build,
    package: *std.Build,
    profile: Profile,
    sources: Modules.Sources,
    modules: Modules,
    options: Options,
    reader: Reader,
    steps: Steps,
};

fn addNothing(context: Context) []const Set {
    const fail = context.b.addFail("nothing is captured; expected -Dcapture=true or -Dcapture-set=DIR");
    context.steps.capture.dependOn(&fail.step);
    context.steps.report.dependOn(&fail.step);
    context.steps.tests.dependOn(NotCaptured.create(context.b, .{ .package = context.package }).step);
    return &.{};
}

fn addFinished(context: Context, folder: []const u8) []const Set {
    const b = context.b;
    const targets = context.options.targets;
    if (targets.len == 0) return &.{};
    const finished = FinishedSet.create(b, .{
        .package = context.package,
        .set = context.modules.set,
        .sources = context.sources,
        .folder = folder,
        .target = targets[0],
        .stale = @tagName(context.options.stale),
    });
    const fail = b.addFail("no capture ran, so there is no report; a finished set was given with -Dcapture-set");
    context.steps.report.dependOn(&fail.step);
    return context.b.allocator.dupe(Set, &.{
        addSet(context, targets[0], finished.output, finished.step),
    }) catch @panic("OOM");
}

fn addCaptures(context: Context) []const Set {
    const b = context.b;
    const report = Report.create(b, .{ .package = context.package });
    context.steps.report.dependOn(report.step);
    const sets = b.allocator.alloc(Set, context.options.targets.len) catch @panic("OOM");
    var previous: ?*std.Build.Step = null;
    for (sets, context.options.targets) |*set, target| {
        const capture = Capture.create(b, .{
            .package = context.package,
            .reader = context.reader,
            .profile = context.sources.profile,
            .python = context.options.python,
            .mode = @tagName(context.options.mode),
            .policy = if (context.options.policy) |policy| @tagName(policy) else null,
            .ptxas = context.options.ptxas,
            .target = target,
            .parallel = context.options.parallel,
            .window_rows = context.options.window_rows,
            .jobs = context.options.jobs,
            .after = previous,
        });
        report.add(capture.report);
        set.* = addSet(context, target, capture.output, capture.step);
        if (context.options.set) |folder| {
            set.refresh = RefreshSet.create(b, .{
                .package = context.package,
                .set_module = context.modules.set,
                .set = capture.output,
                .folder = folder,
                .after = capture.step,
            });
            context.steps.capture.dependOn(set.refresh.?.step);
        }
        previous = capture.step;
    }
    return sets;
}

/// Installs and tests the set that `after` leaves in `folder`.
fn addSet(context: Context, target: []const u8, folder: std.Build.LazyPath, after: *std.Build.Step) Set {
    const b = context.b;
    const install = Install.create(b, .{
        .package = context.package,
        .set_module = context.modules.set,
        .family = context.profile.family,
        .target = target,
        .set = folder,
        .after = after,
    });
    context.steps.capture.dependOn(install.step);
    const domains: ?std.Build.LazyPath = if (context.profile.drives_domains)
        Domains.create(b, .{ .package = context.package, .set = folder, .after = after }).output
    else
        null;
    const source = addSource(context, target);
    const coverage_test = CoverageTest.create(b, .{
        .package = context.package,
        .source = source,
        .modules = context.modules,
        .set = folder,
        .domains = domains,
        .after = after,
        .target = target,
    });
    context.steps.tests.dependOn(coverage_test.step);
    return .{
        .target = target,
        .folder = folder,
        .install = install,
        .coverage_test = coverage_test,
        .source = source,
        .domains = domains,
        .after = after,
        .refresh = null,
    };
}

/// The launches and limits of this build. `target` is null where more than one set is checked with them.
fn addSource(context: Context, target: ?[]const u8) CoverageSource {
    return .create(context.b, .{
        .reader = context.reader,
        .declarations = context.sources.declarations,
        .target = target,
        .parallel = context.options.parallel,
        .window_rows = context.options.window_rows,
        .prompt_rows = context.profile.prompt_rows,
        .command = context.options.command(context.b, context.profile, target orelse context.profile.target),
    });
}

/// Makes `step` run the unit tests of this package's own Zig, and compile the reader, whose tests run it from outside;
/// `package` is its builder.
pub fn addOwnTests(package: *std.Build, step: *std.Build.Step) void {
    const own = Modules.Own.create(package);
    const tested = [_]struct { []const u8, *std.Build.Module }{
        .{ "set", own.set },
        .{ "cuda", own.cuda },
        .{ "runtime", own.runtime },
        .{ "replay-set", Replay.module(package, own.set, .{}) },
        .{ "build_capture", own.build_capture },
        .{ "coverage", own.coverage },
        .{ "parameters", package.createModule(.{
            .root_source_file = package.path("zig_bridge/coverage/parameters.zig"),
            .imports = &.{.{ .name = "cuda", .module = own.cuda }},
        }) },
        .{ "target-names", fileModule(package, "zig_bridge/build/target_names.zig") },
        .{ "verify", setModule(package, own, "zig_bridge/verify/verify.zig") },
        .{ "install-set", setModule(package, own, "zig_bridge/build/install_set.zig") },
        .{ "refresh-set", setModule(package, own, "zig_bridge/build/refresh_set.zig") },
        .{ "write-domains", fileModule(package, "zig_bridge/build/write_domains.zig") },
    };
    step.dependOn(Reader.create(package, .{ .package = package }).step);
    for (tested) |entry| {
        const name, const module = entry;
        module.resolved_target = package.graph.host;
        const compile = package.addTest(.{ .name = name, .root_module = module });
        step.dependOn(&package.addRunArtifact(compile).step);
    }
}

fn setModule(package: *std.Build, own: Modules.Own, path: []const u8) *std.Build.Module {
    return package.createModule(.{
        .root_source_file = package.path(path),
        .imports = &.{.{ .name = "set", .module = own.set }},
    });
}

fn fileModule(package: *std.Build, path: []const u8) *std.Build.Module {
    return package.createModule(.{ .root_source_file = package.path(path) });
}
