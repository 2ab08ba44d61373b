"""METEOR keeps analysed texts from call to call: within bounds, and never seen in a number."""

from __future__ import annotations

import random
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest

from reelscore import Scorer, _native
from reelscore.text.meteor_data import index_file, meteor_index
from reelscore.text.words import pack

PARAMETERS = (0.85, 0.2, 0.6, 0.75)
WORDS = (
    *("a", "an", "the", "of", "in", "on", "at", "with", "is", "are", "will", "be", "going", "to"),
    *("man", "men", "person", "woman", "people", "crowd", "car", "automobile", "road", "street"),
    *("walks", "walking", "walked", "runs", "talks", "speaks", "big", "large", "red", "two"),
    *("don't", "t-shirt", "20s", "225"),
)


def opened():
    return _native.MeteorIndex.open(np.memmap(index_file(), dtype=np.uint8, mode="r"))


def captions(rng, count):
    return [" ".join(rng.choices(WORDS, k=rng.randint(0, 14))) for _ in range(count)]


def statistics(index, candidates, references, threads=1):
    """Of each candidate against two references."""
    offsets = np.arange(len(candidates) + 1, dtype=np.int64) * 2
    return np.asarray(
        _native.meteor_statistics(
            index, pack(candidates), pack(references), offsets, PARAMETERS, threads
        )
    )


def analyse(index, texts):
    """Score the first text alone; all are analysed."""
    zero = np.zeros(1, dtype=np.int64)
    _native.meteor_pairs(index, pack(texts), pack(["a man"]), zero, zero, PARAMETERS, 1)


def test_each_distinct_text_is_analysed_once():
    index = opened()
    assert index.kept_texts == 0
    statistics(index, ["a man", "a dog"], ["a man", "a car", "a car", "the car"])
    assert index.kept_texts == 4
    statistics(index, ["a dog", "a cat"], ["a man", "a car", "a car", "the car"])
    assert index.kept_texts == 5


@pytest.mark.parametrize("threads", [1, 3])
def test_texts_scored_before_never_show(threads):
    rng = random.Random(1)
    index = opened()
    pool = captions(rng, 120)
    for _ in range(25):
        count = rng.randint(1, 30)
        candidates = rng.choices(pool, k=count // 2) + captions(rng, count - count // 2)
        references = rng.choices(pool, k=2 * count)
        expected = statistics(opened(), candidates, references)
        assert np.array_equal(statistics(index, candidates, references, threads), expected)
    assert index.kept_texts > 120


def test_callers_memory_is_not_needed_later():
    index, texts = opened(), ["a man walks on the road", "two people talk"]
    for text in texts:  # packed anew each time, in memory that is then free
        statistics(index, [text], ["a person is walking", "a red car"])
    expected = statistics(opened(), texts, ["people", "a man walks"] * 2)
    assert np.array_equal(statistics(index, texts, ["people", "a man walks"] * 2), expected)


def test_what_is_kept_is_bounded():
    index = opened()
    rest = " in the large red car" * 4
    analyse(index, [f"a man walks on road {k}{rest}" for k in range(20_000)])
    assert index.kept_texts == 0
    analyse(index, [f"caption {k} of a man" for k in range(1000)])
    assert index.kept_texts == 1001
    analyse(index, [" ".join(f"word{k}" for k in range(70_000))])
    assert index.kept_texts == 0
    assert np.array_equal(
        statistics(index, ["a red car"], ["a big car", "the man"]),
        statistics(opened(), ["a red car"], ["a big car", "the man"]),
    )


def test_many_calls_at_the_same_time():
    rng = random.Random(2)
    index = opened()
    calls = [(captions(rng, 40), captions(rng, 80)) for _ in range(6)] * 4
    with ThreadPoolExecutor(4) as threads:
        results = list(threads.map(lambda call: statistics(index, *call), calls))
    fresh = [statistics(opened(), *call) for call in calls[:6]]
    assert all(np.array_equal(rows, fresh[k % 6]) for k, rows in enumerate(results))


def test_a_scorer_analyses_its_references_once():
    references = {f"v{k}": [f"only here {k} and nowhere else", f"caption {k}"] for k in range(30)}
    scorer = Scorer(references, metrics="meteor")
    scorer.update({item: f"a first try {item}" for item in references})
    kept = meteor_index().kept_texts
    scorer.reset()
    scorer.update({item: f"a second try {item}" for item in references})
    assert meteor_index().kept_texts - kept == 30
