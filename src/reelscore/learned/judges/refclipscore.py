"""RefCLIPScore: CLIPScore together with the likeness to a reference (Hessel et al., 2021).

Scale 0–1.43, in practice 0.6–1, higher is better. The harmonic mean of `clipscore` and the largest
cosine of the caption's vector with that of a reference, at least 0. The text is taken as it is,
whatever the tokenizer, after the words "A photo depicts", as published.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from reelscore.data.tables.scales import Scale
from reelscore.learned.judges.clip_model import clip_model
from reelscore.learned.judges.clipscore import ClipScore, PreparedClipScore
from reelscore.metrics.base import FloatArray, with_count
from reelscore.text.words import CaptionBatch


@dataclass(frozen=True)
class RefClipScore(ClipScore):
    """RefCLIPScore with a CLIP from a folder.

    Attributes:
        model: The folder of the model.
        videos: The folder of the videos, each named after its item.
        frames: How many frames are looked at, evenly spread; more than there are: all.
        prefix: Words put before every text.

    >>> RefClipScore("models/clip-vit-base-patch32", "videos", frames=4).frames
    4
    """

    name: ClassVar[str] = "refclipscore"
    needs_references: ClassVar[bool] = True
    output_scale: ClassVar[Scale] = Scale("high", 0, 10 / 7, mean=True, label="RefCLIPScore")

    def statistics(self, batch: CaptionBatch, prepared: PreparedClipScore) -> FloatArray:
        """The score, and 1."""
        seen = self._of_videos(batch, prepared)
        model = clip_model(self.name, self.model)
        captions = [self._shown(text) for text in batch.candidates.original.unpack()]
        references = [
            [self._shown(text) for text in prepared.references[begin:end]]
            for begin, end in zip(
                batch.reference_offsets[batch.items].tolist(),
                batch.reference_offsets[batch.items + 1].tolist(),
                strict=True,
            )
        ]
        vectors = model.texts([*captions, *(text for texts in references for text in texts)])
        prepared.cut.update(text for text, own in vectors.items() if own.cut)
        likeness = np.array(
            [
                max(0.0, *(float(vectors[own].whole @ vectors[text].whole) for text in texts))
                for own, texts in zip(captions, references, strict=True)
            ]
        )
        both = seen + likeness
        means = np.divide(2 * seen * likeness, both, out=np.zeros(len(both)), where=both > 0)
        return with_count(means)
