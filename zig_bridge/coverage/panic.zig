//! Tells which round or call made a declaration file panic, such as at a cast that does not fit.

const std = @import("std");
const drive = @import("drive.zig");

/// What the root file of a program that drives rounds declares as `panic`.
pub fn handler(comptime program: []const u8) type {
    return std.debug.FullPanic(struct {
        fn panicInRound(message: []const u8, first_trace_address: ?usize) noreturn {
            @branchHint(.cold);
            if (drive.at) |position| {
                // A second panic, while this one is told, tells nothing.
                drive.at = null;
                var memory: [1 << 14]u8 = undefined;
                var text: [1 << 14]u8 = undefined;
                var allocator: std.heap.FixedBufferAllocator = .init(&memory);
                var writer: std.Io.Writer = .fixed(&text);
                position.write(allocator.allocator(), &writer) catch {};
                std.debug.print("{s}: error: a {s} panicked: {s}\n", .{ program, writer.buffered(), message });
            }
            std.debug.defaultPanic(message, first_trace_address);
        }
    }.panicInRound);
}
