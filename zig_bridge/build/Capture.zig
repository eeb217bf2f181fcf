//! Runs the capture, which is Python because Triton is. Every input is a file argument or a line of the depfile that
//! the capture writes, so that Python starts only when one of them changed.
const Capture = @This();

const std = @import("std");
const Reader = @import("Reader.zig");
const target_names = @import("target_names.zig");

step: *std.Build.Step,
/// The folder of the set.
output: std.Build.LazyPath,
/// What the capture printed: a table of kernels, needs, variants, cubins and bytes.
report: std.Build.LazyPath,

pub const Options = struct {
    package: *std.Build,
    reader: Reader,
    profile: std.Build.LazyPath,
    python: []const u8,
    mode: []const u8,
    policy: ?[]const u8,
    ptxas: ?[]const u8,
    target: []const u8,
    parallel: u32,
    window_rows: u32,
    jobs: ?u32,
    /// A capture to wait for. Each uses every processor and the same private cache, so they run one after the other.
    after: ?*std.Build.Step,
};

pub fn create(b: *std.Build, options: Options) Capture {
    const run = std.Build.Step.Run.create(b, b.fmt("capture {s}", .{options.target}));
    run.rename_step_with_output_arg = false;
    addPython(run, options.python);
    run.addFileArg(options.package.path("build_capture/__main__.py"));
    run.addArgs(&.{ "capture", "--profile" });
    run.addFileArg(options.profile);
    run.addArg("--zig");
    addZig(run);
    run.addArg("--reader");
    run.addArtifactArg(options.reader.artifact);
    run.addArg("--cache-dir");
    addPrivateCache(run);
    run.addArgs(&.{ "--mode", options.mode, "--target", options.target });
    run.addArgs(&.{ "--parallel", b.fmt("{d}", .{options.parallel}) });
    run.addArgs(&.{ "--window-rows", b.fmt("{d}", .{options.window_rows}) });
    if (options.policy) |policy| run.addArgs(&.{ "--policy", policy });
    if (options.ptxas) |path| {
        run.addArg("--ptxas");
        run.addFileArg(.{ .cwd_relative = path });
    }
    // Which GPU is at hand is nothing that Zig could track: what depends on it is asked anew in every build.
    if (std.mem.eql(u8, options.mode, "auto") or std.mem.eql(u8, options.target, target_names.native)) run.has_side_effects = true;
    if (options.jobs) |jobs| run.addArgs(&.{ "--jobs", b.fmt("{d}", .{jobs}) });
    run.addArg("--out");
    const output = run.addOutputDirectoryArg("set");
    run.addArg("--depfile");
    _ = run.addDepFileOutputArg("capture.d");
    // What is said on stderr shows when the capture fails. Of a capture that succeeds Zig 0.16 would show it under the
    // words "failed command"; a report belongs on stdout.
    _ = run.captureStdErr(.{ .basename = "progress.txt" });
    if (options.after) |step| run.step.dependOn(step);
    return .{
        .step = &run.step,
        .output = output,
        .report = run.captureStdOut(.{ .basename = "report.txt" }),
    };
}

/// A name without a folder is looked up in PATH. The found path, not the name, is the step's input: with another PATH
/// the same name is another Python, and the set has to be made again.
fn addPython(run: *std.Build.Step.Run, python: []const u8) void {
    const b = run.step.owner;
    if (std.mem.findAny(u8, python, "/\\") != null) {
        run.addFileArg(.{ .cwd_relative = python });
    } else if (@hasDecl(std.Build, "findProgramLazy")) {
        // Zig 0.17 keeps the configured graph, so the look-up must wait until the step runs.
        run.addFileArg(b.findProgramLazy(.{ .names = &.{python} }));
    } else if (findInPath(b, python)) |path| {
        // Zig 0.16 configures in every build, so that this look-up is never stale.
        run.addFileArg(.{ .cwd_relative = path });
    } else {
        const fail = b.addFail(b.fmt("-Dcapture-python={s}: there is no such program in PATH; expected a Python, by its name or its path", .{python}));
        run.step.dependOn(&fail.step);
    }
}

/// Where PATH has the program. Zig 0.16's own `findProgram` follows a link to its end, and a virtual environment's Python
/// is a link: at its end is a Python without what the environment holds. Zig 0.17's does not.
fn findInPath(b: *std.Build, name: []const u8) ?[]const u8 {
    var folders = std.mem.tokenizeScalar(u8, b.graph.environ_map.get("PATH") orelse return null, std.fs.path.delimiter);
    while (folders.next()) |folder| {
        const path = b.pathJoin(&.{ folder, name });
        std.Io.Dir.cwd().access(b.graph.io, path, .{ .execute = true }) catch continue;
        return path;
    }
    return null;
}

/// The Zig that runs this build also compiles the probe, so that both read the declarations alike.
fn addZig(run: *std.Build.Step.Run) void {
    const graph = run.step.owner.graph;
    if (@hasDecl(std.Build.Graph, "path")) {
        // Zig 0.17 keeps the configured graph, also for the same release in another place: the step asks for the path.
        // Only the name is an input; the release is in every key of Zig's cache.
        run.addDirectoryArg(graph.path(.zig_exe, ""));
    } else {
        run.addArg(graph.zig_exe);
    }
}

/// Hands over where compiled variants are kept between captures. What is in that folder changes nothing but the time, so
/// it is an input by name only; the name is absolute, so that it does not depend on where `zig build` is called.
fn addPrivateCache(run: *std.Build.Step.Run) void {
    const b = run.step.owner;
    const name = "build-capture";
    if (@hasField(std.Build, "cache_root")) {
        const root = b.cache_root.path orelse ".";
        run.addArg(std.fs.path.resolve(b.allocator, &.{ b.graph.cache.cwd, root, name }) catch @panic("OOM"));
    } else {
        run.addDirectoryArg2(b.graph.path(.local_cache, name), .{ .make_absolute = true });
    }
}
