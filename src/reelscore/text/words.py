"""Captions as the metrics see them: packed strings, which cross into C++, and words as numbers."""

from __future__ import annotations

from array import array
from collections.abc import Iterable, Mapping, Sequence
from functools import cached_property
from hashlib import blake2b
from typing import TYPE_CHECKING, Any, TypeAlias

import msgspec
from msgspec.structs import replace

from reelscore import _native
from reelscore._native import Packed as Packed
from reelscore._native import Pairing as Pairing
from reelscore._native import Words as Words
from reelscore._progress import Progress
from reelscore.errors import DataError

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray


def pack(texts: Iterable[str] | Packed) -> Packed:
    """Pack strings; what is packed already stays as it is."""
    if isinstance(texts, Packed):
        return texts
    if isinstance(texts, str):
        raise DataError(f"Expected a list of captions, got one text ({texts[:40]!r}).")
    if isinstance(texts, Mapping) or hasattr(texts, "columns") or hasattr(texts, "num_rows"):
        raise DataError(
            f"Expected a list of captions, got a {type(texts).__name__}; give its texts alone, "
            "such as list(captions.values()) or frame['caption']."
        )
    texts = texts if isinstance(texts, list) else list(texts)
    try:
        return _native.pack(texts)
    except TypeError:
        odd = next(text for text in texts if not isinstance(text, str))
        raise DataError(f"A caption is {odd!r}; expected text.") from None
    except UnicodeEncodeError as error:
        raise DataError(
            f"A caption holds half a character (a lone surrogate): {error.object!r}."
        ) from None


def array_fingerprint(*parts: Any) -> str:
    """Eight hex digits that tell whether two results were made from the same data.

    >>> array_fingerprint(pack(["a man"])) == array_fingerprint(pack(["a man "]))
    False
    """
    digest = blake2b(digest_size=4)
    for part in parts:
        for values in part.memory() if isinstance(part, Packed) else [part]:
            digest.update(values)
    return digest.hexdigest()


Integers: TypeAlias = "array[int] | NDArray[np.int64]"
"""Integers of 64 bits in one piece of memory, as the core reads them."""


class Captions(msgspec.Struct, frozen=True, dict=True):
    """Tokenized captions; those to be compared share a vocabulary."""

    text: Packed
    vocabulary: _native.Vocabulary = msgspec.field(default_factory=_native.Vocabulary)
    raw: Packed | None = None
    taken: Taken | None = None
    tokenizer: str = "ptb"

    def take(self, numbers: NDArray[np.int64]) -> Captions:
        """Pick captions by number, in the order given; each is divided into words once."""
        raw = self.raw and self.raw.take(numbers)
        taken = Taken(self, numbers)
        return Captions(self.text.take(numbers), self.vocabulary, raw, taken, self.tokenizer)

    @property
    def original(self) -> Packed:
        """The captions as they were written; where nobody kept that, their tokens."""
        return self.text if self.raw is None else self.raw

    @property
    def size(self) -> int:
        """How many captions there are."""
        return self.text.size

    @cached_property
    def words(self) -> Words:
        """Words between any white space, as BLEU and CIDEr of the COCO tools split them."""
        if self.taken is not None:
            return self.taken.captions.words.take(self.taken.numbers)
        return _native.word_ids(self.text, False, self.vocabulary)

    @cached_property
    def blank_words(self) -> Words:
        """Words between single blanks, as ROUGE-L of the COCO tools splits them.

        The two differ in tokens that hold a no-break space ("1 1/2") and in empty captions.
        """
        if self.taken is not None:
            return self.taken.captions.blank_words.take(self.taken.numbers)
        if _native.plainly_spaced(self.text):
            return self.words
        return _native.word_ids(self.text, True, self.vocabulary)

    def slice(self, begin: int, end: int) -> Captions:
        """Some of the captions, without copying their text."""
        raw = self.raw and self.raw.slice(begin, end)
        return Captions(self.text.slice(begin, end), self.vocabulary, raw, None, self.tokenizer)


class Taken(msgspec.Struct, frozen=True):
    """Which captions were taken, and of which."""

    captions: Captions
    numbers: NDArray[np.int64]


class CaptionBatch(msgspec.Struct, frozen=True):
    """What a metric gets: candidates, and for each the references of its item."""

    candidates: Captions  # one caption each
    references: Captions  # the references of all items, in one list
    pairing: Pairing  # which references belong to which candidate
    threads: int = 1  # how many threads a kernel may use
    # the id of each item, for metrics that look at more than its captions; may be empty
    ids: Sequence[str] = ()
    # called by slow metrics with how many candidates are done, of how many
    progress: Progress | None = None

    @property
    def items(self) -> NDArray[np.int64]:
        """For each candidate, the number of its item."""
        return self.pairing.items

    @property
    def reference_offsets(self) -> NDArray[np.int64]:
        """Item i has the references from entry i up to entry i + 1."""
        return self.pairing.reference_offsets

    def slice(self, begin: int, end: int) -> CaptionBatch:
        """Some of the candidates, with all references at hand."""
        piece = self.candidates.slice(begin, end)
        return replace(self, candidates=piece, pairing=self.pairing.slice(begin, end))
