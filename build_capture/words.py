"""Words of messages that depend on a number."""

from __future__ import annotations


def counted(number: int, noun: str) -> str:
    """The number, with commas, and the noun in the form that it asks for: `1 launch`, `2,000 launches`."""
    if number == 1:
        return f"1 {noun}"
    if noun.endswith("y"):
        return f"{number:,} {noun[:-1]}ies"
    return f"{number:,} {noun}{'es' if noun.endswith(('ch', 'sh', 's', 'x')) else 's'}"
