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
pub const NamedText = variant.NamedText;
pub const Variant = variant.Variant;
pub const Set = variant.Set;

pub const sha256 = @import("sha256.zig");

const parsing = @import("parse.zig");
pub const parse = parsing.parse;
pub const Diagnostic = parsing.Diagnostic;
/// The largest `aot.json` that engines read, in bytes.
pub const bytes_max = parsing.bytes_max;

/// The rules by which a launch takes a variant.
pub const match = @import("match.zig");
pub const Request = match.Request;
pub const Policy = match.Policy;
pub const Selection = match.Selection;
pub const select = match.select;

test {
    _ = class;
    _ = parsing;
    _ = match;
}
