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
                var text: [drive.text_bytes_max]u8 = undefined;
                std.debug.print("{s}: error: a {s} panicked: {s}\n", .{ program, position.tell(&text), message });
            }
            std.debug.defaultPanic(message, first_trace_address);
        }
    }.panicInRound);
}
