"""The process that launches, on a GPU that is made up: Triton compiles and tells of it as ever, and PyTorch computes on the CPU.

    python tests/capture/fake_gpu.py CAPABILITY REQUEST ANSWER
"""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

import triton

sys.path[0] = str(Path(__file__).resolve().parents[2])

from build_capture.capture.gpu import worker  # noqa: E402  (the path has to be right first)
from build_capture.capture.triton_steps import AbsentDriver  # noqa: E402


class Utilities:
    """What Triton asks of a driver when it loads a kernel."""

    def __init__(self) -> None:
        self.loaded = 0

    def load_binary(self, name: str, kernel: bytes, shared: int, device: int) -> tuple[int, int, int, int, int]:
        """A module, a handle of its own for each kernel, registers, spills, and the threads that a block may have."""
        self.loaded += 1
        return 1, self.loaded, 32, 0, 1024

    def get_device_properties(self, device: int) -> dict[str, int]:
        """How much shared memory there is."""
        return {"max_shared_mem": 232448}


class Launcher:
    """Launches: calls the hook as Triton's own launcher does, then does what the kernel would."""

    def __init__(self, source: Any, metadata: Any) -> None:
        self.name = metadata.name

    def __call__(self, x: int, y: int, z: int, stream: int, function: int, packed: Any, launch: Any, enter: Any, leave: Any, *arguments: Any) -> None:
        """`_add` and `_scale` of conftest."""
        enter(launch)
        source, out, count = arguments[:3]
        out[:count] = source[:count] + 1 if self.name == "_add" else source[:count] * 2


class FakeDriver(AbsentDriver):
    """An absent GPU that can launch."""

    def __init__(self, capability: int) -> None:
        super().__init__(capability)
        self.utils, self.launcher_cls = Utilities(), Launcher


if __name__ == "__main__":
    triton.runtime.driver.set_active(FakeDriver(int(sys.argv[1])))
    sys.exit(worker.main(sys.argv[2:]))
