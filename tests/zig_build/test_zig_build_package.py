"""The package as others get it: the fragment, the example and a fetched tarball."""

import re
import subprocess
import tarfile
from pathlib import Path

from tests.zig_build.project import FRAGMENT, ROOT, Project


def test_fragment_has_markers_and_at_most_30_lines() -> None:
    lines = FRAGMENT.read_text(encoding="utf-8").splitlines()
    assert len(lines) <= 30
    assert lines[0].startswith("// build-capture: begin")
    assert lines[-1] == "// build-capture: end"


def test_example_holds_the_fragment_verbatim() -> None:
    example = (ROOT / "examples" / "qwen27" / "build.zig").read_text(encoding="utf-8")
    assert example.count(FRAGMENT.read_text(encoding="utf-8")) == 1
    assert "addCapture(b, test_step)" in example


def test_fetched_package_holds_what_the_capture_needs(zig: str, tmp_path: Path) -> None:
    archive = tmp_path / "package.tar.gz"
    manifest = (ROOT / "build.zig.zon").read_text(encoding="utf-8")
    paths = re.findall(r'"([^"]+)",', manifest[manifest.index(".paths") :])
    assert "build_capture" in paths and "zig_bridge" in paths
    with tarfile.open(archive, "w:gz") as tar:
        for path in paths:  # No folder around them: Zig 0.17 does not find the root in what 0.16 keeps of such a tarball.
            tar.add(ROOT / path, path, filter=without_caches)
    project = Project(tmp_path / "consumer", zig)
    project.write()
    fetched = subprocess.run(
        [zig, "fetch", str(archive)], cwd=project.folder, capture_output=True, text=True, check=False
    )
    assert fetched.returncode == 0, fetched.stderr
    # Zig has the package by its hash now, so that nothing asks this host for it.
    url = "https://package.invalid/package.tar.gz"
    project.write(dependency=f'.build_capture = .{{ .url = "{url}", .hash = "{fetched.stdout.strip()}" }}')
    project.capture()
    program = (project.folder / project.starts()[0][0]).resolve()
    assert program.name == "__main__.py" and not program.is_relative_to(ROOT)


def without_caches(entry: tarfile.TarInfo) -> tarfile.TarInfo | None:
    """Leaves out what Python writes beside its sources."""
    return None if "__pycache__" in entry.name else entry
