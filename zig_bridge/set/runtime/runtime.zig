//! A CUDA runtime for engines, to import under the name `cuda` in place of their own: streams, events and device memory,
//! and `aot`, by which a declaration file launches the kernels of a captured set.
//!
//!     var driver: cuda.Driver = try .open(.{});
//!     const context: cuda.Context = try .open(&driver, 0);
//!     const stream: cuda.Stream = try .create(&context);
//!     const set: cuda.aot.Set = try .open(io, allocator, "share/qwen27/cuda/sm121", .{ .context = &context });
//!     const kernels: declarations.Tri = .{ .set = &set, .s = stream };
//!
//! What fails is said in the log, `std.log` unless the driver is opened with another, and comes back as an error.

pub const aot = @import("aot.zig");

pub const Driver = @import("driver.zig").Driver;
/// How calls of the driver fail.
pub const Error = @import("driver.zig").Error;
pub const Context = @import("context.zig").Context;
pub const Stream = @import("stream.zig").Stream;
pub const Event = @import("stream.zig").Event;
pub const Memory = @import("memory.zig").Memory;
pub const Log = @import("log.zig").Log;
/// The driver's functions: a table of them stands in for a device in tests.
pub const Functions = @import("functions.zig").Functions;

test {
    _ = @import("driver.zig");
    _ = @import("loader.zig");
    _ = @import("log.zig");
    _ = @import("replay_test.zig");
    _ = @import("runtime_test.zig");
    _ = @import("set_test.zig");
    _ = @import("values.zig");
}
