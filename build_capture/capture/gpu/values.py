"""Writes what launches take and give, so that another program can repeat each and compare bit for bit.

`values.json` lists the launches and `values.bin` holds the buffers' bytes; equal contents are there once. Buffers are to be
allocated 256-byte aligned: an argument's `offset` is what puts its address in its class. A `before` of null is all zeros.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import msgspec

from build_capture.files import make_folder, sha256_of_bytes, write_if_changed
from build_capture.plan.needs import Constant, Need, fp32_bits

VALUES_JSON = "values.json"
VALUES_BIN = "values.bin"


class ValuesWriter:
    """Gathers launches in `folder`; `close` writes the list of them."""

    def __init__(self, folder: Path, target: str) -> None:
        self._folder, self._target = folder, target
        self._launches: list[dict[str, Any]] = []
        self._places: dict[str, int] = {}
        make_folder(folder)
        self._bytes = (folder / VALUES_BIN).open("wb")

    def before(self, example: Any) -> dict[int, bytes]:
        """The buffers of an example before its launch: the address of each and its bytes."""
        return {address: _bytes_of(tensor) for address, tensor in _buffers(example).items()}

    def add(self, need: Need, example: Any, before: dict[int, bytes]) -> None:
        """Note a launch that was made, with what its buffers hold now."""
        numbers = {address: number for number, address in enumerate(before)}
        after = {address: _bytes_of(tensor) for address, tensor in _buffers(example).items()}
        self._launches.append(
            {
                "fn": need.function,
                "identity": need.identity,
                "grid": [*example.grid, 1, 1][:3],
                "num_warps": need.options.num_warps,
                "num_stages": need.options.num_stages,
                "arguments": [_argument(p.name, p.type, example.arguments[p.name], numbers) for p in need.parameters],
                "constexprs": [_constexpr(name, constant) for name, constant in sorted(need.constexprs.items()) if constant.kind not in ("none", "text")],
                "buffers": [
                    {"bytes": len(data), "before": None if data.count(0) == len(data) else self._place(data), "after": self._place(after[address])}
                    for address, data in before.items()
                ],
            }
        )

    def _place(self, data: bytes) -> int:
        digest = sha256_of_bytes(data)
        if digest not in self._places:
            self._places[digest] = self._bytes.tell()
            self._bytes.write(data)
        return self._places[digest]

    def close(self) -> None:
        """Write the list. Not called, there is no `values.json`, and the folder is no whole."""
        self._bytes.close()
        document = {"target": self._target, "launches": self._launches}
        write_if_changed(self._folder / VALUES_JSON, msgspec.json.format(msgspec.json.encode(document), indent=1) + b"\n")


def _buffers(example: Any) -> dict[int, Any]:
    """The memory that the arguments point into, each once, in the order of the arguments: address -> a tensor of it."""
    tensors = [value for value in example.arguments.values() if hasattr(value, "untyped_storage")]
    return {tensor.untyped_storage().data_ptr(): tensor for tensor in tensors}


def _bytes_of(tensor: Any) -> bytes:
    import torch

    whole = torch.empty(0, dtype=torch.uint8, device=tensor.device).set_(tensor.untyped_storage())
    return bytes(whole.cpu().numpy().data)


def _argument(name: str, kind: str, value: Any, numbers: dict[int, int]) -> dict[str, Any]:
    if kind.startswith("*"):
        start = value.untyped_storage().data_ptr()
        return {"name": name, "type": kind, "buffer": numbers[start], "offset": value.data_ptr() - start}
    if kind == "fp32":
        return {"name": name, "type": kind, "bits": fp32_bits(value)}
    return {"name": name, "type": kind, "value": int(value)}


def _constexpr(name: str, constant: Constant) -> dict[str, Any]:
    if constant.kind in ("f32", "f64"):
        return {"name": name, "f32": fp32_bits(constant.python)}
    return {"name": name, "int": int(constant.value or 0)}
