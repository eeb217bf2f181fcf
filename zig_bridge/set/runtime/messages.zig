//! What the runtime says of launches that no variant of a set serves: the lines of engines, so that whatever reads those
//! reads these, and one line more.

const std = @import("std");
const set = @import("set");
const log_types = @import("log.zig");
const Log = log_types.Log;
const Line = log_types.Line;

/// Characters of a hash that tell variants apart.
const hash_shown = 12;

/// The beginning of a variant's hash.
pub fn short(hash: []const u8) []const u8 {
    return hash[0..@min(hash_shown, hash.len)];
}

/// No variant fits. `command` captures what is missing.
pub fn missing(log: Log, captured: *const set.Set, request: set.Request, policy: set.Policy, command: []const u8) void {
    var head: Line = .{};
    head.add("no captured Triton variant of {s} for this launch", .{request.function});
    // Engines that know no pins do not write any.
    if (policy != .exact) head.add(" (warps {?d}, stages {?d})", .{ request.options.num_warps, request.options.num_stages });
    head.add(":", .{});
    head.end(log, .err);
    for (request.arguments) |argument| writeArgument(log, argument);
    for (request.constexprs) |constexpr| writeConstexpr(log, constexpr);
    writeClass(log, captured, request, command);
}

fn writeArgument(log: Log, argument: set.Arg) void {
    switch (argument.value) {
        .ptr => |pointer| log.print(.err, "  {s}: {s} at 0x{x} (16-aligned {})", .{
            argument.name, pointer.ty, pointer.addr, set.class.ofAddress(pointer.addr) == .aligned,
        }),
        .i32 => |value| log.print(.err, "  {s}: i32 {d}", .{ argument.name, value }),
        .f32 => |value| log.print(.err, "  {s}: fp32 {d}", .{ argument.name, value }),
        .u64 => |value| log.print(.err, "  {s}: u64 {d}", .{ argument.name, value }),
    }
}

fn writeConstexpr(log: Log, constexpr: set.Const) void {
    if (constexpr.int) |value| log.print(.err, "  constexpr {s} = {d}", .{ constexpr.name, value });
    if (constexpr.f32) |value| log.print(.err, "  constexpr {s} = {d}", .{ constexpr.name, value });
}

/// The line that engines do not write: in what the launch's class is not captured, and what captures it.
fn writeClass(log: Log, captured: *const set.Set, request: set.Request, command: []const u8) void {
    var line: Line = .{};
    if (set.match.nearest(captured, request)) |near| {
        line.add("the nearest variant, {s}, is of another class", .{short(near.variant.hash)});
        for (near.differences.items(), 0..) |difference, index| line.add("{s} {f}", .{ if (index == 0) ":" else ";", Shown{ .difference = difference } });
        const left = near.differences.count - near.differences.items().len;
        if (left > 0) line.add("; {d} more", .{left});
        // Its code fits, but not the options that the launch pins.
        if (near.differences.count == 0) line.add(": {d} warps, {d} stages", .{ near.variant.num_warps, near.variant.num_stages });
    } else {
        line.add("the set has no variant of {s} at all", .{request.function});
    }
    line.add("; to capture it: {s}", .{command});
    line.end(log, .err);
}

const Shown = struct {
    difference: set.match.Difference,

    pub fn format(shown: Shown, writer: *std.Io.Writer) std.Io.Writer.Error!void {
        return shown.difference.write(writer);
    }
};

/// Variants with other options fit, and the launch pins none.
pub fn ambiguous(log: Log, function: []const u8) void {
    log.print(.err, "several captured Triton variants of {s} match; pin num_warps/num_stages (Launch)", .{function});
}

/// A variant that assumes less takes the launch.
pub fn fallback(log: Log, variant: *const set.Variant) void {
    log.print(.warn, "{s}: a launch whose specialization no captured variant has runs variant {s} (assumes less)", .{
        variant.function, short(variant.hash),
    });
}
