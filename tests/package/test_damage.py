"""Every way of damaging a set's folder is caught, with a message that no other way has."""

from __future__ import annotations

from pathlib import Path

import pytest

from build_capture.package.verify import verify
from tests.package.damage import DAMAGES, Damage, check_each_damage_has_its_own_message, damaged
from tests.package.harness import refusal, unpacked_sample


@pytest.fixture(scope="module")
def whole(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The unpacked sample."""
    return unpacked_sample(tmp_path_factory.mktemp("whole"))


def test_verify_passes_what_is_whole(whole: Path) -> None:
    (verified,) = verify(whole).sets
    assert (verified.target, verified.entries, verified.cubins, verified.packaged) == ("sm_121", 4, 3, True)


@pytest.mark.parametrize("damage", DAMAGES, ids=lambda damage: damage.name)
def test_verify_names_the_damage(damage: Damage, whole: Path, tmp_path: Path) -> None:
    assert damage.message_python in refusal(damaged(damage, whole, tmp_path))


def test_each_damage_has_a_message_of_its_own(whole: Path, tmp_path: Path) -> None:
    check_each_damage_has_its_own_message(refusal, whole, tmp_path)
