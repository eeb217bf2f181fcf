//! `declarations FILE`: the methods and launches of a declaration file as JSON.

const std = @import("std");
const Allocator = std.mem.Allocator;
const Writer = std.Io.Writer;
const Diagnostics = @import("diagnostics.zig").Diagnostics;
const functions = @import("functions.zig");
const imports = @import("imports.zig");
const launches = @import("launches.zig");
const source = @import("source.zig");

/// A function that launches, itself or through others.
const Method = struct {
    owner: ?[]const u8,
    name: []const u8,
    file: []const u8,
    line: u32,
    column: u32,
    /// Whether the text gives it out to other files.
    is_public: bool,
    /// The parameter that is the struct it lies in; null where there is none.
    receiver: ?functions.Parameter,
    /// Without the receiver.
    parameters: []const functions.Parameter,
    /// The names of launching functions that its body calls, in text order, each once.
    calls: []const []const u8,
};

const Answer = struct {
    files: []const []const u8,
    methods: []const Method,
    launches: []const launches.Launch,
};

/// Writes the answer for `file`, or adds what is wrong to `diagnostics`.
pub fn write(io: std.Io, arena: Allocator, file: []const u8, writer: *Writer, diagnostics: *Diagnostics) (source.Error || Writer.Error)!void {
    const files = try imports.read(io, arena, file, diagnostics);
    const found = try launches.find(arena, files, diagnostics);
    const answer: Answer = .{ .files = files.paths, .methods = try methods(arena, found), .launches = found.launches };
    try std.json.Stringify.value(answer, .{}, writer);
    try writer.writeByte('\n');
}

fn methods(arena: Allocator, found: launches.Found) Allocator.Error![]const Method {
    const launching = try launchingFunctions(arena, found);
    const called = try launchingCalls(arena, found, launching);
    var list: std.ArrayList(Method) = .empty;
    for (found.functions.all, launching, called) |function, launches_here, calls| {
        if (!launches_here) continue;
        const position = function.file.source.tokenPosition(function.token);
        try list.append(arena, .{
            .owner = function.owner,
            .name = function.name,
            .file = function.file.source.path,
            .line = position.line,
            .column = position.column,
            .is_public = function.is_public,
            .receiver = if (function.hasReceiver()) function.parameters[0] else null,
            .parameters = if (function.hasReceiver()) function.parameters[1..] else function.parameters,
            .calls = calls,
        });
    }
    return list.items;
}

/// The names of launching functions that each function calls.
fn launchingCalls(arena: Allocator, found: launches.Found, launching: []const bool) Allocator.Error![]const []const []const u8 {
    var names: std.StringHashMapUnmanaged(void) = .empty;
    for (found.functions.all, launching) |function, launches_here| {
        if (launches_here) try names.put(arena, function.name, {});
    }
    const lists = try arena.alloc(std.StringArrayHashMapUnmanaged(void), found.functions.all.len);
    @memset(lists, .empty);
    for (found.calls) |call| {
        const caller = found.functions.callerOf(call) orelse continue;
        if (names.contains(call.name)) try lists[caller].put(arena, call.name, {});
    }
    const called = try arena.alloc([]const []const u8, lists.len);
    for (called, lists) |*calls, *list| calls.* = list.keys();
    return called;
}

/// Which functions reach a launch by calls. Calls are told by name, which takes in too many rather than too few.
fn launchingFunctions(arena: Allocator, found: launches.Found) Allocator.Error![]const bool {
    var callers: std.StringHashMapUnmanaged(std.ArrayList(u32)) = .empty;
    for (found.calls) |call| {
        const caller = found.functions.callerOf(call) orelse continue;
        const entry = try callers.getOrPutValue(arena, call.name, .empty);
        try entry.value_ptr.append(arena, caller);
    }
    const launching = try arena.alloc(bool, found.functions.all.len);
    @memset(launching, false);
    var queue: std.ArrayList(u32) = .empty;
    for (found.sites) |site| {
        const caller = found.functions.declaredAt(site.caller.file, site.caller.node).?;
        try mark(arena, launching, &queue, caller);
    }
    var visited_names: std.StringHashMapUnmanaged(void) = .empty;
    // Each function enters the queue once.
    while (queue.pop()) |index| {
        const name = found.functions.all[index].name;
        if ((try visited_names.getOrPut(arena, name)).found_existing) continue;
        const list = callers.get(name) orelse continue;
        for (list.items) |caller| try mark(arena, launching, &queue, caller);
    }
    return launching;
}

fn mark(arena: Allocator, launching: []bool, queue: *std.ArrayList(u32), index: u32) Allocator.Error!void {
    if (launching[index]) return;
    launching[index] = true;
    try queue.append(arena, index);
}
