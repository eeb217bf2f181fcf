"""What a packaged set says to a person who finds its folder."""

from __future__ import annotations

from build_capture.targets import parse_target

NO_LICENCE = """Whoever packaged these kernels named no licence for them (build-capture package --license FILE).

They were compiled from the sources whose SHA-256 manifest.json lists. Whoever holds the rights in those sources holds them in these
kernels too; ask there before you pass them on.
"""

_README = """# CUDA kernels of {app} for {target}

A captured set: `aot.json` says which launch takes which of the {cubins} kernels in `cubins/`. An engine loads the whole folder; the
kernels run on {target} GPUs only, whatever the machine's processor. `manifest.json` says what they were made from.

The set's digest, the same wherever it was captured from the same sources with the same tools:

    {digest}

To compute it here, in this folder, with nothing but coreutils:

    (export LC_ALL=C; sha256sum aot.json cubins/*.cubin | sha256sum)

To verify every file, with Python:

    build-capture verify . --target {target}

To verify without Python, and that the set covers all that a server may launch, use the static program that the engine's build
makes (`zig build verifier` installs it as verify-set-<architecture>-linux):

    verify-set --target {target} --parallel N .

LICENSE holds the licence of the kernels.
"""


def readme(app: str, target: str, digest: str, cubins: int) -> bytes:
    """The README of one set's folder."""
    return _README.format(app=app, target=parse_target(target).name, digest=digest, cubins=cubins).encode()
