"""The wheel takes along what the pages are made of, not only Python."""

from __future__ import annotations

import shutil
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
PARTS = sorted(
    path.relative_to(ROOT).as_posix()
    for folder in ("templates", "static")
    for path in (ROOT / "src" / "reelscore").rglob(f"{folder}/**/*")
    if path.is_file()
)


def test_there_are_templates_and_static_files():
    assert {path.rpartition(".")[2] for path in PARTS} == {
        "html",
        "css",
        "js",
        "svg",
        "atom",
        "txt",
    }
    assert len(PARTS) > 30


@pytest.mark.skipif(sys.version_info < (3, 11), reason="needs tomllib")
def test_the_whole_package_is_declared():
    import tomllib

    built = tomllib.loads((ROOT / "pyproject.toml").read_text())["tool"]["scikit-build"]
    assert "src/reelscore" in built["wheel"]["packages"]
    assert not built["wheel"].get("exclude")


@pytest.mark.skipif(
    shutil.which("git") is None or not (ROOT / ".git").exists(), reason="not in a checkout of git"
)
def test_nothing_of_it_is_ignored():
    """What git ignores, the build leaves out of a wheel."""
    ignored = subprocess.run(
        ["git", "check-ignore", *PARTS], cwd=ROOT, capture_output=True, text=True, check=False
    )
    assert (ignored.returncode, ignored.stdout) == (1, "")
