//! Every `zig build` option of the capture, declared in one place, with what follows from them.
const Options = @This();

const std = @import("std");
const Limits = @import("../coverage/round.zig").Limits;
const Profile = @import("Profile.zig");
const target_names = @import("target_names.zig");

/// Whether a set is made in this build.
capture: bool,
/// Streams that the server serves at once.
parallel: u32,
/// Rows of one stream's window in one round.
window_rows: u32,
/// The targets of the sets, in the order given: `sm_121`. Never empty, no target twice.
targets: []const []const u8,
mode: Mode,
/// Which cubins a set holds; null leaves the choice to the profile.
policy: ?Policy,
/// The ptxas to assemble with in place of the one that Triton brings: a path.
ptxas: ?[]const u8,
/// The Python to start: a path, or a name to look up in PATH when the capture runs.
python: []const u8,
/// The folder of a finished set that takes the place of a capture; of a set that a capture refreshes, where there is one.
set: ?[]const u8,
/// What a source that is newer than the set in `set` means.
stale: Stale,
/// Compiles at once; null leaves the number to the tool.
jobs: ?u32,

/// What is done about a finished set that was made from other sources.
pub const Stale = enum { refuse, warn };

/// How variants are made.
pub const Mode = enum {
    /// Compile for a target that need not be present.
    compile,
    /// Compile, then launch every variant on the GPU at hand and check its numbers.
    gpu,
    /// `gpu` where a GPU of the target and PyTorch are at hand, else `compile`; the report says which, and why.
    auto,
};

/// Which cubins a set holds, and for which launches; see docs/sets.md.
pub const Policy = enum {
    /// What Triton itself would pick.
    exact,
    /// One cubin for all classes of an argument where telling them apart buys no wider memory access.
    compact,
    /// `exact`, then generic code that refuses no value of an int and no alignment of a table.
    total,
};

/// Declares the options on `b`, the builder of the project that captures.
pub fn create(b: *std.Build, profile: Profile) Options {
    return .{
        .capture = b.option(
            bool,
            "capture",
            "Capture the Triton kernels that the profile's declarations launch, install the set and test its coverage (default: false).",
        ) orelse false,
        .parallel = limit(b, "parallel", b.fmt(
            "The number of streams that the set has to serve at once (default: the profile's {d}).",
            .{profile.parallel},
        ), profile.parallel, Limits.parallel_max),
        .window_rows = limit(b, "window-rows", b.fmt(
            "The number of rows that one stream's window has at the most (default: the profile's {d}).",
            .{profile.window_rows},
        ), profile.window_rows, Limits.window_rows_max),
        .targets = target_names.parse(b, b.option(
            []const []const u8,
            "capture-target",
            b.fmt("The GPU to compile for; a comma list makes one set for each, `native` is the one at hand (default: the profile's {s}).", .{profile.target}),
        ) orelse &.{profile.target}),
        .mode = choice(
            b,
            Mode,
            "capture-mode",
            "The way in which variants are made; `gpu` also launches each on the GPU at hand and checks its numbers, `auto` does where it can (default: compile).",
        ) orelse .compile,
        .policy = choice(
            b,
            Policy,
            "capture-policy",
            "The cubins of a set: `exact` as Triton picks them, `compact` few, `total` also for all values beyond the limits (default: the profile's, else exact).",
        ),
        .ptxas = b.option(
            []const u8,
            "capture-ptxas",
            "The path of a ptxas to assemble with in place of the one that Triton brings; the set records its version and hash.",
        ),
        .python = b.option(
            []const u8,
            "capture-python",
            "The Python that runs the capture, as a path or as a name to look up in PATH (default: python3).",
        ) orelse "python3",
        .set = b.option(
            []const u8,
            "capture-set",
            "The folder of a finished set to install and test, without Python; with -Dcapture=true it is refreshed from a capture.",
        ),
        .stale = choice(
            b,
            Stale,
            "capture-set-stale",
            "What it means that the profile, a declaration file or a kernel is not what the set in -Dcapture-set was made from (default: refuse).",
        ) orelse .refuse,
        .jobs = b.option(
            u32,
            "capture-jobs",
            "The number of kernels that are compiled at the same time (default: one for each processor).",
        ),
    };
}

/// The command that captures what a set for `target` lacks; a failing coverage test prints it.
pub fn command(options: Options, b: *std.Build, profile: Profile, target: []const u8) []const u8 {
    const base = b.fmt("zig build -Dcapture=true -Dparallel={d} -Dwindow-rows={d}", .{ options.parallel, options.window_rows });
    const mode = if (options.mode == .compile) "" else b.fmt(" -Dcapture-mode={t}", .{options.mode});
    const policy = if (options.policy) |policy| b.fmt(" -Dcapture-policy={t}", .{policy}) else "";
    if (std.mem.eql(u8, target, profile.target)) return b.fmt("{s}{s}{s}", .{ base, mode, policy });
    return b.fmt("{s}{s}{s} -Dcapture-target={s}", .{ base, mode, policy, target });
}

/// One of a few words. Zig's own message of another word does not say which they are.
fn choice(b: *std.Build, comptime Words: type, name: []const u8, description: []const u8) ?Words {
    const was_invalid = b.invalid_user_input;
    b.invalid_user_input = false;
    const value = b.option(Words, name, description);
    if (b.invalid_user_input) {
        const words = std.mem.join(b.allocator, ", ", std.meta.fieldNames(Words)) catch @panic("OOM");
        std.log.err("-D{s}: expected one of {s}", .{ name, words });
    }
    b.invalid_user_input = b.invalid_user_input or was_invalid;
    return value;
}

fn limit(b: *std.Build, comptime name: []const u8, description: []const u8, default: u32, maximum: u32) u32 {
    const value = b.option(u32, name, description) orelse return default;
    if (value > 0 and value <= maximum) return value;
    std.log.err("-D{s} is {d}; expected 1 to {d}; try -D{s}={d}", .{ name, value, maximum, name, default });
    b.invalid_user_input = true;
    return default;
}
