"""Ensembles: fitted weights, cross-validated over items, and scores by them."""

from __future__ import annotations

import json

import numpy as np
import pytest
from msgspec import structs

from reelscore import examples, score, score_systems
from reelscore.cli.main import main
from reelscore.data.tables.table import ItemScores, MetricResult, ScoreTable
from reelscore.errors import DataError, UnknownNameError
from reelscore.learned import ensemble as fitting
from reelscore.learned.ensemble import fit_ensemble
from reelscore.learned.metrics.fusion import Coefficients, Fusion, write_coefficients
from reelscore.metrics.cider import Cider
from reelscore.metrics.registry import parse_signature
from support.model_server import model_server, shared_words

SYSTEMS, REFERENCES = examples.clips()


def people(table, formula, noise=0.0):
    """Scores of people who follow a formula."""
    rng = np.random.default_rng(0)
    rows = {}
    for system, row in table.results.items():
        values = formula({name: result.items.array for name, result in row.items()})
        values = values + noise * rng.normal(size=len(values))
        items = dict(zip(REFERENCES, values.tolist(), strict=True))
        rows[system] = {"da": MetricResult("da", 0.0, ItemScores.of(items), "")}
    return ScoreTable(rows)


def test_weights_are_found_again():
    table = score_systems(SYSTEMS, REFERENCES, "rouge_l,cider")
    human = people(table, lambda s: 3 * s["rouge_l"] + 0.5 * s["cider"] - 1)
    fitted = fit_ensemble(table, human)
    assert fitted.coefficients.weights == pytest.approx({"rouge_l": 3, "cider": 0.5})
    assert fitted.coefficients.intercept == pytest.approx(-1)
    assert fitted.captions["ensemble"] == pytest.approx(1)
    assert fitted.systems["ensemble"] == pytest.approx(1)
    assert fitted.captions["rouge_l"] < 1
    assert fitted.coefficients.provenance["items"] == 15
    assert fitted.coefficients.provenance["captions"] == 60


def test_scores_where_lower_is_better(monkeypatch):
    table = score_systems(SYSTEMS, REFERENCES, "rouge_l,cider")
    human = people(table, lambda s: s["rouge_l"] - 2 * s["cider"])
    monkeypatch.setattr(Cider, "output_scale", structs.replace(Cider.output_scale, better="low"))
    table = score_systems(SYSTEMS, REFERENCES, "rouge_l,cider")
    fitted = fit_ensemble(table, human)
    assert fitted.coefficients.weights == pytest.approx({"rouge_l": 1, "cider": -2})


def test_scores_of_all_captions_together_are_refused(tmp_path):
    """The same captions would score otherwise beside those of another system."""
    table = score_systems(SYSTEMS, REFERENCES, "rouge_l,self_bleu")
    human = people(table, lambda s: s["rouge_l"] - 2 * s["self_bleu"])
    with pytest.raises(DataError, match="self_bleu scores all captions of a system together"):
        fit_ensemble(table, human)
    stored = Coefficients(["rouge_l", "self_bleu"], {"rouge_l": 1.0, "self_bleu": -2.0}, 0.0)
    write_coefficients(tmp_path / "ours.json", stored)
    with pytest.raises(DataError, match="self_bleu scores all captions of a system together"):
        score(SYSTEMS["weak"], REFERENCES, Fusion(f"{tmp_path}/ours.json"))


@pytest.mark.parametrize("formula", [lambda s: 0 * s["cider"], lambda s: -s["cider"]])
def test_scores_that_do_not_rise_with_people(formula):
    table = score_systems(SYSTEMS, REFERENCES, "rouge_l,cider")
    with pytest.raises(DataError, match="No score of rouge_l, cider rises with people's scores"):
        fit_ensemble(table, people(table, formula))


def test_weights_of_scores_that_no_metric_gives(tmp_path):
    stored = Coefficients(["rouge_l"], {"rouge_l": 1.0, "rogue_l": 3.0}, 0.0)
    write_coefficients(tmp_path / "ours.json", stored)
    with pytest.raises(DataError, match="no metric of it gives 'rogue_l'"):
        score(SYSTEMS["weak"], REFERENCES, Fusion(f"{tmp_path}/ours.json"))


def test_scores_of_systems_alone():
    table = score_systems(SYSTEMS, REFERENCES, "rouge_l,cider")
    human = people(table, lambda s: s["rouge_l"])
    rows = {
        system: {
            name: structs.replace(result, items=ItemScores.of({})) for name, result in row.items()
        }
        for system, row in table.results.items()
    }
    with pytest.raises(DataError, match=r"scores of systems only.*reelscore score --table"):
        fit_ensemble(ScoreTable(rows), human)


def test_no_score_counts_against_its_direction():
    table = score_systems(SYSTEMS, REFERENCES, "rouge_l,cider")
    human = people(table, lambda s: s["cider"] - s["rouge_l"])
    assert fit_ensemble(table, human).coefficients.weights["rouge_l"] == 0


def test_an_item_is_fitted_on_or_tested_not_both(monkeypatch):
    table = score_systems(SYSTEMS, REFERENCES, "rouge_l")
    human = people(table, lambda s: s["rouge_l"], noise=0.1)
    seen = []

    def fitted(columns, scores):
        seen.append(columns.shape[1])
        return np.ones(1), 0.0

    monkeypatch.setattr(fitting, "_fitted", fitted)
    fit_ensemble(table, human, folds=5)
    assert seen == [48] * 5 + [60]  # all four captions of three items are left out


def test_noise_is_not_agreement():
    """What was fitted on noise must not look good on items it has not seen."""
    table = score_systems(SYSTEMS, REFERENCES, "bleu,meteor,rouge_l,cider,sent_bleu")
    human = people(table, lambda s: 0 * s["cider"], noise=-1.0)
    fitted = fit_ensemble(table, human, folds=15)
    assert fitted.captions["ensemble"] < 0.2


def test_scores_by_the_ensemble(tmp_path):
    table = score_systems(SYSTEMS, REFERENCES, "bleu,cider,cider|variant:plain")
    human = people(table, lambda s: s["bleu_2"] + 2 * s["cider|variant:plain"])
    chosen = ["bleu_2", "cider|variant:plain", "cider"]
    fitted = fit_ensemble(table, human, metrics=chosen)
    write_coefficients(tmp_path / "ours.json", fitted.coefficients)
    metric = parse_signature(f"ensemble|weights:{tmp_path}/ours.json")
    assert metric == Fusion(f"{tmp_path}/ours.json")
    results = score(SYSTEMS["weak"], REFERENCES, metric)
    assert results["fusion"].items.array == pytest.approx(human["weak"]["da"].items.array)
    # it knows the items it was fitted on
    assert "|seen:15|" in results["fusion"].signature
    assert any("Fit it without them" in note for note in results.notes)


def test_weights_that_are_fitted_again(tmp_path):
    """As in a notebook, where one process fits and scores several times."""
    file = tmp_path / "ours.json"
    scores = []
    for weight in (1.0, 2.0):
        write_coefficients(file, Coefficients(["rouge_l"], {"rouge_l": weight}, 0.0))
        scores.append(score(SYSTEMS["weak"], REFERENCES, Fusion(str(file)))["fusion"].score)
    assert scores[1] == pytest.approx(2 * scores[0])


def test_a_judge_in_an_ensemble(tmp_path):
    def answer(request):
        content = request["messages"][-1]["content"]
        return "no" if SYSTEMS["weak"]["clip01"] in content else shared_words(request)

    with model_server(answer) as server:
        judge = f"judge|model:m|url:{server.url}|failed:skip"
        metrics = [judge, "rouge_l"]
        write_coefficients(
            tmp_path / "ours.json", Coefficients(metrics, {"judge": 0.01, "rouge_l": 1.0}, 0.0)
        )
        own = score(SYSTEMS["weak"], REFERENCES, metrics)
        fused = score(SYSTEMS["weak"], REFERENCES, Fusion(f"{tmp_path}/ours.json"))
    assert len(fused["fusion"].items) == 14  # one caption has no answer
    expected = 0.01 * own["judge"].items["clip02"] + own["rouge_l"].items["clip02"]
    assert fused["fusion"].items["clip02"] == pytest.approx(expected)
    assert np.isfinite(fused["fusion"].score)
    assert any("taken from the journal" in note for note in fused.notes)


@pytest.fixture(autouse=True)
def cache(tmp_path_factory, monkeypatch, request):
    if "judge" in request.node.name:
        monkeypatch.setenv("REELSCORE_CACHE", str(tmp_path_factory.mktemp("cache")))


def test_what_cannot_be_combined(tmp_path):
    table = score_systems(SYSTEMS, REFERENCES, "rouge_l,fusion")
    human = people(table, lambda s: s["rouge_l"])
    with pytest.raises(DataError, match="an ensemble cannot hold another"):
        fit_ensemble(table, human)
    with pytest.raises(UnknownNameError, match="Did you mean 'rouge_l'"):
        fit_ensemble(table, human, metrics=["rouge"])
    with pytest.raises(DataError, match=r"15 judged items with 60 captions.*16 parts"):
        fit_ensemble(table, human, metrics=["rouge_l"], folds=16)
    with pytest.raises(DataError, match="da: how it is made is not known"):
        fit_ensemble(human, human)


def test_the_command(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    table = score_systems(SYSTEMS, REFERENCES, "rouge_l,cider")
    table.write("scores.json")
    people(table, lambda s: s["rouge_l"] + s["cider"], noise=0.1).write("people.json")

    def run(*arguments):
        monkeypatch.setattr("sys.argv", ["reelscore", "ensemble", *arguments])
        try:
            main()
        except SystemExit as end:
            return end.code, *capsys.readouterr()
        return 0, *capsys.readouterr()

    status, _, error = run("scores.json", "--human", "people.json", "-m", "spice", "-o", "o.json")
    assert status == 2
    assert "Unknown metric 'spice'" in error
    assert not (tmp_path / "o.json").exists()
    status, out, _ = run("scores.json", "--human", "people.json", "-o", "o.json")
    assert (status, "Give --refs" in out) == (0, True)
    refs = str(examples.path("clips/references.json"))
    status, out, _ = run("scores.json", "--human", "people.json", "-r", refs, "-o", "o.json")
    assert (status, "Give --refs" in out) == (0, False)
    assert out.splitlines()[0].split() == ["score", "weight", "r", "captions", "r", "systems"]
    assert "ensemble|weights:o.json" in out
    stored = json.loads((tmp_path / "o.json").read_text())
    assert set(stored["weights"]) == {"rouge_l", "cider"}
    assert all("|" in metric for metric in stored["metrics"])
    assert stored["training_items"]
