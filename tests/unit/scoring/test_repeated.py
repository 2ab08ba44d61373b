"""Items that a scorer gets twice, as from samplers that fill their last batch; and pickles."""

from __future__ import annotations

import copy
import pickle

import numpy as np
import pytest

from reelscore import DataError, Scorer, UnknownNameError

REFERENCES = {"1": ["a man is riding a horse"], "2": ["two dogs play"], "3": ["a woman cooks"]}
CAPTIONS = ["a man rides", "two dogs", "a woman"]


def scores(scorer):
    return {name: dict(result.items) for name, result in scorer.compute().items()}


@pytest.fixture
def plain():
    """The scores of the captions, each given once."""
    scorer = Scorer(REFERENCES)
    scorer.update(dict(zip(REFERENCES, CAPTIONS, strict=True)))
    return scores(scorer)


@pytest.mark.parametrize("ids", [["1", "2", "3", "1"], [1, 2, 3, "1"], np.array([1, 2, 3, 1])])
def test_the_same_caption_counts_once(ids, plain):
    within, across = Scorer(REFERENCES), Scorer(REFERENCES)
    within.update(ids, [*CAPTIONS, CAPTIONS[0]])
    across.update(ids[:3], CAPTIONS)
    across.update(ids[3:], CAPTIONS[:1])
    assert scores(within) == scores(across) == plain


def test_a_tensor_of_ids(plain):
    torch = pytest.importorskip("torch")
    scorer = Scorer(REFERENCES)
    scorer.update(torch.tensor([1, 2, 3]), CAPTIONS)
    assert scores(scorer) == plain


def test_padding_of_several_processes(plain):
    """Two processes of two captions each, for three items: the first item comes twice."""
    workers = [Scorer(REFERENCES), Scorer(REFERENCES)]
    workers[0].update([1, 2], CAPTIONS[:2])
    workers[1].update([3, 1], [CAPTIONS[2], CAPTIONS[0]])
    scorer = Scorer(REFERENCES)
    scorer.merge(*(pickle.loads(pickle.dumps(worker.state())) for worker in workers))
    assert scores(scorer) == plain


def test_another_caption_is_refused_and_nothing_is_taken(plain):
    scorer = Scorer(REFERENCES)
    scorer.update(list(REFERENCES), CAPTIONS)
    message = r"1 items were given twice with different captions \(first: '2'\).*reset"
    with pytest.raises(DataError, match=message):
        scorer.update([2], ["a cat"])
    with pytest.raises(DataError, match=message):
        scorer.update([1, 2, 2], ["a man rides", "two dogs", "a cat"])
    assert scores(scorer) == plain


def test_the_first_caption_may_be_kept(plain):
    scorer = Scorer(REFERENCES, repeated="first")
    scorer.update([1, 2, 1], [*CAPTIONS[:2], "other"])
    scorer.update([3, 2], [CAPTIONS[2], "other"])
    assert scores(scorer) == plain


def test_bad_updates():
    scorer = Scorer(REFERENCES)
    with pytest.raises(DataError, match="2 ids and 1 captions"):
        scorer.update([1, 2], ["a man"])
    with pytest.raises(DataError, match="ids are an object"):
        scorer.update({"1": "a man"}, ["a man"])
    with pytest.raises(UnknownNameError, match="repeated"):
        Scorer(REFERENCES, repeated="last")


@pytest.mark.parametrize("copied", [lambda s: pickle.loads(pickle.dumps(s)), copy.deepcopy])
def test_a_copy_goes_on_where_the_scorer_stood(copied, plain):
    scorer = Scorer(REFERENCES)
    scorer.update([1], CAPTIONS[:1])
    other = copied(scorer)
    other.update([2, 3], CAPTIONS[1:])
    assert scores(other) == plain
    with pytest.raises(DataError, match="no candidate"):
        scorer.compute()
    other.merge(scorer.state())
    assert scores(other) == plain
