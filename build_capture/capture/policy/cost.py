"""What a policy costs, for people and for `--json`."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import msgspec

from build_capture.capture.policy.apply import Applied, Served


class Weaker(msgspec.Struct, frozen=True):
    """Launches that run code which knows less than what Triton itself would run."""

    function: str
    classes: str
    """Of the need."""
    lost: tuple[str, ...]
    """The arguments whose hint is lost."""
    launches: int
    same_bytes: bool
    """Whether the cubin is nevertheless the one that Triton itself would run, byte for byte: the hint changed nothing."""


class Cost(msgspec.Struct, frozen=True):
    """What a policy made of the needs."""

    policy: str
    cubins: int
    bytes: int
    """Of the cubins."""
    entries: int
    aliases: int
    """Of the entries."""
    weaker: list[Weaker]
    """None under exact and total."""
    apart: list[str]
    """Under compact: what is not merged, and why."""


def cost_of(applied: Applied) -> Cost:
    """The cost of what a policy made."""
    cubins = {variant.result.hash: len(variant.cubin) for variant in applied.variants}
    return Cost(
        policy=applied.policy,
        cubins=len(cubins),
        bytes=sum(cubins.values()),
        entries=len(applied.variants) + len(applied.aliases),
        aliases=len(applied.aliases),
        weaker=[_weaker(each) for each in sorted(applied.served, key=lambda each: each.need.identity) if each.lost],
        apart=[f"{each.function}: the classes of {' and '.join(each.arguments)} stay apart; one cubin for all would have {each.why}" for each in applied.apart],
    )


def _weaker(served: Served) -> Weaker:
    return Weaker(served.need.function, served.need.classes, served.lost, served.need.launches, served.exact.cubin == served.variant.cubin)


def cost_lines(cost: Cost, launches: int) -> Iterator[str]:
    """The cost in sentences; `launches` is how many the rounds make."""
    yield f"policy {cost.policy}: {cost.entries} entries for {cost.cubins} cubins, {cost.aliases} of them aliases"
    if cost.weaker:
        weaker = sum(each.launches for each in cost.weaker)
        same = sum(each.launches for each in cost.weaker if each.same_bytes)
        yield (
            f"{weaker:,} of {launches:,} launches run code that knows less than Triton's own; its memory accesses are no narrower, "
            f"and for {same:,} of them it is Triton's own to the byte:"
        )
        for function, texts in _by_function(cost.weaker).items():
            yield f"  {function}: {', '.join(texts)}"
    yield from cost.apart


def _by_function(weaker: Sequence[Weaker]) -> dict[str, list[str]]:
    """The arguments of each function whose hints are lost, with the launches that lose them."""
    found: dict[str, dict[str, int]] = {}
    for each in weaker:
        for name in each.lost:
            counts = found.setdefault(each.function, {})
            counts[name] = counts.get(name, 0) + each.launches
    return {function: [f"{name} ({count:,})" for name, count in counts.items()] for function, counts in found.items()}
