"""The command ``reelscore bertha``."""

from __future__ import annotations

import json

import pytest
from click.testing import CliRunner

from reelscore import examples
from reelscore.cli.main import cli

pytest.importorskip("torch")


def run(*arguments):
    return CliRunner().invoke(cli, ["bertha", *map(str, arguments)], catch_exceptions=True)


def prepared(tmp_path):
    clips = examples.path("clips")
    done = run(
        "prepare",
        *sorted((clips / "systems").iterdir()),
        *("-r", clips / "references.json", "--human", clips / "judgments.csv"),
        *("-o", tmp_path / "own.jsonl"),
    )
    assert done.exit_code == 0, done.output
    assert "60 captions, 60 of them judged" in done.output
    return tmp_path / "own.jsonl"


def test_prepare_needs_something(tmp_path):
    done = run("prepare", "-o", tmp_path / "own.jsonl")
    assert "Nothing to prepare" in str(done.exception)
    assert not (tmp_path / "own.jsonl").exists()


def test_info():
    pytest.importorskip("reelscore_bertha")
    done = run("info")
    assert done.exit_code == 0, done.output
    assert "r with people, MA, all references, caption level: 0.823" in done.output
    assert json.loads(run("info", "--json").output)["max_length"] == 128


def test_export(tmp_path):
    pytest.importorskip("reelscore_bertha")
    done = run("export", "reelscore-bertha", tmp_path / "out")
    assert done.exit_code == 0, done.output
    assert (tmp_path / "out" / "config.json").is_file()


def test_train_says_what_is_wrong(tmp_path):
    judged = prepared(tmp_path)
    assert "Unknown recipe 'nothing'" in str(
        run("train", judged, tmp_path / "run", "--recipe", "nothing").exception
    )
    assert "Unknown group 'x'" in str(
        run("train", judged, tmp_path / "run", "--hold-out", "x").exception
    )
    assert "nothing to learn in the stage 'judgments'" in str(
        run("train", judged, tmp_path / "run", "--recipe", "plain").exception
    )
