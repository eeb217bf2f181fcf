"""Ways in which a wheel can be damaged or hostile."""

from __future__ import annotations

import csv
import io
import zipfile
from collections.abc import Callable

from build_capture.package.extend_wheel import record_line
from tests.package.archives import Files, Hostile, renaming
from tests.package.harness import SET


def zip_with(name: str, data: bytes = b"x", *, mode: int = 0o100644, listed: bool = True) -> Callable[[bytes], bytes]:
    """Adds one file to a wheel, and to its RECORD."""

    def apply(wheel: bytes) -> bytes:
        def edit(files: Files) -> None:
            record = next(path for path in files if path.endswith("RECORD"))
            if listed:
                line = io.StringIO()
                csv.writer(line, lineterminator="\n").writerow(record_line(name, data))
                files[record] = line.getvalue().encode() + files[record]

        written = io.BytesIO(zip_edited(wheel, edit))
        with zipfile.ZipFile(written, "a") as archive:
            info = zipfile.ZipInfo(name)
            info.external_attr = mode << 16
            archive.writestr(info, data)
        return written.getvalue()

    return apply


def zip_edited(wheel: bytes, edit: Callable[[Files], object]) -> bytes:
    """A wheel with its files changed by `edit`."""
    with zipfile.ZipFile(io.BytesIO(wheel)) as old:
        files = {name: old.read(name) for name in old.namelist()}
    edit(files)
    output = io.BytesIO()
    with zipfile.ZipFile(output, "w") as new:
        for name, data in files.items():
            new.writestr(name, data)
    return output.getvalue()


def zip_recorded(edit: Callable[[Files], object]) -> Callable[[bytes], bytes]:
    """Changes the files of a wheel, and its RECORD with them."""

    def edit_all(files: Files) -> None:
        edit(files)
        (record,) = (name for name in files if name.endswith("RECORD"))
        rows = [record_line(name, data) for name, data in files.items() if name != record]
        lines = io.StringIO()
        csv.writer(lines, lineterminator="\n").writerows([*rows, (record, "", "")])
        files[record] = lines.getvalue().encode()

    return lambda wheel: zip_edited(wheel, edit_all)


def of_another(wheel: bytes) -> bytes:
    """The wheel as if another build backend had made it."""

    return zip_recorded(changing("/WHEEL", b"Wheel-Version: 1.0\nGenerator: another\nRoot-Is-Purelib: true\nTag: py3-none-any\n"))(wheel)


def changing(ending: str, data: bytes | None) -> Callable[[Files], None]:
    """Puts `data` into the file whose path ends so, or removes it."""

    def edit(files: Files) -> None:
        name = next(path for path in files if path.endswith(ending))
        del files[name]
        if data is not None:
            files[name] = data

    return edit


def executable(wheel: bytes) -> bytes:
    """The wheel with a module that is a program."""
    at = wheel.rindex(f"{MODULE}/__main__.py".encode()) - 46
    # The external attributes in the entry of the zip's directory.
    return wheel[: at + 38] + (0o100755 << 16).to_bytes(4, "little") + wheel[at + 42 :]


def zip_changing(ending: str, data: bytes | None) -> Callable[[bytes], bytes]:
    """Puts `data` into the wheel's file of that ending, or removes it; RECORD stays as it is."""
    return lambda wheel: zip_edited(wheel, changing(ending, data))


MODULE = "sample_cuda_sm121"
HOST_ELF = b"\x7fELF\x02\x01"

WHEELS = [
    Hostile("a path with ..", zip_with("../x"), ":../x: error: its path has a .. in it"),
    Hostile("an absolute path", zip_with("/etc/x"), ":/etc/x: error: its path is absolute"),
    Hostile("a symbolic link", zip_with(f"{MODULE}/x", b"/etc", mode=0o120777), f":{MODULE}/x: error: it is a symbolic link"),
    Hostile("a file that RECORD lacks", zip_with(f"{MODULE}/x.py", listed=False), f":{MODULE}/x.py: error: RECORD does not list it"),
    Hostile("a file gone", zip_changing("__init__.py", None), "__init__.py: error: RECORD lists it, and it is not there"),
    Hostile("a file changed", zip_changing("__init__.py", b"import os"), "__init__.py: error: its bytes are not those that RECORD has"),
    Hostile("no RECORD", zip_changing("RECORD", None), "error: it has 0 RECORD files; expected one"),
    Hostile("a RECORD that is none", zip_changing("RECORD", b'"'), "RECORD: error: it is no RECORD"),
    Hostile("a library of the host", lambda wheel: zip_with("x.so", HOST_ELF)(of_another(wheel)), "x.so: error: it is an ELF outside of the sets"),
    Hostile("a library that is named a cubin", lambda wheel: zip_with("x.cubin", HOST_ELF)(of_another(wheel)), "x.cubin: error: it is an ELF outside of the sets"),
    Hostile("a module too much", zip_with(f"{MODULE}/x.py"), f":{MODULE}/x.py: error: it is no part of the package"),
    Hostile("a script", zip_with("x-1.data/scripts/x"), ":x-1.data/scripts/x: error: it is no part of the package"),
    Hostile("a program", executable, "__main__.py: error: it would be executable; nothing in a package is"),
    *(
        Hostile(f"{kind} {name}", zip_recorded(changing(name, data)), f"/{name}: error: it is missing, or has no {field_}; pip installs no wheel without")
        for name, field_ in (("WHEEL", "Wheel-Version"), ("METADATA", "Name"))
        for kind, data in (("no", None), ("an empty", b""))
    ),
    Hostile("another app", zip_recorded(renaming("/sample/", "/other/")), "manifest.json: error: `app` is sample, and the folder is other's"),
    Hostile("another package", zip_recorded(renaming("sample_cuda_sm121", "pip")), "error: it is called pip 1.2+sha"),
    Hostile("another version", zip_recorded(renaming("+sha", "+sha0")), "expected sample-cuda-sm121, of a version that ends in +sha"),
    Hostile("another place", zip_recorded(renaming("/cuda/", "/hip/")), "/share/sample/hip/sm121: error: engines do not look for a set there"),
    Hostile("bytes before it", lambda wheel: b"x" + wheel, "error: something precedes its zip archive"),
    Hostile("bytes after it", lambda wheel: wheel + b"x", "error: something follows its zip archive"),
    Hostile("a comment", lambda wheel: wheel[:-2] + b"\x01\0x", "error: something follows its zip archive"),
    Hostile("a file in a set", zip_with(f"{MODULE}/{SET}/x"), f"{SET}/x: error: it is no part of a set"),
    Hostile("a case", zip_with(f"{MODULE}/{SET}/AOT.json"), "AOT.json: error: its path is that of"),
    Hostile("too many files", lambda wheel: wheel + b"PK\x01\x02" * 101, "error: it has more than 100 members", {"MEMBERS_MAX": 100}),
    Hostile("cut off", lambda wheel: wheel[:-100], "error: its zip archive is damaged"),
    Hostile("a byte changed", lambda wheel: wheel.replace(b"_add\0", b"_sub\0", 1), "error: its zip archive is damaged: Bad CRC-32"),
]
