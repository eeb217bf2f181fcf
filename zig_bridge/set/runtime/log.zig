//! Where the runtime's lines go: the program's `std.log`, unless it says otherwise.

const std = @import("std");

/// A line longer than this is cut.
const line_bytes_max = 4096;

/// Takes lines.
pub const Log = struct {
    /// Handed back to `write`.
    context: ?*anyopaque = null,
    /// Takes one line, without its end.
    write: *const fn (context: ?*anyopaque, level: Level, line: []const u8) void = writeStandard,

    /// How grave a line is.
    pub const Level = enum {
        /// A launch or a call failed.
        err,
        /// It went on, otherwise than it was meant to.
        warn,
        /// Something was done.
        info,
    };

    /// Formats a line and hands it on.
    pub fn print(log: Log, level: Level, comptime format: []const u8, values: anytype) void {
        var line: Line = .{};
        line.add(format, values);
        line.end(log, level);
    }
};

/// A line that is put together bit by bit.
pub const Line = struct {
    buffer: [line_bytes_max]u8 = undefined,
    used: usize = 0,

    /// Appends to it, as far as there is room.
    pub fn add(line: *Line, comptime format: []const u8, values: anytype) void {
        var writer: std.Io.Writer = .fixed(line.buffer[line.used..]);
        writer.print(format, values) catch {}; // What fits is kept.
        line.used += writer.end;
    }

    /// Hands it on.
    pub fn end(line: *const Line, log: Log, level: Log.Level) void {
        log.write(log.context, level, line.buffer[0..line.used]);
    }
};

const standard = std.log.scoped(.aot);

fn writeStandard(_: ?*anyopaque, level: Log.Level, line: []const u8) void {
    switch (level) {
        .err => standard.err("{s}", .{line}),
        .warn => standard.warn("{s}", .{line}),
        .info => standard.info("{s}", .{line}),
    }
}

/// Keeps every line, for tests.
pub const Notebook = struct {
    allocator: std.mem.Allocator,
    text: std.ArrayList(u8) = .empty,

    /// A log that writes into it: the level, a space, the line.
    pub fn log(notebook: *Notebook) Log {
        return .{ .context = notebook, .write = write };
    }

    /// Forgets what was written.
    pub fn clear(notebook: *Notebook) void {
        notebook.text.clearRetainingCapacity();
    }

    /// Frees the text.
    pub fn deinit(notebook: *Notebook) void {
        notebook.text.deinit(notebook.allocator);
    }

    fn write(context: ?*anyopaque, level: Log.Level, line: []const u8) void {
        const notebook: *Notebook = @ptrCast(@alignCast(context.?));
        notebook.text.print(notebook.allocator, "{t} {s}\n", .{ level, line }) catch @panic("OOM");
    }
};

test "log: a line that is too long is cut" {
    var notebook: Notebook = .{ .allocator = std.testing.allocator };
    defer notebook.deinit();
    notebook.log().print(.warn, "{s}!", .{@as([2 * line_bytes_max]u8, @splat('x'))});
    try std.testing.expectEqual("warn ".len + line_bytes_max + 1, notebook.text.items.len);
    notebook.clear();
    notebook.log().print(.info, "{d} launches", .{2});
    try std.testing.expectEqualStrings("info 2 launches\n", notebook.text.items);
}
