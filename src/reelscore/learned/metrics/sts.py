"""Sentence similarity: the cosine of sentence embeddings (Reimers and Gurevych, 2019).

Scale −1 to 1, in practice 0–1, higher is better. Candidate and references become vectors, each by
itself, by a sentence encoder; the score is the cosine between them, the mean over references by
default. The text is taken as it is, whatever the tokenizer. Same numbers as the package
sentence-transformers within 1e-5. The encoder is MiniLM, or a folder of yours; nothing is
downloaded.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import ClassVar

from reelscore.data.tables.scales import Scale
from reelscore.errors import DataError
from reelscore.learned.metrics.over_references import Several, check_several
from reelscore.learned.metrics.sentence_pairs import References, SentencePairs
from reelscore.learned.networks.encoders import DEFAULT_ENCODER, encoder_folder, weights_hash
from reelscore.learned.networks.sentence_vectors import SentenceEncoder
from reelscore.metrics.base import FloatArray, Reads, with_count
from reelscore.metrics.sentences import IntArray, SentenceList, Sentences, check_sentences
from reelscore.text.words import CaptionBatch, Captions


@dataclass(frozen=True)
class Sts(SentencePairs):
    """Cosine of sentence embeddings.

    Attributes:
        model: The sentence encoder: ``all-minilm-l6-v2``, or a folder.
        references: How several references count: ``mean``, ``max``, or ``blend`` of both.
        sentences: Whether sentences are asked for ``precision``, ``recall`` or ``both``, or
            ``whole`` captions are compared.

    >>> from reelscore import score
    >>> results = score({"v1": "a man rides a horse"}, {"v1": ["a man is riding a horse"]}, "sts")
    >>> round(results["sts"].score, 2)
    0.97
    """

    model: str = DEFAULT_ENCODER
    references: Several = "mean"
    sentences: Sentences = "precision"
    name: ClassVar[str] = "sts"
    slow: ClassVar[bool] = True
    reads: ClassVar[Reads] = "english"
    output_scale: ClassVar[Scale] = Scale("high", -1, 1, mean=True, label="STS", percent=True)

    def __post_init__(self) -> None:
        check_several(self.name, self.references)
        check_sentences(self.name, self.sentences)

    def signature(self, **context: object) -> str:
        """As of every metric; with the revision of the encoder, and the text as it is."""
        if context:
            revision = weights_hash(Path(encoder_folder(self.model)))
            context = {"revision": revision, **context, "tok": "raw"}
        return super().signature(**context)

    def prepare(self, references: Captions, reference_offsets: IntArray) -> References:
        """Divide the references into sentences, once."""
        _encoder(self.model)  # complains now if there is none
        return super().prepare(references, reference_offsets)

    def statistics(self, batch: CaptionBatch, prepared: References) -> FloatArray:
        """Return the score over all references, and 1."""
        return with_count(self.caption_scores(batch, prepared))

    def pair_scores(
        self, ours: SentenceList, theirs: References, pairs: IntArray, threads: int
    ) -> FloatArray:
        """Return the cosines of pairs."""
        encoder = _encoder(self.model)
        one = encoder(ours.texts, threads)[pairs[0]]
        other = theirs.vectors(encoder, threads)[pairs[1]]
        cosines: FloatArray = (one * other).sum(axis=1)
        return cosines

    def vectors(self, texts: Sequence[str], threads: int) -> None:
        """Return nothing: the score is that of vectors, and choosing would save no time."""


@lru_cache(maxsize=2)
def _encoder(model: str) -> SentenceEncoder:
    folder = encoder_folder(model)
    if not Path(folder).is_dir():
        raise DataError(
            f"sts: {model}: there is no such folder. Models are never downloaded: fetch one "
            "yourself, and name its folder: sts|model:FOLDER."
        )
    return SentenceEncoder(model)
