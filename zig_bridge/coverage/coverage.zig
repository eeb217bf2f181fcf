//! Coverage: every launch of every round within the limits has a variant in the set.

const std = @import("std");

pub const Limits = @import("build_capture").Limits;
pub const drive = @import("drive.zig");
pub const limits = @import("limits.zig");
pub const needs = @import("needs.zig");
pub const record = @import("record.zig");

/// The values that a profile lists for `smallestConst`, from `pub const constants` of the rounds:
/// `.{ ._function = .{ .CONSTEXPR = .{ 16, 32 } } }`.
pub fn listedConstants(comptime rounds: type) []const record.Constants {
    if (!@hasDecl(rounds, "constants")) return &.{};
    comptime {
        var list: []const record.Constants = &.{};
        const constants = rounds.constants;
        for (std.meta.fieldNames(@TypeOf(constants))) |function| {
            const of_function = @field(constants, function);
            for (std.meta.fieldNames(@TypeOf(of_function))) |name| {
                const values: [@field(of_function, name).len]i64 = @field(of_function, name);
                const kept = values;
                list = list ++ .{record.Constants{ .function = function, .name = name, .values = &kept }};
            }
        }
        return list;
    }
}
