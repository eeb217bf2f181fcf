//! Constants and types that several files share.

pub const hidden = 96;

pub const Mode = enum { causal, full };
