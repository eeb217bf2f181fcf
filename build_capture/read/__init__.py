"""Declarations and profile as typed records; the Zig reader does the parsing."""
