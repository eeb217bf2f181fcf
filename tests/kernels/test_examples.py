"""Every kernel against its reference on the CPU, and proof that each of these checks can fail."""

import shutil

import pytest

from tests.kernels.interpreted import FUNCTIONS, KERNELS, run_cases

MUTATIONS = {
    "_embed": ("embedding.py", "(4 * (lane % 8))", "(4 * (7 - lane % 8))"),
    "_add_rmsnorm": ("norms.py", "hidden.to(tl.float32) + tl.load(R", "hidden.to(tl.float32) - tl.load(R"),
    "_gdn_pre": ("deltanet.py", "raw > 20.0, raw,", "raw > 2.0, raw,"),
    "_gated_norm": ("norms.py", "z / (1.0 + tl.exp(-z))", "z / (1.0 + tl.exp(z))"),
    "_swiglu": ("gates.py", "first = block * (BLOCK // 64)", "first = block"),
    "_attn_prep": ("heads.py", "lane < HALF, -tl.sin(angle), tl.sin(angle)", "lane < HALF, tl.sin(angle), tl.sin(angle)"),
    "_gate_mul": ("gates.py", "(2 * D) + D + lane", "(2 * D) + lane"),
    "_group_sums": ("gates.py", "* ldx", "* (KG * GS)"),
    "_paths": ("tree.py", "depth - 1 - step", "step"),
    "_shared": ("shared_keys.py", "(chunk + 1) * CH <= committed", "chunk * CH <= committed"),
    "_tail": ("own_keys.py", "begin = tl.maximum(chunk * CH - committed, 0)", "begin = committed * 0"),
    "_merge": ("own_keys.py", "slot + 3, slots,", "slot + 2, slots,"),
}
"""Kernel -> module, what it says, and what the broken copy says instead."""

MORE_MUTATIONS = {
    "an item's pairs beside the first": ("_shared", "shared_keys.py", "first_pair + taken * 16", "first_pair + taken * 8"),
    "the order of a folded group": ("_shared", "shared_keys.py", "code * GR, groups", "code, groups"),
    "the weights of a fold": ("_merge", "partials.py", "keep = tl.exp(m - finite)\n    add", "keep = tl.exp(m - m)\n    add"),
    "the state of a stream": ("_gdn_pre", "deltanet.py", "state = tl.load(SID + row)", "state = tl.load(SID)"),
    "the hidden row": ("_add_rmsnorm", "norms.py", "tl.store(H + at, hidden, mask=inside)", "tl.store(Y + at, hidden, mask=inside)"),
}
"""What breaks -> kernel, module, what it says, and what the broken copy says instead."""


@pytest.fixture(scope="module")
def found():
    """Function -> case -> failures, of the kernels as they are."""
    return run_cases([(KERNELS, FUNCTIONS)])[0]


@pytest.mark.parametrize("function", FUNCTIONS)
def test_example_agrees_with_the_reference(found, function):
    assert len(found[function]) >= 2
    assert {case: failures for case, failures in found[function].items() if failures} == {}


@pytest.fixture(scope="module")
def broken(tmp_path_factory):
    """Mutation -> case -> failures, each of a broken copy of the kernels."""
    mutations = {function: (function, *change) for function, change in MUTATIONS.items()} | MORE_MUTATIONS
    pairs = []
    for place, (function, module, old, new) in enumerate(mutations.values()):
        folder = tmp_path_factory.mktemp(f"broken_{place}") / "qwen27"
        shutil.copytree(KERNELS, folder, ignore=shutil.ignore_patterns("__pycache__"))
        text = (folder / module).read_text(encoding="utf-8")
        assert text.count(old) >= 1, f"{module} no longer says {old}"
        (folder / module).write_text(text.replace(old, new), encoding="utf-8")
        pairs.append((folder, [function]))
    return {name: next(iter(result.values())) for name, result in zip(mutations, run_cases(pairs, first_failure=True), strict=True)}


@pytest.mark.parametrize("mutation", [*FUNCTIONS, *MORE_MUTATIONS])
def test_example_finds_a_broken_kernel(broken, mutation):
    assert any(broken[mutation].values())


def test_every_kernel_has_a_mutation():
    assert sorted(MUTATIONS) == sorted(FUNCTIONS)
