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
    /// Without the receiver.
    parameters: []const functions.Parameter,
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
    var list: std.ArrayList(Method) = .empty;
    for (found.functions, launching) |function, launches_here| {
        if (!launches_here) continue;
        const position = function.file.source.tokenPosition(function.token);
        try list.append(arena, .{
            .owner = function.owner,
            .name = function.name,
            .file = function.file.source.path,
            .line = position.line,
            .column = position.column,
            .parameters = if (function.hasReceiver()) function.parameters[1..] else function.parameters,
        });
    }
    return list.items;
}

/// Which functions reach a launch by calls. Calls are told by name, which takes in too many rather than too few.
fn launchingFunctions(arena: Allocator, found: launches.Found) Allocator.Error![]const bool {
    const launching = try arena.alloc(bool, found.functions.len);
    @memset(launching, false);
    var names: std.StringHashMapUnmanaged(void) = .empty;
    for (found.functions, launching) |function, *launches_here| {
        for (found.sites) |site| {
            if (site.caller.file == function.file and site.caller.node == function.node) launches_here.* = true;
        }
        if (launches_here.*) try names.put(arena, function.name, {});
    }
    // Each turn marks one function at least, or is the last.
    var changed = true;
    while (changed) {
        changed = false;
        for (found.calls) |call| {
            if (!names.contains(call.name)) continue;
            for (found.functions, launching) |function, *launches_here| {
                if (launches_here.* or function.file != call.file or call.token < function.first or call.token > function.last) continue;
                launches_here.* = true;
                changed = true;
                try names.put(arena, function.name, {});
            }
        }
    }
    return launching;
}
