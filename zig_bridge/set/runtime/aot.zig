//! `cuda.aot` as declaration files see it, over a set whose cubins run on a device.

const std = @import("std");
const set = @import("set");
const Context = @import("context.zig").Context;
const driver_types = @import("driver.zig");
const functions_types = @import("functions.zig");
const Log = @import("log.zig").Log;
const launching = @import("launch.zig");
const loader = @import("loader.zig");
const locating = @import("locate.zig");
const messages = @import("messages.zig");
const Stream = @import("stream.zig").Stream;
const Handle = functions_types.Handle;

pub const Arg = set.Arg;
pub const Value = set.Value;
pub const Const = set.Const;
pub const Launch = set.Launch;
pub const Variant = set.Variant;
pub const Policy = set.Policy;
pub const ptr = set.ptr;
pub const int = set.int;
pub const float = set.float;
pub const word = set.word;
pub const ci = set.ci;
pub const cf = set.cf;
pub const Search = locating.Search;
pub const locate = locating.locate;

/// How a launch is refused. The log says of each what and why.
pub const Error = error{
    /// The set has no variant for the launch.
    MissingTritonVariant,
    /// Several variants fit and differ in their launch options.
    AmbiguousTritonVariant,
} || loader.Error || driver_types.Error;

/// How opening a set fails.
pub const OpenError = error{
    /// The set is for another GPU.
    OtherTarget,
} || loader.Error || driver_types.Error;

/// A captured set that is ready to launch on one device, from any number of threads.
pub const Set = struct {
    state: *State,

    pub const Options = struct {
        /// The device. It must stay where it is as long as the set is open.
        context: *const Context,
        /// The rule by which a launch takes a variant.
        policy: Policy = .exact,
        /// When cubins are loaded.
        load: Load = .lazy,
        /// What captures a variant that is missing; the log shows it.
        command: []const u8 = "zig build -Dcapture=true",
    };

    /// When cubins are loaded: each before its first launch, or all at once, so that no launch waits or fails for it.
    pub const Load = enum { lazy, all };

    /// Opens the set in a folder, which must be for the context's device.
    pub fn open(io: std.Io, allocator: std.mem.Allocator, folder: []const u8, options: Options) OpenError!Set {
        const state = try allocator.create(State);
        errdefer allocator.destroy(state);
        try state.init(io, allocator, folder, options);
        errdefer state.deinit();
        if (options.load == .all) {
            for (state.captured.variants) |*variant| _ = try state.functionOf(variant);
        }
        return .{ .state = state };
    }

    /// Unloads the cubins. No launch may be running.
    pub fn close(self: Set) void {
        const allocator = self.state.allocator;
        self.state.deinit();
        allocator.destroy(self.state);
    }

    /// What the set holds.
    pub fn captured(self: Set) *const set.Set {
        return &self.state.captured;
    }

    /// The digest by which packages name the set; null where it does not record its cubins' hashes.
    pub fn digest(self: *const Set) ?loader.Hex {
        return self.state.digest;
    }

    /// Launches a function.
    pub fn run(self: *const Set, stream: Stream, function: []const u8, grid: [3]u32, args: []const Arg, consts: []const Const) Error!void {
        return self.runWith(stream, function, grid, args, consts, .{});
    }

    /// Launches a function with launch options.
    pub fn runWith(self: *const Set, stream: Stream, function: []const u8, grid: [3]u32, args: []const Arg, consts: []const Const, launch: Launch) Error!void {
        const state = self.state;
        const variant = try self.findWith(function, args, consts, launch);
        try state.context.makeCurrent();
        const place: launching.Place = .{ .stream = stream.handle, .function = try state.functionOf(variant), .grid = grid };
        try launching.launch(state.context.driver, place, variant, args);
    }

    /// The variant that a launch takes.
    pub fn find(self: *const Set, function: []const u8, args: []const Arg, consts: []const Const) Error!*const Variant {
        return self.findWith(function, args, consts, .{});
    }

    /// The variant that a launch with options takes.
    pub fn findWith(self: *const Set, function: []const u8, args: []const Arg, consts: []const Const, launch: Launch) Error!*const Variant {
        const state = self.state;
        const log = state.context.driver.log;
        const request: set.Request = .{ .function = function, .arguments = args, .constexprs = consts, .options = launch };
        switch (set.select(&state.captured, request, state.policy)) {
            .exact => |variant| return variant,
            .fallback => |variant| {
                if (state.isFirstFallback(variant)) messages.fallback(log, variant);
                return variant;
            },
            .ambiguous => {
                messages.ambiguous(log, function);
                return error.AmbiguousTritonVariant;
            },
            .missing => {
                messages.missing(log, &state.captured, request, state.policy, state.command);
                return error.MissingTritonVariant;
            },
        }
    }

    /// The smallest value of a constexpr among the function's variants, from `at_least` on.
    pub fn smallestConst(self: *const Set, function: []const u8, name: []const u8, at_least: i64) ?i64 {
        return self.state.captured.smallestConst(function, name, at_least);
    }
};

/// What some families launch into to learn whether a set has what they need: it looks a launch up and runs nothing.
pub const Probe = struct {
    /// The set that is asked.
    set: *const Set,

    /// Fails where the set has no variant for the launch.
    pub fn add(self: *const Probe, function: []const u8, args: []const Arg, consts: []const Const, launch: Launch) Error!void {
        _ = try self.set.findWith(function, args, consts, launch);
    }
};

const State = struct {
    allocator: std.mem.Allocator,
    arena: std.heap.ArenaAllocator,
    context: *const Context,
    folder: loader.Folder,
    captured: set.Set,
    digest: ?loader.Hex,
    policy: Policy,
    command: []const u8,
    /// One for each variant, in the file's order.
    entries: []Entry,
    /// Held while something is loaded.
    mutex: std.Io.Mutex,
    /// What is loaded, by hash.
    modules: std.StringHashMapUnmanaged(Handle),

    const Entry = struct {
        /// The loaded function; null as long as nothing launched it.
        function: std.atomic.Value(?Handle) = .init(null),
        /// Whether the log has that it took a launch that it was not captured for.
        warned: std.atomic.Value(bool) = .init(false),
    };

    fn init(state: *State, io: std.Io, allocator: std.mem.Allocator, folder: []const u8, options: Set.Options) OpenError!void {
        const log = options.context.driver.log;
        state.allocator = allocator;
        state.arena = .init(allocator);
        errdefer state.arena.deinit();
        const arena = state.arena.allocator();
        state.folder = .{ .io = io, .log = log, .path = try arena.dupe(u8, folder) };
        const read = try state.folder.read(arena);
        state.captured = read.captured;
        state.digest = try loader.digestOf(arena, &read);
        state.context = options.context;
        state.policy = options.policy;
        state.command = try arena.dupe(u8, options.command);
        state.entries = try arena.alloc(Entry, state.captured.variants.len);
        for (state.entries) |*entry| entry.* = .{};
        state.mutex = .init;
        state.modules = .empty;
        try state.checkTarget(log);
        log.print(.info, "{s}: sm{d}, {d} variants, digest {s}", .{
            folder, options.context.capability, state.entries.len, if (state.digest) |*hex| @as([]const u8, hex) else "not recorded",
        });
    }

    /// A set of the same family runs on no other GPU, however near. One that does not say what it is for is tried.
    fn checkTarget(state: *const State, log: Log) error{OtherTarget}!void {
        const target = state.captured.target orelse return;
        var buffer: [16]u8 = undefined;
        const needed = std.fmt.bufPrint(&buffer, "sm_{d}", .{state.context.capability}) catch unreachable; // 10 digits at most.
        if (std.mem.eql(u8, target, needed)) return;
        const is_cuda = std.mem.startsWith(u8, target, "sm_");
        log.print(.err, "{s}: have {s}{s}, need sm{d}, which is the device's ({s})", .{
            state.folder.path,        if (is_cuda) "sm" else "", if (is_cuda) target["sm_".len..] else target,
            state.context.capability, state.context.name(),
        });
        return error.OtherTarget;
    }

    fn deinit(state: *State) void {
        // Where a call fails, it is in the log; nothing else can be done.
        state.context.makeCurrent() catch {};
        var modules = state.modules.valueIterator();
        while (modules.next()) |module| state.context.driver.call("cuModuleUnload", .{module.*}) catch {};
        state.arena.deinit();
    }

    fn entryOf(state: *State, variant: *const Variant) *Entry {
        return &state.entries[variant - state.captured.variants.ptr];
    }

    fn isFirstFallback(state: *State, variant: *const Variant) bool {
        return !state.entryOf(variant).warned.swap(true, .monotonic);
    }

    /// The loaded function of a variant. Threads that ask for one that is not loaded wait for each other.
    fn functionOf(state: *State, variant: *const Variant) (loader.Error || driver_types.Error)!Handle {
        const entry = state.entryOf(variant);
        if (entry.function.load(.acquire)) |function| return function;
        const io = state.folder.io;
        state.mutex.lockUncancelable(io);
        defer state.mutex.unlock(io);
        if (entry.function.load(.monotonic)) |function| return function;
        const driver = state.context.driver;
        try state.context.makeCurrent();
        const module = try state.moduleOf(variant);
        const name = try state.allocator.dupeSentinel(u8, variant.name, 0);
        defer state.allocator.free(name);
        var function: ?Handle = null;
        try driver.call("cuModuleGetFunction", .{ &function, module, name.ptr });
        try launching.prepare(driver, function.?, variant);
        entry.function.store(function, .release);
        return function.?;
    }

    fn moduleOf(state: *State, variant: *const Variant) (loader.Error || driver_types.Error)!Handle {
        if (state.modules.get(variant.hash)) |module| return module;
        const image = try state.folder.cubin(state.allocator, &state.captured, variant);
        defer state.allocator.free(image);
        try state.modules.ensureUnusedCapacity(state.arena.allocator(), 1);
        var module: ?Handle = null;
        state.context.driver.call("cuModuleLoadData", .{ &module, image.ptr }) catch |failure| {
            state.folder.log.print(.err, "{s}: the cubin {s} of {s} does not load", .{ state.folder.path, variant.hash, variant.function });
            return failure;
        };
        state.modules.putAssumeCapacity(variant.hash, module.?);
        return module.?;
    }
};
