"""CIDEr-D as self-critical training computes it in Python, on the scorer of pycocoevalcap.

The `ciderD` module that captioners copy from one another is on no package index. It differs from
the scorer here in that document frequencies are counted once, over the training set, and not in
each batch; that difference is made below. Captions are words with blanks between, as there.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np
from pycocoevalcap.cider.cider_scorer import CiderScorer


class PeerReward:
    """CIDEr-D with the document frequencies of all references."""

    def __init__(self, references: Mapping[str, Sequence[str]]) -> None:
        self.references = references
        counted = CiderScorer()
        for texts in references.values():
            counted += (None, texts)
        counted.compute_doc_freq()
        self.frequencies = counted.document_frequency

    def __call__(self, ids: Sequence[str], captions: Sequence[str]) -> np.ndarray:
        scorer = _FixedFrequencies(len(self.references))
        scorer.document_frequency = self.frequencies
        for item, caption in zip(ids, captions, strict=True):
            scorer += (caption, self.references[item])
        return np.array(scorer.compute_cider())


class _FixedFrequencies(CiderScorer):
    """The scorer takes the number of its captions for that of all documents."""

    def __init__(self, documents: int) -> None:
        super().__init__()
        self.documents = documents

    @property
    def ref_len(self) -> float:
        return float(np.log(self.documents))

    @ref_len.setter
    def ref_len(self, value: float | None) -> None:
        """Ignore the number that it counts in the batch."""
