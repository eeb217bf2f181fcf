//! The depfile of a run: how a build learns which siblings of a declaration file were read.

const std = @import("std");
const Allocator = std.mem.Allocator;
const Diagnostics = @import("diagnostics.zig").Diagnostics;
const Files = @import("imports.zig").Files;
const source = @import("source.zig");

/// Writes to `path` every file that was read for the declaration file `declarations`; a file that cannot be written is
/// added to `diagnostics`.
pub fn write(io: std.Io, arena: Allocator, path: []const u8, declarations: []const u8, files: Files, diagnostics: *Diagnostics) source.Error!void {
    const folder = std.fs.path.dirname(declarations) orelse "";
    // Absolute paths mean the same wherever the build reads them.
    const current = if (std.fs.path.isAbsolute(folder)) "" else std.process.currentPathAlloc(io, arena) catch |failure| {
        return refuse(path, failure, diagnostics);
    };
    var text: std.ArrayList(u8) = .empty;
    try text.appendSlice(arena, "coverage_test.zig:");
    for (files.paths) |name| {
        try text.appendSlice(arena, " \\\n  ");
        try appendEscaped(arena, &text, try std.fs.path.resolve(arena, &.{ current, folder, name }));
    }
    try text.append(arena, '\n');
    std.Io.Dir.cwd().writeFile(io, .{ .sub_path = path, .data = text.items }) catch |failure| return refuse(path, failure, diagnostics);
}

/// Of an input's characters Zig unescapes only the space.
fn appendEscaped(arena: Allocator, text: *std.ArrayList(u8), name: []const u8) Allocator.Error!void {
    for (name) |byte| {
        if (byte == ' ') try text.append(arena, '\\');
        try text.append(arena, byte);
    }
}

fn refuse(path: []const u8, failure: anyerror, diagnostics: *Diagnostics) source.Error {
    try diagnostics.add(path, null, "the depfile cannot be written ({t}); expected a place for a new file", .{failure});
    return error.Reported;
}
