"""The small rendered study: methods come in the order that the paper found, with margins."""

from __future__ import annotations

import json

import numpy as np
import pytest

pytest.importorskip("torch", reason="networks need torch ('make learned')")

from reelscore_studies.captioning.plans import read_plan
from reelscore_studies.captioning.runs import run_study
from reelscore_studies.captioning.tables import StudyResults
from reelscore_studies.rendered.actions import UNSEEN

pytestmark = pytest.mark.full


@pytest.fixture(scope="module")
def results(tmp_path_factory):
    home = tmp_path_factory.mktemp("study")
    run_study(read_plan("rendered1-small"), home, only=["t12"], freeze=True)
    return {split: StudyResults.read(home, split) for split in ("val", "test")}


def row_of(results, name):
    return next(row for row in results["test"].plan.row if row.name == name)


def test_methods_keep_their_order(results):
    nearest = [row for row in results["val"].plan.row if row.method == "nearest"]
    best = max(nearest, key=lambda row: np.mean(results["val"].result(row).scores["meteor"]))
    steps = [
        (row_of(results, "SMT"), best, 1.0),
        (row_of(results, "visual labels"), row_of(results, "SMT"), 1.0),
        (row_of(results, "true labels (oracle)"), row_of(results, "visual labels"), 4.0),
    ]
    for better, worse, margin in steps:
        apart, p = results["test"].difference(better, worse)
        assert (apart >= margin, p < 0.01) == (True, True), (better.name, worse.name, apart, p)


def test_what_nobody_can_see_is_filtered(results):
    unit = results["test"]._units(row_of(results, "visual labels"))[0]
    dropped = json.loads(unit.result("test").read_bytes())["labels"]["dropped"]
    assert len({name for _, name in UNSEEN} & set(dropped)) >= 7
