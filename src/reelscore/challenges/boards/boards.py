"""Leaderboards: the entries that count, their ranks, and how far these can be trusted.

A board is made of entries whose numbers have passed `reelscore.challenges.permissions`: it does not
know what was rounded or held back. It holds data alone; `reelscore.challenges.boards.board_forms`
writes it.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Literal, get_args

import numpy as np

from reelscore.challenges.boards.ladder import Score
from reelscore.challenges.boards.resamples import NO_RESAMPLES, Resamples
from reelscore.challenges.definition.records import Final
from reelscore.data.tables.scales import Better, Scale
from reelscore.errors import DataError, check_choice
from reelscore.significance.comparison import Comparison
from reelscore.stats.corrections import Correction
from reelscore.stats.resampling import all_pairs_p_values

Kind = Literal["team", "organisers", "baseline"]
Place = Literal["ranked", "late", "after"]
MARKS: Mapping[Kind, str] = {"team": "", "organisers": "*", "baseline": "b"}
PLACES: Mapping[Place, str] = {
    "ranked": "Ranked entries",
    "late": "After the deadline, not ranked",
    "after": "After the end of the phase, not ranked",
}


@dataclass(frozen=True)
class BoardEntry:
    """A submission as a board sees it, and what the board says of it where it counts."""

    id: str  # the submission's public id
    team: str  # the team's name
    arrived: int  # when it arrived, in microseconds since 1970
    scores: Mapping[str, Score]  # its scores by name, as far as they may be shown
    # its resamples, as far as they may be used
    draws: Resamples = field(default=NO_RESAMPLES, repr=False, compare=False)
    kind: Kind = "team"  # whose entry it is; organisers and baselines are marked and win nothing
    place: Place = "ranked"  # whether it is ranked, late, or came after the end
    chosen: bool = False  # whether the team's captain chose it
    method: str = ""  # what the team says about it
    link: str = ""  # where it is described
    # whether the team withdrew it after the close: where it would count, the team has no entry
    given_up: bool = False
    entries: int = 1  # how many entries the team has in the phase
    rank: str = ""  # its place: ``2``, or ``=2`` of equal scores; empty where it is not ranked
    cluster: int | None = None  # the number of its cluster; ``None`` where it is not ranked
    ranks: tuple[int, int] | None = None  # the first and the last place that the test leaves it


@dataclass(frozen=True)
class BoardColumn:
    """A column of a board."""

    score: str  # the score's name, such as ``cider`` or ``human:helpful``
    label: str  # what its heading says
    group: str = ""  # the heading above it and its neighbours
    better: Better = "high"  # whether a high or a low score is better, or neither
    factor: float = 1  # what numbers are multiplied by in print
    decimals: int = 4  # how many decimals they have in print
    ranked: bool = True  # whether the best number is emphasised; text statistics are not graded

    @property
    def heading(self) -> str:
        """The label, with an arrow where lower is better."""
        return Scale(self.better).heading(self.label) if self.ranked else self.label


@dataclass(frozen=True)
class Leaderboard:
    """A leaderboard."""

    id: str  # what the definition calls it
    title: str  # what its page is called
    primary: str  # the score that orders it
    columns: Sequence[BoardColumn]  # its columns
    rows: Sequence[BoardEntry] = ()  # the ranked entries, best first
    below: Sequence[BoardEntry] = ()  # entries that are listed without a rank, late ones first
    names: Sequence[str] = ()  # teams that take part, whose scores are not shown
    final: Final = "last"  # how the entry that counts was chosen
    test: str = ""  # how entries were compared, in words
    # how the scores were made, by score
    signatures: Mapping[str, str] = field(default_factory=dict)
    generation: int = 1  # how often the phase has been scored
    notes: Sequence[str] = ()  # what a reader has to know, a sentence each

    @property
    def primary_column(self) -> BoardColumn:
        """The column that orders it."""
        return next(column for column in self.columns if column.score == self.primary)

    @property
    def all_rows(self) -> list[BoardEntry]:
        """Ranked rows, then the others."""
        return [*self.rows, *self.below]

    def best(self, column: BoardColumn) -> float | None:
        """The best number of a column among ranked entries; ``None`` where none is."""
        if not column.ranked:
            return None
        scores = (row.scores.get(column.score) for row in self.rows)
        return Scale(column.better).best([score.value for score in scores if score is not None])


def final_entry(
    entries: Sequence[BoardEntry], final: Final, primary: str, better: Better
) -> BoardEntry:
    """Return the entry that counts among those of one team."""
    check_choice("rule for the final entry", final, get_args(Final))
    if final == "best":
        sign = Scale(better).sign
        return max(entries, key=lambda entry: (sign * entry.scores[primary].value, -entry.arrived))
    if final == "chosen" and any(entry.chosen for entry in entries):
        entries = [entry for entry in entries if entry.chosen]
    return max(entries, key=lambda entry: entry.arrived)


def make_board(
    id: str,
    title: str,
    entries: Iterable[BoardEntry],
    columns: Sequence[BoardColumn],
    *,
    primary: str,
    final: Final = "last",
    level: float = 0.05,
    correction: Correction = "holm",
    names: Sequence[str] = (),
    generation: int = 1,
    notes: Sequence[str] = (),
) -> Leaderboard:
    """Rank the entries that count; those without the primary score are not on the board."""
    better = next((column.better for column in columns if column.score == primary), None)
    if better is None:
        raise DataError(f"No column of the board {id!r} is its primary score, {primary!r}.")
    teams: dict[tuple[Place, str], list[BoardEntry]] = {}
    wanted = [column.score for column in columns]
    for entry in entries:
        score = entry.scores.get(primary)
        if score is not None and math.isfinite(score.value):
            own = {name: entry.scores[name] for name in wanted if name in entry.scores}
            teams.setdefault((entry.place, entry.team), []).append(replace(entry, scores=own))
    rows: dict[Place, list[BoardEntry]] = {place: [] for place in PLACES}
    for (place, _), team in teams.items():
        if not (counting := final_entry(team, final, primary, better)).given_up:
            count = sum(not entry.given_up for entry in team)
            rows[place].append(replace(counting, entries=count))
    ordered, *unranked = (in_order(rows[place], primary, better) for place in PLACES)
    tests = compare_entries(ordered, primary, better, level, correction)
    below = [row for place in unranked for row in place]
    untested = []
    if tests.untested and len(ordered) > 1:
        untested = [f"Entries were not compared: {tests.untested}."]
    signatures: dict[str, str] = {}
    for row in [*ordered, *below]:
        for column in columns:
            score = row.scores.get(column.score)
            if score is not None and score.signature:
                signatures.setdefault(column.score, score.signature)
    return Leaderboard(
        id,
        title,
        primary,
        list(columns),
        ranked_rows(ordered, primary, tests),
        below,
        list(names),
        final,
        tests.about,
        signatures,
        generation,
        [*notes, *untested],
    )


def in_order(rows: Iterable[BoardEntry], score: str, better: Better) -> list[BoardEntry]:
    """Sort rows by a score, best first; of equal ones the earlier comes first."""
    sign = Scale(better).sign
    return sorted(rows, key=lambda r: (-sign * r.scores[score].value, r.arrived))


def ranked_rows(ordered: Sequence[BoardEntry], score: str, tests: Comparison) -> list[BoardEntry]:
    """Number rows that are in order: places, clusters and ranges of places."""
    values = [row.scores[score].value for row in ordered]
    clusters, ranges = tests.clusters, tests.ranges
    rows = []
    for row, value in zip(ordered, values, strict=True):
        first = values.index(value) + 1
        rank = f"={first}" if values.count(value) > 1 else str(first)
        own = clusters.get(row.id, 1)
        rows.append(replace(row, rank=rank, cluster=own, ranks=ranges[row.id]))
    return rows


def compare_entries(
    entries: Sequence[BoardEntry],
    score: str,
    better: Better,
    level: float = 0.05,
    correction: Correction = "holm",
) -> Comparison:
    """Compare all pairs of entries by one score, from their resamples.

    Scores by people bring their clusters along: there an entry is better than those of the
    clusters behind its own.
    """
    ids = [entry.id for entry in entries]
    scores = np.array([entry.scores[score].value for entry in entries])
    numbers = [n for entry in entries if (n := entry.scores[score].cluster) is not None]
    if entries and len(numbers) == len(entries):
        behind = np.subtract.outer(numbers, numbers) != 0
        p = np.where(behind, 0.0, 1.0)
        np.fill_diagonal(p, np.nan)
        return Comparison.of(
            score, ids, scores, p, better=better, level=level, method="clusters of the campaign"
        )
    samples = [entry.draws.samples.get(score) for entry in entries]
    drawn = [each for each in samples if each is not None]
    if len(drawn) < 2 or len({len(each) for each in drawn}) > 1:
        return Comparison.none(score, ids, "the entries have no resamples in common")
    p = np.full((len(entries), len(entries)), np.nan)
    there = [k for k, each in enumerate(samples) if each is not None]
    p[np.ix_(there, there)] = all_pairs_p_values(np.column_stack(drawn), scores[there])
    return Comparison.of(
        score,
        ids,
        scores,
        p,
        correction,
        better=better,
        level=level,
        method=f"paired bootstrap, {len(drawn[0]):,} resamples",
        signature=f"bootstrap|{correction}|draws:{len(drawn[0])}",
    )
