//! Which files a set consists of, for the programs that copy one.

const std = @import("std");
const set = @import("set");
const Dir = std.Io.Dir;

/// The file that lists a set's kernels.
pub const manifest = "aot.json";

/// The files of a set, by their names in its folder.
pub const Files = struct {
    /// Where the cubins are.
    bin_dir: []const u8,
    /// The end of a cubin's name, with its point.
    extension: []const u8,
    /// The cubins' names, each once, in the order of the entries.
    cubins: []const []const u8,
    /// What the set is for, `sm_121`; null where it does not say.
    target: ?[]const u8,

    /// Whether a cubin of the set has this name.
    pub fn has(files: Files, name: []const u8) bool {
        for (files.cubins) |other| if (std.mem.eql(u8, other, name)) return true;
        return false;
    }
};

/// Reads the `aot.json` in `folder`. `error.InvalidSet` leaves its message in `diagnostic`.
pub fn read(io: std.Io, arena: std.mem.Allocator, folder: Dir, diagnostic: *set.Diagnostic) !Files {
    const text = try folder.readFileAlloc(io, manifest, arena, .limited(set.bytes_max + 1));
    const captured = try set.parse(arena, text, diagnostic);
    var cubins: std.StringArrayHashMapUnmanaged(void) = .empty;
    for (captured.variants) |variant| {
        try cubins.put(arena, try std.fmt.allocPrint(arena, "{s}.{s}", .{ variant.hash, captured.bin_ext }), {});
    }
    return .{
        .bin_dir = captured.bin_dir,
        .extension = try std.fmt.allocPrint(arena, ".{s}", .{captured.bin_ext}),
        .cubins = cubins.keys(),
        .target = captured.target,
    };
}
