//! What the build has to know of a consumer's `capture.zon`. The file is imported as a value, so that it is read while
//! `build.zig` compiles and Zig itself notices an edit; the capture reads the same file again, in full.
const Profile = @This();

const std = @import("std");

/// Names the install folder: `share/<family>/cuda/sm<NN>/`.
family: []const u8,
/// The declaration file, relative to the profile.
declarations: []const u8,
/// The Zig file that drives the rounds, relative to the profile; null where every method is driven over domains.
rounds: ?[]const u8,
/// The folder of the Triton kernels, relative to the profile.
kernels: []const u8,
/// Whether a set carries a `domains.zig` that drives what no round does. The capture decides by the same rule.
drives_domains: bool,
/// The target where `-Dcapture-target` names none.
target: []const u8,
/// Limits where the options name none; see DESIGN.md for the words.
parallel: u32,
window_rows: u32,
/// Rows of the longest prompt chunk; no option changes it.
prompt_rows: u32,

/// `value` is `@import("capture.zon")`. A missing field is a compile error that names it.
pub fn create(comptime value: anytype) Profile {
    const limits = field(value, "limits", ".limits = .{ .parallel = 16, .window_rows = 16, .prompt_rows = 4096 }");
    return .{
        .family = folderName(field(value, "family", ".family = \"qwen27\"")),
        .declarations = field(value, "declarations", ".declarations = \"src/triton.zig\""),
        .rounds = if (@hasField(@TypeOf(value), "rounds")) value.rounds else null,
        .kernels = field(value, "kernels", ".kernels = \"kernels\""),
        .drives_domains = givesDomain(value) or !@hasField(@TypeOf(value), "rounds"),
        .target = field(value, "target", ".target = \"sm_121\""),
        .parallel = field(limits, "parallel", ".parallel = 16 in .limits"),
        .window_rows = field(limits, "window_rows", ".window_rows = 16 in .limits"),
        .prompt_rows = field(limits, "prompt_rows", ".prompt_rows = 4096 in .limits"),
    };
}

/// Whether the profile says what a parameter ranges over. A `.domains` without a field says nothing.
fn givesDomain(comptime value: anytype) bool {
    return @hasField(@TypeOf(value), "domains") and std.meta.fieldNames(@TypeOf(value.domains)).len > 0;
}

/// The family names a folder below the install prefix, so it must not lead out of it.
fn folderName(comptime name: []const u8) []const u8 {
    const valid = comptime for (name, 0..) |byte, index| {
        const inside = index > 0 and (byte == '.' or byte == '_' or byte == '-');
        if (!std.ascii.isAlphanumeric(byte) and !inside) break false;
    } else name.len > 0 and name.len <= 64;
    if (!valid) @compileError("the profile's .family is \"" ++ name ++ "\"; expected letters, digits, '.', '_' and '-': it names a folder");
    return name;
}

fn field(comptime value: anytype, comptime name: []const u8, comptime example: []const u8) @TypeOf(@field(value, name)) {
    if (!@hasField(@TypeOf(value), name)) {
        @compileError("the profile has no field ." ++ name ++ "; try " ++ example);
    }
    return @field(value, name);
}
