//! Two methods: rounds drive one, domains the other, and both launch one kernel.

const cuda = @import("cuda");
const aot = cuda.aot;

pub const Tri = struct {
    set: *const aot.Set,
    s: cuda.Stream,

    pub fn attend(t: Tri, rows: usize, q: u64, table: u64) !void {
        try t.set.run(t.s, "_mixed_attend", .{ @intCast(rows), 1, 1 }, &.{
            aot.ptr("Q", "*bf16", q),
            aot.ptr("TABLE", "*i32", table),
            aot.int("W", @intCast(rows)),
        }, &.{});
        try t.norm(rows, q);
    }

    pub fn sample(t: Tri, count: usize, x: u64) !void {
        try t.norm(count, x);
    }

    fn norm(t: Tri, rows: usize, x: u64) !void {
        try t.set.run(t.s, "_mixed_norm", .{ @intCast(rows), 1, 1 }, &.{ aot.ptr("X", "*bf16", x), aot.int("W", @intCast(rows)) }, &.{});
    }
};
