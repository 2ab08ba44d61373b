"""Scores of stories: per video, per system, as JSON and as score tables."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, ClassVar, NoReturn

import numpy as np

from reelscore.data.coverage import Coverage, items_notes
from reelscore.data.scales import Scale
from reelscore.data.table import ItemIndex, MetricResult, ScoreTable, system_notes
from reelscore.errors import DataError
from reelscore.metrics.base import FloatArray, Metric, with_count
from reelscore.metrics.registry import parse
from reelscore.scoring.scores import Measurement, Scores
from reelscore.stories.soda import F1, PRECISION, RECALL, f1_of
from reelscore.text.words import CaptionBatch

# Names of the ActivityNet scorer's results in a score table begin so.
PREFIX = "anet_"


class VideoScores(Metric):
    """Scores whose items are videos and whose corpus score is the mean over them.

    As metrics they carry parameters, signature and aggregation, so that intervals, tests and
    tables treat stories like captions; the statistics come from `reelscore.stories.score`.
    """

    output_scale: ClassVar[Scale] = Scale("high", 0, mean=True)

    def statistics(self, batch: CaptionBatch, prepared: Any) -> NoReturn:
        """Stories have segments, which a batch of captions has not."""
        raise TypeError(f"{self.name} scores stories: use reelscore.stories.score.")

    def scores(self, totals: FloatArray) -> FloatArray:
        """Means over videos."""
        means: FloatArray = totals[..., :-1] / totals[..., -1:]
        return means


@dataclass(frozen=True)
class _Soda(VideoScores):
    """One of the three SODA scores; see `reelscore.stories.protocol.Protocol`."""

    f: str
    meteor_order: str
    reference_order: str
    characters: str
    annotators: str

    @property
    def outputs(self) -> tuple[str, ...]:
        """Precision, recall, and F1 under the score's own name."""
        return f"{self.name}_precision", f"{self.name}_recall", self.name


@dataclass(frozen=True)
class SodaA(_Soda):
    """SODA (a): matched by IoU above thresholds, averaged over them."""

    tious: str
    name: ClassVar[str] = "soda_a"


@dataclass(frozen=True)
class SodaB(_Soda):
    """SODA (b): matched by IoU."""

    name: ClassVar[str] = "soda_b"


@dataclass(frozen=True)
class SodaC(_Soda):
    """SODA (c): matched and scored by IoU × f."""

    name: ClassVar[str] = "soda_c"


@dataclass(frozen=True)
class ActivityNet(VideoScores):
    """The ActivityNet scorer: its sentence metrics, and the detection's precision and recall."""

    variant: str
    tious: str
    max_captions: int
    epsilon: float
    metrics: tuple[Metric, ...]
    name: ClassVar[str] = "activitynet"

    @property
    def outputs(self) -> tuple[str, ...]:
        """Outputs of the sentence metrics, precision, recall and their F1."""
        names = [name for metric in self.metrics for name in metric.outputs]
        return tuple(PREFIX + name for name in (*names, "precision", "recall", "f1"))

    @property
    def output_scales(self) -> tuple[Scale, ...]:
        """As the sentence metrics have it; F1 is not the mean of the videos' F1."""
        *means, f1 = super().output_scales
        outputs = (scale for metric in self.metrics for scale in metric.output_scales)
        sentences = (replace(scale, mean=True) for scale in outputs)
        return (*sentences, *means[-2:], replace(f1, mean=False))

    def scores(self, totals: FloatArray) -> FloatArray:
        """Means over videos; F1 of the mean precision and the mean recall."""
        means = super().scores(totals)
        return np.concatenate(
            [means, f1_of(means[..., -2], means[..., -1])[..., np.newaxis]], axis=-1
        )

    def signature(self, **context: object) -> str:
        """All parameters, those of each sentence metric in a part of its own."""
        metrics = "|".join(spelled(metric) for metric in self.metrics)
        parts = super().signature(**context).split("|")
        return "|".join(metrics if part.startswith("metrics:") else part for part in parts)

    @classmethod
    def from_parameters(cls, parameters: dict[str, str]) -> ActivityNet:
        """Build the scorer from its signature; context such as the videos is left aside."""
        metrics = [
            f"{key}:{value}".replace("/", "|") for key, value in parameters.items() if "/" in key
        ]
        try:
            return cls(
                parameters["variant"],
                parameters["tious"],
                int(parameters["max_captions"]),
                float(parameters["epsilon"]),
                tuple(map(parse, metrics)),
            )
        except (KeyError, ValueError):
            raise DataError("The signature is not one of the ActivityNet scorer.") from None


def spelled(metric: Metric) -> str:
    """A metric and its parameters as one part of a signature.

    >>> from reelscore.metrics.rouge_l import RougeL
    >>> spelled(RougeL())
    'rouge_l/beta:1.2'
    """
    return metric.signature().replace("|", "/")


@dataclass(frozen=True)
class ByThreshold:
    """What the ActivityNet scorer gives at each threshold.

    Attributes:
        tious: The thresholds.
        videos: Videos × thresholds × (outputs of the sentence metrics, precision, recall).
    """

    tious: tuple[float, ...]
    videos: FloatArray


class StoryScores(Scores):
    """All scores of one system, by name: ``soda_c``, ``soda_c_precision``, ``anet_meteor``.

    >>> from reelscore import examples, stories
    >>> systems, annotators = examples.stories()
    >>> results = stories.score(systems["concise"], annotators.values())
    >>> round(results["soda_c"].score, 4), round(results["anet_meteor"].score, 4)
    (0.1929, 0.2333)
    """

    def __init__(
        self,
        measurements: Sequence[Measurement],
        notes: Sequence[str] = (),
        by_threshold: ByThreshold | None = None,
    ) -> None:
        super().__init__(measurements, notes)
        self.by_threshold = by_threshold

    def with_intervals(
        self, *, level: float = 0.95, resamples: int = 1000, seed: int = 12345
    ) -> StoryScores:
        """Add a bootstrap interval over videos to every score."""
        found = StoryScores(self.measurements, self.notes, self.by_threshold)
        found._results = dict(
            super().with_intervals(level=level, resamples=resamples, seed=seed).items()
        )
        return found

    def to_dict(self) -> dict[str, dict[str, Any]]:
        """Give the scores as plain data: by SODA score, and ``activitynet`` by metric."""
        found: dict[str, dict[str, Any]] = {}
        for each in self.measurements:
            if isinstance(each.metric, ActivityNet):
                found[each.metric.name] = self._activitynet(each)
            else:
                found[each.metric.name] = self._soda(each)
        return found

    def _soda(self, each: Measurement) -> dict[str, Any]:
        keys = {"precision": PRECISION, "recall": RECALL, "f1": F1}
        results = {key: self[each.metric.outputs[k]] for key, k in keys.items()}
        rows = each.metric.scores(each.statistics).tolist()
        plain: dict[str, Any] = {key: result.score for key, result in results.items()}
        plain["signature"] = results["f1"].signature
        if results["f1"].interval is not None:
            plain["intervals"] = {key: list(r.interval or ()) for key, r in results.items()}
        plain["videos"] = {
            video: {key: row[k] for key, k in keys.items()}
            for video, row in zip(each.index.items, rows, strict=True)
        }
        return plain

    def _activitynet(self, each: Measurement) -> dict[str, Any]:
        assert self.by_threshold is not None
        by_tiou = _with_f1(self.by_threshold.videos.mean(axis=0))
        found: dict[str, Any] = {}
        for k, name in enumerate(each.metric.outputs):
            result = self[name]
            plain: dict[str, Any] = {"score": result.score}
            if result.interval is not None:
                plain["interval"] = list(result.interval)
            plain["signature"] = result.signature
            plain["by_tiou"] = {
                f"{tiou:g}": float(row[k])
                for tiou, row in zip(self.by_threshold.tious, by_tiou, strict=True)
            }
            plain["videos"] = result.items.to_dict()
            found[name.removeprefix(PREFIX)] = plain
        return found


def _with_f1(rows: FloatArray) -> FloatArray:
    return np.column_stack([rows, f1_of(rows[:, -2], rows[:, -1])])


@dataclass(frozen=True)
class StoryResults:
    """Scores of several systems on the same references.

    Attributes:
        systems: The scores of each system.
        common: The videos that all systems share, where only these were scored.

    >>> from reelscore import examples, stories
    >>> systems, annotators = examples.stories()
    >>> results = stories.score_systems(systems, annotators.values(), "soda_c")
    >>> {name: round(scores["soda_c"].score, 3) for name, scores in results.systems.items()}
    {'concise': 0.193, 'verbose': 0.071, 'shuffled': 0.044}
    """

    systems: Mapping[str, StoryScores]
    common: Coverage | None = None

    @property
    def table(self) -> ScoreTable:
        """The score table, for `reelscore.compare`, leaderboards and reports."""
        rows: dict[str, Mapping[str, MetricResult]] = dict(self.systems)
        table = ScoreTable(rows)
        own_notes = system_notes({name: scores.notes for name, scores in self.systems.items()})
        return replace(table, notes=[*own_notes, *items_notes(table, self.common)])

    def to_dict(self) -> dict[str, Any]:
        """Give everything as plain data, ready for JSON."""
        return {
            "systems": {name: scores.to_dict() for name, scores in self.systems.items()},
            **({"notes": list(self.table.notes)} if self.table.notes else {}),
        }

    def with_intervals(
        self, *, level: float = 0.95, resamples: int = 1000, seed: int = 12345
    ) -> StoryResults:
        """Add bootstrap intervals over videos."""
        return StoryResults(
            {
                name: scores.with_intervals(level=level, resamples=resamples, seed=seed)
                for name, scores in self.systems.items()
            },
            self.common,
        )


def measurement(
    metric: VideoScores, index: ItemIndex, values: FloatArray, context: Mapping[str, object]
) -> Measurement:
    """Put the values of each video, videos × outputs, together with how they were made."""
    return Measurement(metric, index, with_count(*values.T), metric.signature(**context))
