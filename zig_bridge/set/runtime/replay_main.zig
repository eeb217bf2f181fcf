//! `replay-set`: launches from Zig what a capture launched from Python, and compares what it writes, bit for bit.

const std = @import("std");
const set = @import("set");
const cuda = @import("runtime.zig");
const replay_types = @import("replay.zig");
const values_types = @import("values.zig");
const Writer = std.Io.Writer;

pub const std_options: std.Options = .{ .log_level = .info };

const help =
    \\usage: replay-set [OPTIONS] SET VALUES
    \\
    \\Repeats the launches of a capture on the GPU, through the variants of a set, and compares what they write bit for bit.
    \\SET is the folder of a set; VALUES is what `capture --mode gpu --values VALUES` wrote.
    \\
    \\  --device N   the CUDA device (default: 0)
    \\  --json       print one JSON object
    \\  --help       print this
    \\
    \\Exit codes: 0 good; 1 a fault of this program or of CUDA; 2 bad input or usage; 3 a launch was refused; 4 there is no CUDA
    \\driver or device; 5 a bit differs.
    \\
;

/// How a run ends; the numbers are those of build-capture.
const Exit = enum(u8) { good = 0, fault = 1, input = 2, refused = 3, no_device = 4, differs = 5 };

const Arguments = struct {
    set: []const u8 = "",
    values: []const u8 = "",
    device: u32 = 0,
    json: bool = false,
    help: bool = false,

    fn parse(words: []const [:0]const u8) ?Arguments {
        var arguments: Arguments = .{};
        var index: usize = 0;
        while (index < words.len) : (index += 1) {
            const word = words[index];
            if (std.mem.eql(u8, word, "--json")) {
                arguments.json = true;
            } else if (std.mem.eql(u8, word, "--help")) {
                arguments.help = true;
            } else if (std.mem.eql(u8, word, "--device")) {
                index += 1;
                if (index == words.len) return null;
                arguments.device = std.fmt.parseInt(u32, words[index], 10) catch return null;
            } else if (std.mem.startsWith(u8, word, "-") or arguments.values.len > 0) {
                return null;
            } else if (arguments.set.len == 0) {
                arguments.set = word;
            } else {
                arguments.values = word;
            }
        }
        return if (arguments.values.len > 0 or arguments.help) arguments else null;
    }
};

pub fn main(init: std.process.Init) u8 {
    return @intFromEnum(run(init) catch |failure| exitOf(failure));
}

/// What went wrong with the set or the device was said where it did.
fn exitOf(failure: anyerror) Exit {
    return switch (failure) {
        error.OtherTarget, error.SetUnreadable, error.InvalidSet, error.CubinUnreadable, error.CubinChanged => .input,
        error.CudaNotFound, error.CudaTooOld => .no_device,
        else => fault: {
            std.debug.print("replay-set: error: {t}\n", .{failure});
            break :fault .fault;
        },
    };
}

fn run(init: std.process.Init) !Exit {
    const arena = init.arena.allocator();
    var buffer: [4096]u8 = undefined;
    var stdout = std.Io.File.stdout().writerStreaming(init.io, &buffer);
    const words = try init.minimal.args.toSlice(arena);
    const arguments = Arguments.parse(words[@min(1, words.len)..]) orelse {
        std.debug.print("replay-set: error: expected a set and values, and options that --help lists\n", .{});
        return .input;
    };
    if (arguments.help) {
        try stdout.interface.writeAll(help);
        try stdout.interface.flush();
        return .good;
    }
    const files = try Files.open(init.io, arena, arguments.values) orelse return .input;
    defer files.blob.close(init.io);
    var driver: cuda.Driver = try .open(.{});
    defer driver.close();
    const context: cuda.Context = try .open(&driver, arguments.device);
    defer context.close();
    const captured: cuda.aot.Set = try .open(init.io, init.gpa, arguments.set, .{ .context = &context, .policy = .pinned });
    defer captured.close();
    if (!isTargetSame(captured.captured().target, files.values.target)) {
        std.debug.print("{s}: error: the values are those of {s}; expected those of the set's target\n", .{ arguments.values, files.values.target });
        return .input;
    }
    const stream: cuda.Stream = try .create(&context);
    defer stream.destroy();
    var replay: replay_types.Replay = .{
        .io = init.io,
        .arena = arena,
        .context = &context,
        .stream = stream,
        .captured = &captured,
        .blob = files.blob,
    };
    try replay.run(files.values);
    try write(&stdout.interface, arena, captured.captured(), &replay.findings, arguments.json);
    try stdout.interface.flush();
    if (replay.findings.refused > 0) return .refused;
    return if (replay.findings.bits_differing > 0) .differs else .good;
}

/// A set that does not say what it is for is taken at its word.
fn isTargetSame(target: ?[]const u8, wanted: []const u8) bool {
    return target == null or std.mem.eql(u8, target.?, wanted);
}

/// `values.json` as it was read, and `values.bin`, open.
const Files = struct {
    values: values_types.Values,
    blob: std.Io.File,

    /// Null after a message.
    fn open(io: std.Io, arena: std.mem.Allocator, folder: []const u8) !?Files {
        const dir: std.Io.Dir = .cwd();
        const list = try std.fs.path.join(arena, &.{ folder, "values.json" });
        const text = dir.readFileAlloc(io, list, arena, .limited(values_types.list_bytes_max + 1)) catch |failure| {
            std.debug.print("{s}: error: cannot be read ({t}); expected what `capture --values` wrote\n", .{ list, failure });
            return null;
        };
        const path = try std.fs.path.join(arena, &.{ folder, "values.bin" });
        const blob = dir.openFile(io, path, .{}) catch |failure| {
            std.debug.print("{s}: error: cannot be read ({t}); expected what `capture --values` wrote\n", .{ path, failure });
            return null;
        };
        errdefer blob.close(io);
        var diagnostic: values_types.Diagnostic = .{};
        const values = values_types.parse(arena, text, (try blob.stat(io)).size, &diagnostic) catch |failure| {
            if (failure == error.OutOfMemory) return failure;
            std.debug.print("{s}: error: {s}\n", .{ list, diagnostic.message });
            blob.close(io);
            return null;
        };
        return .{ .values = values, .blob = blob };
    }
};

/// What came of the launches of one function.
const Line = struct {
    function: []const u8,
    /// The function's cubins in the set, and those that a launch took.
    cubins: usize,
    cubins_launched: usize = 0,
    launches: u64 = 0,
    buffers: u64 = 0,
    bytes: u64 = 0,
    bits_differing: u64 = 0,
};

fn write(writer: *Writer, arena: std.mem.Allocator, captured: *const set.Set, findings: *const replay_types.Findings, json: bool) !void {
    const lines = try linesOf(arena, captured, findings);
    if (json) {
        try std.json.Stringify.value(.{
            .launches = findings.launches,
            .refused = findings.refused,
            .bits_differing = findings.bits_differing,
            .functions = lines,
        }, .{}, writer);
        return writer.writeByte('\n');
    }
    try writer.print("{s:<16} {s:>8} {s:>8} {s:>8} {s:>8} {s:>14} {s:>12}\n", .{ "function", "cubins", "launched", "launches", "buffers", "bytes", "bits differ" });
    for (lines) |line| try writer.print("{s:<16} {d:>8} {d:>8} {d:>8} {d:>8} {d:>14} {d:>12}\n", .{
        line.function, line.cubins, line.cubins_launched, line.launches, line.buffers, line.bytes, line.bits_differing,
    });
    try writer.print("{d} launches, {d} refused, {d} bits differ\n", .{ findings.launches, findings.refused, findings.bits_differing });
}

/// One line for each function of the set, by name.
fn linesOf(arena: std.mem.Allocator, captured: *const set.Set, findings: *const replay_types.Findings) ![]const Line {
    var lines: std.StringArrayHashMapUnmanaged(Line) = .empty;
    var seen: std.StringHashMapUnmanaged(bool) = .empty;
    for (captured.variants) |*variant| {
        const line = try lines.getOrPut(arena, variant.function);
        if (!line.found_existing) line.value_ptr.* = .{ .function = variant.function, .cubins = 0 };
        const cubin = try seen.getOrPut(arena, variant.hash);
        if (cubin.found_existing) continue;
        cubin.value_ptr.* = false;
        line.value_ptr.cubins += 1;
    }
    for (findings.tallies.items) |tally| {
        const line = lines.getPtr(tally.variant.function).?;
        const launched = seen.getPtr(tally.variant.hash).?;
        if (!launched.*) line.cubins_launched += 1;
        launched.* = true;
        line.launches += tally.launches;
        line.buffers += tally.buffers;
        line.bytes += tally.bytes;
        line.bits_differing += tally.bits_differing;
    }
    std.mem.sort(Line, lines.values(), {}, isBefore);
    return lines.values();
}

fn isBefore(_: void, left: Line, right: Line) bool {
    return std.mem.lessThan(u8, left.function, right.function);
}

test "replay-set: the command line" {
    const arguments = Arguments.parse(&.{ "--device", "1", "set", "values", "--json" }).?;
    try std.testing.expectEqualStrings("values", arguments.values);
    try std.testing.expect(arguments.json and arguments.device == 1);
    try std.testing.expect(Arguments.parse(&.{"--help"}).?.help);
    const bad = [_][]const [:0]const u8{ &.{}, &.{"set"}, &.{ "a", "b", "c" }, &.{ "a", "b", "--device" }, &.{ "a", "b", "--device", "x" }, &.{ "a", "b", "-v" } };
    for (bad) |words| try std.testing.expectEqual(null, Arguments.parse(words));
}

test "replay-set: a line a function, a cubin once" {
    var arena: std.heap.ArenaAllocator = .init(std.testing.allocator);
    defer arena.deinit();
    const variants = [_]set.Variant{ variantOf("_g", "cc"), variantOf("_f", "aa"), variantOf("_f", "bb"), variantOf("_f", "aa") };
    const captured: set.Set = try .init(arena.allocator(), &variants);
    var findings: replay_types.Findings = .{ .launches = 4, .refused = 1 };
    for ([_]usize{ 1, 3 }) |index| try findings.tallies.append(arena.allocator(), .{ .variant = &variants[index], .launches = 1, .buffers = 2, .bytes = 8 });
    var buffer: [1024]u8 = undefined;
    var writer: Writer = .fixed(&buffer);
    try write(&writer, arena.allocator(), &captured, &findings, false);
    try std.testing.expectEqualStrings(
        \\function           cubins launched launches  buffers          bytes  bits differ
        \\_f                      2        1        2        4             16            0
        \\_g                      1        0        0        0              0            0
        \\4 launches, 1 refused, 0 bits differ
        \\
    , writer.buffered());
}

fn variantOf(function: []const u8, hash: []const u8) set.Variant {
    return .{ .function = function, .hash = hash, .name = "f", .num_warps = 1, .params = &.{}, .consts = &.{} };
}
