"""ROUGE-L as the COCO tools compute it."""

from __future__ import annotations

import pytest

from reelscore import DataError, score

LONG = " ".join(f"w{k}" for k in range(10_000))
B = 1.2**2


def f_score(precision, recall):
    return (1 + B) * precision * recall / (recall + B * precision)


BY_HAND = [
    # candidate, references, score, why
    ("a man runs", ["a man runs"], 1.0, "identical"),
    ("a b c d", ["a c"], f_score(2 / 4, 2 / 2), "a subsequence need not be contiguous"),
    ("a c", ["a b c d"], f_score(1.0, 0.5), "recall counts more: beta is above 1"),
    ("c a", ["a c"], 0.5, "order matters"),
    ("a b", ["a x y z", "b"], f_score(0.5, 1.0), "precision and recall of different references"),
    ("a", ["b"], 0.0, "no match"),
    ("x\u00a0y z", ["x y z"], f_score(1 / 2, 1 / 3), "U+00A0 does not separate words here"),
    ("a  b", ["a b"], f_score(2 / 3, 1.0), "between two blanks is an empty word"),
    (LONG, [LONG], 1.0, "10,000 words"),
    (LONG, ["w0 w9999"], f_score(2 / 10_000, 1.0), "10,000 against 2"),
]


@pytest.mark.parametrize(("candidate", "references", "expected", "why"), BY_HAND)
def test_by_hand(candidate, references, expected, why):
    result = score({"v": candidate}, {"v": references}, "rouge_l", tokenizer="none")["rouge_l"]
    assert result.score == pytest.approx(expected, rel=1e-12), why


EMPTY = [
    # as pycocoevalcap splits them, an empty caption is one empty word
    ("", "a man", 0.0),
    ("a man", "", 0.0),
    ("", "", 1.0),
]


@pytest.mark.parametrize(("candidate", "reference", "expected"), EMPTY)
def test_empty(candidate, reference, expected):
    result = score({"v": candidate}, {"v": [reference]}, "rouge_l", empty="zero")["rouge_l"]
    assert result.score == expected


def test_the_corpus_is_the_mean():
    candidates = {"v1": "a b", "v2": "x"}
    result = score(candidates, {"v1": ["a b"], "v2": ["y"]}, "rouge_l")["rouge_l"]
    assert result.score == 0.5


@pytest.mark.parametrize("beta", ["nan", "inf", "-1"])
def test_bad_beta(beta):
    with pytest.raises(DataError, match="beta"):
        score({"v": "a"}, {"v": ["a"]}, f"rouge_l|beta:{beta}")
