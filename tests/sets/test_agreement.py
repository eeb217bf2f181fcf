"""The matchers in Python and in Zig give the same for random sets and launches, and so do the parsers for broken sets."""

from __future__ import annotations

import json
import re
import subprocess
from collections import Counter
from collections.abc import Sequence
from pathlib import Path
from random import Random
from typing import get_args

import msgspec
import pytest

from build_capture.sets.index import Index
from build_capture.sets.launch import Launch
from build_capture.sets.match import Ambiguity, Match, Policy, ambiguities, match, nearest
from build_capture.sets.model import SetKernel
from build_capture.sets.parse import UNSEALED, parse
from build_capture.sets.rule import fits
from build_capture.zig import zig_sources
from tests.families.conftest import zig_of
from tests.sets.draw import draw_kernels, draw_launch, draw_text, without_seals
from tests.sets.mutate import mutate_claim, mutate_text

LAUNCHES_OF_A_SET = 25
KEPT_BY_ZIG = 8
"""How many differences of a variant Zig keeps."""


@pytest.fixture(scope="module")
def answerer(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The program that answers with the matcher in Zig."""
    folder = tmp_path_factory.mktemp("agreement")
    modules = ["--dep", "set", f"-Mroot={Path(__file__).with_name('agreement.zig')}", f"-Mset={zig_sources() / 'set' / 'set.zig'}"]
    # Zig's own backend compiles it in a second, LLVM in ten.
    mode = ["-OReleaseSafe", "-fno-llvm", "-fno-lld"]
    command = [zig_of("BUILD_CAPTURE_ZIG_0_16"), "build-exe", *mode, f"-femit-bin={folder / 'answer'}", "--cache-dir", str(folder / "cache")]
    subprocess.run([*command, *modules], check=True, cwd=folder)
    return folder / "answer"


def ask(answerer: Path, folder: Path, lines: Sequence[bytes]) -> list[str]:
    """What the matcher in Zig answers to each line."""
    (folder / "questions").write_bytes(b"\n".join(lines))
    subprocess.run([answerer, folder / "questions", folder / "answers"], check=True)
    return (folder / "answers").read_text().splitlines()


def question(launch: Launch) -> bytes:
    """A launch as agreement.zig reads it."""
    arguments = [(each.name, each.type, each.value) for each in launch.arguments]
    constexprs = [(each.name, each.kind, each.value) for each in launch.constexprs]
    return msgspec.json.encode((launch.function, arguments, constexprs, launch.num_warps, launch.num_stages))


def answer(index: Index, places: dict[int, int], launch: Launch, shares: Counter[str]) -> str:
    """What the matcher in Python answers, in the words of agreement.zig; `places` are those of the entries in the file."""
    texts = []
    for policy in get_args(Policy):
        found = match(index, launch, policy)
        shares[f"{policy}: {found.kind}"] += 1
        if found.kernel is None:
            texts.append("missing")
        else:
            second = f" {places[id(second_of(found, launch))]}" if found.kind == "ambiguous" else ""
            texts.append(f"{found.kind} {places[id(found.kernel)]}{second}")
    unclear = ambiguities(index.fitting(launch), launch)
    texts.append(show_ambiguity(unclear[0], places) if unclear else "")
    shares["left to file order"] += bool(unclear)
    shares["an unnamed constexpr"] += any(each.what not in ("num_warps", "num_stages", "code") for each in unclear)
    if texts[2] == "missing" and (near := nearest(index, launch)):
        told = "".join(f"{difference}; " for difference in near.differences[:KEPT_BY_ZIG])
        texts[3] += f"near {places[id(near.kernel)]} by {len(near.differences)}: {told}"
        shares["differs in one thing"] += len(near.differences) == 1
    return " ".join(texts)


def second_of(found: Match, launch: Launch) -> SetKernel:
    """Of an ambiguous match the first entry with other options than the one that is first of all."""
    open_options = [name for name in ("num_warps", "num_stages") if getattr(launch, name) is None]
    return next(other for other in found.others if any(getattr(other, name) != getattr(found.kernel, name) for name in open_options))


def show_ambiguity(unclear: Ambiguity, places: dict[int, int]) -> str:
    return f"{unclear.what} {places[id(unclear.kernels[0])]} {places[id(unclear.kernels[1])]}"


def check_agreement(answerer: Path, folder: Path, seed: int, sets: int) -> Counter[str]:
    """Wants the same answers for each launch of `sets` random sets; returns how often each outcome came up."""
    random = Random(seed)
    lines, wanted = [], []
    shares: Counter[str] = Counter()
    for _ in range(sets):
        text = draw_text(random, draw_kernels(random))
        parsed = parse(text)
        assert parsed.captured is not None, parsed.faults
        shares["foreign"] += parsed.foreign
        lines.append(b"S" + text)
        wanted.append("foreign" if parsed.foreign else "ok")
        kernels = parsed.captured.kernels
        index, places = Index(kernels), {id(kernel): place for place, kernel in enumerate(kernels)}
        for _ in range(LAUNCHES_OF_A_SET):
            launch = draw_launch(random, kernels)
            lines.append(b"L" + question(launch))
            wanted.append(answer(index, places, launch, shares))
    answers = ask(answerer, folder, lines)
    assert len(answers) == len(wanted)
    for place, (got, want) in enumerate(zip(answers, wanted, strict=True)):
        if got != want:
            latest = next(line for line in reversed(lines[: place + 1]) if line.startswith(b"S"))
            pytest.fail(f"Zig: {got}\nPython: {want}\n{lines[place].decode()}\n{latest.decode()}")
    return shares


WANTED_SHARES = {
    "exact: exact": (0.4, 0.7),
    "exact: missing": (0.3, 0.6),
    "pinned: exact": (0.3, 0.6),
    "pinned: missing": (0.3, 0.6),
    "pinned: ambiguous": (0.04, 0.2),
    "fallback: exact": (0.3, 0.6),
    "fallback: fallback": (0.07, 0.3),
    "fallback: missing": (0.2, 0.6),
    "fallback: ambiguous": (0.04, 0.2),
    "left to file order": (0.06, 0.3),
    "an unnamed constexpr": (0.04, 0.2),
    "differs in one thing": (0.15, 0.4),
}
"""The least and the most of the launches that each outcome must have: a comparison of nothing would tell nothing."""


def check_shares(shares: Counter[str], sets: int) -> None:
    launches = sets * LAUNCHES_OF_A_SET
    for name, (least, most) in WANTED_SHARES.items():
        assert least <= shares[name] / launches <= most, name
    assert 0.4 < shares["foreign"] / sets < 0.6
    assert all(sum(count for name, count in shares.items() if name.startswith(policy + ":")) == launches for policy in get_args(Policy))


def test_match_agrees_in_python_and_zig(answerer: Path, tmp_path: Path) -> None:
    check_shares(check_agreement(answerer, tmp_path, seed=20, sets=4000), 4000)


@pytest.mark.full
@pytest.mark.parametrize("seed", range(10))
def test_match_agrees_in_python_and_zig_a_million_times(answerer: Path, tmp_path: Path, seed: int) -> None:
    check_shares(check_agreement(answerer, tmp_path, seed, sets=4000), 4000)


def test_parse_agrees_in_python_and_zig(answerer: Path, tmp_path: Path) -> None:
    random = Random(21)
    texts = []
    for _ in range(2000):
        kernels = draw_kernels(random)
        texts.append(mutate_text(random, draw_text(random, kernels)) if random.random() < 0.6 else mutate_claim(random, kernels))
    document = without_seals(draw_kernels(random))
    names = ["build-capture", {"name": "build-capture", "version": "9"}, {"name": ["build-capture"]}, {"version": "1"}, "another", 5]
    texts += [json.dumps(document | change | {"generator": name}).encode() for name in names for change in ({}, {"kernels": []})]
    read = [parse(text) for text in texts]
    wanted = [parsed.faults[0] if parsed.faults else "foreign" if parsed.foreign else "ok" for parsed in read]
    assert ask(answerer, tmp_path, [b"S" + text for text in texts]) == wanted
    kinds = Counter(re.sub(r"[0-9]+|hash\d|`[A-Za-z]`", "?", verdict) for verdict in wanted)
    assert 0.1 < kinds["ok"] / len(texts) < 0.5 and 0.02 < kinds["foreign"] / len(texts) < 0.4
    assert len(kinds) > 60, "too few kinds of faults came up"
    assert [text for text, verdict in zip(texts, wanted, strict=True) if verdict == UNSEALED] == [texts[2000], texts[2002]]


@pytest.mark.parametrize("half", ["\\ud800", "\\udc00", "\\ud800\\ud800"])
def test_half_of_a_surrogate_pair_is_no_json_in_python_and_zig(answerer: Path, tmp_path: Path, half: str) -> None:
    text = f'{{"kernels": [], "provenance": {{"a": ["{half}"]}}}}'.encode()
    (verdict,) = ask(answerer, tmp_path, [b"S" + text])
    assert "no valid JSON" in verdict and "no valid JSON" in parse(text).faults[0]


def test_index_finds_what_a_comparison_with_each_entry_finds() -> None:
    random = Random(22)
    found = 0
    for _ in range(200):
        kernels = draw_kernels(random)
        index = Index(kernels)
        for _ in range(LAUNCHES_OF_A_SET):
            launch = draw_launch(random, kernels)
            wanted = [kernel for kernel in kernels if kernel.fn == launch.function and fits(kernel, launch)]
            assert [*map(id, index.fitting(launch))] == [*map(id, wanted)]
            found += len(wanted)
    assert found > 1000
