//! What the launches of the qwen27 family take: addresses that belong together, and shapes.

/// A table of 4-bit values with a scale and a bias for each group of 64.
pub const Affine = struct { words: u64, scales: u64, biases: u64 };

/// The projections of a DeltaNet layer and the tables that its convolution follows.
pub const Delta = struct {
    qkv: u64,
    conv_state: u64,
    conv_weight: u64,
    windows: u64,
    a: u64,
    b: u64,
    a_log: u64,
    dt_bias: u64,
    q: u64,
    k: u64,
    v: u64,
    g: u64,
    beta: u64,
    /// Each row's stream, or null in a round of one stream.
    stream_ids: ?u64,
};

/// The heads of a DeltaNet layer.
pub const DeltaShape = struct { key_heads: usize, value_heads: usize, width: usize, kept: usize };

/// The heads of an attention layer.
pub const AttentionShape = struct { heads: usize, kv_heads: usize, width: usize };

/// How committed keys are cut, and how deep a tree of new rows can be.
pub const Chunks = struct { keys: usize, in_group: usize, depth_max: usize };

/// A layer's committed keys and values: one origin, and each stream's offsets from it.
pub const Cache = struct { origin: u64, offsets: u64 };

/// The unnormalised outputs of each slot, with their maxima and sums.
pub const Partials = struct { out: u64, maximum: u64, sum: u64 };

/// What the attention of one round reads beside the cache.
pub const Plan = struct {
    streams: u64,
    rows: u64,
    items: u64,
    item_count: usize,
    paths: u64,
    depths: u64,
    row_count: usize,
};

/// Head preparation of an attention layer.
pub const Prep = struct {
    query_gate: u64,
    key: u64,
    query_norm: u64,
    key_norm: u64,
    positions: u64,
    frequencies: u64,
    query_out: u64,
    key_out: u64,
    eps: f32,
    rotary_half: usize,
    height_section: usize,
    width_section: usize,
};
