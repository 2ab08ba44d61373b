"""Captions taken from the training captions, as they are: floors and ceilings of a table.

The retrieval upper bound gives each item the training sentence that scores highest against its own
references. It sees the answers: an **oracle**, which no system that retrieves can beat.

The best constant sentence is one training sentence for every clip. A system must beat it: the same
sentence for every clip has been above published systems.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import ClassVar, NamedTuple

import numpy as np

from reelscore._progress import Progress
from reelscore.captioners.run_record import Parameters
from reelscore.data.captions.inputs import references_by_item
from reelscore.data.captions.paired_captions import Paired, lone_references
from reelscore.data.captions.python_captions import CaptionsLike
from reelscore.errors import DataError
from reelscore.metrics.meteor import Meteor
from reelscore.metrics.registry import MetricColumns, table_columns
from reelscore.scoring.prepared import PreparedReferences
from reelscore.text.tokens import thread_count, tokenize, tokenize_packed
from reelscore.text.words import pack

_PAIRS = 200_000  # pairs of a sentence and an item that are measured at once


class ConstantSentence(NamedTuple):
    """The best sentence.

    Attributes:
        caption: The sentence, as it first stands in the training captions.
        score: Its score on validation.
        times: How often it is in the training captions.
        tried: How many sentences were tried.
    """

    caption: str
    score: float
    times: int
    tried: int


@dataclass(frozen=True)
class ConstantSearch(Parameters):
    """How the constant sentence is chosen.

    Attributes:
        metric: The score that decides, of the whole validation set.
        among: How many of the commonest training sentences are tried.

    >>> search = ConstantSearch(among=10)
    >>> search.best({"t": ["A man runs.", "A dog sleeps."]}, {"v": ["a dog is asleep"]}).caption
    'A dog sleeps.'
    """

    metric: str = "meteor"
    among: int = 1000
    name: ClassVar[str] = "constant"

    def best(
        self,
        captions: Mapping[str, Sequence[str]],
        references: Mapping[str, Sequence[str]],
        *,
        threads: int | None = None,
        progress: Progress | None = None,
    ) -> ConstantSentence:
        """Find the sentence; of equally good ones the commoner, then the earlier."""
        columns = single_score(self.metric)
        sentences = distinct_sentences(captions)
        tried = sorted(sentences, key=lambda own: -own[1])[: self.among]
        paired = lone_references(references)
        prepared = PreparedReferences(paired, [columns], "ptb", threads, "error", "error")
        items = np.arange(len(paired.items), dtype=np.int64)
        step = max(1, _PAIRS // len(items))
        place = columns.metric.outputs.index(columns.main)
        scores: list[float] = []
        for begin in range(0, len(tried), step):
            part = [text for text, _ in tried[begin : begin + step]]
            flat = [text for text in part for _ in range(len(items))]
            [rows] = prepared.measure(flat, np.tile(items, len(part)))
            for own in np.split(rows, len(part)):
                scores.append(float(columns.metric.aggregate(own)[place]))
            if progress is not None:
                progress(len(scores) * len(items), len(tried) * len(items))
        sign = columns.metric.scale_of(columns.main).sign
        best = max(range(len(tried)), key=lambda k: sign * scores[k])
        return ConstantSentence(tried[best][0], scores[best], tried[best][1], len(tried))


def constant(
    captions: CaptionsLike,
    references: CaptionsLike,
    queries: Iterable[str] | None = None,
    *,
    metric: str = "meteor",
    among: int = 1000,
    threads: int | None = None,
) -> dict[str, str]:
    """Return every item the training sentence that scores best on validation.

    Args:
        captions: The training captions, in any form of `reelscore.score` that has ids.
        references: The references of the validation items.
        queries: The items that get the sentence; those of validation by default.
        metric: The score that decides.
        among: How many of the commonest training sentences are tried.
        threads: How many threads to use; all cores by default.

    >>> constant({"t1": ["A man runs."], "t2": ["A dog sleeps."]}, {"v1": ["a dog is asleep"]})
    {'v1': 'A dog sleeps.'}
    """
    truth = references_by_item(references)
    search = ConstantSearch(metric, among)
    found = search.best(references_by_item(captions), truth, threads=threads)
    return dict.fromkeys(truth if queries is None else queries, found.caption)


class Bound(NamedTuple):
    """The retrieval upper bound.

    Attributes:
        captions: The best training sentence of each item.
        scores: Its score.
        sentences: How many distinct training sentences there are.
        pairs: How many pairs of a sentence and a reference there are.
        aligned: How many of these were scored; the others cannot be better.
    """

    captions: dict[str, str]
    scores: dict[str, float]
    sentences: int
    pairs: int
    aligned: int


@dataclass(frozen=True)
class BoundSearch(Parameters):
    """How the retrieval upper bound is found.

    Attributes:
        metric: The score that decides, of each item by itself.
        oracle: Always true: the references of the items decide.
    """

    metric: str = "meteor"
    oracle: bool = field(default=True, init=False)
    name: ClassVar[str] = "bound"

    def best(
        self,
        captions: Mapping[str, Sequence[str]],
        references: Mapping[str, Sequence[str]],
        *,
        threads: int | None = None,
        progress: Progress | None = None,
    ) -> Bound:
        """Find the best sentence of each item; of equally good ones the earlier.

        METEOR's is found without scoring all pairs, and is exact all the same; with other metrics
        all pairs are scored.
        """
        columns = single_score(self.metric)
        sentences = [text for text, _ in distinct_sentences(captions)]
        paired = lone_references(references)
        offsets = np.asarray(paired.reference_offsets, dtype=np.int64)
        if type(columns.metric) is Meteor:
            places, scores, aligned = _best_by_meteor(
                columns.metric, sentences, paired, thread_count(threads), progress
            )
        else:
            places, scores = _best_by_all_pairs(columns, sentences, paired, threads, progress)
            aligned = len(sentences) * int(offsets[-1])
        return Bound(
            {item: sentences[place] for item, place in zip(paired.items, places, strict=True)},
            dict(zip(paired.items, scores, strict=True)),
            len(sentences),
            len(sentences) * int(offsets[-1]),
            aligned,
        )


def bound(
    captions: CaptionsLike,
    references: CaptionsLike,
    *,
    metric: str = "meteor",
    threads: int | None = None,
) -> dict[str, str]:
    """Return every item the training sentence that scores highest against its own references.

    It sees the answers: an oracle, to be marked as one in a table.

    Args:
        captions: The training captions, in any form of `reelscore.score` that has ids.
        references: The references of the items that get a caption.
        metric: The score that decides.
        threads: How many threads to use; all cores by default.

    >>> bound({"t1": ["A man runs."], "t2": ["A dog sleeps."]}, {"v1": ["a dog is asleep"]})
    {'v1': 'A dog sleeps.'}
    """
    search = BoundSearch(metric)
    found = search.best(
        references_by_item(captions), references_by_item(references), threads=threads
    )
    return found.captions


_ITEMS = 1000  # items between two signs of life


def _best_by_meteor(
    metric: Meteor,
    sentences: list[str],
    paired: Paired,
    threads: int,
    progress: Progress | None,
) -> tuple[list[int], list[float], int]:
    candidates = tokenize_packed(pack(sentences), "ptb", threads=threads)
    references = tokenize_packed(pack(paired.references), "ptb", threads=threads)
    offsets = np.asarray(paired.reference_offsets, dtype=np.int64)
    places: list[int] = []
    scores: list[float] = []
    aligned = 0
    step = len(paired.items) if progress is None else _ITEMS
    for begin in range(0, len(paired.items), step):
        own = offsets[begin : begin + step + 1]
        texts = references.slice(own[0], own[-1])
        best = metric.best_candidates(candidates, texts, own - own[0], threads)
        places += best.candidates.tolist()
        scores += best.scores.tolist()
        aligned += int(best.aligned.sum())
        if progress is not None:
            progress(len(places), len(paired.items))
    return places, scores, aligned


def _best_by_all_pairs(
    columns: MetricColumns,
    sentences: list[str],
    paired: Paired,
    threads: int | None,
    progress: Progress | None,
) -> tuple[list[int], list[float]]:
    prepared = PreparedReferences(paired, [columns], "ptb", threads, "error", "error")
    place = columns.metric.outputs.index(columns.main)
    sign = columns.metric.scale_of(columns.main).sign
    places: list[int] = []
    scores: list[float] = []
    for item in range(len(paired.items)):
        numbers = np.full(len(sentences), item, dtype=np.int64)
        [rows] = prepared.measure(sentences, numbers)
        own = np.nan_to_num(columns.metric.scores(rows)[:, place], nan=-sign * np.inf)
        best = int(np.argmax(sign * own))
        places.append(best)
        scores.append(float(own[best]))
        if progress is not None:
            progress(item + 1, len(paired.items))
    return places, scores


def distinct_sentences(captions: Mapping[str, Sequence[str]]) -> list[tuple[str, int]]:
    """Count training sentences, those with the same tokens together; in their order.

    >>> distinct_sentences({"t1": ["A dog.", "A man runs."], "t2": ["a man runs"]})
    [('A dog.', 1), ('A man runs.', 2)]
    """
    written = [text for own in captions.values() for text in own]
    counts: Counter[str] = Counter()
    first: dict[str, str] = {}
    for text, tokens in zip(written, tokenize(written), strict=True):
        if tokens:
            counts[tokens] += 1
            first.setdefault(tokens, text)
    if not counts:
        raise DataError("The training captions have no sentence with a word.")
    return [(text, counts[tokens]) for tokens, text in first.items()]


def single_score(metric: str) -> MetricColumns:
    """Return the metric behind one score, such as ``meteor`` or ``bleu_4``, that can decide."""
    columns = table_columns(metric)
    if len(columns) != 1 or len(columns[0].wanted) != 1:
        names = [name for each in columns for name in each.wanted]
        raise DataError(f"{metric!r} is several scores ({', '.join(names)}); name one.")
    if not columns[0].metric.independent or not columns[0].metric.scale_of(columns[0].main).ranks:
        raise DataError(f"{metric!r} cannot choose between captions; take meteor, cider or bleu_4.")
    return columns[0]
