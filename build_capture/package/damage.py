"""What is wrong with a package or with a set that was shipped: each kind has its own message, and all have one exit code."""

from __future__ import annotations

from build_capture.errors import CaptureError, Exit, Place

ANEW = "copy, unpack or install it anew"
"""How any damage is mended: nothing in a package is worth repairing."""


def damage(what: str, where: str, mend: str = ANEW) -> CaptureError:
    """An error that ends `verify` with exit 3. `where` is a path as the user knows it, or `archive:member`."""
    return CaptureError(what, where=Place(where), mend=mend, code=Exit.NOT_COVERED)
