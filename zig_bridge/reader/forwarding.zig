//! Which calls launch, and which functions only hand a launch on.

const std = @import("std");
const Allocator = std.mem.Allocator;
const Ast = std.zig.Ast;
const Node = Ast.Node;
const Call = functions.Call;
const Function = functions.Function;
const functions = @import("functions.zig");
const limits = @import("limits.zig");
const Scopes = @import("scopes.zig").Scopes;

/// A call that launches: the expressions of its parts, all in the call's file.
pub const Site = struct {
    call: Call,
    caller: Function,
    function: Node.Index,
    arguments: Node.Index,
    constexprs: Node.Index,
    options: ?Node.Index,
    /// The options that the function which hands the launch on gives by itself.
    forwarder_options: ?[]const u8 = null,
};

/// A function whose parameters are the parts of a launch, such as a family's `fn run(t, name, grid, args, consts)`.
const Forwarder = struct {
    target: Function,
    function: u32,
    arguments: u32,
    constexprs: u32,
    options: ?u32,
    fixed_options: ?[]const u8,
};

const Finder = struct {
    arena: Allocator,
    functions: *const functions.Index,
    /// By name: structs may each have one of their own.
    forwarders: std.StringHashMapUnmanaged(std.ArrayList(Forwarder)) = .empty,

    fn site(self: *Finder, call: Call) ?Site {
        const caller = self.functions.all[self.functions.callerOf(call) orelse return null];
        for (self.named(call.name)) |forwarder| {
            if (through(forwarder, call, caller)) |found| return found;
        }
        return byShape(call, caller);
    }

    fn named(self: *Finder, name: []const u8) []const Forwarder {
        const list = self.forwarders.get(name) orelse return &.{};
        return list.items;
    }

    fn isForwarder(self: *Finder, function: Function) bool {
        for (self.named(function.name)) |forwarder| {
            if (forwarder.target.file == function.file and forwarder.target.node == function.node) return true;
        }
        return false;
    }

    /// Adds the functions that hand on what they are given; says whether there were new ones.
    fn addForwarders(self: *Finder, calls: []const Call) Allocator.Error!bool {
        var is_new = false;
        for (calls) |call| {
            const found = self.site(call) orelse continue;
            if (!handsOn(found) or self.isForwarder(found.caller)) continue;
            const entry = try self.forwarders.getOrPutValue(self.arena, found.caller.name, .empty);
            if (entry.value_ptr.items.len == limits.same_name_max) continue;
            try entry.value_ptr.append(self.arena, try self.forwarderFrom(found));
            is_new = true;
        }
        return is_new;
    }

    fn forwarderFrom(self: *Finder, site_within: Site) Allocator.Error!Forwarder {
        const file = site_within.call.file;
        const caller = site_within.caller;
        const options = if (site_within.options) |node| parameterAt(file, caller, node) else null;
        return .{
            .target = caller,
            .function = parameterAt(file, caller, site_within.function).?,
            .arguments = parameterAt(file, caller, site_within.arguments).?,
            .constexprs = parameterAt(file, caller, site_within.constexprs).?,
            .options = options,
            .fixed_options = if (options == null) try optionsText(self.arena, site_within) else null,
        };
    }
};

/// The launches among `calls`, in their order.
pub fn find(arena: Allocator, index: *const functions.Index, calls: []const Call) Allocator.Error![]const Site {
    var finder: Finder = .{ .arena = arena, .functions = index };
    for (0..limits.forwarding_passes_max) |_| {
        if (!try finder.addForwarders(calls)) break;
    }
    var sites: std.ArrayList(Site) = .empty;
    for (calls) |call| {
        const found = finder.site(call) orelse continue;
        if (!handsOn(found)) try sites.append(arena, found);
    }
    return sites.items;
}

/// The options of a launch as the text writes them; null where none are given, and for `.{}`.
pub fn optionsText(arena: Allocator, site: Site) Allocator.Error!?[]const u8 {
    const node = site.options orelse return site.forwarder_options;
    var buffer: [2]Node.Index = undefined;
    if (site.call.file.source.tree.fullStructInit(&buffer, node)) |written| {
        if (written.ast.fields.len == 0) return null;
    }
    return try site.call.file.source.nodeText(arena, node);
}

/// Whether every part of the launch is what the caller was given: its own callers are the ones that launch.
fn handsOn(site: Site) bool {
    for ([_]Node.Index{ site.function, site.arguments, site.constexprs }) |node| {
        if (parameterAt(site.call.file, site.caller, node) == null) return false;
    }
    return true;
}

/// The parameter that an expression is, with or without `&` before it.
fn parameterAt(file: *const Scopes, function: Function, node: Node.Index) ?u32 {
    const tree = &file.source.tree;
    const inner = if (tree.nodeTag(node) == .address_of) tree.nodeData(node).node else node;
    if (tree.nodeTag(inner) != .identifier) return null;
    return function.parameterIndex(tree.tokenSlice(tree.nodeMainToken(inner)));
}

fn through(forwarder: Forwarder, call: Call, caller: Function) ?Site {
    if (!std.mem.eql(u8, forwarder.target.name, call.name)) return null;
    const skipped = skippedParameters(forwarder.target, call) orelse return null;
    if (@min(forwarder.function, forwarder.arguments, forwarder.constexprs) < skipped) return null;
    return .{
        .call = call,
        .caller = caller,
        .function = call.arguments[forwarder.function - skipped],
        .arguments = call.arguments[forwarder.arguments - skipped],
        .constexprs = call.arguments[forwarder.constexprs - skipped],
        .options = if (forwarder.options) |index| if (index < skipped) null else call.arguments[index - skipped] else null,
        .forwarder_options = forwarder.fixed_options,
    };
}

/// How many leading parameters a call leaves to the value before the dot; null where the call does not fit.
fn skippedParameters(target: Function, call: Call) ?u32 {
    if (call.base != null and target.owner != null and call.arguments.len + 1 == target.parameters.len) return 1;
    if (call.arguments.len != target.parameters.len) return null;
    const base = call.base orelse return 0;
    const owner = target.owner orelse return 0;
    // `Tri.run(t, …)` names the struct; `t.set.run(stream, …)` is the engine's own function.
    const name = functions.lastName(call.file, base) orelse return null;
    return if (std.mem.eql(u8, name, owner)) 0 else null;
}

/// A call of the engine's `Set.run`, `Set.runWith`, `Set.find`, `Set.findWith` or `Probe.add`, or of a family's method of
/// that name that is declared elsewhere, told by its shape.
fn byShape(call: Call, caller: Function) ?Site {
    const base = call.base orelse return null;
    const count = call.arguments.len;
    const is_run = std.mem.eql(u8, call.name, "run");
    const is_run_with = std.mem.eql(u8, call.name, "runWith");
    if (std.mem.eql(u8, call.name, "add")) {
        if (count != 4) return null;
        const named = functions.lastName(call.file, base) orelse "";
        if (!std.ascii.endsWithIgnoreCase(named, "probe") and !hasEvidence(call, caller, 0, 1)) return null;
        return shaped(call, caller, .{ .function = 0, .arguments = 1, .options = 3 });
    }
    if (!is_run and !is_run_with) return lookUp(call, caller);
    const parts: usize = if (is_run_with) 5 else 4;
    const starts_with_name = call.has(0) and call.file.source.tree.nodeTag(call.arguments[0]) == .string_literal;
    const start: usize = if (count == parts + 1 and !starts_with_name) 1 else 0;
    if (count != parts and count != parts + 1) return null;
    const is_set = std.ascii.endsWithIgnoreCase(functions.lastName(call.file, base) orelse "", "set");
    if (!is_set and !hasEvidence(call, caller, start, start + 2)) return null;
    return shaped(call, caller, .{
        .function = start,
        .arguments = start + 2,
        .options = if (count > start + 4) start + 4 else null,
    });
}

/// A look-up asks for a variant as a launch does: one that is missing fails the request just so.
fn lookUp(call: Call, caller: Function) ?Site {
    const with_options = std.mem.eql(u8, call.name, "findWith");
    if (!with_options and !std.mem.eql(u8, call.name, "find")) return null;
    if (call.arguments.len != @as(usize, if (with_options) 4 else 3)) return null;
    const is_set = std.ascii.endsWithIgnoreCase(functions.lastName(call.file, call.base.?) orelse "", "set");
    if (!is_set and !hasEvidence(call, caller, 0, 1)) return null;
    return shaped(call, caller, .{ .function = 0, .arguments = 1, .options = if (with_options) 3 else null });
}

const Shape = struct { function: usize, arguments: usize, options: ?usize };

fn shaped(call: Call, caller: Function, shape: Shape) Site {
    return .{
        .call = call,
        .caller = caller,
        .function = call.arguments[shape.function],
        .arguments = call.arguments[shape.arguments],
        .constexprs = call.arguments[shape.arguments + 1],
        .options = if (shape.options) |index| call.arguments[index] else null,
    };
}

/// Whether a call with the right name and number of arguments is a launch: it names its kernel, or has a list where a
/// launch has one, or hands on a string that it was given.
fn hasEvidence(call: Call, caller: Function, function: usize, arguments: usize) bool {
    const tree = &call.file.source.tree;
    if (tree.nodeTag(call.arguments[function]) == .string_literal) return true;
    for (call.arguments[arguments..][0..2]) |node| {
        if (tree.nodeTag(node) != .address_of) continue;
        var buffer: [2]Node.Index = undefined;
        const list = tree.nodeData(node).node;
        if (tree.fullArrayInit(&buffer, list) != null) return true;
        if (tree.fullStructInit(&buffer, list) != null) return true;
    }
    const index = parameterAt(call.file, caller, call.arguments[function]) orelse return false;
    const written = caller.parameters[index].type;
    return std.mem.eql(u8, written, "[]const u8") or std.mem.eql(u8, written, "[:0]const u8");
}
