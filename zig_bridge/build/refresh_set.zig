//! `refresh_set SET FOLDER` makes FOLDER hold the set SET. A folder that holds it already is left as it is, so that no file's
//! time changes; any other is replaced as a whole. What is in FOLDER and is no part of a set stays, and is an error.

const std = @import("std");
const builtin = @import("builtin");
const set = @import("set");
const set_files = @import("set_files.zig");
const Dir = std.Io.Dir;

/// Engines refuse a larger cubin.
const file_bytes_max = 64 << 20;
/// What packaging puts beside a set. The refreshed set is no longer the package's.
const package_manifest = "manifest.json";
const of_package = [_][]const u8{ package_manifest, "LICENSE", "README.md" };

pub fn main(init: std.process.Init) u8 {
    const arena = init.arena.allocator();
    const arguments = init.minimal.args.toSlice(arena) catch return 1;
    std.debug.assert(arguments.len == 3);
    var refresh: Refresh = .{ .io = init.io, .arena = arena, .dir = .cwd(), .from = arguments[1], .to = arguments[2] };
    const outcome = refresh.run() catch |failure| {
        const what = if (refresh.message.len > 0) refresh.message else @errorName(failure);
        std.debug.print("{s}: error: {s}\n", .{ arguments[2], what });
        return 1;
    };
    if (outcome == .replaced) std.debug.print("{s}: refreshed\n", .{arguments[2]});
    return 0;
}

const Outcome = enum { unchanged, replaced };

const Refresh = struct {
    io: std.Io,
    arena: std.mem.Allocator,
    /// What relative paths are relative to.
    dir: Dir,
    from: []const u8,
    to: []const u8,
    /// What is wrong, where there is more to say than the error's name.
    message: []const u8 = "",

    fn run(refresh: *Refresh) !Outcome {
        const io = refresh.io;
        const source = try refresh.dir.openDir(io, refresh.from, .{});
        defer source.close(io);
        var diagnostic: set.Diagnostic = .{};
        const files = set_files.read(io, refresh.arena, source, &diagnostic) catch |failure| {
            return refresh.fail(failure, "{s}/{s}: {s}", .{ refresh.from, set_files.manifest, if (failure == error.InvalidSet) diagnostic.message else @errorName(failure) });
        };
        var names: std.ArrayList([]const u8) = .empty;
        try names.append(refresh.arena, set_files.manifest);
        for (files.cubins) |cubin| try names.append(refresh.arena, try std.fmt.allocPrint(refresh.arena, "{s}/{s}", .{ files.bin_dir, cubin }));
        const kept = refresh.dir.openDir(io, refresh.to, .{ .iterate = true }) catch |failure| switch (failure) {
            error.FileNotFound => {
                try refresh.replace(source, files.bin_dir, names.items, false);
                return .replaced;
            },
            else => return failure,
        };
        const same = same: {
            defer kept.close(io);
            break :same try refresh.isSame(source, kept, files, names.items);
        };
        if (same) return .unchanged;
        try refresh.replace(source, files.bin_dir, names.items, true);
        return .replaced;
    }

    fn fail(refresh: *Refresh, failure: anyerror, comptime format: []const u8, values: anytype) anyerror {
        refresh.message = try std.fmt.allocPrint(refresh.arena, format, values);
        return failure;
    }

    /// Whether the folder holds these files and no other. One that is no part of a set is an error.
    fn isSame(refresh: *Refresh, source: Dir, kept: Dir, files: set_files.Files, names: []const []const u8) !bool {
        const io = refresh.io;
        var found: usize = 0;
        const is_packaged = if (kept.access(io, package_manifest, .{})) |_| true else |_| false;
        var top = kept.iterate();
        next: while (try top.next(io)) |entry| {
            if (std.mem.eql(u8, entry.name, set_files.manifest)) {
                found += 1;
                continue;
            }
            if (is_packaged) for (of_package) |name| if (std.mem.eql(u8, entry.name, name)) {
                found += 1;
                continue :next;
            };
            if (!std.mem.eql(u8, entry.name, files.bin_dir)) return refresh.refuse(entry.name);
            const cubins = kept.openDir(io, entry.name, .{ .iterate = true }) catch return refresh.refuse(entry.name);
            defer cubins.close(io);
            var inner = cubins.iterate();
            while (try inner.next(io)) |cubin| {
                if (!std.mem.endsWith(u8, cubin.name, files.extension)) {
                    return refresh.refuse(try std.fs.path.join(refresh.arena, &.{ files.bin_dir, cubin.name }));
                }
                found += 1;
            }
        }
        if (found != names.len) return false;
        var memory: std.heap.ArenaAllocator = .init(std.heap.page_allocator);
        defer memory.deinit();
        for (names) |name| {
            defer _ = memory.reset(.retain_capacity);
            const new = try source.readFileAlloc(io, name, memory.allocator(), .limited(file_bytes_max + 1));
            const old = kept.readFileAlloc(io, name, memory.allocator(), .limited(file_bytes_max + 1)) catch return false;
            if (!std.mem.eql(u8, new, old)) return false;
        }
        return true;
    }

    fn refuse(refresh: *Refresh, name: []const u8) anyerror {
        return refresh.fail(error.NoSet, "{s} is no part of a set, so this folder is left as it is; name an empty folder, a new one, " ++
            "or an earlier set with -Dcapture-set", .{name});
    }

    /// Writes the set beside the folder, then puts it in the folder's place.
    fn replace(refresh: *Refresh, source: Dir, bin_dir: []const u8, names: []const []const u8, exists: bool) !void {
        const io = refresh.io;
        // A link to a folder stands for that folder.
        const place = if (exists) try refresh.dir.realPathFileAlloc(io, refresh.to, refresh.arena) else refresh.to;
        const parent_path = std.fs.path.dirname(place) orelse ".";
        const name = std.fs.path.basename(place);
        const parent = refresh.dir.createDirPathOpen(io, parent_path, .{}) catch |failure| {
            return refresh.fail(failure, "its parent folder cannot be made ({t})", .{failure});
        };
        defer parent.close(io);
        var random: [8]u8 = undefined;
        io.random(&random);
        const fresh_name = try std.fmt.allocPrint(refresh.arena, ".{s}.new-{s}", .{ name, &std.fmt.bytesToHex(random, .lower) });
        // After the exchange it holds the old set.
        defer parent.deleteTree(io, fresh_name) catch {};
        const fresh = try parent.createDirPathOpen(io, fresh_name, .{});
        {
            defer fresh.close(io);
            try fresh.createDirPath(io, bin_dir);
            var memory: std.heap.ArenaAllocator = .init(std.heap.page_allocator);
            defer memory.deinit();
            for (names) |file| {
                defer _ = memory.reset(.retain_capacity);
                const bytes = try source.readFileAlloc(io, file, memory.allocator(), .limited(file_bytes_max + 1));
                try fresh.writeFile(io, .{ .sub_path = file, .data = bytes });
            }
        }
        if (!exists) return parent.rename(fresh_name, parent, name, io);
        if (try exchange(parent, fresh_name, name)) return;
        const old_name = try std.fmt.allocPrint(refresh.arena, "{s}.old", .{fresh_name});
        try parent.rename(name, parent, old_name, io);
        parent.rename(fresh_name, parent, name, io) catch |failure| {
            try parent.rename(old_name, parent, name, io);
            return failure;
        };
        try parent.deleteTree(io, old_name);
    }

    /// Lets two folders change places, so that there is no moment without one. False where the system cannot.
    fn exchange(parent: Dir, left: []const u8, right: []const u8) !bool {
        if (builtin.os.tag != .linux) return false;
        const linux = std.os.linux;
        const left_path = try std.posix.toPosixPath(left);
        const right_path = try std.posix.toPosixPath(right);
        const answer = linux.renameat2(parent.handle, &left_path, parent.handle, &right_path, .{ .EXCHANGE = true });
        return answer == 0;
    }
};

/// A set of these cubins, whose bytes are their hashes, in the folder `name`.
fn writeSet(dir: Dir, name: []const u8, cubins: []const []const u8) !void {
    const io = std.testing.io;
    const folder = try dir.createDirPathOpen(io, name, .{});
    defer folder.close(io);
    try folder.createDirPath(io, "cubins");
    var buffer: [4096]u8 = undefined;
    var text: std.Io.Writer = .fixed(&buffer);
    try text.writeAll("{\"kernels\": [");
    for (cubins, 0..) |hash, index| {
        try text.print("{s}{{\"fn\": \"_k\", \"hash\": \"{s}\", \"name\": \"_k\", \"num_warps\": 4, \"params\": [], \"consts\": {{}}}}", .{ if (index == 0) "" else ", ", hash });
        var path: [64]u8 = undefined;
        try folder.writeFile(io, .{ .sub_path = try std.fmt.bufPrint(&path, "cubins/{s}.cubin", .{hash}), .data = hash });
    }
    try text.writeAll("]}");
    try folder.writeFile(io, .{ .sub_path = "aot.json", .data = text.buffered() });
}

test "refresh set: a new folder, the same set, another one, and a folder that is no set" {
    const io = std.testing.io;
    var arena: std.heap.ArenaAllocator = .init(std.testing.allocator);
    defer arena.deinit();
    var temporary = std.testing.tmpDir(.{ .iterate = true });
    defer temporary.cleanup();
    const dir = temporary.dir;
    try writeSet(dir, "first", &.{ "aa", "bb" });
    try writeSet(dir, "second", &.{ "bb", "cc" });
    var first: Refresh = .{ .io = io, .arena = arena.allocator(), .dir = dir, .from = "first", .to = "kept/a b" };
    var second: Refresh = .{ .io = io, .arena = arena.allocator(), .dir = dir, .from = "second", .to = "kept/a b" };
    try std.testing.expectEqual(.replaced, try first.run());
    try std.testing.expectEqual(.unchanged, try first.run());
    try dir.symLink(io, "a b", "kept/link", .{});
    second.to = "kept/link";
    try std.testing.expectEqual(.replaced, try second.run());
    try std.testing.expectEqual(.unchanged, try second.run());
    try std.testing.expectError(error.FileNotFound, dir.access(io, "kept/a b/cubins/aa.cubin", .{}));
    try dir.access(io, "kept/a b/cubins/cc.cubin", .{});
    // A cubin that was damaged is put right; one that is no set's stays, with all that is beside it.
    try dir.writeFile(io, .{ .sub_path = "kept/a b/cubins/cc.cubin", .data = "other" });
    try std.testing.expectEqual(.replaced, try second.run());
    for ([_][]const u8{ "notes.txt", "cubins/notes.txt" }) |name| {
        const path = try std.fs.path.join(arena.allocator(), &.{ "kept/a b", name });
        try dir.writeFile(io, .{ .sub_path = path, .data = "mine" });
        try std.testing.expectError(error.NoSet, first.run());
        try std.testing.expect(std.mem.startsWith(u8, first.message, name));
        try dir.deleteFile(io, path);
    }
    // What packaging put beside the set goes.
    for (of_package) |name| try dir.writeFile(io, .{ .sub_path = try std.fs.path.join(arena.allocator(), &.{ "kept/a b", name }), .data = "" });
    try std.testing.expectEqual(.replaced, try second.run());
    var kept = try dir.openDir(io, "kept", .{ .iterate = true });
    defer kept.close(io);
    var iterator = kept.iterate();
    var count: usize = 0;
    while (try iterator.next(io)) |_| count += 1;
    try std.testing.expectEqual(2, count);
}
