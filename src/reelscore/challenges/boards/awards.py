"""Who wins: a rule of the definition, computed from a board and explained in words."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

from reelscore.challenges.boards.boards import (
    BoardColumn,
    BoardEntry,
    Leaderboard,
    compare_entries,
    in_order,
)
from reelscore.challenges.definition.checks import score_name
from reelscore.challenges.definition.records import Award, Definition
from reelscore.data.tables.scales import Scale
from reelscore.errors import UnknownNameError
from reelscore.significance.comparison import Comparison
from reelscore.stats.corrections import Correction


@dataclass(frozen=True)
class AwardDecision:
    """Who wins, and why."""

    winners: Sequence[str]  # the teams that win; empty while a score that decides is missing
    why: Sequence[str]  # the reason, a sentence each
    # what each team that can win has reached, best first: points, mean rank or score
    standing: Mapping[str, float]


# who wins by each rule: what is announced before, and given as the reason afterwards
_RULES = {
    "column": "Best by {columns}",
    "mean_rank": "Lowest mean rank over {columns}",
    "points": "Most points ({points} for the first places by each of {columns})",
}


def award_rule(definition: Definition) -> str:
    """Return who will win; empty where the definition does not say."""
    award = definition.award
    if award is None:
        return ""
    columns, ties = (
        ", ".join(score_name(definition, score) for score in scores)
        for scores in (award.columns, award.ties)
    )
    if award.rule == "column" and award.within_cluster == "share":
        after = "; entries that the test cannot tell apart share"
    else:
        after = f"; ties are decided by {ties}" if ties else ""
    return f"{_rule(award, columns)}{after}. Baselines and organisers' entries win nothing."


def _rule(award: Award, columns: str) -> str:
    return _RULES[award.rule].format(columns=columns, points=", ".join(map(str, award.points)))


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
    if award.rule == "column":
        verdict = _by_column(columns[0], complete)
        if award.within_cluster == "share":
            everybody = [row for row in board.rows if columns[0].score in row.scores]
            ordered = in_order(everybody, columns[0].score, columns[0].better)
            tests = compare_entries(
                ordered, columns[0].score, columns[0].better, level, correction
            ).among([entry.id for entry in ordered if entry in complete])
            verdict = _shared(columns[0], verdict, complete, tests)
    else:
        verdict = _by_places(award, columns, ties, complete)
    return AwardDecision(verdict.winners, [*verdict.why, *passed_over], verdict.standing)


def _by_column(column: BoardColumn, entries: Sequence[BoardEntry]) -> AwardDecision:
    ordered = in_order(entries, column.score, column.better)
    standing = {entry.team: entry.scores[column.score].value for entry in ordered}
    best = next(iter(standing.values()))
    winners = [team for team, value in standing.items() if value == best]
    why = f"Equal best by {column.label}." if len(winners) > 1 else f"Best by {column.label}."
    return AwardDecision(winners, [why], standing)


def _shared(
    column: BoardColumn, verdict: AwardDecision, entries: Sequence[BoardEntry], tests: Comparison
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


def _by_places(
    award: Award,
    columns: Sequence[BoardColumn],
    ties: Sequence[BoardColumn],
    entries: Sequence[BoardEntry],
) -> AwardDecision:
    places = {column.score: _places(entries, column) for column in (*columns, *ties)}
    reached: dict[str, float] = {}
    for entry in entries:
        own = [places[column.score][entry.id] for column in columns]
        if award.rule == "points":
            points = sum(award.points[k - 1] for k in own if k <= len(award.points))
            reached[entry.team] = float(points)
        else:
            reached[entry.team] = sum(own) / len(own)
    sign = -1 if award.rule == "points" else 1
    broken = {e.team: [places[column.score][e.id] for column in ties] for e in entries}
    order = sorted(reached, key=lambda team: (sign * reached[team], broken[team]))
    best = order[0]
    equal = [team for team in order if reached[team] == reached[best]]
    winners = [team for team in equal if broken[team] == broken[best]]
    why = [f"{_rule(award, _list(columns))}: {reached[best]:g}."]
    if len(equal) > len(winners):
        why.append(f"The tie was decided by the places by {_list(ties)}, in this order.")
    return AwardDecision(winners, why, {team: reached[team] for team in order})


def _places(entries: Sequence[BoardEntry], column: BoardColumn) -> dict[str, int]:
    """The place of each entry by a score; equal scores have the same place."""
    sign = Scale(column.better).sign
    values = {entry.id: sign * entry.scores[column.score].value for entry in entries}
    return {id: 1 + sum(other > value for other in values.values()) for id, value in values.items()}


def _passed_over(board: Leaderboard) -> list[str]:
    kinds = {row.kind for row in board.rows} - {"team"}
    words = {"organisers": "organisers' entries", "baseline": "baselines"}
    names = " and ".join(words[kind] for kind in sorted(kinds))
    return [f"{names[0].upper()}{names[1:]} win nothing."] if names else []


def _list(columns: Sequence[BoardColumn]) -> str:
    return ", ".join(column.label for column in columns)
