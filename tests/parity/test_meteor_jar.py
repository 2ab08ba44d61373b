"""METEOR: all 23 statistics, sentence scores and system scores as the jar gives them, exactly."""

from __future__ import annotations

import random
import re
from itertools import pairwise

import pytest
from jars import trecvid, web_sentences

from reelscore import score, tokenize

pytestmark = pytest.mark.parity


def compare(jar, pairs, report, what):
    """Compare statistics, scores and the aggregate; the texts are taken as they are."""
    theirs = jar.statistics(pairs)
    results = score(
        {str(k): candidate for k, (candidate, _) in enumerate(pairs)},
        {str(k): references for k, (_, references) in enumerate(pairs)},
        "meteor",
        tokenizer="none",
        empty="zero",
    )
    rows = results.measurements[0].statistics[:, :23].tolist()
    expected = [[float(number) for number in line.split()] for line in theirs]
    wrong = [
        (*pair, mine, other)
        for pair, mine, other in zip(pairs, rows, expected, strict=True)
        if mine != other
    ]
    each, together = jar.scores(theirs)
    scores = results["meteor"].items.array.tolist()
    other_scores = sum(mine != other for mine, other in zip(scores, each, strict=True))
    report(
        f"{what}: {len(pairs):,} captions, {len(wrong)} vectors and {other_scores} scores differ, "
        f"system {results['meteor'].score!r} and {together!r}"
    )
    assert wrong[:3] == []
    assert other_scores == 0
    assert results["meteor"].score == together


def tokenized(systems, references):
    """As pycocoevalcap calls it: references and captions tokenized in one run each."""
    flat = iter(tokenize([text for texts in references for text in texts], "ptb-coco"))
    references = [[next(flat) for _ in texts] for texts in references]
    return {name: tokenize(texts, "ptb-coco") for name, texts in systems.items()}, references


@pytest.mark.shared
@pytest.mark.parametrize(("year", "count", "items"), [(2020, 6, 1700), (2017, 13, 1880)])
def test_trecvid(meteor_jar, shared, full, report, year, count, items):
    systems, references = tokenized(*trecvid(shared, year))
    assert (len(systems), len(references)) == (count, items)
    for name, captions in systems.items() if full else list(systems.items())[:2]:
        assert len(captions) == items
        pairs = list(zip(captions, references, strict=True))
        compare(meteor_jar, pairs if full else pairs[::17], report, f"{year} {name}")


@pytest.mark.shared
def test_web_text(meteor_jar, shared, full, report):
    # sentences against their neighbours: nothing in common but function words and chance
    sentences = [text for text in web_sentences(shared) if "|||" not in text]
    if not full:
        sentences = sentences[::40]
    tokens = tokenize(sentences, "ptb-coco")
    pairs = [(one, [two, three]) for one, two, three in zip(tokens, tokens[1:], tokens[2:])]  # noqa: B905
    compare(meteor_jar, pairs, report, "web text, tokenized")
    pairs = [(one, [two]) for one, two in pairwise(sentences)]
    compare(meteor_jar, pairs[::2], report, "web text, as written")


@pytest.mark.shared
def test_long_paragraphs(meteor_jar, shared, full, report):
    # dozens of repeated words: many more alignments than the beam holds
    sentences = tokenize([text for text in web_sentences(shared) if "|||" not in text][:1500])
    paragraphs = [" ".join(sentences[k : k + 8]) for k in range(0, len(sentences), 8)]
    chosen = paragraphs if full else paragraphs[:20]
    pairs = [(one, [two]) for one, two in pairwise(chosen)]
    compare(meteor_jar, pairs, report, "paragraphs")


WORDS = [
    "a",
    "the",
    "man",
    "men",
    "guy",
    "person",
    "woman",
    "women",
    "is",
    "are",
    "was",
    "going",
    "to",
    "will",
    "run",
    "runs",
    "running",
    "ran",
    "jump",
    "jumped",
    "car",
    "automobile",
    "vehicle",
    "red",
    "dog",
    "dogs",
    "puppy",
    "many",
    "a",
    "lot",
    "of",
    "some",
    "few",
    "on",
    "in",
    "at",
    "of",
    "with",
    "and",
    ",",
    ".",
    "'",
    "'s",
    "n't",
    '"',
    "-",
    "play",
    "plays",
    "playing",
    "guitar",
    "stage",
    "kitchen",
    "cook",
    "cooks",
    "cooking",
    "quickly",
    "child",
    "children",
    "kid",
    "kids",
    "sit",
    "sits",
    "sitting",
    "down",
    "up",
    "walk",
    "walking",
    "street",
    "road",
    "two",
    "three",
    "3",
    "1,000",
    "-lrb-",
    "-rrb-",
    "20s",
    "225",
]


def test_random_captions(meteor_jar, full, report):
    rng = random.Random(11)

    def caption():
        return " ".join(rng.choices(WORDS, k=rng.randint(0, 16)))

    pairs = [
        # an empty reference at the end of the line would be cut off by the protocol
        (caption(), [caption() or "a" for _ in range(rng.randint(1, 4))])
        for _ in range(20_000 if full else 1500)
    ]
    compare(meteor_jar, pairs, report, "random captions")


def test_odd_text(meteor_jar, full, report):
    rng = random.Random(12)
    letters = "aAbé'’`-–—.,\"“&😀 \t\u00a0\u3000中1.'- ´İßΣ"

    def text():
        # double blanks have a test of their own, tests/unit/metrics/test_meteor.py
        return re.sub(" +", " ", "".join(rng.choices(letters, k=rng.randint(1, 20)))) + "x"

    pairs = [(text(), [text()]) for _ in range(20_000 if full else 1500)]
    compare(meteor_jar, pairs, report, "odd text")
