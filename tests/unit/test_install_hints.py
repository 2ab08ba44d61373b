"""Commands in messages install what is missing, from an index and from a clone."""

from __future__ import annotations

import importlib.metadata
import json
import re
import shlex
from pathlib import Path

import pytest

import reelscore
from reelscore.errors import MissingExtraError, install_command

ROOT = Path(__file__).parents[2]
SOURCES = Path(reelscore.__file__).parent.rglob("*.py")


@pytest.fixture
def installed_from(monkeypatch):
    """State where reelscore was installed from, in the words of pip."""

    class Installed:
        def __init__(self, origin):
            self.origin = origin

        def read_text(self, name):
            assert name == "direct_url.json"
            return self.origin

    return lambda origin: monkeypatch.setattr(
        importlib.metadata, "distribution", lambda name: Installed(origin)
    )


def from_folder(folder):
    return json.dumps({"url": folder.as_uri(), "dir_info": {"editable": True}})


MODEL = ("reelscore[parser]", "reelscore-parser")


@pytest.mark.parametrize("origin", [None, '{"url": "https://a.org/a.whl", "archive_info": {}}'])
def test_from_an_index(installed_from, origin):
    installed_from(origin)
    assert install_command(*MODEL) == "pip install 'reelscore[parser]' reelscore-parser"


def test_from_a_clone(installed_from, tmp_path):
    clone = tmp_path / "my clone"
    (clone / "models" / "parser").mkdir(parents=True)
    installed_from(from_folder(clone))
    assert shlex.split(install_command(*MODEL)) == [
        *("pip", "install", "reelscore[parser]"),
        str(clone / "models" / "parser"),
    ]


def test_from_a_clone_that_is_gone(installed_from, tmp_path):
    installed_from(from_folder(tmp_path / "gone"))
    assert install_command(*MODEL).endswith(" reelscore-parser")


def test_the_clone_of_these_tests_has_the_models():
    for package in ("bertha", "parser"):
        assert (ROOT / "models" / package / "pyproject.toml").is_file()


def test_a_message_ends_with_the_command():
    message = str(MissingExtraError.of("Plots need matplotlib", "reelscore[plots]"))
    assert message == "Plots need matplotlib. To install: pip install 'reelscore[plots]'"


def test_hints_are_made_in_one_place():
    """No message spells out a command of its own, and all extras that are named exist."""
    project = (ROOT / "pyproject.toml").read_text(encoding="utf-8")
    extras = project.partition("[project.optional-dependencies]")[2].partition("\n[")[0]
    named = set()
    for path in SOURCES:
        text = path.read_text(encoding="utf-8")
        named |= set(re.findall(r'"reelscore\[(\w+)\]"', text))
        if path.name != "errors.py":
            assert "pip install 'reelscore" not in text, path
            assert "raise MissingExtraError(" not in text, path
    assert {"files", "learned", "parser", "plots", "web"} <= named
    assert named <= set(re.findall(r"^(\w+) = \[", extras, re.MULTILINE))
