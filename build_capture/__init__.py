"""build-capture: the build step that makes a Zig serving engine's Triton kernels complete."""

__version__ = "0.1.0"
