"""Results of rankings and comparisons, for ``reelscore campaign results``."""

from __future__ import annotations

import textwrap
from dataclasses import asdict
from typing import Any

import click

from reelscore.campaigns.campaign import Campaign
from reelscore.campaigns.commands.options import say
from reelscore.campaigns.evaluate.preferences import score_all_preferences
from reelscore.campaigns.evaluate.quality import known
from reelscore.campaigns.evaluate.rankings import score_rankings
from reelscore.campaigns.evaluate.results import usable
from reelscore.campaigns.evaluate.votes import score_against_reference, score_choices
from reelscore.campaigns.judgments import Judgments
from reelscore.campaigns.report.tables import (
    CHOICES,
    POINTS,
    PREFERENCES,
    RANKS,
    choices_grid,
    points_grid,
    preferences_grid,
    ranking_grid,
    ranking_notes,
)
from reelscore.cli.terminal import STDOUT, terminal_width, write_json
from reelscore.data.table import ScoreTable
from reelscore.report.tables.grid import Grid


def show_rankings(
    campaign: Campaign, judgments: Judgments, table_file: str | None, json_file: str | None
) -> None:
    """Print mean ranks by criterion, best first, and whether they differ."""
    results = score_rankings(_counting(campaign, judgments))
    _output(
        results.table, table_file, json_file, {n: e.to_dict() for n, e in results.criteria.items()}
    )
    if json_file != STDOUT:
        _print(ranking_grid(results), RANKS)
        for note in ranking_notes(results):
            click.echo(textwrap.fill(note, terminal_width(), subsequent_indent="  "))


def show_comparisons(
    campaign: Campaign,
    judgments: Judgments,
    reference: str,
    table_file: str | None,
    json_file: str | None,
) -> None:
    """Print what votes on two captions say: points, choices, or preferences."""
    judgments = _counting(campaign, judgments)
    if campaign.protocol.name == "against-reference":
        _show_points(judgments, reference, table_file, json_file)
    elif campaign.protocol.name == "preference":
        _show_preferences(judgments, table_file, json_file)
    else:
        _show_choices(judgments, table_file, json_file)


def _counting(campaign: Campaign, judgments: Judgments) -> Judgments:
    """Keep the judgments that count, and say whose are left out."""
    counting = usable(campaign, judgments)
    if counting.asked:
        say(
            f"{len(counting.judgments.rater.names)} of {counting.asked} raters answered all test "
            "questions; the others are left out."
        )
    return counting.judgments


def _show_points(
    judgments: Judgments, reference: str, table_file: str | None, json_file: str | None
) -> None:
    results = score_against_reference(judgments, reference=reference)
    _output(results.table, table_file, json_file, [asdict(each) for each in results.standings])
    if json_file != STDOUT:
        _print(points_grid(results.standings), POINTS)


def _show_choices(judgments: Judgments, table_file: str | None, json_file: str | None) -> None:
    choices = score_choices(judgments)
    if table_file:
        say("Choices between pairs are not scores of systems: no table is written.")
    _output(None, None, json_file, [asdict(each) for each in choices])
    if json_file != STDOUT:
        _print(choices_grid(choices, judgments), CHOICES)


def _show_preferences(judgments: Judgments, table_file: str | None, json_file: str | None) -> None:
    preferences = score_all_preferences(judgments)
    table = preferences[0].table() if len(preferences) == 1 else None
    if table_file and table is None:
        say("Preferences of several pairs are not scores of systems: no table is written.")
    _output(table, table_file, json_file, [asdict(each) for each in preferences])
    if json_file != STDOUT:
        _print(preferences_grid(preferences), PREFERENCES)


def _print(grid: Grid, note: str) -> None:
    click.echo(grid.to_text(terminal_width()))
    click.echo(f"\n{note}")


def _output(
    table: ScoreTable | None, table_file: str | None, json_file: str | None, results: Any
) -> None:
    if table is not None and table_file:
        table.write(table_file)
    if json_file:
        everything = {"results": _plain(results), **(table.to_dict() if table else {})}
        write_json(json_file, everything)


def _plain(value: Any) -> Any:
    """Make nulls of what is not a number, all the way down."""
    if isinstance(value, dict):
        return {key: _plain(each) for key, each in value.items()}
    if isinstance(value, (list, tuple)):
        return [_plain(each) for each in value]
    return known(value)
