//! Where the names of a file are declared and what each token lies in.
//!
//! Every question is answered from token ranges rather than by walking the tree, so that a construct that a later Zig
//! adds does not need to be known here, and nothing recurses.

const std = @import("std");
const Allocator = std.mem.Allocator;
const Ast = std.zig.Ast;
const Node = Ast.Node;
const limits = @import("limits.zig");
const Source = @import("source.zig").Source;

/// A stretch of tokens that something spans.
pub const Range = struct {
    kind: Kind,
    node: Node.Index,
    /// The case of a switch that a branch is the body of.
    case: ?Node.Index = null,
    first: Ast.TokenIndex,
    last: Ast.TokenIndex,
    /// The smallest range around this one.
    parent: ?u32 = null,

    /// `branch` is a body that is not always or not once run: of an `if`, a loop or a switch's case. Its node is the
    /// whole statement.
    pub const Kind = enum { container, function, test_block, branch, block };
};

/// A name and what it stands for.
pub const Declaration = struct {
    token: Ast.TokenIndex,
    /// The function, or the value of a constant; null for a variable.
    node: ?Node.Index,
    /// The smallest range that the name is visible in; null for the whole file.
    scope: ?u32,
    kind: enum { constant, variable, function },
    next_of_name: ?u32,
};

/// The names and ranges of one file.
pub const Scopes = struct {
    source: *const Source,
    /// Outer before inner, then in text order.
    ranges: []const Range,
    /// The smallest range around each token.
    range_of_token: []const ?u32,
    declarations: []const Declaration,
    declaration_of_name: std.StringHashMapUnmanaged(u32),
    /// Every `return` with a value, in text order.
    returns: []const Node.Index,

    /// The smallest range of `kind` around a token.
    pub fn enclosing(self: *const Scopes, token: Ast.TokenIndex, kind: Range.Kind) ?Range {
        var index = self.range_of_token[token];
        while (index) |at| : (index = self.ranges[at].parent) {
            if (self.ranges[at].kind == kind) return self.ranges[at];
        }
        return null;
    }

    /// What `name` means at `token`: the innermost declaration that is visible there.
    pub fn lookup(self: *const Scopes, name: []const u8, token: Ast.TokenIndex) ?Declaration {
        var best: ?Declaration = null;
        var best_first: i64 = -2;
        var index = self.declaration_of_name.get(name);
        var seen: usize = 0;
        while (index) |at| : (index = self.declarations[at].next_of_name) {
            seen += 1;
            if (seen > limits.same_name_max) return null;
            const declaration = self.declarations[at];
            var first: i64 = -1;
            if (declaration.scope) |scope| {
                const range = self.ranges[scope];
                if (token < range.first or token > range.last) continue;
                first = range.first;
            }
            if (first > best_first) {
                best = declaration;
                best_first = first;
            }
        }
        return best;
    }

    /// What `name` means to another file that imports this one.
    pub fn lookupRoot(self: *const Scopes, name: []const u8) ?Declaration {
        var index = self.declaration_of_name.get(name);
        var seen: usize = 0;
        while (index) |at| : (index = self.declarations[at].next_of_name) {
            seen += 1;
            if (seen > limits.same_name_max) return null;
            if (self.declarations[at].scope == null) return self.declarations[at];
        }
        return null;
    }

    /// The `return`s with a value from the token `first` to `last`.
    pub fn returnsWithin(self: *const Scopes, first: Ast.TokenIndex, last: Ast.TokenIndex) []const Node.Index {
        const start = self.returnsBefore(first);
        return self.returns[start..@max(start, self.returnsBefore(last + 1))];
    }

    fn returnsBefore(self: *const Scopes, token: Ast.TokenIndex) usize {
        var low: usize = 0;
        var high: usize = self.returns.len;
        while (low < high) {
            const middle = low + (high - low) / 2;
            if (self.source.tree.nodeMainToken(self.returns[middle]) < token) low = middle + 1 else high = middle;
        }
        return low;
    }

    /// The name that a container is known by: of the constant that holds it, or of the function that returns it.
    pub fn containerName(self: *const Scopes, container: Range) ?[]const u8 {
        const tree = &self.source.tree;
        // `const Name = struct` and `const Name = extern struct`: the name lies before the equals sign.
        var token = container.first;
        if (token >= 2 and tree.tokenTag(token - 1) == .equal and tree.tokenTag(token - 2) == .identifier) {
            token -= 2;
            return tree.tokenSlice(token);
        }
        const function = self.enclosing(container.first, .function) orelse return null;
        return functionName(tree, function.node);
    }
};

/// The name of a function with a body.
pub fn functionName(tree: *const Ast, node: Node.Index) ?[]const u8 {
    var buffer: [1]Node.Index = undefined;
    const prototype = tree.fullFnProto(&buffer, node) orelse return null;
    return tree.tokenSlice(prototype.name_token orelse return null);
}

/// Finds the ranges and names of `source`.
pub fn build(arena: Allocator, source: *const Source) Allocator.Error!Scopes {
    const ranges = try collectRanges(arena, &source.tree);
    const range_of_token = try arena.alloc(?u32, source.tree.tokens.len);
    @memset(range_of_token, null);
    for (ranges, 0..) |*range, index| {
        // Outer ranges come first, so that what the first token lies in by now is the parent.
        range.parent = range_of_token[range.first];
        @memset(range_of_token[range.first .. range.last + 1], @as(?u32, @intCast(index)));
    }
    var scopes: Scopes = .{
        .source = source,
        .ranges = ranges,
        .range_of_token = range_of_token,
        .declarations = &.{},
        .declaration_of_name = .empty,
        .returns = &.{},
    };
    try collectDeclarations(arena, &scopes);
    return scopes;
}

fn collectRanges(arena: Allocator, tree: *const Ast) Allocator.Error![]Range {
    var ranges: std.ArrayList(Range) = .empty;
    for (0..tree.nodes.len) |index| {
        const node: Node.Index = @enumFromInt(index);
        var two: [2]Node.Index = undefined;
        if (node == .root) continue;
        switch (tree.nodeTag(node)) {
            .fn_decl => try appendRange(arena, tree, &ranges, .function, node, node),
            .test_decl => try appendRange(arena, tree, &ranges, .test_block, node, node),
            .block, .block_semicolon, .block_two, .block_two_semicolon => try appendRange(arena, tree, &ranges, .block, node, node),
            else => {},
        }
        if (tree.fullContainerDecl(&two, node) != null) try appendRange(arena, tree, &ranges, .container, node, node);
        if (tree.fullSwitch(node)) |full| try appendCases(arena, tree, &ranges, node, full.ast.cases);
        if (tree.fullIf(node)) |full| try appendBranches(arena, tree, &ranges, node, full.ast.then_expr, full.ast.else_expr);
        if (tree.fullWhile(node)) |full| try appendBranches(arena, tree, &ranges, node, full.ast.then_expr, full.ast.else_expr);
        if (tree.fullFor(node)) |full| try appendBranches(arena, tree, &ranges, node, full.ast.then_expr, full.ast.else_expr);
    }
    std.mem.sort(Range, ranges.items, {}, isOutside);
    return ranges.items;
}

fn appendBranches(arena: Allocator, tree: *const Ast, ranges: *std.ArrayList(Range), node: Node.Index, then_body: Node.Index, else_body: Node.OptionalIndex) Allocator.Error!void {
    try appendRange(arena, tree, ranges, .branch, node, then_body);
    if (else_body.unwrap()) |body| try appendRange(arena, tree, ranges, .branch, node, body);
}

fn appendCases(arena: Allocator, tree: *const Ast, ranges: *std.ArrayList(Range), node: Node.Index, cases: []const Node.Index) Allocator.Error!void {
    for (cases) |case| {
        const body = (tree.fullSwitchCase(case) orelse continue).ast.target_expr;
        const before = ranges.items.len;
        try appendRange(arena, tree, ranges, .branch, node, body);
        if (ranges.items.len > before) ranges.items[before].case = case;
    }
}

fn appendRange(arena: Allocator, tree: *const Ast, ranges: *std.ArrayList(Range), kind: Range.Kind, node: Node.Index, span: Node.Index) Allocator.Error!void {
    const first = tree.firstToken(span);
    const last = tree.lastToken(span);
    if (first <= last) try ranges.append(arena, .{ .kind = kind, .node = node, .first = first, .last = last });
}

fn isOutside(_: void, left: Range, right: Range) bool {
    if (left.first != right.first) return left.first < right.first;
    if (left.last != right.last) return left.last > right.last;
    return @intFromEnum(left.kind) < @intFromEnum(right.kind);
}

fn collectDeclarations(arena: Allocator, scopes: *Scopes) Allocator.Error!void {
    const tree = &scopes.source.tree;
    var declarations: std.ArrayList(Declaration) = .empty;
    var returns: std.ArrayList(Node.Index) = .empty;
    for (0..tree.nodes.len) |index| {
        const node: Node.Index = @enumFromInt(index);
        var declaration: Declaration = .{ .token = 0, .node = node, .scope = null, .kind = .function, .next_of_name = null };
        if (tree.fullVarDecl(node)) |full| {
            const is_constant = tree.tokenTag(full.ast.mut_token) == .keyword_const;
            declaration.kind = if (is_constant) .constant else .variable;
            declaration.token = full.ast.mut_token + 1;
            declaration.node = if (is_constant) full.ast.init_node.unwrap() else null;
            declaration.scope = scopes.range_of_token[full.ast.mut_token];
        } else if (tree.nodeTag(node) == .fn_decl) {
            var one: [1]Node.Index = undefined;
            const prototype = tree.fullFnProto(&one, node).?;
            declaration.token = prototype.name_token orelse continue;
            // The function's own range starts at its first token: its name belongs to what is around it.
            const own = scopes.range_of_token[declaration.token];
            declaration.scope = if (own) |at| scopes.ranges[at].parent else null;
        } else {
            if (tree.nodeTag(node) == .@"return" and tree.nodeData(node).opt_node != .none) try returns.append(arena, node);
            continue;
        }
        const entry = try scopes.declaration_of_name.getOrPut(arena, tree.tokenSlice(declaration.token));
        declaration.next_of_name = if (entry.found_existing) entry.value_ptr.* else null;
        entry.value_ptr.* = @intCast(declarations.items.len);
        try declarations.append(arena, declaration);
    }
    scopes.declarations = declarations.items;
    std.mem.sort(Node.Index, returns.items, tree, isBefore);
    scopes.returns = returns.items;
}

fn isBefore(tree: *const Ast, left: Node.Index, right: Node.Index) bool {
    return tree.nodeMainToken(left) < tree.nodeMainToken(right);
}
