//! A device with its primary context, which it shares with whatever else in the process uses CUDA.

const std = @import("std");
const driver_types = @import("driver.zig");
const functions_types = @import("functions.zig");
const Driver = driver_types.Driver;
const Error = driver_types.Error;
const Handle = functions_types.Handle;

/// A device's name is cut at this many bytes.
const name_bytes_max = 128;

/// One device of a driver.
pub const Context = struct {
    driver: *const Driver,
    /// The driver's number of the device.
    device: c_int,
    handle: Handle,
    /// 10 * major + minor: 121 is sm_121.
    capability: u32,
    name_buffer: [name_bytes_max]u8,

    /// Retains the primary context of a device and makes it the thread's. The driver must stay where it is.
    pub fn open(driver: *const Driver, ordinal: u32) Error!Context {
        const count = try driver.deviceCount();
        if (ordinal >= count) {
            driver.log.print(.err, "there is no CUDA device {d}; the driver has {d}", .{ ordinal, count });
            return error.CudaNotFound;
        }
        var device: c_int = 0;
        try driver.call("cuDeviceGet", .{ &device, @as(c_int, @intCast(ordinal)) });
        var text: [name_bytes_max]u8 = @splat(0);
        try driver.call("cuDeviceGetName", .{ &text, text.len - 1, device });
        var major: c_int = 0;
        try driver.call("cuDeviceGetAttribute", .{ &major, .capability_major, device });
        var minor: c_int = 0;
        try driver.call("cuDeviceGetAttribute", .{ &minor, .capability_minor, device });
        var handle: ?Handle = null;
        try driver.call("cuDevicePrimaryCtxRetain", .{ &handle, device });
        const context: Context = .{
            .driver = driver,
            .device = device,
            .handle = handle.?,
            .capability = @intCast(10 * major + minor),
            .name_buffer = text,
        };
        errdefer context.close();
        try context.makeCurrent();
        return context;
    }

    /// Gives the primary context back.
    pub fn close(context: Context) void {
        context.driver.call("cuDevicePrimaryCtxRelease_v2", .{context.device}) catch {}; // It is in the log; nothing else can be done.
    }

    /// Makes it the context of the calling thread.
    pub fn makeCurrent(context: *const Context) Error!void {
        try context.driver.call("cuCtxSetCurrent", .{context.handle});
    }

    /// The device's name.
    pub fn name(context: *const Context) []const u8 {
        return std.mem.sliceTo(&context.name_buffer, 0);
    }
};
