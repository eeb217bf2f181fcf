"""The assembler is tried before the first compile."""

from __future__ import annotations

from pathlib import Path

import msgspec
import pytest

from build_capture.capture.compile import compile_needs, describe_kernels
from build_capture.errors import CaptureError, Exit
from build_capture.plan.needs import Class
from build_capture.targets import TARGETS, parse_target
from tests.capture.conftest import Family, need


def test_r12_compile_needs_refuses_an_assembler_that_does_not_know_the_target(family: Family) -> None:
    target = parse_target("sm_121")
    description = describe_kernels(family.folder, ["_add"], target, family.cache)
    old = str(Path(description.assembler).with_name("ptxas"))
    with pytest.raises(CaptureError) as raised:
        compile_needs(
            [need("_add", Class.ANY)],
            msgspec.structs.replace(description, assembler=old),
            family.folder,
            target,
            cache=family.cache,
            jobs=1,
            progress=lambda *_: None,
        )
    message = str(raised.value)
    assert raised.value.code == Exit.TOOL and len(message.splitlines()) < 6 and len(message) < 1000, message
    assert message.startswith(f"{old}: error: this ptxas (12.8.")
    assert "cannot assemble for sm_121; expected one that knows PTX 8.8 and sm_121a, as that of CUDA 12.9 or newer" in message
    assert "--ptxas (of zig build: -Dcapture-ptxas): Triton brought this one" in message
    assert not list((family.cache / "variants" / "results").glob("*.json"))


def test_targets_name_a_cuda_no_older_than_their_ptx() -> None:
    numbers = lambda version: tuple(map(int, version.split(".")))  # noqa: E731
    assert len(TARGETS) == 10
    for target in TARGETS.values():
        ptx, cuda = numbers(target.ptx), numbers(target.cuda)
        # CUDA 11.0 brought PTX 7.0, CUDA 12.0 8.0, CUDA 13.0 9.0.
        assert cuda[0] == ptx[0] + 4 and cuda[1] >= ptx[1], target
