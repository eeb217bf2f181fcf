//! The generated file that knows the launches of a declaration file and the limits of this build: the coverage test, and what
//! `verify-set` is built with.
const CoverageSource = @This();

const std = @import("std");
const Modules = @import("Modules.zig");
const Reader = @import("Reader.zig");
const target_names = @import("target_names.zig");

step: *std.Build.Step,
/// The source file.
output: std.Build.LazyPath,

pub const Options = struct {
    reader: Reader,
    declarations: std.Build.LazyPath,
    /// What a set has to be for; null where any will do.
    target: ?[]const u8,
    parallel: u32,
    window_rows: u32,
    prompt_rows: u32,
    /// What to run when a variant is missing.
    command: []const u8,
};

pub fn create(b: *std.Build, options: Options) CoverageSource {
    const run = b.addRunArtifact(options.reader.artifact);
    run.setName(b.fmt("generate the coverage test of {s}", .{options.target orelse "any target"}));
    run.addArgs(&.{ "coverage-test", "--declarations" });
    run.addFileArg(options.declarations);
    run.addArgs(&.{ "--parallel", b.fmt("{d}", .{options.parallel}) });
    run.addArgs(&.{ "--window-rows", b.fmt("{d}", .{options.window_rows}) });
    run.addArgs(&.{ "--prompt-rows", b.fmt("{d}", .{options.prompt_rows}) });
    run.addArgs(&.{ "--command", options.command });
    if (options.target) |name| if (target_names.known(name)) |target| run.addArgs(&.{ "--target", target });
    // The reader also reads the siblings that the declaration file imports.
    run.addArg("--depfile");
    _ = run.addDepFileOutputArg("coverage_test.d");
    return .{ .step = &run.step, .output = run.captureStdOut(.{ .basename = "coverage_test.zig" }) };
}

/// The file as a module. `domains` is a set's `domains.zig`, null where rounds drive everything; `target` is null for a
/// module that gets its target from who imports it.
pub fn module(source: CoverageSource, b: *std.Build, modules: Modules, domains: ?std.Build.LazyPath, target: ?std.Build.ResolvedTarget) *std.Build.Module {
    return b.createModule(.{
        .root_source_file = source.output,
        .target = target,
        .imports = &.{
            .{ .name = "coverage", .module = modules.coverage },
            .{ .name = "rounds", .module = modules.driven(b, domains) },
        },
    });
}
