"""CIDEr: similarity to the references in n-grams weighted by tf-idf (Vedantam et al., 2015).

Scale 0–10, higher is better. What the COCO tools call CIDEr, and what nearly every paper prints,
is CIDEr-D: n-gram counts are clipped and a Gaussian of the difference in length is applied. That
is the default here, equal to pycocoevalcap 1.2 within 1e-12. ``variant=plain`` gives CIDEr without
clipping and length penalty.

Document frequencies come from the references of the items that are scored: with a single item
every weight is log(1) = 0 and so is the score; with few items the score says little. A file of
frequencies (`reelscore.metrics.document_frequencies`) fixes them, so that small sets, or sets of
different size, can be compared.
"""

from __future__ import annotations

import math
from array import array
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, ClassVar, Literal, get_args

import msgspec
from msgspec.structs import replace

from reelscore import _native
from reelscore._lazy import np
from reelscore._native import Rows
from reelscore.data.tables.scales import Scale
from reelscore.errors import check_choice
from reelscore.metrics.base import FloatArray, Metric, check_range, core_scores
from reelscore.text.words import CaptionBatch, Captions, Integers, pack

if TYPE_CHECKING:
    from numpy.typing import NDArray

Variant = Literal["d", "plain"]


class Counted(msgspec.Struct, frozen=True):
    """In how many documents n-grams stand, of how many."""

    frequencies: _native.DocumentFrequencies
    documents: int

    def prepare(self, references: Captions) -> Prepared:
        """Prepare a part of the references, which must share the vocabulary of those counted."""
        log_documents = _log_documents(self.documents)
        norms = _native.cider_norms(references.words, self.frequencies, log_documents, 1)
        return Prepared(self.frequencies, log_documents, norms)


class Prepared(msgspec.Struct, frozen=True):
    """Frequencies of the n-grams, and what follows from them for the references."""

    frequencies: _native.DocumentFrequencies
    log_documents: float
    reference_norms: Rows


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
    core: ClassVar[bool] = True
    output_scale: ClassVar[Scale] = Scale("high", 0, 10, mean=True, headline=True, percent=True)

    def __post_init__(self) -> None:
        check_range(self, "n", 1, 9)
        check_range(self, "sigma", 1e-3, 1e6)
        check_choice("variant of cider", self.variant, get_args(Variant))

    @property
    def output_scales(self) -> tuple[Scale, ...]:
        """CIDEr-D goes by the name that papers give it, and plain CIDEr says what it is."""
        label = "CIDEr" if self.variant == "d" else f"CIDEr ({self.variant})"
        return (replace(self.output_scale, label=label),)

    def files(self) -> dict[str, str]:
        """The file of document frequencies, where one is given."""
        return {} if self.frequencies is None else {"frequencies": self.frequencies}

    @property
    def weighs_all_references(self) -> bool:
        """Unless a file says how frequent n-grams are."""
        return self.frequencies is None

    def prepare(self, references: Captions, reference_offsets: Integers) -> Prepared:
        """Count in how many items' references each n-gram stands, or read it from the file."""
        table = _native.DocumentFrequencies(self.n)
        words = references.words
        if self.frequencies is None:
            log_documents = _log_documents(len(reference_offsets) - 1)
            norms = table.count_repeated(words, reference_offsets, log_documents)
        else:
            from reelscore.metrics.document_frequencies import read_frequencies

            stored = read_frequencies(self.frequencies)
            ngrams = Captions(pack(list(stored.frequencies)), references.vocabulary).words
            log_documents = _log_documents(stored.documents)
            table.add_ngrams(words)
            table.set(ngrams, array("d", stored.frequencies.values()))
            norms = _native.cider_norms(words, table, log_documents, 1)
        return Prepared(table, log_documents, norms)

    def gather(self, references: Captions, reference_offsets: Integers) -> Counted | None:
        """Count in how many of the items' references each n-gram stands."""
        if self.frequencies is not None:
            return None
        table = _native.DocumentFrequencies(self.n)
        table.count(references.words, reference_offsets)
        return Counted(table, len(reference_offsets) - 1)

    def statistics(self, batch: CaptionBatch, prepared: Prepared) -> Rows:
        """Similarity for each order, averaged over the references, and 1."""
        return _native.cider_statistics(
            batch.candidates.words,
            batch.references.words,
            prepared.reference_norms,
            batch.pairing,
            prepared.frequencies,
            prepared.log_documents,
            *self._variant_parameters(),
            batch.threads,
        )

    def group_sums(
        self,
        texts: Captions,
        candidates: NDArray[np.int64],
        references: NDArray[np.int64],
        group_offsets: NDArray[np.int64],
        threads: int = 1,
    ) -> FloatArray:
        """Sum the statistics of groups of pairs, each group's frequencies from its pairs alone.

        >>> import numpy as np
        >>> from reelscore.text.words import pack
        >>> texts = Captions(pack(["a man", "a dog", "a cat"]))
        >>> pairs = np.array([0, 1]), np.array([0, 2]), np.array([0, 2])
        >>> Cider(n=1).group_sums(texts, *pairs).tolist()
        [[1.0, 2.0]]
        """
        sums = _native.cider_group_sums(
            texts.words,
            candidates,
            references,
            group_offsets,
            self.n,
            *self._variant_parameters(),
            threads,
        )
        return np.column_stack([sums, np.diff(group_offsets)])

    def _variant_parameters(self) -> tuple[float, bool]:
        """Width of the length penalty, 0 for none, and whether counts are clipped."""
        return (self.sigma, True) if self.variant == "d" else (0.0, False)

    def scores(self, totals: Any) -> Any:
        """Ten times the mean over orders and items."""
        return core_scores(_native.mean_scores, totals, 10.0)


def _log_documents(documents: int) -> float:
    return math.log(max(1, documents))
