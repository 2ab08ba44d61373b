"""A student: fewer layers, which learn what a trained model says."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from reelscore.errors import DataError
from reelscore.learned.networks.cross_encoder import CrossEncoder
from reelscore.learned.networks.pair_scores import PairScorer
from reelscore.learned.training.examples import training_examples
from reelscore.learned.training.fit import ModelTeacher, fit_model
from reelscore.learned.training.loop import train
from reelscore.learned.training.recipes import Recipe, Stage

STUDENT = Recipe(
    "student", (Stage("teacher", epochs=4, rate=3e-3, batch=32),), max_length=32, layers=(1,)
)


def pairs_of(captions):
    return [c.candidate for c in captions], [c.references[0] for c in captions]


def test_rows_have_ordinary_and_damaged_captions(captions):
    rows = training_examples(STUDENT.stages[0], captions, np.random.default_rng(0))
    ordinary = {c.candidate for c in captions}
    assert ordinary & set(rows.candidates)
    assert set(rows.candidates) - ordinary
    assert len(set(zip(rows.candidates, rows.references, strict=True))) == len(rows)


def long_is_good(candidates, references):
    """A teacher whom a small network understands."""
    return np.array([len(text.split()) / 3 for text in candidates])


def test_a_student_says_what_its_teacher_says(captions, tiny):
    start = CrossEncoder.start(tiny, 32, 1)
    trained = train(captions, STUDENT, encoder=tiny, seed=1, device="cpu", teacher=long_is_good)
    network = trained.network
    assert len(network.encoder.encoder.layer) == network.encoder.config.num_hidden_layers == 1
    texts = pairs_of(captions)
    said = long_is_good(*texts)
    assert np.corrcoef(said, network.predict(*texts))[0, 1] > 0.9
    assert np.corrcoef(said, start.predict(*texts))[0, 1] < 0.6
    before = start.state()
    for name, value in network.state().items():
        if ".embeddings." in name:
            assert np.array_equal(value, before[name])


def test_an_interrupted_student(captions, tiny, tmp_path):
    """It goes on with the scores that its teacher gave, without asking again."""
    recipe = replace(STUDENT, stages=(replace(STUDENT.stages[0], epochs=1),))
    options = {"encoder": tiny, "seed": 1, "device": "cpu"}
    whole = train(captions, recipe, **options, teacher=long_is_good).network.state()

    def interrupt(done, total):
        if done == 4:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        train(
            captions,
            recipe,
            **options,
            teacher=long_is_good,
            folder=tmp_path,
            every=3,
            progress=interrupt,
        )

    def silent(candidates, references):
        raise AssertionError("asked again")

    resumed = train(captions, recipe, **options, teacher=silent, folder=tmp_path)
    for name, value in resumed.network.state().items():
        assert np.array_equal(value, whole[name]), name


def test_a_model_of_fewer_layers_is_written(captions, tiny, model, tmp_path):
    seen = []
    recipe = replace(STUDENT, stages=(replace(STUDENT.stages[0], epochs=1),))
    info = fit_model(
        captions,
        recipe,
        tmp_path,
        encoder=tiny,
        teacher=str(model),
        device="cpu",
        progress=lambda done, total: seen.append((done, total)),
    )
    assert info.encoder["num_hidden_layers"] == 1
    assert info.training["teacher"]
    assert info.similarity == 0
    assert seen[0][0] == seen[0][1] > seen[-1][1]  # the teacher's pairs, then steps
    scores = PairScorer(str(tmp_path / "model"), "float32", "cpu").score(*pairs_of(captions))
    assert np.isfinite(scores).all()
    assert scores.std() > 0


def test_a_teacher_who_has_seen_the_test(captions, tiny, model, tmp_path):
    with pytest.raises(DataError, match=r"trained on all groups, so .* cannot be tested on 'g0'"):
        fit_model(
            captions, STUDENT, tmp_path / "run", encoder=tiny, teacher=str(model), held_out="g0"
        )
    assert not (tmp_path / "run").exists()


def test_a_teacher_of_another_shape(tiny, fused):
    weights = ModelTeacher(str(fused), "cpu").weights()
    assert not any(name.startswith("similarity") for name in weights)
    name = "head.1.weight"
    weights[name] = weights[name][:, :8]
    with pytest.raises(DataError, match=r"head\.1\.weight is \(16, 8\), expected \(16, 16\)"):
        CrossEncoder.start(tiny, 32, 1).restore(weights)


def test_layers_that_are_not_there(tiny):
    with pytest.raises(DataError, match="has layers 0 to 1; expected layers 0, 2, 5 to keep"):
        CrossEncoder.start(tiny, 32, 1).keep_layers((0, 2, 5))
