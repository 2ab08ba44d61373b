"""The record of a run, and the captions file beside it."""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import ClassVar

import pytest

import reelscore
from reelscore.captioners.run_record import (
    Parameters,
    Run,
    captions_hash,
    record_path,
    write_candidates,
)
from reelscore.errors import DataError


@dataclass(frozen=True)
class Example(Parameters):
    k: int = 1
    distance: str = "l1"
    name: ClassVar[str] = "example"


def test_a_record_says_how_captions_were_made():
    record = Run(["reelscore", "caption", "x y"]).record(
        Example().signature(seed=3), seed=3, data={"refs": "01234567"}, libraries=["scipy"], more=1
    )
    assert record["signature"] == f"example|k:1|distance:l1|seed:3|v:{reelscore.__version__}"
    assert record["version"] == reelscore.__version__
    assert record["command"] == "reelscore caption 'x y'"
    assert record["seed"] == 3
    assert set(record["libraries"]) == {"python", "numpy", "scipy"}
    assert record["data"] == {"refs": "01234567"}
    assert record["wall_seconds"] >= 0
    assert record["cpu_seconds"] >= 0
    assert record["more"] == 1


def test_the_hash_of_references_is_that_of_scores():
    references = {"a": ["a man", "a person"], "b": ["a dog"]}
    signature = reelscore.score({"a": "a man", "b": "x"}, references, "bleu")["bleu_1"].signature
    assert f"data:{captions_hash(references)}|" in signature
    assert captions_hash({"a": "x y"}) != captions_hash({"a": "x z"})


def test_captions_and_record_are_files(tmp_path):
    path = tmp_path / "out.v1.json"
    write_candidates(path, {"é": "naïve “words”"}, Run([]).record("x"))
    assert reelscore.data.read_candidates(path) == {"é": "naïve “words”"}
    assert record_path(path).name == "out.v1.run.json"
    assert json.loads(record_path(path).read_text())["signature"] == "x"


def test_nothing_is_half_written(tmp_path):
    path = tmp_path / "out.json"
    path.write_text("before")
    with pytest.raises(DataError, match="surrogate"):
        write_candidates(path, {"a": "\ud800"}, Run([]).record("x"))
    assert path.read_text() == "before"
