"""Results of rankings and comparisons, for ``reelscore campaign results``."""

from __future__ import annotations

import math
import textwrap
from dataclasses import asdict
from itertools import combinations
from typing import Any

import click
import msgspec

from reelscore.cli.campaign_options import say
from reelscore.cli.options import STDOUT, terminal_width, write
from reelscore.data.table import ScoreTable
from reelscore.human.agreement import krippendorff_alpha
from reelscore.human.campaign import Campaign
from reelscore.human.comparisons import score_against_reference, score_choices
from reelscore.human.judgments import Judgments
from reelscore.human.preferences import check_raters, score_preferences
from reelscore.human.quality import known
from reelscore.human.ranking import score_rankings
from reelscore.human.votes import vote_matrix
from reelscore.report.agreement import p_value
from reelscore.report.grid import Cell, Grid


def show_rankings(judgments: Judgments, table_file: str | None, json_file: str | None) -> None:
    """Print mean ranks by criterion, best first, and whether they differ."""
    found = score_rankings(judgments)
    criteria = list(found.criteria.values())
    systems = sorted(
        found.table.systems, key=lambda name: sum(each.ranks[name] for each in criteria)
    )
    rows = []
    for system in systems:
        cells = []
        for each in criteria:
            best = system == next(iter(each.ranks))
            cells.append(Cell(f"{each.ranks[system]:.2f}", best=best))
        rows.append([Cell(system), *cells])
    grid = Grid(["mean rank", *(each.criterion for each in criteria)], rows)
    _output(found.table, table_file, json_file, {n: asdict(e) for n, e in found.criteria.items()})
    if json_file == STDOUT:
        return
    click.echo(grid.to_text(terminal_width()))
    click.echo("\nLower is better.")
    for each in criteria:
        apart = [d for d in each.differences if d.p_corrected < 0.05]
        told = (
            f"{each.criterion}: {each.rankings:,} rankings of {each.items:,} videos; Friedman p "
            f"{p_value(each.friedman.p)}, {len(apart)} of {len(each.differences)} pairs of systems "
            f"differ (Holm, p < 0.05); raters agree with W {_number(each.agreement)}"
        )
        click.echo(textwrap.fill(told, terminal_width(), subsequent_indent="  "))


def show_comparisons(
    campaign: Campaign,
    judgments: Judgments,
    reference: str,
    table_file: str | None,
    json_file: str | None,
) -> None:
    """Print what votes on two captions say: points, choices, or preferences."""
    judgments = _faithful(campaign, judgments)
    if campaign.protocol.name == "against-reference":
        _show_points(judgments, reference, table_file, json_file)
    elif campaign.protocol.name == "preference":
        _show_preferences(judgments, table_file, json_file)
    else:
        _show_choices(judgments, table_file, json_file)


def _faithful(campaign: Campaign, judgments: Judgments) -> Judgments:
    """Keep the raters who answered the test questions, where there are any."""
    judgments = judgments.by(set(judgments.rater.names) - campaign.excluded())
    expected = {
        task.id: task.expected
        for hit in campaign.hits()
        for task in hit.tasks
        if task.expected is not None
    }
    if not expected:
        return judgments
    check = check_raters(judgments, expected)
    say(
        f"{len(check.faithful)} of {len(check.answers)} raters answered all test questions; the "
        "others are left out."
    )
    return judgments.by(check.faithful)


def _show_points(
    judgments: Judgments, reference: str, table_file: str | None, json_file: str | None
) -> None:
    found = score_against_reference(judgments, reference=reference)
    _output(found.table, table_file, json_file, [asdict(each) for each in found.standings])
    if json_file == STDOUT:
        return
    rows = [
        [
            Cell(each.system),
            Cell(each.criterion),
            Cell(_percent(each.points)),
            Cell(_percent(each.better)),
            Cell(_percent(each.similar)),
            Cell(f"{each.items:,}"),
            Cell(_percent(each.alike)),
        ]
        for each in found.standings
    ]
    columns = ["system", "criterion", "points", "better", "similar", "videos", "raters alike"]
    click.echo(Grid(columns, rows, 2).to_text(terminal_width()))
    click.echo(
        "\nIn %. A point: 2 of 3 raters find the caption as good as the reference, or better."
    )


def _show_choices(judgments: Judgments, table_file: str | None, json_file: str | None) -> None:
    found = score_choices(judgments)
    if table_file:
        say("Choices between pairs are no scores of systems: no table is written.")
    _output(None, None, json_file, [asdict(each) for each in found])
    if json_file == STDOUT:
        return
    rows = []
    for each in found:
        alpha = krippendorff_alpha(vote_matrix(judgments, *each.systems, each.criterion), "nominal")
        first, second = each.systems
        rows.append(
            [
                Cell(each.criterion),
                Cell(first),
                Cell(second),
                *(
                    Cell(f"{_percent(each.majority[name])} ({_percent(each.agreed[name])})")
                    for name in each.systems
                ),
                Cell(f"{each.items:,}"),
                Cell(_number(alpha)),
            ]
        )
    columns = ["criterion", "first", "second", "first", "second", "videos", "alpha"]
    click.echo(Grid(columns, rows, 3).to_text(terminal_width()))
    click.echo("\nIn % of videos, by majority; in brackets where at least 4 of 5 agree.")


def _show_preferences(judgments: Judgments, table_file: str | None, json_file: str | None) -> None:
    captions = judgments.select(judgments.is_kind("caption"))
    pairs = {(row.system, row.against) for row in captions}
    systems = sorted({name for pair in pairs for name in pair})
    compared = [
        (one, other)
        for one, other in combinations(systems, 2)
        if {(one, other), (other, one)} & pairs
    ]
    found = [score_preferences(captions, *pair) for pair in compared]
    table = found[0].table() if len(found) == 1 else None
    if table_file and table is None:
        say("Preferences of several pairs are no scores of systems: no table is written.")
    _output(table, table_file, json_file, [asdict(each) for each in found])
    if json_file == STDOUT:
        return
    rows = []
    for each in found:
        mean = sum(each.items.values()) / len(each.items)
        cells = [_percent(each.won), _percent(each.lost), _percent(each.tied), f"{mean:+.2f}"]
        numbers = [Cell(text) for text in (*cells, f"{len(each.items):,}", f"{each.raters}")]
        rows.append([Cell(each.system), Cell(each.other), *numbers])
    columns = ["first", "second", "first", "second", "neither", "mean", "videos", "raters"]
    click.echo(Grid(columns, rows, 2).to_text(terminal_width()))
    click.echo("\nIn % of videos, whom people prefer; mean from -2 to 2, above 0 the first.")


def _output(
    table: ScoreTable | None, table_file: str | None, json_file: str | None, results: Any
) -> None:
    if table is not None and table_file:
        table.write(table_file)
    if json_file:
        everything = {"results": _plain(results), **(table.to_dict() if table else {})}
        write(json_file, msgspec.json.encode(everything).decode())


def _plain(value: Any) -> Any:
    """Make nulls of what is not a number, all the way down."""
    if isinstance(value, dict):
        return {key: _plain(each) for key, each in value.items()}
    if isinstance(value, (list, tuple)):
        return [_plain(each) for each in value]
    return known(value)


def _percent(share: float) -> str:
    return "–" if math.isnan(share) else f"{100 * share:.1f}"


def _number(value: float) -> str:
    return "–" if math.isnan(value) else f"{value:.2f}"
