"""The C++ kernels give what the slow twins give, on random captions."""

from __future__ import annotations

from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from strategies import captions, corpora

from reelscore import _native, score
from reelscore.metrics.bleu import Bleu
from reelscore.metrics.cider import Cider
from reelscore.metrics.rouge_l import RougeL
from reelscore.metrics.self_bleu import SelfBleu
from reelscore.text.words import CaptionBatch, Captions, Pairing, pack
from support import twins

# The text is taken as it is, so that odd blanks reach the kernels.
RAW = {"tokenizer": "none", "empty": "zero"}


@given(corpora(), st.integers(1, 9))
def test_bleu(corpus, n):
    candidates, references = corpus
    results = score(candidates, references, [Bleu(n)], **RAW)
    rows = [twins.bleu_row(candidates[item], references[item], n) for item in candidates]
    assert results.measurements[0].statistics.tolist() == rows  # whole numbers: exactly
    expected = [twins.bleu([row], n) for row in rows]
    for k, (corpus_score, result) in enumerate(
        zip(twins.bleu(rows, n), results.values(), strict=True)
    ):
        assert result.score == corpus_score  # powers are the C library's in both
        assert result.items.array.tolist() == [scores[k] for scores in expected]


@given(corpora(), st.floats(0, 10))
def test_rouge_l(corpus, beta):
    candidates, references = corpus
    result = score(candidates, references, [RougeL(beta)], **RAW)["rouge_l"]
    expected = [twins.rouge_l(candidates[item], references[item], beta) for item in candidates]
    assert result.items.array.tolist() == pytest.approx(expected, rel=1e-12)
    assert result.score == pytest.approx(np.mean(expected), rel=1e-12)


@given(corpora(), st.integers(1, 9), st.floats(0.1, 100), st.sampled_from(["d", "plain"]))
def test_cider(corpus, n, sigma, variant):
    candidates, references = corpus
    result = score(candidates, references, [Cider(n, sigma, variant)], **RAW)["cider"]
    expected = twins.cider(list(candidates.values()), list(references.values()), n, sigma, variant)
    assert result.items.array.tolist() == pytest.approx(expected, rel=1e-12, abs=1e-12)
    assert result.score == pytest.approx(np.mean(expected), rel=1e-12, abs=1e-12)


@given(
    st.lists(captions(), min_size=1, max_size=5),
    st.lists(st.lists(st.tuples(st.integers(0, 4), st.integers(0, 4)), min_size=1), min_size=1),
    st.sampled_from(["d", "plain"]),
)
def test_cider_of_groups(texts, groups, variant):
    metric = Cider(variant=variant)
    pairs = np.array([pair for group in groups for pair in group], dtype=np.int64) % len(texts)
    ours, theirs = np.ascontiguousarray(pairs.T)
    offsets = np.cumsum([0, *map(len, groups)])
    everything = Captions(pack(texts))
    expected = []
    for begin, end in pairwise(offsets):  # one group after the other
        own, places = everything.take(theirs[begin:end]), np.arange(end - begin + 1)
        batch = CaptionBatch(everything.take(ours[begin:end]), own, Pairing.in_order(places), 1)
        rows = np.asarray(metric.statistics(batch, metric.prepare(own, places)))
        expected.append(rows.sum(axis=0).tolist())
    sums = metric.group_sums(everything, ours, theirs, offsets, threads=2)
    assert sums.tolist() == expected  # every bit


@given(
    st.lists(st.one_of(st.integers(0, 20), st.integers(120, 300)), max_size=6), st.integers(1, 3)
)
def test_sums_of_groups_have_the_bits_of_numpy(sizes, columns):
    rng = np.random.default_rng(sum(sizes))
    rows, offsets = rng.random((50, columns)), np.cumsum([0, *sizes])
    numbers = rng.integers(len(rows), size=offsets[-1])
    sums = _native.group_sums(rows, numbers, offsets)
    for size, begin, total in zip(sizes, offsets[:-1], sums, strict=True):
        group = rows[numbers[begin : begin + size]]
        expected = np.add.reduceat(group, [0], axis=0)[0] if size else np.zeros(columns)
        assert total.tolist() == expected.tolist()


@given(st.lists(st.lists(st.tuples(st.integers(0, 9), st.integers(0, 9))), max_size=4))
def test_pairs_are_numbered_as_they_come(parts):
    ids, known = _native.PairIds(), {}
    for part in parts:
        before = len(known)
        expected = [known.setdefault(pair, len(known)) for pair in part]
        firsts, seconds = np.array(part, dtype=np.int64).reshape(-1, 2).T.copy()
        assert ids.number(firsts, seconds).tolist() == expected
        assert list(zip(*map(np.ndarray.tolist, ids.pairs(before)), strict=True)) == [
            pair for pair, number in known.items() if number >= before
        ]
    assert len(ids) == len(known)


@given(st.lists(captions(), min_size=1, max_size=7), st.integers(1, 5))
def test_self_bleu(texts, n):
    result = score(dict(enumerate(texts)), metrics=[SelfBleu(n)], **RAW)["self_bleu"]
    assert result.items.array.tolist() == pytest.approx(twins.self_bleu(texts, n), rel=1e-12)


@given(st.lists(captions(), min_size=1, max_size=7))
def test_diversity(texts):
    scores = score(dict(enumerate(texts)), metrics="diversity", **RAW)
    assert {name: result.score for name, result in scores.items()} == pytest.approx(
        twins.diversity(texts), rel=1e-12
    )


LONG = st.lists(st.sampled_from("abc"), max_size=150)


# 65 words and more take another path than short captions.
@given(LONG, LONG.filter(len))
def test_common_subsequences_longer_than_a_machine_word(first, second):
    candidate, reference = " ".join(first), " ".join(second)
    result = score({"v": candidate}, {"v": [reference]}, "rouge_l", **RAW)["rouge_l"]
    assert result.score == pytest.approx(twins.rouge_l(candidate, [reference]), rel=1e-12)


@given(
    st.lists(st.sampled_from([*"ab cé", "ab", " ", "\t", "\x1f", "\u3000", "\xa0"]), max_size=40)
)
def test_loop_starts(pieces):
    text = "".join(pieces)
    spaced = " ".join(pieces)
    expected = [twins.loop_start(text.split()), twins.loop_start(spaced.split())]
    assert _native.loop_starts([text, spaced]) == expected


@given(LONG, LONG, LONG)
def test_ngrams_of_captions_longer_than_a_machine_word(first, second, third):
    candidate, *references = (" ".join(words) for words in (first, second, third))
    results = score({"v": candidate}, {"v": references}, [Bleu(), Cider()], **RAW)
    row = twins.bleu_row(candidate, references, 4)
    assert results.measurements[0].statistics.tolist() == [row]
    expected = twins.cider([candidate], [references], 4, 6.0, "d")
    assert results["cider"].items.array.tolist() == pytest.approx(expected, rel=1e-12, abs=1e-12)


@given(st.lists(st.text("ab \t\u00a0", max_size=40), max_size=5))
def test_words_are_numbered_as_they_come(texts):
    # Words of up to seven letters, and texts of visible ASCII, take other paths than the rest.
    split = Captions(pack(texts))
    for words, divided in (
        (split.words, [text.split() for text in texts]),
        (split.blank_words, [text.split(" ") for text in texts]),
    ):
        spelled = [split.vocabulary.word(word) for word in words.ids.tolist()]
        assert spelled == [word for some in divided for word in some]
        assert np.diff(words.offsets).tolist() == [len(some) for some in divided]
