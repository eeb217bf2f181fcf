//! What differs between the Zig releases that compile this program, 0.16 and 0.17, in one place.

const std = @import("std");
const Allocator = std.mem.Allocator;
const Ast = std.zig.Ast;
const Zoir = std.zig.Zoir;

/// Zig 0.17 takes the mode inside an options struct.
const parse_takes_options = @hasDecl(Ast, "ParseOptions");

/// Parses Zig or ZON text; syntax errors are in the result.
pub fn parse(arena: Allocator, source: [:0]const u8, mode: Ast.Mode) Allocator.Error!Ast {
    if (parse_takes_options) return Ast.parse(arena, source, .{ .mode = mode });
    return Ast.parse(arena, source, mode);
}

/// Zig 0.17's ZON intermediate representation is passed by pointer, 0.16's by value.
fn zoirArgument(zoir: *const Zoir) if (parse_takes_options) *const Zoir else Zoir {
    return if (parse_takes_options) zoir else zoir.*;
}

/// The ZON node at `index`.
pub fn zonNode(zoir: *const Zoir, index: Zoir.Node.Index) Zoir.Node {
    return index.get(zoirArgument(zoir));
}

/// The syntax node that the ZON node at `index` comes from.
pub fn zonAstNode(zoir: *const Zoir, index: Zoir.Node.Index) Ast.Node.Index {
    return index.getAstNode(zoirArgument(zoir));
}

/// A string of the ZON representation: a name or a message.
pub fn zonString(zoir: *const Zoir, string: Zoir.NullTerminatedString) []const u8 {
    return string.get(zoirArgument(zoir));
}

/// The notes of a ZON error.
pub fn zonNotes(zoir: *const Zoir, failure: Zoir.CompileError) []const Zoir.CompileError.Note {
    return failure.getNotes(zoirArgument(zoir));
}
