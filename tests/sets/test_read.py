"""Reading sets of any writer: where they may lie, what is said of them, and every fault by its kernel and field."""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import Any

import msgspec
import pytest

from build_capture.errors import CaptureError
from build_capture.files import sha256_of_bytes, sha256_of_file
from build_capture.sets import parse as parse_module
from build_capture.sets.digest import digest
from build_capture.sets.parse import parse
from build_capture.sets.read import ReadSet, read_set
from build_capture.targets import parse_target
from tests.sets.entries import CUBIN, entry, param, set_of

FOREIGN: dict[str, Any] = {
    "generator": "another",
    "kernels": [
        {
            "fn": "_f",
            "hash": "AB-12",
            "name": "_f",
            "num_warps": 4,
            "future": [1],
            "params": [{"name": "X", "type": "*bf16", "div16": True, "nospec": False, "range32": True}],
            "consts": {"N": {"int": 1}, "S": {"f32": 1031798784}, "M": {"none": True}},
        }
    ],
}


def write(folder: Path, document: Any) -> Path:
    """Write an `aot.json`, and return its folder."""
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "aot.json").write_text(document if isinstance(document, str) else json.dumps(document))
    return folder


def with_kernel(**fields: Any) -> dict[str, Any]:
    """The foreign set with other fields in its kernel; None takes one away."""
    kernel = {name: value for name, value in (FOREIGN["kernels"][0] | fields).items() if value is not None}
    return FOREIGN | {"kernels": [kernel]}


def faults(document: Any) -> list[str]:
    """What is wrong with a document."""
    return list(parse(json.dumps(document).encode()).faults)


def test_read_set_of_another_tool(tmp_path: Path) -> None:
    read = read_set(write(tmp_path, FOREIGN))
    assert read.foreign
    assert read.notes == (
        "another tool (another) wrote this set: it records no seals, so each cubin is taken to assume what its entries' `div16` says",
        "it does not say which GPU it is for",
    )
    (kernel,) = read.captured.kernels
    assert (kernel.num_stages, kernel.num_ctas, kernel.warp_size, kernel.shared, kernel.pdl) == (0, 1, 32, 0, False)
    assert kernel.params[0].assumes16 and kernel.requested == {"num_stages": 0, "num_warps": 4}
    assert (kernel.sha256, kernel.seal, kernel.alias) == ("", "", False)
    assert kernel.identity == "_f(X: *bf16 aligned) [M=none:None, N=int:1, S=f32:0.0625] warps 4, stages 0"
    assert read.cubin_path(kernel) == tmp_path / "cubins" / "AB-12.cubin"


def test_read_set_of_another_tool_that_records_more(tmp_path: Path) -> None:
    more = with_kernel(sha256="cd", requested={"num_warps": 2, "num_stages": 3}, kinds={"N": "bool"}) | {"target": "sm_121"}
    read = read_set(write(tmp_path, more))
    assert read.captured.kernels[0].requested == {"num_warps": 2, "num_stages": 3}
    assert (read.captured.target, len(read.notes)) == ("sm_121", 1)


@pytest.mark.parametrize("generator", ["build-capture", {"name": "build-capture", "version": "0.1.0"}])
def test_read_set_of_ours_without_seals_is_refused(generator: object, tmp_path: Path) -> None:
    # What merge would seal anew, a claim of any kind.
    with pytest.raises(CaptureError, match="no entry has a `seal`, though `generator` says that build-capture wrote the set"):
        read_set(write(tmp_path, FOREIGN | {"generator": generator}))
    empty = parse(json.dumps({"generator": generator, "kernels": []}).encode())
    assert (empty.faults, empty.foreign) == ([], False)


def test_read_set_of_ours_says_nothing_of_it(tmp_path: Path) -> None:
    (tmp_path / "aot.json").write_bytes(msgspec.json.encode(set_of(entry(param("N")))))
    read = read_set(tmp_path / "aot.json")
    assert (read.foreign, read.notes) == (False, ())


def test_read_set_finds_the_folder_of_the_binaries(tmp_path: Path) -> None:
    read = read_set(write(tmp_path, FOREIGN | {"bin_dir": "code", "bin_ext": "hsaco"}))
    assert read.cubin_path(read.captured.kernels[0]) == tmp_path / "code" / "AB-12.hsaco"


def test_read_cubin(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    read = read_set(write(tmp_path, FOREIGN))
    (kernel,) = read.captured.kernels
    with pytest.raises(CaptureError, match="AB-12.cubin: error: there is no such file; .*aot.json lists it for _f"):
        read.read_cubin(kernel)
    (tmp_path / "cubins").mkdir()
    for put in (os.mkfifo, Path.mkdir, lambda path: path.symlink_to("/dev/zero")):
        put(read.cubin_path(kernel))
        with pytest.raises(CaptureError, match="AB-12.cubin: error: it is no regular file; .*aot.json lists it for _f"):
            read.read_cubin(kernel)
        read.cubin_path(kernel).rename(tmp_path / put.__name__)
    read.cubin_path(kernel).write_bytes(CUBIN)
    assert read.read_cubin(kernel) == CUBIN
    monkeypatch.setattr("build_capture.sets.read.CUBIN_BYTES_MAX", len(CUBIN) - 1)
    with pytest.raises(CaptureError, match="AB-12.cubin: error: the cubin has more than 6 bytes; engines refuse it"):
        read.read_cubin(kernel)


def check_read(path: Path, target: str | None = None) -> ReadSet:
    return read_set(path, parse_target(target) if target else None)


def test_read_set_of_a_prefix_where_sets_are_installed(tmp_path: Path) -> None:
    spark = write(tmp_path / "share" / "server" / "cuda" / "sm121", FOREIGN)
    assert check_read(tmp_path).folder == spark
    hopper = write(tmp_path / "share" / "server" / "cuda" / "sm90", FOREIGN)
    assert check_read(tmp_path, "sm_90").folder == hopper
    # An explicit folder wins over what its name says.
    assert check_read(hopper, "sm_121").folder == hopper
    with pytest.raises(CaptureError, match="2 sets are installed here: share/server/cuda/sm121, share/server/cuda/sm90; name the folder of one"):
        check_read(tmp_path)
    with pytest.raises(CaptureError, match="have sm121, sm90, need sm120; capture for sm_120, or name another folder"):
        check_read(tmp_path, "sm_120")


@pytest.mark.parametrize("name", ["absent", "empty"])
def test_read_set_where_there_is_none(tmp_path: Path, name: str) -> None:
    (tmp_path / "empty").mkdir()
    want = f"{tmp_path / name / 'aot.json'}: error: there is no such file; expected a set: its folder, its aot.json, or the prefix where it is installed"
    with pytest.raises(CaptureError) as raised:
        read_set(tmp_path / name)
    assert str(raised.value) == want


def test_read_set_tells_every_fault_of_one_run(tmp_path: Path) -> None:
    broken = FOREIGN | {"kernels": [{"fn": 3}, 7, *with_kernel(hash="../x", num_warps=0)["kernels"]], "bin_dir": "a/b"}
    with pytest.raises(CaptureError) as raised:
        read_set(write(tmp_path, broken))
    place = tmp_path / "aot.json"
    assert str(raised.value).splitlines() == [
        f"{place}: error: aot.json: `bin_dir` is no file name; expected letters, digits, - and _",
        f"{place}: error: kernels[0]: `consts` is missing",
        f"{place}: error: kernels[0]: `fn` is an integer; expected a string",
        f"{place}: error: kernels[0]: `hash` is missing",
        f"{place}: error: kernels[0]: `name` is missing",
        f"{place}: error: kernels[0]: `num_warps` is missing",
        f"{place}: error: kernels[0]: `params` is missing",
        f"{place}: error: kernels[1] is an integer; expected an object",
        f"{place}: error: kernels[2]: `hash` is no file name; expected letters, digits, - and _",
        f"{place}: error: kernels[2]: `num_warps` is 0; expected 1 to 64",
        "10 errors",
    ]


def test_read_set_tells_twenty_faults_and_counts_the_rest(tmp_path: Path) -> None:
    with pytest.raises(CaptureError) as raised:
        read_set(write(tmp_path, {"kernels": list(range(50))}))
    lines = str(raised.value).splitlines()
    assert len(lines) == 22 and any(line.endswith("error: 30 more faults") for line in lines)


@pytest.mark.parametrize(
    ("text", "want"),
    [
        ("", "the file is empty; expected one JSON object with `kernels`"),
        ("[]", "the file holds a list; expected an object with `kernels`"),
        ("{}", "`kernels` is missing"),
        ('{"kernels": 3}', "`kernels` is an integer; expected a list"),
        ('{"kernels": [7]}', "kernels[0] is an integer; expected an object"),
        ('{"kernels": [}', "1:14: no valid JSON (Expecting value)"),
        ('{"kernels": [], "kernels": []}', "no valid JSON (an object names a field twice)"),
        ('{"kernels": [NaN]}', "no valid JSON (NaN is no number)"),
        ("\ufeff{}", "1:1: no valid JSON (Unexpected UTF-8 BOM (decode using utf-8-sig))"),
        ('{"kernels": [], "provenance": {"a": ["\\ud800"]}}', "no valid JSON (a string holds one half of a surrogate pair)"),
        ('{"kernels": [], "\\udfff": 1}', "no valid JSON (a string holds one half of a surrogate pair)"),
        ("[" * 100_000, "no valid JSON (it is nested too deeply)"),
        ("[" * 65 + "]" * 65, "no valid JSON (it is nested too deeply)"),
        ("[" * 64 + "]" * 64, "the file holds a list; expected an object with `kernels`"),
    ],
)
def test_parse_of_what_is_no_set(text: str, want: str) -> None:
    assert parse(text.encode()).faults == [want]


def test_parse_of_what_is_no_text() -> None:
    assert parse(b'{"kernels": ["\xff"]}').faults == ["no valid JSON (byte 14 is no UTF-8)"]


def test_parse_of_a_file_over_the_engines_bound(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(parse_module, "AOT_BYTES_MAX", 10)
    assert parse(b" " * 11).faults == ["the file has 11 bytes; expected at most 10, as engines read no more"]


CONSTANT = 'expected exactly one of {"int": n}, {"f32": bits} and {"none": true}'


@pytest.mark.parametrize(
    ("fields", "want"),
    [
        ({"fn": ""}, "kernels[0]: `fn` is empty"),
        ({"fn": "a b"}, "kernels[0]: `fn` is no name: it holds a space or a control character"),
        ({"num_warps": "8"}, "kernels[0]: `num_warps` is a string; expected a whole number"),
        ({"num_warps": True}, "kernels[0]: `num_warps` is a bool; expected a whole number"),
        ({"shared": -1}, "kernels[0]: `shared` is -1; expected 0 to 1073741824"),
        ({"shared": 1.5}, "kernels[0]: `shared` is a number that is no integer of 64 bits; expected a whole number"),
        ({"shared": 10**30}, "kernels[0]: `shared` is a number that is no integer of 64 bits; expected a whole number"),
        ({"pdl": 1}, "kernels[0]: `pdl` is an integer; expected true or false"),
        ({"global_scratch": 128}, "kernels[0] (_f): `global_scratch` is 128; expected 0, since engines give no scratch memory"),
        ({"global_align": 2}, "kernels[0] (_f): `global_align` is 2; expected 1, since engines give no scratch memory"),
        ({"profile_scratch": 4}, "kernels[0] (_f): `profile_scratch` is 4; expected 0, since engines give no scratch memory"),
        ({"params": {}}, "kernels[0]: `params` is an object; expected a list"),
        ({"params": [None]}, "kernels[0].params[0] is null; expected an object"),
        ({"params": [{"name": "X", "type": "i32", "div16": 1, "nospec": False}]}, "kernels[0].params[0]: `div16` is an integer; expected true or false"),
        ({"params": [{"name": "X", "type": "i32", "div16": True}]}, "kernels[0].params[0]: `nospec` is missing"),
        ({"params": FOREIGN["kernels"][0]["params"] * 2}, "kernels[0].params[1]: a second param named `X`"),
        ({"params": [0] * 1025}, "kernels[0]: `params` has 1025 items; expected at most 1024"),
        ({"consts": []}, "kernels[0]: `consts` is a list; expected an object"),
        ({"consts": {"a b": {"int": 1}}}, "kernels[0]: `consts` has a name that holds a space or a control character"),
        *(({"consts": {"N": value}}, f"kernels[0].consts.N: {CONSTANT}") for value in (1, {"int": True}, {"int": 1, "none": True}, {"int": 1 << 63})),
        *(({"consts": {"N": value}}, f"kernels[0].consts.N: {CONSTANT}") for value in ({"f32": 1 << 32}, {"none": False}, {})),
        ({"sha256": 3}, "kernels[0]: `sha256` is an integer; expected a string"),
        ({"requested": {"num_stages": 3}}, "kernels[0].requested: `num_warps` is missing"),
        ({"kinds": {"N": "f16"}}, "kernels[0]: `kinds` holds `f16`; expected bool or f64"),
        ({"texts": {"N": 3}}, "kernels[0]: `texts` is no object of strings by name"),
    ],
)
def test_parse_names_a_field_that_is_wrong(fields: dict[str, Any], want: str) -> None:
    assert faults(with_kernel(**fields)) == [want]


@pytest.mark.parametrize(("name", "place"), [("seal", ""), ("alias", ""), ("sha256", ""), ("requested", ""), ("assumes16", ".params[0]")])
def test_parse_of_a_sealed_set_that_lacks_a_part_of_it(name: str, place: str) -> None:
    document = msgspec.to_builtins(set_of(entry(param("N"))))
    del (document["kernels"][0]["params"][0] if place else document["kernels"][0])[name]
    assert faults(document)[0] == f"kernels[0]{place}: `{name}` is missing"


def test_digest_is_that_of_what_sha256sum_prints_of_the_files_that_a_set_lists(tmp_path: Path) -> None:
    sets = []
    for folder in ("one", "another place"):
        kernels = [kernel for hash_ in ("b", "B", "a") for kernel in with_kernel(hash=hash_)["kernels"]]
        write(tmp_path / folder, FOREIGN | {"kernels": kernels})
        (tmp_path / folder / "cubins").mkdir()
        for name in ("b", "B", "a", "of another set"):
            (tmp_path / folder / "cubins" / f"{name}.cubin").write_bytes(name.encode())
        sets.append(read_set(tmp_path / folder))
    names = ("aot.json", "cubins/B.cubin", "cubins/a.cubin", "cubins/b.cubin")
    lines = "".join(f"{sha256_of_file(tmp_path / 'one' / name)}  {name}\n" for name in names)
    assert digest(sets[0]) == digest(sets[1]) == sha256_of_bytes(lines.encode())
    (tmp_path / "one" / "cubins" / "a.cubin").write_bytes(b"changed")
    assert digest(sets[0]) != digest(sets[1])
