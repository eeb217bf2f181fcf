//! A kernel of fourteen parameters, ints among the first and the last of them.

const cuda = @import("cuda");
const aot = cuda.aot;

const p = aot.ptr;

fn int(name: []const u8, value: usize) aot.Arg {
    return aot.int(name, @intCast(value));
}

pub const Tables = struct { a: u64, b: u64, c: u64 };

pub const Tri = struct {
    set: *const aot.Set,
    s: cuda.Stream,

    pub fn wide(t: *const Tri, count: usize, stride: usize, seed: u64, tables: Tables, out: u64) !void {
        try t.set.run(t.s, "_wide", .{ 1, 1, 1 }, &.{
            p("P0", "*bf16", tables.a),
            int("N1", count),
            p("P2", "*u32", tables.b),
            p("P3", "*u64", tables.c),
            p("P4", "*i64", tables.a),
            p("P5", "*fp32", tables.b),
            p("P6", "*fp16", tables.c),
            p("P7", "*i8", tables.a),
            p("P8", "*u16", tables.b),
            aot.word("SEED", seed),
            int("N10", count),
            int("N11", stride),
            int("N12", stride),
            p("OUT", "*fp32", out),
        }, &.{});
    }
};
