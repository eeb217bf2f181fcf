//! Ends a program in which a round or a call does not come back: whoever waits for it would wait forever, without a word.

const builtin = @import("builtin");
const std = @import("std");
const drive = @import("drive.zig");

/// How long one round, or one call over domains, may take. On the host it takes microseconds.
pub var seconds_max: u32 = 120;

/// Of a program that was ended.
const exit_bad_input = 2;

/// Grows whenever something begins or ends.
var moves: std.atomic.Value(u64) = .init(0);
var is_started = false;

/// Notes that a round or a call begins or ends.
pub fn move() void {
    _ = moves.fetchAdd(1, .monotonic);
}

/// Watches what is driven from now on, until the program ends. Where no thread can be had nothing is watched.
pub fn start() void {
    if (builtin.single_threaded or is_started) return;
    const thread = std.Thread.spawn(.{}, watch, .{}) catch return;
    thread.detach();
    is_started = true;
}

fn watch() void {
    var threaded: std.Io.Threaded = .init_single_threaded;
    var still: Still = .{};
    // Ends with the program.
    while (true) {
        threaded.io().sleep(.fromSeconds(1), .awake) catch return;
        // What stands still is read by this thread while its own does not touch it.
        if (still.seconds(moves.load(.acquire)) >= seconds_max) if (drive.at) |position| end(position);
    }
}

/// Counts the seconds, one for each look, so that a program that is stopped and goes on has not been still meanwhile.
const Still = struct {
    seen: u64 = 0,
    looks: u32 = 0,

    /// For how long nothing moved.
    fn seconds(still: *Still, now: u64) u32 {
        still.looks = if (now == still.seen) still.looks +| 1 else 0;
        still.seen = now;
        return still.looks;
    }
};

fn end(position: drive.AnyPosition) noreturn {
    var text: [drive.text_bytes_max]u8 = undefined;
    const told = position.tell(&text);
    const place = if (std.mem.startsWith(u8, told, "call")) "that method" else "`layouts` or `drive` of rounds.zig, or in a method that they call";
    std.debug.print("error: a {s} has not ended within {d} s; expected it to launch and come back; look for a loop without an end in {s}\n", .{
        told, seconds_max, place,
    });
    std.process.exit(exit_bad_input);
}

test "watch: only what stands still is counted" {
    var still: Still = .{};
    for ([_]u64{ 0, 0, 5, 5, 5, 6, 6 }, [_]u32{ 1, 2, 0, 1, 2, 0, 1 }) |now, want| {
        try std.testing.expectEqual(want, still.seconds(now));
    }
}
