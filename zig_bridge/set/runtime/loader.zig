//! The files of a set: `aot.json` when it is opened, cubins when they are needed.

const std = @import("std");
const set = @import("set");
const Log = @import("log.zig").Log;

/// Engines refuse a larger cubin.
const cubin_bytes_max = 64 << 20;

pub const Hex = set.sha256.Hex;

/// How the files of a set fail. What is wrong with them goes to the log.
pub const Error = error{
    /// `aot.json` cannot be read.
    SetUnreadable,
    /// `aot.json` is no set that can be trusted.
    InvalidSet,
    /// A cubin cannot be read.
    CubinUnreadable,
    /// A cubin is not the one that `aot.json` records.
    CubinChanged,
    OutOfMemory,
};

/// The folder of a set.
pub const Folder = struct {
    io: std.Io,
    log: Log,
    path: []const u8,

    /// A set that was read, and the hash of its `aot.json`.
    pub const Read = struct { captured: set.Set, hash: Hex };

    /// Reads `aot.json`. The set lives in the arena.
    pub fn read(folder: Folder, arena: std.mem.Allocator) Error!Read {
        const path = try std.fs.path.join(arena, &.{ folder.path, "aot.json" });
        const text = std.Io.Dir.cwd().readFileAlloc(folder.io, path, arena, .limited(set.bytes_max + 1)) catch |failure| {
            if (failure == error.OutOfMemory) return error.OutOfMemory;
            folder.log.print(.err, "{s}: cannot be read ({t}); expected the folder of a captured set", .{ path, failure });
            return error.SetUnreadable;
        };
        var diagnostic: set.Diagnostic = .{};
        const captured = set.parse(arena, text, &diagnostic) catch |failure| {
            if (failure == error.InvalidSet) folder.log.print(.err, "{s}: {s}", .{ path, diagnostic.message });
            return failure;
        };
        return .{ .captured = captured, .hash = set.sha256.of(text) };
    }

    /// The bytes of a variant's cubin, compared with the hash that the set records. The caller frees them.
    pub fn cubin(folder: Folder, allocator: std.mem.Allocator, captured: *const set.Set, variant: *const set.Variant) Error![]const u8 {
        // The parser takes no name that leaves the folder.
        const path = try std.fmt.allocPrint(allocator, "{s}/{s}/{s}.{s}", .{ folder.path, captured.bin_dir, variant.hash, captured.bin_ext });
        defer allocator.free(path);
        const bytes = std.Io.Dir.cwd().readFileAlloc(folder.io, path, allocator, .limited(cubin_bytes_max + 1)) catch |failure| {
            if (failure == error.OutOfMemory) return error.OutOfMemory;
            folder.log.print(.err, "{s}: cannot be read ({t}); the set is no whole: copy or install it anew", .{ path, failure });
            return error.CubinUnreadable;
        };
        errdefer allocator.free(bytes);
        // The driver is not told how long an image is.
        if (!isWholeElf(bytes)) {
            folder.log.print(.err, "{s}: it is no whole ELF file: copy or install the set anew", .{path});
            return error.CubinChanged;
        }
        if (variant.sha256) |recorded| {
            const found = set.sha256.of(bytes);
            if (!std.ascii.eqlIgnoreCase(recorded, &found)) {
                folder.log.print(.err, "{s}: its SHA-256 is {s}; aot.json records {s}: copy or install the set anew", .{ path, &found, recorded });
                return error.CubinChanged;
            }
        }
        return bytes;
    }
};

/// Whether the bytes begin as ELF files of 64 bits do, and go on to the end of their sections, which are what such a file
/// ends with. What is in between matters only where the set records no hash.
fn isWholeElf(bytes: []const u8) bool {
    if (bytes.len < header_bytes or !std.mem.startsWith(u8, bytes, std.elf.MAGIC)) return false;
    const start = std.mem.readInt(u64, bytes[0x28..0x30], .little);
    const size: u64 = std.mem.readInt(u16, bytes[0x3a..0x3c], .little);
    const count = std.mem.readInt(u16, bytes[0x3c..0x3e], .little);
    return start <= bytes.len and size * count <= bytes.len - start;
}

/// The header of an ELF file of 64 bits.
const header_bytes = 64;

/// The digest of a set: of the lines that `sha256sum` prints for `aot.json` and every cubin, sorted by name. It is known
/// from what `aot.json` records, as every cubin is compared with that when it is loaded; null where it records no hashes.
pub fn digestOf(arena: std.mem.Allocator, read: *const Folder.Read) error{OutOfMemory}!?Hex {
    const captured = &read.captured;
    var cubins: std.StringArrayHashMapUnmanaged([]const u8) = .empty;
    for (captured.variants) |*variant| try cubins.put(arena, variant.hash, variant.sha256 orelse return null);
    const Names = struct {
        hashes: []const []const u8,

        pub fn lessThan(names: @This(), left: usize, right: usize) bool {
            return std.mem.lessThan(u8, names.hashes[left], names.hashes[right]);
        }
    };
    cubins.sort(Names{ .hashes = cubins.keys() });
    var text: std.ArrayList(u8) = .empty;
    // `aot.json` sorts before `cubins/`, which is what the folder of every sealed set is called.
    try text.print(arena, "{s}  aot.json\n", .{&read.hash});
    for (cubins.keys(), cubins.values()) |hash, recorded| {
        try text.print(arena, "{s}  {s}/{s}.{s}\n", .{ recorded, captured.bin_dir, hash, captured.bin_ext });
    }
    return set.sha256.of(text.items);
}

test "loader: an ELF file that ends too early is not given to the driver" {
    var bytes: [header_bytes + 128]u8 = @splat(0);
    @memcpy(bytes[0..4], std.elf.MAGIC);
    std.mem.writeInt(u64, bytes[0x28..0x30], header_bytes, .little);
    std.mem.writeInt(u16, bytes[0x3a..0x3c], 64, .little);
    std.mem.writeInt(u16, bytes[0x3c..0x3e], 2, .little);
    try std.testing.expect(isWholeElf(&bytes));
    try std.testing.expect(!isWholeElf(bytes[0 .. bytes.len - 1]));
    try std.testing.expect(!isWholeElf(bytes[0 .. header_bytes - 1]));
    std.mem.writeInt(u64, bytes[0x28..0x30], std.math.maxInt(u64), .little);
    try std.testing.expect(!isWholeElf(&bytes));
    try std.testing.expect(!isWholeElf("// PTX"));
}
