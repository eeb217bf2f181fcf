//! The files of a set's folder, by name. Links are not followed, so that nothing outside of the folder is read.

const std = @import("std");
const Dir = std.Io.Dir;
const Problems = @import("problems.zig").Problems;

/// Engines refuse a larger cubin, and nothing else in a set is as large.
pub const file_bytes_max = 64 << 20;
/// More than any set has: the 16 MiB of aot.json that engines read cannot list as many cubins.
pub const files_max = 1 << 17;
/// A set's cubins lie one folder down.
const depth_max = 4;

/// A file's size in bytes by its name, which is relative to the set's folder and has `/` between its parts.
pub const Files = std.StringArrayHashMapUnmanaged(u64);

/// The files of `folder`, which is open for iteration. What is neither a file nor a folder is a problem, not an entry.
pub fn list(io: std.Io, folder: Dir, problems: *Problems) error{OutOfMemory}!Files {
    var files: Files = .empty;
    try descend(io, folder, "", 0, &files, problems);
    return files;
}

fn descend(io: std.Io, folder: Dir, name: []const u8, depth: u32, files: *Files, problems: *Problems) error{OutOfMemory}!void {
    const arena = problems.arena;
    var iterator = folder.iterate();
    while (iterator.next(io) catch |failure| return problems.add(name, "this folder cannot be read ({t})", .{failure})) |entry| {
        const inner = if (name.len == 0) try arena.dupe(u8, entry.name) else try std.fmt.allocPrint(arena, "{s}/{s}", .{ name, entry.name });
        if (depth == depth_max) {
            try problems.add(inner, "it lies {d} folders deep; a set's files lie at most one down", .{depth});
            continue;
        }
        // A file system may leave an entry's kind to be asked for.
        const status = folder.statFile(io, entry.name, .{ .follow_symlinks = false }) catch |failure| {
            try problems.add(inner, "it cannot be looked at ({t})", .{failure});
            continue;
        };
        switch (status.kind) {
            .directory => {
                const opened = folder.openDir(io, entry.name, .{ .iterate = true, .follow_symlinks = false }) catch |failure| {
                    try problems.add(inner, "this folder cannot be read ({t})", .{failure});
                    continue;
                };
                defer opened.close(io);
                try descend(io, opened, inner, depth + 1, files, problems);
            },
            .file => {
                if (files.count() == files_max) return problems.add(inner, "the set has more than {d} files", .{files_max});
                if (status.size > file_bytes_max) {
                    try problems.add(inner, "it has {d} bytes; engines read at most {d}", .{ status.size, file_bytes_max });
                }
                try files.put(arena, inner, status.size);
            },
            .sym_link => try problems.add(inner, "it is a symbolic link; a set holds files only", .{}),
            else => try problems.add(inner, "it is no regular file; a set holds files only", .{}),
        }
    }
}
