"""From judgments to scores: standardize each rater, average each caption, average each system.

Raw scores depend on who judged: some raters are harsh, some use half the scale. A z score is how
many of the rater's own standard deviations a judgment lies above the rater's own mean. A caption's
score is the mean of its judgments, repeats among them; a system's score is the mean of its
captions, each with the same weight however often it was judged.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Literal

import numpy as np

from reelscore._version import __version__
from reelscore.campaigns.judgments import FloatArray, IntArray, Judgments, NameColumn
from reelscore.data.tables.table import ItemIndex, ItemScores, MetricResult, ScoreTable
from reelscore.errors import DataError

Over = Literal["all", "genuine", "given"]
Average = Literal["judgments", "raters"]


@dataclass(frozen=True)
class HumanScores:
    """People's scores of systems, as a score table, and how many judgments are behind them.

    Attributes:
        table: Metrics ``raw`` and ``z``; with several criteria ``adequacy_raw`` and so on.
            Systems stand best first.
        counts: For each system, how many judgments each item has.
        notes: What was left out.
    """

    table: ScoreTable
    counts: Mapping[str, ItemScores]
    notes: tuple[str, ...] = field(default=())

    def judgments(self, system: str) -> int:
        """Count the judgments behind a system's score."""
        return int(self.counts[system].array.sum())

    def at_least(self, minimum: int = 15) -> HumanScores:
        """Keep the captions with enough judgments; 15 make the score of one repeatable.

        Raises:
            DataError: If no caption has that many.
        """
        results: dict[str, dict[str, MetricResult]] = {}
        counts: dict[str, ItemScores] = {}
        for system, number in self.counts.items():
            enough = number.array >= minimum
            if not enough.any():
                continue
            index = ItemIndex([item for item, keep in zip(number, enough, strict=True) if keep])
            counts[system] = ItemScores(index, number.array[enough])
            results[system] = {}
            for name, result in self.table[system].items():
                kept = ItemScores(index, result.items.array[enough])
                signature = f"{result.signature}|minimum:{minimum}"
                scored = MetricResult(name, float(kept.array.mean()), kept, signature)
                results[system][name] = scored
        if not results:
            most = max(int(number.array.max()) for number in self.counts.values())
            raise DataError(
                f"No caption has {minimum} judgments (the most is {most}); collect more, or ask "
                "for fewer."
            )
        return HumanScores(ScoreTable(results, self.table.notes), counts, self.notes)


def standardize(judgments: Judgments, over: Over = "all") -> FloatArray:
    """Return each judgment as z: its distance from its rater's mean, in the rater's deviations.

    Args:
        judgments: Everything the raters said; criteria are standardized each by itself.
        over: Mean and deviation of ``all`` judgments of a rater, controls among them, as the
            published campaigns do, or of ``genuine`` ones (captions and repeats) only, as WMT's
            later tools do; ``given``: the z scores that came with the judgments.

    Returns:
        The z scores; NaN for raters who always gave the same score.

    Raises:
        DataError: If z scores are to be taken as given, and some are not.

    >>> from reelscore.campaigns.judgments import Judgment
    >>> rows = [Judgment("r1", "h1", f"t{k}", k, "mine", f"v{k}", "caption", score)
    ...         for k, score in enumerate([40.0, 50.0, 60.0])]
    >>> standardize(Judgments.of(rows)).tolist()
    [-1.0, 0.0, 1.0]
    """
    if over == "given":
        if np.isnan(judgments.z).any():
            raise DataError(
                "Not all judgments have an imported z score; standardize over all tasks instead."
            )
        return judgments.z
    groups = judgments.rater.codes * len(judgments.criterion.names) + judgments.criterion.codes
    size = len(judgments.rater.names) * len(judgments.criterion.names)
    counts = judgments.genuine if over == "genuine" else np.ones(len(judgments), dtype=bool)
    rows, scores = groups[counts], judgments.score[counts]
    number = np.bincount(rows, minlength=size)
    mean = np.bincount(rows, scores, minlength=size) / np.maximum(number, 1)
    squares = np.bincount(rows, (scores - mean[rows]) ** 2, minlength=size)
    deviation = np.sqrt(squares / np.maximum(number - 1, 1))
    deviation[(deviation == 0) | (number < 2)] = np.nan
    z: FloatArray = (judgments.score - mean[groups]) / deviation[groups]
    return z


def score_judgments(
    judgments: Judgments,
    *,
    over: Over | None = None,
    average: Average = "judgments",
    made_by: str = "",
) -> HumanScores:
    """Score captions and systems by what people said.

    Args:
        judgments: Of raters who can be trusted, controls among them: see
            `reelscore.campaigns.evaluate.quality.Quality.good`.
        over: What a rater's mean and deviation are taken over: see `standardize`; ``given``
            where z scores came with the judgments, else ``all``.
        average: A caption's score is the mean of its ``judgments``, or of its ``raters``, of whom
            each counts once however often the caption was repeated.
        made_by: What came before, for the signature.

    Raises:
        DataError: If nothing is left to score.

    >>> from reelscore.campaigns.judgments import Judgment
    >>> rows = [Judgment(rater, "h1", f"{system}{k}", k, system, f"v{k}", "caption", score + k)
    ...         for rater in ("r1", "r2") for system, score in (("a", 40.0), ("b", 60.0))
    ...         for k in range(3)]
    >>> scores = score_judgments(Judgments.of(rows))
    >>> scores.table.systems, scores.table["b"]["raw"].score, scores.judgments("b")
    (['b', 'a'], 61.0, 6)
    """
    over = over or ("all" if np.isnan(judgments.z).any() else "given")
    z = standardize(judgments, over)
    usable = judgments.genuine & ~np.isnan(z)
    notes = _constant_raters(judgments, z)
    if not usable.any():
        raise DataError("No judgment is left to score: " + " ".join(notes or ["there are none."]))
    kept, z = judgments.select(usable), z[usable]
    made = f"|{made_by}" if made_by else ""
    signature = f"human|z:{over}|average:{average}{made}|v:{__version__}"
    results: dict[str, dict[str, MetricResult]] = {system: {} for system in kept.system.names}
    counts: dict[str, ItemScores] = {}
    for criterion in kept.criterion.names:
        rows = kept.criterion[criterion]
        prefix = f"{criterion}_" if len(kept.criterion.names) > 1 else ""
        for name, values in (("raw", kept.score), ("z", z)):
            captions = _captions(kept.select(rows), values[rows], average)
            for system, (scores, number) in captions.items():
                results[system][prefix + name] = MetricResult(
                    prefix + name,
                    float(scores.array.mean()),
                    scores,
                    f"{prefix}{name}|{signature}",
                    ratings={item: int(count) for item, count in number.to_dict().items()},
                )
                counts.setdefault(system, number)

    def z_of(system: str) -> float:
        """Return the z of a system, the mean over criteria where there are several."""
        return float(np.mean([r.score for name, r in results[system].items() if name[-1] == "z"]))

    best = sorted(results, key=z_of, reverse=True)
    return HumanScores(
        ScoreTable({system: results[system] for system in best}, notes),
        {system: counts[system] for system in best},
        tuple(notes),
    )


def _captions(
    judgments: Judgments, values: FloatArray, average: Average
) -> dict[str, tuple[ItemScores, ItemScores]]:
    """Average each caption; give, for each system, scores and numbers of judgments by item."""
    items = len(judgments.item.names)
    caption = judgments.system.codes * items + judgments.item.codes
    keys, group = np.unique(caption, return_inverse=True)
    number = np.bincount(group)
    if average == "raters":
        pairs, pair = np.unique(
            group * len(judgments.rater.names) + judgments.rater.codes, return_inverse=True
        )
        values, group = _means(values, pair), pairs // len(judgments.rater.names)
    means = _means(values, group)
    by_system = {}
    for code, system in enumerate(judgments.system.names):
        mine = keys // items == code
        index = ItemIndex([judgments.item.names[key] for key in keys[mine] % items])
        by_system[system] = (
            ItemScores(index, means[mine]),
            ItemScores(index, number[mine].astype(float)),
        )
    return by_system


def _means(values: FloatArray, group: IntArray) -> FloatArray:
    """Average groups 0, 1, … exactly, to the 15 digits that scores are written with.

    Captions with the same judgments in another order must tie in the tests that follow.
    """
    order = np.argsort(group, kind="stable")
    parts = np.split(values[order], np.cumsum(np.bincount(group))[:-1])
    return np.array([float(f"{math.fsum(part.tolist()) / len(part):.15g}") for part in parts])


def group_means(scores: HumanScores, groups: Mapping[str, str]) -> HumanScores:
    """Average captions by group, such as the document or the film they belong to."""
    results: dict[str, dict[str, MetricResult]] = {}
    counts = {}
    for system in scores.table.systems:
        items = list(scores.counts[system])
        missing = [item for item in items if item not in groups]
        if missing:
            raise DataError(
                f"{len(missing)} items of {system!r} have no group (first: {missing[0]!r})."
            )
        column = NameColumn.of(groups[item] for item in items)
        index, code, size = ItemIndex(column.names), column.codes, np.bincount(column.codes)
        for name, result in scores.table[system].items():
            means = ItemScores(index, np.bincount(code, result.items.array) / size)
            grouped = MetricResult(name, float(means.array.mean()), means, result.signature)
            results.setdefault(system, {})[name] = grouped
        number = np.bincount(code, scores.counts[system].array)
        counts[system] = ItemScores(index, number.astype(float))
    return HumanScores(ScoreTable(results, scores.table.notes), counts, scores.notes)


def _constant_raters(judgments: Judgments, z: FloatArray) -> list[str]:
    lost = judgments.rater.select(np.isnan(z)).names
    if not lost:
        return []
    rater = "rater" if len(lost) == 1 else "raters"
    names = ", ".join(lost[:3]) + (", …" if len(lost) > 3 else "")
    return [f"{len(lost)} {rater} who always gave the same score: left out ({names})."]
