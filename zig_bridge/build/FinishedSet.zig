//! A set that was captured elsewhere. Nothing starts; a folder without an `aot.json` fails the build by name.
const FinishedSet = @This();

const std = @import("std");

step: *std.Build.Step,
/// The folder of the set.
output: std.Build.LazyPath,

pub const Options = struct {
    /// As given on the command line: absolute, or relative to where `zig build` was called.
    folder: []const u8,
};

pub fn create(b: *std.Build, options: Options) FinishedSet {
    const output: std.Build.LazyPath = .{ .cwd_relative = b.dupe(options.folder) };
    const check = b.addCheckFile(output.path(b, "aot.json"), .{});
    check.setName(b.fmt("-Dcapture-set={s} holds an aot.json", .{options.folder}));
    return .{ .step = &check.step, .output = output };
}
