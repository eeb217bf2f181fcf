//! Tests of verifying a folder: a set that is whole, every way in which one is not, and what a path may mean.

const std = @import("std");
const fake_cubin = @import("fake_cubin.zig");
const set = @import("set");
const verify = @import("verify.zig");
const testing = std.testing;
const Dir = std.Io.Dir;

const aot_format =
    \\{{"target": "sm_{d}", "provenance": {{"line_info": false, "limits": {{"parallel": 2}}}}, "kernels": [{{"fn": "_k", "hash": "ab",
    \\ "name": "_k", "num_warps": 4, "shared": {d}, "sha256": "{s}", "consts": {{}},
    \\ "params": [{{"name": "X", "type": "{s}", "div16": true, "nospec": false}}]}}]}}
;

/// A folder with a set of one kernel, in which tests change things.
const Fixture = struct {
    arena: std.heap.ArenaAllocator = .init(testing.allocator),
    temporary: testing.TmpDir,

    fn init() !Fixture {
        return .{ .temporary = testing.tmpDir(.{ .iterate = true }) };
    }

    fn deinit(fixture: *Fixture) void {
        fixture.temporary.cleanup();
        fixture.arena.deinit();
    }

    const Options = struct { sm: u8 = 121, shared: u32 = 0, type: []const u8 = "*bf16", cubin: fake_cubin.Options = .{} };

    fn write(fixture: *Fixture, folder: []const u8, options: Options) !void {
        const arena = fixture.arena.allocator();
        const dir = fixture.temporary.dir;
        const cubin = try fake_cubin.bytes(arena, options.cubin);
        const cubins = try dir.createDirPathOpen(testing.io, try std.fs.path.join(arena, &.{ folder, "cubins" }), .{});
        defer cubins.close(testing.io);
        try cubins.writeFile(testing.io, .{ .sub_path = "ab.cubin", .data = cubin });
        const text = try std.fmt.allocPrint(arena, aot_format, .{ options.sm, options.shared, &set.sha256.of(cubin), options.type });
        try fixture.file(folder, "aot.json", text);
    }

    fn file(fixture: *Fixture, folder: []const u8, name: []const u8, text: []const u8) !void {
        const path = try std.fs.path.join(fixture.arena.allocator(), &.{ folder, name });
        try fixture.temporary.dir.writeFile(testing.io, .{ .sub_path = path, .data = text });
    }

    fn check(fixture: *Fixture, folder: []const u8, need: ?[]const u8) !verify.Report {
        const target = if (need) |name| verify.parseTarget(name).? else null;
        return verify.check(testing.io, fixture.arena.allocator(), fixture.temporary.dir, folder, target);
    }

    /// Wants one problem, of this file and with this text.
    fn want(fixture: *Fixture, need: ?[]const u8, path: []const u8, what: []const u8) !void {
        const report = try fixture.check("set", need);
        errdefer for (report.problems) |problem| std.debug.print("{s}: {s}\n", .{ problem.file, problem.what });
        try testing.expectEqual(1, report.problems.len);
        try testing.expectEqualStrings(path, report.problems[0].file);
        try testing.expectEqualStrings(what, report.problems[0].what);
    }
};

test "verify: a set that is whole" {
    var fixture: Fixture = try .init();
    defer fixture.deinit();
    try fixture.write("set", .{});
    for ([_]?[]const u8{ null, "sm_121" }) |need| {
        const report = try fixture.check("set", need);
        try testing.expectEqual(0, report.problems.len);
        try testing.expectEqual(121, report.target.?.sm);
        try testing.expectEqual(1, report.cubins);
        try testing.expectEqual(1, report.entries);
        try testing.expect(report.digest != null and !report.packaged);
    }
    try testing.expectError(error.NoFolder, fixture.check("absent", null));
}

test "verify: each kind of damage has a message of its own" {
    const cubin = "set/cubins/ab.cubin";
    const cases = [_]struct { options: Fixture.Options, path: []const u8, what: []const u8 }{
        .{ .options = .{ .cubin = .{ .sm = 90 } }, .path = "set/aot.json", .what = "`target` is sm_121, and its cubins are for sm_90" },
        .{ .options = .{ .cubin = .{ .entry = "_other" } }, .path = cubin, .what = "its cubin has no entry _k" },
        .{ .options = .{ .cubin = .{ .parameters = 4 } }, .path = cubin, .what = "the entry _k takes 4 parameters; engines pass 1 and 2 scratch pointers" },
        .{ .options = .{ .type = "i32" }, .path = cubin, .what = "the entry _k takes X as 8 bytes at 0; engines pass 4 bytes at 0" },
        .{ .options = .{ .type = "u1", .cubin = .{ .parameter_bytes = 1 } }, .path = cubin, .what = "the entry _k takes the global scratch pointer as 1 bytes at 1; engines pass 8 bytes at 8" },
        .{ .options = .{ .cubin = .{ .first_ordinal = 1 } }, .path = cubin, .what = "its cubin does not say where the entry _k takes X" },
        .{ .options = .{ .cubin = .{ .numbers = .{ 64, 2, 1 } } }, .path = cubin, .what = "the entry _k takes blocks of 64 x 2 x 1 threads; engines launch 128 x 1 x 1" },
        .{ .options = .{ .cubin = .{ .attribute = 0x3d, .numbers = .{ 2, 1, 1 } } }, .path = cubin, .what = "the entry _k takes clusters of 2 x 1 x 1 blocks; engines launch 1 x 1 x 1" },
        .{ .options = .{ .shared = 99 * 1024 + 1 }, .path = cubin, .what = "_k needs 101377 bytes of shared memory; sm_121 has 101376 a block" },
        .{ .options = .{ .cubin = .{ .machine = 62 } }, .path = cubin, .what = "its cubin is an ELF for another machine, not for CUDA" },
        .{ .options = .{ .sm = 42 }, .path = "set/aot.json", .what = "`target` is 'sm_42', which is no GPU that is known" },
    };
    var fixture: Fixture = try .init();
    defer fixture.deinit();
    for (cases) |case| {
        try fixture.write("set", case.options);
        try fixture.want(null, case.path, case.what);
    }
    // What follows a type that is not known is not compared.
    try fixture.write("set", .{ .type = "tensordesc", .cubin = .{ .parameter_bytes = 1 } });
    try testing.expectEqual(0, (try fixture.check("set", null)).problems.len);
    try fixture.write("set", .{});
    try fixture.want("sm_90", "set", "have sm121, need sm90");
    try fixture.file("set", "cubins/ab.cubin", "\x7fELF");
    try fixture.want(null, "set/cubins/ab.cubin", "its bytes are not those that aot.json records for _k");
    try fixture.temporary.dir.deleteFile(testing.io, "set/cubins/ab.cubin");
    try fixture.want(null, "set/cubins/ab.cubin", "it is missing; aot.json lists it for _k");
    try fixture.write("set", .{});
    try fixture.file("set", "cubins/cd.cubin", "");
    try fixture.want(null, "set/cubins/cd.cubin", "aot.json lists no such cubin");
    try fixture.temporary.dir.rename("set/cubins/cd.cubin", fixture.temporary.dir, "set/notes.txt", testing.io);
    try fixture.want(null, "set/notes.txt", "it is no part of a set");
    try fixture.temporary.dir.deleteFile(testing.io, "set/notes.txt");
    try fixture.temporary.dir.symLink(testing.io, "aot.json", "set/link.json", .{});
    try fixture.want(null, "set/link.json", "it is a symbolic link; a set holds files only");
    try fixture.temporary.dir.deleteFile(testing.io, "set/link.json");
    try fixture.file("set", "README.md", "");
    try fixture.want(null, "set/manifest.json", "it is missing; every packaged set has one");
    try fixture.temporary.dir.deleteFile(testing.io, "set/README.md");
    try fixture.file("set", "aot.json", "{\"kernels\": []}");
    try fixture.temporary.dir.deleteFile(testing.io, "set/cubins/ab.cubin");
    try fixture.want(null, "set/aot.json", "it lists no kernels, so no launch can be served");
    try fixture.file("set", "aot.json", "{");
    try fixture.want(null, "set/aot.json", "1:2: no valid JSON (UnexpectedEndOfInput)");
    try fixture.temporary.dir.deleteFile(testing.io, "set/aot.json");
    try fixture.want(null, "set", "there is no aot.json, so this is no set, or not all of it");
}

/// What packaging writes for the fixture's set, with one thing changed.
fn writeManifest(fixture: *Fixture, change: []const u8, to: []const u8) !void {
    const arena = fixture.arena.allocator();
    const dir = fixture.temporary.dir;
    var text: std.ArrayList(u8) = .empty;
    const digest = (try fixture.check("set", null)).digest.?;
    try text.print(arena, "{{\"app\": \"a\", \"target\": \"sm_121\", \"limits\": {{\"parallel\": 2}}, \"digest\": \"{s}\", \"files\": {{", .{&digest});
    for ([_][]const u8{ "aot.json", "cubins/ab.cubin" }, 0..) |name, index| {
        const bytes = try dir.readFileAlloc(testing.io, try std.fs.path.join(arena, &.{ "set", name }), arena, .limited(1 << 20));
        const comma = if (index == 0) "" else ", ";
        try text.print(arena, "{s}\"{s}\": {{\"sha256\": \"{s}\", \"bytes\": {d}}}", .{ comma, name, &set.sha256.of(bytes), bytes.len });
    }
    try text.appendSlice(arena, "}}");
    try testing.expect(change.len == 0 or std.mem.find(u8, text.items, change) != null);
    const changed = if (change.len == 0) text.items else try std.mem.replaceOwned(u8, arena, text.items, change, to);
    try fixture.file("set", "manifest.json", changed);
}

test "verify: a manifest that agrees, and each way in which one does not" {
    var fixture: Fixture = try .init();
    defer fixture.deinit();
    try fixture.write("set", .{});
    try writeManifest(&fixture, "", "");
    const report = try fixture.check("set", null);
    try testing.expectEqual(0, report.problems.len);
    try testing.expect(report.packaged);
    const hex = try std.fmt.allocPrint(fixture.arena.allocator(), "`digest` is {s}; the set's is {s}", .{ "z" ++ report.digest.?[1..], &report.digest.? });
    const cases = [_]struct { change: []const u8, to: []const u8, path: []const u8, what: []const u8 }{
        .{ .change = "\"sha256\": \"", .to = "\"sha256\": \"0", .path = "set/aot.json", .what = "its bytes are not those that manifest.json lists" },
        .{ .change = "\"parallel\": 2", .to = "\"parallel\": 3", .path = "set/manifest.json", .what = "`limits` is not that of the set" },
        .{ .change = "sm_121", .to = "sm_120", .path = "set/manifest.json", .what = "`target` is not that of the set" },
        .{ .change = "\"aot.json\"", .to = "\"../aot.json\"", .path = "set/manifest.json", .what = "it lists '../aot.json', which would leave the folder" },
        .{ .change = "\"files\": {", .to = "\"files\": {\"LICENSE\": {}, ", .path = "set/LICENSE", .what = "it is missing; manifest.json lists it" },
        .{ .change = "\"app\": \"a\"", .to = "\"app\": 1", .path = "set/manifest.json", .what = "it is no manifest: `app` is no text" },
        .{ .change = "\"files\"", .to = "\"file\"", .path = "set/manifest.json", .what = "it is no manifest: `files` is no object" },
        .{ .change = "{\"app", .to = "\"app", .path = "set/manifest.json", .what = "it is no manifest: no valid JSON (SyntaxError)" },
        .{ .change = &report.digest.?, .to = "z" ++ report.digest.?[1..], .path = "set/manifest.json", .what = hex },
    };
    for (cases) |case| {
        try writeManifest(&fixture, "", "");
        try writeManifest(&fixture, case.change, case.to);
        const found = try fixture.check("set", null);
        errdefer std.debug.print("{s} -> {s}: {s}\n", .{ case.change, case.to, if (found.problems.len > 0) found.problems[0].what else "nothing" });
        try testing.expect(found.problems.len >= 1);
        try testing.expectEqualStrings(case.path, found.problems[0].file);
        try testing.expectEqualStrings(case.what, found.problems[0].what);
    }
}

test "verify: what a path may mean" {
    var fixture: Fixture = try .init();
    defer fixture.deinit();
    const arena = fixture.arena.allocator();
    const dir = fixture.temporary.dir;
    for ([_][]const u8{ "p/share/app/cuda/sm90", "p/share/app/cuda/sm121", "p/share/app/cuda/notes" }) |folder| try fixture.write(folder, .{});
    const sm_121 = verify.parseTarget("sm_121").?;
    const all = try verify.find(testing.io, arena, dir, "p", null, false);
    try testing.expectEqual(2, all.folders.len);
    for ([_][]const u8{ "p", "p/share/app/cuda", "p/share/app/cuda/sm121", "p/share/app/cuda/sm121/aot.json" }) |path| {
        const found = try verify.find(testing.io, arena, dir, path, sm_121, false);
        try testing.expectEqualStrings("p/share/app/cuda/sm121", found.folders[0]);
        try testing.expectEqual(1, found.folders.len);
    }
    const strict = try verify.find(testing.io, arena, dir, "p", sm_121, true);
    try testing.expectEqualStrings("p", strict.folders[0]);
    const file = try verify.find(testing.io, arena, dir, "p/share/app/cuda/sm121/aot.json", null, true);
    try testing.expectEqualStrings("it is no folder", file.absent);
    const other = try verify.find(testing.io, arena, dir, "p", verify.parseTarget("sm_80"), false);
    try testing.expectEqualStrings("have sm121, sm90, need sm80", other.other_targets);
    try testing.expectEqualStrings("FileNotFound", (try verify.find(testing.io, arena, dir, "q", null, false)).absent);
    try testing.expectEqualStrings("p/share", (try verify.find(testing.io, arena, dir, "p/share", null, false)).folders[0]);
}
