//! A captured set: the launches that ask for variants, the variants, and the rule by which they meet.

const launch = @import("launch.zig");

pub const Arg = launch.Arg;
pub const Value = launch.Value;
pub const Pointer = launch.Pointer;
pub const Const = launch.Const;
pub const Launch = launch.Launch;
pub const ptr = launch.ptr;
pub const int = launch.int;
pub const float = launch.float;
pub const word = launch.word;
pub const ci = launch.ci;
pub const cf = launch.cf;

/// The classes of argument values.
pub const class = @import("class.zig");
pub const Class = class.Class;

const variant = @import("variant.zig");
pub const Param = variant.Param;
pub const Constant = variant.Constant;
pub const NamedConstant = variant.NamedConstant;
pub const Variant = variant.Variant;
pub const Set = variant.Set;

test {
    _ = class;
}
