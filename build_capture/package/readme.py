"""What a packaged set says to a person who finds its folder."""

from __future__ import annotations

from build_capture.package.folder import VerifiedSet

NO_LICENCE = """Whoever packaged these kernels named no licence for them (build-capture package --license FILE).

They were compiled from the sources whose SHA-256 manifest.json lists. Whoever holds the rights in those sources holds them in these
kernels too; ask there before you pass them on.
"""

_README = """# CUDA kernels of {app} for {target}

A captured set: `aot.json` says which launch takes which of the {cubins} kernels in `{folder}/`. An engine loads the whole folder; the
kernels run on {target} GPUs only, whatever the machine's processor. `manifest.json` says what they were made from.

The set's digest, the same wherever it was captured from the same sources with the same tools:

    {digest}

To compute it here, in this folder, with nothing but coreutils:

    (export LC_ALL=C; sha256sum aot.json {folder}/*.{ending} | sha256sum)

To verify every file, with Python:

    build-capture verify . --target {target}

To verify without Python, and that the set covers all that a server may launch, use the static program that the engine's build
makes (`zig build verifier` installs it as verify-set-<architecture>-linux):

    verify-set --target {target} --parallel N .

LICENSE holds the licence of the kernels.
"""


def readme(app: str, verified: VerifiedSet, folder: str, ending: str) -> bytes:
    """The README of one set, whose cubins lie in `folder` under names of this `ending`."""
    about = {"app": app, "target": verified.target, "digest": verified.digest, "cubins": verified.cubins}
    return _README.format(**about, folder=folder, ending=ending).encode()
