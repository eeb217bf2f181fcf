"""From needs to variants: the kernels' own description, and their compilation through Triton."""
