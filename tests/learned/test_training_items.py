"""Scores of items that a metric was trained on: counted in the signature, warned of everywhere."""

from __future__ import annotations

import gzip
import json
import shutil
from collections import defaultdict

import numpy as np
import pytest
from click.testing import CliRunner
from msgspec.structs import replace

import reelscore
from reelscore import ScoreTable, examples
from reelscore.cli.main import cli
from reelscore.cli.table_options import training_notes
from reelscore.data.tables.table import Sources
from reelscore.errors import DataError
from reelscore.learned.judged_captions import training_items, write_captions
from reelscore.learned.metrics.bertha import Bertha
from reelscore.learned.metrics.fusion import Fusion, write_coefficients
from reelscore.learned.model_files import (
    keep_held_out,
    read_info,
    read_training_items,
    write_training_items,
)
from reelscore.learned.training.fit import fit_model
from reelscore.learned.training.recipes import Recipe, Stage
from reelscore.meta.evaluation import evaluate_metrics
from reelscore.metrics.registry import parse_signature
from reelscore.metrics.training_data import TrainingItems
from reelscore_studies.judged import trecvid_ha
from reelscore_studies.repro.regression import fit_fusion

SHORT = Recipe("short", (Stage("judgments", epochs=1, batch=16),), max_length=32)


@pytest.fixture(scope="module")
def fitted(captions, tiny, tmp_path_factory):
    """A model trained without the group g2, as `reelscore bertha train` leaves it."""
    folder = tmp_path_factory.mktemp("fitted")
    fit_model(captions, SHORT, folder, encoder=tiny, held_out="g2", device="cpu")
    return folder / "model"


def of_group(captions, group):
    """Captions of a group as one system's, an item each, and their references."""
    own = [caption for caption in captions if caption.group == group]
    return (
        {str(k): caption.candidate for k, caption in enumerate(own)},
        {str(k): list(caption.references) for k, caption in enumerate(own)},
    )


def test_items_are_known_again():
    seen = TrainingItems.of({"a": ["A man runs fast."], "b": ["two dogs sleep", "a cat"]})
    references = ["a man runs fast", "new", "Two dogs sleep!", "a cat", "new", "new", "a cat"]
    offsets = np.array([0, 2, 4, 7])  # one of two, two of two, one of three
    assert {g: own.tolist() for g, own in seen.seen(references, offsets).items()} == {
        "a": [True, False, False],
        "b": [False, True, False],
    }
    assert seen.counts(references, offsets) == {"a": 1, "b": 1}
    assert TrainingItems.of({"a": ["x"]}).fingerprint != seen.fingerprint
    both = TrainingItems.together([seen, None, TrainingItems.of({"a": ["x"]})])
    assert {group: len(own) for group, own in both.groups.items()} == {"a": 2, "b": 2}
    assert TrainingItems.together([None]) is None
    with pytest.raises(DataError, match="not hashes"):
        TrainingItems.decoded({"a": "?"})


def test_a_trained_model_knows_its_items(captions, fitted):
    items = read_training_items(str(fitted))
    assert sorted(items.groups) == ["g0", "g1"]
    candidates, references = of_group(captions, "g0")
    scores = reelscore.score(candidates, references, [Bertha(model=str(fitted))])
    signature = scores["bertha"].signature
    assert f"|trained:{items.fingerprint}|seen:60|" in signature
    assert parse_signature(signature) == Bertha(model=str(fitted))
    assert scores.notes[0].startswith(
        "Warning: bertha was trained on 60 of these 60 items (g0): its scores of them and its "
        "agreement with people are better than on new items."
    )
    unseen = reelscore.score(*of_group(captions, "g2"), [Bertha(model=str(fitted))])
    assert "|seen:0|" in unseen["bertha"].signature
    assert unseen.notes == ()


def test_batches_count_what_was_scored(captions, fitted):
    candidates, references = of_group(captions, "g0")
    scorer = reelscore.Scorer(references, [Bertha(model=str(fitted))], missing="skip")
    scorer.update(dict(list(candidates.items())[:7]))
    assert "|seen:7|" in scorer.compute()["bertha"].signature


def test_weights_held_out(captions, fitted, model, monkeypatch, tmp_path):
    monkeypatch.setenv("REELSCORE_CACHE", str(tmp_path))
    with pytest.raises(DataError, match="no weights of reelscore-bertha trained without 'g2'"):
        reelscore.score(*of_group(captions, "g2"), "bertha|held_out:g2")
    keep_held_out(fitted, "g2")
    result = reelscore.score(*of_group(captions, "g2"), "bertha|held_out:g2")["bertha"]
    assert "|held_out:g2|" in result.signature
    assert f"|revision:{read_info(str(fitted)).revision}|" in result.signature
    assert "|seen:0|" in result.signature
    with pytest.raises(DataError, match="trained without 'g2', not without 'g1'"):
        keep_held_out(fitted, "g1")


def test_the_warning_offers_weights_held_out(captions, fitted, monkeypatch, tmp_path):
    monkeypatch.setenv("REELSCORE_CACHE", str(tmp_path))
    make = Bertha().unseen_remedy(["g2"])
    assert "reelscore bertha train JUDGED FOLDER --recipe careful --hold-out g2 --keep" in make
    keep_held_out(fitted, "g2")
    assert (
        Bertha().unseen_remedy(["g2"]) == "Weights that have not seen them: 'bertha|held_out:g2'."
    )


def test_train_keeps(captions, tiny, monkeypatch, tmp_path):
    monkeypatch.setenv("REELSCORE_CACHE", str(tmp_path / "cache"))
    write_captions(tmp_path / "judged.jsonl", captions)
    arguments = ["bertha", "train", str(tmp_path / "judged.jsonl"), str(tmp_path / "run")]
    wrong = CliRunner().invoke(cli, [*arguments, "--keep"])
    assert wrong.exit_code == 2
    assert "add --hold-out" in wrong.output
    monkeypatch.setattr("reelscore.learned.training.recipes.recipe_of", lambda name: SHORT)
    options = ["--encoder", tiny, "--device", "cpu", "--hold-out", "g2", "--keep"]
    done = CliRunner().invoke(cli, [*arguments, *options])
    assert done.exit_code == 0, done.output
    assert "bertha|held_out:g2 is " in done.output
    assert (tmp_path / "cache/bertha/held_out/g2/weights.safetensors").is_file()
    assert sorted(read_training_items(str(tmp_path / "run/model")).groups) == ["g0", "g1"]


def test_fusion(captions, tmp_path):
    candidates, references = of_group(captions, "g0")
    scores = reelscore.score(candidates, references, "rouge_l")["rouge_l"].items.array
    items = training_items(each for each in captions if each.group == "g0")
    human = np.linspace(-1, 1, len(scores))
    path = str(tmp_path / "fusion.json")
    write_coefficients(path, fit_fusion({"rouge_l": scores}, human, ["rouge_l"], items=items))
    results = reelscore.score(candidates, references, [Fusion(path)])
    assert f"|trained:{items.fingerprint}|seen:60|" in results["fusion"].signature
    assert results.notes[0].startswith("Warning: fusion was trained on 60 of these 60 items (g0)")
    new = reelscore.score(*of_group(captions, "g2"), [Fusion(path)])
    assert new.notes == ()


def test_stored_tables(captions, fitted, tmp_path):
    """What is read from JSON says it; of CSV, the references tell, and else nobody can."""
    candidates, references = of_group(captions, "g0")
    systems = dict.fromkeys(("a", "b", "c"), candidates)
    table = reelscore.score_systems(systems, references, [Bertha(model=str(fitted))])
    table.write(tmp_path / "scores.json")
    stored = ScoreTable.read(tmp_path / "scores.json")
    assert any(note.startswith("Warning: bertha was trained on 60 of") for note in stored.notes)
    assert training_notes(stored) == []  # said already
    people = ScoreTable(
        {
            name: {"z": replace(row["bertha"], metric="z", score=float(k))}
            for k, (name, row) in enumerate(stored.results.items())
        }
    )
    evaluation = evaluate_metrics(stored, people, level="pooled", coefficients=["pearson"])
    assert any("was trained on 60 of these 60 items" in note for note in evaluation.cells.notes)


def test_tables_without_signatures(fitted, captions, tmp_path, monkeypatch):
    _, references = of_group(captions, "g0")
    rows = "".join(f"{s},{k},bertha,0.{k}\n" for s in "ab" for k in references)
    (tmp_path / "scores.csv").write_text("system,item,metric,score\n" + rows)
    stored = ScoreTable.read(tmp_path / "scores.csv")
    items = read_training_items(str(fitted))
    monkeypatch.setattr(Bertha, "training_items", lambda self: items)
    (note,) = training_notes(stored)
    assert "the scores alone do not show" in note
    (warning,) = training_notes(replace(stored, sources=Sources({}, references)))
    assert warning.startswith("Warning: bertha was trained on 60 of these 60 items (g0)")
    other = {item: ["something else"] for item in references}
    assert training_notes(replace(stored, sources=Sources({}, other))) == []


def test_a_damaged_file(model, tmp_path):
    folder = tmp_path / "model"
    shutil.copytree(model, folder)
    assert read_training_items(str(folder)) is None
    read_training_items.cache_clear()
    write_training_items(folder, TrainingItems.of({"g": ["a"]}))
    assert read_training_items(str(folder)).counts(["A!"], np.array([0, 1])) == {"g": 1}
    read_training_items.cache_clear()
    (folder / "training_items.json").write_text("[]")
    with pytest.raises(DataError, match="cannot be read as hashes"):
        read_training_items(str(folder))


# The shipped ones


@pytest.mark.shared
def test_shipped_weights_know_trecvid(shared):
    pytest.importorskip("reelscore_bertha")
    from reelscore_studies.judged.trecvid_ha import load_captions

    captions = load_captions(shared / "trecvid-vtt-ha")
    items = read_training_items("reelscore-bertha")
    years = training_items(captions).groups
    assert all(np.array_equal(items.groups[year], years[year]) for year in years)
    references = defaultdict(set)
    for caption in captions:
        references[caption.group, caption.item].update(caption.references)
    for year in ("2016", "2020"):
        own = [sorted(texts) for (group, _), texts in references.items() if group == year]
        offsets = np.cumsum([0, *map(len, own)])
        counts = items.counts([text for texts in own for text in texts], offsets)
        assert counts[year] == len(own)
        # texts of other years, and of captions elsewhere that were anchors
        assert sum(counts.get(other, 0) for other in years if other != year) <= 3
        assert sum(counts.values()) - counts[year] < 0.01 * len(own)


@pytest.mark.shared
def test_what_shipped_weights_know_of_other_data(shared):
    """Some captions of other data were anchors of the last stage; no judgments of them were."""
    pytest.importorskip("reelscore_bertha")
    items = read_training_items("reelscore-bertha")
    years = {"2016", "2017", "2018", "2019", "2020"}
    fusion = Fusion().training_items()
    for name in ("anet_val_1", "anet_val_2", "yc2_val"):
        sentences = []

        def collect(record, sentences=sentences):
            sentences.extend(record.get("sentences", ()))
            return record

        json.loads(
            gzip.decompress((shared / f"dense/{name}.json.gz").read_bytes()), object_hook=collect
        )
        assert len(sentences) > 3000
        offsets = np.arange(len(sentences) + 1)
        seen = items.counts(sentences, offsets)
        assert sum(seen.get(year, 0) for year in years) < 0.001 * len(sentences)
        assert sum(seen.values()) > 0.01 * len(sentences)
        assert sum(fusion.counts(sentences, offsets).values()) < 0.001 * len(sentences)
    systems, references = examples.clips()
    assert reelscore.score_systems(systems, references, "fusion").notes == []


@pytest.mark.shared
def test_meta_warns_of_trecvid_and_of_nothing_else(shared, tmp_path):
    data = trecvid_ha.load(shared / "trecvid-vtt-ha", "MA-2020")
    judged = {name: data.human[name]["z"].items.to_dict() for name in data.human.systems}
    items = list(dict.fromkeys(item for scores in judged.values() for item in list(scores)[:9]))
    references = {item: data.references()[item] for item in items}
    systems = {name: {item: data.candidates[name][item] for item in items} for name in judged}
    reelscore.score_systems(systems, references, "fusion").write(tmp_path / "trecvid.json")
    rows = [
        f"{name},{item},{score}\n"
        for name, scores in judged.items()
        for item, score in scores.items()
    ]
    (tmp_path / "human.csv").write_text("system,item,score\n" + "".join(rows))
    meta = ["meta", str(tmp_path / "trecvid.json"), "--human", str(tmp_path / "human.csv")]
    out = CliRunner().invoke(cli, [*meta, "-t", "none"]).output
    said = " ".join(out.split())
    count = f"{len(items)} of these {len(items)} items (2020)"
    assert f"Warning: fusion was trained on {count}" in said
    reelscore.score_systems(*examples.clips(), "fusion").write(tmp_path / "clips.json")
    people = str(examples.path("clips/judgments.csv"))
    out = CliRunner().invoke(
        cli, ["meta", str(tmp_path / "clips.json"), "--human", people, "-t", "none"]
    )
    assert out.exit_code == 0
    assert "trained" not in out.output
