"""Why METEOR scores a caption as it does: its words aligned with those of the best reference."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from reelscore import _native
from reelscore.metrics.meteor import Meteor
from reelscore.stories.sentence_pairs import pair_statistics
from reelscore.text.language import language_index
from reelscore.text.packed import pack
from reelscore.text.tokens import thread_count

Progress = Callable[[int, int], None]
IntArray = NDArray[np.int64]

_NEAR = 1e-6  # scores of one table and of these references agree, or are of other references
_STEP = 500  # captions between two signs of life


class Alignments(NamedTuple):
    """The alignment of each caption with its best reference.

    Attributes:
        words: Of each text, the words METEOR sees; empty where a text was not looked at.
        best: Of each caption, the number of the text that is its best reference; -1 for none.
        counts: How many matches each caption has.
        matches: Matches × (start and length in the caption, the same in the reference, module).
        scores: Of each caption, METEOR with its best reference.
    """

    words: list[str]
    best: IntArray
    counts: IntArray
    matches: IntArray
    scores: NDArray[np.float64]


def align_all(
    metric: Meteor,
    texts: Sequence[str],
    captions: IntArray,
    offsets: IntArray,
    references: IntArray,
    *,
    threads: int | None = None,
    progress: Progress | None = None,
) -> Alignments:
    """Align captions, each with the reference it is most like.

    Args:
        metric: METEOR with its parameters.
        texts: Tokenized texts.
        captions: Numbers of the texts to be aligned.
        offsets: Caption k has the references from entry k to entry k + 1.
        references: Numbers of the texts that are references.
        threads: How many threads to use; all cores if not given.
        progress: Called now and then with how many captions are done, of how many.

    >>> found = align_all(Meteor(), ["a dog", "the cat", "a dog runs"], np.array([0]),
    ...                   np.array([0, 2]), np.array([1, 2]))
    >>> found.best.tolist(), found.matches.tolist()
    ([2], [[0, 1, 0, 1, 0], [1, 1, 1, 1, 0]])
    """
    counts = np.diff(offsets)
    pairs = np.repeat(captions, counts)
    used = thread_count(threads)
    scores = np.zeros(0)
    if len(pairs):
        statistics = pair_statistics(metric, pack(list(texts)), pairs, references, used)
        scores = metric.scores(statistics)[:, 0]
    language = language_index()
    parameters = (metric.alpha, metric.beta, metric.gamma, metric.delta)
    words = [""] * len(texts)
    best = np.full(len(captions), -1, dtype=np.int64)
    found: list[list[tuple[int, int, int, int, int]]] = []
    top = np.zeros(len(captions))
    for k, caption in enumerate(captions.tolist()):
        begin, end = int(offsets[k]), int(offsets[k + 1])
        matches: list[tuple[int, int, int, int, int]] = []
        if begin < end and texts[caption]:
            chosen = begin + int(scores[begin:end].argmax())
            reference = int(references[chosen])
            ours, theirs, matches, _ = _native.meteor_alignment(
                language, texts[caption], texts[reference], parameters
            )
            words[caption], words[reference] = " ".join(ours), " ".join(theirs)
            best[k], top[k] = reference, scores[chosen]
        found.append(matches)
        if progress is not None and (k + 1) % _STEP == 0:
            progress(k + 1, len(captions))
    flat = [match for matches in found for match in matches]
    return Alignments(
        words,
        best,
        np.array([len(matches) for matches in found], dtype=np.int64),
        np.array(flat, dtype=np.int64).reshape(-1, 5),
        top,
    )


def agree(ours: NDArray[np.float64], table: NDArray[np.float64]) -> bool:
    """Whether scores explained here are those of the table, where it has any.

    >>> agree(np.array([0.5, 0.2]), np.array([0.5, np.nan]))
    True
    """
    known = ~np.isnan(table)
    return bool(np.allclose(ours[known], table[known], rtol=_NEAR, atol=_NEAR))
