//! For tests: a table of driver functions that needs no device. Device memory is the host's, launches are noted, and a
//! test may give them something to do.

const std = @import("std");
const functions_types = @import("functions.zig");
const driver_types = @import("driver.zig");
const Log = @import("log.zig").Log;
const Address = functions_types.Address;
const Code = functions_types.Code;
const Functions = functions_types.Functions;
const Handle = functions_types.Handle;
const LaunchConfig = functions_types.LaunchConfig;

/// C functions have no context, so that one fake at a time is there.
var active: ?*Fake = null;

/// A device that only takes notes.
pub const Fake = struct {
    allocator: std.mem.Allocator,
    /// 10 * major + minor of the device.
    capability: u32 = 90,
    /// The call that fails, and how.
    failing: ?struct { call: []const u8, code: Code } = null,
    /// The parameters of every launch, a letter each: `p` for an address, `i`, `f`, `w`.
    params: []const u8 = "",
    /// What a launch does.
    kernel: ?*const fn (fake: *Fake, config: *const LaunchConfig, params: [*]const ?*const anyopaque) void = null,
    /// One line a call that a test may look at.
    notes: std.ArrayList(u8) = .empty,
    /// Held while a note is written: threads may load at the same time.
    mutex: std.Io.Mutex = .init,
    memory: std.AutoHashMapUnmanaged(Address, []align(256) u8) = .empty,

    /// Makes this the device; the table's functions are its.
    pub fn driver(fake: *Fake, log: Log) driver_types.Driver {
        std.debug.assert(active == null);
        active = fake;
        return .{ .functions = table, .log = log };
    }

    /// Frees what was noted. All device memory must have been freed.
    pub fn deinit(fake: *Fake) void {
        std.debug.assert(active == fake);
        active = null;
        std.debug.assert(fake.memory.count() == 0);
        fake.memory.deinit(fake.allocator);
        fake.notes.deinit(fake.allocator);
    }

    /// Fails where the notes are not these; then forgets them.
    pub fn expectNotes(fake: *Fake, want: []const u8) !void {
        try std.testing.expectEqualStrings(want, fake.notes.items);
        fake.notes.clearRetainingCapacity();
    }

    /// Forgets the notes.
    pub fn clear(fake: *Fake) void {
        fake.notes.clearRetainingCapacity();
    }

    fn note(fake: *Fake, comptime format: []const u8, values: anytype) void {
        fake.mutex.lockUncancelable(std.testing.io);
        defer fake.mutex.unlock(std.testing.io);
        fake.notes.print(fake.allocator, format ++ "\n", values) catch @panic("OOM");
    }

    fn codeOf(fake: *const Fake, call: []const u8) Code {
        const failing = fake.failing orelse return .success;
        return if (std.mem.eql(u8, failing.call, call)) failing.code else .success;
    }

    fn noteLaunch(fake: *Fake, config: *const LaunchConfig, function: Handle, params: [*]const ?*const anyopaque) !void {
        fake.mutex.lockUncancelable(std.testing.io);
        defer fake.mutex.unlock(std.testing.io);
        const gpa = fake.allocator;
        try fake.notes.print(gpa, "launch {d} grid {d}x{d}x{d} block {d}x{d}x{d} shared {d} stream {d} params", .{
            @intFromPtr(function), config.grid[0], config.grid[1], config.grid[2], config.block[0], config.block[1], config.block[2], config.shared_bytes, @intFromPtr(config.stream),
        });
        for (fake.params, 0..) |letter, index| {
            const place = params[index].?;
            switch (letter) {
                'p', 'w' => try fake.notes.print(gpa, " {d}", .{@as(*const u64, @ptrCast(@alignCast(place))).*}),
                'i' => try fake.notes.print(gpa, " {d}", .{@as(*const i32, @ptrCast(@alignCast(place))).*}),
                'f' => try fake.notes.print(gpa, " {d}", .{@as(*const f32, @ptrCast(@alignCast(place))).*}),
                else => unreachable,
            }
        }
        for (0..config.attribute_count) |index| {
            const attribute = config.attributes.?[index];
            switch (attribute.id) {
                .cluster_dimension => try fake.notes.print(gpa, " cluster {d}x{d}x{d}", .{ attribute.value.cluster.x, attribute.value.cluster.y, attribute.value.cluster.z }),
                .cluster_scheduling => try fake.notes.print(gpa, " scheduling {d}", .{attribute.value.number}),
                .programmatic_stream_serialization => try fake.notes.print(gpa, " pdl {d}", .{attribute.value.number}),
                _ => unreachable,
            }
        }
        try fake.notes.append(gpa, '\n');
    }

    /// The bytes of device memory from an address on.
    pub fn at(fake: *Fake, address: Address, bytes: usize) []u8 {
        var pieces = fake.memory.valueIterator();
        while (pieces.next()) |piece| {
            const start = @intFromPtr(piece.ptr);
            if (address >= start and address + bytes <= start + piece.len) return piece.*[address - start ..][0..bytes];
        }
        @panic("an access outside of device memory");
    }
};

/// A file that passes for a cubin; a module that is loaded from it has this number.
pub fn cubin(module: u8) [64]u8 {
    var bytes: [64]u8 = @splat(0);
    @memcpy(bytes[0..4], std.elf.MAGIC);
    bytes[4] = module;
    return bytes;
}

const table: Functions = .{
    .cuInit = calls.init,
    .cuGetErrorName = calls.errorName,
    .cuGetErrorString = calls.errorName,
    .cuDeviceGetCount = calls.deviceCount,
    .cuDeviceGet = calls.device,
    .cuDeviceGetName = calls.deviceName,
    .cuDeviceGetAttribute = calls.deviceAttribute,
    .cuDevicePrimaryCtxRetain = calls.retain,
    .cuDevicePrimaryCtxRelease_v2 = calls.release,
    .cuCtxSetCurrent = calls.setCurrent,
    .cuStreamCreate = calls.create,
    .cuStreamDestroy_v2 = Calls("stream destroyed").one,
    .cuStreamSynchronize = Calls("stream synchronized").one,
    .cuStreamWaitEvent = calls.waitEvent,
    .cuEventCreate = calls.create,
    .cuEventDestroy_v2 = Calls("event destroyed").one,
    .cuEventRecord = calls.recordEvent,
    .cuEventSynchronize = Calls("event synchronized").one,
    .cuEventElapsedTime = calls.elapsed,
    .cuMemAlloc_v2 = calls.alloc,
    .cuMemFree_v2 = calls.free,
    .cuMemcpyHtoDAsync_v2 = calls.copyIn,
    .cuMemcpyDtoHAsync_v2 = calls.copyOut,
    .cuMemcpyDtoDAsync_v2 = calls.copyWithin,
    .cuMemsetD8Async = calls.set,
    .cuModuleLoadData = calls.load,
    .cuModuleUnload = Calls("module unloaded").one,
    .cuModuleGetFunction = calls.function,
    .cuFuncSetAttribute = calls.functionAttribute,
    .cuLaunchKernelEx = calls.launch,
};

/// The handle of everything that is created; a module's and a function's tell what they are of.
const any_handle: Handle = @ptrFromInt(0x50);

fn Calls(comptime what: []const u8) type {
    return struct {
        fn one(handle: ?Handle) callconv(.c) Code {
            active.?.note(what ++ " {d}", .{@intFromPtr(handle)});
            return .success;
        }
    };
}

const calls = struct {
    fn init(_: c_uint) callconv(.c) Code {
        return .success;
    }
    fn errorName(code: Code, text: *?[*:0]const u8) callconv(.c) Code {
        text.* = if (code == .out_of_memory) "CUDA_ERROR_OUT_OF_MEMORY" else "CUDA_ERROR_OF_THE_FAKE";
        return .success;
    }
    fn deviceCount(count: *c_int) callconv(.c) Code {
        count.* = 1;
        return active.?.codeOf("cuDeviceGetCount");
    }
    fn device(number: *c_int, ordinal: c_int) callconv(.c) Code {
        number.* = ordinal;
        return .success;
    }
    fn deviceName(name: [*]u8, bytes: c_int, _: c_int) callconv(.c) Code {
        std.debug.assert(bytes > 4);
        @memcpy(name[0..5], "Fake\x00");
        return .success;
    }
    fn deviceAttribute(value: *c_int, attribute: functions_types.DeviceAttribute, _: c_int) callconv(.c) Code {
        const capability: c_int = @intCast(active.?.capability);
        value.* = switch (attribute) {
            .capability_major => @divTrunc(capability, 10),
            .capability_minor => @rem(capability, 10),
            _ => return .invalid_value,
        };
        return .success;
    }
    fn retain(context: *?Handle, _: c_int) callconv(.c) Code {
        context.* = any_handle;
        return .success;
    }
    fn release(_: c_int) callconv(.c) Code {
        return .success;
    }
    fn setCurrent(context: ?Handle) callconv(.c) Code {
        std.debug.assert(context == any_handle);
        return .success;
    }
    fn create(handle: *?Handle, flags: c_uint) callconv(.c) Code {
        handle.* = any_handle;
        active.?.note("created {d}", .{flags});
        return .success;
    }
    fn waitEvent(stream: ?Handle, event: ?Handle, _: c_uint) callconv(.c) Code {
        active.?.note("stream {d} waits for event {d}", .{ @intFromPtr(stream), @intFromPtr(event) });
        return .success;
    }
    fn recordEvent(event: ?Handle, stream: ?Handle) callconv(.c) Code {
        active.?.note("event {d} recorded on stream {d}", .{ @intFromPtr(event), @intFromPtr(stream) });
        return .success;
    }
    fn elapsed(milliseconds: *f32, _: ?Handle, _: ?Handle) callconv(.c) Code {
        milliseconds.* = 1.5;
        return .success;
    }
    fn alloc(address: *Address, bytes: usize) callconv(.c) Code {
        const fake = active.?;
        const code = fake.codeOf("cuMemAlloc_v2");
        if (code != .success) return code;
        const piece = fake.allocator.alignedAlloc(u8, .fromByteUnits(256), bytes) catch return .out_of_memory;
        address.* = @intFromPtr(piece.ptr);
        fake.memory.put(fake.allocator, address.*, piece) catch return .out_of_memory;
        return .success;
    }
    fn free(address: Address) callconv(.c) Code {
        const piece = active.?.memory.fetchRemove(address) orelse return .invalid_value;
        active.?.allocator.free(piece.value);
        return .success;
    }
    fn copyIn(to: Address, from: *const anyopaque, bytes: usize, _: ?Handle) callconv(.c) Code {
        @memcpy(active.?.at(to, bytes), @as([*]const u8, @ptrCast(from))[0..bytes]);
        return .success;
    }
    fn copyOut(to: *anyopaque, from: Address, bytes: usize, _: ?Handle) callconv(.c) Code {
        @memcpy(@as([*]u8, @ptrCast(to))[0..bytes], active.?.at(from, bytes));
        return .success;
    }
    fn copyWithin(to: Address, from: Address, bytes: usize, _: ?Handle) callconv(.c) Code {
        @memcpy(active.?.at(to, bytes), active.?.at(from, bytes));
        return .success;
    }
    fn set(to: Address, byte: u8, bytes: usize, _: ?Handle) callconv(.c) Code {
        @memset(active.?.at(to, bytes), byte);
        return .success;
    }
    /// As `cubin` makes them.
    fn load(module: *?Handle, image: *const anyopaque) callconv(.c) Code {
        const code = active.?.codeOf("cuModuleLoadData");
        if (code != .success) return code;
        const number = @as([*]const u8, @ptrCast(image))[4];
        active.?.note("load {d}", .{number});
        module.* = @ptrFromInt(number);
        return .success;
    }
    /// The function of a module is ten times its number.
    fn function(found: *?Handle, module: ?Handle, name: [*:0]const u8) callconv(.c) Code {
        active.?.note("function {s} of {d}", .{ name, @intFromPtr(module) });
        found.* = @ptrFromInt(10 * @intFromPtr(module));
        return active.?.codeOf("cuModuleGetFunction");
    }
    fn functionAttribute(of: ?Handle, attribute: functions_types.FunctionAttribute, value: c_int) callconv(.c) Code {
        active.?.note("function {d} {t} {d}", .{ @intFromPtr(of), attribute, value });
        return active.?.codeOf("cuFuncSetAttribute");
    }
    fn launch(config: *const LaunchConfig, of: ?Handle, params: [*]const ?*const anyopaque, extra: ?[*]?*anyopaque) callconv(.c) Code {
        const fake = active.?;
        std.debug.assert(extra == null);
        fake.noteLaunch(config, of.?, params) catch @panic("OOM");
        if (fake.kernel) |kernel| kernel(fake, config, params);
        return fake.codeOf("cuLaunchKernelEx");
    }
};
