"""Sentence similarity: the cosine of sentence embeddings (Reimers and Gurevych, 2019).

Scale −1 to 1, in practice 0–1, higher is better. Candidate and references become vectors, each by
itself, by a sentence encoder; the score is the cosine between them, the mean over references by
default. The text is taken as it is, whatever the tokenizer. Same numbers as the package
sentence-transformers within 1e-5. The encoder is MiniLM, or a folder of yours; nothing is
downloaded.
"""

from __future__ import annotations

import hashlib
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import ClassVar

import numpy as np
from numpy.typing import NDArray

from reelscore.data.tables.scales import Scale
from reelscore.errors import DataError
from reelscore.learned.metrics.over_references import Several, check_several, over_references
from reelscore.learned.networks.encoders import DEFAULT_ENCODER, encoder_folder
from reelscore.learned.networks.sentence_vectors import SentenceEncoder
from reelscore.metrics.base import FloatArray, Metric, Reads, mean_of_first, with_count
from reelscore.text.words import CaptionBatch, Captions


class EmbeddedReferences:
    """References; they are embedded with the first captions, by as many threads."""

    def __init__(self, texts: list[str]) -> None:
        self._texts = texts
        self._vectors: FloatArray | None = None

    def vectors(self, encoder: SentenceEncoder, threads: int) -> FloatArray:
        """Return the references' vectors."""
        if self._vectors is None:
            self._vectors = encoder(self._texts, threads)
        return self._vectors


@dataclass(frozen=True)
class Sts(Metric):
    """Cosine of sentence embeddings.

    Attributes:
        model: The sentence encoder: ``all-minilm-l6-v2``, or a folder.
        references: How several references count: ``mean``, ``max``, or ``blend`` of both.

    >>> from reelscore import score
    >>> results = score({"v1": "a man rides a horse"}, {"v1": ["a man is riding a horse"]}, "sts")
    >>> round(results["sts"].score, 2)
    0.97
    """

    model: str = DEFAULT_ENCODER
    references: Several = "mean"
    name: ClassVar[str] = "sts"
    slow: ClassVar[bool] = True
    reads: ClassVar[Reads] = "english"
    output_scale: ClassVar[Scale] = Scale("high", -1, 1, mean=True, label="STS", percent=True)

    def __post_init__(self) -> None:
        check_several(self.name, self.references)

    def signature(self, **context: object) -> str:
        """As of every metric; with the revision of the encoder, and the text as it is."""
        if context:
            context = {"revision": _revision(self.model), **context, "tok": "raw"}
        return super().signature(**context)

    def prepare(
        self, references: Captions, reference_offsets: NDArray[np.int64]
    ) -> EmbeddedReferences:
        """Unpack the references once."""
        _encoder(self.model)  # complains now if there is none
        return EmbeddedReferences(references.original.unpack())

    def statistics(self, batch: CaptionBatch, prepared: EmbeddedReferences) -> FloatArray:
        """Return the cosine over all references, and 1."""
        begins, ends = (
            batch.reference_offsets[batch.items],
            batch.reference_offsets[batch.items + 1],
        )
        counts = ends - begins
        encoder = _encoder(self.model)
        vectors = encoder(batch.candidates.original.unpack(), batch.threads)
        of_references = prepared.vectors(encoder, batch.threads)
        own = np.concatenate([[0], np.cumsum(counts)])
        places = np.repeat(begins - own[:-1], counts) + np.arange(own[-1])
        cosines = (np.repeat(vectors, counts, axis=0) * of_references[places]).sum(axis=1)
        return with_count(over_references(cosines, counts, self.references))

    def scores(self, totals: FloatArray) -> FloatArray:
        """Return the mean over items."""
        return mean_of_first(totals)


@lru_cache(maxsize=2)
def _encoder(model: str) -> SentenceEncoder:
    folder = encoder_folder(model)
    if not Path(folder).is_dir():
        raise DataError(
            f"sts: {model}: there is no such folder. Models are never downloaded: fetch one "
            "yourself, and name its folder: sts|model:FOLDER."
        )
    return SentenceEncoder(model)


@lru_cache(maxsize=8)
def _revision(model: str) -> str:
    """Return the first digits of the weights' hash."""
    folder = Path(encoder_folder(model))
    whole = folder / "model.safetensors"
    digest = hashlib.sha256()
    for path in [whole] if whole.is_file() else sorted(folder.glob("*.safetensors")):
        digest.update(path.read_bytes())
    return digest.hexdigest()[:8]
