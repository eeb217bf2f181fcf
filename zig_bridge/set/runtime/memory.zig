//! Device memory.

const std = @import("std");
const Context = @import("context.zig").Context;
const Error = @import("driver.zig").Error;
const Stream = @import("stream.zig").Stream;

/// The driver's addresses are multiples of this.
pub const alignment = 256;

/// A piece of device memory.
pub const Memory = struct {
    context: *const Context,
    /// The device address of the first byte, a multiple of 256.
    address: u64,
    bytes: usize,

    /// Allocates at least one byte.
    pub fn alloc(context: *const Context, bytes: usize) Error!Memory {
        try context.makeCurrent();
        var address: u64 = 0;
        try context.driver.call("cuMemAlloc_v2", .{ &address, @max(1, bytes) });
        std.debug.assert(address % alignment == 0);
        return .{ .context = context, .address = address, .bytes = bytes };
    }

    /// Frees it. No launch may be using it.
    pub fn free(memory: Memory) void {
        memory.context.makeCurrent() catch return; // It is in the log; nothing else can be done.
        memory.context.driver.call("cuMemFree_v2", .{memory.address}) catch {};
    }

    /// Copies to the device, after what the stream does before. The driver stages memory that is not pinned, so that such a
    /// `source` can be reused at once.
    pub fn copyIn(memory: Memory, stream: Stream, offset: usize, source: []const u8) Error!void {
        std.debug.assert(offset + source.len <= memory.bytes);
        if (source.len == 0) return;
        try memory.context.makeCurrent();
        try memory.context.driver.call("cuMemcpyHtoDAsync_v2", .{ memory.address + offset, source.ptr, source.len, stream.handle });
    }

    /// Copies from the device, after what the stream does before. `target` holds it once the stream is synchronized.
    pub fn copyOut(memory: Memory, stream: Stream, offset: usize, target: []u8) Error!void {
        std.debug.assert(offset + target.len <= memory.bytes);
        if (target.len == 0) return;
        try memory.context.makeCurrent();
        try memory.context.driver.call("cuMemcpyDtoHAsync_v2", .{ target.ptr, memory.address + offset, target.len, stream.handle });
    }

    /// Copies within the device, after what the stream does before.
    pub fn copyFrom(memory: Memory, stream: Stream, offset: usize, source: Memory, source_offset: usize, bytes: usize) Error!void {
        std.debug.assert(offset + bytes <= memory.bytes and source_offset + bytes <= source.bytes);
        if (bytes == 0) return;
        try memory.context.makeCurrent();
        try memory.context.driver.call("cuMemcpyDtoDAsync_v2", .{ memory.address + offset, source.address + source_offset, bytes, stream.handle });
    }

    /// Sets every byte of a part, after what the stream does before.
    pub fn fill(memory: Memory, stream: Stream, offset: usize, bytes: usize, byte: u8) Error!void {
        std.debug.assert(offset + bytes <= memory.bytes);
        if (bytes == 0) return;
        try memory.context.makeCurrent();
        try memory.context.driver.call("cuMemsetD8Async", .{ memory.address + offset, byte, bytes, stream.handle });
    }
};
