//! The Zig package: what a consumer's build.zig imports as `build_capture`, and this project's own Zig tests.

const std = @import("std");
const version = @import("zig_bridge/build/version.zig");
const helper = if (version.is_supported) @import("zig_bridge/build/build_capture.zig") else @compileError(version.message);

/// What `add` returns.
pub const Result = helper.Result;

/// Adds the capture to the build `b`: options, steps and modules. `profile` is `@import("capture.zon")`, `profile_file`
/// the path of the same file; see build.zig.fragment.
pub fn add(b: *std.Build, comptime profile: anytype, profile_file: std.Build.LazyPath) Result {
    return helper.add(b, b.dependencyFromBuildZig(@This(), .{}).builder, profile, profile_file);
}

pub fn build(b: *std.Build) void {
    const test_step = b.step("test", "Run the Zig tests of this project");
    helper.addOwnTests(b, test_step);
}
