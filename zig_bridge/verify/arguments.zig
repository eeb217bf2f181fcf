//! The command line of `verify-set`.

const std = @import("std");
const verify = @import("verify");

/// How a run ends; the numbers are those of build-capture.
pub const Exit = enum(u8) { good = 0, fault = 1, input = 2, differs = 3 };

const help =
    \\usage: verify-set [OPTIONS] PATH
    \\
    \\Checks a captured set: every file is there and unchanged, none is extra, and each cubin is what aot.json says of it.
    \\Neither a GPU nor Python is needed. PATH is the folder of a set, or the prefix where sets are installed.
    \\
    \\  --target NAME         the GPU that the set has to be for, such as sm_121
    \\  --folder              PATH is the folder of a set, never a prefix
    \\  --json                print one JSON object
    \\  --profile FILE        also compare the sources that the set records with a tree: its profile,
    \\  --declarations FILE   its declaration file,
    \\  --rounds FILE         its rounds,
    \\  --kernels DIR         and its Triton kernels
    \\  --stale refuse|warn   what a source that changed means (default: refuse)
    \\  --help                print this
    \\
;
const coverage_help =
    \\
    \\This program knows the rounds of its engine, and checks that the set covers them:
    \\
    \\  --parallel N          the streams that the server serves at once (default: {d})
    \\  --window-rows N       the rows of a stream's window (default: {d})
    \\  --no-coverage         check the files only
    \\
;
const exit_help =
    \\
    \\Exit codes: 0 good; 1 a fault of this program; 2 bad input or usage; 3 not the set that is needed.
    \\
;

/// What was asked for.
pub const Arguments = struct {
    path: []const u8,
    target: ?verify.Target,
    /// Whether the path is the folder of a set and nothing else.
    folder: bool = false,
    json: bool = false,
    coverage: bool,
    parallel: u32,
    window_rows: u32,
    tree: ?verify.sources.Tree = null,
    stale: Stale = .refuse,

    const Stale = enum { refuse, warn };

    /// What the program was built with.
    pub const Defaults = struct {
        has_rounds: bool = false,
        parallel: u32 = 0,
        window_rows: u32 = 0,
        target: ?verify.Target = null,
    };

    const Parsed = union(enum) { arguments: Arguments, help: []const u8, usage: []const u8 };

    /// The largest number that a limit takes.
    const limit_max = 1 << 16;

    const Option = enum {
        @"--target",
        @"--folder",
        @"--json",
        @"--profile",
        @"--declarations",
        @"--rounds",
        @"--kernels",
        @"--stale",
        @"--parallel",
        @"--window-rows",
        @"--no-coverage",
        @"--help",

        fn takesValue(option: Option) bool {
            return switch (option) {
                .@"--folder", .@"--json", .@"--no-coverage", .@"--help" => false,
                else => true,
            };
        }

        fn needsRounds(option: Option) bool {
            return switch (option) {
                .@"--parallel", .@"--window-rows" => true,
                else => false,
            };
        }
    };

    /// Reads the words after the program's name.
    pub fn parse(arena: std.mem.Allocator, words: []const []const u8, defaults: Defaults) error{OutOfMemory}!Parsed {
        var values: std.EnumMap(Option, []const u8) = .{};
        var path: ?[]const u8 = null;
        var index: usize = 0;
        while (index < words.len) : (index += 1) {
            const word = words[index];
            if (!std.mem.startsWith(u8, word, "-")) {
                if (path != null) return usage(arena, "a second path, {s}", .{word});
                path = word;
                continue;
            }
            const option = std.meta.stringToEnum(Option, word) orelse return usage(arena, "there is no option {s}", .{word});
            if (option.needsRounds() and !defaults.has_rounds) {
                return usage(arena, "{s}: this program was built without an engine's rounds", .{word});
            }
            if (values.contains(option)) return usage(arena, "{s} is given twice", .{word});
            if (!option.takesValue()) {
                values.put(option, "");
                continue;
            }
            index += 1;
            if (index == words.len) return usage(arena, "{s} lacks its value", .{word});
            values.put(option, words[index]);
        }
        if (values.contains(.@"--help")) return .{ .help = try helpText(arena, defaults) };
        return finish(arena, path orelse return usage(arena, "the path of a set is missing", .{}), &values, defaults);
    }

    fn finish(arena: std.mem.Allocator, path: []const u8, values: *std.EnumMap(Option, []const u8), defaults: Defaults) error{OutOfMemory}!Parsed {
        var arguments: Arguments = .{
            .path = path,
            .target = defaults.target,
            .folder = values.contains(.@"--folder"),
            .json = values.contains(.@"--json"),
            .coverage = !values.contains(.@"--no-coverage"),
            .parallel = defaults.parallel,
            .window_rows = defaults.window_rows,
        };
        if (path.len == 0) return usage(arena, "the path of the set is empty", .{});
        if (values.get(.@"--target")) |name| {
            arguments.target = verify.parseTarget(name) orelse return usage(arena, "--target is {s}, which is no GPU that is known; expected one like sm_121", .{name});
        }
        if (values.get(.@"--parallel")) |value| {
            arguments.parallel = limit(value) orelse return usage(arena, "--parallel is {s}; expected a whole number from 1 on", .{value});
        }
        if (values.get(.@"--window-rows")) |value| {
            arguments.window_rows = limit(value) orelse return usage(arena, "--window-rows is {s}; expected a whole number from 1 on", .{value});
        }
        if (values.get(.@"--stale")) |value| {
            arguments.stale = std.meta.stringToEnum(Stale, value) orelse return usage(arena, "--stale is {s}; expected refuse or warn", .{value});
        }
        if (values.get(.@"--profile")) |profile| {
            arguments.tree = .{
                .profile = profile,
                .declarations = values.get(.@"--declarations") orelse return usage(arena, "--profile needs --declarations and --kernels", .{}),
                .rounds = values.get(.@"--rounds"),
                .kernels = values.get(.@"--kernels") orelse return usage(arena, "--profile needs --declarations and --kernels", .{}),
            };
        }
        // What would be compared is not told by a part of it.
        if (arguments.tree == null) for ([_]Option{ .@"--declarations", .@"--rounds", .@"--kernels" }) |option| {
            if (values.contains(option)) return usage(arena, "{t} needs --profile", .{option});
        };
        return .{ .arguments = arguments };
    }

    fn limit(text: []const u8) ?u32 {
        const value = std.fmt.parseInt(u32, text, 10) catch return null;
        return if (value >= 1 and value <= limit_max) value else null;
    }

    fn helpText(arena: std.mem.Allocator, defaults: Defaults) error{OutOfMemory}![]const u8 {
        if (!defaults.has_rounds) return help ++ exit_help;
        return std.fmt.allocPrint(arena, "{s}" ++ coverage_help ++ "{s}", .{ help, defaults.parallel, defaults.window_rows, exit_help });
    }

    fn usage(arena: std.mem.Allocator, comptime format: []const u8, values: anytype) error{OutOfMemory}!Parsed {
        return .{ .usage = try std.fmt.allocPrint(arena, format, values) };
    }
};
