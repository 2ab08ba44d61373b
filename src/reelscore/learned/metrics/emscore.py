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

import math
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import ClassVar, Literal, get_args

import numpy as np
from msgspec.structs import replace
from numpy.typing import NDArray

from reelscore.data.tables.scales import Scale
from reelscore.errors import DataError, check_choice
from reelscore.learned.metrics.over_references import references_of
from reelscore.learned.networks.clip_model import (
    ClipModel,
    TextVectors,
    Vectors,
    check_videos,
    clip_model,
    frame_vectors,
)
from reelscore.learned.networks.encoders import cut_note, weights_hash
from reelscore.learned.networks.token_vectors import rarity
from reelscore.metrics.base import FloatArray, Metric, Reads, with_count
from reelscore.text.words import CaptionBatch, Captions

See = Literal["frames", "references", "both"]


@dataclass
class MatchedReferences:
    """References, the weights of tokens, and texts that fill all that the model reads.

    The weights are ``None`` where all weigh the same.
    """

    references: list[str]
    weights: dict[int, float] | None
    cut: set[str] = field(default_factory=set)

    def of(self, ids: Sequence[int]) -> FloatArray:
        """Weights of tokens, which sum to 1."""
        unseen = math.log(len(self.references) + 1)
        known = self.weights
        own = np.array([1.0 if known is None else known.get(token, unseen) for token in ids])
        total = own.sum()
        return own / total if total > 0 else np.full(len(own), 1 / len(own))


@dataclass(frozen=True)
class EmScore(Metric):
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

    model: str = ""
    videos: str | None = None
    see: See = "frames"
    frames: int = 8
    idf: bool = True
    name: ClassVar[str] = "emscore"
    needs_references: ClassVar[bool] = False  # unless it counts words in them: see `prepare`
    slow: ClassVar[bool] = True
    reads: ClassVar[Reads] = "english"

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

    def signature(self, **context: object) -> str:
        """As of every metric; with the hash of the weights, and the text as it is."""
        if context:
            context = {"revision": weights_hash(Path(self.model)), **context, "tok": "raw"}
        return super().signature(**context)

    @property
    def weighs_all_references(self) -> bool:
        """Where rare words weigh more."""
        return self.idf

    def prepare(
        self, references: Captions, reference_offsets: NDArray[np.int64]
    ) -> MatchedReferences:
        """Load the model, and count in how many references each token is."""
        model = clip_model(self.name, self.model)
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
        return MatchedReferences(texts, _token_weights(model, texts) if self.idf else None)

    def statistics(self, batch: CaptionBatch, prepared: MatchedReferences) -> FloatArray:
        """Return the scores, and 1; a caption without a word has 0."""
        model = clip_model(self.name, self.model)
        captions = batch.candidates.original.unpack()
        rows = []
        if self.see != "references" and self.videos is not None:
            frames = frame_vectors(self.name, batch, model, self.videos, self.frames)
            texts = model.texts(captions)
            prepared.cut.update(text for text, own in texts.items() if own.cut)
            rows.append(
                [
                    _against_frames(texts[text], prepared, frames[item])
                    for text, item in zip(captions, batch.items.tolist(), strict=True)
                ]
            )
        if self.see != "frames":
            rows.append(self._against_references(batch, captions, prepared, model))
        scores = np.mean(np.array(rows), axis=0).reshape(len(captions), 4)
        scores[[not any(map(str.isalnum, text)) for text in captions]] = 0
        whole = (scores[:, 2] + scores[:, 3]) / 2
        return with_count(whole, *scores.T)

    def scores(self, totals: FloatArray) -> FloatArray:
        """Return the means over items."""
        return totals[..., :-1] / totals[..., -1:]

    def notes(self, prepared: MatchedReferences) -> list[str]:
        """Return which texts were cut."""
        return cut_note(self.name, prepared.cut)

    def _against_references(
        self,
        batch: CaptionBatch,
        captions: Sequence[str],
        prepared: MatchedReferences,
        model: ClipModel,
    ) -> list[FloatArray]:
        references = references_of(batch, prepared.references)
        vectors = model.texts([*captions, *(one for own in references for one in own)])
        prepared.cut.update(text for text, own in vectors.items() if own.cut)
        return [
            np.max([_against_text(vectors[text], vectors[one], prepared) for one in own], axis=0)
            for text, own in zip(captions, references, strict=True)
        ]


def _against_frames(text: TextVectors, weights: MatchedReferences, frames: Vectors) -> FloatArray:
    """Fine precision, recall and F-score, and the coarse score, against a video."""
    cosines = text.tokens @ frames.T
    precision = float((cosines.max(axis=1) * weights.of(text.ids)).sum())
    recall = float(cosines.max(axis=0).mean())
    middle = frames.mean(axis=0)
    coarse = float(text.whole @ middle / np.linalg.norm(middle))
    return np.array([precision, recall, _f_score(precision, recall), coarse])


def _against_text(
    text: TextVectors, reference: TextVectors, weights: MatchedReferences
) -> FloatArray:
    """Fine precision, recall and F-score, and the coarse score, against a reference."""
    cosines = text.tokens @ reference.tokens.T
    precision = float((cosines.max(axis=1) * weights.of(text.ids)).sum())
    recall = float((cosines.max(axis=0) * weights.of(reference.ids)).sum())
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
