"""CLIPScore and RefCLIPScore: how well a caption fits what is seen (Hessel et al., 2021).

CLIPScore needs no references. Scale 0–2.5, in practice 0.5–1, higher is better. The score of a
frame is 2.5 times the cosine of the vectors of caption and frame, at least 0; that of a video is
the mean over its frames. The text is taken as it is, whatever the tokenizer, after the words "A
photo depicts", as published. The same cosines as torchmetrics' CLIPScore, which has neither the
factor nor the words.

RefCLIPScore is the harmonic mean of CLIPScore and the largest cosine of the caption's vector with
that of a reference, at least 0. Scale 0–1.43, in practice 0.6–1, higher is better.

The model is a CLIP of transformers in a folder of yours; nothing is downloaded. Vectors of frames
are kept in the cache directory.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from itertools import chain
from pathlib import Path
from typing import ClassVar

import numpy as np
from numpy.typing import NDArray

from reelscore.data.tables.scales import Scale
from reelscore.learned.metrics.over_references import WeightedReferences, references_of
from reelscore.learned.networks.clip_model import (
    ClipModel,
    TextVectors,
    Vectors,
    check_videos,
    clip_model,
    frame_vectors,
)
from reelscore.learned.networks.encoders import cut_note, weights_hash
from reelscore.metrics.base import FloatArray, Metric, Reads, with_count
from reelscore.text.words import CaptionBatch, Captions

WEIGHT = 2.5


@dataclass(frozen=True)
class ClipMetric(Metric):
    """A metric that compares captions with what a CLIP from a folder sees.

    Attributes:
        model: The folder of the model.
        videos: The folder of the videos, each named after its item.
    """

    model: str = ""
    videos: str | None = None
    needs_references: ClassVar[bool] = False
    slow: ClassVar[bool] = True
    reads: ClassVar[Reads] = "english"

    def signature(self, **context: object) -> str:
        """As of every metric; with the hash of the weights, and the text as it is."""
        if context:
            context = {"revision": weights_hash(Path(self.model)), **context, "tok": "raw"}
        return super().signature(**context)

    def notes(self, prepared: WeightedReferences) -> list[str]:
        """Return which texts were cut."""
        return cut_note(self.name, prepared.cut)

    @property
    def clip(self) -> ClipModel:
        """The model, loaded once."""
        return clip_model(self.name, self.model)

    def frame_vectors(self, batch: CaptionBatch, frames: int) -> Mapping[int, Vectors]:
        """Return the vectors of the frames of each item's video, by the item's number."""
        assert self.videos is not None
        return frame_vectors(self.name, batch, self.clip, self.videos, frames)

    def text_vectors(
        self, texts: Iterable[str], prepared: WeightedReferences
    ) -> dict[str, TextVectors]:
        """Return the vectors of texts, and note those that the model did not see to their ends."""
        vectors = self.clip.texts(list(texts))
        prepared.cut.update(text for text, own in vectors.items() if own.cut)
        return vectors


@dataclass(frozen=True)
class ClipScore(ClipMetric):
    """CLIPScore with a CLIP from a folder.

    Attributes:
        model: The folder of the model.
        videos: The folder of the videos, each named after its item.
        frames: How many frames are looked at, evenly spread; more than there are: all.
        prefix: Words put before every text.

    >>> ClipScore("models/clip-vit-base-patch32", "videos").signature()
    'clipscore|model:models/clip-vit-base-patch32|videos:videos|frames:8|prefix:A%20photo%20depicts'
    """

    frames: int = 8
    prefix: str = "A photo depicts"
    name: ClassVar[str] = "clipscore"
    output_scale: ClassVar[Scale] = Scale("high", 0, WEIGHT, mean=True, label="CLIPScore")

    def prepare(
        self, references: Captions, reference_offsets: NDArray[np.int64]
    ) -> WeightedReferences:
        """Load the model, and unpack the references."""
        clip_model(self.name, self.model)
        check_videos(self.name, self.videos)
        return WeightedReferences(references.original.unpack())

    def statistics(self, batch: CaptionBatch, prepared: WeightedReferences) -> FloatArray:
        """Return the score, and 1."""
        return with_count(self._of_videos(batch, prepared))

    def _of_videos(self, batch: CaptionBatch, prepared: WeightedReferences) -> FloatArray:
        """2.5 times the cosine, at least 0: the mean over frames; 0 for a caption without words."""
        frames = self.frame_vectors(batch, self.frames)
        captions = batch.candidates.original.unpack()
        vectors = self.text_vectors(map(self._shown, captions), prepared)
        scores = [
            np.maximum(frames[item] @ vectors[self._shown(text)].whole, 0).mean()
            if any(map(str.isalnum, text))
            else 0.0
            for text, item in zip(captions, batch.items.tolist(), strict=True)
        ]
        return WEIGHT * np.array(scores, dtype=np.float64)

    def _shown(self, text: str) -> str:
        return f"{self.prefix} {text}" if self.prefix else text


@dataclass(frozen=True)
class RefClipScore(ClipScore):
    """RefCLIPScore with a CLIP from a folder; its parameters are those of CLIPScore.

    >>> RefClipScore("models/clip-vit-base-patch32", "videos", frames=4).frames
    4
    """

    name: ClassVar[str] = "refclipscore"
    needs_references: ClassVar[bool] = True
    output_scale: ClassVar[Scale] = Scale("high", 0, 10 / 7, mean=True, label="RefCLIPScore")

    def statistics(self, batch: CaptionBatch, prepared: WeightedReferences) -> FloatArray:
        """Return the score, and 1."""
        seen = self._of_videos(batch, prepared)
        captions = [self._shown(text) for text in batch.candidates.original.unpack()]
        references = [
            [self._shown(text) for text in own] for own in references_of(batch, prepared.references)
        ]
        vectors = self.text_vectors(chain(captions, *references), prepared)
        likeness = np.array(
            [
                max(0.0, *(float(vectors[own].whole @ vectors[text].whole) for text in texts))
                for own, texts in zip(captions, references, strict=True)
            ]
        )
        both = seen + likeness
        means = np.divide(2 * seen * likeness, both, out=np.zeros(len(both)), where=both > 0)
        return with_count(means)
