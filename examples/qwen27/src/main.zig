//! A host program: reads a captured set and prints which variant each launch of a round takes.

const std = @import("std");
const coverage = @import("coverage");
const profile = @import("profile");
const rounds = @import("rounds");
const set = @import("set");
const table = @import("table.zig");

const usage =
    \\usage: qwen27 [options] SET
    \\Prints which variant of a captured set each launch of a round takes. SET is the set's folder or its aot.json.
    \\Rounds whose launches all take the same variants are shown once, by the smallest of them.
    \\
    \\
++ coverage.limits.usage ++
    \\  --streams N       only decode rounds of N streams
    \\  --rows N          only rounds of N rows in all
    \\  --help            this text
    \\
    \\Limits that are not given are the profile's.
    \\Exit codes: 0 every launch is served; 2 bad usage or a set that cannot be read; 3 a launch has no variant.
    \\
;

const exit_bad_input = 2;
const exit_not_served = 3;

/// What the command line asks for.
const Options = struct {
    path: ?[]const u8 = null,
    help: bool = false,
    limits: coverage.Limits = .{
        .parallel = profile.limits.parallel,
        .window_rows = profile.limits.window_rows,
        .prompt_rows = profile.limits.prompt_rows,
    },
    streams: ?u32 = null,
    rows: ?u32 = null,

    /// Reads the arguments behind the program's name. On an error `problem` says what is wrong.
    fn parse(arguments: []const []const u8, problem: *[]const u8) error{BadUsage}!Options {
        var options: Options = .{};
        var index: usize = 0;
        while (index < arguments.len) : (index += 1) {
            const argument = arguments[index];
            const value: ?[]const u8 = if (index + 1 < arguments.len) arguments[index + 1] else null;
            if (std.mem.eql(u8, argument, "--help")) {
                options.help = true;
            } else if (coverage.limits.take(&options.limits, argument, value, problem) catch return error.BadUsage) {
                index += 1;
            } else if (std.mem.eql(u8, argument, "--streams")) {
                options.streams = try parseNumber(value, problem);
                index += 1;
            } else if (std.mem.eql(u8, argument, "--rows")) {
                options.rows = try parseNumber(value, problem);
                index += 1;
            } else if (std.mem.startsWith(u8, argument, "-")) {
                problem.* = "an unknown option; expected one that --help lists";
                return error.BadUsage;
            } else if (options.path != null) {
                problem.* = "a second set; expected one";
                return error.BadUsage;
            } else {
                options.path = argument;
            }
        }
        if (options.path == null and !options.help) {
            problem.* = "no set given; expected its folder or aot.json";
            return error.BadUsage;
        }
        return options;
    }

    fn parseNumber(value: ?[]const u8, problem: *[]const u8) error{BadUsage}!u32 {
        problem.* = "--streams and --rows take a whole number";
        return std.fmt.parseInt(u32, value orelse return error.BadUsage, 10) catch error.BadUsage;
    }

    fn wants(options: Options, round: @import("build_capture").Round) bool {
        if (options.streams) |streams| {
            if (round.kind != .decode or round.streams() != streams) return false;
        }
        return options.rows == null or options.rows.? == round.rows();
    }
};

/// Returns the exit code.
pub fn main(init: std.process.Init) !u8 {
    const arena = init.arena.allocator();
    const arguments = try init.minimal.args.toSlice(arena);
    var plain: std.ArrayList([]const u8) = .empty;
    for (arguments[@min(1, arguments.len)..]) |argument| try plain.append(arena, argument);
    var problem: []const u8 = "";
    const options = Options.parse(plain.items, &problem) catch {
        std.debug.print("qwen27: error: {s}; try --help\n", .{problem});
        return exit_bad_input;
    };
    var buffer: [1 << 16]u8 = undefined;
    var stdout = std.Io.File.stdout().writerStreaming(init.io, &buffer);
    const writer = &stdout.interface;
    if (options.help) {
        try writer.writeAll(usage);
        try writer.flush();
        return 0;
    }
    const captured = try load(init.io, arena, options.path.?) orelse return exit_bad_input;
    const code = try show(arena, &captured, options, writer);
    try writer.flush();
    return code;
}

/// The set at a path, or null after a message.
fn load(io: std.Io, arena: std.mem.Allocator, path: []const u8) !?set.Set {
    const cwd: std.Io.Dir = .cwd();
    const inside = try std.fs.path.join(arena, &.{ path, "aot.json" });
    const is_folder = if (cwd.statFile(io, path, .{})) |stat| stat.kind == .directory else |_| false;
    const file = if (is_folder) inside else path;
    const text = cwd.readFileAlloc(io, file, arena, .limited(set.bytes_max + 1)) catch |failure| {
        std.debug.print("{s}: error: cannot read the set ({s}); expected a folder with aot.json; " ++
            "try zig build -Dcapture=true\n", .{ file, @errorName(failure) });
        return null;
    };
    var diagnostic: set.Diagnostic = .{};
    return set.parse(arena, text, &diagnostic) catch |failure| {
        if (failure == error.OutOfMemory) return failure;
        std.debug.print("{s}: error: {s}\n", .{ file, diagnostic.message });
        return null;
    };
}

/// Drives the rounds, prints a table for each distinct choice of variants, and returns the exit code.
fn show(arena: std.mem.Allocator, captured: *const set.Set, options: Options, writer: *std.Io.Writer) !u8 {
    var recorder: coverage.record.Recorder = .{ .arena = arena, .answers = .{ .captured = captured } };
    var groups: table.Groups = .{ .arena = arena };
    var enumeration: coverage.Rounds = .init(options.limits);
    while (enumeration.next()) |round| {
        if (!options.wants(round)) continue;
        collect(&groups, &recorder, round) catch |failure| {
            if (failure == error.OutOfMemory) return failure;
            std.debug.print("qwen27: error: {s}\n", .{recorder.failure.?});
            return exit_bad_input;
        };
    }
    if (recorder.rounds == 0) {
        std.debug.print("qwen27: error: no round within the limits has these streams and rows\n", .{});
        return exit_bad_input;
    }
    const missing = try groups.write(captured, recorder.needs.items, writer);
    try writer.print("{d} rounds, {d} launches, {d} specializations, {d} without a variant\n", .{
        recorder.rounds, recorder.launches, recorder.needs.items.len, missing,
    });
    return if (missing > 0) exit_not_served else 0;
}

fn collect(groups: *table.Groups, recorder: *coverage.record.Recorder, round: @import("build_capture").Round) !void {
    const layouts = try coverage.drive.layoutsOf(rounds, recorder, round);
    for (layouts.items()) |layout| {
        try coverage.drive.one(rounds, recorder, round, layout);
        try groups.add(recorder.taken.items, round, layout);
    }
}

test "options: limits, filters and what is wrong" {
    var problem: []const u8 = "";
    const options = try Options.parse(&.{ "--parallel", "2", "--rows", "3", "set" }, &problem);
    try std.testing.expectEqual(@as(u32, 2), options.limits.parallel);
    try std.testing.expectEqual(@as(u32, profile.limits.window_rows), options.limits.window_rows);
    try std.testing.expectEqual(@as(?u32, 3), options.rows);
    try std.testing.expectEqualStrings("set", options.path.?);
    const bad = [_]struct { arguments: []const []const u8, want: []const u8 }{
        .{ .arguments = &.{}, .want = "no set given; expected its folder or aot.json" },
        .{ .arguments = &.{ "a", "b" }, .want = "a second set; expected one" },
        .{ .arguments = &.{ "--parallel", "0", "a" }, .want = "parallel must be from 1 to 1024" },
        .{ .arguments = &.{ "--rows", "x", "a" }, .want = "--streams and --rows take a whole number" },
        .{ .arguments = &.{"--paralel"}, .want = "an unknown option; expected one that --help lists" },
    };
    for (bad) |case| {
        try std.testing.expectError(error.BadUsage, Options.parse(case.arguments, &problem));
        try std.testing.expectEqualStrings(case.want, problem);
    }
}
