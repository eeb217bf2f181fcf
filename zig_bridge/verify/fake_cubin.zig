//! For tests: a small ELF in the form of a cubin.

const std = @import("std");
const elf = std.elf;

/// What the cubin says of itself.
pub const Options = struct {
    sm: u8 = 121,
    entry: []const u8 = "_k",
    /// Triton's two scratch pointers included. Each takes `parameter_bytes`.
    parameters: u32 = 3,
    parameter_bytes: u32 = 8,
    /// The ordinal of the first parameter.
    first_ordinal: u16 = 0,
    /// The attribute of three numbers that stands before them: 0x10 for the block, 0x3d for the cluster.
    attribute: u8 = 0x10,
    numbers: [3]u32 = .{ 128, 1, 1 },
    machine: u16 = 190,
};

/// Records as real ones are: one with its value inside, one of three numbers, then one for each parameter.
fn writeRecords(writer: *std.Io.Writer, options: Options) std.Io.Writer.Error!void {
    try writer.writeAll(&.{ 3, 0x1b, 0xff, 0, 4, options.attribute, 12, 0 });
    for (options.numbers) |number| try writer.writeInt(u32, number, .little);
    for (0..options.parameters) |index| {
        const ordinal: u16 = @intCast(index);
        try writer.writeAll(&.{ 4, 0x17, 12, 0, 0, 0, 0, 0 });
        try writer.writeInt(u16, ordinal + options.first_ordinal, .little);
        try writer.writeInt(u16, @intCast(ordinal * options.parameter_bytes), .little);
        try writer.writeInt(u32, options.parameter_bytes << 18 | 0x1f000, .little);
    }
}

/// The bytes of the cubin.
pub fn bytes(arena: std.mem.Allocator, options: Options) error{OutOfMemory}![]const u8 {
    const info_name = try std.fmt.allocPrint(arena, ".nv.info.{s}", .{options.entry});
    const names = try std.fmt.allocPrint(arena, "\x00{s}\x00{s}\x00", .{ info_name, options.entry });
    const symbols = try arena.alloc(u8, 2 * @sizeOf(elf.Elf64_Sym));
    @memset(symbols, 0);
    const symbol = symbols[@sizeOf(elf.Elf64_Sym)..];
    put(elf.Elf64_Sym, "st_name", symbol, @intCast(info_name.len + 2));
    put(elf.Elf64_Sym, "st_info", symbol, 0x12);
    put(elf.Elf64_Sym, "st_shndx", symbol, 3);
    var records: std.Io.Writer.Allocating = .init(arena);
    writeRecords(&records.writer, options) catch return error.OutOfMemory;
    const Section = struct { name: u32 = 0, type: u32 = 0, link: u32 = 0, content: []const u8 = "" };
    const sections = [_]Section{
        .{},
        .{ .type = 3, .content = names },
        .{ .type = 2, .link = 1, .content = symbols },
        .{ .name = 1, .type = 0x70000000, .content = records.written() },
    };
    var offset: usize = @sizeOf(elf.Elf64_Ehdr);
    for (sections) |section| offset += section.content.len;
    const result = try arena.alloc(u8, offset + sections.len * @sizeOf(elf.Elf64_Shdr));
    @memset(result, 0);
    const modern = options.sm >= 100;
    @memcpy(result[0..9], elf.MAGIC ++ .{ 2, 1, 1, 51, @as(u8, if (modern) 8 else 7) });
    put(elf.Elf64_Ehdr, "e_machine", result, options.machine);
    put(elf.Elf64_Ehdr, "e_flags", result, if (modern) @as(u32, options.sm) << 8 | 2 else @as(u32, options.sm) << 16 | 0x500 | options.sm);
    put(elf.Elf64_Ehdr, "e_shoff", result, offset);
    put(elf.Elf64_Ehdr, "e_shentsize", result, @sizeOf(elf.Elf64_Shdr));
    put(elf.Elf64_Ehdr, "e_shnum", result, sections.len);
    put(elf.Elf64_Ehdr, "e_shstrndx", result, 1);
    var at: usize = @sizeOf(elf.Elf64_Ehdr);
    for (sections, 0..) |section, index| {
        @memcpy(result[at..][0..section.content.len], section.content);
        const header = result[offset + index * @sizeOf(elf.Elf64_Shdr) ..];
        put(elf.Elf64_Shdr, "sh_name", header, section.name);
        put(elf.Elf64_Shdr, "sh_type", header, section.type);
        put(elf.Elf64_Shdr, "sh_link", header, section.link);
        put(elf.Elf64_Shdr, "sh_offset", header, at);
        put(elf.Elf64_Shdr, "sh_size", header, section.content.len);
        at += section.content.len;
    }
    return result;
}

fn put(comptime T: type, comptime name: []const u8, into: []u8, value: u64) void {
    const size = @sizeOf(@FieldType(T, name));
    std.mem.writeInt(@Int(.unsigned, 8 * size), into[@offsetOf(T, name)..][0..size], @intCast(value), .little);
}
