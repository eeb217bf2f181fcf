"""Finds the module that defines a kernel, without importing anything."""

from __future__ import annotations

import ast
from collections.abc import Iterable
from pathlib import Path

from build_capture.errors import CaptureError, Place


def kernel_modules(folder: Path) -> list[Path]:
    """Every Python file below `folder`, sorted."""
    return sorted(path for path in folder.rglob("*.py") if path.is_file() and not any(part.startswith(".") for part in path.relative_to(folder).parts))


def kernels_of(path: Path) -> dict[str, int]:
    """The top-level `@triton.jit` functions of a module -> their lines. Raises a `CaptureError` where it does not parse."""
    source = path.read_bytes()
    if b"jit" not in source:
        return {}
    try:
        tree = ast.parse(source, filename=str(path))
    except SyntaxError as error:
        raise CaptureError(f"this is not Python: {error.msg}", where=Place(str(path), error.lineno or 0, error.offset or 0)) from error
    found: dict[str, int] = {}
    for node in tree.body:
        if isinstance(node, ast.FunctionDef) and any(map(_is_jit, node.decorator_list)):
            if node.name in found:
                raise CaptureError(
                    f"{node.name} is also defined at line {found[node.name]}", where=Place(str(path), node.lineno), mend="keep one of them"
                )
            found[node.name] = node.lineno
    return found


def _is_jit(decorator: ast.expr) -> bool:
    target = decorator.func if isinstance(decorator, ast.Call) else decorator
    return (isinstance(target, ast.Attribute) and target.attr == "jit") or (isinstance(target, ast.Name) and target.id == "jit")


def modules_defining(folder: Path, functions: Iterable[str]) -> dict[Path, list[str]]:
    """Module -> which of `functions` it defines. A function that two modules define is a `CaptureError`."""
    wanted = set(functions)
    found: dict[str, Path] = {}
    modules: dict[Path, list[str]] = {}
    for path in kernel_modules(folder):
        for name, line in kernels_of(path).items():
            if name not in wanted:
                continue
            if name in found:
                other = found[name].relative_to(folder)
                raise CaptureError(f"{name} is also defined in {other}", where=Place(str(path), line), mend="keep one of them")
            found[name] = path
            modules.setdefault(path, []).append(name)
    return modules
