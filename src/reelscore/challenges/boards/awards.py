"""Who wins: a rule of the definition, computed from a board and explained in words."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import NamedTuple

from reelscore.challenges.boards.boards import (
    BoardColumn,
    Leaderboard,
    compare_entries,
    in_order,
)
from reelscore.challenges.definition.checks import score_name
from reelscore.challenges.definition.records import Award, Definition, Rule
from reelscore.errors import UnknownNameError
from reelscore.significance.comparison import Comparison
from reelscore.stats.corrections import Correction

_Columns = Sequence[BoardColumn]


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
    wanted = {column.score for column in (*columns, *ties)}
    complete = [
        row for row in board.rows if row.kind == "team" and wanted <= board.table[row.id].keys()
    ]
    rivals = replace(board, rows=complete)
    passed_over = _passed_over(board)
    if not complete:
        labels = ", ".join(column.label for column in columns)
        return AwardDecision([], [f"No entry has {labels} yet.", *passed_over], {})
    verdict = _verdict(award, columns, ties, rivals)
    if award.shares:
        tests = compare_entries(board, columns[0].score, level, correction)
        ids = {row.id for row in complete}
        tests = tests.among([id for id in tests.systems if id in ids])
        verdict = _shared(columns[0], verdict, rivals, tests)
    return AwardDecision(verdict.winners, [*verdict.why, *passed_over], verdict.standing)


def _verdict(award: Award, columns: _Columns, ties: _Columns, rivals: Leaderboard) -> AwardDecision:
    """Let the rule order the teams, and the ties those who are equal by it."""
    rule = RULES[award.rule]
    reached = rule.reached(award, columns, rivals)
    values = list(reached.values())
    broken = _places(() if award.shares else ties, rivals)
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
    column: BoardColumn, verdict: AwardDecision, rivals: Leaderboard, tests: Comparison
) -> AwardDecision:
    """Let those share whom the test does not tell apart from the best."""
    first = {id for id, cluster in tests.clusters.items() if cluster == 1}
    teams = {entry.team for entry in rivals.rows if entry.id in first}
    sharing = [team for team in verdict.standing if team in teams]
    if len(sharing) <= len(verdict.winners):
        return verdict
    how = f" ({tests.about})" if tests.about else ""
    why = (
        f"In the first cluster by {column.label}: the test{how} does not tell these entries apart, "
        "so they share."
    )
    return replace(verdict, winners=sharing, why=[why])


def _places(columns: _Columns, rivals: Leaderboard) -> dict[str, list[int]]:
    """The place of each team by each column; equal scores have the same place."""
    places: dict[str, list[int]] = {entry.team: [] for entry in rivals.rows}
    for column in columns:
        results = [rivals.table[entry.id][column.score] for entry in rivals.rows]
        values = [column.scale.sign * result.score for result in results]
        for entry, value in zip(rivals.rows, values, strict=True):
            places[entry.team].append(1 + sum(other > value for other in values))
    return places


def _values(award: Award, columns: _Columns, rivals: Leaderboard) -> dict[str, float]:
    score, table = columns[0].score, rivals.table
    return {e.team: table[e.id][score].score for e in in_order(rivals.rows, table, score)}


def _mean_ranks(award: Award, columns: _Columns, rivals: Leaderboard) -> dict[str, float]:
    means = {team: sum(own) / len(own) for team, own in _places(columns, rivals).items()}
    return dict(sorted(means.items(), key=lambda each: each[1]))


def _points(award: Award, columns: _Columns, rivals: Leaderboard) -> dict[str, float]:
    worth = dict(enumerate(map(float, award.points), 1))
    places = _places(columns, rivals)
    points = {team: sum(worth.get(k, 0.0) for k in own) for team, own in places.items()}
    return dict(sorted(points.items(), key=lambda each: -each[1]))


class AwardRule(NamedTuple):
    """A way to find the winners."""

    words: str  # what is announced before
    # what each team has reached, best first
    reached: Callable[[Award, _Columns, Leaderboard], dict[str, float]]
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
