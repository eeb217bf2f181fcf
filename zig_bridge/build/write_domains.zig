//! `write_domains AOT_JSON OUTPUT` writes the Zig that a set carries for its coverage test to OUTPUT.

const std = @import("std");
const Dir = std.Io.Dir;

/// Engines refuse a larger `aot.json`.
const bytes_max = 16 << 20;

pub fn main(init: std.process.Init) u8 {
    const arena = init.arena.allocator();
    const arguments = init.minimal.args.toSlice(arena) catch return 1;
    std.debug.assert(arguments.len == 3);
    write(init.io, arena, arguments[1], arguments[2]) catch |failure| {
        const what = if (failure == error.NoDomains)
            "the set does not say how to drive the methods that no round does: another tool wrote it, or an older build-capture; " ++
                "expected `provenance.domains`; capture again"
        else
            @errorName(failure);
        std.debug.print("{s}: error: {s}\n", .{ arguments[1], what });
        return 1;
    };
    return 0;
}

fn write(io: std.Io, arena: std.mem.Allocator, from: []const u8, to: []const u8) !void {
    const text = try Dir.cwd().readFileAlloc(io, from, arena, .limited(bytes_max + 1));
    try Dir.cwd().writeFile(io, .{ .sub_path = to, .data = try domains(arena, text) });
}

fn domains(arena: std.mem.Allocator, text: []const u8) ![]const u8 {
    const Document = struct { provenance: struct { domains: ?[]const u8 = null } = .{} };
    const document = std.json.parseFromSliceLeaky(Document, arena, text, .{ .ignore_unknown_fields = true }) catch |failure| switch (failure) {
        error.OutOfMemory => return error.OutOfMemory,
        else => return error.NoDomains,
    };
    return document.provenance.domains orelse error.NoDomains;
}

test "write domains: the text that a set carries, and sets without one" {
    var arena: std.heap.ArenaAllocator = .init(std.testing.allocator);
    defer arena.deinit();
    const found = try domains(arena.allocator(), "{\"provenance\": {\"domains\": \"const a = 1;\\n\", \"mode\": \"compile\"}, \"kernels\": []}");
    try std.testing.expectEqualStrings("const a = 1;\n", found);
    for ([_][]const u8{ "", "{}", "[]", "{\"provenance\": {}}", "{\"provenance\": {\"domains\": 1}}", "{\"provenance\": []}" }) |text| {
        try std.testing.expectError(error.NoDomains, domains(arena.allocator(), text));
    }
}
