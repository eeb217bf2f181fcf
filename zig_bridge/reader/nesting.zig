//! Bounds how deep the recursive parser of the standard library can go, by looking at the tokens alone.

const std = @import("std");
const Tag = std.zig.Token.Tag;
const limits = @import("limits.zig");

/// Text that would nest too deep, and where.
pub const Excess = struct { byte: u32, limit: u32 };

/// What bounds a text.
pub const Bounds = struct {
    /// Open brackets.
    brackets_max: u32,
    /// Open brackets and prefixes together.
    total_max: u32,
};

/// For Zig text.
pub const zig_bounds: Bounds = .{ .brackets_max = limits.nesting_max, .total_max = limits.nesting_max };
/// For a profile.
pub const profile_bounds: Bounds = .{ .brackets_max = limits.profile_nesting_max, .total_max = limits.nesting_max };

/// The first token at which the text is nested deeper than `bounds` allow; null where it never is.
///
/// A bracket opens a level. A prefix (`!x`, `try x`, `if (a) x`, `else x`, `*T`) makes the parser recurse without one,
/// so prefixes count, too, until the statement or list item that they belong to ends.
pub fn excess(source: [:0]const u8, bounds: Bounds) ?Excess {
    var prefixes: [limits.nesting_max + 1]u32 = undefined;
    prefixes[0] = 0;
    var depth: u32 = 0;
    var total: u32 = 0;
    var closed_block = false;
    var tokenizer = std.zig.Tokenizer.init(source);
    while (true) {
        const token = tokenizer.next();
        if (token.tag == .eof) return null;
        if (endsItem(token.tag) or (closed_block and startsStatement(token.tag))) {
            total -= prefixes[depth];
            prefixes[depth] = 0;
        }
        closed_block = token.tag == .r_brace;
        if (opens(token.tag)) {
            depth += 1;
            total += 1;
            if (depth > bounds.brackets_max) return .{ .byte = @intCast(token.loc.start), .limit = bounds.brackets_max };
            prefixes[depth] = 0;
        } else if (closes(token.tag) and depth > 0) {
            total -= prefixes[depth] + 1;
            depth -= 1;
        }
        if (isPrefix(token.tag)) {
            prefixes[depth] += 1;
            total += 1;
        }
        if (total > bounds.total_max) return .{ .byte = @intCast(token.loc.start), .limit = bounds.total_max };
    }
}

fn opens(tag: Tag) bool {
    return tag == .l_paren or tag == .l_brace or tag == .l_bracket;
}

fn closes(tag: Tag) bool {
    return tag == .r_paren or tag == .r_brace or tag == .r_bracket;
}

fn endsItem(tag: Tag) bool {
    return tag == .semicolon or tag == .comma;
}

/// Whether a token right after a closing brace begins something new rather than carrying an expression on.
fn startsStatement(tag: Tag) bool {
    return switch (tag) {
        .identifier, .r_brace => true,
        .keyword_else, .keyword_orelse, .keyword_catch, .keyword_and, .keyword_or => false,
        else => std.mem.startsWith(u8, @tagName(tag), "keyword_"),
    };
}

/// Whether the parser may recurse at this token without a bracket.
fn isPrefix(tag: Tag) bool {
    return switch (tag) {
        // Binary forms of `-`, `*` and `&` count as well: a sum of a thousand terms is nobody's launch.
        .bang, .minus, .minus_percent, .tilde, .ampersand, .question_mark, .asterisk => true,
        // An array type recurses into its element type.
        .r_bracket, .colon, .equal, .equal_angle_bracket_right, .pipe => true,
        .identifier, .builtin => false,
        // 0.16 has a token for `**`, 0.17 has not; keywords recurse or are harmless.
        else => std.mem.startsWith(u8, @tagName(tag), "keyword_") or std.mem.eql(u8, @tagName(tag), "asterisk_asterisk"),
    };
}
