//! The functions of the files: their parameters, and which of them call which.

const std = @import("std");
const Allocator = std.mem.Allocator;
const Ast = std.zig.Ast;
const Node = Ast.Node;
const Files = @import("imports.zig").Files;
const scopes = @import("scopes.zig");
const Scopes = scopes.Scopes;

/// A parameter as the text writes it.
pub const Parameter = struct { name: []const u8, type: []const u8 };

/// A function with a body, outside of tests.
pub const Function = struct {
    file: *const Scopes,
    node: Node.Index,
    name: []const u8,
    /// The struct that it lies in; null at the top of a file.
    owner: ?[]const u8,
    first: Ast.TokenIndex,
    last: Ast.TokenIndex,
    /// Of the word `fn`.
    token: Ast.TokenIndex,
    is_public: bool,
    /// All of them, the receiver as well.
    parameters: []const Parameter,

    /// Whether the first parameter is the struct that the function lies in.
    pub fn hasReceiver(self: Function) bool {
        const owner = self.owner orelse return false;
        if (self.parameters.len == 0) return false;
        var written = self.parameters[0].type;
        for ([_][]const u8{ "?", "*", "const " }) |prefix| {
            if (std.mem.startsWith(u8, written, prefix)) written = written[prefix.len..];
        }
        return std.mem.eql(u8, written, owner) or std.mem.eql(u8, written, "@This()") or std.mem.eql(u8, written, "Self");
    }

    /// The index of the parameter `name`.
    pub fn parameterIndex(self: Function, name: []const u8) ?u32 {
        for (self.parameters, 0..) |parameter, index| {
            if (std.mem.eql(u8, parameter.name, name)) return @intCast(index);
        }
        return null;
    }
};

/// The functions of all files, found by declaration or by name.
pub const Index = struct {
    all: []const Function,
    by_declaration: std.AutoHashMapUnmanaged(Key, u32) = .empty,
    /// Null for a name that several functions have.
    by_name: std.StringHashMapUnmanaged(?u32) = .empty,

    const Key = struct { file: *const Scopes, node: Node.Index };

    /// Looks at every function once.
    pub fn build(arena: Allocator, all: []const Function) Allocator.Error!Index {
        var index: Index = .{ .all = all };
        for (all, 0..) |function, at| {
            try index.by_declaration.put(arena, .{ .file = function.file, .node = function.node }, @intCast(at));
            const entry = try index.by_name.getOrPut(arena, function.name);
            entry.value_ptr.* = if (entry.found_existing) null else @intCast(at);
        }
        return index;
    }

    /// The function that `node` declares.
    pub fn declaredAt(self: *const Index, file: *const Scopes, node: Node.Index) ?u32 {
        return self.by_declaration.get(.{ .file = file, .node = node });
    }

    /// The only function called `name`.
    pub fn only(self: *const Index, name: []const u8) ?u32 {
        return self.by_name.get(name) orelse null;
    }

    /// The function whose body holds a call.
    pub fn callerOf(self: *const Index, call: Call) ?u32 {
        const range = call.file.enclosing(call.token, .function) orelse return null;
        return self.declaredAt(call.file, range.node);
    }
};

/// A call, with its parts copied out of the tree.
pub const Call = struct {
    file: *const Scopes,
    node: Node.Index,
    callee: Node.Index,
    /// The last name of the callee: `run` of `t.set.?.run`.
    name: []const u8,
    /// What stands before the last name; null for a plain name.
    base: ?Node.Index,
    arguments: []const Node.Index,
    token: Ast.TokenIndex,

    /// Whether the argument at `index` exists.
    pub fn has(self: Call, index: usize) bool {
        return index < self.arguments.len;
    }
};

/// The functions of all files, in file and text order.
pub fn collect(arena: Allocator, files: Files) Allocator.Error![]const Function {
    var functions: std.ArrayList(Function) = .empty;
    for (files.zig) |*file| {
        for (file.ranges) |range| {
            if (range.kind != .function or file.enclosing(range.first, .test_block) != null) continue;
            try functions.append(arena, try describe(arena, file, range) orelse continue);
        }
    }
    return functions.items;
}

fn describe(arena: Allocator, file: *const Scopes, range: scopes.Range) Allocator.Error!?Function {
    const tree = &file.source.tree;
    var buffer: [1]Node.Index = undefined;
    const prototype = tree.fullFnProto(&buffer, range.node) orelse return null;
    const name = prototype.name_token orelse return null;
    var parameters: std.ArrayList(Parameter) = .empty;
    var iterator = prototype.iterate(tree);
    while (iterator.next()) |parameter| {
        const written = if (parameter.type_expr) |node|
            try file.source.nodeText(arena, node)
        else if (parameter.anytype_ellipsis3) |token|
            tree.tokenSlice(token)
        else
            "anytype";
        try parameters.append(arena, .{
            .name = if (parameter.name_token) |token| tree.tokenSlice(token) else "",
            .type = written,
        });
    }
    const container = file.enclosing(range.first, .container);
    return .{
        .file = file,
        .node = range.node,
        .name = tree.tokenSlice(name),
        .owner = if (container) |found| file.containerName(found) else null,
        .first = range.first,
        .last = range.last,
        .token = prototype.ast.fn_token,
        .is_public = if (prototype.visib_token) |token| tree.tokenTag(token) == .keyword_pub else false,
        .parameters = parameters.items,
    };
}

/// The calls of all files outside of tests, in file and text order.
pub fn collectCalls(arena: Allocator, files: Files) Allocator.Error![]const Call {
    var calls: std.ArrayList(Call) = .empty;
    for (files.zig) |*file| {
        const start = calls.items.len;
        for (0..file.source.tree.nodes.len) |index| {
            const call = try callAt(arena, file, @enumFromInt(index)) orelse continue;
            if (file.enclosing(call.token, .test_block) == null) try calls.append(arena, call);
        }
        std.mem.sort(Call, calls.items[start..], {}, isBefore);
    }
    return calls.items;
}

fn isBefore(_: void, left: Call, right: Call) bool {
    return left.token < right.token;
}

/// The call at `node`; null where it is something else or calls no name.
pub fn callAt(arena: Allocator, file: *const Scopes, node: Node.Index) Allocator.Error!?Call {
    const tree = &file.source.tree;
    var buffer: [1]Node.Index = undefined;
    const full = tree.fullCall(&buffer, node) orelse return null;
    var call: Call = .{
        .file = file,
        .node = node,
        .callee = full.ast.fn_expr,
        .name = "",
        .base = null,
        .arguments = try arena.dupe(Node.Index, full.ast.params),
        .token = full.ast.lparen,
    };
    switch (tree.nodeTag(call.callee)) {
        .identifier => call.name = tree.tokenSlice(tree.nodeMainToken(call.callee)),
        .field_access => {
            call.base, const token = tree.nodeData(call.callee).node_and_token;
            call.name = tree.tokenSlice(token);
        },
        else => return null,
    }
    return call;
}

/// The last name of a chain of accesses: `set` of `self.set.?`; null where there is none.
pub fn lastName(file: *const Scopes, node: Node.Index) ?[]const u8 {
    const tree = &file.source.tree;
    var at = node;
    // Each turn goes one node down the tree.
    while (true) switch (tree.nodeTag(at)) {
        .identifier => return tree.tokenSlice(tree.nodeMainToken(at)),
        .field_access => return tree.tokenSlice(tree.nodeData(at).node_and_token[1]),
        .unwrap_optional => at = tree.nodeData(at).node_and_token[0],
        .deref => at = tree.nodeData(at).node,
        .grouped_expression => at = tree.nodeData(at).node_and_token[0],
        else => return null,
    };
}
