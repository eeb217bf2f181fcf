//! How a variant is launched: its parameters, its block, its attributes.

const std = @import("std");
const set = @import("set");
const driver_types = @import("driver.zig");
const functions_types = @import("functions.zig");
const Driver = driver_types.Driver;
const Error = driver_types.Error;
const Handle = functions_types.Handle;
const Variant = set.Variant;

/// The global and the profile scratch pointer that Triton puts behind a kernel's own parameters; both are null.
const scratch_count = 2;
/// A set with more parameters in one variant is refused when it is read.
const params_max = 1024 + scratch_count;

/// Where and how a variant runs.
pub const Place = struct {
    stream: ?Handle,
    function: Handle,
    /// Programs in each dimension.
    grid: [3]u32,
};

/// Launches a variant, which must fit the arguments. Nothing runs where the grid holds no program.
pub fn launch(driver: *const Driver, place: Place, variant: *const Variant, arguments: []const set.Arg) Error!void {
    for (place.grid) |programs| if (programs == 0) return;
    var params: Params = undefined;
    params.fill(variant, arguments);
    var attributes: [3]functions_types.LaunchAttribute = undefined;
    const count = describe(variant, &attributes);
    const config: functions_types.LaunchConfig = .{
        // A program is a cluster: as many blocks.
        .grid = .{ place.grid[0] * variant.num_ctas, place.grid[1], place.grid[2] },
        .block = .{ variant.warp_size * variant.num_warps, 1, 1 },
        .shared_bytes = variant.shared,
        .stream = place.stream,
        .attributes = if (count > 0) &attributes else null,
        .attribute_count = count,
    };
    try driver.call("cuLaunchKernelEx", .{ &config, place.function, &params.places, null });
}

/// Writes the attributes that the variant needs, as Triton's own launcher gives them, and returns how many they are.
fn describe(variant: *const Variant, attributes: *[3]functions_types.LaunchAttribute) c_uint {
    var count: c_uint = 0;
    if (variant.pdl) {
        attributes[count] = .{ .id = .programmatic_stream_serialization, .value = .{ .number = 1 } };
        count += 1;
    }
    if (variant.num_ctas > 1) {
        attributes[count] = .{ .id = .cluster_dimension, .value = .{ .cluster = .{ .x = variant.num_ctas, .y = 1, .z = 1 } } };
        attributes[count + 1] = .{ .id = .cluster_scheduling, .value = .{ .number = spread } };
        count += 2;
    }
    return count;
}

/// `CU_CLUSTER_SCHEDULING_POLICY_SPREAD`
const spread = 1;

/// What a kernel gets: the address of each parameter's value, in its order.
const Params = struct {
    values: [params_max]Value,
    places: [params_max]?*const anyopaque,

    const Value = extern union { address: u64, int: i32, float: f32, word: u64 };

    /// The values of the arguments in the variant's order, then the scratch pointers.
    fn fill(params: *Params, variant: *const Variant, arguments: []const set.Arg) void {
        const count = variant.params.len + scratch_count;
        std.debug.assert(count <= params_max);
        var next: usize = 0;
        for (variant.params, params.values[0..variant.params.len]) |param, *value| {
            // Launches name their arguments in the kernel's order, less what is folded.
            const index = for (0..arguments.len) |step| {
                const candidate = (next + step) % arguments.len;
                if (std.mem.eql(u8, arguments[candidate].name, param.name)) break candidate;
            } else unreachable; // The variant fits.
            next = index + 1;
            value.* = switch (arguments[index].value) {
                .ptr => |pointer| .{ .address = pointer.addr },
                .i32 => |number| .{ .int = number },
                .f32 => |number| .{ .float = number },
                .u64 => |number| .{ .word = number },
            };
        }
        for (params.values[variant.params.len..count]) |*scratch| scratch.* = .{ .address = 0 };
        for (params.places[0..count], params.values[0..count]) |*place, *value| place.* = value;
    }
};

/// The dynamic shared memory that a function gets without asking.
const shared_bytes_free = 48 << 10;
/// Larger clusters are not portable.
const cluster_portable_max = 8;

/// Lets a function that was just loaded use what its variant needs.
pub fn prepare(driver: *const Driver, function: Handle, variant: *const Variant) Error!void {
    if (variant.shared > shared_bytes_free) {
        try driver.call("cuFuncSetAttribute", .{ function, .dynamic_shared_bytes_max, @as(c_int, @intCast(variant.shared)) });
    }
    if (variant.num_ctas > cluster_portable_max) {
        try driver.call("cuFuncSetAttribute", .{ function, .non_portable_cluster_size, 1 });
    }
}
