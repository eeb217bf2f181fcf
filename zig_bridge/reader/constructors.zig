//! What an element of a launch's lists is: the engine's constructors, known through aliases and wrapper functions.

const std = @import("std");
const Allocator = std.mem.Allocator;
const Ast = std.zig.Ast;
const Node = Ast.Node;
const Call = functions.Call;
const Function = functions.Function;
const functions = @import("functions.zig");
const limits = @import("limits.zig");
const Place = resolve.Place;
const resolve = @import("resolve.zig");
const Scopes = @import("scopes.zig").Scopes;

/// What is built: an argument of one of four kinds, or a constexpr of one of two.
pub const Kind = enum { ptr, i32, f32, u64, constexpr_int, constexpr_f32 };

/// A part of what is built.
pub const Part = union(enum) {
    /// The text does not show it.
    none,
    /// An expression.
    place: Place,
    /// A string that a wrapper function holds.
    text: []const u8,
};

/// An argument or constexpr as far as the text shows it.
pub const Built = struct { kind: Kind, name: Part, type: Part = .none, value: Part };

const Role = union(enum) { none, parameter: u32, text: []const u8 };
const Wrapper = struct { kind: Kind, name: Role, type: Role, value: Role };
const Key = struct { file: *const Scopes, node: Node.Index };

const engine_constructors = std.StaticStringMap(Kind).initComptime(.{
    .{ "ptr", Kind.ptr },          .{ "int", Kind.i32 },          .{ "float", Kind.f32 }, .{ "word", Kind.u64 },
    .{ "ci", Kind.constexpr_int }, .{ "cf", Kind.constexpr_f32 },
});

/// Knows what wrapper functions build, each looked at once.
pub const Constructors = struct {
    arena: Allocator,
    resolver: resolve.Resolver,
    functions: *const functions.Index,
    wrappers: std.AutoHashMapUnmanaged(Key, ?Wrapper) = .empty,

    /// What the expression at `place` builds; null where the text does not show it.
    pub fn describe(self: *Constructors, place: Place) Allocator.Error!?Built {
        return self.describeWithin(place, limits.alias_chain_max);
    }

    fn describeWithin(self: *Constructors, place: Place, depth_left: usize) Allocator.Error!?Built {
        const tree = &place.file.source.tree;
        var node = place.node;
        // Each turn goes one node down the tree.
        while (tree.nodeTag(node) == .grouped_expression) node = tree.nodeData(node).node_and_token[0];
        if (try describeLiteral(place.file, node)) |built| return built;
        const call = try functions.callAt(self.arena, place.file, node) orelse return null;
        if (try self.engineKind(call)) |kind| return fromEngine(call, kind);
        const function = try self.callee(call) orelse return null;
        const wrapper = try self.wrapperOf(function, depth_left) orelse return null;
        const is_method_call = call.base != null and function.hasReceiver() and call.arguments.len + 1 == function.parameters.len;
        const skipped: u32 = @intFromBool(is_method_call);
        if (call.arguments.len + skipped != function.parameters.len) return null;
        return .{
            .kind = wrapper.kind,
            .name = filled(wrapper.name, call, skipped),
            .type = filled(wrapper.type, call, skipped),
            .value = filled(wrapper.value, call, skipped),
        };
    }

    /// The kind that a call of the engine's own constructors builds, called by its name or an alias of it.
    fn engineKind(self: *Constructors, call: Call) Allocator.Error!?Kind {
        const end = try self.resolver.follow(.{ .file = call.file, .node = call.callee });
        const tree = &end.file.source.tree;
        if (tree.nodeTag(end.node) != .field_access) return null;
        const base, const token = tree.nodeData(end.node).node_and_token;
        const kind = engine_constructors.get(tree.tokenSlice(token)) orelse return null;
        const owner = try self.resolver.follow(.{ .file = end.file, .node = base });
        const name = functions.lastName(owner.file, owner.node) orelse return null;
        return if (std.mem.eql(u8, name, "aot")) kind else null;
    }

    /// The function that a call means: by scope, else the only one of its name.
    fn callee(self: *Constructors, call: Call) Allocator.Error!?Function {
        const end = try self.resolver.follow(.{ .file = call.file, .node = call.callee });
        const by_name = if (call.base == null) null else self.functions.only(call.name);
        const found = self.functions.declaredAt(end.file, end.node) orelse by_name orelse return null;
        return self.functions.all[found];
    }

    fn wrapperOf(self: *Constructors, function: Function, depth_left: usize) Allocator.Error!?Wrapper {
        const key: Key = .{ .file = function.file, .node = function.node };
        if (self.wrappers.get(key)) |known| return known;
        if (depth_left == 0) return null;
        // A function that builds through itself builds nothing that the text shows.
        try self.wrappers.put(self.arena, key, null);
        var found: ?Wrapper = null;
        for (function.file.returnsWithin(function.first, function.last)) |node| {
            const value = function.file.source.tree.nodeData(node).opt_node.unwrap() orelse continue;
            const built = try self.describeWithin(.{ .file = function.file, .node = value }, depth_left - 1) orelse return null;
            const wrapper = try self.generalise(function, built);
            if (found) |earlier| if (!isSame(earlier, wrapper)) return null;
            found = wrapper;
        }
        try self.wrappers.put(self.arena, key, found);
        return found;
    }

    fn generalise(self: *Constructors, function: Function, built: Built) Allocator.Error!Wrapper {
        return .{
            .kind = built.kind,
            .name = try self.roleOf(function, built.name),
            .type = try self.roleOf(function, built.type),
            .value = try self.roleOf(function, built.value),
        };
    }

    /// Where a part comes from: the one parameter that its expression uses, or a string that the function holds.
    fn roleOf(self: *Constructors, function: Function, part: Part) Allocator.Error!Role {
        const place = switch (part) {
            .none => return .none,
            .text => |text| return .{ .text = text },
            .place => |place| place,
        };
        if (place.file != function.file) return .none;
        const tree = &place.file.source.tree;
        var used: ?u32 = null;
        var token = tree.firstToken(place.node);
        while (token <= tree.lastToken(place.node)) : (token += 1) {
            if (tree.tokenTag(token) != .identifier) continue;
            // The name after a dot is a field, not a parameter.
            if (token > 0 and tree.tokenTag(token - 1) == .period) continue;
            const index = function.parameterIndex(tree.tokenSlice(token)) orelse continue;
            if (used != null and used.? != index) return .none;
            used = index;
        }
        if (used) |index| return .{ .parameter = index };
        return if (try self.resolver.string(place)) |text| .{ .text = text } else .none;
    }
};

fn isSame(left: Wrapper, right: Wrapper) bool {
    return left.kind == right.kind and isSameRole(left.name, right.name) and
        isSameRole(left.type, right.type) and isSameRole(left.value, right.value);
}

fn isSameRole(left: Role, right: Role) bool {
    return switch (left) {
        .none => right == .none,
        .parameter => |index| right == .parameter and right.parameter == index,
        .text => |text| right == .text and std.mem.eql(u8, right.text, text),
    };
}

fn filled(role: Role, call: Call, skipped: u32) Part {
    return switch (role) {
        .none => .none,
        .text => |text| .{ .text = text },
        .parameter => |index| if (index < skipped) .none else argument(call, index - skipped),
    };
}

fn argument(call: Call, index: usize) Part {
    return if (call.has(index)) .{ .place = .{ .file = call.file, .node = call.arguments[index] } } else .none;
}

fn fromEngine(call: Call, kind: Kind) Built {
    return .{
        .kind = kind,
        .name = argument(call, 0),
        .type = if (kind == .ptr) argument(call, 1) else .none,
        .value = argument(call, if (kind == .ptr) 2 else 1),
    };
}

/// A literal of the engine's own types: `.{ .name = "W", .value = .{ .i32 = w } }`, `.{ .name = "D", .int = d }`.
fn describeLiteral(file: *const Scopes, node: Node.Index) Allocator.Error!?Built {
    const name = field(file, node, "name") orelse return null;
    const named: Part = .{ .place = name };
    if (field(file, node, "int")) |value| return .{ .kind = .constexpr_int, .name = named, .value = .{ .place = value } };
    if (field(file, node, "f32")) |value| return .{ .kind = .constexpr_f32, .name = named, .value = .{ .place = value } };
    const value = field(file, node, "value") orelse return null;
    inline for (.{ Kind.i32, Kind.f32, Kind.u64 }) |kind| {
        if (field(file, value.node, @tagName(kind))) |inner| return .{ .kind = kind, .name = named, .value = .{ .place = inner } };
    }
    const pointer = field(file, value.node, "ptr") orelse return null;
    return .{
        .kind = .ptr,
        .name = named,
        .type = if (field(file, pointer.node, "ty")) |written| .{ .place = written } else .none,
        .value = if (field(file, pointer.node, "addr")) |address| .{ .place = address } else .none,
    };
}

fn field(file: *const Scopes, node: Node.Index, name: []const u8) ?Place {
    const tree = &file.source.tree;
    var buffer: [2]Node.Index = undefined;
    const literal = tree.fullStructInit(&buffer, node) orelse return null;
    for (literal.ast.fields) |value| {
        // A field's name lies two tokens before its value: `.name = value`.
        const token = tree.firstToken(value) - 2;
        if (std.mem.eql(u8, tree.tokenSlice(token), name)) return .{ .file = file, .node = value };
    }
    return null;
}
