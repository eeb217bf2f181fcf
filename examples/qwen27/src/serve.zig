//! `qwen27-serve`: a server without a model. It serves rounds of attention from a captured set, and checks every one.

const std = @import("std");
const cuda = @import("cuda");
const arguments_types = @import("serve/arguments.zig");
const check = @import("serve/check.zig");
const reference = @import("serve/reference.zig");
const windows = @import("serve/windows.zig");
const Arguments = arguments_types.Arguments;
const Exit = arguments_types.Exit;
const Server = @import("serve/server.zig").Server;
const State = @import("serve/state.zig").State;
const Writer = std.Io.Writer;

pub const std_options: std.Options = .{ .log_level = .info };

/// How often the progress shows.
const rounds_between_lines = 50;

pub fn main(init: std.process.Init) u8 {
    const exit = run(init) catch |failure| exitOf(failure);
    return @intFromEnum(exit);
}

/// What went wrong was said where it did.
fn exitOf(failure: anyerror) Exit {
    return switch (failure) {
        error.MissingTritonVariant, error.AmbiguousTritonVariant => .refused,
        error.OtherTarget, error.SetUnreadable, error.InvalidSet, error.CubinUnreadable, error.CubinChanged => .input,
        error.CudaNotFound, error.CudaTooOld => .no_device,
        else => fault: {
            std.debug.print("qwen27-serve: error: {t}\n", .{failure});
            break :fault .fault;
        },
    };
}

fn run(init: std.process.Init) !Exit {
    const arena = init.arena.allocator();
    const given = try init.minimal.args.toSlice(arena);
    const words = try arena.alloc([]const u8, given.len -| 1);
    for (words, given[given.len - words.len ..]) |*word, text| word.* = text;
    var buffer: [4096]u8 = undefined;
    var stdout = std.Io.File.stdout().writerStreaming(init.io, &buffer);
    var problem: []const u8 = "";
    const arguments = Arguments.parse(words, &problem) catch {
        std.debug.print("qwen27-serve: error: {s}; try --help\n", .{problem});
        return .input;
    };
    if (arguments.help) {
        try stdout.interface.writeAll(arguments_types.help);
        try stdout.interface.flush();
        return .good;
    }
    var driver: cuda.Driver = try .open(.{});
    defer driver.close();
    const context: cuda.Context = try .open(&driver, arguments.device);
    defer context.close();
    const command = try std.fmt.allocPrint(arena, "zig build -Dcapture=true -Dparallel={d} -Dwindow-rows={d} -Dcapture-target=sm_{d}", .{
        arguments.parallel, arguments.window_rows, context.capability,
    });
    // A set with a damaged cubin is refused before it serves, whether the rounds launch that one or not.
    const set: cuda.aot.Set = try .open(init.io, init.gpa, arguments.set, .{ .context = &context, .load = .all, .command = command });
    defer set.close();
    const findings = try serve(arena, &context, &set, arguments);
    try if (arguments.json) writeJson(&stdout.interface, &context, &set, findings) else writeTable(&stdout.interface, &context, &set, findings);
    try stdout.interface.flush();
    if (findings.refused > 0) return .refused;
    return if (findings.areNumbersGood()) .good else .numbers;
}

/// Serves the rounds that are asked for, up to the first refusal unless it is to keep going.
fn serve(arena: std.mem.Allocator, context: *const cuda.Context, set: *const cuda.aot.Set, arguments: Arguments) !check.Findings {
    const limits: windows.Limits = .{ .parallel = arguments.parallel, .window_rows = arguments.window_rows };
    var prng: std.Random.DefaultPrng = .init(arguments.seed);
    const state: State = try .init(arena, prng.random(), limits.parallel);
    var server: Server = try .init(arena, context, set, &state, limits);
    defer server.deinit();
    var source: windows.Source = .{ .random = prng.random(), .limits = limits };
    var checker: check.Checker = try .init(arena, &server, prng.random(), limits);
    for (1..arguments.rounds + 1) |number| {
        const round = source.next();
        checker.check(&round) catch |failure| {
            if (failure != error.MissingTritonVariant and failure != error.AmbiguousTritonVariant) return failure;
            std.debug.print("round {d}: {d} streams, {d} rows: reason=error ({t})\n", .{ number, round.count, round.rows(), failure });
            if (!arguments.keep_going) break;
        };
        if (number % rounds_between_lines == 0) std.debug.print("{d} of {d} rounds, {d} rows compared, {d} bits differ\n", .{
            number, arguments.rounds, checker.findings.rows_compared, checker.findings.bits_differing,
        });
    }
    return checker.findings;
}

fn writeTable(writer: *Writer, context: *const cuda.Context, set: *const cuda.aot.Set, findings: check.Findings) Writer.Error!void {
    try writer.print("{s}, sm{d}, set {s}\n", .{ context.name(), context.capability, if (set.digest()) |*hex| @as([]const u8, hex) else "without a digest" });
    try writer.print("{s:<34} {d:>10}\n", .{ "rounds", findings.rounds });
    try writer.print("{s:<34} {d:>10}\n", .{ "rounds with a refused launch", findings.refused });
    if (findings.refused > 0) try writer.print("{s:<34} {d:>10}\n", .{ "the first of them", findings.first_refused });
    try writer.print("{s:<34} {d:>10}\n", .{ "most streams of a served round", findings.streams_most });
    try writer.print("{s:<34} {d:>10}\n", .{ "most rows (W) of a served round", findings.rows_most });
    try writer.print("{s:<34} {d:>10}\n", .{ "rows compared with the row alone", findings.rows_compared });
    try writer.print("{s:<34} {d:>10}\n", .{ "rows of rounds served twice", findings.rows_repeated });
    try writer.print("{s:<34} {d:>10}\n", .{ "rows that differ", findings.rows_differing });
    try writer.print("{s:<34} {d:>10}\n", .{ "bits that differ", findings.bits_differing });
    try writer.print("{s:<34} {d:>10}\n", .{ "rows compared with float64", findings.rows_calculated });
    try writer.print("{s:<34} {e:>10.1} (limit {e:.1})\n", .{ "worst error", findings.error_worst, reference.error_limit });
}

fn writeJson(writer: *Writer, context: *const cuda.Context, set: *const cuda.aot.Set, findings: check.Findings) Writer.Error!void {
    const digest = set.digest();
    try std.json.Stringify.value(.{
        .device = context.name(),
        .capability = context.capability,
        .digest = if (digest) |*hex| @as(?[]const u8, hex) else null,
        .findings = findings,
        .error_limit = reference.error_limit,
    }, .{}, writer);
    try writer.writeByte('\n');
}

test {
    _ = arguments_types;
    _ = check;
    _ = reference;
    _ = windows;
    _ = @import("plan.zig");
    _ = @import("serve/bfloat.zig");
    _ = @import("serve/server.zig");
    _ = @import("serve/tables.zig");
}
