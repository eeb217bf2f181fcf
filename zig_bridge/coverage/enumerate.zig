//! Every round within the limits, in one fixed order: decode rounds by streams, then rows; then
//! prompt chunks by rows.

const std = @import("std");
const build_capture = @import("build_capture");
const Limits = build_capture.Limits;
const Round = build_capture.Round;

/// Walks the rounds. A round's windows stay valid until the next call.
pub const Rounds = struct {
    limits: Limits,
    kind: Round.Kind = .decode,
    streams: u32 = 1,
    rows: u32 = 0,
    windows: [Limits.parallel_max]u32 = undefined,

    /// Starts before the first round. The limits must have no problem.
    pub fn init(limits: Limits) Rounds {
        std.debug.assert(limits.problem() == null);
        return .{ .limits = limits };
    }

    /// The next round, or null after the last.
    pub fn next(rounds: *Rounds) ?Round {
        rounds.rows += 1;
        switch (rounds.kind) {
            .decode => {
                if (rounds.rows > rounds.streams * rounds.limits.window_rows) {
                    rounds.streams += 1;
                    rounds.rows = rounds.streams;
                }
                if (rounds.streams > rounds.limits.parallel) {
                    rounds.kind = .prompt;
                    rounds.streams = 1;
                    rounds.rows = 1;
                    return rounds.prompt();
                }
                rounds.deal();
                return rounds.round();
            },
            .prompt => return rounds.prompt(),
        }
    }

    fn prompt(rounds: *Rounds) ?Round {
        if (rounds.rows > rounds.limits.prompt_rows) {
            // Stays at the end however often the caller asks.
            rounds.rows = rounds.limits.prompt_rows;
            return null;
        }
        rounds.windows[0] = rounds.rows;
        return rounds.round();
    }

    fn round(rounds: *const Rounds) Round {
        return .{ .kind = rounds.kind, .limits = rounds.limits, .windows = rounds.windows[0..rounds.streams] };
    }

    /// In which order windows of unlike length stand.
    pub const Order = enum { short_first, long_first };

    /// The round again, its rows dealt out as unevenly as they go, into `windows`; null where that is the deal at hand.
    pub fn unevenly(rounds: *const Rounds, order: Order, windows: *[Limits.parallel_max]u32) ?Round {
        if (rounds.kind == .prompt) return null;
        const dealt = windows[0..rounds.streams];
        var left = rounds.rows;
        for (dealt, 0..) |*window, index| {
            const after: u32 = @intCast(dealt.len - index - 1);
            window.* = @max(1, left -| after * rounds.limits.window_rows);
            left -= window.*;
        }
        std.debug.assert(left == 0);
        if (order == .long_first) std.mem.reverse(u32, dealt);
        if (std.mem.eql(u32, dealt, rounds.windows[0..rounds.streams])) return null;
        return .{ .kind = rounds.kind, .limits = rounds.limits, .windows = dealt };
    }

    /// Deals the rows out evenly, the first streams taking one more where they do not divide.
    fn deal(rounds: *Rounds) void {
        const share = rounds.rows / rounds.streams;
        const longer = rounds.rows % rounds.streams;
        for (rounds.windows[0..rounds.streams], 0..) |*window, index| {
            window.* = share + @intFromBool(index < longer);
            std.debug.assert(window.* >= 1 and window.* <= rounds.limits.window_rows);
        }
    }
};

fn checkCount(limits: Limits, decode_want: u32, prompt_want: u32) !void {
    var rounds: Rounds = .init(limits);
    var decode: u32 = 0;
    var prompt: u32 = 0;
    var rows_before: u32 = 0;
    var streams_before: u32 = 0;
    while (rounds.next()) |round| {
        switch (round.kind) {
            .decode => decode += 1,
            .prompt => prompt += 1,
        }
        const ascending = round.streams() != streams_before or round.rows() == rows_before + 1;
        try std.testing.expect(ascending or round.kind == .prompt);
        rows_before = round.rows();
        streams_before = round.streams();
    }
    try std.testing.expectEqual(decode_want, decode);
    try std.testing.expectEqual(prompt_want, prompt);
    try std.testing.expectEqual(@as(?Round, null), rounds.next());
}

test "enumerate: every streams and rows once, then every prompt chunk" {
    try checkCount(.{ .parallel = 1, .window_rows = 1, .prompt_rows = 0 }, 1, 0);
    try checkCount(.{ .parallel = 1, .window_rows = 4, .prompt_rows = 3 }, 4, 3);
    // Streams 1, 2 and 3 have 1..4, 2..8 and 3..12 rows.
    try checkCount(.{ .parallel = 3, .window_rows = 4, .prompt_rows = 1 }, 4 + 7 + 10, 1);
    try checkCount(.{ .parallel = 16, .window_rows = 16, .prompt_rows = 4096 }, 2056, 4096);
}

test "enumerate: windows are dealt so that they sum to the rows" {
    var rounds: Rounds = .init(.{ .parallel = 3, .window_rows = 4, .prompt_rows = 2 });
    var seen_uneven = false;
    while (rounds.next()) |round| {
        try std.testing.expect(round.streams() >= 1 and round.streams() <= 3);
        if (round.kind == .decode and round.streams() == 3 and round.rows() == 8) {
            try std.testing.expectEqualSlices(u32, &.{ 3, 3, 2 }, round.windows);
            seen_uneven = true;
        }
    }
    try std.testing.expect(seen_uneven);
}

test "enumerate: the most uneven deals hold the same rows, short windows first or last" {
    var rounds: Rounds = .init(.{ .parallel = 3, .window_rows = 4, .prompt_rows = 1 });
    var windows: [Limits.parallel_max]u32 = undefined;
    var seen: u32 = 0;
    while (rounds.next()) |round| {
        for ([_]Rounds.Order{ .short_first, .long_first }) |order| {
            const uneven = rounds.unevenly(order, &windows) orelse continue;
            try std.testing.expectEqual(round.rows(), uneven.rows());
            try std.testing.expectEqual(round.streams(), uneven.streams());
            for (uneven.windows) |window| try std.testing.expect(window >= 1 and window <= 4);
            seen += 1;
        }
        if (round.streams() == 3 and round.rows() == 7) {
            try std.testing.expectEqualSlices(u32, &.{ 1, 2, 4 }, rounds.unevenly(.short_first, &windows).?.windows);
            try std.testing.expectEqualSlices(u32, &.{ 4, 2, 1 }, rounds.unevenly(.long_first, &windows).?.windows);
        }
    }
    // Neither rounds of one row a stream nor of full windows can be dealt otherwise; with one row more, or one less, the
    // even deal is the one with the long window first.
    try std.testing.expectEqual(@as(u32, (1 + 3 * 2 + 1) + (1 + 6 * 2 + 1)), seen);
}
