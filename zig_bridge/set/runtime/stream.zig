//! Streams, which order the work on a device, and events, which order streams.

const Context = @import("context.zig").Context;
const driver_types = @import("driver.zig");
const functions_types = @import("functions.zig");
const Driver = driver_types.Driver;
const Error = driver_types.Error;
const Handle = functions_types.Handle;

/// `CU_STREAM_NON_BLOCKING`: it does not wait for the default stream.
const non_blocking = 1;

/// A CUDA stream. One without a handle is the context's default stream, which only launches and copies can use.
pub const Stream = struct {
    /// The driver's handle.
    handle: ?Handle = null,
    /// The driver that it belongs to.
    driver: ?*const Driver = null,

    /// A stream of its own, which does not wait for the default stream.
    pub fn create(context: *const Context) Error!Stream {
        try context.makeCurrent();
        var handle: ?Handle = null;
        try context.driver.call("cuStreamCreate", .{ &handle, non_blocking });
        return .{ .handle = handle, .driver = context.driver };
    }

    /// Destroys it once its work is done.
    pub fn destroy(stream: Stream) void {
        const driver = stream.driver orelse return;
        driver.call("cuStreamDestroy_v2", .{stream.handle}) catch {}; // It is in the log; nothing else can be done.
    }

    /// Waits until all of its work is done.
    pub fn synchronize(stream: Stream) (Error || error{NoStream})!void {
        const driver = stream.driver orelse return error.NoStream;
        try driver.call("cuStreamSynchronize", .{stream.handle});
    }

    /// Records an event on the stream.
    pub fn record(stream: Stream, event: Event) (Error || error{NoEvent})!void {
        return event.record(stream);
    }

    /// Makes the stream wait for an event.
    pub fn wait(stream: Stream, event: Event) (Error || error{NoEvent})!void {
        return event.wait(stream);
    }
};

/// A CUDA event.
pub const Event = struct {
    /// The driver's handle.
    handle: ?Handle = null,
    /// The driver that it belongs to.
    driver: ?*const Driver = null,

    /// An event that measures time.
    pub fn create(context: *const Context) Error!Event {
        try context.makeCurrent();
        var handle: ?Handle = null;
        try context.driver.call("cuEventCreate", .{ &handle, 0 });
        return .{ .handle = handle, .driver = context.driver };
    }

    /// Destroys it.
    pub fn destroy(event: Event) void {
        const driver = event.driver orelse return;
        driver.call("cuEventDestroy_v2", .{event.handle}) catch {}; // It is in the log; nothing else can be done.
    }

    /// Records the event on a stream.
    pub fn record(event: Event, stream: Stream) (Error || error{NoEvent})!void {
        const driver = event.driver orelse return error.NoEvent;
        try driver.call("cuEventRecord", .{ event.handle, stream.handle });
    }

    /// Makes a stream wait for the event.
    pub fn wait(event: Event, stream: Stream) (Error || error{NoEvent})!void {
        const driver = event.driver orelse return error.NoEvent;
        try driver.call("cuStreamWaitEvent", .{ stream.handle, event.handle, 0 });
    }

    /// Waits until the work before the event is done.
    pub fn synchronize(event: Event) (Error || error{NoEvent})!void {
        const driver = event.driver orelse return error.NoEvent;
        try driver.call("cuEventSynchronize", .{event.handle});
    }

    /// The milliseconds from an event to this one.
    pub fn millisecondsSince(event: Event, start: Event) (Error || error{NoEvent})!f32 {
        const driver = event.driver orelse return error.NoEvent;
        var milliseconds: f32 = 0;
        try driver.call("cuEventElapsedTime", .{ &milliseconds, start.handle, event.handle });
        return milliseconds;
    }
};
