//! What a consumer's `build.zig` gets from `@import("build_capture")`: one function that adds the capture to a build.

const std = @import("std");

const Capture = @import("Capture.zig");
const CoverageTest = @import("CoverageTest.zig");
const FinishedSet = @import("FinishedSet.zig");
const Install = @import("Install.zig");
const NotCaptured = @import("NotCaptured.zig");
const Profile = @import("Profile.zig");
const Reader = @import("Reader.zig");
const Report = @import("Report.zig");

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
        for (result.sets) |set| step.dependOn(set.install.step);
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
    const sets = if (options.set) |folder|
        addFinished(context, folder)
    else if (options.capture)
        addCaptures(context)
    else
        addNothing(context);
    return .{ .sets = sets, .test_step = context.steps.tests, .modules = modules, .options = options };
}

const Steps = struct {
    capture: *std.Build.Step,
    tests: *std.Build.Step,
    report: *std.Build.Step,

    fn create(b: *std.Build) Steps {
        return .{
            .capture = b.step("capture", "Install the captured sets (with -Dcapture=true)"),
            .tests = b.step("capture-test", "Check that every launch of every round has a variant"),
            .report = b.step("capture-report", "Print what the captured sets hold (with -Dcapture=true)"),
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
    if (targets.len > 1) {
        std.log.err("-Dcapture-set is one set, for one target; expected one -Dcapture-target, found {d}", .{targets.len});
        b.invalid_user_input = true;
    }
    if (targets.len == 0) return &.{};
    const finished = FinishedSet.create(b, .{ .package = context.package, .set = context.modules.set, .folder = folder });
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
            .target = target,
            .parallel = context.options.parallel,
            .window_rows = context.options.window_rows,
            .jobs = context.options.jobs,
            .after = previous,
        });
        report.add(capture.report);
        set.* = addSet(context, target, capture.output, capture.step);
        previous = capture.step;
    }
    return sets;
}

/// Installs and tests the set that `after` leaves in `folder`.
fn addSet(context: Context, target: []const u8, folder: std.Build.LazyPath, after: *std.Build.Step) Set {
    const b = context.b;
    const install = Install.create(b, .{
        .package = context.package,
        .family = context.profile.family,
        .target = target,
        .set = folder,
        .after = after,
    });
    context.steps.capture.dependOn(install.step);
    const coverage_test = CoverageTest.create(b, .{
        .package = context.package,
        .reader = context.reader,
        .modules = context.modules,
        .declarations = context.sources.declarations,
        .set = folder,
        .after = after,
        .target = target,
        .parallel = context.options.parallel,
        .window_rows = context.options.window_rows,
        .prompt_rows = context.profile.prompt_rows,
        .command = context.options.command(b, context.profile, target),
    });
    context.steps.tests.dependOn(coverage_test.step);
    return .{ .target = target, .folder = folder, .install = install, .coverage_test = coverage_test };
}

/// Makes `step` run the unit tests of this package's own Zig, and compile the reader, whose tests run it from outside;
/// `package` is its builder.
pub fn addOwnTests(package: *std.Build, step: *std.Build.Step) void {
    const own = Modules.Own.create(package);
    const tested = [_]struct { []const u8, *std.Build.Module }{
        .{ "set", own.set },
        .{ "cuda", own.cuda },
        .{ "build_capture", own.build_capture },
        .{ "coverage", own.coverage },
        .{ "parameters", package.createModule(.{
            .root_source_file = package.path("zig_bridge/coverage/parameters.zig"),
            .imports = &.{.{ .name = "cuda", .module = own.cuda }},
        }) },
        .{ "target-names", fileModule(package, "zig_bridge/build/target_names.zig") },
        .{ "check-set", package.createModule(.{
            .root_source_file = package.path("zig_bridge/build/check_set.zig"),
            .imports = &.{.{ .name = "set", .module = own.set }},
        }) },
        .{ "install-set", fileModule(package, "zig_bridge/build/install_set.zig") },
    };
    step.dependOn(Reader.create(package, .{ .package = package }).step);
    for (tested) |entry| {
        const name, const module = entry;
        module.resolved_target = package.graph.host;
        const compile = package.addTest(.{ .name = name, .root_module = module });
        step.dependOn(&package.addRunArtifact(compile).step);
    }
}

fn fileModule(package: *std.Build, path: []const u8) *std.Build.Module {
    return package.createModule(.{ .root_source_file = package.path(path) });
}
