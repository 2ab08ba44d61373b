"""``reelscore doctor``: what is there, what is missing, and the line that installs it."""

from __future__ import annotations

import json
from importlib import metadata

import pytest

from reelscore.cli.commands.doctor import extra_packages

REQUIRES = [
    "numpy>=1.24",
    'zstandard>=0.22; extra == "files"',
    'pyarrow>=16; extra == "files"',
    'matplotlib>=3.8; extra == "plots"',
    'no-such-package>=1; extra == "ray"',
    'reelscore[files]; extra == "torch"',
    'tomli>=2; python_version < "3.11" and extra == "web"',
    'fastapi>=0.115; extra == "web"',
    'psycopg[binary]>=3.1; extra == "web"',
]
INSTALLED = {"zstandard", "pyarrow", "fastapi", "reelscore-bertha"}


@pytest.fixture(autouse=True)
def packages(monkeypatch):
    def version(name):
        if name not in INSTALLED:
            raise metadata.PackageNotFoundError(name)
        return "1.2.3"

    monkeypatch.setattr(metadata, "requires", lambda name: REQUIRES)
    monkeypatch.setattr(metadata, "version", version)


def test_packages_of_an_extra_are_those_that_this_machine_needs():
    assert extra_packages("files") == ["zstandard", "pyarrow"]
    assert extra_packages("web") == ["fastapi", "psycopg"]
    assert extra_packages("torch") == []


def test_what_is_missing_has_its_line(run):
    status, out, err = run("doctor")
    assert (status, err) == (0, "")
    lines = [" ".join(line.split()) for line in out.splitlines()]
    assert "[files] yes" in lines
    assert "[plots] no" in lines
    assert "[web] partly without psycopg" in lines
    assert "reelscore-bertha yes 1.2.3" in lines
    assert "[plots] would enable: figures as files." in lines
    assert "pip install 'reelscore[plots]'" in lines
    assert "pip install 'reelscore[files]'" not in lines
    assert max(map(len, out.splitlines())) <= 80


def test_json_is_all_that_is_printed(run):
    status, out, _ = run("doctor", "--json", "-")
    assert status == 0
    parts = {part["name"]: part for part in json.loads(out)["parts"]}
    assert parts["[ray]"]["state"] == "no"
    assert parts["[ray]"]["install"] == "pip install 'reelscore[ray]'"
    assert parts["METEOR's data"]["state"] == "yes"
