"""Events: which events are told, and which are invented (after Wang et al., 2024: AutoDQ).

Scale 0–1, higher is better. *Precision* is how far the references bear out the events that a
caption tells, *recall* how far it tells the events of a reference, of the one that it tells best
where there are several; ``events`` is their F1. A set has the means of precision and recall over
all captions, and F1 of the means. A caption without a word has 0 of both.

``by:parser`` takes no model. The parser divides captions into events: a clause each, with its own
subject. A caption without a verb is one event. How far an event is borne out is the cosine to the
nearest event or sentence of the other side, by the sentence vectors of BERTHA; with ``least:0.6``
it counts 1 from that cosine on, and 0 below. An event whose vector is near is of the same kind, not
certainly the same: numbers, names and negation hardly move it.

``by:endpoint`` asks a model, as AutoDQ does: for the events of a text, ten at most, and then which
of them the other side entails, with a reason; neutral ones and contradictions count nothing. A text
in which it finds none is one event. ``clips`` names DREAM-1K's file, whose reference events are
then taken, and adds F1 of its subsets, and of clips with few or many subjects, shots and events.
``preset:dream-1k`` computes as its authors do: small letters, precision 1 for captions without an
event, clips without a usable answer left out, and the mean of the subsets' means.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, ClassVar, Literal, NamedTuple, get_args

import numpy as np
from msgspec.structs import replace
from numpy.typing import NDArray

from reelscore.data.tables.scales import Scale
from reelscore.endpoint.prompts import Prompt
from reelscore.errors import DataError, check_choice
from reelscore.learned.judges.asked_events import (
    ENTAILMENT,
    EXTRACTION,
    Compared,
    asked_matches,
    caption_matches,
)
from reelscore.learned.judges.benchmark_files import GROUPS, SUBSETS, Clip, dream_clips
from reelscore.learned.judges.endpoint_metric import Asked, EndpointMetric, Interview
from reelscore.learned.model_files import SHIPPED, cached_info, read_training_items
from reelscore.learned.networks.pair_scores import pair_scorer
from reelscore.metrics.base import FloatArray, Metric, Reads, check_range
from reelscore.metrics.sentences import CaptionMatches, ReadsSentences, SentenceMatch
from reelscore.metrics.training_data import TrainingItems
from reelscore.stats.correlations import mean_known
from reelscore.text.paragraphs import compared_sentences, told_text
from reelscore.text.parser.networks import teacher_name
from reelscore.text.parser.sentences import parse
from reelscore.text.words import CaptionBatch, Captions

# Where the page draws the line; agreement with people is highest without one.
_BORNE_OUT = 0.6

By = Literal["parser", "endpoint"]
Preset = Literal["dream-1k"]


class _Text(NamedTuple):
    """A caption's events, and behind them its sentences, which bear out events as well."""

    events: int  # how many of the parts are events
    parts: list[str]
    vectors: FloatArray


@dataclass(frozen=True)
class Events(EndpointMetric, ReadsSentences):
    """Precision, recall and F1 of events.

    Attributes:
        by: Who finds events, and says which are borne out: the ``parser`` with sentence vectors, or
            the model of an ``endpoint``.
        least: The cosine from which an event is borne out; with 0 the cosine itself counts. Only by
            the parser.
        preset: ``dream-1k``, to compute as its authors do. Only by an endpoint, as all below.
        clips: DREAM-1K's file.

    >>> from reelscore import score
    >>> results = score({"v": "A man rides a horse. A woman is cooking."},
    ...                 {"v": ["a man is riding a horse"]}, "events|least:0.6")
    >>> results["events_p"].score, results["events_r"].score, round(results["events"].score, 4)
    (0.5, 1.0, 0.6667)
    """

    max_tokens: int = 2048
    by: By = "parser"
    least: float = 0.0
    preset: Preset | None = None
    clips: str | None = None
    name: ClassVar[str] = "events"
    reads: ClassVar[Reads] = "english"
    output_scale: ClassVar[Scale] = Scale("high", 0, 1, label="Events F1", percent=True)
    part: ClassVar[str] = "event"

    def __post_init__(self) -> None:
        check_choice("value of events|by", self.by, get_args(By))
        check_range(self, "least", 0, 1)
        if self.preset is not None:
            check_choice("preset of events", self.preset, get_args(Preset))
            object.__setattr__(self, "failed", "skip")
            if self.clips is None:
                raise DataError(
                    "events|preset:dream-1k takes reference events and subsets from DREAM-1K's "
                    "file; name it: clips:DREAM-1k.jsonl."
                )
        if self.by == "endpoint":
            self.__dict__.update(reads="any", beside="verdict")
        wrong = [self.least] if self.by == "endpoint" else [self.model, self.clips, self.preset]
        if any(wrong):
            raise DataError(
                f"events|by:{self.by} does not know {next(filter(None, wrong))!r}: least is for "
                "by:parser; model, clips and preset are for by:endpoint. Leave one of them out."
            )
        super().__post_init__()

    def parameters(self, *, changed: bool = False) -> dict[str, object]:
        """Return those that matter to who finds events."""
        own = super().parameters(changed=changed)
        kept = ("by", "least") if self.by == "parser" else own.keys() - {"least"}
        return {name: value for name, value in own.items() if name in kept}

    @property
    def outputs(self) -> tuple[str, ...]:
        """Precision, recall, F1; with DREAM-1K's file also the F1 of groups of clips."""
        groups = GROUPS if self.clips is not None else ()
        return ("events_p", "events_r", self.name, *(f"{self.name}_{name}" for name in groups))

    @property
    def output_scales(self) -> tuple[Scale, ...]:
        """Precision and recall are means over items, or of the subsets' means."""
        mean = self.preset is None
        of_p, of_r = (replace(self.output_scale, mean=mean, label=f"Events {x}") for x in "PR")
        groups = GROUPS.values() if self.clips is not None else ()
        labelled = (replace(self.output_scale, label=f"F1: {words}") for words in groups)
        return (of_p, of_r, replace(self.output_scale, headline=True), *labelled)

    @property
    def prompts(self) -> Sequence[Prompt]:
        """For the events of a text, and for what entails them."""
        return [EXTRACTION, ENTAILMENT]

    @property
    def one_process(self) -> bool:
        """Whether there is a journal."""
        return self.by == "endpoint"

    def files(self) -> dict[str, str]:
        """DREAM-1K's file."""
        return {} if self.clips is None else {"clips": self.clips}

    def signature(self, **context: object) -> str:
        """As of every metric; with the parser, the weights, and the text as it is."""
        if context and self.by == "parser":
            own = {"parser": teacher_name(), "revision": cached_info(SHIPPED).revision}
            return Metric.signature(self, **{**own, **context, "tok": "raw"})
        return super().signature(**context)

    def divides(self, caption: str, references: Sequence[str]) -> bool:
        """Return True: a single sentence may tell several events."""
        return True

    def training_items(self) -> TrainingItems | None:
        """Return the items that the vectors were learned with."""
        return read_training_items(SHIPPED) if self.by == "parser" else None

    @property
    def borne_out(self) -> float:
        """The degree from which an event counts as borne out."""
        return 1.0 if self.by == "endpoint" else self.least or _BORNE_OUT

    def prepare(self, references: Captions, reference_offsets: NDArray[np.int64]) -> Any:
        """Divide the references into events, once; or check that everything is there."""
        if self.by == "endpoint":
            return super().prepare(references, reference_offsets)
        return _read(references.original.unpack(), None)

    def notes(self, prepared: Any) -> list[str]:
        """What it took, where a model was asked."""
        return super().notes(prepared) if self.by == "endpoint" else []

    def found(self, prepared: Any) -> dict[str, object]:
        """How a model was asked."""
        return super().found(prepared) if self.by == "endpoint" else {}

    def statistics(self, batch: CaptionBatch, prepared: Any) -> FloatArray:
        """Return precision, recall, and 1; of DREAM-1K also in the groups that the clip is in."""
        rows = np.zeros((batch.candidates.size, len(self.outputs) - 2, 3))
        offsets = batch.reference_offsets.tolist()
        compared = self._compared(batch, prepared)
        if failed := sum(each is None for each in compared):
            prepared.leave_out("without a usable answer", failed)
        for row, each, item in zip(rows, compared, batch.items.tolist(), strict=True):
            if each is not None:
                sides = (each.told, each.asked)
                groups = [0]
                if self.clips is not None:
                    reference = prepared.references[offsets[item] + each.reference]
                    groups += [1 + group for group in self._clip(reference).groups]
                row[groups] = [*(self.mean(side) for side in sides), 1.0]
        return rows.reshape(len(rows), -1)

    def scores(self, totals: FloatArray) -> FloatArray:
        """Return the means over items, and their F1; of DREAM-1K over the subsets' means."""
        groups = totals.reshape(*totals.shape[:-1], -1, 3)
        with np.errstate(invalid="ignore"):
            means = groups[..., :2] / groups[..., 2:]
        if self.preset is not None:
            means[..., 0, :] = mean_known(means[..., 1 : 1 + len(SUBSETS), :], axis=-2)
        sums, products = means.sum(axis=-1), means.prod(axis=-1)
        f1 = np.divide(2 * products, sums, out=np.where(sums == 0, 0.0, np.nan), where=sums > 0)
        together: FloatArray = np.concatenate([means[..., 0, :], f1], axis=-1)
        return together

    def sentence_matches(self, batch: CaptionBatch) -> list[CaptionMatches]:
        """Return of each caption which events are borne out, and by what, or why not."""
        references = self.prepare(batch.references, batch.reference_offsets)
        found = self._compared(batch, references, only_journal=True)
        return [each for each in found if each is not None]

    def mean(self, side: Sequence[SentenceMatch]) -> float:
        """Return the share of events that are borne out; DREAM-1K says 1 where there are none."""
        empty = 1.0 if self.preset is not None else 0.0
        return sum(match.score for match in side) / len(side) if side else empty

    def _compared(
        self, batch: CaptionBatch, prepared: Any, *, only_journal: bool = False
    ) -> Sequence[CaptionMatches | None]:
        if self.by == "endpoint":
            with self.asking(prepared, only_journal=only_journal) as interview:
                return self._asked(batch, prepared, interview)
        captions, offsets = batch.candidates.original.unpack(), batch.reference_offsets.tolist()
        return [
            self._matches(ours, prepared[offsets[item] : offsets[item + 1]])
            for ours, item in zip(_read(captions, batch.threads), batch.items.tolist(), strict=True)
        ]

    def _clip(self, reference: str) -> Clip:
        assert self.clips is not None
        clips = dream_clips(self.clips)
        if reference not in clips:
            raise DataError(
                f"{self.clips}: no clip has the description {reference[:60]!r}; give the file "
                "itself as references."
            )
        return clips[reference]

    def _asked(
        self, batch: CaptionBatch, prepared: Asked, interview: Interview
    ) -> list[CaptionMatches | None]:
        """Ask a model for the events of all texts, and then what entails them."""
        lower = str.lower if self.preset is not None else str
        captions, offsets = batch.candidates.original.unpack(), batch.reference_offsets.tolist()
        compared: list[Compared] = []
        known: dict[str, list[str]] = {}
        for caption, item in zip(captions, batch.items.tolist(), strict=True):
            own = prepared.references[offsets[item] : offsets[item + 1]]
            name = batch.ids[item] if batch.ids else str(item)
            compared.append(Compared(lower(caption), [lower(text) for text in own], name))
            if self.clips is not None:
                empty = own if self.preset is None else []
                known |= {lower(text): self._clip(text).events or empty for text in own}
        return asked_matches(self, compared, known, interview, batch.progress)

    def _matches(self, ours: _Text, references: Sequence[_Text]) -> CaptionMatches | None:
        sides = [(self._side(ours, other), self._side(other, ours)) for other in references]
        told = [
            max(each, key=lambda m: m.score) for each in zip(*(s[0] for s in sides), strict=True)
        ]
        return caption_matches(self, [told, *(theirs for _, theirs in sides)])

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
    parsed = parse([told_text(text) for text in texts], threads=threads)
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
