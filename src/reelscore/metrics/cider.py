"""CIDEr: similarity to the references in n-grams weighted by tf-idf (Vedantam et al., 2015).

Scale 0–10, higher is better. What the COCO tools call CIDEr, and what nearly every paper prints,
is CIDEr-D: n-gram counts are clipped and a Gaussian of the difference in length is applied. That
is the default here, equal to pycocoevalcap 1.2 within 1e-12. ``variant=plain`` gives CIDEr without
clipping and length penalty.

Document frequencies come from the references of the items that are scored: with a single item
every weight is log(1) = 0 and so is the score; with few items the score says little. A file made
by `reelscore.metrics.cider.write_frequencies` fixes them, so that small sets, or sets of
different size, can be compared.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import ClassVar, Literal, NamedTuple, get_args

import msgspec
import numpy as np
from numpy.typing import NDArray

from reelscore import _native
from reelscore.data.writing import write_atomically
from reelscore.errors import DataError, UnknownNameError
from reelscore.metrics.base import FloatArray, Metric, with_count
from reelscore.text.packed import pack
from reelscore.text.tokens import Tokenizer, tokenize_packed
from reelscore.text.words import CaptionBatch, Captions

Variant = Literal["d", "plain"]


class FrequencyFile(msgspec.Struct):
    """Document frequencies as stored: JSON with these two fields."""

    documents: int
    frequencies: dict[str, float]


class Prepared(NamedTuple):
    """Frequencies of the n-grams, and the logarithm of the number of documents."""

    frequencies: _native.DocumentFrequencies
    log_documents: float


@dataclass(frozen=True)
class Cider(Metric):
    """CIDEr-D (``variant="d"``, what the COCO tools call CIDEr) or plain CIDEr.

    Attributes:
        n: The highest n-gram order.
        sigma: Width of the length penalty, in words.
        variant: ``d`` or ``plain``.
        frequencies: A file of document frequencies; ``None`` counts them in the references.

    >>> from reelscore import score
    >>> results = score({"v1": "a man rides a horse", "v2": "a dog swims"},
    ...                 {"v1": ["a man rides a horse"], "v2": ["the cat sleeps"]},
    ...                 metrics=[Cider()])
    >>> round(results["cider"].score, 4)
    5.0
    """

    n: int = 4
    sigma: float = 6.0
    variant: Variant = "d"
    frequencies: str | None = None
    name: ClassVar[str] = "cider"

    def __post_init__(self) -> None:
        if not 1 <= self.n <= 9:
            raise DataError(f"cider: n is {self.n}; expected 1 to 9.")
        if self.sigma <= 0:
            raise DataError(f"cider: sigma is {self.sigma}; expected a positive number.")
        if self.variant not in get_args(Variant):
            raise UnknownNameError.of("variant of cider", self.variant, get_args(Variant))

    def prepare(self, references: Captions, reference_offsets: NDArray[np.int64]) -> Prepared:
        """Count in how many items' references each n-gram stands, or read it from the file."""
        counts = _native.DocumentFrequencies(self.n)
        if self.frequencies is None:
            counts.count(*references.words, reference_offsets)
            return Prepared(counts, math.log(max(1, len(reference_offsets) - 1)))
        stored = read_frequencies(self.frequencies)
        ngrams = Captions(pack(list(stored.frequencies)), references.vocabulary).words
        counts.set(*ngrams, np.fromiter(stored.frequencies.values(), np.float64))
        return Prepared(counts, math.log(max(1, stored.documents)))

    def statistics(self, batch: CaptionBatch, prepared: Prepared) -> FloatArray:
        """Similarity for each order, averaged over the references, and 1."""
        similarities = _native.cider_statistics(
            *batch.candidates.words,
            *batch.references.words,
            batch.items,
            batch.reference_offsets,
            prepared.frequencies,
            prepared.log_documents,
            self.sigma if self.variant == "d" else 0.0,
            self.variant == "d",
            batch.threads,
        )
        return with_count(*similarities.T)

    def scores(self, totals: FloatArray) -> FloatArray:
        """Ten times the mean over orders and items."""
        mean = totals[..., : self.n].mean(axis=-1, keepdims=True)
        scores: FloatArray = 10.0 * mean / totals[..., -1:]
        return scores


def read_frequencies(path: str | Path) -> FrequencyFile:
    """Read document frequencies from JSON: ``{"documents": 2, "frequencies": {"a man": 1}}``."""
    try:
        stored = msgspec.json.decode(Path(path).read_bytes(), type=FrequencyFile)
    except OSError as error:
        raise DataError(f"{path}: cannot be read ({error.strerror}).") from error
    except msgspec.DecodeError as error:
        raise DataError(
            f"{path}: not a file of document frequencies: {error}. "
            "Expected JSON with 'documents' and 'frequencies'; see reelscore.metrics.cider."
        ) from error
    return stored


def write_frequencies(
    path: str | Path,
    references: Mapping[str, Sequence[str]],
    *,
    n: int = 4,
    tokenizer: Tokenizer = "ptb",
) -> None:
    """Count in how many items' references each n-gram stands, and store it for `Cider`.

    >>> import tempfile
    >>> path = Path(tempfile.mkdtemp()) / "df.json"
    >>> write_frequencies(path, {"v1": ["a man", "a boy"], "v2": ["a dog"]}, n=1)
    >>> read_frequencies(path).frequencies
    {'a': 2.0, 'man': 1.0, 'boy': 1.0, 'dog': 1.0}
    """
    counts: dict[str, float] = {}
    for captions in references.values():
        tokens = [text.split() for text in tokenize_packed(pack(captions), tokenizer).unpack()]
        # a dict, not a set: the order of the file must not depend on string hashing
        ngrams = dict.fromkeys(
            " ".join(words[k : k + order])
            for words in tokens
            for order in range(1, n + 1)
            for k in range(len(words) - order + 1)
        )
        for ngram in ngrams:
            counts[ngram] = counts.get(ngram, 0.0) + 1.0
    stored = FrequencyFile(documents=len(references), frequencies=counts)
    write_atomically(path, msgspec.json.encode(stored).decode())
