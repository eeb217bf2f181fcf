"""Launching every need on the GPU at hand: its numbers are checked, and what Triton compiled is recorded."""
