"""What lies behind the scores of each caption, as columns of a page."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, NamedTuple, cast

import numpy as np
from numpy.typing import NDArray

from reelscore import _native
from reelscore._progress import Progress
from reelscore.errors import ReelscoreError
from reelscore.metrics.base import Metric, pair_statistics
from reelscore.metrics.registry import rebuilt
from reelscore.report.html.contents import IntArray, ItemTexts, Report
from reelscore.report.pages import Payload
from reelscore.report.safe_text import legible
from reelscore.text.tokens import Tokenizer, thread_count, tokenize
from reelscore.text.words import CaptionBatch, Captions, Pairing, pack

if TYPE_CHECKING:
    from reelscore.metrics.meteor import Meteor
    from reelscore.metrics.sentences import SentenceMatch
    from reelscore.metrics.spice import Spice

FloatArray = NDArray[np.float64]

_NEAR = 1e-6  # scores of one table and of these references agree, or are of other references
_MODULES = ("exact", "stem", "synonym", "paraphrase")  # of METEOR, by number
_STEP = 500  # captions between two signs of life
_OTHERS = (
    "{metric}: no {what} are shown, since the captions and references given do not yield the "
    "table's scores. Give those that were scored."
)
_SMALLEST = 0.0005  # n-grams that add less to CIDEr are not listed
_PUNCTUATION = str.maketrans("", "", '.,;:!?"')


class _Page(NamedTuple):
    """Where explanations go, and the texts that they explain."""

    payload: Payload
    texts: ItemTexts
    tokens: Sequence[str]
    tokenizer: Tokenizer
    progress: Progress | None


class _Explained(NamedTuple):
    """A score of the table that can be explained."""

    name: str
    metric: Metric
    tokenizer: Tokenizer
    title: str
    what: str
    add: Callable[[_Page, Metric, FloatArray], dict[str, object] | None]


class Alignments(NamedTuple):
    """The alignment of each caption with its best reference."""

    words: list[str]  # of each text, the words METEOR sees; empty where a text was not looked at
    # of each caption, the number of the text that is its best reference; -1 for none
    best: IntArray
    counts: IntArray  # how many matches each caption has
    # matches × (start and length in the caption, the same in the reference, module)
    matches: IntArray
    scores: FloatArray  # of each caption, METEOR with its best reference


def align_all(
    metric: Meteor,
    texts: Sequence[str],
    captions: IntArray,
    offsets: IntArray,
    references: IntArray,
    *,
    progress: Progress | None = None,
) -> Alignments:
    """Align captions, each with the reference it is most like."""
    counts = np.diff(offsets)
    pairs = np.repeat(captions, counts)
    scores = np.zeros(0)
    if len(pairs):
        packed = Captions(pack(list(texts)))
        statistics = pair_statistics(metric, packed, pairs, references, thread_count(None))
        scores = metric.scores(statistics)[:, 0]
    from reelscore.text.meteor_data import meteor_index

    language = meteor_index()
    parameters = (metric.alpha, metric.beta, metric.gamma, metric.delta)
    words = [""] * len(texts)
    best = np.full(len(captions), -1, dtype=np.int64)
    by_caption: list[list[tuple[int, int, int, int, int]]] = []
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
        by_caption.append(matches)
        if progress is not None and (k + 1) % _STEP == 0:
            progress(k + 1, len(captions))
    flat = [match for matches in by_caption for match in matches]
    return Alignments(
        words,
        best,
        np.array([len(matches) for matches in by_caption], dtype=np.int64),
        np.array(flat, dtype=np.int64).reshape(-1, 5),
        top,
    )


def agree(ours: FloatArray, table: FloatArray) -> bool:
    """Return whether scores explained here are those of the table, where it has any."""
    known = ~np.isnan(table)
    return bool(np.allclose(ours[known], table[known], rtol=_NEAR, atol=_NEAR))


def add_explanations(
    payload: Payload,
    report: Report,
    texts: ItemTexts,
    most: int,
    progress: Progress | None = None,
) -> tuple[dict[str, object], list[str]]:
    """Add what lies behind the scores of captions, for those scores that can be explained.

    An explanation has to yield the score it explains: where the texts are not those that were
    scored, there is none.
    """
    if not len(texts.references) or not report.captions:
        return {}, []
    found = [score for name in report.table.metrics if (score := _explained(report, name))]
    explained = [*{score.what: score for score in reversed(found)}.values()][::-1]
    if not explained:
        return {}, []
    if len(texts.captions) > most:
        whose = " and ".join(f"{score.title}'s {score.what}" for score in explained)
        return {}, [
            f"{whose} are left out: there are {len(texts.captions):,} captions, more than {most:,}."
        ]
    tokenizer = explained[0].tokenizer
    tokens = tokenize(list(texts.raw), "ptb" if tokenizer == "ptb-coco" else tokenizer)
    page = _Page(payload, texts, tokens, tokenizer, progress)
    head: dict[str, object] = {}
    notes = []
    for score in explained:
        scores = report.table.matrix(score.name, report.table.systems, report.items)
        table = np.ascontiguousarray(scores.T).ravel()
        try:
            about = score.add(page, score.metric, table)
        except ReelscoreError as error:  # no parser, or a file of tuples that is gone
            notes.append(f"{score.title}: no {score.what} are shown. {error}")
            continue
        if about is None:
            notes.append(_OTHERS.format(metric=score.title, what=score.what))
        else:
            head[score.what] = {"score": score.title, **about}
    return head, notes


def reads_sentences(signature: str) -> bool:
    """Return whether a score was made sentence by sentence, or by events.

    >>> reads_sentences("meteor|sentences:precision"), reads_sentences("meteor")
    (True, False)
    """
    by_sentence = "|sentences:" in signature and "|sentences:whole" not in signature
    return by_sentence or signature.startswith("events|")


def _explained(report: Report, name: str) -> _Explained | None:
    """Rebuild a metric of the table, and the tokenizer it was given, from the signature."""
    own = name.partition("|")[0]
    for row in report.table.results.values():
        signature = row[name].signature if name in row else ""
        by_sentence = reads_sentences(signature)
        kind = _KINDS.get("sentences" if by_sentence else f"reelscore.metrics.{own}")
        if kind is not None and signature.startswith(f"{own}|"):
            if made := rebuilt(signature):
                title = report.table.labels[name] if by_sentence else kind[0]
                return _Explained(name, *made, title, *kind[1:])
            return None
    return None


def _add_alignments(page: _Page, metric: Metric, table: FloatArray) -> dict[str, object] | None:
    payload, texts, tokens, _, progress = page
    many = np.diff(texts.offsets)[texts.items]
    offsets = np.concatenate([[0], np.cumsum(many)])
    inside = np.arange(offsets[-1]) - np.repeat(offsets[:-1], many)
    references = texts.references[np.repeat(texts.offsets[texts.items], many) + inside]
    aligned = align_all(
        cast("Meteor", metric), tokens, texts.captions, offsets, references, progress=progress
    )
    if not agree(aligned.scores, table):
        return None
    first = texts.captions - np.tile(np.arange(texts.systems), len(texts.offsets) - 1)
    best = np.where(aligned.best < 0, 0, aligned.best - first - texts.systems + 1)
    payload.texts("alignment words", _differing(aligned.words, texts.raw))
    payload.numbers("alignment best", best, "u2")  # 1 for the item's first reference, 0 for none
    payload.numbers("alignment counts", aligned.counts, "u2")
    for k, name in enumerate(("start", "length", "reference start", "reference length", "kind")):
        payload.numbers(f"alignment {name}", aligned.matches[:, k], "u2")
    return {"kinds": _MODULES}


def _add_ngrams(page: _Page, metric: Metric, table: FloatArray) -> dict[str, object] | None:
    from reelscore.metrics.cider import Cider
    from reelscore.report.html.ngrams import cider_shares

    assert isinstance(metric, Cider)
    payload, texts, tokens, *_ = page
    shares = cider_shares(
        metric, tokens, texts.captions, texts.items, texts.offsets, texts.references
    )
    captions = len(texts.captions)
    if not agree(shares.totals(captions), table):
        return None
    kept = np.flatnonzero(shares.share >= _SMALLEST)
    kept = kept[np.lexsort((-shares.share[kept], shares.caption[kept]))]
    payload.texts("n-gram tokens", _differing(tokens, texts.raw))
    payload.numbers("n-gram counts", np.bincount(shares.caption[kept], minlength=captions), "u2")
    payload.numbers("n-gram start", shares.start[kept], "u2")
    payload.numbers("n-gram order", shares.order[kept], "u1")
    payload.numbers("n-gram share", np.round(shares.share[kept] * 1000), "u2")  # thousandths
    return {}


def _add_tuples(page: _Page, metric: Metric, table: FloatArray) -> dict[str, object] | None:
    payload, texts, tokens, *_ = page
    candidates, references = (
        Captions(pack([tokens[k] for k in own]), raw=pack([texts.raw[k] for k in own]))
        for own in (texts.captions.tolist(), texts.references.tolist())
    )
    pairing = Pairing(texts.items, texts.offsets)
    batch = CaptionBatch(candidates, references, pairing, thread_count(None))
    comparisons = cast("Spice", metric).comparisons(batch)
    if not agree(np.array([each.score.f for each in comparisons]), table):
        return None
    of_items = [comparisons[k].references for k in range(0, len(comparisons), texts.systems)]
    payload.texts("tuples", [_tuple_line(each.candidate) for each in comparisons])
    payload.texts("reference tuples", [_tuple_line(each) for each in of_items])
    # 1 for the first of the item's reference tuples, 0 for none
    places = [0 if place is None else place + 1 for each in comparisons for place in each.matches]
    payload.numbers("tuple counts", [len(each.candidate) for each in comparisons], "u2")
    payload.numbers("tuple matches", places, "u2")
    return {}


def _add_sentences(page: _Page, metric: Metric, table: FloatArray) -> dict[str, object] | None:
    from reelscore.metrics.sentences import ReadsSentences
    from reelscore.report.sentences import sentence_matches

    assert isinstance(metric, ReadsSentences)
    payload, texts, *_, progress = page
    long: list[int] = []
    captions: list[str] = []
    references: list[list[str]] = []
    for k, (caption, item) in enumerate(
        zip(texts.captions.tolist(), texts.items.tolist(), strict=True)
    ):
        own = texts.references[texts.offsets[item] : texts.offsets[item + 1]]
        beside = [texts.raw[number] for number in own.tolist()]
        if beside and not np.isnan(table[k]) and metric.divides(texts.raw[caption], beside):
            long.append(k)
            captions.append(texts.raw[caption])
            references.append(beside)
    found = [*sentence_matches(metric, page.tokenizer, captions, references, progress)]
    if not agree(np.array([each.score for each in found]), table[long]):
        return None
    told, asked = ([""] * len(table) for _ in range(2))
    for k, each in zip(long, found, strict=True):
        told[k] = _match_line(each.told)
        asked[k] = f"{each.reference + 1}\t{_match_line(each.asked)}"
    if long:
        payload.texts("sentences told", told)
        payload.texts("sentences asked", asked)
    return {"borneOut": metric.borne_out, "part": metric.part, "beside": metric.beside}


def _match_line(matches: Sequence[SentenceMatch]) -> str:
    r"""Return matches as a line: tabs between them, vertical tabs between their parts."""
    return "\t".join(
        f"{legible(' '.join(each.text.split()))}\v{legible(' '.join(each.match.split()))}"
        f"\v{each.score:.3f}"
        for each in matches
    )


def _tuple_line(tuples: Sequence[Sequence[str]]) -> str:
    r"""Return tuples as a line: tabs between tuples, vertical tabs between their words."""
    return "\t".join("\v".join(legible(" ".join(w.split())) for w in each) for each in tuples)


# What can be explained, by the module of the metric, which only its scores need: what pages call it
# and the explanation.
_KINDS = {
    "reelscore.metrics.meteor": ("METEOR", "alignments", _add_alignments),
    "reelscore.metrics.cider": ("CIDEr", "n-grams", _add_ngrams),
    "reelscore.metrics.spice": ("SPICE", "tuples", _add_tuples),
    "sentences": ("", "sentences", _add_sentences),
}


def _differing(words: Sequence[str], raw: Sequence[str]) -> list[str]:
    """Return words, without those that the page finds itself: lower case, no punctuation."""
    return [
        "" if text.isascii() and words == _plain(text) else legible(words)
        for words, text in zip(words, raw, strict=True)
    ]


def _plain(text: str) -> str:
    """Return plain words as ``plainWords`` of the page's scripts does."""
    return " ".join(text.lower().translate(_PUNCTUATION).split())
