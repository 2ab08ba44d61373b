"""Battles: which of two captions of an item is better, whoever says so, and how systems stand then.

Judgments of people, answers of a model and files of others become rows of one form. Strengths are
those of Bradley and Terry (`reelscore.significance.strengths`), ratings those of Elo, or points as
CapArena-Auto counts them: half of wins less losses beside each of three baselines, and their mean.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, Literal, get_args

import numpy as np
from numpy.typing import ArrayLike

from reelscore._progress import Progress
from reelscore._version import __version__
from reelscore.campaigns.evaluate.rankings import lay_out_rankings
from reelscore.campaigns.judgments import FloatArray, IntArray, Judgments, Mask, NameColumn
from reelscore.data.tables.scales import Scale
from reelscore.data.tables.table import WITHOUT_ITEMS, MetricResult, ScoreTable
from reelscore.errors import DataError, check_choice
from reelscore.significance.strengths import (
    POINTS,
    START,
    Outcomes,
    Strengths,
    Ties,
    bootstrap_elo,
    bootstrap_strengths,
    check_connected,
    fit_strengths,
)
from reelscore.stats.resampling import bootstrap_scores, percentile_interval

Preset = Literal["bradley-terry", "elo", "caparena-auto"]
# as the battles of CapArena call them
BASELINES = ("GPT-4o-0806", "CogVLM2-llama3-chat-19B", "MiniCPM-V2.6-8B")
_LABELS = {"bradley-terry": "Bradley–Terry", "elo": "Elo", "caparena-auto": "CapArena-Auto"}
_EACH = 200  # items that CapArena-Auto has for each baseline


@dataclass(frozen=True)
class Battles:
    """Battles of systems, a row each."""

    systems: tuple[str, ...]  # their names
    items: tuple[str, ...]  # the names of what was described
    outcomes: Outcomes  # who met whom, and who won
    shown: Mask  # whether the first of the two was shown first; where that is not known, it is not
    words: FloatArray  # how many words the captions have, battles × 2; NaN where not known
    baselines: IntArray  # the number of the system that the other was to beat; −1 where none was
    notes: tuple[str, ...] = ()  # what was left out

    @classmethod
    def of(
        cls,
        first: Sequence[str],
        second: Sequence[str],
        items: Sequence[str],
        points: ArrayLike,
        *,
        shown: ArrayLike = True,
        words: ArrayLike = np.nan,
        baselines: Sequence[str] | None = None,
        notes: Iterable[str] = (),
    ) -> Battles:
        """Take battles over by column; points are 1, 0.5 or 0 of the first."""
        count = len(first)
        if not count:
            raise DataError("There are no battles; expected at least one.")
        systems, own = NameColumn.of([*first, *second]), NameColumn.of(items)
        one, other = np.split(systems.codes, 2)
        result = np.asarray(points, dtype=np.float64)
        number = {name: k for k, name in enumerate(systems.names)}
        named = [""] * count if baselines is None else baselines
        return cls(
            systems.names,
            own.names,
            Outcomes(len(systems.names), one, other, result, own.codes),
            np.broadcast_to(np.asarray(shown, dtype=bool), count),
            np.broadcast_to(np.asarray(words, dtype=np.float64), (count, 2)),
            np.array([number.get(name, -1) for name in named], dtype=np.int64),
            tuple(notes),
        )

    @classmethod
    def join(cls, parts: Sequence[Battles]) -> Battles:
        """Put battles of several sources together; systems and items of one name are the same."""
        if len(parts) == 1:
            return parts[0]
        return cls.of(
            [name for part in parts for name in part.names(part.outcomes.first)],
            [name for part in parts for name in part.names(part.outcomes.second)],
            [part.items[k] for part in parts for k in part.outcomes.items.tolist()],
            np.concatenate([part.outcomes.points for part in parts]),
            shown=np.concatenate([part.shown for part in parts]),
            words=np.concatenate([part.words for part in parts]),
            baselines=[name for part in parts for name in part.names(part.baselines)],
            notes=dict.fromkeys(note for part in parts for note in part.notes),
        )

    def names(self, numbers: IntArray) -> list[str]:
        """Return the names of systems by number; of −1, none."""
        names = (*self.systems, "")
        return [names[k] for k in numbers.tolist()]

    @classmethod
    def of_judgments(cls, judgments: Judgments, form: str, criterion: str | None = None) -> Battles:
        """Take comparisons over, or each two captions of a ranking, of raters who can be trusted.

        Where there are several criteria, one must be named.
        """
        rows = judgments.select(judgments.is_kind("caption"))
        names = rows.criterion.names
        if criterion is None and len(names) > 1:
            raise DataError(f"Judged by {', '.join(names)}; choose one: --criterion {names[0]}.")
        if criterion is not None:
            check_choice("criterion", criterion, names)
            rows = rows.only(criterion)
        if form == "comparison":
            points = (1 - np.sign(rows.score)) / 2
            return cls.of([*rows.system], [*rows.against], [*rows.item], points)
        systems = sorted(rows.system.names)
        ranks, item, items = lay_out_rankings(rows, systems)
        one, other = np.triu_indices(len(systems), 1)
        points = (1 + np.sign(ranks[:, other] - ranks[:, one])) / 2
        own = np.repeat(item, len(one)).tolist()
        return cls.of(
            [systems[k] for k in one] * len(ranks),
            [systems[k] for k in other] * len(ranks),
            [items.items[k] for k in own],
            points.ravel(),
            shown=False,
        )

    def with_captions(self, captions: Mapping[str, Mapping[str, str]]) -> Battles:
        """Count the words of captions, by system and item, where they are not known yet."""
        words = self.words.copy()
        for column, systems in enumerate((self.outcomes.first, self.outcomes.second)):
            for row in np.flatnonzero(np.isnan(words[:, column])):
                own = captions.get(self.systems[systems[row]], {})
                text = own.get(self.items[self.outcomes.items[row]])
                if text is not None:
                    words[row, column] = len(text.split())
        return replace(self, words=words)

    def mean_words(self) -> FloatArray:
        """Return the mean length of each system's captions; NaN where it is not known."""
        system = np.concatenate([self.outcomes.first, self.outcomes.second])
        words = self.words.T.ravel()
        known = ~np.isnan(words)
        counts = np.bincount(system[known], minlength=len(self.systems))
        sums = np.bincount(system[known], words[known], minlength=len(self.systems))
        means: FloatArray = np.where(counts > 0, sums / np.maximum(counts, 1), np.nan)
        return means


@dataclass(frozen=True)
class BattleRanking:
    """How systems stand, best first."""

    preset: Preset  # by what
    systems: tuple[str, ...]  # their names
    scores: FloatArray  # strengths, ratings or points
    intervals: FloatArray  # bootstrap intervals of the scores, systems × 2
    ranks: IntArray  # the first and the last place of each in these resamples, systems × 2
    battles: IntArray  # how many each had
    won: FloatArray  # the share that it won
    tied: FloatArray  # the share that were ties
    words: FloatArray  # the mean length of its captions; NaN where that is not known
    beside: Mapping[str, FloatArray]  # the points beside each baseline, where there are baselines
    draws: FloatArray  # the scores of the resamples, resamples × systems
    signature: str  # how the scores were made
    notes: tuple[str, ...]  # what a reader has to know

    def table(self) -> ScoreTable:
        """Return the scores as a table; items have none of their own."""
        name, scale = self.preset.replace("-", "_"), Scale("high", label=_LABELS[self.preset])
        rows = zip(self.systems, self.scores.tolist(), self.intervals.tolist(), strict=True)
        results = {
            system: MetricResult(name, score, WITHOUT_ITEMS, self.signature, (low, high), scale)
            for system, score, (low, high) in rows
        }
        return ScoreTable({system: {name: each} for system, each in results.items()}, self.notes)

    def to_dict(self) -> dict[str, object]:
        """Return a row for each system as plain data, ready for JSON; NaN becomes ``None``."""
        columns: dict[str, FloatArray | IntArray] = {
            name: getattr(self, name)
            for name in ("scores", "intervals", "ranks", "battles", "won", "tied", "words")
        }
        columns |= {f"beside {name}": points for name, points in self.beside.items()}
        rows = {
            system: {name: _plain(column[k]) for name, column in columns.items()}
            for k, system in enumerate(self.systems)
        }
        return {"preset": self.preset, "signature": self.signature, "systems": rows}


def _plain(value: Any) -> object:
    if np.ndim(value):
        return value.tolist()
    return None if np.isnan(value) else value.item()


def rank_battles(
    battles: Battles,
    preset: Preset = "bradley-terry",
    *,
    ties: Ties = "davidson",
    baselines: Sequence[str] = BASELINES,
    level: float = 0.95,
    resamples: int = 1000,
    seed: int = 12345,
    progress: Progress | None = None,
) -> BattleRanking:
    """Rank systems by their battles.

    By ``bradley-terry``, with ties by the model of ``davidson``, or each a ``half`` win for both;
    by ``elo``, the median of ratings of battles that are drawn anew; or by ``caparena-auto``, half
    of wins less losses beside each baseline, and their mean. Resamples draw items anew, those of
    ``elo`` battles.
    """
    check_choice("preset of battles", preset, get_args(Preset))
    outcomes, seeded = battles.outcomes, {"resamples": resamples, "seed": seed}
    beside: dict[str, FloatArray] = {}
    notes = list(battles.notes)
    ranked = np.arange(len(battles.systems))
    if preset == "caparena-auto":
        points, own, notes_of_points = _baseline_points(battles, baselines)
        beside = dict(zip(baselines, points.T, strict=True))
        scores = points.mean(axis=1)
        draws = bootstrap_scores(own, lambda totals: totals, **seeded)
        ranked = np.flatnonzero(own.any(axis=0) | ~np.isin(battles.systems, baselines))
        notes += notes_of_points
        made = f"baselines:{','.join(baselines)}"
    elif preset == "elo":
        draws = bootstrap_elo(outcomes, progress=progress, **seeded)
        scores = np.median(draws, axis=0)
        made = "k:4|start:1000|drawn:battles"
    else:
        check_connected(outcomes, battles.systems)
        fit = fit_strengths(outcomes, ties=ties)
        scores = fit.points
        logits = bootstrap_strengths(outcomes, ties=ties, progress=progress, **seeded)
        draws = START + POINTS * logits
        notes += _notes_of_fit(battles, fit)
        made = f"ties:{ties}"
    signature = (
        f"{preset.replace('-', '_')}|{made}|battles:{len(outcomes.points)}"
        f"|items:{len(battles.items)}|level:{level:g}|resamples:{resamples}|seed:{seed}"
        f"|v:{__version__}"
    )
    order = ranked[np.argsort(-scores[ranked], kind="stable")]
    draws = draws[:, order]
    places = np.stack([1 + (draws > own[:, None]).sum(axis=1) for own in draws.T], axis=1)
    tail = (1 - level) / 2
    ranks = [
        np.quantile(places, tail, axis=0, method="lower"),
        np.quantile(places, 1 - tail, axis=0, method="higher"),
    ]
    fought, won, tied = _counts(outcomes)
    return BattleRanking(
        preset,
        tuple(battles.systems[k] for k in order),
        scores[order],
        percentile_interval(draws, level).T,
        np.stack(ranks, axis=1).astype(np.int64),
        fought[order],
        (won / np.maximum(fought, 1))[order],
        (tied / np.maximum(fought, 1))[order],
        battles.mean_words()[order],
        {name: column[order] for name, column in beside.items()},
        draws,
        signature,
        tuple(notes),
    )


def _counts(outcomes: Outcomes) -> tuple[IntArray, IntArray, IntArray]:
    """Count the battles, wins and ties of each system."""
    size = outcomes.systems
    both = np.concatenate([outcomes.first, outcomes.second])
    points = np.concatenate([outcomes.points, 1 - outcomes.points])
    kinds = both, both[points == 1], both[points == 0.5]
    fought, won, tied = (np.bincount(kind, minlength=size).astype(np.int64) for kind in kinds)
    return fought, won, tied


def _notes_of_fit(battles: Battles, fit: Strengths) -> list[str]:
    fought, won, tied = _counts(battles.outcomes)
    notes = []
    for word, mask in (("won", won == fought), ("lost", (won + tied == 0) & (fought > 0))):
        if names := [battles.systems[k] for k in np.flatnonzero(mask)]:
            notes.append(
                f"{', '.join(names)} {word} every battle: how far from the others the score is "
                "is a guess."
            )
    if tied.any() and fit.tie:
        notes.append(f"Two equal systems tie in {fit.tie / (2 + fit.tie):.1%} of battles.")
    return notes


def _baseline_points(
    battles: Battles, baselines: Sequence[str]
) -> tuple[FloatArray, FloatArray, list[str]]:
    """Return points by system and baseline, those of each item by system, and notes.

    An item asked about in several orders counts once, with the mean of the answers.
    """
    lacking = [name for name in baselines if name not in battles.systems]
    if lacking or not baselines:
        raise DataError(
            f"No battle has the baseline {', '.join(lacking)}; name those of your battles: "
            f"--baselines A,B,C. There are {', '.join(battles.systems[:9])}."
        )
    outcomes, size = battles.outcomes, len(battles.systems)
    target = np.concatenate([outcomes.second, outcomes.first])
    system = np.concatenate([outcomes.first, outcomes.second])
    net = np.concatenate([outcomes.points, 1 - outcomes.points]) * 2 - 1
    column = np.full(size, -1)
    column[[battles.systems.index(name) for name in baselines]] = np.arange(len(baselines))
    asked = np.tile(battles.baselines, 2)
    kept = (column[target] >= 0) & ((asked < 0) | (asked == target))
    item = np.tile(outcomes.items, 2)[kept]
    cell = column[target[kept]] * size + system[kept]
    cells = len(baselines) * size
    keys, place = np.unique(item * cells + cell, return_inverse=True)
    each = np.bincount(place, net[kept]) / np.bincount(place) / 2
    points = np.bincount(keys % cells, each, minlength=cells).reshape(-1, size).T
    rows = np.zeros((len(battles.items), size))
    np.add.at(rows, (keys // cells, keys % size), each / len(baselines))
    counts = np.bincount(keys % cells, minlength=cells)
    others = [f"{count:,}" for count in np.unique(counts) if count not in (0, _EACH)][:3]
    notes = [
        f"CapArena-Auto has {_EACH} items for each baseline; here are {' or '.join(others)}, so "
        "scores cannot be compared with published ones."
    ]
    return points, rows, notes if others else []
