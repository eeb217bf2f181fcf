//! The program `verify-set`: for the host, to look at the sets of a build; and static, for the machines that sets are
//! shipped to.
const VerifySet = @This();

const std = @import("std");
const shipped = @import("shipped.zig");

step: *std.Build.Step,
/// The executable.
output: std.Build.LazyPath,
artifact: *std.Build.Step.Compile,

pub const Options = struct {
    package: *std.Build,
    /// The module `set`. The consumer's modules must have been made with the same.
    set: *std.Build.Module,
    /// The generated file that knows the consumer's rounds; null for a program that checks files only.
    consumer: ?*std.Build.Module,
    /// Null for the host.
    target: ?std.Build.ResolvedTarget = null,
};

pub fn create(b: *std.Build, options: Options) VerifySet {
    const verify = b.createModule(.{
        .root_source_file = options.package.path("zig_bridge/verify/verify.zig"),
        .imports = &.{.{ .name = "set", .module = options.set }},
    });
    const consumer = options.consumer orelse b.createModule(.{ .root_source_file = options.package.path("zig_bridge/verify/no_consumer.zig") });
    const is_shipped = options.target != null;
    const artifact = b.addExecutable(.{
        .name = "verify-set",
        .root_module = b.createModule(.{
            .root_source_file = options.package.path("zig_bridge/verify/main.zig"),
            .target = options.target orelse b.graph.host,
            .optimize = if (is_shipped) shipped.safe else null,
            .strip = if (is_shipped) true else null,
            .imports = &.{
                .{ .name = "verify", .module = verify },
                .{ .name = "consumer", .module = consumer },
            },
        }),
    });
    return .{ .step = &artifact.step, .output = artifact.getEmittedBin(), .artifact = artifact };
}
