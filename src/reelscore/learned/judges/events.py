"""Events: which events are told, and which are invented (after Wang et al., 2024: AutoDQ).

Scale 0–1, higher is better. *Precision* is how far the references bear out the events that a
caption tells, *recall* how far it tells the events of a reference, of the one that it tells best
where there are several; ``events`` is their F1. A set has the means of precision and recall over
all captions, and F1 of the means. A caption without a word has 0 of both.

The parser divides captions into events: a clause each, with its own subject. A caption without a
verb is one event. How far an event is borne out is the cosine to the nearest
event or sentence of the other side, by the sentence vectors of BERTHA; with ``least:0.6`` it counts
1 from that cosine on, and 0 below. An event whose vector is near is of the same kind, not
certainly the same: numbers, names and negation hardly move it.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar, NamedTuple

import numpy as np
from msgspec.structs import replace
from numpy.typing import NDArray

from reelscore.data.tables.scales import Scale
from reelscore.learned.model_files import SHIPPED, cached_info, read_training_items
from reelscore.learned.networks.pair_scores import pair_scorer
from reelscore.metrics.base import FloatArray, Reads, check_range
from reelscore.metrics.sentences import CaptionMatches, ReadsSentences, SentenceMatch
from reelscore.metrics.training_data import TrainingItems
from reelscore.text.paragraphs import compared_sentences
from reelscore.text.parser.networks import teacher_name
from reelscore.text.parser.sentences import parse
from reelscore.text.words import CaptionBatch, Captions

# Where the page draws the line; agreement with people is highest without one.
_BORNE_OUT = 0.6


class _Text(NamedTuple):
    """A caption's events, and behind them its sentences, which bear out events as well."""

    events: int  # how many of the parts are events
    parts: list[str]
    vectors: FloatArray


@dataclass(frozen=True)
class Events(ReadsSentences):
    """Precision, recall and F1 of events.

    Attributes:
        by: Who finds events, and says which are borne out: the ``parser`` with sentence vectors.
        least: The cosine from which an event is borne out; with 0 the cosine itself counts.
    """

    by: str = "parser"
    least: float = 0.0
    name: ClassVar[str] = "events"
    slow: ClassVar[bool] = True
    reads: ClassVar[Reads] = "english"
    output_scale: ClassVar[Scale] = Scale("high", 0, 1, label="Events F1", percent=True)
    part: ClassVar[str] = "event"

    def __post_init__(self) -> None:
        check_range(self, "least", 0, 1)

    @property
    def outputs(self) -> tuple[str, ...]:
        """Precision, recall, F1."""
        return ("events_p", "events_r", self.name)

    @property
    def output_scales(self) -> tuple[Scale, ...]:
        """Precision and recall are means over items."""
        of_p, of_r = (replace(self.output_scale, mean=True, label=f"Events {x}") for x in "PR")
        return (of_p, of_r, self.output_scale)

    def signature(self, **context: object) -> str:
        """As of every metric; with the parser, the weights, and the text as it is."""
        if context:
            own = {"parser": teacher_name(), "revision": cached_info(SHIPPED).revision}
            context = {**own, **context, "tok": "raw"}
        return super().signature(**context)

    def divides(self, caption: str, references: Sequence[str]) -> bool:
        """Return True: a single sentence may tell several events."""
        return True

    def training_items(self) -> TrainingItems | None:
        """Return the items that the vectors were learned with."""
        return read_training_items(SHIPPED)

    @property
    def borne_out(self) -> float:
        """The degree from which an event counts as borne out."""
        return self.least or _BORNE_OUT

    def prepare(self, references: Captions, reference_offsets: NDArray[np.int64]) -> list[_Text]:
        """Divide the references into events, once."""
        return _read(references.original.unpack(), None)

    def statistics(self, batch: CaptionBatch, prepared: list[_Text]) -> FloatArray:
        """Return precision, recall, and 1."""
        rows = [
            [*(_mean([match.score for match in side]) for side in (each.told, each.asked)), 1.0]
            for each in self._compared(batch, prepared)
        ]
        return np.array(rows).reshape(-1, 3)

    def scores(self, totals: FloatArray) -> FloatArray:
        """Return the means over items, and their F1."""
        means = totals[..., :2] / totals[..., 2:]
        sums, products = means.sum(axis=-1), means.prod(axis=-1)
        f1 = np.divide(2 * products, sums, out=np.zeros_like(sums), where=sums > 0)
        together: FloatArray = np.concatenate([means, f1[..., None]], axis=-1)
        return together

    def sentence_matches(self, batch: CaptionBatch) -> list[CaptionMatches]:
        """Return of each caption which events are borne out, and by what."""
        references = self.prepare(batch.references, batch.reference_offsets)
        return self._compared(batch, references)

    def _compared(self, batch: CaptionBatch, references: list[_Text]) -> list[CaptionMatches]:
        captions, offsets = batch.candidates.original.unpack(), batch.reference_offsets.tolist()
        return [
            self._matches(ours, references[offsets[item] : offsets[item + 1]])
            for ours, item in zip(_read(captions, batch.threads), batch.items.tolist(), strict=True)
        ]

    def _matches(self, ours: _Text, references: Sequence[_Text]) -> CaptionMatches:
        sides = [(self._side(ours, other), self._side(other, ours)) for other in references]
        told = [
            max(each, key=lambda m: m.score) for each in zip(*(s[0] for s in sides), strict=True)
        ]
        asked = [_mean([match.score for match in theirs]) for _, theirs in sides]
        best = int(np.argmax(asked))
        p, r = _mean([match.score for match in told]), asked[best]
        f1 = float(self.scores(np.array([p, r, 1.0]))[-1])
        return CaptionMatches(f1, told, best, sides[best][1])

    def _side(self, told: _Text, other: _Text) -> list[SentenceMatch]:
        """Return how far another text bears out each event of a text."""
        if not other.parts:
            return [SentenceMatch(text, "", 0.0) for text in told.parts[: told.events]]
        cosines = told.vectors[: told.events] @ other.vectors.T
        degrees = np.clip(cosines.max(axis=1), 0.0, 1.0)
        if self.least:
            degrees = (degrees >= self.least).astype(float)
        return [
            SentenceMatch(text, other.parts[nearest], degree)
            for text, nearest, degree in zip(
                told.parts, cosines.argmax(axis=1).tolist(), degrees.tolist(), strict=False
            )
        ]


def _read(texts: Sequence[str], threads: int | None) -> list[_Text]:
    """Divide texts into events, and find their vectors; a text without a word has none."""
    parsed = parse(texts, threads=threads)
    read = []
    for sentence in parsed:
        events = [] if not any(map(str.isalnum, sentence.text)) else sentence.events
        others = compared_sentences(sentence.text) if events else []
        read.append((len(events), [*events, *others]))
    once = list(dict.fromkeys(part for _, parts in read for part in parts))
    place = {part: k for k, part in enumerate(once)}
    vectors = pair_scorer(SHIPPED, "int8").vectors(once, threads or 1)
    assert vectors is not None
    return [_Text(n, parts, vectors[[place[part] for part in parts]]) for n, parts in read]


def _mean(values: Sequence[float]) -> float:
    return sum(values) / len(values) if values else 0.0
