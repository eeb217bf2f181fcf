"""What the parameters of methods are, as Zig itself sees them: a small generated program prints it."""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from pathlib import Path

import msgspec

from build_capture.errors import CaptureError, Place
from build_capture.files import locked, write_if_changed
from build_capture.process import run_tool
from build_capture.read.records import Declarations, Method
from build_capture.zig import Zig, zig_sources


class Type(msgspec.Struct, frozen=True):
    """The type of a parameter, a field or an element."""

    kind: str
    """`int`, `float`, `bool`, `enum`, `text`, `optional`, `pointer`, `array`, `struct`, `set`, `probe`, `stream` or `unknown`."""
    type: str
    """As Zig names it."""
    signed: bool = False
    bits: int = 0
    """Of an int."""
    tags: tuple[str, ...] = ()
    """Of an enum."""
    length: int = 0
    """Of an array."""
    child: Type | None = None
    """Of an optional, a pointer to one thing, or an array."""
    fields: tuple[Field, ...] = ()
    """Of a struct."""


class Field(msgspec.Struct, frozen=True):
    """A field of a struct, or a parameter of a method."""

    name: str
    value: Type


class Callable(msgspec.Struct, frozen=True):
    """A method that a generated program can call."""

    method: Method
    path: tuple[str, ...]
    """The names that lead to it from the declaration file: `("Tri", "embed")`."""
    parameters: tuple[Field, ...]
    """All of them, the receiver first."""


class _Answer(msgspec.Struct, frozen=True):
    found: bool
    parameters: list[Type]


def callables(zig: Zig, file: Path, profile: Path | None, declarations: Declarations, cache: Path) -> list[Callable | Method]:
    """Each public method with what Zig says of its parameters, or as it is where the declaration file does not give it out.

    `profile` is what a declaration file may import as `profile`. Zig's own errors become a `CaptureError`.
    """
    methods = [method for method in declarations.methods if method.is_public]
    candidates = [(method, path) for method in methods for path in _paths(method, file, methods)]
    try:
        answers = _ask(zig, file, profile, [path for _, path in candidates], cache)
    except CaptureError as error:
        # Zig's own words would be those on a program that the user does not know of.
        if "no module named 'build_capture'" not in str(error):
            raise
        launching = min((launch.file for launch in declarations.launches if launch.file != file.name), default="")
        mend = f"name the file that launches the kernels{f': {file.parent / launching}' if launching else ''}"
        what = "this is no declaration file: it imports build_capture, as a rounds.zig does"
        raise CaptureError(what, where=Place(str(file)), mend=mend) from error
    found: dict[int, Callable] = {}
    for (method, path), answer in zip(candidates, answers, strict=True):
        if answer.found:
            found.setdefault(id(method), _callable(method, path, answer))
    return [found.get(id(method), method) for method in methods]


def _callable(method: Method, path: tuple[str, ...], answer: _Answer) -> Callable:
    written = [*([method.receiver] if method.receiver else []), *method.parameters]
    fields = (Field(parameter.name, type_) for parameter, type_ in zip(written, answer.parameters, strict=True))
    return Callable(method, path, tuple(fields))


def _paths(method: Method, file: Path, methods: Sequence[Method]) -> list[tuple[str, ...]]:
    """Where a method may be found from the declaration file: there, given out again, or through an import named as its file."""
    own = (method.owner, method.name) if method.owner else (method.name,)
    if method.file == file.name:
        return [own]
    # The declaration file may have a method of the same name; then that is what the short path leads to.
    taken = any((other.owner, other.name, other.file) == (method.owner, method.name, file.name) for other in methods)
    return [(Path(method.file).stem, *own), *([] if taken else [own])]


def _ask(zig: Zig, file: Path, profile: Path | None, paths: list[tuple[str, ...]], cache: Path) -> list[_Answer]:
    folder = cache / "parameters" / f"{zig.version}-{hashlib.sha256(str(file.resolve()).encode()).hexdigest()[:16]}"
    listed = ", ".join(f".{{ .path = &.{{ {', '.join(msgspec.json.encode(name).decode() for name in path)} }} }}" for path in paths)
    root = f"""const std = @import("std");
const declarations = @import("declarations");

pub fn main(init: std.process.Init) !void {{
    try @import("parameters").print(init, declarations, &.{{ {listed} }});
}}
"""
    with locked(folder):
        program = folder / "program"
        write_if_changed(folder / "root.zig", root.encode())
        zig.build(program, _modules(folder / "root.zig", file, profile), what=f"compiling what lists the parameters of {file.name}", cache=cache)
        return msgspec.json.decode(run_tool([program], what=f"listing the parameters of {file.name}"), type=list[_Answer])


def _modules(root: Path, file: Path, profile: Path | None) -> list[str]:
    bridge = zig_sources()
    of_profile = ["--dep", "profile"] if profile else []
    return [
        *("--dep", "parameters", "--dep", "declarations", f"-Mroot={root}"),
        *("--dep", "cuda", f"-Mparameters={bridge / 'coverage' / 'parameters.zig'}"),
        *("--dep", "cuda", *of_profile, f"-Mdeclarations={file.resolve()}"),
        *("--dep", "set", f"-Mcuda={bridge / 'cuda' / 'cuda.zig'}"),
        f"-Mset={bridge / 'set' / 'set.zig'}",
        *([f"-Mprofile={profile.resolve()}"] if profile else []),
    ]
