//! `build-capture-reader`: reads declaration files and profiles with the grammar of the Zig that compiled it.

const std = @import("std");
const builtin = @import("builtin");
const coverage_test = @import("coverage_test.zig");
const declarations = @import("declarations.zig");
const Diagnostics = @import("diagnostics.zig").Diagnostics;
const profile = @import("profile.zig");

const version = "0.1.0";

const help =
    \\usage: build-capture-reader SUBCOMMAND
    \\
    \\  declarations FILE    the methods and launches of a declaration file and its siblings, as JSON
    \\  profile FILE         a profile (capture.zon), as JSON with the place of each value
    \\  coverage-test --declarations FILE --parallel N --window-rows N --prompt-rows N --command TEXT [--target NAME] [--depfile FILE]
    \\                       the Zig test that fails where a round launches what a set does not hold;
    \\                       TEXT is the command that captures what is missing, NAME what the set has to be for;
    \\                       FILE gets the names of all files that were read, as a depfile
    \\  --help               this text
    \\  --version            the version of this program and of the Zig that compiled it
    \\
    \\Exit codes: 0 good; 1 a fault of this program or its surroundings; 2 bad input or usage.
    \\
;

/// How a run ends.
const Exit = enum(u8) { good = 0, fault = 1, bad_input = 2 };

const Run = struct {
    io: std.Io,
    arena: std.mem.Allocator,
    output: std.Io.Writer.Allocating,
    diagnostics: Diagnostics,

    fn dispatch(self: *Run, arguments: []const [:0]const u8) anyerror!void {
        if (arguments.len == 0) return self.usage("a subcommand is missing", .{});
        const writer = &self.output.writer;
        const subcommand = arguments[0];
        if (std.mem.eql(u8, subcommand, "--help")) return writer.writeAll(help);
        if (std.mem.eql(u8, subcommand, "--version")) {
            return writer.writeAll("build-capture-reader " ++ version ++ " (Zig " ++ builtin.zig_version_string ++ ")\n");
        }
        if (std.mem.eql(u8, subcommand, "declarations")) {
            return declarations.write(self.io, self.arena, try self.onlyFile(arguments), writer, &self.diagnostics);
        }
        if (std.mem.eql(u8, subcommand, "profile")) {
            return profile.write(self.io, self.arena, try self.onlyFile(arguments), writer, &self.diagnostics);
        }
        if (std.mem.eql(u8, subcommand, "coverage-test")) {
            return coverage_test.write(self.io, self.arena, try self.coverageOptions(arguments[1..]), writer, &self.diagnostics);
        }
        return self.usage("there is no subcommand {s}", .{subcommand});
    }

    fn usage(self: *Run, comptime format: []const u8, values: anytype) anyerror {
        try self.diagnostics.add("build-capture-reader", null, format ++ "; expected declarations, profile or coverage-test with its arguments; try --help", values);
        return error.Reported;
    }

    fn onlyFile(self: *Run, arguments: []const [:0]const u8) anyerror![]const u8 {
        if (arguments.len != 2) return self.usage("{s} takes one file, not {d}", .{ arguments[0], arguments.len - 1 });
        if (arguments[1].len == 0) return self.usage("the name of the file is empty", .{});
        return arguments[1];
    }

    fn coverageOptions(self: *Run, arguments: []const [:0]const u8) anyerror!coverage_test.Options {
        const names = [_][]const u8{ "--declarations", "--parallel", "--window-rows", "--prompt-rows", "--command", "--target", "--depfile" };
        const needed = names.len - 2;
        var values: [names.len]?[]const u8 = @splat(null);
        var index: usize = 0;
        // Each turn takes an option and its value.
        while (index < arguments.len) : (index += 2) {
            const at = for (names, 0..) |name, at| {
                if (std.mem.eql(u8, name, arguments[index])) break at;
            } else return self.usage("coverage-test has no option {s}", .{arguments[index]});
            if (values[at] != null) return self.usage("{s} is given twice", .{names[at]});
            if (index + 1 == arguments.len) return self.usage("{s} lacks its value", .{names[at]});
            values[at] = arguments[index + 1];
        }
        for (names[0..needed], values[0..needed]) |name, value| {
            if (value == null or value.?.len == 0) return self.usage("coverage-test needs {s}", .{name});
        }
        return .{
            .declarations = values[0].?,
            .parallel = try self.count(names[1], values[1].?, 1),
            .window_rows = try self.count(names[2], values[2].?, 1),
            .prompt_rows = try self.count(names[3], values[3].?, 0),
            .command = values[4].?,
            .target = values[5],
            .depfile = values[6],
        };
    }

    fn count(self: *Run, name: []const u8, value: []const u8, minimum: u32) anyerror!u32 {
        const number = std.fmt.parseInt(u32, value, 10) catch return self.usage("{s} is {s}, which is no whole number", .{ name, value });
        if (number < minimum) return self.usage("{s} is {d}, which is less than {d}", .{ name, number, minimum });
        return number;
    }

    /// Nothing reaches the standard output unless the whole answer is good.
    fn finish(self: *Run, result: anyerror!void) anyerror!Exit {
        var buffer: [4096]u8 = undefined;
        if (result) |_| {
            var writer = std.Io.File.stdout().writerStreaming(self.io, &buffer);
            try writer.interface.writeAll(self.output.written());
            try writer.interface.flush();
            return .good;
        } else |failure| {
            var writer = std.Io.File.stderr().writerStreaming(self.io, &buffer);
            if (failure != error.Reported) {
                try writer.interface.print("build-capture-reader: error: {t}; this is a fault of the program or its surroundings\n", .{failure});
                try writer.interface.flush();
                return .fault;
            }
            try self.diagnostics.print(&writer.interface);
            try writer.interface.flush();
            return .bad_input;
        }
    }
};

/// The entry point: parses the command line and turns problems into an exit code.
pub fn main(init: std.process.Init) u8 {
    const arena = init.arena.allocator();
    var run: Run = .{ .io = init.io, .arena = arena, .output = .init(arena), .diagnostics = .{ .arena = arena } };
    const arguments = init.minimal.args.toSlice(arena) catch return @intFromEnum(Exit.fault);
    const exit = run.finish(run.dispatch(if (arguments.len > 0) arguments[1..] else &.{})) catch Exit.fault;
    return @intFromEnum(exit);
}
