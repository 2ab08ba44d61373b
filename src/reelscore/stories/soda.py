"""SODA: order-keeping matching of stories, with precision, recall and F1 (Fujita et al., 2020).

Scale 0–1 with METEOR, higher is better. Written from the paper and its Japanese precursor. The
three variants differ in the cost that the matching maximises: (a) IoU, zero below a threshold,
averaged over thresholds; (b) IoU; (c) IoU × f. For (a) and (b) the sum of f over the matched pairs
is the score, for (c) the sum of costs is. Precision divides it by the number of candidates, recall
by that of references. The corpus score is the mean over videos, of each of the three.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import chain, islice

import msgspec
import numpy as np
from numpy.typing import ArrayLike

from reelscore import _native
from reelscore.data.stories import Story
from reelscore.errors import DataError
from reelscore.metrics.base import FloatArray
from reelscore.stories.overlaps import IntArray, Overlaps, caption_counts, iou
from reelscore.stories.protocol import Annotators, Protocol
from reelscore.stories.sentence_scores import (
    PAIRS_AT_ONCE,
    SentenceScore,
    TextPool,
    VideoBatch,
    looks_at_pairs_alone,
)

PRECISION, RECALL, F1 = range(3)


def soda_scores(batch: VideoBatch, f: SentenceScore) -> dict[str, FloatArray]:
    """Score some videos."""
    owners: list[int] = []
    ours: list[Story] = []
    theirs: list[Story] = []
    protocol = batch.protocol
    for video, (story, truth) in enumerate(zip(batch.candidates, batch.references, strict=True)):
        ordered = story.in_time_order()
        for annotator in [merged(truth)] if protocol.annotators == "merge" else truth:
            owners.append(video)
            ours.append(ordered)
            theirs.append(reference_story(annotator, protocol))
    matcher = _Matcher(batch, f)
    sums = matcher.sums(ours, theirs)
    counts = [np.array(caption_counts(side), dtype=np.float64) for side in (ours, theirs)]
    by_score: dict[str, FloatArray] = {}
    for name in protocol.soda_scores:
        mine = [_precision_recall_f1(sums[key], *counts) for key in sums if key[0] == name]
        by_score[name] = _over_annotators(
            np.mean(mine, axis=0), np.array(owners), len(batch.candidates), protocol.annotators
        )
    return by_score


def merged(truth: Sequence[Story]) -> Story:
    """Put the captions of several annotators into one story."""
    if len(truth) == 1:
        return truth[0]
    return Story(
        np.concatenate([story.segments for story in truth]),
        tuple(chain.from_iterable([story.sentences for story in truth])),
        truth[0].duration,
    )


def reference_story(annotator: Story, protocol: Protocol) -> Story:
    """Put the references in the order in which they are matched."""
    return annotator if protocol.reference_order == "file" else annotator.in_time_order()


def costs_of(name: str, iou: FloatArray, f: FloatArray, tiou: float) -> FloatArray:
    """The costs one of the three variants maximises.

    >>> costs_of("soda_c", np.array([0.5]), np.array([0.2]), 0.0).tolist()
    [0.1]
    """
    if name == "soda_c":
        return iou * f
    return np.where(iou >= tiou, iou, 0.0)


# A matching to be made: the score it is for, and its threshold.
_Key = tuple[str, float]
# For each matching the sums of costs and of f, as _native.match_sums takes and gives them.
_State = dict[_Key, FloatArray]


class _Matcher:
    """Matches many pairs of stories, a limited number of sentence pairs at a time."""

    def __init__(self, batch: VideoBatch, f: SentenceScore) -> None:
        protocol = batch.protocol
        self._f = f
        self._pool = batch.pool
        alone = looks_at_pairs_alone(f.metric)  # then the ActivityNet scorer may need them too
        self._known = batch.statistics(f.metric) if alone else f.statistics(batch.pool)
        self._threads = batch.threads
        self._keys: list[_Key] = [
            (name, tiou)
            for name in protocol.soda_scores
            for tiou in (protocol.tious if name == "soda_a" else (0.0,))
        ]

    def sums(self, ours: Sequence[Story], theirs: Sequence[Story]) -> dict[_Key, FloatArray]:
        """The summed score of the best matching of each pair of stories."""
        our_texts, their_texts = self._texts(ours), self._texts(theirs)
        counts = zip(caption_counts(ours), caption_counts(theirs), strict=True)
        cells = sum(one * other for one, other in counts)
        if cells <= PAIRS_AT_ONCE:
            state = self._extended(ours, theirs, our_texts, their_texts, None)
            return _last_sums(state, theirs)
        parts: list[dict[_Key, FloatArray]] = []
        our_begin = their_begin = 0
        for one, other in zip(ours, theirs, strict=True):
            our_end, their_end = our_begin + len(one), their_begin + len(other)
            state = self._long(
                one, other, our_texts[our_begin:our_end], their_texts[their_begin:their_end]
            )
            parts.append(_last_sums(state, [other]))
            our_begin, their_begin = our_end, their_end
        return {key: np.concatenate([part[key] for part in parts]) for key in self._keys}

    def _long(self, one: Story, other: Story, our_texts: IntArray, their_texts: IntArray) -> _State:
        """Match two stories piece by piece, some candidates at a time."""
        step = max(1, PAIRS_AT_ONCE // max(1, len(other)))
        state: _State | None = None
        for begin in range(0, max(1, len(one)), step):
            piece = slice(begin, begin + step)
            part = Story(one.segments[piece], one.sentences[piece])
            state = self._extended([part], [other], our_texts[piece], their_texts, state)
        assert state is not None
        return state

    def _extended(
        self,
        ours: Sequence[Story],
        theirs: Sequence[Story],
        our_texts: IntArray,
        their_texts: IntArray,
        state: _State | None,
    ) -> _State:
        """Go on with matchings by further candidates; they begin where there is no state."""
        overlaps = Overlaps(ours, theirs, threads=self._threads)
        f = np.zeros(len(overlaps.iou))
        overlapping = np.flatnonzero(overlaps.iou > 0)
        if len(overlapping):
            f[overlapping] = self._f.of_pairs(
                self._known,
                our_texts[overlaps.rows[overlapping]],
                their_texts[overlaps.columns[overlapping]],
            )
        nothing = np.zeros(2 * (len(their_texts) + len(theirs)))
        return {
            key: _native.match_sums(
                costs_of(key[0], overlaps.iou, f, key[1]),
                f,
                overlaps.row_offsets,
                overlaps.column_offsets,
                nothing if state is None else state[key],
                self._threads,
            )
            for key in self._keys
        }

    def _texts(self, stories: Sequence[Story]) -> IntArray:
        sentences = [sentence for story in stories for sentence in story.sentences]
        return self._pool.add(self._f.texts(sentences))


def _last_sums(state: _State, theirs: Sequence[Story]) -> dict[_Key, FloatArray]:
    """The sums over whole stories: the last entry of each, its cost for (c) and its f otherwise."""
    ends = np.cumsum(np.array(caption_counts(theirs)) + 1) - 1
    return {
        key: sums.reshape(-1, 2)[ends, 0 if key[0] == "soda_c" else 1]
        for key, sums in state.items()
    }


def _precision_recall_f1(sums: FloatArray, ours: FloatArray, theirs: FloatArray) -> FloatArray:
    precision = np.divide(sums, ours, out=np.zeros_like(sums), where=ours > 0)
    recall = np.divide(sums, theirs, out=np.zeros_like(sums), where=theirs > 0)
    return np.column_stack([precision, recall, f1_of(precision, recall)])


def f1_of(precision: FloatArray, recall: FloatArray) -> FloatArray:
    """Harmonic mean; 0 where both are.

    >>> f1_of(np.array([0.5, 0.0]), np.array([1.0, 0.0])).tolist()
    [0.6666666666666666, 0.0]
    """
    below = precision + recall
    return np.divide(2 * precision * recall, below, out=np.zeros_like(below), where=below > 0)


def _over_annotators(
    values: FloatArray, owners: IntArray, videos: int, how: Annotators
) -> FloatArray:
    """From one row for each video and annotator to one for each video."""
    if how == "best":
        # The last of a video's rows in this order: highest F1, of equal ones highest precision, so
        # that the order of the annotators' files does not show.
        order = np.lexsort((values[:, PRECISION], values[:, F1], owners))
        last = np.flatnonzero(np.diff(owners[order], append=videos))
        return values[order[last]]
    counts = np.bincount(owners, minlength=videos)
    columns = [np.bincount(owners, column, minlength=videos) / counts for column in values.T]
    return np.column_stack(columns)


class Matching(msgspec.Struct, frozen=True):
    """Which candidate goes with which reference."""

    # row (candidate) and column (reference) of each match, in order
    pairs: tuple[tuple[int, int], ...]
    cost: float  # the sum of their costs
    bonus: float  # the sum of their bonuses


def match(costs: ArrayLike, bonus: ArrayLike | None = None) -> Matching:
    """Match rows and columns one to one and in order, for the highest summed cost.

    Args:
        costs: Candidates × references, in time order; at least 0.
        bonus: What decides between matchings of equal cost; the same shape.

    Returns:
        The matching, with its pairs; it takes a byte of memory for each entry.

    >>> match([[0.7, 0.2], [0.9, 0.8]]).pairs
    ((0, 0), (1, 1))
    >>> match([[0.5], [0.5]], bonus=[[0.1], [0.3]]).pairs
    ((1, 0),)
    """
    values = np.ascontiguousarray(costs, dtype=np.float64)
    extra = np.zeros_like(values) if bonus is None else np.ascontiguousarray(bonus, np.float64)
    if values.ndim != 2 or extra.shape != values.shape:
        raise DataError(
            f"Costs have the shape {values.shape} and bonuses {extra.shape}; "
            "expected one matrix each, candidates × references."
        )
    if not (np.isfinite(values).all() and (values >= 0).all()):
        raise DataError("Costs hold negative or infinite numbers; expected at least 0.")
    rows = _native.match_rows(values.ravel(), extra.ravel(), *values.shape)
    columns = np.flatnonzero(rows >= 0)
    pairs = tuple((int(rows[column]), int(column)) for column in columns)
    return Matching(
        pairs,
        float(sum(values[pair] for pair in pairs)),
        float(sum(extra[pair] for pair in pairs)),
    )


class Match(msgspec.Struct, frozen=True):
    """A candidate and a reference that belong together."""

    candidate: int  # the candidate's place in its story, as the file has it
    reference: int  # the reference's place in its story
    iou: float  # their overlap
    f: float  # the score of their sentences
    cost: float  # what the matching maximised the sum of


class StoryMatching(msgspec.Struct, frozen=True):
    """How a system's story was matched with an annotator's."""

    candidates: Story  # the system's story
    references: Story  # the annotator's story
    matches: tuple[Match, ...]  # the matches, in the time order of the candidates
    precision: float  # summed score over the number of candidates
    recall: float  # summed score over the number of references
    f1: float  # their harmonic mean


def matchings_of(
    stories: Sequence[tuple[Story, Story]],
    f: SentenceScore,
    score: str = "soda_c",
    *,
    tiou: float = 0.0,
) -> list[StoryMatching]:
    """Match stories as a SODA score does; many at once are quicker than one by one."""
    pool = TextPool()
    in_file_order = f.protocol.reference_order == "file"
    orders = [
        (ours.time_order(), range(len(theirs)) if in_file_order else theirs.time_order())
        for ours, theirs in stories
    ]
    sentences = [
        story.sentences[k]
        for pair, both in zip(stories, orders, strict=True)
        for story, order in zip(pair, both, strict=True)
        for k in order
    ]
    numbers = iter(pool.add(f.texts(sentences)))
    overlaps, pairs = [], []
    for (ours, theirs), (first, second) in zip(stories, orders, strict=True):
        overlap = iou(ours.segments[first], theirs.segments[second])
        texts = [
            np.fromiter(islice(numbers, len(order)), np.int64, len(order))
            for order in (first, second)
        ]
        rows, columns = np.nonzero(overlap)
        overlaps.append(overlap)
        pairs.append(np.stack([texts[0][rows], texts[1][columns]]))
    both = np.concatenate(pairs, axis=1) if pairs else np.zeros((2, 0), dtype=np.int64)
    values = np.zeros(both.shape[1])
    if both.size:
        values = f.of_pairs(f.statistics(pool), both[0], both[1])
    ends = np.cumsum([each.shape[1] for each in pairs], dtype=np.int64)
    return [
        _matching(pair, order, overlap, values[end - count : end], score, tiou)
        for pair, order, overlap, count, end in zip(
            stories, orders, overlaps, (each.shape[1] for each in pairs), ends, strict=True
        )
    ]


def _matching(
    stories: tuple[Story, Story],
    orders: tuple[Sequence[int], Sequence[int]],
    overlap: FloatArray,
    values: FloatArray,
    score: str,
    tiou: float,
) -> StoryMatching:
    """Match two stories, given their overlaps and the scores of the sentences that overlap."""
    (candidates, references), (ours, theirs) = stories, orders
    scores = np.zeros_like(overlap)
    scores[np.nonzero(overlap)] = values
    costs = costs_of(score, overlap, scores, tiou)
    matching = match(costs, scores)
    total = np.array([matching.cost if score == "soda_c" else matching.bonus])
    precision, recall = total / max(1, len(candidates)), total / max(1, len(references))
    matches = tuple(
        Match(ours[i], theirs[j], float(overlap[i, j]), float(scores[i, j]), float(costs[i, j]))
        for i, j in matching.pairs
    )
    return StoryMatching(
        candidates,
        references,
        matches,
        float(precision[0]),
        float(recall[0]),
        float(f1_of(precision, recall)[0]),
    )
