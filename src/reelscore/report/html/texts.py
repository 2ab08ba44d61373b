"""The captions and references of a report's items, in one list."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from reelscore.report.html.model import Report
from reelscore.report.html.payload import Payload
from reelscore.report.legible import legible

IntArray = NDArray[np.int64]


@dataclass(frozen=True)
class ItemTexts:
    """All texts, item by item: the caption of each system, then the references.

    Attributes:
        raw: The texts as they were scored; empty where a system has no caption.
        systems: How many systems there are.
        captions: Numbers of the texts that are captions, item by item.
        items: The item of each caption.
        offsets: Item i has the references from entry i to entry i + 1.
        references: Numbers of the texts that are references.
    """

    raw: Sequence[str]
    systems: int
    captions: IntArray
    items: IntArray
    offsets: IntArray
    references: IntArray

    @classmethod
    def of(cls, report: Report, items: Sequence[str]) -> ItemTexts:
        """Gather the texts of a report.

        >>> from reelscore import score_systems
        >>> from reelscore.examples import clips
        >>> systems, references = clips()
        >>> report = Report(score_systems(systems, references, "rouge_l"), captions=systems,
        ...                 references=references)
        >>> texts = ItemTexts.of(report, report.items)
        >>> len(texts.raw), texts.captions[:5].tolist(), texts.offsets[:3].tolist()
        (105, [0, 1, 2, 3, 7], [0, 3, 6])
        """
        nothing: dict[str, str] = {}
        candidates = [report.captions.get(name, nothing) for name in report.table.systems]
        raw: list[str] = []
        counts = []
        for item in items:
            raw += [captions.get(item, "") for captions in candidates]
            references = report.references.get(item, ())
            raw += references
            counts.append(len(references))
        offsets = np.concatenate([[0], np.cumsum(counts, dtype=np.int64)])
        systems = len(candidates)
        before = np.arange(len(items)) * systems + offsets[:-1]  # texts of earlier items
        captions = (before[:, None] + np.arange(systems)).ravel()
        owner = np.repeat(np.arange(len(items)), np.diff(offsets))
        references_at = np.arange(len(owner)) + (owner + 1) * systems
        numbers = np.repeat(np.arange(len(items)), systems)
        return cls(raw, systems, captions, numbers, offsets, references_at)

    def add_to(self, payload: Payload) -> None:
        """Put the texts into a payload, as they can be shown, with their lengths in words."""
        shown = [legible(text) for text in self.raw]
        payload.texts("texts", shown)
        payload.numbers("references", np.diff(self.offsets), "u2")
        lengths = [shown[k].count(" ") + 1 if shown[k] else 0 for k in self.captions]
        payload.numbers("lengths", np.minimum(lengths, 65_535), "u2")
