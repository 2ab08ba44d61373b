"""Kept scores of SPICE belong to one data set, and are found again by its rows."""

from __future__ import annotations

import numpy as np
import pytest

from reelscore_studies.judged import trecvid_ha
from reelscore_studies.repro import bertha as spice_row
from reelscore_studies.repro.bertha import by_system_and_item, official_scores, write_counts
from support.trecvid_copy import write_copy


@pytest.fixture(scope="module")
def data(tmp_path_factory):
    return trecvid_ha.load(write_copy(tmp_path_factory.mktemp("copy")), "MA-2018")


def test_rows_are_in_the_order_of_the_file(data):
    assert set(data.rows) == {(s, i) for s in data.human.systems for i in data.human[s]["z"].items}
    assert len(data.rows) == len(set(data.rows))


def test_other_data_has_no_scores(data):
    assert official_scores(data) is None


def test_scores_of_counts(data, tmp_path, monkeypatch):
    path = tmp_path / "kept.npz"
    counts = [(k % 3, 3, 5) for k in range(len(data.rows))]
    write_counts(path, [(data, counts)])
    monkeypatch.setattr(spice_row, "files", lambda package: tmp_path)
    monkeypatch.setattr(spice_row, "_FILE", path.name)
    scores = official_scores(data)
    assert scores[:3] == pytest.approx([0, 2 / 8, 4 / 8])
    paired = by_system_and_item(data, np.arange(len(scores), dtype=float))
    keys = [(s, i) for s in data.human.systems for i in data.human[s]["z"].items]
    assert [data.rows[int(place)] for place in paired] == keys
