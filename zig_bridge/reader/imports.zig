//! Reads a declaration file and every sibling that it reaches by relative `@import`, and tells which files those embed.

const std = @import("std");
const Allocator = std.mem.Allocator;
const Ast = std.zig.Ast;
const Node = Ast.Node;
const Diagnostics = @import("diagnostics.zig").Diagnostics;
const limits = @import("limits.zig");
const nesting = @import("nesting.zig");
const scopes = @import("scopes.zig");
const Scopes = scopes.Scopes;
const source = @import("source.zig");
const Source = source.Source;

/// A declaration file and its siblings.
pub const Files = struct {
    /// The file that was named comes first, then siblings in the order in which they are found.
    zig: []const Scopes,
    /// Every file, also those that are no Zig: `.zon` files, and what `@embedFile` names. Relative to the first one's
    /// folder, sorted.
    paths: []const []const u8,
    /// The names on the way to the first one's folder, from the file system's root.
    folder: []const []const u8,

    /// The file that `path` of an import in `from` means; null where it is none of these.
    pub fn imported(self: Files, arena: Allocator, from: *const Source, path: []const u8) Allocator.Error!?*const Scopes {
        const wanted = try siblingPath(arena, self.folder, from.path, path);
        for (self.zig) |*file| {
            if (std.mem.eql(u8, file.source.path, wanted)) return file;
        }
        return null;
    }
};

const Pending = struct { path: []const u8, importer: ?*const Source, token: Ast.TokenIndex };

const Walk = struct {
    io: std.Io,
    arena: Allocator,
    diagnostics: *Diagnostics,
    /// As the user gave it.
    folder: []const u8,
    folder_names: []const []const u8,
    queue: std.ArrayList(Pending) = .empty,
    known: std.StringHashMapUnmanaged(void) = .empty,
    embedded: std.StringArrayHashMapUnmanaged(void) = .empty,

    fn enqueue(self: *Walk, pending: Pending) source.Error!void {
        if ((try self.known.getOrPut(self.arena, pending.path)).found_existing) return;
        if (self.queue.items.len == limits.files_max) {
            const importer = pending.importer.?;
            try self.diagnostics.add(importer.shown, importer.tokenPosition(pending.token), "this import is one file too many; expected at most {d} files; try a smaller root", .{limits.files_max});
            return error.Reported;
        }
        try self.queue.append(self.arena, pending);
    }

    fn shown(self: *Walk, path: []const u8) Allocator.Error![]const u8 {
        if (self.folder.len == 0) return path;
        const separator = if (std.mem.endsWith(u8, self.folder, "/")) "" else "/";
        return std.mem.concat(self.arena, u8, &.{ self.folder, separator, path });
    }
};

/// Reads `file` and what it imports, breadth first; every problem of every file is added to `diagnostics`.
pub fn read(io: std.Io, arena: Allocator, file: []const u8, diagnostics: *Diagnostics) source.Error!Files {
    const folder = std.fs.path.dirname(file) orelse "";
    var walk: Walk = .{
        .io = io,
        .arena = arena,
        .diagnostics = diagnostics,
        .folder = folder,
        .folder_names = try folderNames(io, arena, folder),
    };
    try walk.enqueue(.{ .path = std.fs.path.basename(file), .importer = null, .token = 0 });
    var zig: std.ArrayList(Scopes) = .empty;
    var paths: std.ArrayList([]const u8) = .empty;
    var index: usize = 0;
    // The queue is bounded by `files_max`.
    while (index < walk.queue.items.len) : (index += 1) {
        const pending = walk.queue.items[index];
        const parsed = readOne(&walk, pending) catch |failure| switch (failure) {
            error.Reported => continue,
            error.OutOfMemory => return error.OutOfMemory,
        };
        try paths.append(arena, pending.path);
        const found = parsed orelse continue;
        try zig.append(arena, try scopes.build(arena, found));
        try enqueueImports(&walk, found, &zig.items[zig.items.len - 1]);
    }
    for (walk.embedded.keys()) |path| if (!walk.known.contains(path)) try paths.append(arena, path);
    if (diagnostics.list.items.len > 0) return error.Reported;
    std.mem.sort([]const u8, paths.items, {}, isBefore);
    return .{ .zig = zig.items, .paths = paths.items, .folder = walk.folder_names };
}

fn isBefore(_: void, left: []const u8, right: []const u8) bool {
    return std.mem.lessThan(u8, left, right);
}

/// Null for a `.zon` file: it holds no launches, but the set depends on it.
fn readOne(walk: *Walk, pending: Pending) source.Error!?*const Source {
    const shown = try walk.shown(pending.path);
    const bytes = source.readBytes(walk.io, walk.arena, shown) catch |failure| {
        try reportUnreadable(walk, pending, shown, failure);
        return error.Reported;
    };
    if (std.mem.endsWith(u8, pending.path, ".zon")) return null;
    const parsed = try walk.arena.create(Source);
    parsed.* = try source.parse(walk.arena, bytes, .{
        .path = pending.path,
        .shown = shown,
        .mode = .zig,
        .bounds = nesting.zig_bounds,
    }, walk.diagnostics);
    return parsed;
}

fn reportUnreadable(walk: *Walk, pending: Pending, shown: []const u8, failure: anyerror) source.Error!void {
    if (failure == error.OutOfMemory) return error.OutOfMemory;
    const reason = try source.whyUnreadable(walk.arena, failure);
    const importer = pending.importer orelse
        return walk.diagnostics.add(shown, null, "{s}; expected a declaration file; try the path of the file that launches the kernels", .{reason});
    try walk.diagnostics.add(importer.shown, importer.tokenPosition(pending.token), "cannot read the sibling {s}: {s}; expected a file relative to this one; try correcting the path", .{ shown, reason });
}

fn enqueueImports(walk: *Walk, from: *const Source, file: *const Scopes) source.Error!void {
    const tree = &from.tree;
    for (0..tree.nodes.len) |index| {
        const node: Node.Index = @enumFromInt(index);
        const builtin: []const u8, const operand = callOf(tree, node) orelse continue;
        const token = tree.nodeMainToken(node);
        if (file.enclosing(token, .test_block) != null) continue;
        if (std.mem.eql(u8, builtin, "@embedFile")) {
            try addEmbedded(walk, from, operand);
            continue;
        }
        const path = try importPath(walk.arena, from, node) orelse continue;
        const sibling = try siblingPath(walk.arena, walk.folder_names, from.path, path);
        walk.enqueue(.{ .path = sibling, .importer = from, .token = token }) catch |failure| switch (failure) {
            // One file too many is said once.
            error.Reported => return,
            error.OutOfMemory => return error.OutOfMemory,
        };
    }
}

/// Notes the file that an `@embedFile` names. Only a path that the text shows can be followed, so any other is a problem.
fn addEmbedded(walk: *Walk, from: *const Source, operand: Node.Index) source.Error!void {
    const path = try from.stringLiteral(walk.arena, operand) orelse {
        const place = from.tokenPosition(from.tree.firstToken(operand));
        return walk.diagnostics.add(from.shown, place, "the path of @embedFile is no literal of UTF-8 text, so that an edit of that file would not capture anew; " ++
            "write the path as a literal", .{});
    };
    if (!isPath(path)) return;
    const sibling = try siblingPath(walk.arena, walk.folder_names, from.path, path);
    if (isFile(walk.io, try walk.shown(sibling))) try walk.embedded.put(walk.arena, sibling, {});
}

/// Whether there is such a file. What is embedded may be a module, or lie where Zig never looks: Zig says what is missing.
fn isFile(io: std.Io, path: []const u8) bool {
    const found = std.Io.Dir.cwd().statFile(io, path, .{}) catch return false;
    return found.kind == .file;
}

/// The path that an `@import` of a file names; null for any other node and for a module.
pub fn importPath(arena: Allocator, from: *const Source, node: Node.Index) Allocator.Error!?[]const u8 {
    const builtin: []const u8, const operand = callOf(&from.tree, node) orelse return null;
    if (!std.mem.eql(u8, builtin, "@import")) return null;
    const path = try from.stringLiteral(arena, operand) orelse return null;
    if (!isPath(path)) return null;
    return if (std.mem.endsWith(u8, path, ".zig") or std.mem.endsWith(u8, path, ".zon")) path else null;
}

/// The name of the builtin that a node calls, and the first thing that it is given; null for any other node.
fn callOf(tree: *const Ast, node: Node.Index) ?struct { []const u8, Node.Index } {
    var buffer: [2]Node.Index = undefined;
    const parameters = tree.builtinCallParams(&buffer, node) orelse return null;
    if (parameters.len == 0) return null;
    return .{ tree.tokenSlice(tree.nodeMainToken(node)), parameters[0] };
}

/// Whether a file can have such a name: Zig says what is wrong with one that cannot.
fn isPath(text: []const u8) bool {
    return std.mem.findScalar(u8, text, 0) == null;
}

fn folderNames(io: std.Io, arena: Allocator, folder: []const u8) Allocator.Error![]const []const u8 {
    var names: std.ArrayList([]const u8) = .empty;
    if (!std.fs.path.isAbsolute(folder)) {
        // A process whose folder is gone can still read absolute paths, and siblings that do not climb.
        const current = std.process.currentPathAlloc(io, arena) catch "";
        try appendNames(arena, &names, current);
    }
    try appendNames(arena, &names, folder);
    return names.items;
}

/// Appends the names of `path`, where a `..` takes the name before it away.
fn appendNames(arena: Allocator, names: *std.ArrayList([]const u8), path: []const u8) Allocator.Error!void {
    var iterator = std.mem.tokenizeScalar(u8, path, '/');
    while (iterator.next()) |name| {
        if (std.mem.eql(u8, name, ".")) continue;
        const last = names.getLastOrNull() orelse "..";
        if (std.mem.eql(u8, name, "..") and !std.mem.eql(u8, last, "..")) _ = names.pop() else try names.append(arena, name);
    }
}

/// `path`, relative to the file `from`, made relative to `folder` as `from` is: one file has one such path, so that a
/// cycle of imports ends.
fn siblingPath(arena: Allocator, folder: []const []const u8, from: []const u8, path: []const u8) Allocator.Error![]const u8 {
    if (std.fs.path.isAbsolute(path)) return path;
    var names: std.ArrayList([]const u8) = .empty;
    try appendNames(arena, &names, std.fs.path.dirname(from) orelse "");
    try appendNames(arena, &names, path);
    var climbs: usize = 0;
    while (climbs < names.items.len and std.mem.eql(u8, names.items[climbs], "..")) climbs += 1;
    var rest = names.items[climbs..];
    // `../here/x.zig` inside the folder `here` is `x.zig`.
    while (climbs > 0 and climbs <= folder.len and rest.len > 1 and std.mem.eql(u8, folder[folder.len - climbs], rest[0])) {
        climbs -= 1;
        rest = rest[1..];
    }
    var result: std.ArrayList([]const u8) = .empty;
    try result.appendNTimes(arena, "..", climbs);
    try result.appendSlice(arena, rest);
    return std.mem.join(arena, "/", result.items);
}
