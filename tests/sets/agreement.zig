//! Answers for test_agreement.py what a launch gets from a set. Lines of input: `S` and the text of an `aot.json`, or `L`
//! and a launch of the latest set. Each gets a line: of a set `ok`, `foreign` or what is wrong with it.

const std = @import("std");
const set = @import("set");
const Writer = std.Io.Writer;

/// Function, arguments (name, type, value), constexprs (name, kind, value), warps and stages: lists, which are read sooner
/// than objects.
const Input = struct { []const u8, []const struct { []const u8, []const u8, i128 }, []const struct { []const u8, []const u8, i64 }, ?u32, ?u32 };

pub fn main(init: std.process.Init) !void {
    const arguments = try init.minimal.args.toSlice(init.arena.allocator());
    const text = try std.Io.Dir.cwd().readFileAlloc(init.io, arguments[1], init.arena.allocator(), .unlimited);
    const output = try std.Io.Dir.cwd().createFile(init.io, arguments[2], .{});
    defer output.close(init.io);
    var buffer: [1 << 16]u8 = undefined;
    var file_writer = output.writer(init.io, &buffer);
    const writer = &file_writer.interface;

    var set_arena: std.heap.ArenaAllocator = .init(std.heap.page_allocator);
    var launch_arena: std.heap.ArenaAllocator = .init(std.heap.page_allocator);
    var captured: set.Set = undefined;
    var lines = std.mem.tokenizeScalar(u8, text, '\n');
    while (lines.next()) |line| {
        if (line[0] == 'S') {
            _ = set_arena.reset(.retain_capacity);
            var diagnostic: set.Diagnostic = .{};
            if (set.parse(set_arena.allocator(), line[1..], &diagnostic)) |parsed| {
                captured = parsed;
                try writer.writeAll(if (parsed.foreign) "foreign" else "ok");
            } else |failure| {
                if (failure == error.OutOfMemory) return failure;
                try writer.writeAll(diagnostic.message);
            }
        } else {
            _ = launch_arena.reset(.retain_capacity);
            try answer(launch_arena.allocator(), &captured, line[1..], writer);
        }
        try writer.writeByte('\n');
    }
    try writer.flush();
}

fn answer(arena: std.mem.Allocator, captured: *const set.Set, line: []const u8, writer: *Writer) !void {
    const request = try requestOf(arena, try std.json.parseFromSliceLeaky(Input, arena, line, .{}));
    var last: set.Selection = .missing;
    for (std.enums.values(set.Policy)) |policy| {
        last = set.select(captured, request, policy);
        switch (last) {
            .missing => try writer.writeAll("missing "),
            .ambiguous => |pair| try writer.print("ambiguous {d} {d} ", .{ placeOf(captured, pair.first), placeOf(captured, pair.second) }),
            inline else => |variant, kind| try writer.print("{t} {d} ", .{ kind, placeOf(captured, variant) }),
        }
    }
    if (set.match.ambiguity(captured, request)) |ambiguity| {
        try writer.print("{s} {d} {d}", .{ ambiguity.what, placeOf(captured, ambiguity.first), placeOf(captured, ambiguity.second) });
    }
    if (last != .missing) return;
    const near = set.match.nearest(captured, request) orelse return;
    try writer.print("near {d} by {d}: ", .{ placeOf(captured, near.variant), near.differences.count });
    for (near.differences.items()) |difference| {
        try difference.write(writer);
        try writer.writeAll("; ");
    }
}

fn requestOf(arena: std.mem.Allocator, input: Input) !set.Request {
    const function, const given_arguments, const given_constexprs, const num_warps, const num_stages = input;
    const arguments = try arena.alloc(set.Arg, given_arguments.len);
    for (given_arguments, arguments) |given, *argument| {
        const name, const type_name, const value = given;
        argument.* = if (std.mem.eql(u8, type_name, "i32"))
            set.int(name, @intCast(value))
        else if (std.mem.eql(u8, type_name, "u64"))
            set.word(name, @intCast(value))
        else if (std.mem.eql(u8, type_name, "fp32"))
            set.float(name, @bitCast(@as(u32, @intCast(value))))
        else
            set.ptr(name, type_name, @intCast(value));
    }
    const constexprs = try arena.alloc(set.Const, given_constexprs.len);
    for (given_constexprs, constexprs) |given, *constexpr| {
        const name, const kind, const value = given;
        constexpr.* = if (std.mem.eql(u8, kind, "int")) set.ci(name, value) else set.cf(name, @bitCast(@as(u32, @intCast(value))));
    }
    return .{
        .function = function,
        .arguments = arguments,
        .constexprs = constexprs,
        .options = .{ .num_warps = num_warps, .num_stages = num_stages },
    };
}

fn placeOf(captured: *const set.Set, variant: *const set.Variant) usize {
    return variant - captured.variants.ptr;
}
