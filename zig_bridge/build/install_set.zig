//! `install_set SOURCE PARENT NAME` makes the folder PARENT/NAME hold the set SOURCE: its manifest and its cubins, nothing of an
//! earlier set. The NAME `native` stands for the set's own target. At every moment each cubin that the manifest names is there: new cubins come first, then the
//! manifest, and old cubins go last. Files that are the same are not written.

const std = @import("std");
const set = @import("set");
const set_files = @import("set_files.zig");
const Dir = std.Io.Dir;

const manifest = set_files.manifest;
const native = @import("target_names.zig").native;

pub fn main(init: std.process.Init) u8 {
    const arena = init.arena.allocator();
    const arguments = init.minimal.args.toSlice(arena) catch return 1;
    std.debug.assert(arguments.len == 4);
    var diagnostic: set.Diagnostic = .{};
    installAt(init.io, arena, arguments[1], arguments[2], arguments[3], &diagnostic) catch |failure| {
        const what = if (failure == error.InvalidSet) diagnostic.message else @errorName(failure);
        std.debug.print("error: {s}/" ++ manifest ++ " and its cubins cannot be installed in {s}: {s}\n", .{ arguments[1], arguments[2], what });
        return 1;
    };
    return 0;
}

fn installAt(io: std.Io, arena: std.mem.Allocator, from: []const u8, parent: []const u8, name: []const u8, diagnostic: *set.Diagnostic) !void {
    const source = try Dir.cwd().openDir(io, from, .{});
    defer source.close(io);
    const files = try set_files.read(io, arena, source, diagnostic);
    const to = try std.fs.path.join(arena, &.{ parent, try folderName(arena, name, files) });
    const destination = try Dir.cwd().createDirPathOpen(io, to, .{});
    defer destination.close(io);
    try install(io, source, files, destination);
}

/// `sm121` of a set for `sm_121`, where the name is `native`.
fn folderName(arena: std.mem.Allocator, name: []const u8, files: set_files.Files) ![]const u8 {
    if (!std.mem.eql(u8, name, native)) return name;
    const target = files.target orelse return error.NoTarget;
    const prefix = "sm_";
    if (!std.mem.startsWith(u8, target, prefix)) return error.UnknownTarget;
    for (target[prefix.len..]) |letter| if (!std.ascii.isAlphanumeric(letter)) return error.UnknownTarget;
    return std.fmt.allocPrint(arena, "sm{s}", .{target[prefix.len..]});
}

fn install(io: std.Io, source: Dir, files: set_files.Files, destination: Dir) !void {
    const captured = try source.openDir(io, files.bin_dir, .{});
    defer captured.close(io);
    const installed = try destination.createDirPathOpen(io, files.bin_dir, .{ .open_options = .{ .iterate = true } });
    defer installed.close(io);
    for (files.cubins) |cubin| _ = try captured.updateFile(io, cubin, installed, cubin, .{});
    _ = try source.updateFile(io, manifest, destination, manifest, .{});
    var old = installed.iterate();
    while (try old.next(io)) |entry| {
        if (std.mem.endsWith(u8, entry.name, files.extension) and !files.has(entry.name)) try installed.deleteFile(io, entry.name);
    }
}

test "install set: a second set replaces the first" {
    const io = std.testing.io;
    var arena: std.heap.ArenaAllocator = .init(std.testing.allocator);
    defer arena.deinit();
    var temporary = std.testing.tmpDir(.{});
    defer temporary.cleanup();
    const names = [_][]const u8{ "first", "second" };
    const destination = try temporary.dir.createDirPathOpen(io, "installed", .{});
    defer destination.close(io);
    for (names) |name| {
        const source = try temporary.dir.createDirPathOpen(io, name, .{});
        defer source.close(io);
        const kernels = try source.createDirPathOpen(io, "binaries", .{});
        defer kernels.close(io);
        const own = try std.fmt.allocPrint(arena.allocator(), "{s}.hsaco", .{name});
        const entry = "{{\"fn\": \"_k\", \"hash\": \"{s}\", \"name\": \"_k\", \"num_warps\": 4, \"params\": [], \"consts\": {{}}}}";
        const text = try std.fmt.allocPrint(arena.allocator(), "{{\"bin_dir\": \"binaries\", \"bin_ext\": \"hsaco\", \"kernels\": [" ++ entry ++ ", " ++ entry ++ "]}}", .{ "both", name });
        try source.writeFile(io, .{ .sub_path = manifest, .data = text });
        try kernels.writeFile(io, .{ .sub_path = "both.hsaco", .data = "same" });
        try kernels.writeFile(io, .{ .sub_path = "notes.txt", .data = "not installed" });
        try kernels.writeFile(io, .{ .sub_path = own, .data = name });
        var diagnostic: set.Diagnostic = .{};
        try install(io, source, try set_files.read(io, arena.allocator(), source, &diagnostic), destination);
        var buffer: [1024]u8 = undefined;
        try std.testing.expectEqualStrings(text, try destination.readFile(io, manifest, &buffer));
    }
    for ([_][]const u8{ "binaries/both.hsaco", "binaries/second.hsaco" }) |path| try destination.access(io, path, .{});
    for ([_][]const u8{ "binaries/first.hsaco", "binaries/notes.txt" }) |path| {
        try std.testing.expectError(error.FileNotFound, destination.access(io, path, .{}));
    }
}

test "install set: native is the target that the set names" {
    var arena: std.heap.ArenaAllocator = .init(std.testing.allocator);
    defer arena.deinit();
    const files: set_files.Files = .{ .bin_dir = "cubins", .extension = ".cubin", .cubins = &.{}, .target = "sm_90" };
    try std.testing.expectEqualStrings("sm90", try folderName(arena.allocator(), native, files));
    try std.testing.expectEqualStrings("sm121", try folderName(arena.allocator(), "sm121", files));
    for ([_]?[]const u8{ null, "gfx942", "sm_../.." }, [_]anyerror{ error.NoTarget, error.UnknownTarget, error.UnknownTarget }) |target, failure| {
        var other = files;
        other.target = target;
        try std.testing.expectError(failure, folderName(arena.allocator(), native, other));
    }
}
