"""BERTHA on the real judgments, as it was published with the shipped weights."""

from __future__ import annotations

import numpy as np
import pytest

from reelscore.learned.training.hold_out import hold_out
from reelscore_studies.judged.trecvid_ha import load_captions
from reelscore_studies.repro import unseen_years
from reelscore_studies.repro.unseen_years import correlations, held_out_scores

pytestmark = pytest.mark.shared


@pytest.fixture(scope="module")
def captions(shared):
    return load_captions(shared / "trecvid-vtt-ha")


@pytest.fixture(scope="module")
def kept():
    scores = held_out_scores()
    if scores is None:
        pytest.skip("the package reelscore-bertha is not installed")
    return scores


def test_what_there_is(captions):
    judged = [c for c in captions if c.score is not None]
    assert len(captions) == 100_077
    assert len(judged) == 56_083 + 7_920
    assert {len(c.references) for c in judged if c.group == "2016" and not c.person} == {2}
    assert {len(c.references) for c in judged if c.group == "2020" and not c.person} == {5}
    assert {len(c.references) for c in judged if c.group == "2020" and c.person} == {4}


def test_no_year_is_in_its_own_training(captions):
    for year in ("2016", "2019"):
        overlap = hold_out(captions, year).overlap
        assert overlap.remaining == 0
        assert overlap.dropped > 5000


def test_agreement_with_people(captions, kept):
    folders = {
        f"{kind}-{year}": [c for c in captions if c.kind == kind and c.group == str(year)]
        for kind in ("SA", "MA")
        for year in range(2016, 2021)
    }
    agreed = correlations(folders, kept, "bertha", "MA")
    assert np.mean(agreed["caption level"]) > 0.80
    assert min(agreed["caption level"]) > 0.76
    assert np.mean(agreed["system level"]) > 0.97
    assert np.mean(correlations(folders, kept, "bertha-own", "MA")["caption level"]) > 0.78
    assert np.mean(correlations(folders, kept, "network", "MA")["caption level"]) > 0.80
    assert np.mean(correlations(folders, kept, "bertha", "SA")["caption level"]) > 0.39


def test_a_blend_chosen_on_other_years(captions, kept):
    """How much the best reference should count is not chosen on the year it is tested on."""
    years = [str(year) for year in range(2016, 2021)]
    weights = np.linspace(0, 1, 21)
    table = []
    for year in years:
        rows = [c for c in captions if c.kind == "MA" and c.group == year]
        automatic = np.array([not c.person for c in rows])
        human = np.array([c.score for c in rows])[automatic]
        mean, blend = (kept[f"{k}|MA-{year}"][automatic] for k in ("bertha-mean", "bertha"))
        best = 3 * blend - 2 * mean
        table.append([np.corrcoef((1 - w) * mean + w * best, human)[0, 1] for w in weights])
    blended = [
        table[k][int(np.argmax(np.mean(np.delete(table, k, axis=0), axis=0)))]
        for k in range(len(years))
    ]
    assert np.mean(blended) == pytest.approx(0.804, abs=1e-3)


def test_the_progress_of_an_evaluation_counts_captions(captions, kept, monkeypatch):
    def scored(rows, own, engine, progress):
        progress(1, len(rows))

    judged = [c for c in captions if c.score is not None]
    monkeypatch.setattr(unseen_years, "load_captions", lambda *_, **__: judged)
    monkeypatch.setattr(unseen_years, "_scored", scored)
    marks = []
    unseen_years.features("", "MA", progress=lambda *mark: marks.append(mark))
    total = sum(c.kind == "MA" and not c.person for c in judged)
    assert len(marks) == 2 * 5
    assert marks[0] == (1, total)
    assert marks[2] == (marks[1][0] + 1, total)
    assert marks[-1] == (total, total)
