//! Follows names to what they stand for: through constants, sibling files and small functions.

const std = @import("std");
const Allocator = std.mem.Allocator;
const Ast = std.zig.Ast;
const Node = Ast.Node;
const imports = @import("imports.zig");
const limits = @import("limits.zig");
const scopes = @import("scopes.zig");
const Scopes = scopes.Scopes;

/// A node and the file that it is in.
pub const Place = struct { file: *const Scopes, node: Node.Index };

/// Follows names within one set of files.
pub const Resolver = struct {
    arena: Allocator,
    files: imports.Files,

    /// What a chain of constants and sibling files ends in: any expression, or a function's declaration. The place itself
    /// where it is not a name, or one that the files do not declare.
    pub fn follow(self: Resolver, place: Place) Allocator.Error!Place {
        var at = place;
        for (0..limits.alias_chain_max) |_| {
            at = try self.step(at) orelse return at;
        }
        return at;
    }

    fn step(self: Resolver, place: Place) Allocator.Error!?Place {
        const tree = &place.file.source.tree;
        switch (tree.nodeTag(place.node)) {
            .grouped_expression => return .{ .file = place.file, .node = tree.nodeData(place.node).node_and_token[0] },
            .identifier => {
                const token = tree.nodeMainToken(place.node);
                const declaration = place.file.lookup(tree.tokenSlice(token), token) orelse return null;
                return .{ .file = place.file, .node = declaration.node orelse return null };
            },
            .field_access => {
                const base, const token = tree.nodeData(place.node).node_and_token;
                const file = try self.namespace(.{ .file = place.file, .node = base }) orelse return null;
                const declaration = file.lookupRoot(tree.tokenSlice(token)) orelse return null;
                return .{ .file = file, .node = declaration.node orelse return null };
            },
            else => return null,
        }
    }

    /// The sibling file that an expression stands for: `@import("x.zig")` itself or a constant that holds it.
    pub fn namespace(self: Resolver, place: Place) Allocator.Error!?*const Scopes {
        var at = place;
        for (0..limits.alias_chain_max) |_| {
            if (try imports.importPath(self.arena, at.file.source, at.node)) |path| {
                return self.files.imported(self.arena, at.file.source, path);
            }
            const tree = &at.file.source.tree;
            if (tree.nodeTag(at.node) != .identifier) return null;
            at = try self.step(at) orelse return null;
        }
        return null;
    }

    /// The text of a string that is written there, or held by a constant that is.
    pub fn string(self: Resolver, place: Place) Allocator.Error!?[]const u8 {
        const end = try self.follow(place);
        return end.file.source.stringLiteral(self.arena, end.node);
    }
};
