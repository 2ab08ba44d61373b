"""Leaderboards: the entries that count, their ranks, and how far these can be trusted.

A board is a score table whose systems are submissions, by their public ids, and what is to know of
each of them. The numbers have passed `reelscore.challenges.permissions`: a board does not know what
was rounded or held back. It holds data alone; `reelscore.challenges.boards.board_forms` writes it.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Literal, get_args

import numpy as np
from msgspec import structs

from reelscore.challenges.definition.records import Final
from reelscore.data.tables.scales import HIGHER, NumberFormat, Scale
from reelscore.data.tables.table import ScoreTable
from reelscore.errors import DataError, check_choice
from reelscore.significance.comparison import Comparison
from reelscore.stats.corrections import Correction

Kind = Literal["team", "organisers", "baseline"]
Place = Literal["ranked", "late", "after"]
MARKS: Mapping[Kind, str] = {"team": "", "organisers": "*", "baseline": "b"}
PLACES: Mapping[Place, str] = {
    "ranked": "Ranked entries",
    "late": "After the deadline, not ranked",
    "after": "After the end of the phase, not ranked",
}
_PLAIN = NumberFormat(1, 4)


@dataclass(frozen=True)
class BoardEntry:
    """A submission as a board sees it, and what the board says of it where it counts."""

    id: str  # the submission's public id
    team: str  # the team's name
    arrived: int  # when it arrived, in microseconds since 1970
    kind: Kind = "team"  # whose entry it is; organisers and baselines are marked and win nothing
    place: Place = "ranked"  # whether it is ranked, late, or came after the end
    chosen: bool = False  # whether the team's captain chose it
    method: str = ""  # what the team says about it
    link: str = ""  # where it is described
    # of scores that people gave, by score, the number of the cluster it is in
    people_clusters: Mapping[str, int] = field(default_factory=dict)
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
    scale: Scale = HIGHER  # how its scores are read
    form: NumberFormat = _PLAIN  # how they are printed
    group: str = ""  # the heading above it and its neighbours
    ranked: bool = True  # whether the best number is emphasised; text statistics are not graded

    @property
    def label(self) -> str:
        """What the score is called."""
        return self.scale.label or self.score

    @property
    def heading(self) -> str:
        """The label, with an arrow where lower is better."""
        return self.scale.heading(self.label) if self.ranked else self.label


@dataclass(frozen=True)
class BoardFrame:
    """What a leaderboard has beside its numbers."""

    id: str  # what the definition calls it
    title: str  # what its page is called
    primary: str  # the score that orders it
    columns: Sequence[BoardColumn]  # its columns
    rows: Sequence[BoardEntry] = ()  # the ranked entries, best first
    below: Sequence[BoardEntry] = ()  # entries that are listed without a rank, late ones first
    names: Sequence[str] = ()  # teams that take part, whose scores are not shown
    final: Final = "last"  # how the entry that counts was chosen
    test: str = ""  # how entries were compared, in words
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


@dataclass(frozen=True)
class Leaderboard(BoardFrame):
    """A leaderboard."""

    table: ScoreTable = field(default_factory=lambda: ScoreTable({}))  # of all rows, in order

    @property
    def signatures(self) -> dict[str, str]:
        """How the scores were made, by score."""
        signatures: dict[str, str] = {}
        for results in self.table.results.values():
            for name, result in results.items():
                if result.signature:
                    signatures.setdefault(name, result.signature)
        return signatures

    @property
    def best(self) -> dict[str, float | None]:
        """The best number of each column among ranked entries; ``None`` where none is."""
        ranked = [self.table[row.id] for row in self.rows]
        return {
            c.score: c.scale.best([own[c.score].score for own in ranked if c.score in own])
            if c.ranked
            else None
            for c in self.columns
        }


def final_entry(
    entries: Sequence[BoardEntry], final: Final, table: ScoreTable, primary: str
) -> BoardEntry:
    """Return the entry that counts among those of one team."""
    check_choice("rule for the final entry", final, get_args(Final))
    if final == "best":
        return in_order(entries, table, primary)[0]
    if final == "chosen" and any(entry.chosen for entry in entries):
        entries = [entry for entry in entries if entry.chosen]
    return max(entries, key=lambda entry: entry.arrived)


def make_board(
    id: str,
    title: str,
    table: ScoreTable,
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
    if all(column.score != primary for column in columns):
        raise DataError(f"No column of the board {id!r} is its primary score, {primary!r}.")
    scales = {column.score: column.scale for column in columns}
    rows = {
        id: {name: structs.replace(own[name], scale=scales[name]) for name in scales if name in own}
        for id, own in table.results.items()
    }
    table = structs.replace(table, results=rows)
    teams: dict[tuple[Place, str], list[BoardEntry]] = {}
    for entry in entries:
        score = rows.get(entry.id, {}).get(primary)
        if score is not None and math.isfinite(score.score):
            teams.setdefault((entry.place, entry.team), []).append(entry)
    counting: dict[Place, list[BoardEntry]] = {place: [] for place in PLACES}
    for (place, _), team in teams.items():
        if not (entry := final_entry(team, final, table, primary)).given_up:
            count = sum(not entry.given_up for entry in team)
            counting[place].append(replace(entry, entries=count))
    ordered, *unranked = (in_order(counting[place], table, primary) for place in PLACES)
    below = [row for place in unranked for row in place]
    shown = [row.id for row in (*ordered, *below)]
    board = Leaderboard(
        id,
        title,
        primary,
        list(columns),
        ordered,
        below,
        list(names),
        final,
        generation=generation,
        table=structs.replace(table, results={id: rows[id] for id in shown}),
    )
    tests = compare_entries(board, primary, level, correction)
    untested = []
    if tests.untested and len(ordered) > 1:
        untested = ["Entries were not compared: the entries have no resamples in common."]
    numbered = ranked_rows(board, tests)
    return replace(board, rows=numbered, test=tests.about, notes=[*notes, *untested])


def in_order(rows: Iterable[BoardEntry], table: ScoreTable, score: str) -> list[BoardEntry]:
    """Sort rows by a score, best first; of equal ones the earlier comes first."""

    def place(row: BoardEntry) -> tuple[float, int]:
        result = table[row.id][score]
        return -result.scale.sign * result.score, row.arrived

    return sorted(rows, key=place)


def ranked_rows(board: Leaderboard, tests: Comparison) -> list[BoardEntry]:
    """Number rows that are in order: places, clusters and ranges of places."""
    values = [board.table[row.id][board.primary].score for row in board.rows]
    clusters, ranges = tests.clusters, tests.ranges
    rows = []
    for row, value in zip(board.rows, values, strict=True):
        first = values.index(value) + 1
        rank = f"={first}" if values.count(value) > 1 else str(first)
        own = clusters.get(row.id, 1)
        rows.append(replace(row, rank=rank, cluster=own, ranks=ranges[row.id]))
    return rows


def compare_entries(
    board: Leaderboard, score: str, level: float = 0.05, correction: Correction = "holm"
) -> Comparison:
    """Compare all pairs of ranked entries by one score, from their resamples.

    Scores by people bring their clusters along: there an entry is better than those of the
    clusters behind its own.
    """
    rows = [row for row in board.rows if score in board.table[row.id]]
    rows = in_order(rows, board.table, score)
    results = {row.id: board.table[row.id][score] for row in rows}
    numbers = [row.people_clusters.get(score, 0) for row in rows]
    if not rows or not all(numbers):
        return Comparison.of_resamples(score, results, correction, level)
    p = np.where(np.equal.outer(numbers, numbers), 1.0, 0.0)
    np.fill_diagonal(p, np.nan)
    return Comparison.of(
        score,
        list(results),
        [result.score for result in results.values()],
        p,
        better=board.table.scale(score).better,
        level=level,
        method="clusters of the campaign",
    )
