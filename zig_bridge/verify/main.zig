//! `verify-set`: checks a captured set where there is neither Python nor a GPU, and whether it covers what a server is
//! started for.

const std = @import("std");
const consumer = @import("consumer");
const verify = @import("verify");
const Arguments = @import("arguments.zig").Arguments;
const Exit = @import("arguments.zig").Exit;
const Writer = std.Io.Writer;

/// Whether this program was built with a consumer's rounds.
const has_rounds = @hasDecl(consumer, "rounds");

pub const panic = if (has_rounds) consumer.coverage.panic.handler("verify-set") else std.debug.FullPanic(std.debug.defaultPanic);

/// Everything that is known of one set.
const Result = struct {
    report: verify.Report,
    /// Null where the sources were not asked for.
    sources: ?Sources = null,
    /// Null where it was not asked for, or where a problem makes it pointless.
    coverage: ?Coverage = null,

    const Sources = struct {
        /// Null where the set records none.
        compared: ?verify.sources.Compared,
        is_warning: bool,
    };

    const Coverage = struct { parallel: u32, window_rows: u32, covered: bool, text: []const u8 };

    fn isGood(result: Result) bool {
        if (result.report.problems.len > 0) return false;
        if (result.sources) |sources| if (sources.compared) |compared| {
            if (!sources.is_warning and compared.stale.list.items.len > 0) return false;
        };
        return if (result.coverage) |coverage| coverage.covered else true;
    }
};

pub fn main(init: std.process.Init) u8 {
    return @intFromEnum(run(init) catch |failure| fault: {
        std.debug.print("verify-set: error: {t}; this is a fault of the program or its surroundings\n", .{failure});
        break :fault Exit.fault;
    });
}

fn run(init: std.process.Init) !Exit {
    const arena = init.arena.allocator();
    var output: Writer.Allocating = .init(arena);
    var problems: Writer.Allocating = .init(arena);
    const words = try init.minimal.args.toSlice(arena);
    const exit = try answer(init.io, arena, words[@min(1, words.len)..], &output.writer, &problems.writer);
    try tell(init.io, .stdout(), output.written());
    try tell(init.io, .stderr(), problems.written());
    return exit;
}

/// Writes all of the text. A reader that stops early, as `head` does, changes no exit code.
fn tell(io: std.Io, file: std.Io.File, text: []const u8) !void {
    var writer = file.writerStreaming(io, &.{});
    writer.interface.writeAll(text) catch return switch (writer.err.?) {
        error.BrokenPipe => {},
        else => |failure| failure,
    };
}

fn answer(io: std.Io, arena: std.mem.Allocator, words: []const []const u8, output: *Writer, problems: *Writer) !Exit {
    const defaults: Arguments.Defaults = if (has_rounds) .{
        .has_rounds = true,
        .parallel = consumer.options.limits.parallel,
        .window_rows = consumer.options.limits.window_rows,
        .target = if (consumer.options.target) |name| verify.parseTarget(name) else null,
    } else .{};
    const arguments = switch (try Arguments.parse(arena, words, defaults)) {
        .arguments => |arguments| arguments,
        .help => |text| {
            try output.writeAll(text);
            return .good;
        },
        .usage => |text| {
            try problems.print("verify-set: error: {s}; try --help\n", .{text});
            return .input;
        },
    };
    if (has_rounds) if (limitsOf(arguments).problem()) |text| {
        try problems.print("verify-set: error: {s}\n", .{text});
        return .input;
    };
    const dir: std.Io.Dir = .cwd();
    const folders = switch (try verify.find(io, arena, dir, arguments.path, arguments.target, arguments.folder)) {
        .folders => |folders| folders,
        .absent => |why| {
            const prefix = if (arguments.folder) "" else ", or the prefix where it is installed";
            try problems.print("{s}: error: there is no such folder ({s}); name the folder of a set{s}\n", .{ arguments.path, why, prefix });
            return .input;
        },
        .other_targets => |text| {
            try problems.print("{s}: error: {s}; name another folder\n", .{ arguments.path, text });
            return .differs;
        },
    };
    const results = try arena.alloc(Result, folders.len);
    var is_good = true;
    for (results, folders) |*result, folder| {
        result.* = .{ .report = verify.check(io, arena, dir, folder, arguments.target) catch |failure| switch (failure) {
            error.OutOfMemory => return error.OutOfMemory,
            error.NoFolder => {
                try problems.print("{s}: error: this folder cannot be read; name the folder of a set\n", .{folder});
                return .input;
            },
        } };
        if (arguments.folder and result.report.aot_json.len == 0) try addHint(io, arena, dir, folder, result);
        if (arguments.tree != null) try addTargetHint(arena, result);
        if (result.report.problems.len == 0) try addSources(io, arena, dir, arguments, result);
        if (result.isGood()) try addCoverage(arena, arguments, result);
        is_good = is_good and result.isGood();
    }
    if (arguments.json) try writeJson(output, results, is_good) else for (results) |result| try writeText(output, problems, result);
    return if (is_good) .good else .differs;
}

/// Where the folder of a set was wanted and a prefix was given, names the sets below it.
fn addHint(io: std.Io, arena: std.mem.Allocator, dir: std.Io.Dir, path: []const u8, result: *Result) !void {
    const below = switch (try verify.find(io, arena, dir, path, null, false)) {
        .folders => |folders| folders,
        else => return,
    };
    if (below.len == 1 and std.mem.eql(u8, below[0], path)) return;
    const problems = try arena.dupe(verify.Problem, result.report.problems);
    for (problems) |*problem| problem.mend = try std.fmt.allocPrint(arena, "sets are below it; name the folder of one: {s}", .{below[0]});
    result.report.problems = problems;
}

/// In a build the target can be named as well as the set: to a set of another GPU, adds how.
fn addTargetHint(arena: std.mem.Allocator, result: *Result) !void {
    const target = result.report.target orelse return;
    const problems = try arena.dupe(verify.Problem, result.report.problems);
    for (problems) |*problem| if (std.mem.eql(u8, problem.mend, verify.another_set)) {
        problem.mend = try std.fmt.allocPrint(arena, "{s}, or say -Dcapture-target=sm_{d}", .{ verify.another_set, target.sm });
    };
    result.report.problems = problems;
}

fn addSources(io: std.Io, arena: std.mem.Allocator, dir: std.Io.Dir, arguments: Arguments, result: *Result) !void {
    const tree = arguments.tree orelse return;
    const document = try verify.sources.parseDocument(arena, result.report.aot_json);
    result.sources = .{
        .compared = try verify.sources.compare(io, arena, dir, document, tree, result.report.folder),
        .is_warning = arguments.stale == .warn,
    };
}

fn addCoverage(arena: std.mem.Allocator, arguments: Arguments, result: *Result) !void {
    if (!has_rounds or !arguments.coverage) return;
    var text: Writer.Allocating = .init(arena);
    var options = consumer.options;
    options.limits = limitsOf(arguments);
    // The set's GPU was looked at before.
    options.target = null;
    options.command = try std.fmt.allocPrint(arena, "zig build -Dcapture=true -Dparallel={d} -Dwindow-rows={d}", .{
        arguments.parallel, arguments.window_rows,
    });
    const is_covered = if (consumer.coverage.checkTo(consumer.rounds, arena, result.report.aot_json, options, &text.writer)) |_|
        true
    else |failure| switch (failure) {
        error.OutOfMemory => return error.OutOfMemory,
        else => false,
    };
    result.coverage = .{ .parallel = arguments.parallel, .window_rows = arguments.window_rows, .covered = is_covered, .text = text.written() };
}

/// What the server that is to be started serves.
fn limitsOf(arguments: Arguments) consumer.coverage.Limits {
    var limits = consumer.options.limits;
    limits.parallel = arguments.parallel;
    limits.window_rows = arguments.window_rows;
    return limits;
}

/// How many problems of a set are told one by one.
const problems_told = 50;

fn writeText(output: *Writer, problems: *Writer, result: Result) !void {
    const report = result.report;
    for (report.problems[0..@min(report.problems.len, problems_told)]) |problem| try problem.write(problems);
    if (report.problems.len > problems_told) try problems.print("... and {d} more problems\n", .{report.problems.len - problems_told});
    if (report.problems.len > 1) try problems.print("{d} errors\n", .{report.problems.len});
    if (report.problems.len > 0) return;
    try output.print("{s}: ", .{report.folder});
    if (report.target) |target| try output.print("sm_{d}, ", .{target.sm});
    try output.print("{d} {s}, {d} {s}, {d} bytes, digest {s}\n", .{
        report.entries,                                if (report.entries == 1) "entry" else "entries", report.cubins,
        if (report.cubins == 1) "cubin" else "cubins", report.bytes,                                    &report.digest.?,
    });
    for (report.notes) |note| try output.print("{s}: note: {s}\n", .{ report.folder, note });
    if (result.sources) |sources| try writeSources(problems, report.folder, sources);
    if (result.coverage) |coverage| try (if (coverage.covered) output else problems).writeAll(coverage.text);
}

fn writeSources(problems: *Writer, folder: []const u8, sources: Result.Sources) !void {
    const compared = sources.compared orelse {
        return problems.print("{s}: warning: the set does not record what it was made from, so whether it is stale is not checked\n", .{folder});
    };
    for (compared.stale.list.items) |problem| {
        if (sources.is_warning) try problems.print("{s}: warning: {s}\n", .{ problem.file, problem.what }) else try problem.write(problems);
    }
    if (compared.left_out.items.len == 0) return;
    try problems.print("{s}: note: not compared, since they lie elsewhere:", .{folder});
    for (compared.left_out.items) |name| try problems.print(" {s}", .{name});
    try problems.writeByte('\n');
}

fn writeJson(output: *Writer, results: []const Result, is_good: bool) !void {
    var json: std.json.Stringify = .{ .writer = output, .options = .{ .whitespace = .indent_1 } };
    try json.beginObject();
    try member(&json, "good", is_good);
    try json.objectField("sets");
    try json.beginArray();
    for (results) |result| {
        const report = result.report;
        try json.beginObject();
        try member(&json, "folder", report.folder);
        try member(&json, "sm", if (report.target) |target| target.sm else null);
        try member(&json, "digest", if (report.digest) |*digest| @as(?[]const u8, digest) else null);
        try member(&json, "entries", report.entries);
        try member(&json, "cubins", report.cubins);
        try member(&json, "bytes", report.bytes);
        try member(&json, "packaged", report.packaged);
        try member(&json, "notes", report.notes);
        try member(&json, "problems", report.problems);
        const sources = result.sources;
        try member(&json, "stale", if (sources) |found| if (found.compared) |compared| compared.stale.list.items else null else null);
        try member(&json, "coverage", result.coverage);
        try json.endObject();
    }
    try json.endArray();
    try json.endObject();
    try output.writeByte('\n');
}

fn member(json: *std.json.Stringify, name: []const u8, value: anytype) !void {
    try json.objectField(name);
    try json.write(value);
}
