//! `install_set SOURCE DESTINATION` makes the folder DESTINATION hold the set SOURCE: its manifest and its cubins, nothing
//! of an earlier set. At every moment each cubin that the manifest names is there: new cubins come first, then the
//! manifest, and old cubins go last. Files that are the same are not written.

const std = @import("std");
const Dir = std.Io.Dir;

const manifest = "aot.json";
const extension = ".cubin";

pub fn main(init: std.process.Init) u8 {
    const arguments = init.minimal.args.toSlice(init.arena.allocator()) catch return 1;
    std.debug.assert(arguments.len == 3);
    installAt(init.io, arguments[1], arguments[2]) catch |failure| {
        std.debug.print("error: {s}/" ++ manifest ++ " and its cubins cannot be installed in {s}: {t}\n", .{ arguments[1], arguments[2], failure });
        return 1;
    };
    return 0;
}

fn installAt(io: std.Io, from: []const u8, to: []const u8) !void {
    const source = try Dir.cwd().openDir(io, from, .{});
    defer source.close(io);
    const destination = try Dir.cwd().createDirPathOpen(io, to, .{});
    defer destination.close(io);
    try install(io, source, destination);
}

fn install(io: std.Io, source: Dir, destination: Dir) !void {
    const options: Dir.OpenOptions = .{ .iterate = true };
    const captured = try source.openDir(io, "cubins", options);
    defer captured.close(io);
    const installed = try destination.createDirPathOpen(io, "cubins", .{ .open_options = options });
    defer installed.close(io);

    var new = captured.iterate();
    while (try new.next(io)) |entry| {
        if (std.mem.endsWith(u8, entry.name, extension)) {
            _ = try captured.updateFile(io, entry.name, installed, entry.name, .{});
        }
    }
    _ = try source.updateFile(io, manifest, destination, manifest, .{});
    var old = installed.iterate();
    while (try old.next(io)) |entry| {
        if (!std.mem.endsWith(u8, entry.name, extension)) continue;
        captured.access(io, entry.name, .{}) catch |err| switch (err) {
            error.FileNotFound => try installed.deleteFile(io, entry.name),
            else => return err,
        };
    }
}

test "install set: a second set replaces the first" {
    const io = std.testing.io;
    var temporary = std.testing.tmpDir(.{});
    defer temporary.cleanup();
    const names = [_][]const u8{ "first", "second" };
    for (names) |name| {
        const set = try temporary.dir.createDirPathOpen(io, name, .{});
        defer set.close(io);
        const cubins = try set.createDirPathOpen(io, "cubins", .{});
        defer cubins.close(io);
        try set.writeFile(io, .{ .sub_path = manifest, .data = name });
        try cubins.writeFile(io, .{ .sub_path = "both.cubin", .data = "same" });
        try cubins.writeFile(io, .{ .sub_path = "notes.txt", .data = "not installed" });
        var buffer: [32]u8 = undefined;
        const own = try std.fmt.bufPrint(&buffer, "{s}.cubin", .{name});
        try cubins.writeFile(io, .{ .sub_path = own, .data = name });
    }
    const destination = try temporary.dir.createDirPathOpen(io, "installed", .{});
    defer destination.close(io);
    for (names) |name| {
        const set = try temporary.dir.openDir(io, name, .{});
        defer set.close(io);
        try install(io, set, destination);
    }
    for ([_][]const u8{ manifest, "cubins/both.cubin", "cubins/second.cubin" }) |path| {
        try destination.access(io, path, .{});
    }
    for ([_][]const u8{ "cubins/first.cubin", "cubins/notes.txt" }) |path| {
        try std.testing.expectError(error.FileNotFound, destination.access(io, path, .{}));
    }
    var buffer: [32]u8 = undefined;
    try std.testing.expectEqualStrings("second", try destination.readFile(io, manifest, &buffer));
}
