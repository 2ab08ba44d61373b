"""The public pairs of films and described tracks, scored by their own checker."""

from __future__ import annotations

import importlib.util
import json
import statistics

import pytest
from msgspec import to_builtins

from reelscore.corpus.sound.sound_steps import align, find_pair, segment

SAMPLE = ("a4-logo-mono", "a6-stretch", "a7-none", "a8-other")


@pytest.fixture(scope="module")
def folder(shared):
    folder = shared / "movie" / "ad"
    if not folder.is_dir():
        pytest.skip("the pairs of films and described tracks are not there")
    return folder


@pytest.fixture(scope="module")
def checker(folder):
    spec = importlib.util.spec_from_file_location("check_described", folder / "check.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def predicted(folder, truth):
    pair = find_pair(folder / truth["film"], folder / truth["ad"])
    aligned = align(pair)
    guess = {"match": aligned.match, "map": to_builtins(aligned.map), "segments": []}
    if aligned.match:
        guess["segments"] = to_builtins(segment(pair, aligned).segments)
    assert aligned.is_trusted == (truth["id"] != "a8-other")
    return guess


@pytest.mark.shared
def test_public_pairs(folder, checker, full):
    truths = [json.loads(path.read_text()) for path in sorted(folder.glob("a*.json"))]
    rows = {
        truth["id"]: {**checker.score(truth, predicted(folder, truth)), "truth": truth}
        for truth in truths
        if full or truth["id"] in SAMPLE
    }
    assert len(rows) == (9 if full else 4)
    assert all(row["match_right"] for row in rows.values())
    for row in rows.values():
        stretched = row["truth"]["conditions"].get("stretch")
        if row["truth"]["match"]:
            assert row["missing"] == 0
            assert row["p95_ms"] <= (20 if stretched else 0.1)
        if not row["truth"]["narration"]:
            assert row["false_alarm_s"] == 0
    narrated = [row for row in rows.values() if row["truth"]["narration"]]
    assert statistics.mean(row["frame_f1"] for row in narrated) >= 0.96
    assert min(row["frame_f1"] for row in narrated) >= 0.88
    assert statistics.mean(row["segment_f1"] for row in narrated) >= 0.99
