//! For tests: a small ELF in the form of a cubin.

const std = @import("std");
const elf = std.elf;

/// What the cubin says of itself.
pub const Options = struct {
    sm: u8 = 121,
    entry: []const u8,
    /// Triton's two scratch pointers included.
    parameters: u32,
    machine: u16 = 190,
};

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
    const records = try arena.alloc(u8, 4 + 16 * options.parameters);
    // A record with its value inside, as real ones have, then one for each parameter.
    records[0..4].* = .{ 3, 0x1b, 0xff, 0 };
    @memset(records[4..], 0);
    for (0..options.parameters) |index| records[4 + 16 * index ..][0..4].* = .{ 4, 0x17, 12, 0 };
    const Section = struct { name: u32 = 0, type: u32 = 0, link: u32 = 0, content: []const u8 = "" };
    const sections = [_]Section{
        .{},
        .{ .type = 3, .content = names },
        .{ .type = 2, .link = 1, .content = symbols },
        .{ .name = 1, .type = 0x70000000, .content = records },
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
