"""From judged captions to a model: what is refused before anything is trained or written."""

from __future__ import annotations

from dataclasses import replace

import pytest

from reelscore.errors import DataError, UnknownNameError
from reelscore.learned.training.fit import fit_model, train_by_recipe
from reelscore.learned.training.folds import cross_validate
from reelscore.learned.training.recipes import Recipe, Stage, recipe_of

SHORT = Recipe("short", (Stage("judgments", epochs=1, batch=16),), max_length=32)


def fit(captions, tiny, folder, recipe=SHORT, **options):
    def never(done, total):
        raise AssertionError("training has begun")

    options = {"progress": never, "encoder": tiny, "device": "cpu", **options}
    return fit_model(captions, recipe, folder, **options)


BAD = [
    (lambda c: [replace(each, score=None) for each in c], "No caption has a human score"),
    (lambda c: [replace(each, system="me") for each in c], "expected two systems or more"),
    (lambda c: [replace(each, score=1.0) for each in c], "expected scores that differ"),
    (lambda c: [replace(c[0], references=()), *c[1:]], "1 captions have no references"),
    (lambda c: [replace(each, item="x") for each in c], "are of one item, 'x'"),
    (lambda c: [replace(each, person=True) for each in c], "Only people's captions are judged"),
]


@pytest.mark.parametrize(("spoil", "message"), BAD)
def test_bad_captions(captions, tiny, tmp_path, spoil, message):
    with pytest.raises(DataError, match=message):
        fit(spoil(captions), tiny, tmp_path / "run")
    assert not (tmp_path / "run").exists()


def test_groups_that_cannot_be_held_out(captions, tiny, tmp_path):
    with pytest.raises(UnknownNameError, match="Unknown group 'g9'"):
        fit(captions, tiny, tmp_path / "run", held_out="g9")
    alone = [c for c in captions if c.group == "g0"]
    with pytest.raises(DataError, match="Without 'g0' and its texts no judged caption is left"):
        fit(alone, tiny, tmp_path / "run", held_out="g0")
    people = [replace(c, person=c.group == "g0") for c in captions]
    with pytest.raises(DataError, match="'g0' has judged captions of 0 items by systems"):
        fit(people, tiny, tmp_path / "run", held_out="g0")
    unsure = [replace(c, score=0.5 if c.campaign == "MA-g1" else c.score) for c in captions]
    with pytest.raises(DataError, match=r"All human scores of 'MA-g1' are 0\.5"):
        fit(unsure, tiny, tmp_path / "run", held_out="g0")
    assert not (tmp_path / "run").exists()


def test_a_stage_without_judgments(captions, tiny, tmp_path):
    """Not after the stages before it have taken hours."""
    often = [replace(c, kind="MA") for c in captions]
    with pytest.raises(DataError, match="of kind SA: the judgments are of kind 'MA'"):
        fit(often, tiny, tmp_path / "run", recipe_of("plain-sa"))
    assert not (tmp_path / "run").exists()


def test_own_judgments_are_learned_from_by_any_recipe(captions, tiny, tmp_path):
    own = [replace(c, kind="") for c in captions]
    plain = replace(recipe_of("plain"), max_length=32)
    info = fit(own, tiny, tmp_path / "run", plain, progress=None)
    assert info.training["judged"] == 144
    assert info.training["recipe"].count("Stage(source='judgments', kinds=()") == 1


def test_folds_learn_from_no_text_that_they_are_tested_on(captions, tiny, monkeypatch):
    seen = []

    def train(training, recipe, **options):
        seen.append({text for c in training for text in (c.candidate, *c.references)})
        return train_by_recipe(training, recipe, **options)

    monkeypatch.setattr("reelscore.learned.training.folds.train_by_recipe", train)
    repeated = [
        replace(c, candidate="the same") if k % 9 == 0 else c for k, c in enumerate(captions)
    ]
    folds = cross_validate(repeated, SHORT, 3, encoder=tiny, device="cpu")
    assert len(folds) == 3
    assert sum(fold.tested for fold in folds) == 144
    assert all(abs(fold.captions) <= 1 for fold in folds)
    assert sum("the same" in texts for texts in seen) == 0  # it is in every fold
    with pytest.raises(DataError, match="videos are judged, too few for 100 folds"):
        cross_validate(captions, SHORT, 100, encoder=tiny)


def test_too_little_kept_for_validation(captions, tiny, tmp_path):
    with pytest.raises(DataError, match="0 judged captions are kept for validation"):
        fit(captions, tiny, tmp_path / "run", replace(SHORT, validation=0.001))
    assert not (tmp_path / "run").exists()


def test_an_encoder_that_cannot_be_loaded_keeps_the_folder_from_nobody(captions, tmp_path):
    pytest.importorskip("torch", reason="training needs torch: reelscore[torch]")
    (tmp_path / "encoder").mkdir()
    with pytest.raises(DataError, match="not an encoder"):
        fit(captions, str(tmp_path / "encoder"), tmp_path / "run")
    assert not (tmp_path / "run").exists()


def test_a_folder_of_another_training(captions, tiny, tmp_path):
    fit(captions, tiny, tmp_path, progress=None)
    before = (tmp_path / "model" / "model.json").read_bytes()
    others = [
        (captions, replace(SHORT, members=2), {}, "recipe: "),
        (captions, SHORT, {"seed": 1}, "seed: 0, not 1"),
        (captions, SHORT, {"held_out": "g0"}, "held out: None, not g0"),
        (captions[1:], SHORT, {}, "captions: "),
    ]
    for texts, recipe, options, message in others:
        with pytest.raises(DataError, match=f"another training was begun here .{message}"):
            fit(texts, tiny, tmp_path, recipe, **options)
    (tmp_path / "training.json").write_text("{")
    with pytest.raises(DataError, match=r"training.json: cannot be read"):
        fit(captions, tiny, tmp_path)
    assert (tmp_path / "model" / "model.json").read_bytes() == before


def test_called_again_after_the_end(captions, tiny, tmp_path):
    first = fit(captions, tiny, tmp_path, replace(SHORT, members=2), progress=None)
    again = fit(captions, tiny, tmp_path, replace(SHORT, members=2), progress=None)
    assert again == first
