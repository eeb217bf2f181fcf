//! Coverage: every launch of every round within the limits has a variant in the set.

const std = @import("std");

pub const Limits = @import("build_capture").Limits;
const checking = @import("check.zig");
pub const Declared = checking.Declared;
pub const Options = checking.Options;
pub const Error = checking.Error;
/// The check with a writer of the caller's, and what it counted.
pub const checkTo = checking.run;
/// What a generated `domains.zig` is made of.
pub const domains = @import("domains.zig");
pub const drive = @import("drive.zig");
/// Walks every round within limits.
pub const Rounds = @import("enumerate.zig").Rounds;
pub const limits = @import("limits.zig");
pub const needs = @import("needs.zig");
/// Tells which round made a declaration file panic.
pub const panic = @import("panic.zig");
pub const record = @import("record.zig");
/// Ends what does not come back from a round.
pub const watch = @import("watch.zig");

/// Fails, and says why on the standard error, unless the set serves every round within the limits.
/// `rounds` is the consumer's `rounds.zig`; `aot_json` the text of the set's `aot.json`.
pub fn check(comptime rounds: type, aot_json: []const u8, options: Options) Error!void {
    var arena: std.heap.ArenaAllocator = .init(std.heap.page_allocator);
    defer arena.deinit();
    var report: std.Io.Writer.Allocating = .init(arena.allocator());
    defer std.debug.print("{s}", .{report.written()});
    _ = try checking.run(rounds, arena.allocator(), aot_json, options, &report.writer);
}

/// The values that a profile lists for `smallestConst`, from `pub const constants` of the rounds:
/// `.{ ._function = .{ .CONSTEXPR = .{ 16, 32 } } }`.
pub fn listedConstants(comptime rounds: type) []const record.Constants {
    return comptime if (@hasDecl(rounds, "constants")) list(rounds.constants) else &.{};
}

fn list(comptime constants: anytype) []const record.Constants {
    var result: []const record.Constants = &.{};
    for (std.meta.fieldNames(@TypeOf(constants))) |function| {
        const of_function = @field(constants, function);
        for (std.meta.fieldNames(@TypeOf(of_function))) |name| {
            const values: [@field(of_function, name).len]i64 = @field(of_function, name);
            result = result ++ .{record.Constants{ .function = function, .name = name, .values = &values }};
        }
    }
    return result;
}

test {
    _ = domains;
    _ = @import("enumerate.zig");
    _ = limits;
    _ = watch;
    _ = @import("coverage_test.zig");
    _ = @import("domains_test.zig");
}
