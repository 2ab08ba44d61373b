"""CIDEr: similarity to the references in n-grams weighted by tf-idf (Vedantam et al., 2015).

Scale 0–10, higher is better. What the COCO tools call CIDEr, and what nearly every paper prints,
is CIDEr-D: n-gram counts are clipped and a Gaussian of the difference in length is applied. That
is the default here, equal to pycocoevalcap 1.2 within 1e-12. ``variant=plain`` gives CIDEr without
clipping and length penalty.

Document frequencies come from the references of the items that are scored: with a single item
every weight is log(1) = 0 and so is the score; with few items the score says little. A file of
frequencies (`write_frequencies`) fixes them, so that small sets, or sets of
different size, can be compared.
"""

from __future__ import annotations

import math
from array import array
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar, Literal, get_args

import msgspec
from msgspec.structs import replace

from reelscore import _native
from reelscore._lazy import np
from reelscore._native import Rows
from reelscore._records import resolved
from reelscore.data.atomic_files import write_atomically
from reelscore.data.captions.inputs import references_by_item
from reelscore.data.captions.paired_captions import lone_references
from reelscore.data.captions.python_captions import CaptionsLike
from reelscore.data.tables.scales import Scale
from reelscore.errors import DataError, check_choice
from reelscore.metrics.base import FloatArray, Metric, check_range, core_scores
from reelscore.text.tokens import Tokenizer, tokenize_packed
from reelscore.text.words import CaptionBatch, Captions, Integers, pack

if TYPE_CHECKING:
    from numpy.typing import NDArray


Variant = Literal["d", "plain"]


class Counted(msgspec.Struct, frozen=True):
    """In how many documents n-grams stand, of how many."""

    frequencies: _native.DocumentFrequencies
    documents: int

    def prepare(self, references: Captions) -> CiderReferences:
        """Prepare a part of the references, which must share the vocabulary of those counted."""
        log_documents = _log_documents(self.documents)
        norms = _native.cider_norms(references.words, self.frequencies, log_documents, 1)
        return CiderReferences(self.frequencies, log_documents, norms)


class CiderReferences(msgspec.Struct, frozen=True):
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

    def prepare(self, references: Captions, reference_offsets: Integers) -> CiderReferences:
        """Count in how many items' references each n-gram stands, or read it from the file."""
        table = _native.DocumentFrequencies(self.n)
        words = references.words
        if self.frequencies is None:
            log_documents = _log_documents(len(reference_offsets) - 1)
            norms = table.count_repeated(words, reference_offsets, log_documents)
        else:
            stored = read_frequencies(self.frequencies)
            ngrams = Captions(pack(list(stored.frequencies)), references.vocabulary).words
            log_documents = _log_documents(stored.documents)
            table.add_ngrams(words)
            table.set(ngrams, array("d", stored.frequencies.values()))
            norms = _native.cider_norms(words, table, log_documents, 1)
        return CiderReferences(table, log_documents, norms)

    def gather(self, references: Captions, reference_offsets: Integers) -> Counted | None:
        """Count in how many of the items' references each n-gram stands."""
        if self.frequencies is not None:
            return None
        table = _native.DocumentFrequencies(self.n)
        table.count(references.words, reference_offsets)
        return Counted(table, len(reference_offsets) - 1)

    def statistics(self, batch: CaptionBatch, prepared: CiderReferences) -> Rows:
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


class FrequencyFile(msgspec.Struct):
    """Document frequencies as stored: JSON with these two fields."""

    documents: int
    frequencies: dict[str, float]


def read_frequencies(path: str | Path) -> FrequencyFile:
    """Read document frequencies from JSON: ``{"documents": 2, "frequencies": {"a man": 1}}``."""
    try:
        stored = msgspec.json.decode(Path(path).read_bytes(), type=resolved(FrequencyFile))
    except OSError as error:
        raise DataError(f"{path}: cannot be read ({error.strerror}).") from error
    except msgspec.DecodeError as error:
        raise DataError(
            f"{path}: not a file of document frequencies: {error}. "
            "Expected JSON with 'documents' and 'frequencies', as write_frequencies makes it."
        ) from error
    return stored


def write_frequencies(
    path: str | Path,
    references: CaptionsLike,
    *,
    n: int = 4,
    tokenizer: Tokenizer = "ptb",
) -> None:
    """Count in how many items' references each n-gram stands, and store it for `Cider`.

    Args:
        path: The JSON file to write.
        references: The references of each item, in any form of `reelscore.score` that has ids.
        n: The longest n-grams to count, in words.
        tokenizer: As in `reelscore.score`.

    >>> import tempfile
    >>> path = Path(tempfile.mkdtemp()) / "df.json"
    >>> write_frequencies(path, {"v1": ["a man", "a boy"], "v2": ["a dog"]}, n=1)
    >>> read_frequencies(path).frequencies
    {'a': 2.0, 'man': 1.0, 'boy': 1.0, 'dog': 1.0}
    """
    counts: dict[str, float] = {}
    checked = lone_references(references_by_item(references), empty="zero")
    tokenized = tokenize_packed(pack(checked.references), tokenizer).unpack()
    for begin, end in pairwise(checked.reference_offsets):
        tokens = [text.split() for text in tokenized[begin:end]]
        # a dict, not a set: the order of the file must not depend on string hashing
        ngrams = dict.fromkeys(
            " ".join(words[k : k + order])
            for words in tokens
            for order in range(1, n + 1)
            for k in range(len(words) - order + 1)
        )
        for ngram in ngrams:
            counts[ngram] = counts.get(ngram, 0.0) + 1.0
    stored = FrequencyFile(documents=len(checked), frequencies=counts)
    write_atomically(path, msgspec.json.encode(stored).decode())
