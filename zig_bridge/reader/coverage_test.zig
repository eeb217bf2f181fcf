//! `coverage-test …`: the Zig test that fails where a round launches what the set does not hold. `verify-set` is built
//! with the same file, and asks it for the rounds and the launches.

const std = @import("std");
const Allocator = std.mem.Allocator;
const Writer = std.Io.Writer;
const depfile = @import("depfile.zig");
const Diagnostics = @import("diagnostics.zig").Diagnostics;
const imports = @import("imports.zig");
const launches = @import("launches.zig");
const source = @import("source.zig");

/// What the test is for.
pub const Options = struct {
    declarations: []const u8,
    parallel: u32,
    window_rows: u32,
    prompt_rows: u32,
    /// The command that captures what is missing.
    command: []const u8,
    /// What the set has to be for, `sm_121`; null where that is not checked.
    target: ?[]const u8,
    /// Where to list the files that were read; null where nobody asks.
    depfile: ?[]const u8,
};

/// Writes the test's source, or adds what is wrong to `diagnostics`.
pub fn write(io: std.Io, arena: Allocator, options: Options, writer: *Writer, diagnostics: *Diagnostics) (source.Error || Writer.Error)!void {
    const files = try imports.read(io, arena, options.declarations, diagnostics);
    const found = try launches.find(arena, files, diagnostics);
    if (options.depfile) |path| try depfile.write(io, arena, path, options.declarations, files, diagnostics);
    try writer.writeAll(
        \\//! Generated from the declaration file by build-capture: the coverage test, and what `verify-set` knows of its engine.
        \\
        \\pub const coverage = @import("coverage");
        \\pub const rounds = @import("rounds");
        \\
        \\pub const options: coverage.Options = .{
        \\
    );
    try writer.print("    .limits = .{{ .parallel = {d}, .window_rows = {d}, .prompt_rows = {d} }},\n", .{
        options.parallel, options.window_rows, options.prompt_rows,
    });
    try writer.writeAll("    .launches = &.{\n");
    for (found.launches) |launch| try writeLaunch(launch, writer);
    try writer.writeAll("    },\n");
    try writer.print("    .command = \"{f}\",\n", .{std.zig.fmtString(options.command)});
    if (options.target) |target| try writer.print("    .target = \"{f}\",\n", .{std.zig.fmtString(target)});
    try writer.writeAll(
        \\};
        \\
        \\test "coverage: every launch of every round within the limits has a variant" {
        \\    try coverage.check(rounds, @embedFile("aot.json"), options);
        \\}
        \\
    );
}

fn writeLaunch(launch: launches.Launch, writer: *Writer) Writer.Error!void {
    try writer.writeAll("        .{ .function = ");
    if (launch.function) |function| try writer.print("\"{f}\"", .{std.zig.fmtString(function)}) else try writer.writeAll("null");
    try writer.print(", .method = \"{f}\", .file = \"{f}\", .line = {d}", .{
        std.zig.fmtString(launch.method), std.zig.fmtString(launch.file), launch.line,
    });
    if (launch.arguments) |arguments| try writeNames("arguments", launches.Argument, arguments, writer);
    if (launch.constexprs) |constexprs| try writeNames("constexprs", launches.Constexpr, constexprs, writer);
    try writer.writeAll(" },\n");
}

/// Writes the names in the form of `zig fmt`; none at all where the text does not show each.
fn writeNames(field: []const u8, Element: type, elements: []const Element, writer: *Writer) Writer.Error!void {
    for (elements) |element| if (element.name == null) return;
    const space = if (elements.len > 1) " " else "";
    try writer.print(", .{s} = &.{{{s}", .{ field, space });
    for (elements, 0..) |element, index| {
        if (index > 0) try writer.writeAll(", ");
        try writer.print("\"{f}\"", .{std.zig.fmtString(element.name.?)});
    }
    try writer.print("{s}}}", .{space});
}
