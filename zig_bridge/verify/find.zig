//! Which sets a path means: the folder of one, its `aot.json`, or a prefix where sets are installed.

const std = @import("std");
const Dir = std.Io.Dir;
const targets = @import("targets.zig");

/// More folders than this hold no sets.
const folders_max = 1 << 16;

/// What was found, or why nothing was.
pub const Found = union(enum) {
    /// The folders, sorted; at least one.
    folders: []const []const u8,
    /// No folder has this name.
    absent: []const u8,
    /// Sets are there, and none is for the GPU that is needed: `have sm90, need sm121`.
    other_targets: []const u8,
};

/// The folders of the sets that `path`, below `dir`, means. Of several, `need` chooses. With `is_folder` it means the folder
/// of a set and nothing else.
pub fn find(io: std.Io, arena: std.mem.Allocator, dir: Dir, path: []const u8, need: ?targets.Target, is_folder: bool) error{OutOfMemory}!Found {
    const status = dir.statFile(io, path, .{}) catch |failure| return .{ .absent = try std.fmt.allocPrint(arena, "{t}", .{failure}) };
    if (is_folder and status.kind == .directory) return one(arena, path);
    if (!is_folder and status.kind == .file and std.mem.eql(u8, std.fs.path.basename(path), "aot.json")) {
        return one(arena, std.fs.path.dirname(path) orelse ".");
    }
    if (status.kind != .directory) return .{ .absent = "it is no folder" };
    if (exists(io, dir, try std.fs.path.join(arena, &.{ path, "aot.json" }))) return one(arena, path);
    var found: std.ArrayList([]const u8) = .empty;
    try addTargets(io, arena, dir, path, &found);
    const share = try std.fs.path.join(arena, &.{ path, "share" });
    for (try foldersOf(io, arena, dir, share)) |app| {
        try addTargets(io, arena, dir, try std.fs.path.join(arena, &.{ share, app, "cuda" }), &found);
    }
    // A set may have lost its aot.json: then this is said of the folder itself.
    if (found.items.len == 0) return one(arena, path);
    const wanted = need orelse return .{ .folders = found.items };
    var chosen: std.ArrayList([]const u8) = .empty;
    for (found.items) |folder| {
        if (targets.parse(std.fs.path.basename(folder)).?.sm == wanted.sm) try chosen.append(arena, folder);
    }
    if (chosen.items.len > 0) return .{ .folders = chosen.items };
    var text: std.ArrayList(u8) = .empty;
    for (found.items, 0..) |folder, index| {
        try text.print(arena, "{s}{s}", .{ if (index == 0) "have " else ", ", std.fs.path.basename(folder) });
    }
    try text.print(arena, ", need sm{d}", .{wanted.sm});
    return .{ .other_targets = text.items };
}

fn one(arena: std.mem.Allocator, folder: []const u8) error{OutOfMemory}!Found {
    return .{ .folders = try arena.dupe([]const u8, &.{folder}) };
}

fn exists(io: std.Io, dir: Dir, path: []const u8) bool {
    dir.access(io, path, .{}) catch return false;
    return true;
}

/// Adds the folders below `path` that are named like a GPU: sm121.
fn addTargets(io: std.Io, arena: std.mem.Allocator, dir: Dir, path: []const u8, found: *std.ArrayList([]const u8)) error{OutOfMemory}!void {
    for (try foldersOf(io, arena, dir, path)) |name| {
        if (std.mem.findScalar(u8, name, '_') != null or targets.parse(name) == null) continue;
        try found.append(arena, try std.fs.path.join(arena, &.{ path, name }));
    }
}

/// The names of what lies in the folder `path`, sorted; none where it cannot be read.
fn foldersOf(io: std.Io, arena: std.mem.Allocator, dir: Dir, path: []const u8) error{OutOfMemory}![]const []const u8 {
    const folder = dir.openDir(io, path, .{ .iterate = true }) catch return &.{};
    defer folder.close(io);
    var names: std.ArrayList([]const u8) = .empty;
    var iterator = folder.iterate();
    while (iterator.next(io) catch null) |entry| {
        if (names.items.len == folders_max) break;
        try names.append(arena, try arena.dupe(u8, entry.name));
    }
    std.mem.sort([]const u8, names.items, {}, before);
    return names.items;
}

fn before(_: void, left: []const u8, right: []const u8) bool {
    return std.mem.order(u8, left, right) == .lt;
}
