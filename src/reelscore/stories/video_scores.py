"""Scores of stories as metrics, whose items are videos: SODA, the ActivityNet scorer, chapters."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, fields
from dataclasses import replace as replaced
from typing import Any, ClassVar, NoReturn

import numpy as np
from msgspec.structs import replace

from reelscore._native import Rows
from reelscore.data.tables.scales import Scale
from reelscore.data.tables.table import ItemIndex
from reelscore.errors import DataError
from reelscore.metrics.base import FloatArray, Metric, with_count
from reelscore.metrics.registry import parse_signature
from reelscore.scoring.scores import Measurement
from reelscore.stories.soda import f1_of
from reelscore.text.words import CaptionBatch

# Names of the ActivityNet scorer's results in a score table begin so.
PREFIX = "anet_"
LABEL = "ANet "  # and their labels so
CHAPTERS_LABEL = "Chapters "


class VideoScores(Metric):
    """Scores whose items are videos and whose corpus score is the mean over them.

    As metrics they carry parameters, signature and aggregation, so that intervals, tests and
    tables treat stories like captions; the statistics come from `reelscore.stories.score`.
    """

    output_scale: ClassVar[Scale] = Scale("high", 0, mean=True, percent=True)

    def statistics(self, batch: CaptionBatch, prepared: Any) -> NoReturn:
        """Stories have segments, which a batch of captions has not."""
        raise TypeError(f"{self.name} scores stories: use reelscore.stories.score.")

    def scores(self, totals: FloatArray) -> FloatArray:
        """Means over videos."""
        return totals[..., :-1] / totals[..., -1:]

    @classmethod
    def from_parameters(cls, parameters: dict[str, str]) -> Metric:
        """Build the scores from their signature; context such as the videos is left aside."""
        own = {field.name for field in fields(cls)}
        if missing := own - parameters.keys():
            raise DataError(f"The signature of {cls.name} has no {min(missing)}.")
        return super().from_parameters({key: parameters[key] for key in own})


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

    @property
    def output_scales(self) -> tuple[Scale, ...]:
        """All alike, but for the labels: SODA_c, with P for precision and R for recall."""
        label = self.name.replace("soda", "SODA")
        labels = (f"{label} P", f"{label} R", label)
        return tuple(replace(self.output_scale, label=each) for each in labels)


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

    @property
    def output_scales(self) -> tuple[Scale, ...]:
        """Its F1 is what papers quote."""
        *parts, f1 = super().output_scales
        return (*parts, replace(f1, headline=True))


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
        scales = [
            *(replace(scale, mean=True) for scale in outputs),
            *(replace(means[0], label=label) for label in ("precision", "recall")),
            replace(f1, mean=False, label="F1"),
        ]
        return tuple(replace(scale, label=f"{LABEL}{scale.label}") for scale in scales)

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
    def from_parameters(cls, parameters: dict[str, str]) -> Metric:
        """Build the scorer from its signature, in which each sentence metric is a part."""
        metrics = [
            f"{key}:{value}".replace("/", "|") for key, value in parameters.items() if "/" in key
        ]
        plain = super().from_parameters({"metrics": "", **parameters})
        assert isinstance(plain, cls)
        return replaced(plain, metrics=tuple(map(parse_signature, metrics)))


@dataclass(frozen=True)
class ChapterScores(VideoScores):
    """Where chapters lie: F1 and tIoU of their segments, precision and recall of their starts."""

    chapter_tious: str
    within: str
    opening: str
    epsilon: float
    name: ClassVar[str] = "chapters"

    @property
    def outputs(self) -> tuple[str, ...]:
        """F1, tIoU, precision and recall within some seconds."""
        starts = [
            f"{part}_{each}s" for each in self.within.split("/") for part in ("precision", "recall")
        ]
        return tuple(f"{self.name}_{part}" for part in ("f1", "tiou", *starts))

    @property
    def output_scales(self) -> tuple[Scale, ...]:
        """All are shares; F1 is what papers quote."""
        starts = [f"{part}@{each}s" for each in self.within.split("/") for part in "PR"]
        labels = (f"{CHAPTERS_LABEL}{part}" for part in ("F1", "tIoU", *starts))
        f1, *others = (replace(self.output_scale, label=each) for each in labels)
        return (replace(f1, headline=True), *others)


def spelled(metric: Metric) -> str:
    """A metric and its parameters as one part of a signature."""
    return metric.signature().replace("|", "/")


def measurement(
    metric: VideoScores,
    index: ItemIndex,
    values: FloatArray,
    context: Mapping[str, object],
    by_tiou: Mapping[str, Mapping[str, float]] | None = None,
) -> Measurement:
    """Put the values of each video, videos × outputs, together with how they were made."""
    signature = metric.signature(**context)
    return Measurement(metric, index, Rows(with_count(*values.T)), signature, by_tiou or {})


def scores_by_tiou(
    metric: ActivityNet, tious: Sequence[float], values: FloatArray
) -> dict[str, dict[str, float]]:
    """The scores at each threshold, by output."""
    means = metric.scores(with_count(*values.mean(axis=0).T))
    return {
        name: {f"{tiou:g}": float(score) for tiou, score in zip(tious, column, strict=True)}
        for name, column in zip(metric.outputs, means.T, strict=True)
    }
