"""What is wrong with a cubin, in Python and in Zig: the same, in the same words, whatever its bytes are."""

from __future__ import annotations

import json
from collections import Counter, defaultdict
from pathlib import Path
from random import Random

from build_capture.sets.inspect import inspect
from build_capture.sets.model import SetKernel
from build_capture.targets import parse_target
from tests.sets.cubins import cubin_bytes
from tests.sets.draw import without_seals
from tests.sets.entries import entry, param
from tests.verify.conftest import Verifier

GOOD = cubin_bytes(121, "_f", parameters=(8, 4, 8, 8), block=(128, 1, 1), cluster=(1, 1, 1), shared=2048)
INFO = range(GOOD.index(bytes([4, 0x17, 12, 0])) - 8, GOOD.index(bytes([4, 0x17, 12, 0])) + 104)
"""Where it says how the entry is launched."""

CUBINS = 1000
TELLING = (0, 1, 2, 3, 4, 8, 12, 0x10, 0x17, 0x3D, 0x7F, 0xFF)


def mutated(random: Random) -> bytes:
    """The cubin with up to three other bytes, most of them among those that say how it is launched; or cut short."""
    data = bytearray(GOOD)
    for _ in range(random.choice([0, 1, 1, 1, 2, 3])):
        at = random.choice(INFO) if random.random() < 0.6 else random.randrange(len(data))
        data[at] = random.choice(TELLING) if random.random() < 0.8 else random.randrange(256)
    return bytes(data if random.random() < 0.95 else data[: random.randrange(len(data))])


def write_set(folder: Path, cubins: dict[str, bytes]) -> dict[str, SetKernel]:
    """A set of another tool, which records no hashes: an entry for each cubin."""
    kernels = {name: entry(param("X", "*bf16"), param("n"), hash=name, consts={"D": number}, sha256="") for number, name in enumerate(cubins)}
    (folder / "cubins").mkdir()
    for name, data in cubins.items():
        (folder / "cubins" / f"{name}.cubin").write_bytes(data)
    document = without_seals(list(kernels.values())) | {"generator": "another"}
    (folder / "aot.json").write_text(json.dumps(document))
    return kernels


def test_inspect_agrees_in_python_and_zig(verifier: Verifier, tmp_path: Path) -> None:
    random = Random(2)
    cubins = {f"h{number}": mutated(random) for number in range(CUBINS)}
    kernels = write_set(tmp_path, cubins)
    found = defaultdict(list)
    for problem in json.loads(verifier.run(tmp_path, "--json").stdout)["sets"][0]["problems"]:
        found[Path(problem["file"]).stem].append(problem["what"])
    target = parse_target("sm_121")
    wanted = {name: inspect(data, [kernels[name]], target).problems for name, data in cubins.items()}
    assert {name: sorted(found[name]) for name in cubins} == {name: sorted(problems) for name, problems in wanted.items()}
    kinds = Counter("".join(letter for letter in problem if not letter.isdigit()) for problems in wanted.values() for problem in problems or ["good"])
    assert CUBINS / 5 < kinds["good"] < CUBINS * 4 / 5 and len(kinds) > 12, kinds
