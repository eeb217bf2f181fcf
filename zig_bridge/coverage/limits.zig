//! The limits as command-line options, for every program that drives rounds.

const std = @import("std");
const Limits = @import("build_capture").Limits;

/// One line for each option, to go below a program's usage.
pub const usage =
    \\  --parallel N      streams in a round, at most
    \\  --window-rows N   rows in one stream's window, at most (1 without drafting)
    \\  --prompt-rows N   rows in a prompt chunk, at most (0: none)
    \\
;

/// Whether the option sets a limit. On a bad value the message goes to `problem`.
pub fn take(limits: *Limits, option: []const u8, value: ?[]const u8, problem: *[]const u8) error{BadLimit}!bool {
    const field: *u32 = if (std.mem.eql(u8, option, "--parallel"))
        &limits.parallel
    else if (std.mem.eql(u8, option, "--window-rows"))
        &limits.window_rows
    else if (std.mem.eql(u8, option, "--prompt-rows"))
        &limits.prompt_rows
    else
        return false;
    const text = value orelse {
        problem.* = "expected a number after it";
        return error.BadLimit;
    };
    field.* = std.fmt.parseInt(u32, text, 10) catch {
        problem.* = "expected a whole number";
        return error.BadLimit;
    };
    if (limits.problem()) |what| {
        problem.* = what;
        return error.BadLimit;
    }
    return true;
}

test "limits: options, values out of range and other options" {
    var limits: Limits = .{ .parallel = 1, .window_rows = 1, .prompt_rows = 0 };
    var problem: []const u8 = "";
    try std.testing.expect(try take(&limits, "--parallel", "16", &problem));
    try std.testing.expect(try take(&limits, "--window-rows", "8", &problem));
    try std.testing.expect(try take(&limits, "--prompt-rows", "4096", &problem));
    try std.testing.expectEqual(Limits{ .parallel = 16, .window_rows = 8, .prompt_rows = 4096 }, limits);
    try std.testing.expect(!try take(&limits, "--help", null, &problem));
    try std.testing.expectError(error.BadLimit, take(&limits, "--parallel", "0", &problem));
    try std.testing.expectEqualStrings("parallel must be from 1 to 1024", problem);
    try std.testing.expectError(error.BadLimit, take(&limits, "--parallel", "two", &problem));
    try std.testing.expectError(error.BadLimit, take(&limits, "--parallel", null, &problem));
}
