//! `check_set FOLDER` fails, and names the file, unless FOLDER holds an `aot.json` and every cubin that it lists, unchanged.

const std = @import("std");
const set = @import("set");
const Dir = std.Io.Dir;
const Sha256 = std.crypto.hash.sha2.Sha256;

/// Engines refuse a larger cubin.
const cubin_bytes_max = 64 << 20;

pub fn main(init: std.process.Init) u8 {
    const arena = init.arena.allocator();
    const arguments = init.minimal.args.toSlice(arena) catch return 1;
    std.debug.assert(arguments.len == 2);
    const problem = check(init.io, arena, Dir.cwd(), arguments[1]) catch |failure| @errorName(failure);
    if (problem) |text| std.debug.print("error: {s}\n", .{text});
    return if (problem == null) 0 else 1;
}

/// What is wrong with the set in `folder`, a path below `dir`; null if nothing is.
fn check(io: std.Io, arena: std.mem.Allocator, dir: Dir, folder: []const u8) error{OutOfMemory}!?[]const u8 {
    const manifest = try std.fs.path.join(arena, &.{ folder, "aot.json" });
    const text = dir.readFileAlloc(io, manifest, arena, .limited(set.bytes_max + 1)) catch |failure| {
        return try std.fmt.allocPrint(arena, "{s}: {s}; -Dcapture-set is the folder of a finished set", .{ manifest, @errorName(failure) });
    };
    var diagnostic: set.Diagnostic = .{};
    const captured = set.parse(arena, text, &diagnostic) catch |failure| switch (failure) {
        error.OutOfMemory => return error.OutOfMemory,
        error.InvalidSet => return try std.fmt.allocPrint(arena, "{s}: {s}", .{ manifest, diagnostic.message }),
    };
    for (captured.variants) |variant| {
        const name = try std.fmt.allocPrint(arena, "{s}/{s}/{s}.{s}", .{ folder, captured.bin_dir, variant.hash, captured.bin_ext });
        const cubin = dir.readFileAlloc(io, name, arena, .limited(cubin_bytes_max + 1)) catch |failure| {
            return try std.fmt.allocPrint(arena, "{s}: {s}; aot.json lists it for {s}", .{ name, @errorName(failure), variant.function });
        };
        const recorded = variant.sha256 orelse continue;
        var digest: [Sha256.digest_length]u8 = undefined;
        Sha256.hash(cubin, &digest, .{});
        if (!std.mem.eql(u8, recorded, &std.fmt.bytesToHex(digest, .lower))) {
            return try std.fmt.allocPrint(arena, "{s}: its bytes are not those that aot.json records for {s}", .{ name, variant.function });
        }
    }
    return null;
}

test "check set: whole, changed, and without its cubin or manifest" {
    const io = std.testing.io;
    var arena: std.heap.ArenaAllocator = .init(std.testing.allocator);
    defer arena.deinit();
    var temporary = std.testing.tmpDir(.{});
    defer temporary.cleanup();
    const dir = temporary.dir;
    try std.testing.expect(std.mem.indexOf(u8, (try check(io, arena.allocator(), dir, "set")).?, "set/aot.json: FileNotFound") != null);

    const cubins = try dir.createDirPathOpen(io, "set/cubins", .{});
    defer cubins.close(io);
    var digest: [Sha256.digest_length]u8 = undefined;
    Sha256.hash("code", &digest, .{});
    const text = try std.fmt.allocPrint(arena.allocator(),
        \\{{"kernels": [{{"fn": "_k", "hash": "ab", "name": "_k", "num_warps": 4, "params": [], "consts": {{}}, "sha256": "{s}"}}]}}
    , .{std.fmt.bytesToHex(digest, .lower)});
    try dir.writeFile(io, .{ .sub_path = "set/aot.json", .data = text });
    const missing = (try check(io, arena.allocator(), dir, "set")).?;
    try std.testing.expectEqualStrings("set/cubins/ab.cubin: FileNotFound; aot.json lists it for _k", missing);

    try cubins.writeFile(io, .{ .sub_path = "ab.cubin", .data = "code" });
    try std.testing.expectEqual(@as(?[]const u8, null), try check(io, arena.allocator(), dir, "set"));

    try cubins.writeFile(io, .{ .sub_path = "ab.cubin", .data = "Code" });
    const changed = (try check(io, arena.allocator(), dir, "set")).?;
    try std.testing.expectEqualStrings("set/cubins/ab.cubin: its bytes are not those that aot.json records for _k", changed);
}
