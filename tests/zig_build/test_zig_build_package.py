"""The package as others get it: the fragment, the example and a fetched tarball."""

import json
import re
import shutil
import subprocess
import sys
import tarfile
from pathlib import Path

from build_capture.depfile import escape_space
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


def pack(archive: Path) -> Path:
    """A tarball of what `build.zig.zon` lists, as a release is."""
    manifest = (ROOT / "build.zig.zon").read_text(encoding="utf-8")
    paths = re.findall(r'"([^"]+)",', manifest[manifest.index(".paths") :])
    assert {"build_capture", "zig_bridge", "cmake", "build.zig.fragment"} <= set(paths)
    with tarfile.open(archive, "w:gz") as tar:
        for path in paths:  # No folder around them: Zig 0.17 does not find the root in what 0.16 keeps of such a tarball.
            tar.add(ROOT / path, path, filter=without_caches)
    return archive


def test_r41_fetched_package_captures_a_kernel_and_verifies_its_set(zig: str, tmp_path: Path) -> None:
    """Triton compiles here, started by the fetched tree's own Python; what it makes is then tested and verified without any."""
    project = Project(tmp_path / "a consumer", zig)
    project.write()
    fetched = subprocess.run([zig, "fetch", str(pack(tmp_path / "package.tar.gz"))], cwd=project.folder, capture_output=True, text=True, check=False)
    assert fetched.returncode == 0, fetched.stderr
    # Zig has the package by its hash now, so that nothing asks this host for it.
    url = "https://package.invalid/package.tar.gz"
    project.write(dependency=f'.build_capture = .{{ .url = "{url}", .hash = "{fetched.stdout.strip()}" }}')
    project.write_kernel()
    result = project.run("install", "test", "verify-set", "-Dcapture=true", f"-Dcapture-python={sys.executable}")
    assert result.returncode == 0, result.stdout
    assert "2 calls over domains, 2 launches, 2 specializations: all captured (parallel 2, window rows 1)" in result.stdout
    assert result.stdout.count("sm_121, 2 entries, 2 cubins") == 1
    (depfile,) = project.folder.glob(".zig-cache/o/*/capture.d")
    inputs = depfile.read_text(encoding="utf-8")
    assert "build_capture/pipeline/capture.py" in inputs and escape_space(f"{ROOT}/build_capture/") not in inputs
    for step, message in (
        ("verifier", "the profile has domains, and only a set says how to drive them; expected -Dcapture=true or -Dcapture-set=DIR"),
        ("verify-set", "there is no set to verify; expected -Dcapture=true or -Dcapture-set=DIR"),
    ):
        result = project.run(step)
        assert result.returncode != 0 and message in result.stdout, result.stdout
    # The set as it is shipped: what no round drives is in it, so its coverage can be tested where there is no Python.
    shipped = tmp_path / "shipped"
    shutil.copytree(project.installed(), shipped)
    absent = f"-Dcapture-python={tmp_path}/absent"
    result = project.run("test", "verify-set", f"-Dcapture-set={shipped}", absent)
    assert result.returncode == 0, result.stdout
    assert result.stdout.count("2 specializations: all captured") == 2
    result = project.run("test", f"-Dcapture-set={shipped}", "-Dparallel=16", absent)
    assert result.returncode != 0 and "no captured variant of _copy" in result.stdout and "W: i32 16 (div16)" in result.stdout
    without_domains = json.loads((shipped / "aot.json").read_bytes())
    del without_domains["provenance"]["domains"]
    (shipped / "aot.json").write_text(json.dumps(without_domains), encoding="utf-8")
    result = project.run("test", f"-Dcapture-set={shipped}", absent)
    assert result.returncode != 0 and "the set does not say how to drive the methods that no round does" in result.stdout


def without_caches(entry: tarfile.TarInfo) -> tarfile.TarInfo | None:
    """Leaves out what Python writes beside its sources."""
    return None if "__pycache__" in entry.name else entry
