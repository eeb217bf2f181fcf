//! Compares a packaged set with the `manifest.json` that packaging puts beside it.

const std = @import("std");
const json = std.json;
const Dir = std.Io.Dir;
const set = @import("set");
const folder_files = @import("folder.zig");
const Problems = @import("problems.zig").Problems;
const sources = @import("sources.zig");

pub const name = "manifest.json";
pub const licence_name = "LICENSE";
pub const readme_name = "README.md";

const Hex = set.sha256.Hex;

/// What a manifest repeats of the set's `provenance`.
const repeated = [_][]const u8{ "limits", "toolchain" };
/// What it repeats of the top of `aot.json`.
const repeated_of_top = [_][]const u8{ "target", "policy", "generator" };
/// The hashes of sources that it repeats.
const repeated_sources = [_][]const u8{ "profile", "declarations", "kernels" };
/// Values that nest deeper are no manifest's.
const depth_max = 16;

/// Adds what is wrong between the manifest in `folder` and the files there. `hashes` are those that are known, `digest` is
/// the set's, null where a file is missing.
pub fn check(
    io: std.Io,
    folder: Dir,
    problems: *Problems,
    files: folder_files.Files,
    hashes: std.StringArrayHashMapUnmanaged(Hex),
    document: sources.Document,
    digest: ?Hex,
) error{OutOfMemory}!void {
    const arena = problems.arena;
    const text = folder.readFileAlloc(io, name, arena, .limited(folder_files.file_bytes_max + 1)) catch |failure| {
        return problems.add(name, "it cannot be read ({t})", .{failure});
    };
    const value = json.parseFromSliceLeaky(json.Value, arena, text, .{}) catch |failure| switch (failure) {
        error.OutOfMemory => return error.OutOfMemory,
        else => return problems.add(name, "it is no manifest: no valid JSON ({t})", .{failure}),
    };
    if (value != .object) return problems.add(name, "it is no manifest: no object", .{});
    const listed = switch (value.object.get("files") orelse .null) {
        .object => |object| object,
        else => return problems.add(name, "it is no manifest: `files` is no object", .{}),
    };
    for (listed.keys()) |file| {
        if (!isLocal(file)) return problems.add(name, "it lists '{s}', which would leave the folder", .{file});
    }
    switch (value.object.get("app") orelse .null) {
        .string => |app| try checkApp(problems, app),
        else => return problems.add(name, "it is no manifest: `app` is no text", .{}),
    }
    for (listed.keys(), listed.values()) |file, entry| {
        const size = files.get(file) orelse {
            if (!problems.has(file)) try problems.add(file, "it is missing; manifest.json lists it", .{});
            continue;
        };
        if (problems.has(file)) continue;
        const hex = hashes.get(file) orelse try hashOf(io, folder, problems, file) orelse continue;
        if (!isEntry(entry, size, &hex)) try problems.add(file, "its bytes are not those that manifest.json lists", .{});
    }
    for (files.keys()) |file| {
        if (listed.contains(file) or std.mem.eql(u8, file, name) or problems.has(file)) continue;
        try problems.addMended(file, "remove it, or unpack the package anew", "manifest.json does not list it", .{});
    }
    if (digest) |hex| {
        const found = value.object.get("digest") orelse .null;
        if (found != .string or !std.mem.eql(u8, found.string, &hex)) {
            try problems.add(name, "`digest` is {s}; the set's is {s}", .{ if (found == .string) found.string else "no text", &hex });
        }
    }
    try checkRepeated(problems, value.object, document);
}

/// An engine looks below the folder of its own app only.
fn checkApp(problems: *Problems, app: []const u8) error{OutOfMemory}!void {
    const folder = appOf(problems.shown) orelse return;
    if (std.mem.eql(u8, app, folder)) return;
    try problems.add(name, "`app` is {s}, and the folder is {s}'s; engines look below share/{s}", .{ app, folder, app });
}

/// The app that a folder is for; null where it is not `share/<app>/cuda/sm<NN>`.
fn appOf(folder: []const u8) ?[]const u8 {
    const cuda = std.fs.path.dirname(folder) orelse return null;
    const app = std.fs.path.dirname(cuda) orelse return null;
    const share = std.fs.path.dirname(app) orelse return null;
    if (!std.mem.eql(u8, std.fs.path.basename(cuda), "cuda") or !std.mem.eql(u8, std.fs.path.basename(share), "share")) return null;
    return std.fs.path.basename(app);
}

fn checkRepeated(problems: *Problems, manifest: json.ObjectMap, document: sources.Document) error{OutOfMemory}!void {
    const top = document.object orelse return;
    for (repeated_of_top) |field| {
        if (!repeats(manifest.get(field), top.get(field))) try problems.add(name, other_field, .{field});
    }
    const provenance = document.provenance orelse return;
    for (repeated) |field| {
        if (!repeats(manifest.get(field), provenance.get(field))) try problems.add(name, other_field, .{field});
    }
    const listed = manifest.get("sources") orelse .null;
    for (repeated_sources) |field| {
        const found = if (listed == .object) listed.object.get(field) else null;
        if (!repeats(found, provenance.get(field))) return problems.add(name, other_field, .{"sources"});
    }
}

const other_field = "`{s}` is not that of the set";

/// Where the set says nothing, the manifest has nothing to repeat.
fn repeats(found: ?json.Value, wanted: ?json.Value) bool {
    return wanted == null or equal(found orelse .null, wanted.?, 0);
}

fn isEntry(entry: json.Value, size: u64, hex: []const u8) bool {
    if (entry != .object) return false;
    const sha256 = entry.object.get("sha256") orelse return false;
    const bytes = entry.object.get("bytes") orelse return false;
    return sha256 == .string and std.mem.eql(u8, sha256.string, hex) and bytes == .integer and bytes.integer == size;
}

fn hashOf(io: std.Io, folder: Dir, problems: *Problems, file: []const u8) error{OutOfMemory}!?Hex {
    const bytes = folder.readFileAlloc(io, file, problems.arena, .limited(folder_files.file_bytes_max + 1)) catch |failure| {
        if (failure == error.OutOfMemory) return error.OutOfMemory;
        try problems.add(file, "it cannot be read ({t})", .{failure});
        return null;
    };
    defer problems.arena.free(bytes);
    return set.sha256.of(bytes);
}

fn isLocal(file: []const u8) bool {
    if (std.mem.findAny(u8, file, "\\:") != null) return false;
    var parts = std.mem.splitScalar(u8, file, '/');
    while (parts.next()) |part| {
        if (part.len == 0 or std.mem.eql(u8, part, ".") or std.mem.eql(u8, part, "..")) return false;
        for (part) |byte| if (byte < 0x20 or byte == 0x7f) return false;
    }
    return true;
}

fn equal(left: json.Value, right: json.Value, depth: u32) bool {
    if (depth == depth_max or std.meta.activeTag(left) != std.meta.activeTag(right)) return false;
    switch (left) {
        .null => return true,
        .bool => |value| return value == right.bool,
        .integer => |value| return value == right.integer,
        .float => |value| return value == right.float,
        .number_string, .string => |value| {
            return std.mem.eql(u8, value, if (right == .string) right.string else right.number_string);
        },
        .array => |value| {
            if (value.items.len != right.array.items.len) return false;
            for (value.items, right.array.items) |one, other| if (!equal(one, other, depth + 1)) return false;
            return true;
        },
        .object => |value| {
            if (value.count() != right.object.count()) return false;
            for (value.keys(), value.values()) |key, one| {
                if (!equal(one, right.object.get(key) orelse return false, depth + 1)) return false;
            }
            return true;
        },
    }
}
