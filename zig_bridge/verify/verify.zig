//! Verifies the folder of a set: every file there and unchanged, no other, and each cubin what `aot.json` says of it. The
//! Python command `verify` does the same with the same words; this one runs where there is no Python.

const std = @import("std");
const set = @import("set");
const Cubin = @import("cubin.zig").Cubin;
const Facts = @import("cubin.zig").Facts;
const folder_files = @import("folder.zig");
const manifest = @import("manifest.zig");
const targets = @import("targets.zig");
const Dir = std.Io.Dir;

pub const find = @import("find.zig").find;
pub const Problem = @import("problems.zig").Problem;
pub const Problems = @import("problems.zig").Problems;
pub const sources = @import("sources.zig");
pub const Target = targets.Target;
pub const parseTarget = targets.parse;

/// The file that lists a set's kernels.
pub const aot_name = "aot.json";

/// How to mend that a set is for another GPU.
pub const another_set = "name the folder of another set";

/// What may lie beside a set: what packaging adds.
const beside = [_][]const u8{ manifest.licence_name, manifest.name, manifest.readme_name };

/// What a set is, and what is wrong with it.
pub const Report = struct {
    /// The folder, as it was named.
    folder: []const u8,
    /// Sorted by file; empty for a set that is whole.
    problems: []const Problem,
    /// What its readers should know, a sentence each.
    notes: []const []const u8,
    /// The text of `aot.json`; empty where it cannot be read.
    aot_json: []const u8,
    /// What the set is for; null where that is not known.
    target: ?Target,
    /// The SHA-256 of what `sha256sum aot.json cubins/*.cubin` prints; null where a file is missing.
    digest: ?Hex,
    entries: usize,
    cubins: usize,
    /// Of `aot.json` and the cubins.
    bytes: u64,
    /// Whether a manifest accompanies it.
    packaged: bool,
};

/// A SHA-256 in lower-case hexadecimal.
pub const Hex = set.sha256.Hex;

/// Why nothing can be said of a set.
pub const Error = error{ OutOfMemory, NoFolder };

/// Looks at the set in the folder `path` below `dir`. `need` is the GPU that it has to be for; null where any will do.
pub fn check(io: std.Io, arena: std.mem.Allocator, dir: Dir, path: []const u8, need: ?Target) Error!Report {
    const folder = dir.openDir(io, path, .{ .iterate = true }) catch return error.NoFolder;
    defer folder.close(io);
    var verifier: Verifier = .{
        .io = io,
        .arena = arena,
        .folder = folder,
        .problems = .{ .arena = arena, .shown = path },
        .files = .empty,
    };
    verifier.files = try folder_files.list(io, folder, &verifier.problems);
    try verifier.run(need);
    verifier.problems.sort();
    return .{
        .folder = path,
        .problems = verifier.problems.list.items,
        .notes = verifier.notes.items,
        .aot_json = verifier.aot_json,
        .target = verifier.target,
        .digest = if (verifier.lacks_a_file) null else set.sha256.of(verifier.digest_text.items),
        .entries = verifier.entries,
        .cubins = verifier.hashes.count() -| 1,
        .bytes = verifier.bytes,
        .packaged = verifier.files.contains(manifest.name),
    };
}

const Verifier = struct {
    io: std.Io,
    arena: std.mem.Allocator,
    folder: Dir,
    problems: Problems,
    files: folder_files.Files,
    notes: std.ArrayList([]const u8) = .empty,
    aot_json: []const u8 = "",
    target: ?Target = null,
    entries: usize = 0,
    /// The hash of each file of the set proper, by its name.
    hashes: std.StringArrayHashMapUnmanaged(Hex) = .empty,
    digest_text: std.ArrayList(u8) = .empty,
    lacks_a_file: bool = false,
    bytes: u64 = 0,

    fn run(verifier: *Verifier, need: ?Target) error{OutOfMemory}!void {
        const problems = &verifier.problems;
        verifier.lacks_a_file = true;
        if (!verifier.files.contains(aot_name)) {
            if (problems.has(aot_name)) return;
            // Whatever else is in the folder says nothing about a set.
            problems.list.clearRetainingCapacity();
            return problems.add("", "there is no aot.json, so this is no set, or not all of it", .{});
        }
        verifier.aot_json = try verifier.read(aot_name, set.bytes_max) orelse return;
        var diagnostic: set.Diagnostic = .{};
        const captured = set.parse(verifier.arena, verifier.aot_json, &diagnostic) catch |failure| switch (failure) {
            error.OutOfMemory => return error.OutOfMemory,
            error.InvalidSet => return problems.add(aot_name, "{s}", .{diagnostic.message}),
        };
        verifier.lacks_a_file = false;
        verifier.entries = captured.variants.len;
        if (captured.variants.len == 0) try problems.add(aot_name, "it lists no kernels, so no launch can be served", .{});
        try verifier.hashes.put(verifier.arena, aot_name, set.sha256.of(verifier.aot_json));
        const document = try sources.parseDocument(verifier.arena, verifier.aot_json);
        verifier.target = try verifier.targetOf(&captured, need);
        verifier.bytes = verifier.aot_json.len;
        try verifier.checkCubins(&captured, document.line_info);
        try verifier.writeDigest();
        try verifier.checkExtra(captured.bin_dir);
        if (verifier.files.contains(manifest.name)) {
            const digest = if (verifier.lacks_a_file) null else set.sha256.of(verifier.digest_text.items);
            try manifest.check(verifier.io, verifier.folder, problems, verifier.files, verifier.hashes, document, digest);
        } else for ([_][]const u8{ manifest.readme_name, manifest.licence_name }) |name| {
            if (!verifier.files.contains(name)) continue;
            try problems.add(manifest.name, "it is missing; every packaged set has one", .{});
            break;
        }
    }

    fn read(verifier: *Verifier, name: []const u8, bytes_max: usize) error{OutOfMemory}!?[]const u8 {
        return verifier.folder.readFileAlloc(verifier.io, name, verifier.arena, .limited(bytes_max + 1)) catch |failure| {
            switch (failure) {
                error.OutOfMemory => return error.OutOfMemory,
                error.StreamTooLong => try verifier.problems.add(name, "it has more than {d} bytes; engines refuse it", .{bytes_max}),
                else => try verifier.problems.add(name, "it cannot be read ({t})", .{failure}),
            }
            return null;
        };
    }

    /// What the set says that it is for. A set of another tool may not say; then its name in the path or `need` decides.
    fn targetOf(verifier: *Verifier, captured: *const set.Set, need: ?Target) error{OutOfMemory}!?Target {
        const problems = &verifier.problems;
        const base = std.fs.path.basename(problems.shown);
        const in_path: ?Target = if (std.mem.startsWith(u8, base, "sm_")) null else targets.parse(base);
        const text = captured.target orelse {
            try verifier.notes.append(verifier.arena, "the set does not say for which GPU it is");
            return need orelse in_path;
        };
        const found = targets.parse(text) orelse {
            try problems.add(aot_name, "`target` is '{s}', which is no GPU that is known", .{text});
            return need orelse in_path;
        };
        if (need orelse in_path) |wanted| if (wanted.sm != found.sm) {
            try problems.addMended("", another_set, "have sm{d}, need sm{d}", .{ found.sm, wanted.sm });
        };
        return found;
    }

    fn checkCubins(verifier: *Verifier, captured: *const set.Set, line_info: ?bool) error{OutOfMemory}!void {
        const arena = verifier.arena;
        var by_name: std.StringArrayHashMapUnmanaged(std.ArrayList(*const set.Variant)) = .empty;
        for (captured.variants) |*variant| {
            const name = try std.fmt.allocPrint(arena, "{s}/{s}.{s}", .{ captured.bin_dir, variant.hash, captured.bin_ext });
            const entry = try by_name.getOrPut(arena, name);
            if (!entry.found_existing) entry.value_ptr.* = .empty;
            try entry.value_ptr.append(arena, variant);
        }
        var inspected: Problems = .{ .arena = arena, .shown = verifier.problems.shown };
        var agreed: Agreed = .{};
        for (by_name.keys(), by_name.values()) |name, variants| {
            const facts = try verifier.checkCubin(name, variants.items, &inspected) orelse continue;
            agreed.add(facts);
        }
        const foreign = if (verifier.target) |target| agreed.sm != null and !agreed.many_sms and agreed.sm.? != target.sm else false;
        if (foreign) {
            // All of one other GPU: then it is the set's own word that is wrong, or the whole set.
            try verifier.problems.add(aot_name, "`target` is sm_{d}, and its cubins are for sm_{d}", .{ verifier.target.?.sm, agreed.sm.? });
        } else try verifier.problems.list.appendSlice(arena, inspected.list.items);
        const recorded = line_info orelse return;
        if (if (recorded) agreed.some_lack_lines else agreed.some_have_lines) {
            const found = if (recorded) "some of its cubins hold none" else "some of its cubins hold line tables";
            try verifier.problems.add(aot_name, "`line_info` is {}, and {s}", .{ recorded, found });
        }
    }

    /// What the cubin is, where it is one. What is wrong with it as a cubin goes to `inspected`.
    fn checkCubin(verifier: *Verifier, name: []const u8, variants: []const *const set.Variant, inspected: *Problems) error{OutOfMemory}!?Facts {
        if (!verifier.files.contains(name)) {
            verifier.lacks_a_file = true;
            if (!verifier.problems.has(name) and !verifier.problems.has(std.fs.path.dirname(name).?)) {
                try verifier.problems.add(name, "it is missing; aot.json lists it for {s}", .{variants[0].function});
            }
            return null;
        }
        // Cubins may be large together; only one is in memory.
        var memory: std.heap.ArenaAllocator = .init(std.heap.page_allocator);
        defer memory.deinit();
        const bytes = verifier.folder.readFileAlloc(verifier.io, name, memory.allocator(), .limited(folder_files.file_bytes_max + 1)) catch |failure| {
            verifier.lacks_a_file = true;
            if (!verifier.problems.has(name)) try verifier.problems.add(name, "it cannot be read ({t})", .{failure});
            return null;
        };
        const hex = set.sha256.of(bytes);
        try verifier.hashes.put(verifier.arena, name, hex);
        verifier.bytes += bytes.len;
        // What was said of its size is enough.
        if (verifier.problems.has(name)) return null;
        const cubin: Cubin = .{ .problems = inspected, .name = name, .bytes = bytes, .hex = &hex };
        return cubin.check(variants, verifier.target);
    }

    fn writeDigest(verifier: *Verifier) error{OutOfMemory}!void {
        const names = try verifier.arena.dupe([]const u8, verifier.hashes.keys());
        std.mem.sort([]const u8, names, {}, before);
        for (names) |name| try verifier.digest_text.print(verifier.arena, "{s}  {s}\n", .{ &verifier.hashes.get(name).?, name });
    }

    fn checkExtra(verifier: *Verifier, bin_dir: []const u8) error{OutOfMemory}!void {
        next: for (verifier.files.keys()) |name| {
            if (verifier.hashes.contains(name) or verifier.problems.has(name)) continue;
            for (beside) |other| if (std.mem.eql(u8, name, other)) continue :next;
            const inside = name.len > bin_dir.len and name[bin_dir.len] == '/' and std.mem.startsWith(u8, name, bin_dir);
            const what = if (inside) "aot.json lists no such cubin" else "it is no part of a set";
            try verifier.problems.addMended(name, "remove it, or copy the set anew", "{s}", .{what});
        }
    }
};

/// What the cubins of a set are together.
const Agreed = struct {
    /// Of the first.
    sm: ?u32 = null,
    many_sms: bool = false,
    some_have_lines: bool = false,
    some_lack_lines: bool = false,

    fn add(agreed: *Agreed, facts: Facts) void {
        if (agreed.sm) |sm| agreed.many_sms = agreed.many_sms or sm != facts.sm else agreed.sm = facts.sm;
        agreed.some_have_lines = agreed.some_have_lines or facts.has_line_tables;
        agreed.some_lack_lines = agreed.some_lack_lines or !facts.has_line_tables;
    }
};

fn before(_: void, left: []const u8, right: []const u8) bool {
    return std.mem.order(u8, left, right) == .lt;
}

test {
    _ = @import("elf.zig");
    _ = targets;
    _ = sources;
    _ = @import("verify_test.zig");
}
