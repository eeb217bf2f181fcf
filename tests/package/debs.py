"""Ways in which a .deb can be damaged or hostile."""

from __future__ import annotations

import tarfile
from collections.abc import Callable

from build_capture.package.ar import read_ar, write_ar
from build_capture.package.tar import write_tar
from tests.package.archives import Files, Hostile, compress, renaming, tar_files, tar_members, tar_with
from tests.package.harness import SET


def deb_with(**members: bytes) -> Callable[[bytes], bytes]:
    """Replaces or adds members of the .deb; `_` in a name stands for a point."""
    return lambda deb: write_ar(read_ar(deb, "") | {name.replace("_", "."): data for name, data in members.items()}, 0)


def deb_part(part: str, change: Callable[[bytes], bytes]) -> Callable[[bytes], bytes]:
    """Changes one of a .deb's two archives."""

    def apply(deb: bytes) -> bytes:
        members = read_ar(deb, "")
        name = f"{part}.tar.zst"
        return write_ar(members | {name: change(members[name])}, 0)

    return apply


def deb_files(part: str, edit: Callable[[Files], object]) -> Callable[[bytes], bytes]:
    """Changes the files of one of a .deb's two archives."""
    return deb_part(part, tar_files(edit, "./"))


def control_with(old: bytes, new: bytes) -> Callable[[bytes], bytes]:
    """Replaces a part of a .deb's control file."""
    return deb_files("control", lambda files: files.update(control=files["control"].replace(old, new)))


def as_package(name: str) -> Callable[[bytes], bytes]:
    """Lets a .deb install as another package, with its copyright and its md5sums."""
    own = b"sample-cuda-sm121"

    def rename(files: Files) -> None:
        for path in ("control", "md5sums"):
            files[path] = files[path].replace(own, name.encode())

    return lambda deb: deb_files("control", rename)(deb_files("data", renaming(own.decode(), name))(deb))


DEB_SET = f"usr/{SET}"

DEBS = [
    Hostile(
        "a script that dpkg runs",
        deb_files("control", lambda files: files.update(postinst=b"#!/bin/sh")),
        "expected control and md5sums, and nothing that dpkg would run",
    ),
    Hostile("no md5sums", deb_files("control", lambda files: files.pop("md5sums")), "control.tar.zst: error: it holds control; expected control and md5sums"),
    Hostile("one architecture", deb_files("control", lambda files: files.update(control=b"Architecture: arm64\n")), "error: it is not for all architectures"),
    Hostile("a field too much", control_with(b"Section: ", b"Pre-Depends: bash\nSection: "), "control: error: it has the fields Package, Version, Architecture, M"),
    Hostile("a field at its end", control_with(b"Digest", b"x\nConflicts: bash\n x"), "Description, Conflicts; expected Package, Version, Architecture, M"),
    Hostile("a field twice", control_with(b"Section: ", b"Section: misc\nSection: "), "Section, Section, Priority, Description; expected Package"),
    Hostile("no field", control_with(b"Priority: optional\n", b""), "Section, Description; expected Package, Version"),
    Hostile("another package's copyright", control_with(b"Package: sample-cuda-sm121", b"Package:bash"), "sm121/copyright: error: it is no part of the package"),
    Hostile("another package", as_package("bash"), "error: it is called bash 1.2+sha"),
    Hostile("another version", control_with(b"+sha", b"+sha0"), "expected sample-cuda-sm121, of a version that ends in +sha"),
    Hostile("another paragraph", control_with(b" Installs", b"\nPackage: x\n Installs"), "Description, , Package; expected Package"),
    Hostile("a program", deb_part("data", tar_members("aot.json", mode=0o6755)), "aot.json: error: its mode is 6755"),
    Hostile("a control file of a user", deb_part("control", tar_members("control", uid=1000, uname="")), "control: error: it belongs to 1000:root"),
    Hostile("bytes after it", lambda deb: deb + b"x", "error: it is damaged: there is no ar header at byte"),
    Hostile("a file gone", deb_files("data", lambda files: files.pop(f"{DEB_SET}/README.md")), "README.md: error: md5sums lists it, and it is not there"),
    Hostile(
        "a file changed",
        deb_files("data", lambda files: files.update({f"{DEB_SET}/README.md": b""})),
        "README.md: error: its bytes are not those that md5sums has",
    ),
    Hostile("a file too much", deb_files("data", lambda files: files.update({"etc/x": b""})), ":etc/x: error: md5sums does not list it"),
    Hostile("another member", deb_with(extra=b""), "error: it holds debian-binary, control.tar.zst, data.tar.zst, extra; expected"),
    Hostile(
        "a link", deb_with(data_tar_zst=tar_with("x", tarfile.SYMTYPE, target="/")(compress(write_tar({})))), "data.tar.zst:x: error: it is a symbolic link"
    ),
    Hostile("no ar archive", lambda deb: deb[1:], "error: it is not a .deb: it does not start as an ar archive does"),
    Hostile("cut off", lambda deb: deb[:-10], "error: it is cut off within data.tar.zst"),
    Hostile("a header damaged", lambda deb: deb.replace(b"`\n", b"x\n", 1), "error: it is damaged: there is no ar header at byte 8"),
]
