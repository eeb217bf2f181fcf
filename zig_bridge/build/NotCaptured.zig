//! The visible stand-in for the coverage test where nothing was captured: one skipped test, and a line that says so.
const NotCaptured = @This();

const std = @import("std");
const Report = @import("Report.zig");

/// What is printed; a skipped test shows in a summary only.
const message = "not captured: pass -Dcapture=true (or -Dcapture-set=DIR) to check the coverage\n";

/// Runs the test.
step: *std.Build.Step,

pub const Options = struct {
    package: *std.Build,
};

pub fn create(b: *std.Build, options: Options) NotCaptured {
    const compile = b.addTest(.{
        .name = "not-captured",
        .root_module = b.createModule(.{
            .root_source_file = options.package.path("zig_bridge/build/not_captured_test.zig"),
            .target = b.graph.host,
        }),
    });
    const run = b.addRunArtifact(compile);
    run.setName("not captured: pass -Dcapture=true");
    // A cached run counts no skip, and this one holds for every build.
    run.has_side_effects = true;
    const print = Report.create(b, .{ .package = options.package });
    print.run.setName("say that nothing is captured");
    print.add(b.addWriteFiles().add("not-captured.txt", message));
    run.step.dependOn(print.step);
    return .{ .step = &run.step };
}
