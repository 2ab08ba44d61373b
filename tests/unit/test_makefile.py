"""The Makefile: a checkout is installed again when its modules change, and only then."""

from __future__ import annotations

import shutil
import subprocess
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]


@pytest.fixture
def checkout(tmp_path):
    """The Makefile beside a small package; pip only writes down its arguments."""
    if shutil.which("make") is None:
        pytest.skip("there is no make on this machine")
    shutil.copy(ROOT / "Makefile", tmp_path)
    files = ["CMakeLists.txt", "pyproject.toml", "tools/make_ptb_tables.cpp"]
    files += ["models/meteor/english.tar.xz"]
    files += [str(path.relative_to(ROOT)) for path in ROOT.glob("models/*/pyproject.toml")]
    for name in [*files, "src/reelscore/old.py"]:
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).touch()
    script(tmp_path / "tools/system_packages.sh", "true")
    script(tmp_path / ".venv/bin/python", "true")
    script(tmp_path / ".venv/bin/pip", 'echo "$@" >> installed')
    return tmp_path


def script(path, command):
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(f"#!/bin/sh\n{command}\n")
    path.chmod(0o755)


def installs(checkout, target):
    """Count how often making a target installs the checkout itself."""
    log = checkout / "installed"
    log.unlink(missing_ok=True)
    subprocess.run(["make", "-C", checkout, target], check=True, capture_output=True)
    lines = log.read_text().splitlines() if log.exists() else []
    return sum("-e ." in line for line in lines)


@pytest.mark.parametrize("target", [".venv/.core", ".venv/.dev"])
def test_a_checkout_is_installed_again_when_a_module_comes_or_goes(checkout, target):
    package = checkout / "src" / "reelscore"
    assert installs(checkout, target) == 1
    assert installs(checkout, target) == 0
    (package / "old.py").write_text("changed = True")
    assert installs(checkout, target) == 0
    (package / "new.py").touch()
    assert installs(checkout, target) == 1
    (package / "old.py").unlink()
    assert installs(checkout, target) == 1
    assert installs(checkout, target) == 0
