"""The Triton kernels of the qwen27 family, free of any engine.

Every kernel is a top-level ``@triton.jit`` function named as the launch that asks for it; its module's
``LAUNCH_OPTIONS`` holds the options it is compiled with. These modules import triton alone, so that a capture needs no
torch; ``references``, ``rounds``, ``examples`` and what that imports are for tests and the GPU, and all but ``rounds`` and
``asked`` import torch.
"""
