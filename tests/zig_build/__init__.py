"""Tests of the build helper: what `zig build` does in a consumer."""
