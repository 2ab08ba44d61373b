"""Captions taken from the training captions, as they are: floors and ceilings of a table.

The best constant sentence is one training sentence for every clip. A system must beat it: the same
sentence for every clip has been above published systems.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import ClassVar, NamedTuple

import numpy as np

from reelscore._progress import Progress
from reelscore.captioners.run_record import Parameters
from reelscore.data.inputs import references_by_item
from reelscore.data.paired_captions import lone_references
from reelscore.data.python_captions import CaptionsLike
from reelscore.errors import DataError
from reelscore.metrics.registry import MetricColumns, table_columns
from reelscore.scoring.prepared import PreparedReferences
from reelscore.text.tokens import tokenize

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
        """Find the sentence; of equally good ones the commoner, then the earlier.

        Args:
            captions: The training captions of each item.
            references: The references of the validation items.
            threads: How many threads to use; all cores by default.
            progress: Called with how many pairs are measured, of how many.
        """
        columns = single_score(self.metric)
        sentences = common_sentences(text for own in captions.values() for text in own)
        tried = sentences[: self.among]
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
    """Give every item the training sentence that scores best on validation.

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


def common_sentences(texts: Iterable[str]) -> list[tuple[str, int]]:
    """Count sentences, those with the same tokens together; the commonest first.

    >>> common_sentences(["A dog.", "A man runs.", "a man runs"])
    [('A man runs.', 2), ('A dog.', 1)]
    """
    written = list(texts)
    counts: Counter[str] = Counter()
    first: dict[str, str] = {}
    for text, tokens in zip(written, tokenize(written), strict=True):
        if tokens:
            counts[tokens] += 1
            first.setdefault(tokens, text)
    if not counts:
        raise DataError("The training captions have no sentence with a word.")
    return [(first[tokens], count) for tokens, count in counts.most_common()]


def single_score(metric: str) -> MetricColumns:
    """The metric behind one score, such as ``meteor`` or ``bleu_4``, that can decide.

    Raises:
        DataError: If it is several scores, or one of which neither way is better.
    """
    columns = table_columns(metric)
    if len(columns) != 1 or len(columns[0].wanted) != 1:
        names = [name for each in columns for name in each.wanted]
        raise DataError(f"{metric!r} is several scores ({', '.join(names)}); name one.")
    if not columns[0].metric.independent or not columns[0].metric.scale_of(columns[0].main).ranks:
        raise DataError(f"{metric!r} cannot choose between captions; take meteor, cider or bleu_4.")
    return columns[0]
