//! The generated test: it drives the declaration file for every round within the limits against one set.
const CoverageTest = @This();

const std = @import("std");
const Modules = @import("Modules.zig");
const Reader = @import("Reader.zig");

/// Runs the test.
step: *std.Build.Step,
/// The generated source file.
output: std.Build.LazyPath,

pub const Options = struct {
    package: *std.Build,
    reader: Reader,
    modules: Modules,
    declarations: std.Build.LazyPath,
    set: std.Build.LazyPath,
    /// What has to be done before the set is looked at.
    after: *std.Build.Step,
    target: []const u8,
    parallel: u32,
    window_rows: u32,
    prompt_rows: u32,
    /// What to run when a variant is missing.
    command: []const u8,
};

pub fn create(b: *std.Build, options: Options) CoverageTest {
    const source = generate(b, options);
    const root = b.createModule(.{
        .root_source_file = source,
        .target = b.graph.host,
        .imports = &.{
            .{ .name = "coverage", .module = options.modules.coverage },
            .{ .name = "rounds", .module = options.modules.driven(b, options.set) },
        },
    });
    root.addAnonymousImport("aot.json", .{ .root_source_file = options.set.path(b, "aot.json") });
    const compile = b.addTest(.{
        .name = b.fmt("coverage-{s}", .{options.target}),
        .root_module = root,
        .test_runner = .{ .path = options.package.path("zig_bridge/coverage/test_runner.zig"), .mode = .simple },
    });
    compile.step.dependOn(options.after);
    const run = b.addRunArtifact(compile);
    run.setName(b.fmt("check the coverage of {s}", .{options.target}));
    // What it prints, the count of what it checked, is for the user, every time the check is asked for.
    run.stdio = .inherit;
    return .{ .step = &run.step, .output = source };
}

fn generate(b: *std.Build, options: Options) std.Build.LazyPath {
    const run = b.addRunArtifact(options.reader.artifact);
    run.setName(b.fmt("generate the coverage test of {s}", .{options.target}));
    run.addArgs(&.{ "coverage-test", "--declarations" });
    run.addFileArg(options.declarations);
    run.addArgs(&.{ "--parallel", b.fmt("{d}", .{options.parallel}) });
    run.addArgs(&.{ "--window-rows", b.fmt("{d}", .{options.window_rows}) });
    run.addArgs(&.{ "--prompt-rows", b.fmt("{d}", .{options.prompt_rows}) });
    run.addArgs(&.{ "--command", options.command, "--target", options.target });
    // The reader also reads the siblings that the declaration file imports.
    run.addArg("--depfile");
    _ = run.addDepFileOutputArg("coverage_test.d");
    return run.captureStdOut(.{ .basename = "coverage_test.zig" });
}
