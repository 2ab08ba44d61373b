"""BLEU as the COCO tools compute it."""

from __future__ import annotations

import math

import pytest

from reelscore import DataError, score
from reelscore.metrics.bleu import Bleu

LONG = " ".join(f"w{k}" for k in range(10_000))

# By hand: product of (matches + 1e-15) / (n-grams + 1e-9), root, brevity penalty.
BY_HAND = [
    # candidate, references, bleu_1, bleu_2, why
    ("a man runs", ["a man runs"], 1.0, 1.0, "identical"),
    ("a man", ["a man runs fast"], math.exp(-1), math.exp(-1), "half as long: exp(1 - 4/2)"),
    ("a man runs fast", ["a man"], 0.5, (0.5 / 3) ** 0.5, "longer: precision alone"),
    ("the the the", ["the cat"], 1 / 3, 0.0, "a repeated word counts as often as in a reference"),
    ("the the", ["the", "the the"], 1.0, 1.0, "the highest count of any one reference"),
    ("a b c", ["a b", "a b c d"], 1.0, 1.0, "2 and 4 words are as near: the shorter counts"),
    ("a b", ["c d"], 0.0, 0.0, "no match"),
    ("a", ["a"], 1.0, 0.001, "one word: 1e-15 / 1e-9 for its no bigrams, and the root"),
    (LONG, [LONG], 1.0, 1.0, "10,000 words"),
]


@pytest.mark.parametrize(("candidate", "references", "one", "two", "why"), BY_HAND)
def test_by_hand(candidate, references, one, two, why):
    scores = score({"v": candidate}, {"v": references}, "bleu|n:2", tokenizer="none")
    assert scores["bleu_1"].score == pytest.approx(one, abs=1e-6), why
    assert scores["bleu_2"].score == pytest.approx(two, abs=1e-4), why
    assert scores["bleu_1"].items["v"] == scores["bleu_1"].score


def test_the_corpus_is_scored_from_sums():
    # 2 of 2 and 0 of 6 words: 2/8 of the corpus, not the mean of 1 and 0
    candidates = {"v1": "a b", "v2": "u v w x y z"}
    result = score(candidates, {"v1": ["a b"], "v2": ["p q"]}, "bleu|n:1")["bleu_1"]
    assert result.score == pytest.approx(0.25, rel=1e-8)
    assert result.items.array.tolist() == pytest.approx([1.0, 0.0], abs=1e-8)


EMPTY = [
    ("", ["a man"], "empty candidate"),
    ("a man", [""], "empty reference"),
    ("", [""], "both empty"),
]


@pytest.mark.parametrize(("candidate", "references", "why"), EMPTY)
def test_empty(candidate, references, why):
    scores = score({"v": candidate}, {"v": references}, "bleu", empty="zero")
    assert scores["bleu_4"].score == pytest.approx(0.0, abs=1e-5), why
    assert math.isfinite(scores["bleu_1"].score)


def test_an_empty_reference_beside_a_real_one_is_harmless():
    scores = score({"v": "a man runs"}, {"v": ["", "a man runs"]}, "bleu|n:1", empty="zero")
    assert scores["bleu_1"].score == pytest.approx(1.0)


def test_outputs():
    assert Bleu(2).outputs == ("bleu_1", "bleu_2")
    assert list(score({"v": "a"}, {"v": ["a"]}, "bleu")) == ["bleu_1", "bleu_2", "bleu_3", "bleu_4"]


@pytest.mark.parametrize("n", [0, -1, 10, 10**30])
def test_orders_out_of_range(n):
    with pytest.raises(DataError, match="1 to 9"):
        Bleu(n)
