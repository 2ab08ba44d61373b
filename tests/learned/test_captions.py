"""Judged captions: files, checks, and groups held out."""

from __future__ import annotations

from dataclasses import replace

import pytest

from reelscore.errors import DataError, UnknownNameError
from reelscore.learned.judged_captions import (
    check_captions,
    from_tables,
    read_captions,
    write_captions,
)
from reelscore.learned.training.examples import training_examples
from reelscore.learned.training.hold_out import hold_out, plain_form
from reelscore.learned.training.recipes import recipe_of


def test_written_and_read(captions, tmp_path):
    write_captions(tmp_path / "judged.jsonl", captions)
    assert read_captions(tmp_path / "judged.jsonl") == captions


@pytest.mark.parametrize("line", ["{", "[]", '{"group": "a"}', '{"references": 3}'])
def test_bad_lines(line, tmp_path):
    (tmp_path / "judged.jsonl").write_text(line + "\n")
    with pytest.raises(DataError, match=r"judged.jsonl:1: not a judged caption"):
        read_captions(tmp_path / "judged.jsonl")


def test_no_file(tmp_path):
    with pytest.raises(DataError, match="cannot be read"):
        read_captions(tmp_path / "nothing.jsonl")


BAD = [
    (lambda c: [replace(each, score=None) for each in c], "No caption has a human score"),
    (lambda c: [replace(each, system="me") for each in c], "are by 'me'; expected two systems"),
    (lambda c: [replace(each, score=0.5) for each in c], r"All human scores of '.A-g0' are 0\.5"),
    (
        lambda c: [replace(each, item="g0/0") if each.group == "g0" else each for each in c],
        "All judged captions of 'SA-g0' are of one item, 'g0/0'",
    ),
    (lambda c: [replace(c[0], references=()), *c[1:]], "1 captions have no references"),
    (lambda c: [replace(c[1], score=float("nan")), *c[2:]], "1 human scores are not numbers"),
]


@pytest.mark.parametrize(("spoil", "message"), BAD)
def test_nothing_to_learn_from(captions, spoil, message):
    with pytest.raises(DataError, match=message):
        check_captions(spoil(captions))


def test_judged_captions_must_be_there():
    with pytest.raises(DataError, match="1 judged captions of 'me'"):
        from_tables({"me": {}}, {}, {"me": {"1": 0.5}}, group="x")


def test_held_out_texts_are_nowhere_else(captions):
    twin = replace(captions[1], candidate=captions[0].candidate.upper() + "!")
    copied = replace(captions[2], references=(captions[0].references[0], "a cat"))
    split = hold_out([*captions, twin, copied], "g0")
    theirs = {plain_form(t) for c in split.held_out for t in (c.candidate, *c.references)}
    ours = {plain_form(t) for c in split.training for t in (c.candidate, *c.references)}
    assert not theirs & ours
    assert split.overlap.remaining == 0
    assert split.overlap.dropped >= 1
    assert split.overlap.references == 1
    assert {c.group for c in split.training} == {"g1", "g2"}
    assert len(split.training) + split.overlap.dropped == sum(
        c.group != "g0" for c in [*captions, twin, copied]
    )


def test_unknown_group(captions):
    with pytest.raises(UnknownNameError, match="Known: g0, g1, g2"):
        hold_out(captions, "g7")


def test_training_examples_weigh_by_ratings(captions):
    import numpy as np

    single, multiple = recipe_of("plain").stages
    once = training_examples(single, captions, np.random.default_rng(0))
    often = training_examples(multiple, captions, np.random.default_rng(0))
    judged = [c for c in captions if c.score is not None]
    assert len(once) == sum(c.kind == "SA" for c in judged)
    assert len(often) == sum(c.kind == "MA" for c in judged)
    ratings = np.array([c.ratings for c in judged if c.kind == "MA"])
    order = np.argsort(ratings, kind="stable")
    assert (np.diff(often.weights[order]) >= 0).all()


def test_nothing_for_a_stage(captions):
    import numpy as np

    stage = replace(recipe_of("plain-sa").stages[0], kinds=("XA",))
    with pytest.raises(DataError, match="nothing to learn in the stage 'judgments'"):
        training_examples(stage, captions, np.random.default_rng(0))
