//! The command line of `qwen27-serve`.

const std = @import("std");
const profile = @import("profile");

/// How a run ends; the numbers are those of build-capture.
pub const Exit = enum(u8) {
    good = 0,
    fault = 1,
    /// A bad command line, or a set that cannot be used.
    input = 2,
    /// A launch was refused.
    refused = 3,
    /// There is no CUDA driver or device.
    no_device = 4,
    /// A number is wrong.
    numbers = 5,
};

pub const help = std.fmt.comptimePrint(
    \\usage: qwen27-serve [OPTIONS] SET
    \\
    \\Serves random rounds of attention on a GPU from a captured set alone, and checks them: no launch is refused, each row is
    \\the same row of its window computed alone, bit for bit, and what float64 says. SET is the folder of a set.
    \\
    \\  --rounds N         rounds to serve (default: 500); the first have 1, 2, ... streams, the others are random
    \\  --parallel N       streams in a round, at most (default: {d})
    \\  --window-rows N    rows in one stream's window, at most (default: {d})
    \\  --seed N           what the rounds are drawn from (default: 1)
    \\  --device N         the CUDA device (default: 0)
    \\  --keep-going       go on where a launch is refused, and count
    \\  --json             print one JSON object
    \\  --help             print this
    \\
    \\Exit codes: 0 good; 1 a fault of this program or of CUDA; 2 bad input or usage; 3 a launch was refused; 4 there is no CUDA
    \\driver or device; 5 a number is wrong.
    \\
, .{ profile.limits.parallel, profile.limits.window_rows });

/// What is asked for.
pub const Arguments = struct {
    set: []const u8 = "",
    rounds: u32 = 500,
    parallel: u32 = profile.limits.parallel,
    window_rows: u32 = profile.limits.window_rows,
    seed: u32 = 1,
    device: u32 = 0,
    keep_going: bool = false,
    json: bool = false,
    help: bool = false,

    const Option = enum { rounds, parallel, @"window-rows", seed, device, @"keep-going", json, help };

    /// Reads the words after the program's name. On an error `problem` says what is wrong.
    pub fn parse(words: []const []const u8, problem: *[]const u8) error{BadUsage}!Arguments {
        var arguments: Arguments = .{};
        var index: usize = 0;
        while (index < words.len) : (index += 1) {
            const word = words[index];
            if (!std.mem.startsWith(u8, word, "-")) {
                if (arguments.set.len > 0) return fail(problem, "a second set; expected one");
                arguments.set = word;
                continue;
            }
            const name = if (std.mem.startsWith(u8, word, "--")) word["--".len..] else "";
            switch (std.meta.stringToEnum(Option, name) orelse return fail(problem, "an unknown option; expected one that --help lists")) {
                .@"keep-going" => arguments.keep_going = true,
                .json => arguments.json = true,
                .help => arguments.help = true,
                .rounds, .parallel, .@"window-rows", .seed, .device => |option| {
                    index += 1;
                    if (index == words.len) return fail(problem, "an option without its number");
                    const number = std.fmt.parseInt(u32, words[index], 10) catch return fail(problem, "expected a whole number after an option");
                    try arguments.setNumber(option, number, problem);
                },
            }
        }
        if (arguments.set.len == 0 and !arguments.help) return fail(problem, "no set given; expected its folder");
        return arguments;
    }

    fn setNumber(arguments: *Arguments, option: Option, number: u32, problem: *[]const u8) error{BadUsage}!void {
        const field: *u32 = switch (option) {
            .rounds => &arguments.rounds,
            .parallel => &arguments.parallel,
            .@"window-rows" => &arguments.window_rows,
            .seed => &arguments.seed,
            .device => &arguments.device,
            .@"keep-going", .json, .help => unreachable, // They take no number.
        };
        field.* = number;
        if (arguments.rounds == 0) return fail(problem, "--rounds is 0; expected at least 1");
        if (arguments.parallel == 0 or arguments.parallel > profile.limits.parallel) return fail(problem, "--parallel is not within the profile's limits");
        if (arguments.window_rows == 0 or arguments.window_rows > profile.limits.window_rows) return fail(problem, "--window-rows is not within the profile's limits");
    }
};

fn fail(problem: *[]const u8, what: []const u8) error{BadUsage} {
    problem.* = what;
    return error.BadUsage;
}

test "arguments: numbers, switches and what is wrong" {
    var problem: []const u8 = "";
    const arguments: Arguments = try .parse(&.{ "--rounds", "3", "--parallel", "2", "--json", "set", "--seed", "9" }, &problem);
    try std.testing.expectEqual(3, arguments.rounds);
    try std.testing.expectEqual(2, arguments.parallel);
    try std.testing.expectEqual(profile.limits.window_rows, arguments.window_rows);
    try std.testing.expect(arguments.json and !arguments.keep_going and arguments.seed == 9);
    try std.testing.expectEqualStrings("set", arguments.set);
    try std.testing.expect((try Arguments.parse(&.{"--help"}, &problem)).help);
    const bad = [_]struct { words: []const []const u8, want: []const u8 }{
        .{ .words = &.{}, .want = "no set given; expected its folder" },
        .{ .words = &.{ "a", "b" }, .want = "a second set; expected one" },
        .{ .words = &.{ "a", "--rounds" }, .want = "an option without its number" },
        .{ .words = &.{ "a", "--rounds", "-1" }, .want = "expected a whole number after an option" },
        .{ .words = &.{ "a", "--rounds", "0" }, .want = "--rounds is 0; expected at least 1" },
        .{ .words = &.{ "a", "--parallel", "17" }, .want = "--parallel is not within the profile's limits" },
        .{ .words = &.{ "a", "--window-rows", "0" }, .want = "--window-rows is not within the profile's limits" },
        .{ .words = &.{ "a", "-v" }, .want = "an unknown option; expected one that --help lists" },
    };
    for (bad) |case| {
        try std.testing.expectError(error.BadUsage, Arguments.parse(case.words, &problem));
        try std.testing.expectEqualStrings(case.want, problem);
    }
}
