//! Stands in for the coverage module: says what the generated test hands over.

const std = @import("std");

const Declared = struct {
    function: ?[]const u8,
    method: []const u8,
    file: []const u8,
    line: u32,
    arguments: ?[]const []const u8 = null,
    constexprs: ?[]const []const u8 = null,
};
pub const Options = struct {
    limits: struct { parallel: u32, window_rows: u32, prompt_rows: u32 },
    launches: []const Declared,
    command: []const u8,
    target: ?[]const u8 = null,
};

pub fn check(comptime rounds: type, aot_json: []const u8, options: Options) !void {
    _ = rounds;
    var nameless: usize = 0;
    for (options.launches) |launch| nameless += @intFromBool(launch.function == null);
    std.debug.print("limits {d} {d} {d}, {d} launches, {d} without a name, set {s}, target {s}\n", .{
        options.limits.parallel, options.limits.window_rows, options.limits.prompt_rows,
        options.launches.len,    nameless,                   aot_json,
        options.target orelse "any",
    });
}
