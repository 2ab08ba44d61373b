"""EMScore: words matched with frames, and the caption with the whole video (Shi et al., 2022).

Scale −1 to 1, in practice 0.2–0.4 (with references 0.5–0.7), higher is better. Coarse: the cosine
of the vectors of caption and video, the mean of its frames. Fine: each word with the frame nearest
to it (precision), each frame with its nearest word (recall), and the F-score of both. ``emscore``
is the mean of the coarse score and the fine F-score. With ``see:references`` words are matched with
those of the best reference instead, and ``see:both`` is the mean of the two. With ``idf`` words
that are rare in the references weigh more. The text is taken as it is, whatever the tokenizer.

The numbers are those of the published code, which lets padding count as a cosine of 0; here it
does not count. That code looks at every frame; here ``frames`` says how many.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import chain
from typing import ClassVar, Literal, get_args

import numpy as np
from msgspec.structs import replace
from numpy.typing import NDArray

from reelscore.data.tables.scales import Scale
from reelscore.errors import DataError, check_choice
from reelscore.learned.metrics.clipscore import ClipMetric
from reelscore.learned.metrics.over_references import WeightedReferences, references_of
from reelscore.learned.networks.clip_model import ClipModel, TextVectors, Vectors, check_videos
from reelscore.learned.networks.token_vectors import rarity
from reelscore.metrics.base import FloatArray, with_count
from reelscore.text.words import CaptionBatch, Captions

See = Literal["frames", "references", "both"]


@dataclass(frozen=True)
class EmScore(ClipMetric):
    """EMScore with a CLIP from a folder.

    Attributes:
        model: The folder of the model.
        videos: The folder of the videos, each named after its item.
        see: What the caption is compared with: ``frames``, ``references``, or ``both``.
        frames: How many frames are looked at, evenly spread; more than there are: all.
        idf: Whether words that are rare in the references weigh more.

    >>> EmScore("models/clip-vit-base-patch32", "videos").outputs
    ('emscore', 'emscore_p', 'emscore_r', 'emscore_f', 'emscore_coarse')
    """

    see: See = "frames"
    frames: int = 8
    idf: bool = True
    name: ClassVar[str] = "emscore"

    def __post_init__(self) -> None:
        check_choice("value of emscore|see", self.see, get_args(See))

    @property
    def outputs(self) -> tuple[str, ...]:
        """The score, and its parts: fine precision, recall, F-score, and the coarse score."""
        return ("emscore", "emscore_p", "emscore_r", "emscore_f", "emscore_coarse")

    @property
    def output_scales(self) -> tuple[Scale, ...]:
        """Cosines; papers quote the whole."""
        parts = [
            Scale("high", -1, 1, mean=True, label=f"EMScore{part}", percent=True)
            for part in ("", " P", " R", " F1", " coarse")
        ]
        return (replace(parts[0], headline=True), *parts[1:])

    @property
    def weighs_all_references(self) -> bool:
        """Where rare words weigh more."""
        return self.idf

    def prepare(
        self, references: Captions, reference_offsets: NDArray[np.int64]
    ) -> WeightedReferences:
        """Load the model, and count in how many references each token is."""
        model = self.clip
        if self.see != "references":
            check_videos(self.name, self.videos)
        texts = references.original.unpack()
        if (self.idf or self.see != "frames") and not np.diff(reference_offsets).all():
            what, remedy = "idf:yes", "let all words weigh the same: emscore|idf:no"
            if self.see != "frames":
                what, remedy = f"see:{self.see}", "let it see frames: emscore|see:frames|idf:no"
            raise DataError(
                f'emscore: {what} needs references; give them with references="FILE", or {remedy}.'
            )
        return WeightedReferences(texts, _token_weights(model, texts) if self.idf else None)

    def statistics(self, batch: CaptionBatch, prepared: WeightedReferences) -> FloatArray:
        """Return the scores, and 1; a caption without a word has 0."""
        captions = batch.candidates.original.unpack()
        rows = []
        if self.see != "references":
            frames = self.frame_vectors(batch, self.frames)
            texts = self.text_vectors(captions, prepared)
            rows.append(
                [
                    _against_frames(texts[text], prepared, frames[item])
                    for text, item in zip(captions, batch.items.tolist(), strict=True)
                ]
            )
        if self.see != "frames":
            rows.append(self._against_references(batch, captions, prepared))
        scores = np.mean(np.array(rows), axis=0).reshape(len(captions), 4)
        scores[[not any(map(str.isalnum, text)) for text in captions]] = 0
        whole = (scores[:, 2] + scores[:, 3]) / 2
        return with_count(whole, *scores.T)

    def _against_references(
        self, batch: CaptionBatch, captions: Sequence[str], prepared: WeightedReferences
    ) -> list[FloatArray]:
        references = references_of(batch, prepared.references)
        vectors = self.text_vectors(chain(captions, *references), prepared)
        return [
            np.max([_against_text(vectors[text], vectors[one], prepared) for one in own], axis=0)
            for text, own in zip(captions, references, strict=True)
        ]


def _shares(weights: WeightedReferences, ids: Sequence[int]) -> FloatArray:
    """Return the weights of a text's tokens, which sum to 1."""
    own = weights.of(ids)
    total = own.sum()
    return own / total if total > 0 else np.full(len(own), 1 / len(own))


def _against_frames(text: TextVectors, weights: WeightedReferences, frames: Vectors) -> FloatArray:
    """Fine precision, recall and F-score, and the coarse score, against a video."""
    cosines = text.tokens @ frames.T
    precision = float((cosines.max(axis=1) * _shares(weights, text.ids)).sum())
    recall = float(cosines.max(axis=0).mean())
    middle = frames.mean(axis=0)
    coarse = float(text.whole @ middle / np.linalg.norm(middle))
    return np.array([precision, recall, _f_score(precision, recall), coarse])


def _against_text(
    text: TextVectors, reference: TextVectors, weights: WeightedReferences
) -> FloatArray:
    """Fine precision, recall and F-score, and the coarse score, against a reference."""
    cosines = text.tokens @ reference.tokens.T
    precision = float((cosines.max(axis=1) * _shares(weights, text.ids)).sum())
    recall = float((cosines.max(axis=0) * _shares(weights, reference.ids)).sum())
    coarse = float(text.whole @ reference.whole)
    return np.array([precision, recall, _f_score(precision, recall), coarse])


def _f_score(precision: float, recall: float) -> float:
    both = precision + recall
    return 2 * precision * recall / both if both else 0.0


def _token_weights(model: ClipModel, texts: Sequence[str]) -> dict[int, float]:
    """Weights by rarity; the mark of the end, which is in all texts, gets the mean of all.

    The published code fills texts up with token 0, which so counts among all.
    """
    ids = model.token_ids(texts)
    filled = [own if len(own) == model.most_tokens else [*own, 0] for own in ids]
    weights = rarity("emscore", filled)
    weights[ids[0][-1]] = sum(weights.values()) / len(weights)
    return weights
