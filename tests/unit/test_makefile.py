"""The Makefile: a checkout is installed again when its modules change, and only then."""

from __future__ import annotations

import re
import shutil
import subprocess
from collections import Counter
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
    files += ["studies/pyproject.toml"]
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


@pytest.mark.parametrize("target", ["unit", "bench"])
def test_sources_are_compiled_before_many_processes_start(checkout, target):
    script(checkout / ".venv/bin/python", 'echo "$@" >> ran')
    subprocess.run(["make", "-C", checkout, target], check=True, capture_output=True)
    first, last = (checkout / "ran").read_text().splitlines()[-2:]
    assert first.startswith("-m compileall -q src")
    assert last.startswith(("-m pytest", "-m benchmarks"))


def test_every_source_is_compiled_once():
    """The programs of the build share objects with the kernels; the others are put together."""
    builds = list(ROOT.glob("build/*/build.ninja"))
    if not builds:
        pytest.skip("reelscore was not built here")
    build = max(builds, key=lambda path: path.stat().st_mtime)
    rules = build.read_text(encoding="utf-8")
    objects = re.findall(r"^build (\S+)\.o: CXX_COMPILER", rules, re.MULTILINE)
    sources = Counter(Path(name).name for name in objects if "/Unity/" not in name)
    for together in (name for name in objects if "kernels.dir/Unity/" in name):
        text = (build.parent / together).read_text(encoding="utf-8")
        sources.update(Path(name).name for name in re.findall(r'^#include "(.+)"', text, re.M))
    assert {path.name for path in ROOT.glob("cpp/*.cpp")} - {"bindings.cpp"} <= set(sources)
    assert {name: count for name, count in sources.items() if count > 1} == {}
    assert not any("nanobind" in name for name in objects if "/Unity/" not in name)


def test_the_bindings_are_compiled_before_the_kernels():
    """They take longest: compiled last, they would keep one core busy and leave the others idle."""
    rules = (ROOT / "CMakeLists.txt").read_text(encoding="utf-8")
    assert rules.index("nanobind_add_module(_native") < rules.index("add_library(kernels OBJECT")


def test_what_the_core_needs_is_fetched_beside_what_builds_it(checkout):
    (checkout / "pyproject.toml").write_text('dependencies = [\n  "one>=1.2",\n  "two",\n]\n')
    copied = "for file; do case $file in /dev/fd/*) cat $file >> needed; esac; done"
    script(checkout / ".venv/bin/pip", f'echo "$@" >> installed; {copied}')
    subprocess.run(["make", "-C", checkout, ".venv/.build"], check=True, capture_output=True)
    fetched = (checkout / "installed").read_text()
    assert fetched.count("install --quiet") == 2
    assert "nanobind" in fetched
    assert (checkout / "needed").read_text() == "one>=1.2\ntwo\n"
