"""Why CIDEr scores a caption as it does: the share of each n-gram in the score.

CIDEr is a sum over the n-grams that a caption has in common with its references, so each of them
has a share, and the shares of a caption add up to its score.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from reelscore.metrics.cider import Cider, read_frequencies
from reelscore.text.words import Captions, pack

IntArray = NDArray[np.int64]
FloatArray = NDArray[np.float64]
Keys = NDArray[np.uint64]

_ODD = np.uint64(0x9E3779B97F4A7C15)
_MIX = np.uint64(0xBF58476D1CE4E5B9)
_TEXT = np.uint64(0x94D049BB133111EB)  # another factor, so that texts and words are not confused


class Shares(NamedTuple):
    """The n-grams of captions that count, with their shares of the score."""

    caption: IntArray  # which caption
    start: IntArray  # where the n-gram first stands in it, in words
    order: IntArray  # how many words it has
    share: FloatArray  # what it adds to the caption's CIDEr

    def totals(self, captions: int) -> FloatArray:
        """Sum the shares of each caption: its CIDEr."""
        return np.bincount(self.caption, self.share, captions).astype(np.float64)


class _Grams(NamedTuple):
    """The different n-grams of each text, one order."""

    text: IntArray
    start: IntArray
    key: Keys
    times: FloatArray

    def take(self, places: IntArray | NDArray[np.bool_]) -> _Grams:
        """Return some of them."""
        return _Grams(self.text[places], self.start[places], self.key[places], self.times[places])


def cider_shares(
    metric: Cider,
    texts: Sequence[str],
    captions: IntArray,
    items: IntArray,
    offsets: IntArray,
    references: IntArray,
) -> Shares:
    """Find what each n-gram adds to the CIDEr of its caption."""
    words = Captions(pack(list(texts)))
    ids, bounds = words.words.ids, words.words.offsets
    owner = np.repeat(np.arange(len(offsets) - 1), np.diff(offsets))  # the item of each reference
    frequencies, documents = _stored(metric, words) if metric.frequencies else ({}, 0)
    log_documents = np.log(max(1, documents or len(offsets) - 1))
    lengths = np.maximum(np.diff(bounds) - 1, 0)  # in bigrams, as the COCO tools have it
    per_caption = np.diff(offsets)[items]
    by_order = []
    for n in range(1, metric.n + 1):
        grams = _grams(ids.astype(np.uint64), bounds, n)
        ours, theirs = _of(grams, captions), _of(grams, references)
        if metric.frequencies:
            known, count = frequencies[n]
        else:
            known, count = _document_counts(theirs, owner)
        weight = [
            each.times * (log_documents - np.log(np.maximum(1.0, _look_up(each.key, known, count))))
            for each in (ours, theirs)
        ]
        norms = [
            np.sqrt(np.bincount(each.text, w * w, size))
            for each, w, size in zip(
                (ours, theirs), weight, (len(captions), len(references)), strict=True
            )
        ]
        # each n-gram that some reference of the item has, beside each of these references
        shared, _ = _find(
            _joined(items[ours.text], ours.key), _joined(owner[theirs.text], theirs.key)
        )
        ours = ours.take(shared)
        weight[0] = weight[0][shared]
        many = per_caption[ours.text]
        gram = np.repeat(np.arange(len(many)), many)
        first = np.concatenate([[0], np.cumsum(many)])[:-1]
        reference = offsets[items[ours.text]][gram] + np.arange(len(gram)) - first[gram]
        own, others = weight[0][gram], np.zeros(len(gram))
        pair, place = _find(_joined(reference, ours.key[gram]), _joined(theirs.text, theirs.key))
        others[pair] = weight[1][place]
        common = np.minimum(own, others) if metric.variant == "d" else own
        sizes = norms[0][ours.text[gram]] * norms[1][reference]
        value = np.divide(common * others, sizes, out=np.zeros(len(gram)), where=sizes > 0)
        if metric.variant == "d":
            apart = lengths[captions[ours.text[gram]]] - lengths[references[reference]]
            value *= np.exp(-(apart.astype(float) ** 2) / (2 * metric.sigma**2))
        share = np.bincount(gram, value, len(many)) * 10 / (metric.n * np.maximum(many, 1))
        counts = share > 0
        by_order.append((ours.text[counts], ours.start[counts], n, share[counts]))
    return Shares(
        np.concatenate([text for text, *_ in by_order]),
        np.concatenate([start for _, start, *_ in by_order]),
        np.repeat([n for _, _, n, _ in by_order], [len(text) for text, *_ in by_order]),
        np.concatenate([share for *_, share in by_order]),
    )


def _mixed(key: Keys) -> Keys:
    """Spread numbers over all 64 bits, so that different ones hardly ever meet."""
    with np.errstate(over="ignore"):
        key = (key ^ (key >> np.uint64(30))) * _MIX
        mixed: Keys = key ^ (key >> np.uint64(27))
    return mixed


def _joined(text: IntArray, key: Keys) -> Keys:
    with np.errstate(over="ignore"):
        return _mixed(key + _mixed((text.astype(np.uint64) + np.uint64(1)) * _TEXT))


def _grams(ids: Keys, bounds: IntArray, n: int) -> _Grams:
    counts = np.maximum(np.diff(bounds) - n + 1, 0)
    text = np.repeat(np.arange(len(counts)), counts)
    first = np.concatenate([[0], np.cumsum(counts)])[:-1]
    start = np.arange(len(text)) - first[text]
    place = bounds[:-1][text] + start
    key = np.zeros(len(text), dtype=np.uint64)
    with np.errstate(over="ignore"):
        for k in range(n):
            key = _mixed((key + ids[place + k] + np.uint64(1)) * _ODD)
    _, chosen, many = np.unique(_joined(text, key), return_index=True, return_counts=True)
    return _Grams(text[chosen], start[chosen], key[chosen], many.astype(np.float64))


def _of(grams: _Grams, texts: IntArray) -> _Grams:
    """Return the n-grams of some texts, whose numbers become those in the list given."""
    place = np.full(int(max(grams.text.max(initial=-1), texts.max(initial=-1))) + 1, -1)
    place[texts] = np.arange(len(texts))
    kept = grams.take(place[grams.text] >= 0)
    return kept._replace(text=place[kept.text])


def _document_counts(references: _Grams, owner: IntArray) -> tuple[Keys, FloatArray]:
    _, one = np.unique(_joined(owner[references.text], references.key), return_index=True)
    known, count = np.unique(references.key[one], return_counts=True)
    return known, count.astype(np.float64)


def _stored(metric: Cider, words: Captions) -> tuple[dict[int, tuple[Keys, FloatArray]], int]:
    """Document frequencies from a file, by order."""
    assert metric.frequencies is not None
    stored = read_frequencies(metric.frequencies)
    ngrams = Captions(pack(list(stored.frequencies)), words.vocabulary).words
    ids, bounds = ngrams.ids, ngrams.offsets
    counts = np.fromiter(stored.frequencies.values(), np.float64)
    by_order = {}
    for n in range(1, metric.n + 1):
        whole = np.diff(bounds) == n
        grams = _grams(ids.astype(np.uint64), bounds, n)
        kept = grams.take(whole[grams.text])
        by_order[n] = (kept.key, counts[kept.text])
    return by_order, stored.documents


def _look_up(keys: Keys, known: Keys, values: FloatArray) -> FloatArray:
    looked_up = np.zeros(len(keys))
    pair, place = _find(keys, known)
    looked_up[pair] = values[place]
    return looked_up


def _find(keys: Keys, known: Keys) -> tuple[IntArray, IntArray]:
    """Return which keys are known, and where they stand."""
    order = np.argsort(known)
    if not len(order):
        return np.zeros(0, dtype=np.int64), np.zeros(0, dtype=np.int64)
    ordered = known[order]
    place = np.searchsorted(ordered, keys)
    place[place == len(known)] = 0
    there = np.flatnonzero(ordered[place] == keys)
    return there, order[place[there]]
