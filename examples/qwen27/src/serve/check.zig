//! Serves rounds and checks what comes of them: nothing is refused, each row is the same row of its window computed alone, bit
//! for bit, and what float64 says.

const std = @import("std");
const cuda = @import("cuda");
const Reference = @import("reference.zig").Reference;
const reference_types = @import("reference.zig");
const server_types = @import("server.zig");
const State = @import("state.zig").State;
const query_values = @import("state.zig").query_values;
const windows_types = @import("windows.zig");
const Round = windows_types.Round;
const Server = server_types.Server;

/// What was found.
pub const Findings = struct {
    /// Rounds that were drawn, each with its windows together and alone.
    rounds: u64 = 0,
    /// Of these, rounds in which a launch was refused.
    refused: u64 = 0,
    /// The first of them, counted from 1; 0 if there is none.
    first_refused: u64 = 0,
    /// The most streams and rows of a round that was served.
    streams_most: u32 = 0,
    rows_most: u32 = 0,
    /// Rows of several streams' rounds that were compared with the same row of their window alone.
    rows_compared: u64 = 0,
    /// Rows of rounds of one window: these are alone already, and were compared with the same round served again.
    rows_repeated: u64 = 0,
    rows_differing: u64 = 0,
    bits_differing: u64 = 0,
    /// Rows that were compared with float64.
    rows_calculated: u64 = 0,
    error_worst: f64 = 0,

    /// Whether the numbers are right; a run that compared nothing has none.
    pub fn areNumbersGood(findings: Findings) bool {
        return findings.rows_compared + findings.rows_repeated > 0 and findings.rows_calculated > 0 and findings.bits_differing == 0 and
            findings.error_worst <= reference_types.error_limit;
    }

    /// Compares rows with the same rows alone; `count` windows are in their round.
    fn compare(findings: *Findings, count: u32, together: []const u16, alone: []const u16) void {
        std.debug.assert(together.len == alone.len and together.len % query_values == 0);
        const rows = together.len / query_values;
        const counter = if (count > 1) &findings.rows_compared else &findings.rows_repeated;
        counter.* += rows;
        for (0..rows) |row| {
            var bits: u64 = 0;
            for (together[row * query_values ..][0..query_values], alone[row * query_values ..][0..query_values]) |left, right| bits += @popCount(left ^ right);
            findings.bits_differing += bits;
            if (bits > 0) findings.rows_differing += 1;
        }
    }
};

/// Serves rounds and gathers what it finds.
pub const Checker = struct {
    server: *Server,
    random: std.Random,
    reference: *Reference,
    /// Rows of the largest round, together and alone.
    together: []u16,
    alone: []u16,
    findings: Findings = .{},

    pub fn init(arena: std.mem.Allocator, server: *Server, random: std.Random, limits: windows_types.Limits) error{OutOfMemory}!Checker {
        return .{
            .server = server,
            .random = random,
            .reference = try arena.create(Reference),
            .together = try arena.alloc(u16, limits.parallel * limits.window_rows * query_values),
            .alone = try arena.alloc(u16, limits.window_rows * query_values),
        };
    }

    /// Serves a round, each of its windows alone, and one row by float64.
    pub fn check(checker: *Checker, round: *const Round) server_types.Error!void {
        const findings = &checker.findings;
        findings.rounds += 1;
        checker.serve(round) catch |failure| {
            if (failure != error.MissingTritonVariant and failure != error.AmbiguousTritonVariant) return failure;
            findings.refused += 1;
            if (findings.first_refused == 0) findings.first_refused = findings.rounds;
            return failure;
        };
        findings.streams_most = @max(findings.streams_most, round.count);
        findings.rows_most = @max(findings.rows_most, round.rows());
    }

    fn serve(checker: *Checker, round: *const Round) server_types.Error!void {
        const findings = &checker.findings;
        const together = try checker.server.run(round, checker.together);
        const calculated = checker.random.uintLessThan(u32, round.rows());
        var first: u32 = 0;
        for (round.windows()) |*window| {
            const rows = together[first * query_values ..][0 .. window.rows * query_values];
            findings.compare(round.count, rows, try checker.server.run(&.alone(window.*), checker.alone));
            if (calculated >= first and calculated < first + window.rows) {
                const row = calculated - first;
                checker.reference.compute(checker.server.state, window, row);
                const found = checker.reference.errorOf(rows[row * query_values ..][0..query_values]);
                findings.rows_calculated += 1;
                findings.error_worst = @max(findings.error_worst, found);
            }
            first += window.rows;
        }
    }
};

test "check: bits that differ are counted, and a run that compared nothing is not good" {
    var findings: Findings = .{};
    try std.testing.expect(!findings.areNumbersGood());
    var left: [2 * query_values]u16 = @splat(7);
    var right = left;
    findings.rows_calculated = 1;
    findings.compare(2, &left, &right);
    try std.testing.expect(findings.areNumbersGood());
    right[query_values + 3] ^= 0b101;
    findings.compare(2, &left, &right);
    findings.compare(1, left[0..query_values], left[0..query_values]);
    try std.testing.expectEqual(4, findings.rows_compared);
    try std.testing.expectEqual(1, findings.rows_repeated);
    try std.testing.expectEqual(1, findings.rows_differing);
    try std.testing.expectEqual(2, findings.bits_differing);
    try std.testing.expect(!findings.areNumbersGood());
    const wrong: Findings = .{ .rows_compared = 1, .rows_calculated = 1, .error_worst = 5e-3 };
    try std.testing.expect(!wrong.areNumbersGood());
}
