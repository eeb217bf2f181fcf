"""The tables of a round, against the contract's formulas."""

import sys

import pytest

from tests.kernels.interpreted import KERNELS

sys.path.append(str(KERNELS.parent))

from qwen27 import rounds


@pytest.mark.parametrize(
    ("committed", "rows", "groups", "slots"),
    [(0, 1, 0, 1), (511, 1, 0, 1), (511, 2, 0, 2), (512, 1, 0, 2), (8191, 16, 0, 17), (8192, 16, 4, 5), (8192, 15, 0, 17), (131072, 1, 64, 65), (75187, 1, 0, 147)],
)
def test_slots_of_a_window(committed, rows, groups, slots):
    assert rounds.groups(committed, rows) == groups
    assert rounds.slots(committed, rows) == slots


@pytest.mark.parametrize("rows", [1, 2, 3, 16])
def test_items_number_as_the_contract_says(rows):
    windows = [rounds.chain(9000, rows), rounds.chain(300, 1)]
    folded = rounds.groups(9000, rows)
    want = (folded + 9000 // 512 - 4 * folded) * -(-rows * 6 // 16)
    assert len(rounds.items(windows, 6)) == 3 * want


def test_uploads_of_several_streams_lie_where_the_contract_says():
    windows = [rounds.chain(1200, 3), rounds.Window(0, (-1, 0, 0, 1)), rounds.chain(512, 1)]
    w, s = 8, 3
    made = rounds.tables(windows, range(w), 6)
    n = len(made["ITEMS"]) // 3
    (upload,) = rounds.uploads(made)
    assert upload.places == {
        "POS": 0, "SID": w, "DELTA": 2 * w, "STARTS": 5 * w, "IDS": 5 * w + s + 1, "WIN": 6 * w + s + 1, "ROWS": 10 * w + s + 1,
        "STREAM": 11 * w + s + 1, "ITEMS": 11 * w + 5 * s + 1, "PARENTS": 11 * w + 5 * s + 1 + 3 * n,
    }  # fmt: skip
    assert len(upload.words) == upload.places["PARENTS"] + w


def test_uploads_of_one_stream_lie_where_the_contract_says():
    made = rounds.tables([rounds.chain(1200, 3)], range(3), 6)
    plan = rounds.uploads(made)[-1]
    assert plan.places == {"ROWS": 0, "STREAM": 3, "ITEMS": 7, "PARENTS": 7 + len(made["ITEMS"])}


def test_tables_of_a_tree():
    made = rounds.tables([rounds.chain(5, 1), rounds.Window(7, (-1, 0, 0, 2))], range(5), 6)
    assert made["PARENTS"] == [-1, -1, 1, 1, 3]
    assert made["POS"] == [5, 7, 8, 8, 9]
    assert made["WIN"][-4:] == [2, 3 + 1, 3 + 3, 3 + 4]
    assert made["STREAM"] == [0, 1, 5, 1, 1, 4, 7, 1]
