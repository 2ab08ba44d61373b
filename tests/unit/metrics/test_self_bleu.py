"""Self-BLEU against NLTK itself."""

from __future__ import annotations

import random

import pytest
from nltk.translate.bleu_score import SmoothingFunction, sentence_bleu

from reelscore import score


def self_bleu(texts, n=4, **options):
    captions = {str(k): text for k, text in enumerate(texts)}
    scores = score(captions, metrics=f"self_bleu|n:{n}", tokenizer="none", **options)
    return scores["self_bleu"]


@pytest.mark.parametrize("n", [1, 2, 3, 4])
@pytest.mark.parametrize("words", [3, 12])
def test_equals_nltk(n, words):
    rng = random.Random(words)
    texts = [
        " ".join(rng.choices([f"w{k}" for k in range(words)], k=rng.randint(1, 9)))
        for _ in range(40)
    ]
    scores = self_bleu(texts, n)
    smoothing = SmoothingFunction().method1
    for k, text in enumerate(texts):
        others = [other.split() for other in [*texts[:k], *texts[k + 1 :]]]
        weights = (1 / n,) * n
        expected = sentence_bleu(others, text.split(), weights, smoothing_function=smoothing)
        assert scores.items[str(k)] == pytest.approx(expected, rel=1e-12), text


BY_HAND = [
    (["a b c d", "a b c d"], 1.0, "all alike"),
    (["a b c d", "e f g h"], 0.0, "nothing in common"),
    (["a b c d"], 0.0, "one caption has no others"),
    (["a b c d", "a b c d", "x y z u"], 2 / 3, "two of three alike"),
]


@pytest.mark.parametrize(("texts", "expected", "why"), BY_HAND)
def test_by_hand(texts, expected, why):
    assert self_bleu(texts).score == pytest.approx(expected), why


def test_empty_captions():
    scores = self_bleu(["", "a b c d", "a b c d"], empty="zero")
    assert scores.items.array.tolist() == [0.0, 1.0, 1.0]


def test_is_linear():
    # each against all others would be 4e8 comparisons
    rng = random.Random(1)
    texts = [" ".join(rng.choices([f"w{k}" for k in range(300)], k=10)) for _ in range(20_000)]
    assert 0 < self_bleu(texts).score < 1


def test_no_interval():
    # a caption's score depends on all others, so that items cannot be drawn anew
    texts = {str(k): "a b c" for k in range(5)}
    assert score(texts, metrics="self_bleu").with_intervals()["self_bleu"].interval is None
