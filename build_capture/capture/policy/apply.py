"""Applies a policy: which cubins a set holds, which further entries they get, and what each need then runs.

- `exact`: what Triton itself would pick.
- `compact`: one cubin for all classes of ints and tables, where the hints buy no wider memory access.
- `total`: exact, then generic code, so that no value of an int and no alignment of a table is refused.
"""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Sequence

import msgspec

from build_capture.capture.compile import Compiled, Variant
from build_capture.capture.policy.aliases import claims_for, claims_for_all
from build_capture.capture.policy.code import code_of
from build_capture.capture.policy.compact import Apart, merge
from build_capture.capture.policy.generic import merged, mergeable
from build_capture.capture.records import Kernel
from build_capture.errors import CaptureError, Exit, raise_all
from build_capture.plan.needs import Class, Need
from build_capture.read.profile import Policy
from build_capture.sets.aliases import Claims, aliases_of, reachable
from build_capture.sets.model import SetKernel
from build_capture.sets.pack import kernel_of

Compile = Callable[[Sequence[Need]], Compiled]


class Served(msgspec.Struct, frozen=True):
    """A need, and the cubin that serves it."""

    need: Need
    exact: Variant
    """What Triton would run."""
    variant: Variant
    """What the set runs."""
    lost: tuple[str, ...]
    """Arguments of which Triton's own code knows more than the set's: 1, a multiple of 16, an aligned address."""


class Applied(msgspec.Struct, frozen=True):
    """What a policy made of the needs."""

    policy: Policy
    variants: list[Variant]
    """The cubins of the set, one a hash."""
    aliases: list[SetKernel]
    served: list[Served]
    """One for each need, in their order."""
    apart: list[Apart]
    """Under compact: classes that stay apart, and why."""
    compiled: int
    reused: int

    @property
    def exact(self) -> list[Variant]:
        """What Triton would run for each need, in their order, with that need's own launches and witness."""
        return [
            msgspec.structs.replace(each.exact, need=msgspec.structs.replace(each.need, parameters=each.exact.need.parameters)) for each in self.served
        ]


class Compiles:
    """Compiles code once, however often a policy asks for it, and counts."""

    def __init__(self, compile_needs: Compile) -> None:
        self._compile = compile_needs
        self._variants: dict[str, Variant] = {}
        self.compiled = self.reused = 0

    def __call__(self, codes: Sequence[Need]) -> None:
        """Compile all that are new, together."""
        new = {code.identity: code for code in codes if code.identity not in self._variants}
        if not new:
            return
        done = self._compile([new[identity] for identity in sorted(new)])
        self.compiled, self.reused = self.compiled + done.compiled, self.reused + done.reused
        self._variants |= {variant.need.identity: variant for variant in done.variants}

    def attempt(self, codes: Sequence[Need]) -> None:
        """Compile what compiles; the rest is known by its absence. Raises what is no kernel's fault."""
        try:
            self(codes)
        except CaptureError as error:
            if error.code != Exit.KERNEL:
                raise
            # All that compiled is kept, so that only what does not is tried again.
            for code in codes:
                with contextlib.suppress(CaptureError):
                    self([code])

    def variant(self, code: Need) -> Variant | None:
        """What was compiled for `code`; None where it does not compile."""
        return self._variants.get(code.identity)

    def known(self, code: Need) -> Variant:
        """What was compiled for `code`, which does compile."""
        return self._variants[code.identity]


def apply_policy(policy: Policy, needs: Sequence[Need], kernels: Sequence[Kernel], compile_needs: Compile) -> Applied:
    """Compile what `policy` needs for `needs` and derive the aliases. Raises what compiling raises, and where aliases are too many."""
    by_name = {kernel.function: kernel for kernel in kernels}
    compiles = Compiles(compile_needs)
    exact = [code_of(need, by_name[need.function]) for need in needs]
    compiles(exact)
    apart: list[Apart] = []
    codes = exact
    if policy == "compact":
        merges, apart = merge(exact, compiles)
        codes = [merges[code.identity] for code in exact]
    served = [
        Served(need, compiles.known(own), compiles.known(code), tuple(_lost(own, code))) for need, own, code in zip(needs, exact, codes, strict=True)
    ]
    chosen = _Entries()
    for each in served:
        chosen.add(each.variant, [claims_for(each.need, chosen.own(each.variant))])
    if policy == "total":
        _serve_all(needs, exact, chosen, compiles)
    return Applied(policy, chosen.variants(), chosen.aliases(), served, apart, compiles.compiled, compiles.reused)


def _lost(own: Need, code: Need) -> list[str]:
    known = (Class.ONE, Class.DIV16, Class.ALIGNED)
    return [p.name for p, other in zip(own.parameters, code.parameters, strict=True) if p.class_ in known and other.class_ is not p.class_]


def _serve_all(needs: Sequence[Need], exact: Sequence[Need], chosen: _Entries, compiles: Compiles) -> None:
    """Add generic code for every kernel, with the aliases by which it serves all that the exact entries refuse."""
    generic = [merged(code, mergeable(code)) for code in exact]
    compiles(generic)
    errors: dict[str, CaptureError] = {}
    for need, code in zip(needs, generic, strict=True):
        variant = compiles.known(code)
        try:
            chosen.add(variant, claims_for_all(need, chosen.own(variant), mergeable(code)))
        except CaptureError as error:
            errors[error.what] = error
    raise_all(list(errors.values()))


class _Entries:
    """The entries of a set that is being made: each cubin's own, and the claims of its aliases."""

    def __init__(self) -> None:
        self._own: dict[str, tuple[Variant, SetKernel]] = {}
        self._claims: dict[str, set[Claims]] = {}

    def own(self, variant: Variant) -> SetKernel:
        """The entry of the specialization that was compiled. Two needs that differ in a float's kind alone have one cubin."""
        digest = variant.result.hash
        if digest not in self._own:
            self._own[digest] = variant, kernel_of(variant)
            self._claims[digest] = set()
        return self._own[digest][1]

    def add(self, variant: Variant, claims: Sequence[Claims]) -> None:
        """Let the cubin serve launches by these claims too."""
        self.own(variant)
        self._claims[variant.result.hash] |= set(claims)

    def variants(self) -> list[Variant]:
        """What the set holds, one a hash."""
        return [variant for variant, _ in self._own.values()]

    def aliases(self) -> list[SetKernel]:
        """All aliases that a launch can come to."""
        own = [entry for _, entry in self._own.values()]
        return reachable(own, (alias for entry in own for alias in aliases_of(entry, self._claims[entry.hash])))
