"""The scorer of the ActivityNet Captions challenge, the framework most papers report.

For each threshold every candidate is paired with every reference, of any annotator, that it
overlaps enough; sentence metrics are computed over the pairs of each video, then averaged over
videos and thresholds. METEOR and BLEU of a video are corpus aggregates over its pairs, ROUGE-L and
CIDEr are means; CIDEr's document frequencies come from that video's pairs alone. Equal to the
official scorer (Krishna et al., 2017; METEOR 1.5, PTB tokens) within 1e-9.

Like it, this one replaces characters beyond ASCII by blanks, and tokenizes the captions of all
pairs of a threshold in one run, whose look-ahead crosses from one caption to the next. The
official scorer puts videos in the order of a hash; here they keep the order of the references.
"""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from reelscore.data.stories import Story
from reelscore.metrics.base import FloatArray, Metric
from reelscore.metrics.cider import Cider
from reelscore.stories.overlaps import IntArray, Overlaps, caption_counts, distinct
from reelscore.stories.protocol import Variant
from reelscore.stories.sentence_scores import (
    PAIRS_AT_ONCE,
    CocoLines,
    PairStatistics,
    TextPool,
    VideoBatch,
    ascii_alone,
    looks_at_pairs_alone,
)
from reelscore.stories.soda import merged
from reelscore.text.words import CaptionBatch, Captions, Pairing

# What a candidate without any reference is compared with. The word of 2018-11 is random in the
# official scorer; any word that no caption has gives the same numbers.
NONSENSE: dict[Variant, str | None] = {
    "2018-11": "qzxjkvwqzxjkv",
    "2017-fixed": "abc123!@#",
    "2017-original": None,
}


def activitynet_scores(batch: VideoBatch, metrics: Sequence[Metric]) -> FloatArray:
    """Score some videos."""
    protocol, references, threads = batch.protocol, batch.references, batch.threads
    ours = [story.first(protocol.max_captions) for story in batch.candidates]
    theirs = [merged(truth) for truth in references]
    overlaps = Overlaps(ours, theirs, epsilon=protocol.epsilon, threads=threads)
    texts = _Texts(ours, theirs, NONSENSE[protocol.variant], batch.pool, threads)
    pairs = _all_pairs(overlaps, protocol.tious, texts)
    captioning = [
        _summed(batch.statistics(metric), pairs)
        if looks_at_pairs_alone(metric)
        else _in_groups(metric, pairs, batch.pool, threads)
        for metric in metrics
    ]
    annotators = [count for truth in references for count in caption_counts(truth)]
    detection = [
        _precision_recall(overlaps, tiou, annotators, [len(truth) for truth in references])
        for tiou in protocol.tious
    ]
    shape = len(ours), len(protocol.tious), -1
    return np.concatenate(
        [*(scores.reshape(shape) for scores in captioning), np.stack(detection, axis=1)], axis=2
    )


class _Pairs(NamedTuple):
    """Pairs of texts by their numbers, in groups: of one video and one threshold each.

    The thresholds of a video follow each other, since they have most of their pairs in common.
    """

    candidates: IntArray
    references: IntArray
    group_offsets: IntArray


def _all_pairs(overlaps: Overlaps, tious: Sequence[float], texts: _Texts) -> _Pairs:
    """Tokenize the pairs threshold by threshold, as the official scorer does, and group them."""
    files = [_pairs(overlaps, tiou, texts.nonsense) for tiou in tious]
    numbered = [texts.numbered(rows, columns) for rows, columns in files]
    counts = np.stack(
        [np.diff(np.searchsorted(rows, overlaps.row_offsets)) for rows, _ in files], axis=1
    )
    groups = np.arange(counts.size).reshape(counts.shape)
    owners = [np.repeat(*each) for each in zip(groups.T, counts.T, strict=True)]
    order = np.argsort(np.concatenate(owners), kind="stable")
    candidates, references = map(np.concatenate, zip(*numbered, strict=True))
    return _Pairs(candidates[order], references[order], np.append(0, np.cumsum(counts)))


def _pairs(overlaps: Overlaps, tiou: float, nonsense: int | None) -> tuple[IntArray, IntArray]:
    """Candidates and references of a threshold, in the official order."""
    hits = np.flatnonzero(overlaps.iou >= tiou)
    rows, columns = overlaps.rows[hits], overlaps.columns[hits]
    if nonsense is not None:
        unpaired = np.flatnonzero(np.bincount(rows, minlength=overlaps.row_offsets[-1]) == 0)
        rows = np.concatenate([rows, unpaired])
        columns = np.concatenate([columns, np.full(len(unpaired), nonsense)])
        order = np.argsort(rows, kind="stable")
        rows, columns = rows[order], columns[order]
    return rows, columns


class _Texts:
    """The sentences of some videos as the official scorer sees them."""

    def __init__(
        self,
        ours: Sequence[Story],
        theirs: Sequence[Story],
        nonsense: str | None,
        pool: TextPool,
        threads: int,
    ) -> None:
        references = ascii_alone(_sentences(theirs))
        self.nonsense = None if nonsense is None else len(references)
        if nonsense is not None:
            references.append(nonsense)
        self._candidates = CocoLines(ascii_alone(_sentences(ours)), pool, threads)
        self._references = CocoLines(references, pool, threads)

    def numbered(self, candidates: IntArray, references: IntArray) -> tuple[IntArray, IntArray]:
        """Tokenize both sentences of each pair in one run each, and number them in the pool."""

        def of(lines: CocoLines, file: IntArray) -> IntArray:
            begins = range(0, max(1, len(file)), PAIRS_AT_ONCE)
            return np.concatenate([lines.numbers(file[k : k + PAIRS_AT_ONCE]) for k in begins])

        return of(self._candidates, candidates), of(self._references, references)


def _sentences(stories: Sequence[Story]) -> list[str]:
    return [sentence for story in stories for sentence in story.sentences]


def _summed(known: PairStatistics, pairs: _Pairs) -> FloatArray:
    """Scores of each group from the sum of its pairs' statistics; 0 without pairs."""
    offsets = pairs.group_offsets
    has_pairs = np.diff(offsets) > 0
    begins = np.searchsorted(offsets, np.arange(0, max(1, offsets[-1]), PAIRS_AT_ONCE))
    totals = []
    for first, last in itertools.pairwise(distinct(np.append(begins, len(has_pairs)))):
        piece = slice(offsets[first], offsets[last])
        candidates, references = pairs.candidates[piece], pairs.references[piece]
        totals.append(
            known.sums(candidates, references, offsets[first : last + 1] - offsets[first])
        )
    scores = np.zeros((len(has_pairs), len(known.metric.outputs)))
    scores[has_pairs] = known.metric.scores(np.concatenate(totals)[has_pairs])
    return scores


def _in_groups(metric: Metric, pairs: _Pairs, pool: TextPool, threads: int) -> FloatArray:
    """Scores of a metric that prepares something from the references: each group by itself."""
    has_pairs = np.diff(pairs.group_offsets) > 0
    scores = np.zeros((len(has_pairs), len(metric.outputs)))
    if has_pairs.any():
        groups = np.append(pairs.group_offsets[:-1][has_pairs], pairs.group_offsets[-1])
        sums = sums_of_groups(
            metric, pool.captions, pairs.candidates, pairs.references, groups, threads
        )
        scores[has_pairs] = metric.scores(sums)
    return scores


def sums_of_groups(
    metric: Metric,
    texts: Captions,
    candidates: IntArray,
    references: IntArray,
    group_offsets: IntArray,
    threads: int = 1,
) -> FloatArray:
    """Sum the statistics of pairs, each group prepared from the references of its pairs alone.

    Candidates and references are given by number; group g has the pairs from entry g up to entry
    g + 1 of the offsets, at least one.
    """
    if isinstance(metric, Cider) and metric.frequencies is None:
        return metric.group_sums(texts, candidates, references, group_offsets, threads)
    sums = []
    for begin, end in itertools.pairwise(group_offsets):
        theirs, ours = texts.take(references[begin:end]), texts.take(candidates[begin:end])
        places = np.arange(theirs.size + 1)
        batch = CaptionBatch(ours, theirs, Pairing.in_order(places), threads)
        rows = np.asarray(metric.statistics(batch, metric.prepare(theirs, places)))
        sums.append(rows.sum(axis=0))
    return np.array(sums)


def _precision_recall(
    overlaps: Overlaps, tiou: float, captions: Sequence[int], annotators: Sequence[int]
) -> FloatArray:
    """Detection: the share of candidates and of references that overlap more than the threshold.

    Each is the best over the video's annotators, independently of the other.
    """
    hits = np.flatnonzero(overlaps.iou > tiou)
    annotator_of = np.repeat(np.arange(len(captions)), captions)
    found_references = distinct(overlaps.columns[hits])
    recalled = np.bincount(annotator_of[found_references], minlength=len(captions))
    # One candidate counts once for each annotator with a reference it overlaps.
    keys = distinct(overlaps.rows[hits] * len(captions) + annotator_of[overlaps.columns[hits]])
    precise = np.bincount(keys % len(captions), minlength=len(captions))
    candidates = np.repeat(np.diff(overlaps.row_offsets), annotators)
    precision = precise / np.maximum(candidates, 1)
    recall = recalled / np.array(captions)
    firsts = np.concatenate([[0], np.cumsum(annotators)[:-1]])
    return np.column_stack(
        [np.maximum.reduceat(precision, firsts), np.maximum.reduceat(recall, firsts)]
    )
