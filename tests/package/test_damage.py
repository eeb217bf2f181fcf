"""Every way of damaging a set's folder is caught, with a message that no other way has."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

from build_capture.package.verify import verify
from tests.package.damage import DAMAGES, Damage
from tests.package.harness import refusal, unpacked_sample


@pytest.fixture(scope="module")
def whole(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The unpacked sample."""
    return unpacked_sample(tmp_path_factory.mktemp("whole"))


def damaged(damage: Damage, whole: Path, folder: Path) -> Path:
    """A damaged copy of the sample's folder, installed below a prefix of its own."""
    copy = folder / "prefix" / whole.relative_to(whole.parents[3])
    shutil.copytree(whole, copy)
    damage.apply(copy)
    return copy


def test_verify_passes_what_is_whole(whole: Path) -> None:
    (verified,) = verify(whole).sets
    assert (verified.target, verified.entries, verified.cubins, verified.packaged) == ("sm_121", 4, 3, True)


@pytest.mark.parametrize("damage", DAMAGES, ids=lambda damage: damage.name)
def test_verify_names_the_damage(damage: Damage, whole: Path, tmp_path: Path) -> None:
    folder = damaged(damage, whole, tmp_path)
    assert damage.message_python in refusal(folder)


def test_each_damage_has_a_message_of_its_own(whole: Path, tmp_path: Path) -> None:
    said = {damage.name: refusal(damaged(damage, whole, tmp_path / str(number))) for number, damage in enumerate(DAMAGES)}
    assert len(said) == len(DAMAGES) > 15
    for damage in DAMAGES:
        assert [name for name, message in said.items() if damage.message_python in message] == [damage.name]
