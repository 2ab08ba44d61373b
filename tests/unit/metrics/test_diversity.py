"""Diversity: lengths, vocabulary, novelty."""

from __future__ import annotations

import pytest

from reelscore import DataError, UnknownNameError, score


def diversity(texts, metric="diversity", **options):
    scores = score({str(k): text for k, text in enumerate(texts)}, metrics=metric, **options)
    return {name: result.score for name, result in scores.items()}


BY_HAND = [
    # captions, length, vocabulary, distinct_1, distinct_2, unique, why
    (["a man", "a dog"], 2.0, 3, 3 / 4, 2 / 2, 1.0, "a twice"),
    (["a man", "A man."], 2.0, 2, 2 / 4, 1 / 2, 0.5, "the same after tokenizing"),
    (["a a a"], 3.0, 1, 1 / 3, 1 / 2, 1.0, "one caption"),
    (["a"], 1.0, 1, 1.0, 0.0, 1.0, "one word, no bigram"),
    (["a b", "b a"], 2.0, 2, 2 / 4, 1.0, 1.0, "bigrams have an order and do not cross captions"),
]


@pytest.mark.parametrize(("texts", "length", "words", "one", "two", "unique", "why"), BY_HAND)
def test_by_hand(texts, length, words, one, two, unique, why):
    assert diversity(texts) == pytest.approx(
        {
            "length": length,
            "vocabulary": words,
            "distinct_1": one,
            "distinct_2": two,
            "unique": unique,
        }
    ), why


def test_empty_captions():
    scores = diversity(["", ""], empty="zero")
    assert scores == {
        "length": 0,
        "vocabulary": 0,
        "distinct_1": 0,
        "distinct_2": 0,
        "unique": 0.5,
    }


def test_novel(tmp_path):
    training = tmp_path / "train.txt"
    training.write_text("A man runs.\na cat\n")
    scores = diversity(["a man runs", "a dog", "a dog"], f"diversity|training:{training}")
    assert scores["novel"] == pytest.approx(2 / 3)  # "a man runs" is in the training captions


def test_novel_needs_the_file(tmp_path):
    with pytest.raises(DataError, match="no such file"):
        diversity(["a"], f"diversity|training:{tmp_path / 'none.txt'}")


def test_items_say_what_they_add():
    scores = score({"1": "a man", "2": "a dog", "3": "a man"}, metrics="diversity")
    assert scores["vocabulary"].items.to_dict() == {"1": 2, "2": 1, "3": 0}
    assert scores["unique"].items.to_dict() == {"1": 1, "2": 1, "3": 0}
    assert sum(scores["vocabulary"].items.values()) == scores["vocabulary"].score


def test_bad_tokenizer():
    with pytest.raises(UnknownNameError):
        diversity(["a"], "diversity|training_tokenizer:foo")
