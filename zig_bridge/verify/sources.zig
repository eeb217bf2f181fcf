//! What a set records of its own making: hashes of the sources, which are compared with those of a tree.

const std = @import("std");
const json = std.json;
const Dir = std.Io.Dir;
const set = @import("set");
const Problems = @import("problems.zig").Problems;

/// The parts of an `aot.json` that engines ignore.
pub const Document = struct {
    /// The whole text; null where it is no object.
    object: ?json.ObjectMap,
    /// `provenance`; null where there is none.
    provenance: ?json.ObjectMap,
    /// Whether cubins hold line tables; null where the set does not say.
    line_info: ?bool,

    /// A member of `provenance` that is an object.
    pub fn part(document: Document, name: []const u8) ?json.ObjectMap {
        const provenance = document.provenance orelse return null;
        return objectOf(provenance.get(name));
    }
};

/// Reads the text, which `set.parse` has taken.
pub fn parseDocument(arena: std.mem.Allocator, text: []const u8) error{OutOfMemory}!Document {
    const value = json.parseFromSliceLeaky(json.Value, arena, text, .{}) catch |failure| switch (failure) {
        error.OutOfMemory => return error.OutOfMemory,
        else => json.Value.null,
    };
    const object = objectOf(value);
    const provenance = if (object) |members| objectOf(members.get("provenance")) else null;
    const line_info = if (provenance) |members| members.get("line_info") else null;
    return .{
        .object = object,
        .provenance = provenance,
        .line_info = if (line_info) |found| if (found == .bool) found.bool else null else null,
    };
}

fn objectOf(value: ?json.Value) ?json.ObjectMap {
    const found = value orelse return null;
    return if (found == .object) found.object else null;
}

/// A tree that a set may have been made from.
pub const Tree = struct {
    profile: []const u8,
    /// The declaration file.
    declarations: []const u8,
    /// The file that drives the rounds; null where there is none.
    rounds: ?[]const u8,
    /// The folder of the Triton kernels.
    kernels: []const u8,
};

/// What a comparison found.
pub const Compared = struct {
    /// How many files are those that the set was made from.
    same: usize = 0,
    /// One for each file that changed or is gone.
    stale: Problems,
    /// The recorded files that cannot be found from here.
    left_out: std.ArrayList([]const u8) = .empty,
};

const mend = "capture again (-Dcapture=true), or go on with -Dcapture-set-stale=warn";
/// What stands in a recorded name for a folder of the machine that captured.
const imported = "(imported)/";
/// No source is as large.
const source_bytes_max = 64 << 20;

/// Compares the hashes that the set in `shown` records with the files of `tree`, whose paths are below `dir`. Null where it
/// records none.
pub fn compare(io: std.Io, arena: std.mem.Allocator, dir: Dir, document: Document, tree: Tree, shown: []const u8) error{OutOfMemory}!?Compared {
    var comparison: Comparison = .{ .io = io, .arena = arena, .dir = dir, .tree = tree, .result = .{ .stale = .{ .arena = arena, .shown = shown } } };
    const parts = [_][]const u8{ "profile", "declarations", "kernels" };
    for (parts) |part| {
        const hashes = document.part(part) orelse return null;
        for (hashes.keys(), hashes.values()) |name, hash| {
            if (hash != .string) return null;
            try comparison.one(part, name, hash.string);
        }
    }
    comparison.result.stale.sort();
    return comparison.result;
}

const Comparison = struct {
    io: std.Io,
    arena: std.mem.Allocator,
    dir: Dir,
    tree: Tree,
    result: Compared,

    fn one(comparison: *Comparison, part: []const u8, name: []const u8, hash: []const u8) error{OutOfMemory}!void {
        const path = try comparison.locate(part, name) orelse {
            return comparison.result.left_out.append(comparison.arena, name);
        };
        const stale = &comparison.result.stale.list;
        const text = comparison.dir.readFileAlloc(comparison.io, path, comparison.arena, .limited(source_bytes_max)) catch |failure| {
            if (failure == error.OutOfMemory) return error.OutOfMemory;
            const what = try std.fmt.allocPrint(comparison.arena, "the set was made from it, and it is not there ({t})", .{failure});
            return stale.append(comparison.arena, .{ .file = path, .what = what, .mend = mend });
        };
        if (std.mem.eql(u8, hash, &set.sha256.of(text))) {
            comparison.result.same += 1;
            return;
        }
        const what = "it changed since the set was captured";
        try stale.append(comparison.arena, .{ .file = path, .what = what, .mend = mend });
    }

    /// Where the file `name` of one part of the record is; null where that cannot be told.
    fn locate(comparison: *Comparison, part: []const u8, name: []const u8) error{OutOfMemory}!?[]const u8 {
        const tree = comparison.tree;
        if (std.mem.eql(u8, part, "profile")) return tree.profile;
        if (std.mem.startsWith(u8, name, imported)) return comparison.locateImported(name[imported.len..]);
        if (name.len == 0 or std.fs.path.isAbsolute(name)) return null;
        var steps = std.mem.splitScalar(u8, name, '/');
        while (steps.next()) |step| if (std.mem.eql(u8, step, "..")) return null;
        const folder = if (std.mem.eql(u8, part, "kernels")) tree.kernels else std.fs.path.dirname(tree.profile) orelse "";
        return try std.fs.path.join(comparison.arena, &.{ folder, name });
    }

    /// Of a file outside of the profile's folder the record has the folder's own name; it may be one that the profile names.
    fn locateImported(comparison: *Comparison, name: []const u8) error{OutOfMemory}!?[]const u8 {
        const tree = comparison.tree;
        const folders = [_]?[]const u8{
            std.fs.path.dirname(tree.declarations),
            if (tree.rounds) |rounds| std.fs.path.dirname(rounds) else null,
            tree.kernels,
        };
        const recorded = std.fs.path.dirname(name) orelse return null;
        for (folders) |candidate| {
            const folder = candidate orelse continue;
            const resolved = try std.fs.path.resolve(comparison.arena, &.{folder});
            if (!std.mem.eql(u8, std.fs.path.basename(resolved), recorded)) continue;
            const path = try std.fs.path.join(comparison.arena, &.{ folder, std.fs.path.basename(name) });
            comparison.dir.access(comparison.io, path, .{}) catch continue;
            return path;
        }
        return null;
    }
};

test {
    _ = @import("sources_test.zig");
}
