//! Runs the generated coverage test. Zig's own runner reports whatever a passing test prints as a "failed command";
//! this one leaves the count that coverage prints as it is, and a failure to coverage's own messages.

const builtin = @import("builtin");
const std = @import("std");

/// Exits with 1 if a test failed, or if there was none: a check that checked nothing has not passed.
pub fn main() void {
    var failed: usize = 0;
    for (builtin.test_functions) |case| {
        case.func() catch |err| {
            std.debug.print("{s}: {t}\n", .{ case.name, err });
            failed += 1;
        };
    }
    if (failed != 0 or builtin.test_functions.len == 0) std.process.exit(1);
}
