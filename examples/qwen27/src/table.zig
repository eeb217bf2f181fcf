//! Rounds grouped by the variants that their launches take, and the table of each group.

const std = @import("std");
const build_capture = @import("build_capture");
const coverage = @import("coverage");
const set = @import("set");
const record = coverage.record;
const Writer = std.Io.Writer;

/// Characters of a hash that tell variants apart.
const hash_shown = 12;

/// Rounds that ask for the same specializations, launch by launch.
const Group = struct {
    /// The needs of each launch, by index.
    needs: []const usize,
    /// The first of the rounds.
    witness: record.Witness,
    /// How many rounds there are.
    rounds: u64,
};

/// Groups in the order of their first rounds. All memory comes from the arena.
pub const Groups = struct {
    arena: std.mem.Allocator,
    list: std.ArrayList(Group) = .empty,
    by_needs: std.StringHashMapUnmanaged(usize) = .empty,

    /// Adds a round that launches these needs.
    pub fn add(groups: *Groups, needs: []const usize, round: build_capture.Round, layout: anytype) !void {
        if (groups.by_needs.get(std.mem.sliceAsBytes(needs))) |index| {
            groups.list.items[index].rounds += 1;
            return;
        }
        const kept = try groups.arena.dupe(usize, needs);
        try groups.by_needs.put(groups.arena, std.mem.sliceAsBytes(kept), groups.list.items.len);
        try groups.list.append(groups.arena, .{
            .needs = kept,
            .witness = .{
                .kind = coverage.drive.kindOf(round),
                .windows = try groups.arena.dupe(u32, round.windows),
                .layout = try coverage.drive.describe(groups.arena, layout),
            },
            .rounds = 1,
        });
    }

    /// Prints a table for each group and returns how many needs have no variant.
    pub fn write(groups: *const Groups, captured: *const set.Set, needs: []const record.Need, writer: *Writer) !usize {
        const variants = try groups.arena.alloc(?*const set.Variant, needs.len);
        var missing: usize = 0;
        for (needs, variants) |need, *variant| {
            variant.* = set.match.exact(captured, .{ .function = need.function, .arguments = need.arguments, .constexprs = need.constexprs });
            if (variant.* == null) missing += 1;
        }
        for (groups.list.items) |group| {
            try coverage.drive.writeRound(writer, group.witness);
            if (group.rounds > 1) try writer.print(", and {d} more like it", .{group.rounds - 1});
            try writer.writeByte('\n');
            try writer.print("  {s:<14} {s:<6} {s:<12} {s:>5}  {s}\n", .{ "launch", "W", "variant", "warps", "unaligned" });
            for (group.needs) |index| try writeLaunch(needs[index], variants[index], writer);
            try writer.writeByte('\n');
        }
        return missing;
    }
};

fn writeLaunch(need: record.Need, variant: ?*const set.Variant, writer: *Writer) Writer.Error!void {
    try writer.print("  {s:<14} {s:<6} ", .{ need.function, classOfRows(need) });
    if (variant) |taken| {
        try writer.print("{s:<12} {d:>5} ", .{ taken.hash[0..@min(hash_shown, taken.hash.len)], taken.num_warps });
    } else {
        try writer.print("{s:<12} {s:>5} ", .{ "MISSING", "-" });
    }
    var any = false;
    for (need.arguments) |argument| {
        if (set.class.ofValue(argument.value) != .unaligned) continue;
        try writer.print(" {s}", .{argument.name});
        any = true;
    }
    try writer.writeAll(if (any) "\n" else " -\n");
}

/// The class of the launch's W; a dash where it has none.
fn classOfRows(need: record.Need) []const u8 {
    for (need.arguments) |argument| {
        if (!std.mem.eql(u8, argument.name, "W") or argument.value != .i32) continue;
        return @tagName(set.class.ofInt(argument.value.i32));
    }
    return "-";
}
