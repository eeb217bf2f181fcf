"""What a package and its files are called: the app, the targets and the digest are in each name."""

from __future__ import annotations

import re
from collections.abc import Sequence

import msgspec

from build_capture.errors import CaptureError
from build_capture.files import sha256_of_bytes
from build_capture.package.folder import VerifiedSet

_APP = re.compile(r"[a-z0-9][a-z0-9_.+-]{1,63}")
"""Also the start of a Debian package's name, but for the underscore, which is written as a hyphen there."""

_RELEASE = re.compile(r"(0|[1-9][0-9]*)(\.(0|[1-9][0-9]*))*")
"""What both PEP 440 and Debian take for a version, and order alike."""

DIGEST_DIGITS = 12


class PackageNames(msgspec.Struct, frozen=True):
    """One package, whatever its format."""

    app: str
    """As the engine looks for it below `share/`."""
    targets: tuple[str, ...]
    """The folders of its sets, such as sm121, sorted by SM."""
    digest: str
    """Of its set; of several sets, of the list of their digests."""
    release: str
    """Given by who packages: a later one replaces an earlier one."""

    @property
    def package(self) -> str:
        """Of the .deb and of the wheel: one for each choice of targets, so that packages for two GPUs can be installed side by side."""
        return re.sub(r"[_.+-]+", "-", self.app).strip("-") + "-cuda-" + "-".join(self.targets)

    @property
    def module(self) -> str:
        """The wheel's importable package."""
        name = self.package.replace("-", "_")
        return name if name.isidentifier() else f"_{name}"

    @property
    def version(self) -> str:
        """The release, and which set it is."""
        return f"{self.release}{self.local_version}"

    @property
    def local_version(self) -> str:
        """Which set it is. `sha` keeps twelve decimal digits from being read as a number."""
        return f"+sha{self.digest[:DIGEST_DIGITS]}"

    @property
    def archive_file(self) -> str:
        """The name of the `tar.zst`."""
        return f"{self.app}-{'-'.join(self.targets)}-{self.digest[:DIGEST_DIGITS]}.tar.zst"

    @property
    def wheel_file(self) -> str:
        """The wheel's name (PEP 427)."""
        return f"{self.package.replace('-', '_')}-{self.version}-py3-none-any.whl"

    @property
    def deb_file(self) -> str:
        """The .deb's name."""
        return f"{self.package}_{self.version}_all.deb"

    def folder(self, target: str) -> str:
        """Where the set for a target lies below a prefix: where engines look for it."""
        return f"share/{self.app}/cuda/{target}"


def package_names(app: str, release: str, sets: Sequence[VerifiedSet]) -> PackageNames:
    """The names of a package of sets, which are sorted by SM.

    Raises a `CaptureError` for an app or a release that is no good name in one of the formats.
    """
    if not _APP.fullmatch(app):
        raise CaptureError(f"the app {app!r} is no name for a package", mend="expected 2 to 64 lower-case letters, digits and _ . + -, such as --app qwen27")
    if not _RELEASE.fullmatch(release):
        raise CaptureError(f"the release {release!r} is no version", mend="expected numbers and points, such as --release 1.4.0")
    text = "".join(f"{one.digest}  {one.gpu.folder}\n" for one in sets)
    digest = sets[0].digest if len(sets) == 1 else sha256_of_bytes(text.encode())
    return PackageNames(app, tuple(one.gpu.folder for one in sets), digest, release)
