"""The data inside a page: columns of numbers and texts, compressed, as text that HTML can hold.

A payload is a header in JSON and the columns behind it. Numbers lie as the browser's typed arrays
have them, floats with their bytes sorted by significance, which halves what compression leaves.
"""

from __future__ import annotations

import base64
import json
import zlib
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal

import numpy as np
from numpy.typing import ArrayLike, NDArray

from reelscore.report.html.model import Report
from reelscore.report.safe_text import legible

if TYPE_CHECKING:
    from reelscore.stories.timelines import MatchedStories, TimedCaption, Timeline

Kind = Literal["f4", "u1", "u2", "u4"]

_ALIGNED = 4  # typed arrays begin at multiples of their size
IntArray = NDArray[np.int64]


class Payload:
    """Columns by name, to be read by ``data.js``.

    >>> payload = Payload()
    >>> payload.numbers("scores", [0.5, 0.25], "f4")
    >>> payload.texts("captions", ["a man", "a dog"])
    >>> text = payload.encoded({"title": "two captions"})
    >>> raw = zlib.decompress(base64.b64decode(text))
    >>> length = int.from_bytes(raw[:4], "little")
    >>> json.loads(raw[4 : 4 + length])["title"]
    'two captions'
    """

    def __init__(self) -> None:
        self._columns: list[dict[str, Any]] = []
        self._parts: list[bytes] = []
        self._size = 0

    def numbers(self, name: str, values: ArrayLike, kind: Kind) -> None:
        """Add a column of numbers; integers must fit their kind."""
        array: NDArray[Any] = np.asarray(values).ravel()
        if kind != "f4" and len(array):
            assert 0 <= array.min() <= array.max() <= np.iinfo(kind).max, name
        plain = np.ascontiguousarray(array, dtype=f"<{kind}")
        if kind == "f4":
            plain = np.ascontiguousarray(plain.view(np.uint8).reshape(-1, 4).T)
        self._add(name, kind, plain.tobytes())

    def texts(self, name: str, texts: Sequence[str]) -> None:
        r"""Add a column of texts, which have no ``\n`` in them."""
        self._add(name, "text", "\n".join(texts).encode())

    def _add(self, name: str, kind: str, data: bytes) -> None:
        self._columns.append({"name": name, "kind": kind, "at": self._size, "bytes": len(data)})
        padded = data + bytes(-len(data) % _ALIGNED)
        self._parts.append(padded)
        self._size += len(padded)

    def encoded(self, head: dict[str, Any]) -> str:
        """Return everything as one text of base64."""
        # json, not msgspec: names may hold a lone surrogate, which only an escape can carry.
        header = json.dumps({**head, "columns": self._columns}, separators=(",", ":")).encode()
        header += b" " * (-len(header) % _ALIGNED)
        raw = b"".join([len(header).to_bytes(4, "little"), header, *self._parts])
        return base64.b64encode(zlib.compress(raw, 6)).decode()


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


def add_stories(payload: Payload, report: Report, items: Sequence[str]) -> dict[str, Any]:
    """Add the timelines of all systems, video by video.

    Args:
        payload: Where the columns go.
        report: Has the timelines.
        items: The videos.

    Returns:
        What the header says about them.
    """
    systems = report.table.systems
    columns = _Columns()
    for video in items:
        shown = [report.timelines.get(name, {}).get(video) for name in systems]
        columns.add_video(shown)
    columns.add_to(payload)
    first = next(
        timeline for by_video in report.timelines.values() for timeline in by_video.values()
    )
    return {"method": first.method, "annotators": columns.annotators}


class _Columns:
    """Numbers and texts, in the order in which the page reads them."""

    def __init__(self) -> None:
        self.annotators: list[str] = []
        self._comparisons: list[int] = []  # of each video, its annotators
        self._names: list[int] = []  # of each comparison, the annotator's number
        self._counts: list[int] = []  # of each story, its captions
        self._sentences: list[str] = []
        self._times: list[float] = []
        self._matches: list[int] = []  # of each system and annotator
        self._pairs: list[tuple[int, int]] = []
        self._values: list[float] = []  # IoU and f of each pair
        self._scores: list[float] = []  # precision, recall, F1 of each system and annotator

    def add_video(self, shown: Sequence[Timeline | None]) -> None:
        """Add a video: the truth of each annotator, then each system's story and matches."""
        known = next((timeline for timeline in shown if timeline is not None), None)
        comparisons: Sequence[MatchedStories] = () if known is None else known.comparisons
        self._comparisons.append(len(comparisons))
        for each in comparisons:
            if each.annotator not in self.annotators:
                self.annotators.append(each.annotator)
            self._names.append(self.annotators.index(each.annotator))
            self._story(each.references)
        for timeline in shown:
            own = () if timeline is None else timeline.comparisons
            self._story(own[0].candidates if own else ())
            for k in range(len(comparisons)):
                self._matched(own[k] if own else None)

    def _story(self, captions: Sequence[TimedCaption]) -> None:
        self._counts.append(len(captions))
        for caption in captions:
            self._sentences.append(legible(caption.sentence))
            self._times += (caption.start, caption.end)

    def _matched(self, comparison: MatchedStories | None) -> None:
        pairs = () if comparison is None else comparison.matches
        self._matches.append(len(pairs))
        for pair in pairs:
            assert pair.reference is not None
            assert pair.candidate is not None
            self._pairs.append((_number(pair.reference), _number(pair.candidate)))
            self._values += (pair.iou, pair.f)
        none = (0.0, 0.0, 0.0)
        self._scores += (
            none if comparison is None else (comparison.precision, comparison.recall, comparison.f1)
        )

    def add_to(self, payload: Payload) -> None:
        payload.numbers("story comparisons", self._comparisons, "u1")
        payload.numbers("story annotators", self._names, "u1")
        payload.numbers("story counts", self._counts, "u2")
        payload.texts("story sentences", self._sentences)
        payload.numbers("story times", self._times, "f4")
        payload.numbers("story matches", self._matches, "u2")
        payload.numbers("story pairs", [k for pair in self._pairs for k in pair], "u2")
        payload.numbers("story values", self._values, "f4")
        payload.numbers("story scores", self._scores, "f4")


def _number(caption: TimedCaption) -> int:
    """The caption's place in its story, from 0: R1 is the first reference."""
    return int(caption.name[1:]) - 1
