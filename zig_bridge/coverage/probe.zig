//! The probe: drives a consumer's rounds on the host and prints what they need as JSON.

const std = @import("std");
const coverage = @import("coverage");
const rounds = @import("rounds");

const usage =
    \\usage: probe --parallel N --window-rows N --prompt-rows N [--round-seconds N] [--spans]
    \\Drives every round within the limits and prints each distinct specialization as JSON; with --spans, which
    \\rounds ask for each, as ranges of rows. Where one round takes more than N seconds it ends.
    \\
++ coverage.limits.usage;

pub const panic = coverage.panic.handler("probe");

/// Exits with 0, or with 2 and one line on the standard error.
pub fn main(init: std.process.Init) !u8 {
    const arena = init.arena.allocator();
    const arguments = try init.minimal.args.toSlice(arena);
    var limits: coverage.Limits = .{ .parallel = 1, .window_rows = 1, .prompt_rows = 0 };
    var written: coverage.needs.Options = .{};
    var index: usize = 1;
    while (index < arguments.len) : (index += 2) {
        const option = arguments[index];
        if (std.mem.eql(u8, option, "--spans")) {
            written.spans = true;
            index -= 1; // It has no value.
            continue;
        }
        if (std.mem.eql(u8, option, "--help")) {
            try std.Io.File.stdout().writeStreamingAll(init.io, usage);
            return 0;
        }
        const value: ?[]const u8 = if (index + 1 < arguments.len) arguments[index + 1] else null;
        var problem: []const u8 = "";
        if (std.mem.eql(u8, option, "--round-seconds")) {
            coverage.watch.seconds_max = std.fmt.parseInt(u32, value orelse "", 10) catch {
                std.debug.print("probe: error: {s}: expected a whole number\n", .{option});
                return 2;
            };
            continue;
        }
        const taken = coverage.limits.take(&limits, option, value, &problem) catch {
            std.debug.print("probe: error: {s}: {s}\n", .{ option, problem });
            return 2;
        };
        if (!taken) {
            std.debug.print("probe: error: unknown option {s}; {s}", .{ option, usage });
            return 2;
        }
    }

    var recorder: coverage.record.Recorder = .{ .arena = arena, .answers = .{ .listed = coverage.listedConstants(rounds) } };
    coverage.drive.all(rounds, &recorder, limits) catch |failure| {
        std.debug.print("probe: error: {s}\n", .{recorder.failure orelse @errorName(failure)});
        return 2;
    };
    var buffer: [1 << 16]u8 = undefined;
    var stdout = std.Io.File.stdout().writerStreaming(init.io, &buffer);
    try coverage.needs.write(&recorder, written, &stdout.interface);
    try stdout.interface.flush();
    return 0;
}
