const std = @import("std");

pub fn build(b: *std.Build) void {
    const target = b.standardTargetOptions(.{});
    const optimize = b.standardOptimizeOption(.{});
    const run_step = b.step("run", "Print which variant each launch of a round takes (arguments after --)");
    const test_step = b.step("test", "Check that the captured set covers every round");

    const capture = addCapture(b, test_step);
    const rounds = capture.modules.rounds.?; // The profile names one.
    const program = b.addExecutable(.{
        .name = "qwen27",
        .root_module = b.createModule(.{
            .root_source_file = b.path("src/main.zig"),
            .target = b.graph.host,
            .imports = &.{
                .{ .name = "set", .module = capture.modules.set },
                .{ .name = "cuda", .module = capture.modules.cuda },
                .{ .name = "build_capture", .module = capture.modules.build_capture },
                .{ .name = "coverage", .module = capture.modules.coverage },
                .{ .name = "profile", .module = capture.modules.profile },
                .{ .name = "rounds", .module = rounds },
            },
        }),
    });
    b.installArtifact(program);
    b.installArtifact(addServe(b, capture, target, optimize));
    const serve_on_host = addServe(b, capture, b.graph.host, null);
    rounds.resolved_target = b.graph.host;
    for ([_]*std.Build.Module{ program.root_module, serve_on_host.root_module, rounds }) |module| {
        test_step.dependOn(&b.addRunArtifact(b.addTest(.{ .root_module = module })).step);
    }

    const run = b.addRunArtifact(program);
    addCommandLine(b, run);
    run_step.dependOn(&run.step);
}

/// The program that serves rounds on a GPU: the declaration file's `cuda` is the runtime.
fn addServe(
    b: *std.Build,
    capture: @import("build_capture").Result,
    target: std.Build.ResolvedTarget,
    optimize: ?std.builtin.OptimizeMode,
) *std.Build.Step.Compile {
    return b.addExecutable(.{
        .name = "qwen27-serve",
        .root_module = b.createModule(.{
            .root_source_file = b.path("src/serve.zig"),
            .target = target,
            .optimize = optimize,
            .imports = &.{
                .{ .name = "cuda", .module = capture.modules.runtime },
                .{ .name = "profile", .module = capture.modules.profile },
            },
        }),
    });
}

/// Hands what follows `--` on; Zig 0.17 has a method for it, Zig 0.16 a field.
fn addCommandLine(b: *std.Build, run: *std.Build.Step.Run) void {
    if (@hasDecl(std.Build.Step.Run, "addPassthruArgs")) {
        run.addPassthruArgs();
    } else if (b.args) |arguments| {
        run.addArgs(arguments);
    }
}

// build-capture: begin. Paste this into build.zig, call addCapture in build(), and keep a capture.zon beside it.
/// Captures the Triton kernels that capture.zon declares: with -Dcapture=true the sets install with everything else, and
/// `test_step` fails for a launch that has no variant. Without it, `test_step` shows one skipped test.
fn addCapture(b: *std.Build, test_step: *std.Build.Step) @import("build_capture").Result {
    const capture = @import("build_capture").add(b, @import("capture.zon"), b.path("capture.zon"));
    capture.installWith(b.getInstallStep());
    test_step.dependOn(capture.test_step);
    return capture;
}
// build-capture: end
