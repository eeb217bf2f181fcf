"""Records what the family's rounds and examples launch, on the CPU: Triton's own hook sees each launch before it is compiled.

    python -m tests.kernels.recorded NEEDS LIMITS

NEEDS is a file with a list of needs, LIMITS a JSON list of limits. Prints one JSON object: for each of LIMITS `rounds` (how
many) and `from_rounds` (specialization -> launches), and `examples` (for each need what its examples launch). A process of
its own, since Triton keeps one active driver a process.
"""

from __future__ import annotations

import json
import sys
from collections import Counter
from pathlib import Path
from typing import Any

import msgspec
import triton
from triton import knobs

from build_capture.capture.gpu.recorder import specialization_of
from build_capture.capture.triton_steps import AbsentDriver
from build_capture.plan.needs import Need

KERNELS = Path(__file__).resolve().parents[2] / "kernels"


def main() -> None:
    """Record and print."""
    sys.path.insert(0, str(KERNELS))
    from qwen27 import examples

    launched: Counter[str] = Counter()

    def note(*, fn: Any, compile: dict[str, Any], **_: Any) -> bool:
        launched[str(specialization_of(fn.jit_function, compile))] += 1
        return True  # Nothing is compiled, and nothing launched.

    def taken() -> dict[str, int]:
        found = dict(launched)
        launched.clear()
        return found

    triton.runtime.driver.set_active(AbsentDriver(90))
    knobs.runtime.jit_cache_hook = note
    rounds, from_rounds, of_examples = [], [], []
    for limits in json.loads(sys.argv[2]):
        rounds.append(sum(1 for _ in examples.rounds(limits, "cpu")))
        from_rounds.append(taken())
    for need in msgspec.json.decode(Path(sys.argv[1]).read_bytes(), type=list[Need]):
        asked = msgspec.to_builtins(need) | {"constexprs": {name: constant.python for name, constant in need.constexprs.items()}}
        for example in examples.examples(asked, "cpu", True):
            assert all(example.grid) and example.options == {"num_warps": need.options.num_warps, "num_stages": need.options.num_stages}
            example.kernel[example.grid](**example.arguments, **example.constexprs, **example.options)
        of_examples.append(sorted(taken()))
    json.dump({"rounds": rounds, "from_rounds": from_rounds, "examples": of_examples}, sys.stdout)


if __name__ == "__main__":
    main()
