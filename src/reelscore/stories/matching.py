"""The matching of two stories that keeps their order, and what each match is worth."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import islice

import msgspec
import numpy as np
from numpy.typing import ArrayLike

from reelscore import _native
from reelscore.data.stories import FloatArray, Story
from reelscore.errors import DataError
from reelscore.stories.overlaps import iou
from reelscore.stories.protocol import Protocol
from reelscore.stories.sentence_scores import PairStatistics, SentenceScore, TextPool, soda_tokens
from reelscore.stories.soda import costs_of, f1_of


class Matching(msgspec.Struct, frozen=True):
    """Which candidate goes with which reference.

    Attributes:
        pairs: Row (candidate) and column (reference) of each match, in order.
        cost: The sum of their costs.
        bonus: The sum of their bonuses.
    """

    pairs: tuple[tuple[int, int], ...]
    cost: float
    bonus: float


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
    """A candidate and a reference that belong together.

    Attributes:
        candidate: The candidate's place in its story, as the file has it.
        reference: The reference's place in its story.
        iou: Their overlap.
        f: The score of their sentences.
        cost: What the matching maximised the sum of.
    """

    candidate: int
    reference: int
    iou: float
    f: float
    cost: float


class StoryMatching(msgspec.Struct, frozen=True):
    """How a system's story was matched with an annotator's.

    Attributes:
        candidates: The system's story.
        references: The annotator's story.
        matches: The matches, in the time order of the candidates.
        precision: Summed score over the number of candidates.
        recall: Summed score over the number of references.
        f1: Their harmonic mean.
    """

    candidates: Story
    references: Story
    matches: tuple[Match, ...]
    precision: float
    recall: float
    f1: float


def matchings_of(
    stories: Sequence[tuple[Story, Story]],
    f: SentenceScore,
    score: str = "soda_c",
    *,
    protocol: Protocol,
    tiou: float = 0.0,
    threads: int = 1,
) -> list[StoryMatching]:
    """Match stories as a SODA score does; many at once are quicker than one by one.

    Args:
        stories: A system's story and an annotator's, of each video.
        f: The sentence score; see `reelscore.stories.StoryScorer.matchings` for the usual way.
        score: ``soda_a``, ``soda_b`` or ``soda_c``.
        protocol: Says how sentences are tokenized, and in which order references are matched.
        tiou: The threshold of ``soda_a``.
        threads: How many threads the sentence score may use.

    >>> from reelscore.stories.sentence_scores import sentence_metric
    >>> story = Story(np.array([[0.0, 5.0], [5.0, 9.0]]), ("a man runs", "he jumps"))
    >>> f = SentenceScore(sentence_metric("meteor"), [], swapped=False, threads=1)
    >>> [matching] = matchings_of([(story, story)], f, protocol=Protocol())
    >>> [(each.candidate, each.reference, each.f) for each in matching.matches], matching.f1
    ([(0, 0, 1.0), (1, 1, 1.0)], 1.0)
    """
    pool = TextPool()
    in_file_order = protocol.reference_order == "file"
    orders = [
        (_order(ours), range(len(theirs)) if in_file_order else _order(theirs))
        for ours, theirs in stories
    ]
    sentences = [
        story.sentences[k]
        for pair, both in zip(stories, orders, strict=True)
        for story, order in zip(pair, both, strict=True)
        for k in order
    ]
    numbers = iter(pool.add(soda_tokens(sentences, protocol, threads)))
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
        values = f.of_pairs(pool, PairStatistics(f.metric, pool, threads), both[0], both[1])
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


def _order(story: Story) -> Sequence[int]:
    return story.time_order() if len(story) else []
