"""Tables of a campaign: its raters, its results, and who beats whom."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import asdict, fields
from typing import NamedTuple

from reelscore.campaigns.evaluate.agreement import krippendorff_alpha
from reelscore.campaigns.evaluate.battles import BattleRanking
from reelscore.campaigns.evaluate.preferences import Preference, score_all_preferences
from reelscore.campaigns.evaluate.quality import Quality, RaterQuality, known
from reelscore.campaigns.evaluate.rankings import RankingResults, score_rankings
from reelscore.campaigns.evaluate.scores import HumanScores
from reelscore.campaigns.evaluate.votes import (
    Choice,
    Standing,
    score_against_reference,
    score_choices,
    vote_matrix,
)
from reelscore.campaigns.judgments import Judgments
from reelscore.campaigns.protocols import Protocol
from reelscore.data.spreadsheet import spreadsheet_csv
from reelscore.data.tables.table import ScoreTable
from reelscore.report.tables.grid import Cell, Grid, p_value
from reelscore.significance.comparison import Comparison

_ORDER = ("failed", "constant", "too few pairs", "untested", "rejected", "excluded", "passed")
_LEVEL = 0.05


def quality_grid(quality: Quality) -> Grid:
    """Return a row for each rater, doubtful ones first, the least certain of those first."""
    rows = []
    by_tests = quality.tests is not None

    def doubt(rater: RaterQuality) -> tuple[int, float]:
        return _ORDER.index(rater.verdict), -2.0 if math.isnan(rater.p) else -rater.p

    for each in sorted(quality.raters, key=doubt):
        p = "–" if math.isnan(each.p) else p_value(each.p)
        numbers = (each.difference, each.repeat_difference, each.seconds)
        apart, again, pace = (number_text(number, 1) for number in numbers)
        shown = [f"{each.pairs:,}", apart, p, again]
        if by_tests:
            shown = [f"{each.right} of {each.asked}"]
        rows.append([each.rater, each.verdict, *shown, pace, " ".join(each.flags)])
    tested = ["tests"] if by_tests else ["pairs", "diff", "p", "again"]
    columns = ["rater", "verdict", *tested, "s/task", "flags"]
    return text_grid(columns, rows, 2)


def quality_csv(quality: Quality) -> str:
    """Return everything known of each rater as CSV, numbers in full."""
    table: list[list[object]] = [[field.name for field in fields(RaterQuality)]]
    for each in quality.raters:
        cells = {**vars(each), "flags": " ".join(each.flags)}
        table.append(["" if known(value) is None else value for value in cells.values()])
    return spreadsheet_csv(table)


def results_csv(scores: HumanScores, ranking: Comparison) -> str:
    """Return the results as CSV, numbers in full."""
    metrics = scores.table.metrics
    columns = ["captions", "judgments", "wins", "cluster", "best_rank", "worst_rank"]
    table: list[list[object]] = [["system", *metrics, *columns]]
    clusters, ranges = ranking.clusters, ranking.ranges
    for system, wins in zip(ranking.systems, ranking.wins, strict=True):
        table.append(
            [
                system,
                *(scores.table[system][name].score for name in metrics),
                len(scores.counts[system]),
                scores.judgments(system),
                int(wins.sum()),
                clusters.get(system, 1),
                *ranges[system],
            ]
        )
    return spreadsheet_csv(table)


def results_grid(scores: HumanScores, ranking: Comparison) -> Grid:
    """Return a row for each system, best first, with its cluster and possible ranks.

    Numbers of judgments and captions are those of the paper's n.
    """
    metrics = scores.table.metrics
    rows = []
    clusters = ranking.clusters
    for system, (low, high) in ranking.ranges.items():
        values = [
            f"{scores.table[system][name].score:.{3 if name.endswith('z') else 1}f}"
            for name in metrics
        ]
        places = f"{low}" if low == high else f"{low}–{high}"
        counts = (f"{len(scores.counts[system]):,}", f"{scores.judgments(system):,}")
        rows.append([system, *values, *counts, places, f"{clusters.get(system, 1)}"])
    return text_grid(["system", *metrics, "captions", "judgments", "ranks", "cluster"], rows)


def wins_grid(ranking: Comparison) -> Grid:
    """Table of p-values: is the row's system better than the column's? Wins are marked."""
    letters = _letters(len(ranking.systems))
    rows = []
    for k, (system, letter) in enumerate(zip(ranking.systems, letters, strict=True)):
        cells = [Cell(p_value(p), mark="*" * (p < ranking.level)) for p in ranking.p[k].tolist()]
        cells[k] = Cell("·")
        rows.append([Cell(f"{letter} {system}"), *cells])
    return Grid(["better than", *letters], rows)


def _letters(count: int) -> Sequence[str]:
    """Name columns a, b, …, z, aa, ab: names of systems would not fit side by side."""
    letters = "abcdefghijklmnopqrstuvwxyz"
    return [letters[k] if k < 26 else letters[k // 26 - 1] + letters[k % 26] for k in range(count)]


def text_grid(columns: Sequence[str], rows: Iterable[Iterable[str]], names: int = 1) -> Grid:
    """Lay out texts, the first columns as names."""
    return Grid(columns, [[Cell(text) for text in row] for row in rows], names)


def number_text(value: float, digits: int = 2) -> str:
    """Write a number; a dash where there is none."""
    return "–" if math.isnan(value) else f"{value:.{digits}f}"


def ranking_grid(results: RankingResults) -> Grid:
    """Lay out mean ranks, a row for each system, the best over all criteria first."""
    criteria = list(results.criteria.values())
    systems = sorted(
        results.table.systems, key=lambda name: sum(each.ranks[name] for each in criteria)
    )
    rows = [
        [
            Cell(system),
            *(
                Cell(f"{each.ranks[system]:.2f}", best=system == next(iter(each.ranks)))
                for each in criteria
            ),
        ]
        for system in systems
    ]
    return Grid(["mean rank", *(each.criterion for each in criteria)], rows)


def ranking_notes(results: RankingResults) -> list[str]:
    """Return for each criterion how many rankings there are, and whether systems differ."""
    notes = []
    for each in results.criteria.values():
        pairs = list(each.comparison.pairs)
        apart = [pair for pair in pairs if pair.p_corrected < _LEVEL]
        notes.append(
            f"{each.criterion}: {each.rankings:,} rankings of {each.items:,} videos; Friedman p "
            f"{p_value(each.friedman.p)}, {len(apart)} of {len(pairs)} pairs of systems "
            f"differ (Holm, p < {_LEVEL}); raters agree with W {number_text(each.agreement)}"
        )
    return notes


def points_grid(standings: Sequence[Standing]) -> Grid:
    """Lay out how systems stand beside the reference."""
    rows = []
    for each in standings:
        shares = map(_percent, (each.points, each.better, each.similar))
        rows.append([each.system, each.criterion, *shares, f"{each.items:,}", _percent(each.alike)])
    columns = ["system", "criterion", "points", "better", "similar", "videos", "raters alike"]
    return text_grid(columns, rows, 2)


def choices_grid(choices: Sequence[Choice], judgments: Judgments) -> Grid:
    """Lay out how often people chose each of two systems, and how well they agree."""
    rows = []
    for each in choices:
        votes = vote_matrix(judgments, *each.systems, each.criterion)
        shares = [
            f"{_percent(each.majority[name])} ({_percent(each.agreed[name])})"
            for name in each.systems
        ]
        alpha = number_text(krippendorff_alpha(votes, "nominal"))
        rows.append([each.criterion, *each.systems, *shares, f"{each.items:,}", alpha])
    columns = ["criterion", "first", "second", "first", "second", "videos", "alpha"]
    return text_grid(columns, rows, 3)


def preferences_grid(preferences: Sequence[Preference]) -> Grid:
    """Lay out which of two systems people prefer."""
    rows = []
    for each in preferences:
        mean = sum(each.items.values()) / len(each.items)
        shares = [_percent(share) for share in (each.won, each.lost, each.tied)]
        counts = (f"{mean:+.2f}", f"{len(each.items):,}", f"{each.raters}")
        rows.append([each.system, each.other, *shares, *counts])
    columns = ["first", "second", "first", "second", "neither", "mean", "videos", "raters"]
    return text_grid(columns, rows, 2)


def battle_grid(ranking: BattleRanking) -> Grid:
    """Lay out how systems stand by their battles, with intervals and possible ranks."""
    digits = 2 if ranking.beside else 0
    has_words = not all(map(math.isnan, ranking.words))
    beside = [f"beside {name}" for name in ranking.beside]
    columns = ["system", "points", "interval", "ranks", *beside, "battles", "won %", "tied %"]
    rows = []
    for k, system in enumerate(ranking.systems):
        low, high = (f"{end:.{digits}f}" for end in ranking.intervals[k])
        first, last = ranking.ranks[k]
        shares = (_percent(float(ranking.won[k])), _percent(float(ranking.tied[k])))
        rows.append(
            [
                system,
                f"{ranking.scores[k]:.{digits}f}",
                f"[{low}, {high}]",
                f"{first}" if first == last else f"{first}–{last}",
                *(f"{points[k]:.2f}" for points in ranking.beside.values()),
                f"{ranking.battles[k]:,}",
                *shares,
                *([number_text(float(ranking.words[k]), 1)] if has_words else []),
            ]
        )
    return text_grid([*columns, *(["words"] if has_words else [])], rows)


def _percent(share: float) -> str:
    return "–" if math.isnan(share) else f"{100 * share:.1f}"


class VoteResults(NamedTuple):
    """What raters said who put captions in order or chose among them."""

    grid: Grid  # the results as a table to show
    notes: Sequence[str]  # how to read it, and what else there is to know
    plain: object  # the results as JSON has them
    table: ScoreTable | None  # the scores of the systems, if the votes are scores
    why: str = ""  # why there are none


def vote_results(judgments: Judgments, asked: Protocol, reference: str) -> VoteResults:
    """Return mean ranks, points beside the reference, choices or preferences."""
    if asked.form == "ranking":
        ranked = score_rankings(judgments)
        notes = ["Lower is better.", *ranking_notes(ranked)]
        plain = {name: each.to_dict() for name, each in ranked.criteria.items()}
        return VoteResults(ranking_grid(ranked), notes, plain, ranked.table)
    if asked.name == "against-reference":
        points = score_against_reference(judgments, reference=reference)
        standings = [asdict(each) for each in points.standings]
        note = "In %. A point: 2 of 3 raters find the caption as good as the reference, or better."
        return VoteResults(points_grid(points.standings), [note], standings, points.table)
    if asked.name == "preference":
        found = score_all_preferences(judgments)
        return VoteResults(
            preferences_grid(found),
            ["In % of videos, whom people prefer; mean from -2 to 2, above 0 the first."],
            [asdict(each) for each in found],
            found[0].table() if len(found) == 1 else None,
            "Preferences of several pairs are not scores of systems: no table is written.",
        )
    choices = score_choices(judgments)
    return VoteResults(
        choices_grid(choices, judgments),
        ["In % of videos, by majority; in brackets where at least 4 of 5 agree."],
        [asdict(each) for each in choices],
        None,
        "Choices between pairs are not scores of systems: no table is written.",
    )
