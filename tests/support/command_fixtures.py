"""Files to call the commands on, and ways to call them."""

from __future__ import annotations

import json
import shutil
import sys

import pytest

from reelscore import examples
from reelscore.cli.main import main


@pytest.fixture
def folder(tmp_path, monkeypatch):
    """A working folder with the example's files and a few small ones."""
    for name in ("human", "strong", "weak", "broken"):
        shutil.copy(examples.path(f"clips/systems/{name}.json"), tmp_path)
    shutil.copy(examples.path("clips/references.json"), tmp_path / "refs.json")
    (tmp_path / "a.txt").write_text("a man runs\na dog\n")
    (tmp_path / "b.txt").write_text("a man\na cat\n")
    (tmp_path / "r1.txt").write_text("a man is running\na dog\n")
    (tmp_path / "r2.txt").write_text("somebody runs\nthe dog sleeps\n")
    monkeypatch.chdir(tmp_path)
    return tmp_path


@pytest.fixture
def run(monkeypatch, capsys):
    """Call the command line as the shell does: exit status, standard output, standard error."""

    def call(*arguments):
        monkeypatch.setattr(sys, "argv", ["reelscore", *map(str, arguments)])
        status = 0
        try:
            main()
        except SystemExit as error:
            status = error.code or 0
        return status, *capsys.readouterr()

    return call


@pytest.fixture
def snapshot(folder):
    """Say what lies in the folder, to tell whether anything was written."""

    def take():
        return {
            path.relative_to(folder).as_posix(): path.read_bytes() if path.is_file() else None
            for path in folder.rglob("*")
        }

    return take


@pytest.fixture
def write_json(folder):
    """Write a JSON file into the folder."""

    def write(name, value):
        (folder / name).write_text(json.dumps(value), encoding="utf-8")
        return name

    return write
