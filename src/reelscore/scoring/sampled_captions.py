"""Several candidates an item: how good they are on average, at best, and how they differ.

A model that samples gives an item ten captions, say. Each is scored against the item's references:
the mean, the best of an item (an *oracle*: whoever chooses it has seen the references) and the
spread within an item, a standard deviation, are what papers on diverse captioning report. Beside
them stand measures of the candidates alone:

- ``div_1`` and ``div_2`` (Shetty et al., 2017): different words, and pairs of words, over the words
  of an item's candidates;
- ``mbleu_4``: BLEU-4 of each candidate against the item's others; lower is more diverse;
- ``self_cider`` (Wang and Chan, 2019): 0 where all candidates are alike, 1 where they share
  nothing. It comes from the singular values of the candidates' TF-IDF vectors of n-grams, weighed
  by the references of the data set as CIDEr weighs them.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from itertools import chain

import numpy as np
from msgspec.structs import replace

from reelscore.data.captions.caption_files import References, is_in_order, references_of_files
from reelscore.data.captions.inputs import check_order, paths_in, references_by_item, systems_of
from reelscore.data.captions.item_ids import ORDER, matched, rule_hint, rule_note, rule_part
from reelscore.data.captions.paired_captions import Empty, lone_references
from reelscore.data.captions.python_captions import CaptionsLike, python_captions
from reelscore.data.checks import counted, first_few
from reelscore.data.reading import Reading
from reelscore.data.tables.scales import Scale
from reelscore.data.tables.table import ItemIndex, ItemScores, MetricResult, ScoreTable
from reelscore.errors import DataError, about_system
from reelscore.metrics.base import FloatArray, Metric, signature_text
from reelscore.metrics.bleu import Bleu
from reelscore.metrics.registry import DEFAULT_METRICS, table_columns
from reelscore.scoring.captions import Metrics
from reelscore.scoring.prepared import PreparedReferences, span
from reelscore.text.tokens import Tokenizer, tokenize

Samples = Mapping[str, Sequence[str]]  # the candidates of each item
Words = Sequence[Sequence[str]]  # of each candidate of an item
Grams = Counter[tuple[str, ...]]

_SHARE = Scale("high", 0, 1, mean=True)
_DIVERSITY = {
    "div_1": replace(_SHARE, label="Div-1", percent=True),
    "div_2": replace(_SHARE, label="Div-2", percent=True),
    "mbleu_4": Scale("low", 0, 1, mean=False, label="mBLEU-4", percent=True),
    "self_cider": replace(_SHARE, label="Self-CIDEr"),
}
_ORDERS = (1, 2, 3, 4)


def score_samples(
    systems: Mapping[str, CaptionsLike],
    references: CaptionsLike,
    metrics: Metrics = DEFAULT_METRICS,
    *,
    tokenizer: Tokenizer = "ptb",
    empty: Empty = "error",
    match_ids: str | None = None,
    threads: int | None = None,
    reading: Reading | None = None,
) -> ScoreTable:
    """Score systems that give several candidates an item.

    Args:
        systems: The candidates of each system: files, or captions in any form in which references
            may be given; every item of the references with as many as there are.
        references: The references, as in `reelscore.score`.
        metrics: Metrics that score captions one by one.
        tokenizer, empty, match_ids, threads: As in `reelscore.score`.
        reading: How to read the files.

    Returns:
        A table with three scores for each of the metrics': the mean under its own name, and
        ``…_best`` and ``…_spread``; and the measures of diversity. Signatures say how many
        candidates the items have.

    Raises:
        DataError: If items differ, or an item has one candidate alone.

    >>> samples = {"v1": ["a man runs", "a man sits", "a dog"], "v2": ["a cat", "a cat", "a cat"]}
    >>> table = score_samples({"ours": samples}, {"v1": ["a man runs"], "v2": ["a dog"]}, "rouge_l")
    >>> {name: round(result.score, 3) for name, result in table["ours"].items()}
    {'rouge_l': 0.592, 'rouge_l_best': 0.75, 'rouge_l_spread': 0.125,
     'div_1': 0.479, 'div_2': 0.333, 'mbleu_4': 0.0, 'self_cider': 0.401}
    """
    columns = table_columns(metrics)
    if together := [each.metric.name for each in columns if not each.metric.independent]:
        raise DataError(f"{together[0]} looks at all captions together; leave it out.")
    truth, truth_is_ordered = _captions_of(references, reading, "references")
    paired = lone_references(truth, empty=empty, tokenized=tokenizer == "none")
    prepared = PreparedReferences(paired, columns, tokenizer, threads, "error", empty)
    frequencies = _document_frequencies(truth, tokenizer, threads)
    rows = {}
    for name, given in systems_of(systems).items():
        with about_system(name):
            samples, is_ordered = _captions_of(given, reading, "candidates")
            if match_ids != ORDER:
                check_order("", samples, truth, is_ordered, truth_is_ordered)
            samples = matched(match_ids, samples, truth)
            _check_items(samples, truth, match_ids)
            samples = {item: samples[item] for item in truth}
            lone_references(samples, empty=empty, tokenized=tokenizer == "none")
            rows[name] = {
                result.metric: result
                for result in (
                    *_scored(samples, prepared, match_ids),
                    *_diversity(samples, frequencies, tokenizer, threads),
                )
            }
    note = (
        "best: an item's best candidate, an oracle; spread: the standard deviation of its scores."
    )
    return ScoreTable(rows, [*rule_note(match_ids), note])


def _captions_of(given: CaptionsLike, reading: Reading | None, name: str) -> tuple[Samples, bool]:
    """Read several captions an item, and tell whether files have an order in place of ids."""
    if paths := paths_in(given, texts=True):
        captions, files = references_of_files(paths, reading, of_systems=name == "candidates")
        return captions, any(map(is_in_order, files))
    if name == "references":
        return references_by_item(given), False
    return python_captions(given, name).references(), False


def _check_items(samples: Samples, truth: References, match_ids: str | None) -> None:
    missing = [item for item in truth if item not in samples]
    extra = [item for item in samples if item not in truth]
    if missing or extra:
        odd, what = (missing, "candidates") if missing else (extra, "references")
        raise DataError(
            f"{counted(len(odd), 'item has', 'items have')} no {what} ({first_few(odd)})."
            f"{'' if match_ids else rule_hint(extra, missing)}"
        )
    if lone := [item for item, texts in samples.items() if len(texts) < 2]:
        raise DataError(
            f"{counted(len(lone), 'item has', 'items have')} one candidate alone "
            f"({first_few(lone)}); expected several. "
            "Score single candidates without --samples."
        )


def _scored(
    samples: Samples, prepared: PreparedReferences, match_ids: str | None
) -> Iterable[MetricResult]:
    """Yield mean, best and spread of each score."""
    counts = [len(texts) for texts in samples.values()]
    begins = np.cumsum([0, *counts])[:-1]
    numbers = np.repeat(np.arange(len(counts), dtype=np.int64), counts)
    measured = prepared.measure([text for texts in samples.values() for text in texts], numbers)
    for columns, rows in zip(prepared.columns, measured, strict=True):
        metric = columns.metric
        scores = metric.scores(rows)
        several = span(min(counts), max(counts))
        signature = prepared.signature(metric, candidates=several, **rule_part(match_ids))
        for k, (name, output) in enumerate(zip(columns.names, metric.outputs, strict=True)):
            if name not in columns.wanted:
                continue
            scale, own = metric.scale_of(output), scores[:, k]
            means = np.add.reduceat(own, begins) / counts
            squares = np.add.reduceat((own - means[numbers]) ** 2, begins) / counts
            best = [
                begin + int((scale.sign * own[begin : begin + count]).argmax())
                for begin, count in zip(begins, counts, strict=True)
            ]
            label = scale.label or name
            spreads = Scale("neither", 0, percent=scale.percent)
            kinds = {
                "": (means, _system(metric, rows, k, means), scale),
                "_best": (own[best], _system(metric, rows[best], k, own[best]), scale),
                "_spread": (np.sqrt(squares), float(np.sqrt(squares).mean()), spreads),
            }
            for kind, (values, score, of_kind) in kinds.items():
                yield MetricResult(
                    f"{name}{kind}",
                    score,
                    ItemScores(prepared.index, np.ascontiguousarray(values)),
                    signature,
                    scale=replace(of_kind, label=f"{label} {kind[1:]}".rstrip(), mean=scale.mean),
                )


def _system(metric: Metric, rows: FloatArray, k: int, items: FloatArray) -> float:
    """Score captions together: the mean of their items, or what is made of sums over captions."""
    is_mean = metric.scale_of(metric.outputs[k]).mean
    return float(items.mean() if is_mean else metric.aggregate(rows)[k])


# Diversity


def _diversity(
    samples: Samples, frequencies: Grams, tokenizer: Tokenizer, threads: int | None
) -> Iterable[MetricResult]:
    counts = [len(texts) for texts in samples.values()]
    words = _words([*samples.values()], tokenizer, threads)
    values = {
        "div_1": [_distinct(each, 1) for each in words],
        "div_2": [_distinct(each, 2) for each in words],
        "self_cider": [_self_cider(each, frequencies) for each in words],
    }
    index = ItemIndex(list(samples))
    several = span(min(counts), max(counts))
    for name, scale in _DIVERSITY.items():
        signature = signature_text(name, {"tok": tokenizer, "items": len(index.items)})
        if name in values:
            own = np.array(values[name])
            score = float(own.mean())
        else:
            score, own = _mutual_bleu(samples, words, threads)
        scores = ItemScores(index, own)
        yield MetricResult(name, score, scores, f"{signature}|candidates:{several}", scale=scale)


def _words(
    texts: Sequence[Sequence[str]], tokenizer: Tokenizer, threads: int | None
) -> list[Words]:
    """Divide the texts of each item into words."""
    tokens = iter(tokenize([*chain(*texts)], tokenizer, threads=threads))
    return [[next(tokens).split() for _ in of_item] for of_item in texts]


def _distinct(words: Words, order: int) -> float:
    """Different n-grams over words.

    >>> _distinct([["a", "man"], ["a", "dog"]], 1)
    0.75
    """
    total = sum(map(len, words))
    return len({gram for each in words for gram in _grams(each, order)}) / max(1, total)


def _mutual_bleu(
    samples: Samples, words: Sequence[Words], threads: int | None
) -> tuple[float, FloatArray]:
    """BLEU-4 of the first candidates against the others, of the second, …; the mean of these."""
    texts = [[" ".join(each) for each in item] for item in words]
    systems, items = [], np.zeros(len(texts))
    places = range(min(map(len, texts)))
    for place in places:
        pairs = zip(samples, texts, strict=True)
        others = {item: [*own[:place], *own[place + 1 :]] for item, own in pairs}
        paired = lone_references(others, empty="zero")
        columns = table_columns("bleu")
        prepared = PreparedReferences(paired, columns, "none", threads, "error", "zero")
        own_texts = [own[place] for own in texts]
        [rows] = prepared.measure(own_texts, np.arange(len(texts), dtype=np.int64))
        systems.append(float(Bleu().aggregate(rows)[3]))
        items += Bleu().scores(rows)[:, 3] / len(places)
    return float(np.mean(systems)), items


def _document_frequencies(truth: References, tokenizer: Tokenizer, threads: int | None) -> Grams:
    """In how many items' references each n-gram is; under the empty one, how many items."""
    counts: Grams = Counter({(): len(truth)})
    for words in _words([*truth.values()], tokenizer, threads):
        counts.update({gram for each in words for n in _ORDERS for gram in _grams(each, n)})
    return counts


def _grams(words: Sequence[str], order: int) -> list[tuple[str, ...]]:
    return [tuple(words[k : k + order]) for k in range(len(words) - order + 1)]


def _self_cider(words: Words, frequencies: Grams) -> float:
    """How far candidates are from saying the same."""
    kernel = np.zeros((len(words), len(words)))
    documents = math.log(max(2, frequencies[()]))
    for order in _ORDERS:
        vectors: list[dict[tuple[str, ...], float]] = []
        for each in words:
            grams = Counter(_grams(each, order))
            vector = {
                gram: count * (documents - math.log(max(1, frequencies[gram])))
                for gram, count in grams.items()
            }
            length = math.sqrt(sum(value**2 for value in vector.values()))
            vectors.append({gram: value / (length or 1.0) for gram, value in vector.items()})
        for i, one in enumerate(vectors):
            for j, other in enumerate(vectors):
                kernel[i, j] += sum(value * other.get(gram, 0.0) for gram, value in one.items())
    roots = np.sqrt(np.clip(np.linalg.eigvalsh(kernel / len(_ORDERS)), 0.0, None))
    if not roots.sum():
        return 0.0
    return max(0.0, float(-math.log(roots[-1] / roots.sum()) / math.log(len(words))))
