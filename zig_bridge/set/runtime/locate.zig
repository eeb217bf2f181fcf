//! Which folder holds the set for a device, among those that are installed.

const std = @import("std");
const Context = @import("context.zig").Context;
const log_types = @import("log.zig");

/// More targets than there are GPUs.
const folders_max = 64;

/// Where sets may be.
pub const Search = struct {
    /// The folder that the user named. It is taken whatever else is there.
    explicit: ?[]const u8 = null,
    /// Where the engine is installed: the folder above that of the program.
    prefix: []const u8,
    /// The folder below `share`: the profile's family.
    family: []const u8,
};

/// The folder of the set for a device: the explicit one, else `<prefix>/share/<family>/cuda/sm<NN>`. Where that is not
/// there, the log says which ones are.
pub fn locate(io: std.Io, arena: std.mem.Allocator, context: *const Context, search: Search) error{ SetNotFound, OutOfMemory }![]const u8 {
    if (search.explicit) |folder| return folder;
    const parent = try std.fs.path.join(arena, &.{ search.prefix, "share", search.family, "cuda" });
    const folder = try std.fmt.allocPrint(arena, "{s}/sm{d}", .{ parent, context.capability });
    if (isSet(io, arena, folder)) return folder;
    const found = try foldersOf(io, arena, parent);
    var line: log_types.Line = .{};
    line.add("{s}: {s}", .{ parent, if (found.len == 0) "there is no set" else "have " });
    for (found, 0..) |name, index| line.add("{s}{s}", .{ if (index == 0) "" else ", ", name });
    line.add(", need sm{d}, which is the device's ({s})", .{ context.capability, context.name() });
    line.end(context.driver.log, .err);
    return error.SetNotFound;
}

fn isSet(io: std.Io, arena: std.mem.Allocator, folder: []const u8) bool {
    const manifest = std.fs.path.join(arena, &.{ folder, "aot.json" }) catch return false;
    std.Io.Dir.cwd().access(io, manifest, .{}) catch return false;
    return true;
}

/// The names of the sets in a folder, sorted; none where it cannot be read.
fn foldersOf(io: std.Io, arena: std.mem.Allocator, parent: []const u8) error{OutOfMemory}![]const []const u8 {
    const dir = std.Io.Dir.cwd().openDir(io, parent, .{ .iterate = true }) catch return &.{};
    defer dir.close(io);
    var names: std.ArrayList([]const u8) = .empty;
    var iterator = dir.iterate();
    while (iterator.next(io) catch null) |entry| {
        if (names.items.len == folders_max) break;
        const folder = try std.fs.path.join(arena, &.{ parent, entry.name });
        if (isSet(io, arena, folder)) try names.append(arena, try arena.dupe(u8, entry.name));
    }
    std.mem.sort([]const u8, names.items, {}, isBefore);
    return names.items;
}

fn isBefore(_: void, left: []const u8, right: []const u8) bool {
    return std.mem.lessThan(u8, left, right);
}
