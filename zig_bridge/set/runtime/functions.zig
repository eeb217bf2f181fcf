//! The functions of the CUDA driver that the runtime calls, as `cuda.h` declares them, under the names that the library
//! exports. A table of them is all that the runtime knows of CUDA, so that a test gives it another.

const std = @import("std");

/// What a call ends in; 0 is success. The driver names every other one.
pub const Code = enum(c_uint) { success = 0, invalid_value = 1, out_of_memory = 2, _ };

/// A context, stream, event, module or function of the driver.
pub const Handle = *anyopaque;
/// A device address in bytes.
pub const Address = u64;

/// Capability and limits that `cuDeviceGetAttribute` is asked for.
pub const DeviceAttribute = enum(c_int) { capability_major = 75, capability_minor = 76, _ };
/// What `cuFuncSetAttribute` sets.
pub const FunctionAttribute = enum(c_int) { dynamic_shared_bytes_max = 8, non_portable_cluster_size = 14, _ };

/// `CUlaunchAttribute`.
pub const LaunchAttribute = extern struct {
    id: Id,
    value: Value align(8),

    pub const Id = enum(c_int) { cluster_dimension = 4, cluster_scheduling = 5, programmatic_stream_serialization = 6, _ };

    pub const Value = extern union {
        room: [64]u8,
        cluster: extern struct { x: c_uint, y: c_uint, z: c_uint },
        number: c_int,
    };
};

/// `CUlaunchConfig`.
pub const LaunchConfig = extern struct {
    grid: [3]c_uint,
    block: [3]c_uint,
    shared_bytes: c_uint,
    stream: ?Handle,
    attributes: ?[*]LaunchAttribute,
    attribute_count: c_uint,
};

/// The table. A field's name is the symbol's.
pub const Functions = struct {
    cuInit: *const fn (flags: c_uint) callconv(.c) Code,
    cuGetErrorName: *const fn (code: Code, name: *?[*:0]const u8) callconv(.c) Code,
    cuGetErrorString: *const fn (code: Code, text: *?[*:0]const u8) callconv(.c) Code,
    cuDeviceGetCount: *const fn (count: *c_int) callconv(.c) Code,
    cuDeviceGet: *const fn (device: *c_int, ordinal: c_int) callconv(.c) Code,
    cuDeviceGetName: *const fn (name: [*]u8, bytes: c_int, device: c_int) callconv(.c) Code,
    cuDeviceGetAttribute: *const fn (value: *c_int, attribute: DeviceAttribute, device: c_int) callconv(.c) Code,
    cuDevicePrimaryCtxRetain: *const fn (context: *?Handle, device: c_int) callconv(.c) Code,
    cuDevicePrimaryCtxRelease_v2: *const fn (device: c_int) callconv(.c) Code,
    cuCtxSetCurrent: *const fn (context: ?Handle) callconv(.c) Code,
    cuStreamCreate: *const fn (stream: *?Handle, flags: c_uint) callconv(.c) Code,
    cuStreamDestroy_v2: *const fn (stream: ?Handle) callconv(.c) Code,
    cuStreamSynchronize: *const fn (stream: ?Handle) callconv(.c) Code,
    cuStreamWaitEvent: *const fn (stream: ?Handle, event: ?Handle, flags: c_uint) callconv(.c) Code,
    cuEventCreate: *const fn (event: *?Handle, flags: c_uint) callconv(.c) Code,
    cuEventDestroy_v2: *const fn (event: ?Handle) callconv(.c) Code,
    cuEventRecord: *const fn (event: ?Handle, stream: ?Handle) callconv(.c) Code,
    cuEventSynchronize: *const fn (event: ?Handle) callconv(.c) Code,
    cuEventElapsedTime: *const fn (milliseconds: *f32, start: ?Handle, end: ?Handle) callconv(.c) Code,
    cuMemAlloc_v2: *const fn (address: *Address, bytes: usize) callconv(.c) Code,
    cuMemFree_v2: *const fn (address: Address) callconv(.c) Code,
    cuMemcpyHtoDAsync_v2: *const fn (to: Address, from: *const anyopaque, bytes: usize, stream: ?Handle) callconv(.c) Code,
    cuMemcpyDtoHAsync_v2: *const fn (to: *anyopaque, from: Address, bytes: usize, stream: ?Handle) callconv(.c) Code,
    cuMemcpyDtoDAsync_v2: *const fn (to: Address, from: Address, bytes: usize, stream: ?Handle) callconv(.c) Code,
    cuMemsetD8Async: *const fn (to: Address, byte: u8, bytes: usize, stream: ?Handle) callconv(.c) Code,
    cuModuleLoadData: *const fn (module: *?Handle, image: *const anyopaque) callconv(.c) Code,
    cuModuleUnload: *const fn (module: ?Handle) callconv(.c) Code,
    cuModuleGetFunction: *const fn (function: *?Handle, module: ?Handle, name: [*:0]const u8) callconv(.c) Code,
    cuFuncSetAttribute: *const fn (function: ?Handle, attribute: FunctionAttribute, value: c_int) callconv(.c) Code,
    cuLaunchKernelEx: *const fn (config: *const LaunchConfig, function: ?Handle, params: [*]const ?*const anyopaque, extra: ?[*]?*anyopaque) callconv(.c) Code,
};

comptime {
    // cuda.h has these sizes on every 64-bit platform.
    std.debug.assert(@sizeOf(LaunchAttribute) == 72);
    std.debug.assert(@sizeOf(LaunchConfig) == 56);
}
