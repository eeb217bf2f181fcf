"""What the reader says of a declaration file."""

from __future__ import annotations

import msgspec


class Parameter(msgspec.Struct, frozen=True):
    """A parameter of a method."""

    name: str
    type: str
    """The type as the Zig source writes it."""


class Method(msgspec.Struct, frozen=True):
    """A function of the declaration file that a consumer can call."""

    name: str
    owner: str | None
    """The struct that holds it; null for a free function."""
    file: str
    """Relative to the declaration file's folder."""
    line: int
    column: int
    is_public: bool
    receiver: Parameter | None
    """The parameter that is the owner itself."""
    parameters: list[Parameter]
    """Without the receiver."""
    calls: list[str]
    """The names of the launching functions that it calls."""

    @property
    def shown(self) -> str:
        """As messages name it: `Tri.embed`."""
        return f"{self.owner}.{self.name}" if self.owner else self.name


class DeclaredArgument(msgspec.Struct, frozen=True):
    """An argument of a launch, as far as the text shows it."""

    name: str | None
    kind: str
    """`ptr`, `i32`, `f32`, `u64`, or `unknown` where only the probe can see it."""
    type: str | None
    """Triton's type (`*bf16`); null for a value or where the text does not show it."""
    expression: str
    """The Zig expression that gives the value."""


class DeclaredConstexpr(msgspec.Struct, frozen=True):
    """A constexpr of a launch, as far as the text shows it."""

    name: str | None
    kind: str
    """`int`, `f32` or `unknown`."""
    expression: str
    """The Zig expression that gives the value."""


class Launch(msgspec.Struct, frozen=True):
    """One call in the declaration file that launches a kernel."""

    function: str | None
    """The kernel's name; null where the text does not show it."""
    method: str
    owner: str | None
    file: str
    """Relative to the declaration file's folder."""
    line: int
    column: int
    arguments: list[DeclaredArgument] | None
    """In launch order; null where the text does not show the list."""
    constexprs: list[DeclaredConstexpr] | None
    """In launch order; null where the text does not show the list."""
    options: str | None
    """The launch options as the Zig source writes them; null where none are given."""
    condition: str | None
    """The nearest condition or loop that the launch stands behind."""


class Declarations(msgspec.Struct, frozen=True):
    """A declaration file and the siblings that it imports."""

    files: list[str]
    """Every file that was read, relative to the declaration file's folder, sorted."""
    methods: list[Method]
    launches: list[Launch]
