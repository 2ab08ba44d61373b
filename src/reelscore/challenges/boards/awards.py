"""Who wins: a rule of the definition, computed from a board and explained in words."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import NamedTuple

from reelscore.challenges.boards.boards import (
    BoardColumn,
    BoardEntry,
    Leaderboard,
    compare_entries,
    in_order,
)
from reelscore.challenges.definition.checks import score_name
from reelscore.challenges.definition.records import Award, Definition, Rule
from reelscore.data.tables.scales import Scale
from reelscore.errors import UnknownNameError
from reelscore.significance.comparison import Comparison
from reelscore.stats.corrections import Correction

_Columns = Sequence[BoardColumn]
_Entries = Sequence[BoardEntry]


@dataclass(frozen=True)
class AwardDecision:
    """Who wins, and why."""

    winners: Sequence[str]  # the teams that win; empty while a score that decides is missing
    why: Sequence[str]  # the reason, a sentence each
    # what each team that can win has reached, best first: points, mean rank or score
    standing: Mapping[str, float]


def award_rule(definition: Definition) -> str:
    """Return who will win; empty where the definition does not say."""
    award = definition.award
    if award is None:
        return ""
    columns, ties = (
        ", ".join(score_name(definition, score) for score in scores)
        for scores in (award.columns, award.ties)
    )
    if award.shares:
        after = "; entries that the test cannot tell apart share"
    else:
        after = f"; ties are decided by {ties}" if ties else ""
    return f"{_announced(award, columns)}{after}. Baselines and organisers' entries win nothing."


def _announced(award: Award, columns: str) -> str:
    points = ", ".join(map(str, award.points))
    return RULES[award.rule].words.format(columns=columns, points=points)


def decide(
    award: Award, board: Leaderboard, level: float = 0.05, correction: Correction = "holm"
) -> AwardDecision:
    """Find the winners among the ranked entries of a board.

    Baselines and organisers' entries win nothing and take nobody's place; they count where p-values
    are corrected for the number of pairs, so that an award agrees with the clusters of its board.
    """
    by_score = {column.score: column for column in board.columns}
    for score in (*award.columns, *award.ties):
        if score not in by_score:
            raise UnknownNameError.of("column", score, by_score)
    columns = [by_score[score] for score in award.columns]
    ties = [by_score[score] for score in award.ties or award.columns]
    rivals = [row for row in board.rows if row.kind == "team"]
    complete = [e for e in rivals if all(column.score in e.scores for column in (*columns, *ties))]
    passed_over = _passed_over(board)
    if not complete:
        labels = ", ".join(column.label for column in columns)
        return AwardDecision([], [f"No entry has {labels} yet.", *passed_over], {})
    verdict = _verdict(award, columns, ties, complete)
    if award.shares:
        everybody = [row for row in board.rows if columns[0].score in row.scores]
        ordered = in_order(everybody, columns[0].score, columns[0].better)
        tests = compare_entries(
            ordered, columns[0].score, columns[0].better, level, correction
        ).among([entry.id for entry in ordered if entry in complete])
        verdict = _shared(columns[0], verdict, complete, tests)
    return AwardDecision(verdict.winners, [*verdict.why, *passed_over], verdict.standing)


def _verdict(award: Award, columns: _Columns, ties: _Columns, entries: _Entries) -> AwardDecision:
    """Let the rule order the teams, and the ties those who are equal by it."""
    rule = RULES[award.rule]
    reached = rule.reached(award, columns, entries)
    values = list(reached.values())
    broken = _places(() if award.shares else ties, entries)
    order = sorted(reached, key=lambda team: (values.index(reached[team]), broken[team]))
    equal = [team for team in order if reached[team] == values[0]]
    winners = [team for team in equal if broken[team] == broken[order[0]]]
    why = [rule.reason.format(rule=_announced(award, _list(columns)), best=values[0])]
    if len(equal) > len(winners):
        why.append(f"The tie was decided by the places by {_list(ties)}, in this order.")
    if len(winners) > 1:
        why.append("The winners are equal.")
    return AwardDecision(winners, why, {team: reached[team] for team in order})


def _shared(
    column: BoardColumn, verdict: AwardDecision, entries: _Entries, tests: Comparison
) -> AwardDecision:
    """Let those share whom the test does not tell apart from the best."""
    first = {id for id, cluster in tests.clusters.items() if cluster == 1}
    teams = {entry.team for entry in entries if entry.id in first}
    sharing = [team for team in verdict.standing if team in teams]
    if len(sharing) <= len(verdict.winners):
        return verdict
    how = f" ({tests.about})" if tests.about else ""
    why = (
        f"In the first cluster by {column.label}: the test{how} does not tell these entries apart, "
        "so they share."
    )
    return replace(verdict, winners=sharing, why=[why])


def _places(columns: _Columns, entries: _Entries) -> dict[str, list[int]]:
    """The place of each team by each column; equal scores have the same place."""
    places: dict[str, list[int]] = {entry.team: [] for entry in entries}
    for column in columns:
        sign = Scale(column.better).sign
        values = [sign * entry.scores[column.score].value for entry in entries]
        for entry, value in zip(entries, values, strict=True):
            places[entry.team].append(1 + sum(other > value for other in values))
    return places


def _values(award: Award, columns: _Columns, entries: _Entries) -> dict[str, float]:
    ordered = in_order(entries, columns[0].score, columns[0].better)
    return {entry.team: entry.scores[columns[0].score].value for entry in ordered}


def _mean_ranks(award: Award, columns: _Columns, entries: _Entries) -> dict[str, float]:
    means = {team: sum(own) / len(own) for team, own in _places(columns, entries).items()}
    return dict(sorted(means.items(), key=lambda each: each[1]))


def _points(award: Award, columns: _Columns, entries: _Entries) -> dict[str, float]:
    worth = dict(enumerate(map(float, award.points), 1))
    places = _places(columns, entries)
    points = {team: sum(worth.get(k, 0.0) for k in own) for team, own in places.items()}
    return dict(sorted(points.items(), key=lambda each: -each[1]))


class AwardRule(NamedTuple):
    """A way to find the winners."""

    words: str  # what is announced before
    # what each team has reached, best first
    reached: Callable[[Award, _Columns, _Entries], dict[str, float]]
    reason: str = "{rule}: {best:g}."  # what is said afterwards


RULES: Mapping[Rule, AwardRule] = {
    "column": AwardRule("Best by {columns}", _values, "{rule}."),
    "mean_rank": AwardRule("Lowest mean rank over {columns}", _mean_ranks),
    "points": AwardRule(
        "Most points ({points} for the first places by each of {columns})", _points
    ),
}


def _passed_over(board: Leaderboard) -> list[str]:
    kinds = {row.kind for row in board.rows} - {"team"}
    words = {"organisers": "organisers' entries", "baseline": "baselines"}
    names = " and ".join(words[kind] for kind in sorted(kinds))
    return [f"{names[0].upper()}{names[1:]} win nothing."] if names else []


def _list(columns: _Columns) -> str:
    return ", ".join(column.label for column in columns)
