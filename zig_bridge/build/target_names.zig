//! Names of GPU targets: `sm_121` on the command line, `sm121` in the path of an installed set.

const std = @import("std");

/// Stands for the GPU at hand, which only the capture knows.
pub const native = "native";

/// Splits each of `lists` at its commas. A name that is no target, or one given twice, makes the build's input invalid.
pub fn parse(b: *std.Build, lists: []const []const u8) []const []const u8 {
    var names: std.ArrayList([]const u8) = .empty;
    for (lists) |list| {
        var parts = std.mem.splitScalar(u8, list, ',');
        while (parts.next()) |part| {
            const name = std.mem.trim(u8, part, " ");
            if (!isTarget(name) and !std.mem.eql(u8, name, native)) {
                reject(b, "-Dcapture-target: \"{s}\" is not a target; expected sm_ and a number, or native; try sm_121", name);
            } else if (contains(names.items, name)) {
                reject(b, "-Dcapture-target names {s} twice; expected each target once", name);
            } else {
                names.append(b.allocator, name) catch @panic("OOM");
            }
        }
    }
    // Native may be any of the others, and two sets cannot be one folder.
    if (names.items.len > 1 and contains(names.items, native)) reject(b, "-Dcapture-target: {s} stands alone; expected no other target beside it", native);
    return names.items;
}

/// The target where it is known before the capture ran: null for `native`.
pub fn known(target: []const u8) ?[]const u8 {
    return if (std.mem.eql(u8, target, native)) null else target;
}

/// The folder of a target's set: engines look for `sm121`. The one of `native` is named by the set that the capture makes.
pub fn folder(b: *std.Build, target: []const u8) []const u8 {
    if (known(target) == null) return native;
    std.debug.assert(isTarget(target));
    return b.fmt("sm{s}", .{target["sm_".len..]});
}

/// `sm_` and digits. Which of them are GPUs the capture knows.
fn isTarget(name: []const u8) bool {
    const prefix = "sm_";
    if (!std.mem.startsWith(u8, name, prefix)) return false;
    const number = name[prefix.len..];
    if (number.len < 2) return false;
    for (number) |digit| if (!std.ascii.isDigit(digit)) return false;
    return true;
}

fn contains(names: []const []const u8, name: []const u8) bool {
    for (names) |other| if (std.mem.eql(u8, other, name)) return true;
    return false;
}

fn reject(b: *std.Build, comptime format: []const u8, name: []const u8) void {
    std.log.err(format, .{name});
    b.invalid_user_input = true;
}

test "target names: sm and a number" {
    for ([_][]const u8{ "sm_80", "sm_121" }) |name| try std.testing.expect(isTarget(name));
    for ([_][]const u8{ "", "sm_", "sm_x", "sm_9", "sm121", "sm_90a", "sm_120f", "sm_90ab", "sm_a90", "gb10", "native" }) |name| {
        try std.testing.expect(!isTarget(name));
    }
}
