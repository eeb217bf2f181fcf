//! One file that was read: its text, its syntax tree and its places.

const std = @import("std");
const Allocator = std.mem.Allocator;
const Ast = std.zig.Ast;
const compat = @import("compat.zig");
const Diagnostics = @import("diagnostics.zig").Diagnostics;
const Position = @import("diagnostics.zig").Position;
const limits = @import("limits.zig");
const nesting = @import("nesting.zig");

/// Why a file cannot be used; the reason is among the diagnostics.
pub const Error = Allocator.Error || error{Reported};

/// One parsed file.
pub const Source = struct {
    /// Relative to the folder of the file named on the command line, with `/`.
    path: []const u8,
    /// The path in diagnostics: as the user gave it.
    shown: []const u8,
    tree: Ast,
    /// The byte at which each line starts.
    line_starts: []const u32,

    /// The place of a byte.
    pub fn position(self: *const Source, byte: usize) Position {
        var low: usize = 0;
        var high: usize = self.line_starts.len;
        while (high - low > 1) {
            const middle = low + (high - low) / 2;
            if (self.line_starts[middle] <= byte) low = middle else high = middle;
        }
        return .{ .line = @intCast(low + 1), .column = @intCast(byte - self.line_starts[low] + 1) };
    }

    /// The place of a token.
    pub fn tokenPosition(self: *const Source, token: Ast.TokenIndex) Position {
        return self.position(self.tree.tokenStart(token));
    }

    /// The place at which a node starts.
    pub fn nodePosition(self: *const Source, node: Ast.Node.Index) Position {
        return self.tokenPosition(self.tree.firstToken(node));
    }

    /// The text of a node on one line.
    pub fn nodeText(self: *const Source, arena: Allocator, node: Ast.Node.Index) Allocator.Error![]const u8 {
        return self.tokensText(arena, self.tree.firstToken(node), self.tree.lastToken(node));
    }

    /// The text from `first` to `last`, both included, as it reads on one line: comments and trailing commas left out,
    /// every gap one space. Only the lines of a multi-line string stay lines.
    pub fn tokensText(self: *const Source, arena: Allocator, first: Ast.TokenIndex, last: Ast.TokenIndex) Allocator.Error![]const u8 {
        var text: std.ArrayList(u8) = .empty;
        var token = first;
        while (token <= last) : (token += 1) {
            const slice = self.tree.tokenSlice(token);
            if (token < last and self.tree.tokenTag(token) == .comma and isClosing(self.tree.tokenTag(token + 1))) {
                if (self.tree.tokenTag(token + 1) == .r_brace) try text.append(arena, ' ');
                continue;
            }
            try text.appendSlice(arena, slice);
            if (token == last) break;
            if (self.tree.tokenTag(token) == .multiline_string_literal_line) {
                if (!std.mem.endsWith(u8, slice, "\n")) try text.append(arena, '\n');
                continue;
            }
            const is_tight = isTightAfter(self.tree.tokenTag(token)) or isTightBefore(self.tree.tokenTag(token + 1));
            const has_gap = self.tree.tokenStart(token) + slice.len < self.tree.tokenStart(token + 1);
            if (has_gap and !is_tight) try text.append(arena, ' ');
        }
        return text.items;
    }

    /// The value of a string literal; null for anything else and for a string that is not UTF-8.
    pub fn stringLiteral(self: *const Source, arena: Allocator, node: Ast.Node.Index) Allocator.Error!?[]const u8 {
        if (self.tree.nodeTag(node) != .string_literal) return null;
        const text = std.zig.string_literal.parseAlloc(arena, self.tree.tokenSlice(self.tree.nodeMainToken(node))) catch |failure| switch (failure) {
            error.OutOfMemory => return error.OutOfMemory,
            error.InvalidLiteral => return null,
        };
        return if (std.unicode.utf8ValidateSlice(text)) text else null;
    }
};

fn isClosing(tag: std.zig.Token.Tag) bool {
    return tag == .r_paren or tag == .r_brace or tag == .r_bracket;
}

/// Whether nothing stands between a token and the next one.
fn isTightAfter(tag: std.zig.Token.Tag) bool {
    return tag == .l_paren or tag == .l_bracket;
}

/// Whether nothing stands between a token and the one before it.
fn isTightBefore(tag: std.zig.Token.Tag) bool {
    return tag == .r_paren or tag == .r_bracket;
}

/// What to parse and how it is called.
pub const Options = struct {
    path: []const u8,
    shown: []const u8,
    mode: Ast.Mode,
    bounds: nesting.Bounds,
};

/// Reads at most the bytes that `limits` allow.
pub fn readBytes(io: std.Io, arena: Allocator, shown: []const u8) anyerror![]const u8 {
    return std.Io.Dir.cwd().readFileAlloc(io, shown, arena, .limited(limits.file_bytes_max + 1));
}

/// Why a file cannot be read, in words.
pub fn whyUnreadable(arena: Allocator, failure: anyerror) Allocator.Error![]const u8 {
    return switch (failure) {
        error.FileNotFound, error.NotDir => "there is no such file",
        error.IsDir => "it is a folder",
        error.AccessDenied, error.PermissionDenied => "reading it is not allowed",
        error.StreamTooLong => std.fmt.allocPrint(arena, "it has more than {d} bytes", .{limits.file_bytes_max}),
        else => std.fmt.allocPrint(arena, "reading it failed ({t})", .{failure}),
    };
}

/// Parses `bytes`; whatever is wrong with them is added to `diagnostics`.
pub fn parse(arena: Allocator, bytes: []const u8, options: Options, diagnostics: *Diagnostics) Error!Source {
    const text = try arena.allocSentinel(u8, bytes.len, 0);
    @memcpy(text, bytes);
    var source: Source = .{
        .path = options.path,
        .shown = options.shown,
        .tree = undefined,
        .line_starts = try lineStarts(arena, text),
    };
    if (invalidUtf8(text)) |byte| {
        try diagnostics.add(source.shown, source.position(byte), "the file is not UTF-8; expected text; try saving it as UTF-8", .{});
        return error.Reported;
    }
    if (nesting.excess(text, options.bounds)) |found| {
        try diagnostics.add(source.shown, source.position(found.byte), "nested too deep; expected at most {d} levels; try splitting it", .{found.limit});
        return error.Reported;
    }
    source.tree = try compat.parse(arena, text, options.mode);
    if (source.tree.errors.len == 0) return source;
    try reportSyntaxError(arena, &source, diagnostics);
    return error.Reported;
}

fn lineStarts(arena: Allocator, text: []const u8) Allocator.Error![]const u32 {
    var starts: std.ArrayList(u32) = .empty;
    try starts.append(arena, 0);
    for (text, 0..) |byte, index| {
        if (byte == '\n') try starts.append(arena, @intCast(index + 1));
    }
    return starts.items;
}

fn invalidUtf8(text: []const u8) ?usize {
    var index: usize = 0;
    while (index < text.len) {
        const length = std.unicode.utf8ByteSequenceLength(text[index]) catch return index;
        if (index + length > text.len) return index;
        _ = std.unicode.utf8Decode(text[index..][0..length]) catch return index;
        index += length;
    }
    return null;
}

/// Reports the first error with its notes: later ones follow from it more often than not, so Zig shows the first alone.
fn reportSyntaxError(arena: Allocator, source: *const Source, diagnostics: *Diagnostics) Error!void {
    const tree = &source.tree;
    const first = tree.errors[0];
    if (invalidByte(tree, first)) |found| {
        const byte = tree.tokenStart(found.token) + found.extra.offset;
        return diagnostics.add(source.shown, source.position(byte), "{s}", .{try message(arena, tree, found)});
    }
    const byte = tree.tokenStart(first.token) + tree.errorOffset(first);
    try diagnostics.add(source.shown, source.position(byte), "{s}", .{try message(arena, tree, first)});
    for (tree.errors[1..]) |following| {
        if (!following.is_note) break;
        try diagnostics.note(source.shown, source.tokenPosition(following.token), "{s}", .{try message(arena, tree, following)});
    }
}

/// A string, character or comment with a byte that Zig does not allow comes from the parser as whatever it expected
/// there; the compiler says which byte it is instead, and so does this.
fn invalidByte(tree: *const Ast, failure: Ast.Error) ?Ast.Error {
    const token = failure.token + @intFromBool(failure.token_is_prev);
    if (token >= tree.tokens.len or tree.tokenTag(token) != .invalid) return null;
    const start = tree.tokenStart(token);
    const text = tree.source[start..][0..tree.tokenSlice(token).len];
    const is_text = text.len > 0 and (text[0] == '"' or text[0] == '\'' or text[0] == '/' or std.mem.startsWith(u8, text, "\\\\"));
    if (!is_text) return null;
    for (text, 0..) |byte, offset| {
        if (byte != '\n' and (byte < 0x20 or byte == 0x7f)) return invalidByteAt(token, offset);
    }
    return invalidByteAt(token, text.len);
}

fn invalidByteAt(token: Ast.TokenIndex, offset: usize) Ast.Error {
    return .{ .tag = .invalid_byte, .token = token, .extra = .{ .offset = offset } };
}

fn message(arena: Allocator, tree: *const Ast, failure: Ast.Error) Allocator.Error![]const u8 {
    var writer: std.Io.Writer.Allocating = .init(arena);
    tree.renderError(failure, &writer.writer) catch return error.OutOfMemory;
    return writer.written();
}
