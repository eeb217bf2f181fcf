"""The proof on a GPU: capture by launching, serve rounds from the set in Zig, and see today's one-stream set fail.

    python tests/gpu/prove.py --zig ZIG --serve QWEN27_SERVE --replay REPLAY [--rounds 500] [--parallel 16] [--policy total]

The Python needs torch, Triton and what build-capture needs. SERVE and REPLAY are qwen27-serve and replay-set-<arch>-linux, which
`zig build install replayer` in examples/qwen27 installs to zig-out/bin; without one of them its part is left out, and the last
line says so. Exits 0 only if every part ran and went as it must.
"""

from __future__ import annotations

import argparse
import json
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parents[2]
PROFILE = ROOT / "examples" / "qwen27" / "capture.zon"
MISSING = ("no captured Triton variant of ", "MissingTritonVariant")
"""What an engine prints where a set lacks a variant."""
REFUSED = 3
"""The exit status of qwen27-serve where a launch was refused."""
FIRST_OF_TWO_STREAMS = 2
"""Its rounds begin with one stream, two, three, …"""


class Part:
    """Parts of the proof, and which of them failed."""

    def __init__(self) -> None:
        self.failed: list[str] = []
        self.left_out: list[str] = []

    def check(self, good: bool, what: str) -> None:
        """Note a statement that must hold."""
        print(f"  {'holds' if good else 'FAILS'}: {what}", flush=True)
        if not good:
            self.failed.append(what)


def run(title: str, command: list[str | Path]) -> subprocess.CompletedProcess[str]:
    """Run a command; prints its title and how long it took."""
    started = time.monotonic()
    done = subprocess.run(list(map(str, command)), capture_output=True, text=True, errors="replace", check=False)
    print(f"== {title}: exit {done.returncode}, {time.monotonic() - started:.1f} s", flush=True)
    return done


def run_with_findings(title: str, command: list[str | Path]) -> tuple[subprocess.CompletedProcess[str], dict[str, Any]]:
    """Run a program with `--json`, show what it said; returns what came of it and what it found, empty where it printed none."""
    done = run(title, [*command, "--json"])
    findings = json.loads(done.stdout) if done.stdout else {}
    print(indented(done.stderr + json.dumps(findings, indent=1), 40))
    return done, findings


def capture(title: str, arguments: argparse.Namespace, out: Path, *more: str | Path) -> dict[str, Any] | None:
    """Capture through the command line; returns its summary, or None after printing what it said."""
    command: list[str | Path] = [sys.executable, ROOT / "build_capture", "capture", "--profile", PROFILE, "--zig", arguments.zig, "--target", "native"]
    cache = arguments.folder / "cache"
    done = run(title, [*command, "--cache-dir", cache, "--out", out, "--json", *more])
    if done.returncode != 0:
        print(done.stderr)
        return None
    return json.loads(done.stdout)


def prove_capture(part: Part, arguments: argparse.Namespace, set_: Path, values: Path) -> bool:
    """Every need launched and verified, and what is recorded is what is enumerated. Returns whether there is a set."""
    asked = ("--mode", "gpu", "--parallel", arguments.parallel, "--values", values)
    summary = capture(f"capture in mode gpu, {arguments.parallel} streams", arguments, set_, *map(str, asked))
    if summary is None:
        part.check(False, "the capture comes to a set")
        return False
    gpu = summary["gpu"]
    print(f"  {gpu['device']}, {summary['target']}, Triton {provenance(set_)['toolchain']['triton']}\n")
    print("  | kernel | needs | launched | verified | launches | nearest to its limit | error | limit |")
    print("  | --- | ---: | ---: | ---: | ---: | --- | ---: | ---: |")
    for kernel in gpu["kernels"]:
        counts = " | ".join(str(kernel[name]) for name in ("needs", "launched", "verified", "launches"))
        print(f"  | `{kernel['function']}` | {counts} | {kernel['output']} | {kernel['error']:.1e} | {kernel['limit']:.1e} |")
    needs, launched, verified = (sum(kernel[name] for kernel in gpu["kernels"]) for name in ("needs", "launched", "verified"))
    print(f"\n  {gpu['rounds']} rounds made {gpu['round_launches']} launches of {gpu['round_specializations']} specializations")
    same = needs == launched == verified == summary["needs"] == summary["variants"] > 0
    part.check(same, f"needs {summary['needs']} = launched {launched} = verified {verified}")
    recorded = (gpu["recorded"], gpu["enumerated"], gpu["round_specializations"])
    same = gpu["differences"] == 0 and set(recorded) == {summary["needs"]}
    part.check(same, "recorded {}, enumerated {}, from rounds alone {}, {} differences".format(*recorded, gpu["differences"]))
    return True


def provenance(set_: Path) -> dict[str, Any]:
    """What a set says it was made of."""
    return json.loads((set_ / "aot.json").read_text())["provenance"]


def prove_same(part: Part, arguments: argparse.Namespace, set_: Path) -> None:
    """A capture without the GPU holds the same kernels; a second one with it is the same to the byte."""
    alone, again = arguments.folder / "compiled", arguments.folder / "again"
    if capture("the same in mode compile", arguments, alone, "--parallel", str(arguments.parallel)) is not None:
        kernels = [json.loads((each / "aot.json").read_text())["kernels"] for each in (set_, alone)]
        cubins = [{path.name: path.read_bytes() for path in (each / "cubins").iterdir()} for each in (set_, alone)]
        part.check(kernels[0] == kernels[1] and cubins[0] == cubins[1], f"both sets have the same {len(cubins[0])} cubins and entries, byte for byte")
    else:
        part.check(False, "the capture in mode compile comes to a set")
    if capture("mode auto", arguments, again, "--mode", "auto", "--parallel", str(arguments.parallel)) is not None:
        part.check((set_ / "aot.json").read_bytes() == (again / "aot.json").read_bytes(), "auto takes the GPU and gives the same aot.json")
    else:
        part.check(False, "the capture in mode auto comes to a set")


def prove_policy(part: Part, arguments: argparse.Namespace, policy: str) -> None:
    """Every cubin that a policy puts into a set is launched too, whether it is that of a need or further code."""
    out = arguments.folder / policy
    summary = capture(f"policy {policy} in mode gpu", arguments, out, "--mode", "gpu", "--policy", policy, "--parallel", str(arguments.parallel))
    if summary is None:
        part.check(False, f"the capture by policy {policy} comes to a set")
        return
    launched, further = (sum(kernel[name] for kernel in summary["gpu"]["kernels"]) for name in ("launched", "further"))
    print(f"  {summary['cubins']} cubins; launched and verified: those of {launched} needs, and {further} that no need has")
    part.check(launched == summary["needs"], f"policy {policy}: needs {summary['needs']} = launched {launched}")


def prove_serving(part: Part, arguments: argparse.Namespace, set_: Path) -> None:
    """The Zig program serves from the set alone; from a one-stream set it fails with the engine's lines."""
    how_many = ["--rounds", str(arguments.rounds), "--parallel", str(arguments.parallel)]
    done, served = run_with_findings(f"serve {arguments.rounds} rounds in Zig", [arguments.serve, set_, *how_many])
    part.check(done.returncode == 0, f"{arguments.rounds} random rounds: no launch refused, no bit differs")
    limits, findings = provenance(set_)["limits"], served.get("findings", {})
    part.check(findings.get("rows_most") == limits["parallel"] * limits["window_rows"], f"W up to {findings.get('rows_most')}")
    one = arguments.folder / "one"
    if capture("capture for one stream and one row", arguments, one, "--parallel", "1", "--window-rows", "1") is None:
        part.check(False, "the capture for one stream comes to a set")
        return
    done, served = run_with_findings("serve from the one-stream set", [arguments.serve, one, *how_many])
    failed = done.returncode == REFUSED and served.get("findings", {}).get("first_refused") == FIRST_OF_TWO_STREAMS
    part.check(failed and all(words in done.stderr for words in MISSING), "the one-stream set fails at the first round of two streams with the engine's lines")


def prove_replay(part: Part, arguments: argparse.Namespace, set_: Path, values: Path) -> None:
    """Every variant of all kernels, launched from Zig, writes what it wrote for Python."""
    done, replayed = run_with_findings("replay every variant in Zig", [arguments.replay, set_, values])
    part.check(done.returncode == 0, "what is launched from Zig writes the same bits")
    there = len(list((set_ / "cubins").iterdir()))
    launched = sum(function["cubins_launched"] for function in replayed.get("functions", []))
    part.check(launched == there > 0, f"{launched} of {there} cubins were launched from Zig")


def indented(text: str, most: int) -> str:
    """The last lines of what a program said."""
    lines = text.splitlines()
    shown = [f"({len(lines) - most} lines before)", *lines[-most:]] if len(lines) > most else lines
    return "\n".join(f"    {line}" for line in shown)


def main() -> int:
    """Run every part."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--zig", required=True, help="the Zig compiler")
    parser.add_argument("--serve", type=Path, help="the program qwen27-serve")
    parser.add_argument("--replay", type=Path, help="the program replay")
    parser.add_argument("--rounds", type=int, default=500, help="random rounds to serve")
    parser.add_argument("--parallel", type=int, default=16, help="streams of a round")
    parser.add_argument("--policy", action="append", default=[], choices=("compact", "total"), help="also capture by this policy, and launch what it adds")
    parser.add_argument("--folder", type=Path, help="where sets and values go; a new one, which stays")
    arguments = parser.parse_args()
    arguments.folder = Path(tempfile.mkdtemp(prefix="prove-")) if arguments.folder is None else arguments.folder.resolve()
    part, set_, values = Part(), arguments.folder / "set", arguments.folder / "values"
    if prove_capture(part, arguments, set_, values):
        prove_same(part, arguments, set_)
        for name, prove in (("serve", lambda: prove_serving(part, arguments, set_)), ("replay", lambda: prove_replay(part, arguments, set_, values))):
            if getattr(arguments, name) is None:
                part.left_out.append(name)
            else:
                prove()
        for policy in arguments.policy:
            prove_policy(part, arguments, policy)
    for name in part.left_out:
        print(f"left out: --{name} was not given")
    print("NOT proved: " + "; ".join([*part.failed, *part.left_out]) if part.failed or part.left_out else f"proved; sets and values are in {arguments.folder}")
    return 1 if part.failed or part.left_out else 0


if __name__ == "__main__":
    sys.exit(main())
