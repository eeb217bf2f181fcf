//! The launches of a declaration file, as far as its text shows them.

const std = @import("std");
const Allocator = std.mem.Allocator;
const Ast = std.zig.Ast;
const Node = Ast.Node;
const Constructors = constructors.Constructors;
const constructors = @import("constructors.zig");
const Diagnostics = @import("diagnostics.zig").Diagnostics;
const Files = @import("imports.zig").Files;
const forwarding = @import("forwarding.zig");
const functions = @import("functions.zig");
const limits = @import("limits.zig");
const Place = resolve.Place;
const resolve = @import("resolve.zig");
const source = @import("source.zig");

/// An argument of a launch.
pub const Argument = struct {
    name: ?[]const u8,
    /// `ptr`, `i32`, `f32`, `u64`, or `unknown`.
    kind: []const u8,
    /// Triton's type of a pointer; null for a value, and where the text does not show it.
    type: ?[]const u8,
    expression: []const u8,
};

/// A constexpr of a launch.
pub const Constexpr = struct {
    name: ?[]const u8,
    /// `int`, `f32` or `unknown`.
    kind: []const u8,
    expression: []const u8,
};

/// One launch.
pub const Launch = struct {
    /// Null where the name is not a string that the text shows; the probe sees it.
    function: ?[]const u8,
    method: []const u8,
    owner: ?[]const u8,
    file: []const u8,
    line: u32,
    column: u32,
    /// Null where the text does not show the list.
    arguments: ?[]const Argument,
    constexprs: ?[]const Constexpr,
    options: ?[]const u8,
    /// The head of the nearest condition or loop around the launch.
    condition: ?[]const u8,
};

/// What the launches of a declaration file are found from, kept for who asks more of it.
pub const Found = struct {
    functions: functions.Index,
    calls: []const functions.Call,
    sites: []const forwarding.Site,
    launches: []const Launch,
};

const Reading = struct {
    arena: Allocator,
    resolver: resolve.Resolver,
    constructors: Constructors,
    text_bytes: usize = 0,

    fn launch(self: *Reading, site: forwarding.Site) Allocator.Error!Launch {
        const file = site.call.file;
        const position = file.source.nodePosition(site.call.node);
        return .{
            .function = try self.resolver.string(.{ .file = file, .node = site.function }),
            .method = site.caller.name,
            .owner = site.caller.owner,
            .file = file.source.path,
            .line = position.line,
            .column = position.column,
            .arguments = try self.list(Argument, .{ .file = file, .node = site.arguments }),
            .constexprs = try self.list(Constexpr, .{ .file = file, .node = site.constexprs }),
            .options = try self.options(site),
            .condition = try self.condition(site),
        };
    }

    fn options(self: *Reading, site: forwarding.Site) Allocator.Error!?[]const u8 {
        const result = try forwarding.optionsText(self.arena, site) orelse return null;
        self.text_bytes += result.len;
        return result;
    }

    fn text(self: *Reading, place: Place) Allocator.Error![]const u8 {
        const result = try place.file.source.nodeText(self.arena, place.node);
        self.text_bytes += result.len;
        return result;
    }

    /// The elements of a list: written in place, or held by a constant that is.
    fn list(self: *Reading, Element: type, place: Place) Allocator.Error!?[]const Element {
        var at = place;
        for (0..limits.alias_chain_max) |_| {
            const tree = &at.file.source.tree;
            switch (tree.nodeTag(at.node)) {
                .address_of => at.node = tree.nodeData(at.node).node,
                .identifier, .field_access, .grouped_expression => {
                    const end = try self.resolver.follow(at);
                    if (end.file == at.file and end.node == at.node) return null;
                    at = end;
                },
                else => break,
            }
        }
        const tree = &at.file.source.tree;
        var buffer: [2]Node.Index = undefined;
        if (tree.fullStructInit(&buffer, at.node)) |empty| return if (empty.ast.fields.len == 0) &.{} else null;
        const written = tree.fullArrayInit(&buffer, at.node) orelse return null;
        self.text_bytes += written.ast.elements.len * limits.element_bytes;
        const elements = try self.arena.alloc(Element, written.ast.elements.len);
        for (elements, written.ast.elements) |*element, node| {
            const here: Place = .{ .file = at.file, .node = node };
            element.* = switch (Element) {
                Argument => try self.argument(here),
                Constexpr => try self.constexpr(here),
                else => comptime unreachable,
            };
        }
        return elements;
    }

    fn argument(self: *Reading, place: Place) Allocator.Error!Argument {
        const built = try self.constructors.describe(place) orelse return self.unknown(Argument, place);
        switch (built.kind) {
            .ptr, .i32, .f32, .u64 => {},
            .constexpr_int, .constexpr_f32 => return self.unknown(Argument, place),
        }
        return .{
            .name = try self.string(built.name),
            .kind = @tagName(built.kind),
            .type = try self.string(built.type),
            .expression = try self.expression(built.value, place),
        };
    }

    fn constexpr(self: *Reading, place: Place) Allocator.Error!Constexpr {
        const built = try self.constructors.describe(place) orelse return self.unknown(Constexpr, place);
        const kind = switch (built.kind) {
            .constexpr_int => "int",
            .constexpr_f32 => "f32",
            .ptr, .i32, .f32, .u64 => return self.unknown(Constexpr, place),
        };
        return .{ .name = try self.string(built.name), .kind = kind, .expression = try self.expression(built.value, place) };
    }

    /// What is built is not known; its name mostly is, since constructors take it first.
    fn unknown(self: *Reading, Element: type, place: Place) Allocator.Error!Element {
        var element: Element = undefined;
        element.kind = "unknown";
        element.name = null;
        element.expression = try self.text(place);
        if (Element == Argument) element.type = null;
        const call = try functions.callAt(self.arena, place.file, place.node) orelse return element;
        if (call.has(0)) element.name = try self.resolver.string(.{ .file = place.file, .node = call.arguments[0] });
        return element;
    }

    fn string(self: *Reading, part: constructors.Part) Allocator.Error!?[]const u8 {
        return switch (part) {
            .none => null,
            .text => |known| known,
            .place => |place| self.resolver.string(place),
        };
    }

    fn expression(self: *Reading, part: constructors.Part, whole: Place) Allocator.Error![]const u8 {
        return switch (part) {
            .none => self.text(whole),
            .text => |known| known,
            .place => |place| self.text(place),
        };
    }

    /// The head of the nearest `if`, loop or switch case whose body holds the launch, within its function.
    fn condition(self: *Reading, site: forwarding.Site) Allocator.Error!?[]const u8 {
        const file = site.call.file;
        const branch = file.enclosing(site.call.token, .branch) orelse return null;
        if (branch.first < site.caller.first) return null;
        const tree = &file.source.tree;
        const start = tree.nodeMainToken(branch.node);
        if (branch.case) |case| {
            const full = tree.fullSwitch(branch.node).?;
            const head = try file.source.tokensText(self.arena, start, tree.lastToken(full.ast.condition) + 1);
            const values = try file.source.tokensText(self.arena, tree.firstToken(case), branch.first - 1);
            self.text_bytes += head.len + values.len;
            return try std.fmt.allocPrint(self.arena, "{s} {s}", .{ head, values });
        }
        const body = bodyStart(tree, branch.node);
        const head = try file.source.tokensText(self.arena, start, body - 1);
        self.text_bytes += head.len;
        return if (branch.first == body) head else try std.fmt.allocPrint(self.arena, "{s} ... else", .{head});
    }
};

fn bodyStart(tree: *const Ast, node: Node.Index) Ast.TokenIndex {
    if (tree.fullIf(node)) |full| return tree.firstToken(full.ast.then_expr);
    if (tree.fullWhile(node)) |full| return tree.firstToken(full.ast.then_expr);
    return tree.firstToken(tree.fullFor(node).?.ast.then_expr);
}

/// Finds the launches of `files`; none at all, or too many, is a problem of the first file.
pub fn find(arena: Allocator, files: Files, diagnostics: *Diagnostics) source.Error!Found {
    const index: functions.Index = try .build(arena, try functions.collect(arena, files));
    const calls = try functions.collectCalls(arena, files);
    const sites = try forwarding.find(arena, &index, calls);
    const root = files.zig[0].source.shown;
    if (sites.len == 0) {
        try diagnostics.add(root, null, "no launch in this file or its siblings; expected calls such as t.run(\"_name\", grid, &.{{arguments}}, &.{{constexprs}}); try the file that launches the kernels", .{});
        return error.Reported;
    }
    if (sites.len > limits.launches_max) {
        const excess = sites[limits.launches_max].call;
        try diagnostics.add(excess.file.source.shown, excess.file.source.nodePosition(excess.node), "one launch too many; expected at most {d}; try a smaller root", .{limits.launches_max});
        return error.Reported;
    }
    const resolver: resolve.Resolver = .{ .arena = arena, .files = files };
    var reading: Reading = .{
        .arena = arena,
        .resolver = resolver,
        .constructors = .{ .arena = arena, .resolver = resolver, .functions = &index },
    };
    const launches = try arena.alloc(Launch, sites.len);
    for (launches, sites) |*launch, site| {
        launch.* = try reading.launch(site);
        if (reading.text_bytes <= limits.output_bytes_max) continue;
        const position = site.call.file.source.nodePosition(site.call.node);
        try diagnostics.add(site.call.file.source.shown, position, "the launches up to here repeat too much text; expected at most {d} bytes; try shorter expressions", .{limits.output_bytes_max});
        return error.Reported;
    }
    return .{ .functions = index, .calls = calls, .sites = sites, .launches = launches };
}
