//! Tests of comparing what a set was made from with a tree.

const std = @import("std");
const sources = @import("sources.zig");
const testing = std.testing;

const tree: sources.Tree = .{ .profile = "capture.zon", .declarations = "far/src/triton.zig", .rounds = null, .kernels = "kernels" };
const record =
    \\{"provenance": {"profile": {"capture.zon": "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad"},
    \\ "declarations": {"src/rounds.zig": "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad",
    \\  "(imported)/src/triton.zig": "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad"},
    \\ "kernels": {"copy.py": "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad",
    \\  "../up.py": "00", "/etc/passwd": "00", "(imported)/site/other.py": "00"}}}
;

fn compare(arena: std.mem.Allocator, dir: std.Io.Dir, text: []const u8) !?sources.Compared {
    return sources.compare(testing.io, arena, dir, try sources.parseDocument(arena, text), tree, "set");
}

test "sources: the same, changed and gone, and those that are elsewhere" {
    var arena: std.heap.ArenaAllocator = .init(testing.allocator);
    defer arena.deinit();
    var temporary = testing.tmpDir(.{});
    defer temporary.cleanup();
    const dir = temporary.dir;
    const names = [_][]const u8{ "capture.zon", "far/src/triton.zig", "kernels/copy.py", "src/rounds.zig" };
    for (names) |name| {
        if (std.fs.path.dirname(name)) |folder| try dir.createDirPath(testing.io, folder);
        try dir.writeFile(testing.io, .{ .sub_path = name, .data = "abc" });
    }
    const fresh = (try compare(arena.allocator(), dir, record)).?;
    try testing.expectEqual(4, fresh.same);
    try testing.expectEqual(0, fresh.stale.list.items.len);
    try testing.expectEqual(3, fresh.left_out.items.len);
    for (names) |name| {
        try dir.writeFile(testing.io, .{ .sub_path = name, .data = "abcd" });
        const stale = (try compare(arena.allocator(), dir, record)).?.stale.list.items;
        try testing.expectEqual(1, stale.len);
        try testing.expectEqualStrings(name, stale[0].file);
        try testing.expectEqualStrings("it changed since the set was captured", stale[0].what);
        try dir.writeFile(testing.io, .{ .sub_path = name, .data = "abc" });
    }
    try dir.deleteFile(testing.io, "kernels/copy.py");
    const gone = (try compare(arena.allocator(), dir, record)).?.stale.list.items;
    try testing.expectEqualStrings("the set was made from it, and it is not there (FileNotFound)", gone[0].what);
}

test "sources: a set that records none" {
    var arena: std.heap.ArenaAllocator = .init(testing.allocator);
    defer arena.deinit();
    var temporary = testing.tmpDir(.{});
    defer temporary.cleanup();
    for ([_][]const u8{ "{}", "[]", "{\"provenance\": 1}", "{\"provenance\": {\"profile\": {}}}", "{\"provenance\": {\"profile\": {\"a\": 1}, \"declarations\": {}, \"kernels\": {}}}" }) |text| {
        try testing.expectEqual(null, try compare(arena.allocator(), temporary.dir, text));
    }
}
