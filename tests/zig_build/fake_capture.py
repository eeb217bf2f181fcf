"""Stands in for the capture under `zig build`: writes a tiny set and its depfile, and logs each start.

It is started as `-Dcapture-python`, so it gets what Python would get: the path of `__main__.py` and the command line. The
folder of this process's log comes first.
"""

import hashlib
import json
import os
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[2]))  # It is started as a script.
from tests.sets.cubins import cubin_bytes  # noqa: E402

DEPENDENCY = "dependency.txt"
"""A file beside the profile that only the depfile names; its text goes into the set."""


def main(log: Path, arguments: list[str]) -> int:
    """Log the start, then write the set; a dependency that says `fail` ends like a kernel that does not compile."""
    with log.open("a", encoding="utf-8") as file:
        file.write(json.dumps(arguments) + "\n")
    program, command = arguments[:2]
    options = dict(zip(arguments[2::2], arguments[3::2], strict=True))
    assert command == "capture" and Path(program).name == "__main__.py", arguments
    profile = Path(options["--profile"]).resolve()
    dependency = profile.parent / DEPENDENCY
    text = dependency.read_text(encoding="utf-8")
    print("[1/1] _copy", file=sys.stderr)
    if text == "fail":
        print("kernels/tiny.py:3:1: error: _copy does not compile", file=sys.stderr)
        return 5
    # The GPU at hand is an H200.
    target = "sm_90" if options["--target"] == "native" else options["--target"]
    write_set(Path(options["--out"]), text, target, sources(profile.parent))
    (Path(options["--out"]) / "cubins" / "0123abcd.ptx").write_bytes(b"not for the install folder")
    write_depfile(Path(options["--depfile"]), [profile, dependency])
    print(f"captured {target} from {text}")
    return 0


def write_set(folder: Path, text: str, target: str, provenance: dict[str, object] | None = None) -> None:
    """One kernel, for one row and an aligned pointer; a text of `unaligned` makes it one that the round does not launch."""
    cubin = cubin_bytes(int(target.removeprefix("sm_")), "_copy", parameters=(8, 8, 8))
    kernel = {
        "fn": "_copy",
        "hash": "0123abcd",
        "name": "_copy",
        "num_warps": 1,
        "num_stages": 1,
        "sha256": sha256(cubin),
        "params": [{"name": "X", "type": "*bf16", "div16": text != "unaligned", "nospec": False}],
        "consts": {"W": {"int": 1}, "D": {"int": 64}},
    }
    manifest = {"generator": text, "target": target, "kernels": [kernel]} | ({} if provenance is None else {"provenance": provenance})
    (folder / "cubins").mkdir(parents=True, exist_ok=True)
    (folder / "aot.json").write_text(json.dumps(manifest), encoding="utf-8")
    (folder / "cubins" / "0123abcd.cubin").write_bytes(cubin)


def sources(project: Path) -> dict[str, object]:
    """The hashes that a capture of this project records."""
    parts = {"profile": hashes(project, "capture.zon"), "declarations": hashes(project, "src/*.zig"), "kernels": hashes(project / "kernels", "*.py")}
    assert all(parts.values()), parts
    return dict(parts)


def hashes(folder: Path, pattern: str) -> dict[str, str]:
    """The SHA-256 of each file that fits the pattern."""
    return {path.relative_to(folder).as_posix(): sha256(path.read_bytes()) for path in sorted(folder.glob(pattern))}


def sha256(data: bytes) -> str:
    """In hexadecimal."""
    return hashlib.sha256(data).hexdigest()


def write_depfile(file: Path, inputs: list[Path]) -> None:
    """In the form Zig parses: one line, spaces escaped."""
    names = " ".join(os.fspath(path).replace(" ", "\\ ") for path in inputs)
    file.write_text(f"set: {names}\n", encoding="utf-8")


if __name__ == "__main__":
    sys.exit(main(Path(sys.argv[1]), sys.argv[2:]))
