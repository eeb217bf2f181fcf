//! SHA-256 as sets, manifests and `sha256sum` write it: in lower-case hexadecimal.

const std = @import("std");
pub const Hasher = std.crypto.hash.sha2.Sha256;

pub const Hex = [2 * Hasher.digest_length]u8;

/// The hash of `bytes`.
pub fn of(bytes: []const u8) Hex {
    var hasher: Hasher = .init(.{});
    hasher.update(bytes);
    return finish(&hasher);
}

/// The hash of all that a hasher was given.
pub fn finish(hasher: *Hasher) Hex {
    var digest: [Hasher.digest_length]u8 = undefined;
    hasher.final(&digest);
    return std.fmt.bytesToHex(digest, .lower);
}

test "sha256: of three letters" {
    try std.testing.expectEqualStrings("ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad", &of("abc"));
}
