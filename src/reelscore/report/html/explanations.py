"""What lies behind METEOR's and CIDEr's scores of each caption, as columns of a page."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from reelscore import _native
from reelscore.errors import ReelscoreError
from reelscore.metrics.base import Metric, pair_statistics
from reelscore.metrics.cider import Cider
from reelscore.metrics.meteor import Meteor
from reelscore.metrics.registry import parse
from reelscore.report.html.columns import ItemTexts, Payload
from reelscore.report.html.model import Report
from reelscore.report.html.ngrams import cider_shares
from reelscore.report.legible import legible
from reelscore.text.meteor_data import language_index
from reelscore.text.packed import pack
from reelscore.text.tokens import Tokenizer, thread_count, tokenize

Progress = Callable[[int, int], None]
IntArray = NDArray[np.int64]

_NEAR = 1e-6  # scores of one table and of these references agree, or are of other references
_STEP = 500  # captions between two signs of life
_OTHERS = (
    "{metric}: no {what} are shown, since the captions and references given do not yield the "
    "table's scores. Give those that were scored."
)
_SMALLEST = 0.0005  # n-grams that add less to CIDEr are not listed
_PUNCTUATION = str.maketrans("", "", '.,;:!?"')


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


def add_explanations(
    payload: Payload,
    report: Report,
    texts: ItemTexts,
    most: int,
    progress: Progress | None = None,
) -> list[str]:
    """Add METEOR's alignments and CIDEr's n-grams, where the table has these scores.

    An explanation has to yield the score it explains: where the texts are not those that were
    scored, there is none.

    Args:
        payload: Where the columns go.
        report: The table and its signatures.
        texts: The report's captions and references.
        most: With more captions than this, nothing is explained.
        progress: Called now and then with how many captions are aligned, of how many.

    Returns:
        What could not be explained, and why.
    """
    if not len(texts.references) or not report.captions:
        return []
    found = {kind: _metric(report, kind) for kind in ("meteor", "cider")}
    if not any(found.values()):
        return []
    if len(texts.captions) > most:
        return [
            f"METEOR's alignments and CIDEr's n-grams are left out: there are "
            f"{len(texts.captions):,} captions, more than {most:,}."
        ]
    notes = []
    tokenizer = next(tok for each in found.values() if each for tok in [each[1]])
    tokens = tokenize(list(texts.raw), "ptb" if tokenizer == "ptb-coco" else tokenizer)
    for kind, add in (("meteor", _add_alignments), ("cider", _add_ngrams)):
        metric = found[kind]
        if metric is not None and not add(payload, report, texts, tokens, metric[0], progress):
            name, what = ("METEOR", "alignments") if kind == "meteor" else ("CIDEr", "n-grams")
            notes.append(_OTHERS.format(metric=name, what=what))
    return notes


def _metric(report: Report, name: str) -> tuple[Metric, Tokenizer] | None:
    """Rebuild a metric of the table, and the tokenizer it was given, from the signature."""
    for row in report.table.results.values():
        if name in row and row[name].signature.startswith(f"{name}|"):
            try:
                metric = parse(row[name].signature)
            except ReelscoreError:  # a signature of another version
                return None
            parts = dict(p.partition(":")[::2] for p in row[name].signature.split("|"))
            tokenizer: Tokenizer = parts.get("tok", "ptb")  # type: ignore[assignment]
            return metric, tokenizer if tokenizer in ("ptb", "ptb-coco", "none") else "ptb"
    return None


def _table_scores(report: Report, name: str) -> NDArray[np.float64]:
    scores: NDArray[np.float64] = report.table.matrix(name, report.table.systems, report.items)
    return np.ascontiguousarray(scores.T).ravel()


def _add_alignments(
    payload: Payload,
    report: Report,
    texts: ItemTexts,
    tokens: Sequence[str],
    metric: Metric,
    progress: Progress | None,
) -> bool:
    assert isinstance(metric, Meteor)
    many = np.diff(texts.offsets)[texts.items]
    offsets = np.concatenate([[0], np.cumsum(many)])
    inside = np.arange(offsets[-1]) - np.repeat(offsets[:-1], many)
    references = texts.references[np.repeat(texts.offsets[texts.items], many) + inside]
    found = align_all(metric, tokens, texts.captions, offsets, references, progress=progress)
    if not agree(found.scores, _table_scores(report, "meteor")):
        return False
    first = texts.captions - np.tile(np.arange(texts.systems), len(texts.offsets) - 1)
    best = np.where(found.best < 0, 0, found.best - first - texts.systems + 1)
    payload.texts("meteor words", _differing(found.words, texts.raw))
    payload.numbers("meteor best", best, "u2")  # 1 for the item's first reference, 0 for none
    payload.numbers("meteor counts", found.counts, "u2")
    for k, name in enumerate(("start", "length", "reference start", "reference length", "module")):
        payload.numbers(f"meteor {name}", found.matches[:, k], "u2")
    return True


def _add_ngrams(
    payload: Payload,
    report: Report,
    texts: ItemTexts,
    tokens: Sequence[str],
    metric: Metric,
    progress: Progress | None,
) -> bool:
    assert isinstance(metric, Cider)
    shares = cider_shares(
        metric, tokens, texts.captions, texts.items, texts.offsets, texts.references
    )
    captions = len(texts.captions)
    if not agree(shares.totals(captions), _table_scores(report, "cider")):
        return False
    kept = np.flatnonzero(shares.share >= _SMALLEST)
    kept = kept[np.lexsort((-shares.share[kept], shares.caption[kept]))]
    payload.texts("cider tokens", _differing(tokens, texts.raw))
    payload.numbers("cider counts", np.bincount(shares.caption[kept], minlength=captions), "u2")
    payload.numbers("cider start", shares.start[kept], "u2")
    payload.numbers("cider order", shares.order[kept], "u1")
    payload.numbers("cider share", np.round(shares.share[kept] * 1000), "u2")  # thousandths
    return True


def _differing(words: Sequence[str], raw: Sequence[str]) -> list[str]:
    """Words, but for those that the page finds itself: lower case, without punctuation.

    >>> _differing(["a dog runs", "the dog 's"], ["A dog runs.", "the dog's"])
    ['', "the dog 's"]
    """
    return [
        "" if text.isascii() and words == _plain(text) else legible(words)
        for words, text in zip(words, raw, strict=True)
    ]


def _plain(text: str) -> str:
    """What ``plainWords`` of the page's scripts does."""
    return " ".join(text.lower().translate(_PUNCTUATION).split())
