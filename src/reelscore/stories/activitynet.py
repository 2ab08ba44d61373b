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

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from reelscore.data.stories import Story
from reelscore.metrics.base import FloatArray, Metric
from reelscore.stories.overlaps import IntArray, Overlaps, distinct
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

# What a candidate without any reference is compared with. The word of 2018-11 is random in the
# official scorer; any word that no caption has gives the same numbers.
NONSENSE: dict[Variant, str | None] = {
    "2018-11": "qzxjkvwqzxjkv",
    "2017-fixed": "abc123!@#",
    "2017-original": None,
}


def activitynet_scores(batch: VideoBatch, metrics: Sequence[Metric]) -> FloatArray:
    """Score some videos.

    Args:
        batch: The videos.
        metrics: The sentence metrics.

    Returns:
        Videos × thresholds × (outputs of the metrics, precision and recall of the detection).
    """
    protocol, references, threads = batch.protocol, batch.references, batch.threads
    ours = [story.first(protocol.max_captions) for story in batch.candidates]
    theirs = [merged(truth) for truth in references]
    overlaps = Overlaps(ours, theirs, epsilon=protocol.epsilon, threads=threads)
    texts = _Texts(ours, theirs, NONSENSE[protocol.variant], batch.pool, threads)
    captioning = []
    for tiou in protocol.tious:
        pairs = _pairs(overlaps, tiou, texts.nonsense)
        numbers = texts.numbered(pairs)
        captioning.append(
            np.hstack(
                [
                    _summed(batch.statistics(metric), pairs, *numbers)
                    if looks_at_pairs_alone(metric)
                    else _by_video(metric, pairs, batch.pool, *numbers, threads)
                    for metric in metrics
                ]
            )
        )
    annotators = [len(story) for truth in references for story in truth]
    detection = [
        _precision_recall(overlaps, tiou, annotators, [len(truth) for truth in references])
        for tiou in protocol.tious
    ]
    return np.stack([np.hstack(both) for both in zip(captioning, detection, strict=True)], axis=1)


class _Pairs(NamedTuple):
    """Pairs of a threshold in the official order; those of a video follow each other."""

    candidates: IntArray
    references: IntArray
    video_offsets: IntArray


def _pairs(overlaps: Overlaps, tiou: float, nonsense: int | None) -> _Pairs:
    hits = np.flatnonzero(overlaps.iou >= tiou)
    rows, columns = overlaps.rows[hits], overlaps.columns[hits]
    if nonsense is not None:
        unpaired = np.flatnonzero(np.bincount(rows, minlength=overlaps.row_offsets[-1]) == 0)
        rows = np.concatenate([rows, unpaired])
        columns = np.concatenate([columns, np.full(len(unpaired), nonsense)])
        order = np.argsort(rows, kind="stable")
        rows, columns = rows[order], columns[order]
    return _Pairs(rows, columns, np.searchsorted(rows, overlaps.row_offsets))


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

    def numbered(self, pairs: _Pairs) -> tuple[IntArray, IntArray]:
        """Tokenize both sentences of each pair in one run each, and number them in the pool."""

        def of(lines: CocoLines, file: IntArray) -> IntArray:
            begins = range(0, max(1, len(file)), PAIRS_AT_ONCE)
            return np.concatenate([lines.numbers(file[k : k + PAIRS_AT_ONCE]) for k in begins])

        return of(self._candidates, pairs.candidates), of(self._references, pairs.references)


def _sentences(stories: Sequence[Story]) -> list[str]:
    return [sentence for story in stories for sentence in story.sentences]


def _summed(
    known: PairStatistics, pairs: _Pairs, candidates: IntArray, references: IntArray
) -> FloatArray:
    """Scores of each video from the sum of its pairs' statistics; 0 without pairs."""
    videos = len(pairs.video_offsets) - 1
    owners = np.repeat(np.arange(videos), np.diff(pairs.video_offsets))
    totals = None
    for begin in range(0, max(1, len(owners)), PAIRS_AT_ONCE):
        piece = slice(begin, begin + PAIRS_AT_ONCE)
        rows = known.rows(candidates[piece], references[piece])
        sums = np.zeros((videos, rows.shape[1]))
        here, firsts = np.unique(owners[piece], return_index=True)
        if len(here):
            sums[here] = np.add.reduceat(rows, firsts, axis=0)
        totals = sums if totals is None else totals + sums
    assert totals is not None
    has_pairs = np.diff(pairs.video_offsets) > 0
    scores = np.zeros((videos, len(known.metric.outputs)))
    scores[has_pairs] = known.metric.scores(totals[has_pairs])
    return scores


def _by_video(
    metric: Metric,
    pairs: _Pairs,
    pool: TextPool,
    candidates: IntArray,
    references: IntArray,
    threads: int,
) -> FloatArray:
    """Scores of a metric that prepares something from the references: each video by itself."""
    scores = np.zeros((len(pairs.video_offsets) - 1, len(metric.outputs)))
    has_pairs = np.diff(pairs.video_offsets) > 0
    if has_pairs.any():
        groups = np.append(pairs.video_offsets[:-1][has_pairs], pairs.video_offsets[-1])
        sums = metric.group_sums(pool.captions, candidates, references, groups, threads)
        scores[has_pairs] = metric.scores(sums)
    return scores


def _precision_recall(
    overlaps: Overlaps, tiou: float, captions: Sequence[int], annotators: Sequence[int]
) -> FloatArray:
    """Detection: the share of candidates and of references that overlap more than the threshold.

    Each is the best over the video's annotators, independently of the other.

    Args:
        overlaps: Overlaps with the references of all annotators of a video together.
        tiou: The threshold.
        captions: How many captions each annotator of each video gave.
        annotators: How many annotators each video has.
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
