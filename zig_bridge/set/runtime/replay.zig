//! Repeats launches that Python made, through a set, and compares what they write bit for bit.

const std = @import("std");
const set = @import("set");
const aot = @import("aot.zig");
const Context = @import("context.zig").Context;
const Memory = @import("memory.zig").Memory;
const messages = @import("messages.zig");
const Stream = @import("stream.zig").Stream;
const values_types = @import("values.zig");
const Launch = values_types.Launch;

/// How replaying ends early; refused launches do not end it.
pub const Error = aot.Error || error{ NoStream, BlobUnreadable };

/// What came of the launches of one variant.
pub const Tally = struct {
    variant: *const set.Variant,
    launches: u32 = 0,
    buffers: u32 = 0,
    bytes: u64 = 0,
    bits_differing: u64 = 0,
};

/// What came of all launches.
pub const Findings = struct {
    /// By function and hash, in the order of their first launches.
    tallies: std.ArrayList(Tally) = .empty,
    launches: u32 = 0,
    refused: u32 = 0,
    bits_differing: u64 = 0,
};

/// Repeats launches on one device.
pub const Replay = struct {
    io: std.Io,
    arena: std.mem.Allocator,
    context: *const Context,
    stream: Stream,
    captured: *const aot.Set,
    /// `values.bin`
    blob: std.Io.File,
    findings: Findings = .{},

    /// Repeats every launch of a list.
    pub fn run(replay: *Replay, values: values_types.Values) Error!void {
        for (values.launches, 0..) |*launch, number| {
            // What one launch needs is freed before the next, on the host as well.
            var scratch: std.heap.ArenaAllocator = .init(replay.arena);
            defer scratch.deinit();
            replay.one(scratch.allocator(), launch, number) catch |failure| switch (failure) {
                error.MissingTritonVariant, error.AmbiguousTritonVariant => replay.findings.refused += 1,
                else => return failure,
            };
            replay.findings.launches += 1;
        }
    }

    fn one(replay: *Replay, scratch: std.mem.Allocator, launch: *const Launch, number: usize) Error!void {
        const buffers = try scratch.alloc(Memory, launch.buffers.len);
        var allocated: usize = 0;
        defer for (buffers[0..allocated]) |buffer| buffer.free();
        const addresses = try scratch.alloc(u64, launch.buffers.len);
        for (launch.buffers, buffers, addresses) |wanted, *buffer, *address| {
            buffer.* = try .alloc(replay.context, wanted.bytes);
            allocated += 1;
            address.* = buffer.address;
            if (wanted.before) |place| {
                try buffer.copyIn(replay.stream, 0, try replay.bytesAt(scratch, place, wanted.bytes));
            } else {
                try buffer.fill(replay.stream, 0, wanted.bytes, 0);
            }
        }
        const arguments = try scratch.alloc(set.Arg, launch.arguments.len);
        for (launch.arguments, arguments) |from, *to| to.* = from.toLaunch(addresses).?; // The list was checked.
        const constexprs = try scratch.alloc(set.Const, launch.constexprs.len);
        for (launch.constexprs, constexprs) |from, *to| to.* = from.toLaunch();
        const options: set.Launch = .{ .num_warps = launch.num_warps, .num_stages = launch.num_stages };
        const variant = try replay.captured.findWith(launch.@"fn", arguments, constexprs, options);
        try replay.captured.runWith(replay.stream, launch.@"fn", launch.grid, arguments, constexprs, options);
        const tally = try replay.tallyOf(variant);
        tally.launches += 1;
        for (launch.buffers, buffers, 0..) |wanted, buffer, index| {
            const place = wanted.after orelse continue;
            const got = try scratch.alloc(u8, wanted.bytes);
            try buffer.copyOut(replay.stream, 0, got);
            try replay.stream.synchronize();
            const differing = replay.compare(launch, number, index, got, try replay.bytesAt(scratch, place, wanted.bytes));
            tally.buffers += 1;
            tally.bytes += wanted.bytes;
            tally.bits_differing += differing;
            replay.findings.bits_differing += differing;
        }
    }

    fn bytesAt(replay: *Replay, scratch: std.mem.Allocator, place: u64, bytes: u64) error{ BlobUnreadable, OutOfMemory }![]const u8 {
        const target = try scratch.alloc(u8, bytes);
        const read = replay.blob.readPositionalAll(replay.io, target, place) catch return error.BlobUnreadable;
        return if (read == bytes) target else error.BlobUnreadable;
    }

    fn tallyOf(replay: *Replay, variant: *const set.Variant) error{OutOfMemory}!*Tally {
        for (replay.findings.tallies.items) |*tally| {
            if (tally.variant == variant) return tally;
        }
        try replay.findings.tallies.append(replay.arena, .{ .variant = variant });
        return &replay.findings.tallies.items[replay.findings.tallies.items.len - 1];
    }

    /// The bits in which a buffer differs. The first difference of each buffer goes to the log.
    fn compare(replay: *const Replay, launch: *const Launch, number: usize, index: usize, got: []const u8, want: []const u8) u64 {
        const first = std.mem.indexOfDiff(u8, got, want) orelse return 0;
        var bits: u64 = 0;
        for (got, want) |left, right| bits += @popCount(left ^ right);
        replay.context.driver.log.print(.err, "launch {d} of {s}: {s} differs in {d} bits, first at byte {d}: {x:0>2} instead of {x:0>2}", .{
            number, launch.@"fn", nameOf(launch, index), bits, first, got[first], want[first],
        });
        return bits;
    }
};

/// The argument that points into a buffer.
fn nameOf(launch: *const Launch, index: usize) []const u8 {
    for (launch.arguments) |argument| {
        if (argument.buffer) |number| if (number == index) return argument.name;
    }
    return "a buffer without an argument";
}
