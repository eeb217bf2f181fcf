//! The CUDA driver: opened at run time, so that a program that was built without CUDA starts on a machine without it.

const std = @import("std");
const functions_types = @import("functions.zig");
const Log = @import("log.zig").Log;
const Functions = functions_types.Functions;
const Code = functions_types.Code;

/// How calls of the driver fail. What the driver says of it goes to the log.
pub const Error = error{
    /// The machine has no CUDA driver, or none that can be opened.
    CudaNotFound,
    /// The driver lacks a function that the runtime needs.
    CudaTooOld,
    /// The device has too little free memory.
    CudaOutOfMemory,
    /// Any other failure.
    CudaFailed,
};

/// The library's file name on Linux.
const library_name = "libcuda.so.1";

/// The driver's functions, and where what they say goes.
pub const Driver = struct {
    functions: Functions,
    log: Log = .{},
    /// Null for a table that did not come from a library.
    library: ?std.DynLib = null,

    /// Opens the machine's CUDA driver and initializes it.
    pub fn open(log: Log) Error!Driver {
        return openNamed(library_name, log);
    }

    fn openNamed(name: []const u8, log: Log) Error!Driver {
        var library = std.DynLib.open(name) catch |failure| {
            log.print(.err, "cannot open {s} ({t}); expected an NVIDIA driver", .{ name, failure });
            return error.CudaNotFound;
        };
        errdefer library.close();
        var driver: Driver = .{ .functions = undefined, .log = log, .library = library };
        inline for (comptime std.meta.fieldNames(Functions)) |field| {
            @field(driver.functions, field) = library.lookup(@FieldType(Functions, field), field) orelse {
                log.print(.err, "{s} has no {s}; expected the driver of CUDA 12 or later", .{ name, field });
                return error.CudaTooOld;
            };
        }
        try driver.call("cuInit", .{0});
        return driver;
    }

    /// Closes the library. Nothing that came from the driver may be in use.
    pub fn close(driver: *Driver) void {
        if (driver.library) |*library| library.close();
        driver.* = undefined;
    }

    /// Calls a function of the table by name. Where it fails, the log has the function, the code and what it means.
    pub fn call(driver: *const Driver, comptime name: []const u8, arguments: anytype) Error!void {
        const code = @call(.auto, @field(driver.functions, name), arguments);
        if (code == .success) return;
        driver.log.print(.err, "{s}: {s} ({d}): {s}", .{
            name,
            text(driver.functions.cuGetErrorName, code),
            @intFromEnum(code),
            text(driver.functions.cuGetErrorString, code),
        });
        return if (code == .out_of_memory) error.CudaOutOfMemory else error.CudaFailed;
    }

    /// The number of devices.
    pub fn deviceCount(driver: *const Driver) Error!u32 {
        var count: c_int = 0;
        try driver.call("cuDeviceGetCount", .{&count});
        return @intCast(@max(0, count));
    }
};

fn text(function: *const fn (Code, *?[*:0]const u8) callconv(.c) Code, code: Code) []const u8 {
    var found: ?[*:0]const u8 = null;
    if (function(code, &found) != .success) return "unknown";
    return std.mem.span(found orelse return "unknown");
}

test "driver: a machine without the library, and a library that is none of CUDA's" {
    const Notebook = @import("log.zig").Notebook;
    var notebook: Notebook = .{ .allocator = std.testing.allocator };
    defer notebook.deinit();
    try std.testing.expectError(error.CudaNotFound, Driver.openNamed("libbuild-capture-absent.so", notebook.log()));
    try std.testing.expectEqualStrings(
        "err cannot open libbuild-capture-absent.so (FileNotFound); expected an NVIDIA driver\n",
        notebook.text.items,
    );
    notebook.clear();
    if (!@import("builtin").target.isGnuLibC()) return;
    try std.testing.expectError(error.CudaTooOld, Driver.openNamed("libc.so.6", notebook.log()));
    try std.testing.expectEqualStrings("err libc.so.6 has no cuInit; expected the driver of CUDA 12 or later\n", notebook.text.items);
}
