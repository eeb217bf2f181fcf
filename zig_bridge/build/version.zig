//! The one place that says which Zig releases the build helper works with.

const builtin = @import("builtin");

/// Whether the running Zig is one that the helper is tested with. Other releases changed `std.Build`, so that the
/// helper would fail with a type error somewhere inside; `message` says it in one line instead.
pub const is_supported = builtin.zig_version.major == 0 and
    (builtin.zig_version.minor == 16 or builtin.zig_version.minor == 17);

/// What to tell someone whose Zig is not supported.
pub const message = "build_capture works with Zig 0.16 and 0.17; this is Zig " ++ builtin.zig_version_string ++
    "; try `pip install ziglang==0.17.1`";
