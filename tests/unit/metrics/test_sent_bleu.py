"""Sentence BLEU against sacrebleu itself."""

from __future__ import annotations

import random

import pytest
from sacrebleu.metrics.bleu import BLEU

from reelscore import DataError, UnknownNameError, score

WORDS = ["a", "man", "dog", "the", "runs", "sleeps", "on", "in", "red", "car"]
LONG = " ".join(f"w{k}" for k in range(10_000))


def cases(seed, count):
    rng = random.Random(seed)
    for _ in range(count):
        text = " ".join(rng.choices(WORDS, k=rng.randint(1, 9)))
        references = [
            " ".join(rng.choices(WORDS, k=rng.randint(1, 9))) for _ in range(rng.randint(1, 4))
        ]
        yield text, references


SMOOTHINGS = [
    # ours, sacrebleu's method and value
    ("exp", "exp", None),
    ("floor", "floor", None),
    ("floor|value:0.01", "floor", 0.01),
    ("add-k", "add-k", None),
    ("add-k|value:2.5", "add-k", 2.5),
]


@pytest.mark.parametrize("n", [1, 2, 4, 6])
@pytest.mark.parametrize(("ours", "method", "value"), SMOOTHINGS)
def test_equals_sacrebleu(ours, method, value, n):
    theirs = BLEU(
        tokenize="none",
        smooth_method=method,
        smooth_value=value,
        max_ngram_order=n,
        effective_order=True,
    )
    texts = list(cases(n, 60))
    candidates = {str(k): text for k, (text, _) in enumerate(texts)}
    references = {str(k): others for k, (_, others) in enumerate(texts)}
    metric = f"sent_bleu|n:{n}|smoothing:{ours}"
    result = score(candidates, references, metric, tokenizer="none")["sent_bleu"]
    for item, text in candidates.items():
        expected = theirs.sentence_score(text, references[item]).score
        assert result.items[item] == pytest.approx(expected, abs=1e-9), (text, references[item])


DEGENERATE = [
    ("a man", ["a man"], 100.0, "identical, though too short for four orders"),
    ("a", ["a"], 100.0, "one word"),
    ("a", ["b"], 0.0, "no match"),
    ("", ["a"], 0.0, "empty candidate"),
    ("a", [""], 0.0, "empty reference"),
    ("", [""], 0.0, "both empty"),
    (LONG, [LONG], 100.0, "10,000 words"),
]


@pytest.mark.parametrize(("candidate", "references", "expected", "why"), DEGENERATE)
def test_degenerate(candidate, references, expected, why):
    result = score({"v": candidate}, {"v": references}, "sent_bleu", empty="zero")["sent_bleu"]
    assert result.score == pytest.approx(expected), why


def test_the_corpus_is_the_mean():
    candidates = {"v1": "a man", "v2": "x"}
    result = score(candidates, {"v1": ["a man"], "v2": ["y"]}, "sent_bleu")["sent_bleu"]
    assert result.score == pytest.approx(50.0)


def test_bad_parameters():
    with pytest.raises(UnknownNameError, match=r"exp.*floor|floor.*exp"):
        score({"v": "a"}, {"v": ["a"]}, "sent_bleu|smoothing:none")
    with pytest.raises(DataError):
        score({"v": "a"}, {"v": ["a"]}, "sent_bleu|n:0")


@pytest.mark.parametrize("value", ["-1", "nan", "inf"])
def test_bad_values(value):
    with pytest.raises(DataError):
        score({"v": "a b"}, {"v": ["a c"]}, f"sent_bleu|smoothing:floor|value:{value}")
