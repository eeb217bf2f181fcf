//! How much of anything one run accepts. Real declaration files stay far below every bound; a hostile or broken
//! one meets an error with its place rather than an exhausted stack or memory.

/// Bytes of one file.
pub const file_bytes_max = 1 << 20;
/// Files that one declaration file may reach by import, itself included.
pub const files_max = 256;
/// Constructs of Zig text that may be open inside each other: the parser of the standard library recurses.
pub const nesting_max = 1000;
/// Brackets of a profile that may be open inside each other: each is up to four levels of JSON, and the JSON writer
/// of the standard library tracks 256.
pub const profile_nesting_max = 48;
/// Launches of one declaration file and its siblings.
pub const launches_max = 4096;
/// Bytes of one JSON answer.
pub const output_bytes_max = 64 << 20;
/// Bytes of the JSON of one argument beside its name and expression.
pub const element_bytes = 56;
/// Constants that name each other, one after the next.
pub const alias_chain_max = 16;
/// Declarations of one name in one file; beyond it the name counts as not declared.
pub const same_name_max = 256;
/// Passes that look for functions which hand a launch on: such functions call each other this deep at most.
pub const forwarding_passes_max = 8;
