//! Two generations of an engine's API in one file: sets that may be missing, probes that launches go to instead, launches
//! with pinned options, and look-ups.

const cuda = @import("cuda");
const aot = cuda.aot;

pub const Tri = struct {
    set: ?*const aot.Set,
    probe: ?*const aot.Probe = null,
    s: cuda.Stream,
    done: cuda.Event,

    fn launch(t: Tri, function: []const u8, args: []const aot.Arg, consts: []const aot.Const, options: aot.Launch) !void {
        if (t.probe) |probe| return probe.add(function, args, consts, options);
        const set = t.set orelse return error.NoSet;
        try set.runWith(t.s, function, .{ 1, 1, 1 }, args, consts, options);
        try t.done.record(t.s);
    }

    pub fn scale(t: Tri, rows: usize, x: u64) !void {
        try t.set.?.run(t.s, "_gen_scale", .{ @intCast(rows), 1, 1 }, &.{
            aot.ptr("X", "*bf16", x),
            aot.int("W", @intCast(rows)),
        }, &.{.{ .name = "FACTOR", .f32 = 0.5 }});
    }

    pub fn pinned(t: Tri, x: u64, wide: bool) !void {
        try t.launch("_gen_pinned", &.{.{ .name = "X", .value = .{ .ptr = .{ .addr = x, .ty = "*bf16" } } }}, &.{}, .{
            .num_warps = if (wide) 8 else 4,
        });
    }

    pub fn isCaptured(t: Tri, x: u64) !bool {
        const variant = try t.set.?.find("_gen_lookup", &.{aot.ptr("X", "*bf16", x)}, &.{});
        return variant.num_warps > 0;
    }
};

/// What the older generation declares its launches with.
pub fn declare(probe: *aot.Probe, rows: u32, x: u64) !void {
    if (rows > 1) try probe.add("_gen_declared", &.{ aot.ptr("X", "*bf16", x), aot.int("W", @intCast(rows)) }, &.{}, .{ .num_warps = 2 });
}
