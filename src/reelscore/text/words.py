"""Captions as the metrics see them: token strings, and words as numbers."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cached_property
from typing import NamedTuple

import msgspec
import numpy as np
from msgspec.structs import replace
from numpy.typing import NDArray

from reelscore import _native
from reelscore._progress import Progress
from reelscore.text.packed import Packed


class Words(NamedTuple):
    """Caption k consists of the words ``ids[offsets[k]:offsets[k + 1]]``."""

    ids: NDArray[np.uint32]
    offsets: NDArray[np.int64]

    def take(self, numbers: NDArray[np.int64]) -> Words:
        """Pick captions by number, in the order given."""
        size = self.ids.itemsize
        data, offsets = _native.take(self.ids.view(np.uint8), size * self.offsets, numbers)
        return Words(data.view(np.uint32), offsets // size)


class Captions(msgspec.Struct, frozen=True, dict=True):
    """Tokenized captions; those to be compared share a vocabulary.

    >>> from reelscore.text.packed import pack
    >>> captions = Captions(pack(["a man", "a dog"]))
    >>> captions.words.ids.tolist()
    [0, 1, 0, 2]
    """

    text: Packed
    vocabulary: _native.Vocabulary = msgspec.field(default_factory=_native.Vocabulary)
    raw: Packed | None = None
    taken: Taken | None = None

    def take(self, numbers: NDArray[np.int64]) -> Captions:
        """Pick captions by number, in the order given; each is divided into words once.

        >>> import numpy as np
        >>> from reelscore.text.packed import pack
        >>> captions = Captions(pack(["a man", "a dog"])).take(np.array([1, 1, 0]))
        >>> captions.text.unpack(), captions.words.ids.tolist()
        (['a dog', 'a dog', 'a man'], [0, 2, 0, 2, 0, 1])
        """
        return Captions(self.text.take(numbers), self.vocabulary, taken=Taken(self, numbers))

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
        return Words(*_native.word_ids(*self.text, False, self.vocabulary))

    @cached_property
    def blank_words(self) -> Words:
        """Words between single blanks, as ROUGE-L of the COCO tools splits them.

        The two differ in tokens that hold a no-break space ("1 1/2") and in empty captions.
        """
        if self.taken is not None:
            return self.taken.captions.blank_words.take(self.taken.numbers)
        if _native.plainly_spaced(*self.text):
            return self.words
        return Words(*_native.word_ids(*self.text, True, self.vocabulary))

    def slice(self, begin: int, end: int) -> Captions:
        """Some of the captions, without copying their text."""
        piece = Packed(self.text.data, self.text.offsets[begin : end + 1])
        raw = self.raw and Packed(self.raw.data, self.raw.offsets[begin : end + 1])
        return Captions(piece, self.vocabulary, raw)


class Taken(NamedTuple):
    """Which captions were taken, and of which."""

    captions: Captions
    numbers: NDArray[np.int64]


class CaptionBatch(msgspec.Struct, frozen=True):
    """What a metric gets: candidates, and for each the references of its item.

    Attributes:
        candidates: One caption each.
        references: The references of all items, in one list.
        items: For each candidate, the number of its item.
        reference_offsets: Item i has the references from entry i up to entry i + 1.
        threads: How many threads a kernel may use.
        ids: The id of each item, for metrics that look at more than its captions; may be empty.
        progress: Called by slow metrics with how many candidates are done, of how many.

    >>> from reelscore.text.packed import pack
    >>> references = Captions(pack(["a man", "a person", "a dog"]))
    >>> candidates = Captions(pack(["the dog"]), references.vocabulary)
    >>> batch = CaptionBatch(candidates, references, np.array([1]), np.array([0, 2, 3]))
    >>> batch.references_in_order()[0].unpack()
    ['a dog']
    """

    candidates: Captions
    references: Captions
    items: NDArray[np.int64]
    reference_offsets: NDArray[np.int64]
    threads: int = 1
    ids: Sequence[str] = ()
    progress: Progress | None = None

    def slice(self, begin: int, end: int) -> CaptionBatch:
        """Some of the candidates, with all references at hand."""
        piece = self.candidates.slice(begin, end)
        return replace(self, candidates=piece, items=self.items[begin:end])

    def references_in_order(self) -> tuple[Packed, NDArray[np.int64]]:
        """The references' text such that candidate k has those from entry k to entry k + 1.

        Candidates usually stand in the order of their items: then nothing is copied.
        """
        text, offsets = self.references.text, self.reference_offsets
        if len(self.items) == 0 or (np.diff(self.items) == 1).all():
            first = int(self.items[0]) if len(self.items) else 0
            offsets = offsets[first : first + len(self.items) + 1]
            texts = text.offsets[offsets[0] : offsets[-1] + 1]
            return Packed(text.data, texts), offsets - offsets[0]
        counts = np.diff(offsets)[self.items]
        own = np.concatenate([[0], np.cumsum(counts)])
        numbers = np.repeat(offsets[self.items] - own[:-1], counts) + np.arange(own[-1])
        return text.take(numbers), own
