//! Where the stand-in hands each launch to: the probe records it, the coverage test checks it.

const set = @import("set");

/// What a launch can end in. The first two are the engine's own, so that a declaration file that
/// looks at them compiles.
pub const Error = error{
    /// The set has no variant for the launch.
    MissingTritonVariant,
    /// Several variants fit and differ in their launch options.
    AmbiguousTritonVariant,
    /// The launch itself is malformed; the sink holds the message.
    MalformedLaunch,
    /// The sink ran out of memory.
    OutOfMemory,
};

/// One call as the declaration file made it.
pub const Call = struct {
    /// The Triton function's name.
    function: []const u8,
    /// The blocks in each dimension; null for a call that only looks a variant up.
    grid: ?[3]u32,
    /// The runtime arguments in the order of the call.
    arguments: []const set.Arg,
    /// The constexprs that the call names.
    constexprs: []const set.Const,
    /// The launch options that the call passes.
    options: set.Launch,
};

/// The receiver of every call that a `Set` or a `Probe` gets.
pub const Sink = struct {
    /// The receiver's own state.
    context: *anyopaque,
    /// Its two operations.
    functions: *const Functions,

    /// What a receiver implements.
    pub const Functions = struct {
        /// Takes a launch and answers with the variant that it would run.
        launch: *const fn (context: *anyopaque, call: Call) Error!*const set.Variant,
        /// Answers `Set.smallestConst`.
        smallestConst: *const fn (context: *anyopaque, function: []const u8, name: []const u8, at_least: i64) ?i64,
    };
};
