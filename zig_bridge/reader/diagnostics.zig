//! Gathers the problems of one run and prints them the way that a compiler does.

const std = @import("std");
const Allocator = std.mem.Allocator;
const Writer = std.Io.Writer;

/// A place in a file, both numbers from 1; the column counts bytes, as Zig's does.
pub const Position = struct { line: u32, column: u32 };

/// One problem, or a note that belongs to the problem before it.
pub const Diagnostic = struct {
    /// The file as the user named it.
    shown: []const u8,
    /// Null where the problem is with the whole file.
    position: ?Position,
    is_note: bool,
    message: []const u8,
};

/// The problems of one run, in the order in which they are found: files in reading order, then by place.
pub const Diagnostics = struct {
    arena: Allocator,
    list: std.ArrayList(Diagnostic) = .empty,

    /// Adds a problem; `format` says what is wrong, what is expected and what to try.
    pub fn add(self: *Diagnostics, shown: []const u8, position: ?Position, comptime format: []const u8, arguments: anytype) Allocator.Error!void {
        try self.append(shown, position, false, format, arguments);
    }

    /// Adds a note to the problem added last.
    pub fn note(self: *Diagnostics, shown: []const u8, position: ?Position, comptime format: []const u8, arguments: anytype) Allocator.Error!void {
        std.debug.assert(self.list.items.len > 0);
        try self.append(shown, position, true, format, arguments);
    }

    fn append(self: *Diagnostics, shown: []const u8, position: ?Position, is_note: bool, comptime format: []const u8, arguments: anytype) Allocator.Error!void {
        try self.list.append(self.arena, .{
            .shown = shown,
            .position = position,
            .is_note = is_note,
            .message = try std.fmt.allocPrint(self.arena, format, arguments),
        });
    }

    /// Prints every problem, then how many there are.
    pub fn print(self: *const Diagnostics, writer: *Writer) Writer.Error!void {
        var errors: usize = 0;
        for (self.list.items) |diagnostic| {
            try writer.writeAll(diagnostic.shown);
            if (diagnostic.position) |position| try writer.print(":{d}:{d}", .{ position.line, position.column });
            try writer.print(": {s}: {s}\n", .{ if (diagnostic.is_note) "note" else "error", diagnostic.message });
            errors += @intFromBool(!diagnostic.is_note);
        }
        try writer.print("{d} error{s}\n", .{ errors, if (errors == 1) "" else "s" });
    }
};
