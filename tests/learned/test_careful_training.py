"""Damaged captions and anchors: what the last stage of a careful training learns from."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from reelscore.learned.judged_captions import JudgedCaption
from reelscore.learned.networks.cross_encoder import CrossEncoder
from reelscore.learned.networks.sentence_vectors import SentenceEncoder
from reelscore.learned.training.damaged_pairs import (
    ELSEWHERE,
    HERE,
    anchor_pairs,
    damaged_pairs,
    with_targets,
)
from reelscore.learned.training.examples import training_examples
from reelscore.learned.training.loop import train
from reelscore.learned.training.recipes import Recipe, Stage
from reelscore.text.damages import rules
from reelscore.text.damages.exploits import exploit_kinds
from reelscore.text.damages.rules import damage_kinds

SCENES = [
    ("A man with a red hat rides a horse.", "A person is riding on a brown horse."),
    ("Two women are cooking soup in the kitchen.", "Women cook together while talking."),
    ("A dog chases a cat and barks in the yard.", "A dog runs after a black cat."),
    ("A boy is holding a guitar while singing.", "A child sings and plays the guitar."),
]
ANCHORS = Stage("anchors", epochs=20, rate=3e-3, batch=16, damaged=16)
NOT_STUTTER = tuple({*damage_kinds(), *exploit_kinds()} - {"stutter"})


def told(person: bool = False) -> list[JudgedCaption]:
    """Captions of four scenes by two systems."""
    return [
        JudgedCaption(
            "a", "MA", f"s{k % 2}", f"a/{k}", texts[0].lower(), texts, k / 4, person=person
        )
        for k, texts in enumerate(SCENES)
    ]


def test_some_forms_of_negation_are_never_taught():
    pairs = damaged_pairs(told(), seed=1)
    texts = [pair.worse for pair in pairs["negation"] + pairs["lacking"]]
    assert texts
    for held_out in ("never", "no one", "without", "fails to", "isn't", "doesn't"):
        assert not any(held_out in text.lower() for text in texts)


def test_a_kind_can_be_left_out():
    every, without = damaged_pairs(told(), 1), damaged_pairs(told(), 1, ["negation", "stutter"])
    assert set(every) - set(without) == {"negation", "lacking", "stutter"}


def test_a_new_damage_changes_no_training(monkeypatch):
    before = damaged_pairs(told(), 1)
    monkeypatch.setattr(rules, "KINDS", {**rules.KINDS, "new": rules.KINDS["shuffle"]})
    assert "new" in damage_kinds()
    assert damaged_pairs(told(), 1) == before


def test_people_elsewhere_are_damaged_too():
    here, there = told(), [replace(c, item=f"b{c.item}") for c in told(person=True)]
    texts = {pair.better for pair in damaged_pairs(here, 1, (), there)["stutter"]}
    assert {c.candidate for c in there} <= texts


def test_systems_say_no_wrong_noun():
    """Another noun may be a better one, where a system's was wrong."""
    systems = {c.candidate for c in told()}
    pairs = damaged_pairs(told() * 20, seed=1)
    assert not any(pair.better in systems for pair in pairs["noun"])
    assert any(pair.better in systems for pair in pairs["stutter"])


def test_anchors_are_from_here_and_elsewhere():
    there = [replace(c, item=f"b{c.item}", candidate=f"then {c.candidate}") for c in told()]
    pairs = anchor_pairs(told(), there, np.random.default_rng(0))
    assert sorted(source for _, _, source in pairs) == [HERE] * 4 + [ELSEWHERE] * 4
    assert all(("then" in text) == (source == ELSEWHERE) for text, _, source in pairs)


def test_anchors_are_drawn_again_in_each_round():
    once, often = (
        training_examples(replace(ANCHORS, rounds=rounds), told(), np.random.default_rng(0))
        for rounds in (1, 8)
    )
    assert len(often) == 8 * len(once) == len(often.sources)
    assert len(set(zip(often.candidates, often.references, strict=True))) > len(once)


@pytest.mark.parametrize(("source", "denies"), [("anchors", False), ("teacher", True)])
def test_anchors_deny_nothing_but_a_teacher_may(source, denies):
    """What an untaught network says of a negation is no target; what a teacher says is."""
    denying = [replace(c, candidate=f"{c.candidate} without a coat") for c in told()]
    examples = training_examples(Stage(source), [*told(), *denying], np.random.default_rng(0))
    assert any("without" in candidate for candidate in examples.candidates) == denies


@pytest.fixture(scope="module")
def network(tiny):
    return CrossEncoder.start(tiny, 48, seed=1)


def test_targets_are_what_the_network_says(tiny, network):
    anchors = training_examples(ANCHORS, told(), np.random.default_rng(0), elsewhere=told())
    own = network.predict(anchors.candidates, [texts[0] for texts in anchors.references])
    embedding = SentenceEncoder(tiny, device="cpu")
    kept = with_targets(anchors, ANCHORS, network, embedding)
    assert np.array_equal(kept.targets, own)
    mixed = with_targets(anchors, replace(ANCHORS, similarity=(0.0, 1.0)), network, embedding)
    here = anchors.sources == HERE
    assert np.array_equal(mixed.targets[here], own[here])
    assert np.abs(mixed.targets[~here] - own[~here]).min() > 0


def test_without_damages_everything_stays(tiny, network, captions):
    recipe = Recipe("only anchors", (replace(ANCHORS, epochs=3, damaged=0),), max_length=48)
    texts = [c.candidate for c in captions], [c.references[0] for c in captions]
    model = train(captions, recipe, encoder=tiny, seed=1, device="cpu", start=network.state())
    assert np.abs(model.network.predict(*texts) - network.predict(*texts)).max() < 0.02


def test_damaged_captions_fall(tiny, network, captions):
    """A network of two small layers learns to see stutter."""
    recipe = Recipe("only the last", (ANCHORS,), max_length=48, unknown_damages=NOT_STUTTER)
    model = train(captions, recipe, encoder=tiny, seed=1, device="cpu", start=network.state())
    pairs = damaged_pairs(captions, 2, NOT_STUTTER)["stutter"]
    drops = []
    for judge in (CrossEncoder.start(tiny, 48, seed=1), model.network):
        better, worse = (
            judge.predict([getattr(p, side) for p in pairs], [p.references[0] for p in pairs])
            for side in ("better", "worse")
        )
        drops.append(better - worse)
    assert np.abs(drops[0]).max() < 0.05
    assert drops[1].mean() > 0.15
    assert (drops[1] > 0).mean() > 0.65
