"""Runs the examples of copies of the kernels on the CPU, and prints what they found as JSON.

    TRITON_INTERPRET=1 python cases.py all|first FOLDER FUNCTION,FUNCTION [FOLDER FUNCTION,FUNCTION ...]

A process of its own: interpreting is decided when a kernel module is imported, and must not reach tests that compile.
Each FOLDER holds one copy of the package `qwen27`; the result is a list in the same order, of {function: {case: failures}};
with `first`, a function's cases end at the first that fails.
"""

from __future__ import annotations

import importlib.util
import json
import sys
import warnings
from pathlib import Path
from types import ModuleType

import torch

sys.path.insert(0, str(Path(__file__).resolve().parent))

import interpreter

TABLES = frozenset({"IDS", "SID", "WIN", "ROWS", "STREAM", "ITEMS", "PARENTS"})
SIZES = {
    "hidden": 192, "intermediate": 320, "block": 128, "vocabulary": 50, "key_heads": 2, "value_heads": 3, "delta_width": 64,
    "heads": 6, "kv_heads": 2, "width": 64, "half": 8, "slice": 64, "chunk": 64, "depth": 128,
}
ROW_CASES = {"one row": {}, "17 rows": {"rows": 17, "streams": 2, "misaligned": TABLES}}
ROUND_CASES = {
    "one row, no committed keys": {"committed": (0,)},
    "on and beside chunk boundaries": {"rows": 7, "streams": 4, "committed": (63, 64, 65, 128), "misaligned": TABLES},
    "on and beside group boundaries": {"rows": 5, "streams": 4, "committed": (255, 256, 257, 900), "padding": 2},
    "folded groups beside none": {"rows": 32, "streams": 2, "committed": (1100, 300)},
    "a path over two chunks": {"rows": 19, "streams": 2, "committed": (62, 250), "branches": False},
    "sixteen items of one row": {"rows": 3, "committed": (1150,)},
}
CASES = {
    "_embed": ROW_CASES,
    "_add_rmsnorm": {f"{name}, HAS_R {int(residual)}": {**case, "residual": residual} for name, case in ROW_CASES.items() for residual in (False, True)},
    "_gdn_pre": ROW_CASES,
    "_gated_norm": ROW_CASES,
    "_swiglu": ROW_CASES,
    "_attn_prep": ROW_CASES,
    "_gate_mul": ROW_CASES,
    "_group_sums": {**ROW_CASES, "rows apart, groups past 16": {"rows": 3, "groups": 18, "stride": 1201}},
    "_paths": {**ROW_CASES, "a deep chain": {"rows": 128, "branches": False}},
    "_shared": ROUND_CASES,
    "_tail": ROUND_CASES,
    "_merge": ROUND_CASES,
}
"""Launch name -> case -> the fields of its need."""


def load(folder: Path, name: str) -> ModuleType:
    """Import the package in ``folder`` under a name of its own, so that several copies live side by side."""
    spec = importlib.util.spec_from_file_location(name, folder / "__init__.py", submodule_search_locations=[str(folder)])
    package = importlib.util.module_from_spec(spec)
    sys.modules[name] = package
    spec.loader.exec_module(package)
    return importlib.import_module(f"{name}.examples")


def late_token(package: ModuleType) -> list[str]:
    """`_embed` of a token whose words begin past 2^31. Only the pages of its row are ever touched."""
    embedding, references = (importlib.import_module(f"{package.__package__}.{name}") for name in ("embedding", "references"))
    width = 1024
    token = 2**31 // (width // 8) + 5
    words = torch.empty(token + 1, width // 8, dtype=torch.int32)
    scales, biases = (torch.empty(token + 1, width // 64, dtype=torch.bfloat16) for _ in range(2))
    words[token] = torch.randint(-(2**31), 2**31, (width // 8,)).to(torch.int32)
    scales[token], biases[token] = torch.randn(2, width // 64)
    ids, out = torch.tensor([token], dtype=torch.int32), torch.full((1, width), float("nan"), dtype=torch.bfloat16)
    embedding._embed[(1, width // 64)](ids, words, scales, biases, out, D=width)
    want = references.embed(ids, words, scales, biases)
    return [] if float((out.double() - want).norm() / want.norm()) < 4e-3 else ["a late token's row is wrong"]


def run(package: ModuleType, function: str, first_failure: bool) -> dict[str, list[str]]:
    """Case -> what failed, for one kernel."""
    geometry = package.Geometry(**SIZES)
    found = {}
    for name, fields in CASES[function].items():
        compared = package.EXAMPLES[function](package.Need(geometry=geometry, **fields), "cpu").run()
        found[name] = [f"{each.what}: error {each.error:.1e}, at most {each.limit:.1e}" for each in compared if not each.error <= each.limit]
        if first_failure and found[name]:
            return found
    if function == "_embed":
        found["a token past 2^31"] = late_token(package)
    return found


def main() -> None:
    """Run and print."""
    warnings.simplefilter("ignore")
    interpreter.install()
    torch.manual_seed(0)
    pairs = zip(sys.argv[2::2], sys.argv[3::2])
    results = []
    for place, (folder, functions) in enumerate(pairs):
        package = load(Path(folder), f"kernels_{place}")
        results.append({function: run(package, function, sys.argv[1] == "first") for function in functions.split(",")})
    json.dump(results, sys.stdout)


if __name__ == "__main__":
    main()
