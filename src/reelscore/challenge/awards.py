"""Who wins: a rule of the definition, computed from a board and explained in words."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Literal, get_args

from reelscore.challenge.boards import Board, Column, Entry, compare_entries
from reelscore.data.scales import Scale
from reelscore.errors import DataError, UnknownNameError, check_choice

Rule = Literal["column", "mean_rank", "points"]
Within = Literal["share", "order"]
_POINTS = (3, 2, 1)


@dataclass(frozen=True)
class Award:
    """How the winner is found.

    Attributes:
        rule: ``column``: the best by one score; ``mean_rank``: the lowest mean of the ranks by
            several; ``points``: 3, 2 and 1 for the first places by each of several.
        columns: The scores that decide, such as ``cider`` or ``human:helpful``; ties of points
            and mean ranks are decided by them in this order.
        within_cluster: Whether entries that the test cannot tell apart ``share`` the award of a
            column, or the number decides: ``order``.
    """

    rule: Rule
    columns: Sequence[str]
    within_cluster: Within = "order"

    def __post_init__(self) -> None:
        check_choice("rule of an award", self.rule, get_args(Rule))
        check_choice("way to share an award", self.within_cluster, get_args(Within))
        if not self.columns or (self.rule == "column" and len(self.columns) != 1):
            raise DataError(f"An award by {self.rule!r} names {len(self.columns)} columns.")


@dataclass(frozen=True)
class Verdict:
    """Who wins, and why.

    Attributes:
        winners: The teams that win; empty while a score that decides is missing.
        why: The reason, a sentence each.
        standing: What each team that can win has reached, best first: points, mean rank or score.
    """

    winners: Sequence[str]
    why: Sequence[str]
    standing: Mapping[str, float]


def decide(award: Award, board: Board, level: float = 0.05) -> Verdict:
    """Find the winners among the ranked entries of a board.

    Baselines and organisers' entries win nothing and take nobody's place.

    Args:
        award: The rule.
        board: The board.
        level: A corrected p below it tells two entries apart.

    Raises:
        UnknownNameError: If the board has no such column.

    >>> from reelscore.challenge.boards import make_board
    >>> from reelscore.challenge.ladder import Score
    >>> entries = [Entry("a", "Ours", 1, {"cider": Score(0.4)}, kind="organisers"),
    ...            Entry("b", "Theirs", 2, {"cider": Score(0.3)})]
    >>> board = make_board("main", "Main", entries, [Column("cider", "CIDEr")], primary="cider")
    >>> decide(Award("column", ["cider"]), board).winners
    ['Theirs']
    """
    by_score = {column.score: column for column in board.columns}
    columns = []
    for score in award.columns:
        if score not in by_score:
            raise UnknownNameError.of("column", score, by_score)
        columns.append(by_score[score])
    rivals = [row.entry for row in board.rows if row.entry.kind == "team"]
    complete = [e for e in rivals if all(column.score in e.scores for column in columns)]
    passed_over = _passed_over(board)
    if not complete:
        labels = ", ".join(column.label for column in columns)
        return Verdict([], [f"No entry has {labels} yet.", *passed_over], {})
    if award.rule == "column":
        verdict = _by_column(columns[0], complete, award.within_cluster, level)
    else:
        verdict = _by_places(award.rule, columns, complete)
    return Verdict(verdict.winners, [*verdict.why, *passed_over], verdict.standing)


def _by_column(column: Column, entries: Sequence[Entry], within: Within, level: float) -> Verdict:
    ordered = _in_order(entries, column)
    standing = {entry.team: entry.scores[column.score].value for entry in ordered}
    best = standing[ordered[0].team]
    winners = [team for team, value in standing.items() if value == best]
    why = [f"Best by {column.label}."]
    if len(winners) > 1:
        why = [f"Equal best by {column.label}."]
    if within == "share":
        tests = compare_entries(ordered, column.score, column.better, level)
        clusters = tests.clusters
        sharing = [entry.team for entry in ordered if clusters.get(entry.id) == 1]
        if len(sharing) > len(winners):
            winners = sharing
            why = [
                f"In the first cluster by {column.label}: {tests.about or 'the test'} does not "
                "tell these entries apart, so they share."
            ]
    return Verdict(winners, why, standing)


def _by_places(rule: Rule, columns: Sequence[Column], entries: Sequence[Entry]) -> Verdict:
    places = {column.score: _places(entries, column) for column in columns}
    own = {e.team: [places[column.score][e.id] for column in columns] for e in entries}
    if rule == "points":
        reached = {
            team: float(sum(_POINTS[k - 1] for k in ranks if k <= len(_POINTS)))
            for team, ranks in own.items()
        }
        best_first = -1
        what = "points (3, 2, 1 for the first places by each of " + _list(columns) + ")"
    else:
        reached = {team: sum(ranks) / len(ranks) for team, ranks in own.items()}
        best_first = 1
        what = "mean rank over " + _list(columns)
    order = sorted(own, key=lambda team: (best_first * reached[team], own[team]))
    winners = [
        team for team in order if (reached[team], own[team]) == (reached[order[0]], own[order[0]])
    ]
    why = [f"{'Most' if rule == 'points' else 'Lowest'} {what}: {reached[order[0]]:g}."]
    if sum(value == reached[order[0]] for value in reached.values()) > len(winners):
        why.append(f"The tie was decided by the places by {_list(columns)}, in this order.")
    return Verdict(winners, why, {team: reached[team] for team in order})


def _places(entries: Sequence[Entry], column: Column) -> dict[str, int]:
    """The place of each entry by a score; equal scores have the same place."""
    sign = Scale(column.better).sign
    values = {entry.id: sign * entry.scores[column.score].value for entry in entries}
    return {id: 1 + sum(other > value for other in values.values()) for id, value in values.items()}


def _in_order(entries: Sequence[Entry], column: Column) -> list[Entry]:
    sign = Scale(column.better).sign
    return sorted(entries, key=lambda e: (-sign * e.scores[column.score].value, e.arrived))


def _passed_over(board: Board) -> list[str]:
    kinds = {row.entry.kind for row in board.rows} - {"team"}
    words = {"organisers": "organisers' entries", "baseline": "baselines"}
    names = " and ".join(words[kind] for kind in sorted(kinds))
    return [f"{names[0].upper()}{names[1:]} win nothing."] if names else []


def _list(columns: Sequence[Column]) -> str:
    return ", ".join(column.label for column in columns)
