//! Helpers that build argument lists.

const aot = @import("cuda").aot;

pub fn pointers(x: u64, y: u64) [2]aot.Arg {
    return .{ aot.ptr("X", "*bf16", x), aot.ptr("Y", "*bf16", y) };
}

pub fn count(value: usize) [1]aot.Arg {
    return .{aot.int("n", @intCast(value))};
}
