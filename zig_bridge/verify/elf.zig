//! Reads a cubin, which is a CUDA ELF. No byte of it is trusted: whatever the file holds, reading it ends, and ends in
//! facts or in an error. The layout of the structures is `std.elf`'s; what CUDA adds was seen in cubins for sm_80 to sm_121.

const std = @import("std");
const elf = std.elf;

/// Why a file is no cubin.
pub const Error = error{
    /// It does not begin as an ELF does.
    NotElf,
    /// It is an ELF for another machine, a CPU's.
    NotCuda,
    /// It is cut short, or what it says of itself does not fit together.
    Damaged,
};

/// CUDA's machine number.
const cuda_machine = 190;

/// EI_ABIVERSION from which e_flags hold the SM in bits 8 to 15; before, it is in the low byte.
const blackwell_abi = 8;

/// From sm_90 on the system keeps 1 KiB of each block's shared memory, which cubins count as theirs.
const reserved_shared = 1024;
const first_sm_with_reserved_shared = 90;

/// The section that says how functions are launched; that of one function has its name behind.
const info_name = ".nv.info";

/// A cubin whose structure was found sound.
pub const Cubin = struct {
    bytes: []const u8,
    sections: []const u8,
    names: []const u8,

    /// Checks the header, and that each section lies within the file.
    pub fn init(bytes: []const u8) Error!Cubin {
        if (!std.mem.startsWith(u8, bytes, elf.MAGIC)) return error.NotElf;
        if (bytes.len < @sizeOf(elf.Elf64_Ehdr)) return error.Damaged;
        if (bytes[elf.EI.CLASS] != elf.ELFCLASS64 or bytes[elf.EI.DATA] != elf.ELFDATA2LSB) return error.NotCuda;
        if (field(elf.Elf64_Ehdr, "e_machine", bytes) != cuda_machine) return error.NotCuda;
        if (field(elf.Elf64_Ehdr, "e_shentsize", bytes) != @sizeOf(elf.Elf64_Shdr)) return error.Damaged;
        const programs = field(elf.Elf64_Ehdr, "e_phnum", bytes) * field(elf.Elf64_Ehdr, "e_phentsize", bytes);
        _ = try part(bytes, field(elf.Elf64_Ehdr, "e_phoff", bytes), programs);
        const sections = field(elf.Elf64_Ehdr, "e_shnum", bytes);
        if (sections == 0) return error.Damaged;
        var cubin: Cubin = .{
            .bytes = bytes,
            .sections = try part(bytes, field(elf.Elf64_Ehdr, "e_shoff", bytes), sections * @sizeOf(elf.Elf64_Shdr)),
            .names = &.{},
        };
        for (0..cubin.count()) |index| _ = try cubin.content(index);
        const names = field(elf.Elf64_Ehdr, "e_shstrndx", bytes);
        if (names >= sections) return error.Damaged;
        cubin.names = try cubin.content(@intCast(names));
        for (0..cubin.count()) |index| {
            const name = try string(cubin.names, cubin.section("sh_name", index));
            if (std.mem.startsWith(u8, name, info_name)) try (Info{ .records = try cubin.content(index) }).check();
        }
        return cubin;
    }

    /// The SM that the cubin is for, as 10 * major + minor. The flags' other bits change with line info and are left out.
    pub fn sm(cubin: Cubin) u32 {
        const flags = field(elf.Elf64_Ehdr, "e_flags", cubin.bytes);
        const modern = cubin.bytes[elf.EI.ABIVERSION] >= blackwell_abi;
        return @intCast((if (modern) flags >> 8 else flags) & 0xff);
    }

    /// Whether the cubin defines the function `name`. All of every symbol table is read: damage behind the name is damage.
    pub fn defines(cubin: Cubin, name: []const u8) Error!bool {
        var found = false;
        for (0..cubin.count()) |index| {
            if (cubin.section("sh_type", index) != elf.SHT_SYMTAB) continue;
            const strings = cubin.section("sh_link", index);
            if (strings >= cubin.count()) return error.Damaged;
            if (try definesIn(try cubin.content(index), try cubin.content(@intCast(strings)), name)) found = true;
        }
        return found;
    }

    /// How the entry `name` is launched; null where the cubin does not say.
    pub fn info(cubin: Cubin, name: []const u8) Error!?Info {
        const index = try cubin.sectionOf(info_name ++ ".", name) orelse return null;
        return .{ .records = try cubin.content(index) };
    }

    /// The static shared memory of the function `name`, in bytes; what a launch asks for comes on top.
    pub fn staticShared(cubin: Cubin, name: []const u8) Error!u64 {
        const index = try cubin.sectionOf(".nv.shared.", name) orelse return 0;
        const reserved: u64 = if (cubin.sm() >= first_sm_with_reserved_shared) reserved_shared else 0;
        return cubin.section("sh_size", index) -| reserved;
    }

    /// Whether the cubin holds line tables, which name files of the machine that compiled it.
    pub fn hasLineTables(cubin: Cubin) Error!bool {
        for (0..cubin.count()) |index| {
            const name = try string(cubin.names, cubin.section("sh_name", index));
            if (std.mem.eql(u8, name, ".debug_line")) return true;
        }
        return false;
    }

    /// The section of a function.
    fn sectionOf(cubin: Cubin, comptime prefix: []const u8, name: []const u8) Error!?usize {
        for (0..cubin.count()) |index| {
            const found = try string(cubin.names, cubin.section("sh_name", index));
            if (std.mem.startsWith(u8, found, prefix) and std.mem.eql(u8, found[prefix.len..], name)) return index;
        }
        return null;
    }

    fn count(cubin: Cubin) usize {
        return cubin.sections.len / @sizeOf(elf.Elf64_Shdr);
    }

    fn section(cubin: Cubin, comptime name: []const u8, index: usize) u64 {
        return field(elf.Elf64_Shdr, name, cubin.sections[index * @sizeOf(elf.Elf64_Shdr) ..]);
    }

    /// A section's bytes in the file; none for one that only takes room on the GPU.
    fn content(cubin: Cubin, index: usize) Error![]const u8 {
        switch (cubin.section("sh_type", index)) {
            elf.SHT_NULL, elf.SHT_NOBITS => return &.{},
            else => return part(cubin.bytes, cubin.section("sh_offset", index), cubin.section("sh_size", index)),
        }
    }
};

/// A parameter of an entry, as the driver copies it.
pub const EntryParameter = struct {
    /// In bytes, among the entry's parameters.
    offset: u32,
    bytes: u32,
};

/// What `.nv.info.<entry>` says: a list of records, each a format, an attribute, and two bytes that are the value or, in the
/// format of sized values, the length of the value that follows.
pub const Info = struct {
    records: []const u8,

    /// Finds the records sound.
    fn check(info: Info) Error!void {
        if (try info.parameterCount() > parameters_max) return error.Damaged;
    }

    /// How many parameters the entry takes, Triton's scratch pointers included.
    pub fn parameterCount(info: Info) Error!u32 {
        var found: u32 = 0;
        var records: Records = .{ .rest = info.records };
        while (try records.next()) |record| found += @intFromBool(record.attribute == .parameter);
        return found;
    }

    /// Puts each parameter to its ordinal's place. Where there is none of an ordinal, or no place for one, null stays.
    pub fn writeParameters(info: Info, places: []?EntryParameter) Error!void {
        @memset(places, null);
        var records: Records = .{ .rest = info.records };
        while (try records.next()) |record| {
            if (record.attribute != .parameter) continue;
            const ordinal = std.mem.readInt(u16, record.value[4..6], .little);
            if (ordinal >= places.len) continue;
            places[ordinal] = .{
                .offset = std.mem.readInt(u16, record.value[6..8], .little),
                .bytes = std.mem.readInt(u32, record.value[8..12], .little) >> bytes_shift,
            };
        }
    }

    /// The only block, in threads, or cluster, in blocks, that the entry can be launched with; null where the cubin does not say.
    pub fn dimensions(info: Info, wanted: Attribute) Error!?[3]u32 {
        std.debug.assert(wanted == .block or wanted == .cluster);
        var found: ?[3]u32 = null;
        var records: Records = .{ .rest = info.records };
        while (try records.next()) |record| {
            if (record.attribute != wanted) continue;
            var numbers: [3]u32 = undefined;
            for (&numbers, 0..) |*number, index| number.* = std.mem.readInt(u32, record.value[4 * index ..][0..4], .little);
            found = numbers;
        }
        return found;
    }

    /// The bits of a parameter's last word below those that count its bytes.
    const bytes_shift = 18;
    /// CUDA gives a kernel no more bytes of parameters.
    const parameters_max = 32764;
};

/// What is read of an entry's records.
pub const Attribute = enum(u8) { block = 0x10, local = 0x11, parameter = 0x17, registers = 0x2f, cluster = 0x3d, _ };

const Records = struct {
    rest: []const u8,

    const Record = struct { attribute: Attribute, value: []const u8 };
    const formats = .{ .none = 1, .byte = 2, .half = 3, .sized = 4 };
    const head = 4;

    fn next(records: *Records) Error!?Record {
        const rest = records.rest;
        if (rest.len == 0) return null;
        if (rest.len < head) return error.Damaged;
        const format, const code = rest[0..2].*;
        if (format < formats.none or format > formats.sized) return error.Damaged;
        const length: usize = if (format == formats.sized) std.mem.readInt(u16, rest[2..4], .little) else 0;
        if (rest.len - head < length) return error.Damaged;
        const attribute: Attribute = @enumFromInt(code);
        switch (attribute) {
            // Numbers of four bytes.
            .block, .parameter, .cluster => if (length != 12) return error.Damaged,
            .local, .registers => if (length != 8) return error.Damaged,
            _ => {},
        }
        records.rest = rest[head + length ..];
        return .{ .attribute = attribute, .value = rest[head..][0..length] };
    }
};

fn definesIn(table: []const u8, strings: []const u8, name: []const u8) Error!bool {
    const bytes = @sizeOf(elf.Elf64_Sym);
    if (table.len % bytes != 0) return error.Damaged;
    var found = false;
    var rest = table;
    while (rest.len > 0) : (rest = rest[bytes..]) {
        if (field(elf.Elf64_Sym, "st_info", rest) & 0xf != elf.STT_FUNC) continue;
        if (field(elf.Elf64_Sym, "st_shndx", rest) == elf.SHN_UNDEF) continue;
        if (std.mem.eql(u8, try string(strings, field(elf.Elf64_Sym, "st_name", rest)), name)) found = true;
    }
    return found;
}

/// A field of the structure `T` that `bytes` begin with. Cubins are little-endian wherever they are read.
fn field(comptime T: type, comptime name: []const u8, bytes: []const u8) u64 {
    const size = @sizeOf(@FieldType(T, name));
    return std.mem.readInt(@Int(.unsigned, 8 * size), bytes[@offsetOf(T, name)..][0..size], .little);
}

fn part(bytes: []const u8, offset: u64, size: u64) Error![]const u8 {
    if (offset > bytes.len or size > bytes.len - offset) return error.Damaged;
    return bytes[@intCast(offset)..][0..@intCast(size)];
}

fn string(strings: []const u8, offset: u64) Error![]const u8 {
    if (offset >= strings.len) return error.Damaged;
    const rest = strings[@intCast(offset)..];
    return rest[0 .. std.mem.findScalar(u8, rest, 0) orelse return error.Damaged];
}

test {
    _ = @import("elf_test.zig");
}
