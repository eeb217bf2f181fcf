//! Which variant of a set a launch takes under each policy, by the rules of engines.
//!
//! - `exact`: the first variant in file order that fits. Launch options play no part, as in every engine.
//! - `pinned`: variants with other options than the launch pins do not fit; where those that fit differ in an option
//!   that the launch leaves open, it is ambiguous.
//! - `fallback`: as `pinned`; where nothing fits, the variant whose every assumption the launch keeps, the one that
//!   shares most of the launch's hints, then the first in file order.
//!
//! build_capture/sets/match.py answers the same; a test compares the two.

const rule = @import("rule.zig");
const variant_types = @import("variant.zig");
const difference = @import("difference.zig");
const Set = variant_types.Set;
const Variant = variant_types.Variant;

pub const Request = rule.Request;
pub const Difference = difference.Difference;
pub const Differences = difference.Differences;
pub const compare = rule.compare;

const ambiguities = @import("ambiguity.zig");
pub const Ambiguity = ambiguities.Ambiguity;
pub const ambiguity = ambiguities.ambiguity;

/// The rules by which engines choose.
pub const Policy = enum { exact, pinned, fallback };

/// What a launch gets from a set.
pub const Selection = union(enum) {
    /// The variant fits.
    exact: *const Variant,
    /// No variant fits; this one assumes less than the launch keeps.
    fallback: *const Variant,
    /// No variant serves the launch.
    missing,
    /// Variants with other options fit, and the launch pins none.
    ambiguous: Pair,
};

/// Two variants that fit one launch, in file order.
pub const Pair = struct {
    first: *const Variant,
    second: *const Variant,
};

/// The variant that the launch takes under the policy.
pub fn select(set: *const Set, request: Request, policy: Policy) Selection {
    const first = firstFitting(set, request, policy) orelse {
        const general = if (policy == .fallback) mostGeneral(set, request) else null;
        return if (general) |variant| .{ .fallback = variant } else .missing;
    };
    if (policy != .exact) {
        if (firstWithOtherOptions(set, request, first)) |second| {
            return .{ .ambiguous = .{ .first = first, .second = second } };
        }
    }
    return .{ .exact = first };
}

/// The first variant in file order that fits; null if none does.
pub fn exact(set: *const Set, request: Request) ?*const Variant {
    return firstFitting(set, request, .exact);
}

fn firstFitting(set: *const Set, request: Request, policy: Policy) ?*const Variant {
    var first: ?*const Variant = null;
    var fitting = set.index.fitting(request);
    while (fitting.next()) |variant| {
        if (policy != .exact and !rule.keepsPins(variant, request.options)) continue;
        if (first == null or variant.isBefore(first.?)) first = variant;
    }
    return first;
}

fn firstWithOtherOptions(set: *const Set, request: Request, first: *const Variant) ?*const Variant {
    var other: ?*const Variant = null;
    var fitting = set.index.fitting(request);
    while (fitting.next()) |variant| {
        if (!rule.keepsPins(variant, request.options)) continue;
        const warps_differ = request.options.num_warps == null and variant.num_warps != first.num_warps;
        const stages_differ = request.options.num_stages == null and variant.num_stages != first.num_stages;
        if (!warps_differ and !stages_differ) continue;
        if (other == null or variant.isBefore(other.?)) other = variant;
    }
    return other;
}

fn mostGeneral(set: *const Set, request: Request) ?*const Variant {
    var best: ?*const Variant = null;
    var most: usize = 0;
    for (set.index.ofConstexprs(request)) |variant| {
        if (!rule.keepsPins(variant, request.options)) continue;
        const shared = rule.hintsShared(variant, request) orelse continue;
        if (best != null and shared <= most) continue;
        best = variant;
        most = shared;
    }
    return best;
}

/// A variant that does not fit, with the reasons.
pub const Near = struct {
    /// The variant.
    variant: *const Variant,
    /// What keeps the launch from taking it.
    differences: Differences,
};

/// The variant of the function with the fewest differences, the first in file order where several
/// have as few; null where the set has no variant of the function at all.
pub fn nearest(set: *const Set, request: Request) ?Near {
    var best: ?Near = null;
    for (set.ofFunction(request.function)) |variant| {
        const differences = compare(variant, request);
        if (best == null or differences.count < best.?.differences.count) {
            best = .{ .variant = variant, .differences = differences };
        }
    }
    return best;
}

test {
    _ = @import("match_test.zig");
    _ = @import("policy_test.zig");
    _ = @import("index_test.zig");
}
