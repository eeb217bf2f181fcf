//! Prints what the captures said, also when they did not run because nothing changed.
const Report = @This();

const std = @import("std");

step: *std.Build.Step,
run: *std.Build.Step.Run,

pub const Options = struct {
    package: *std.Build,
};

pub fn create(b: *std.Build, options: Options) Report {
    const run = b.addRunArtifact(b.addExecutable(.{
        .name = "print-report",
        .root_module = b.createModule(.{
            .root_source_file = options.package.path("zig_bridge/build/print_report.zig"),
            .target = b.graph.host,
        }),
    }));
    run.setName("print the report");
    // Its whole effect is what it prints, every time it is asked for.
    run.stdio = .inherit;
    return .{ .step = &run.step, .run = run };
}

/// Prints `report` too, after the ones added before.
pub fn add(report: Report, file: std.Build.LazyPath) void {
    report.run.addFileArg(file);
}
