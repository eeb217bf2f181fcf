"""Captured sets: `aot.json` and its cubins."""
