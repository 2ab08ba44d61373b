"""``reelscore compare``."""

from __future__ import annotations

import string
import textwrap
from collections.abc import Sequence

import click
import msgspec
from click.core import ParameterSource

from reelscore.cli.file_options import FilesCommand
from reelscore.cli.option_kinds import choice_option, number_option, resamples_option
from reelscore.cli.options import (
    Scoring,
    progress_bar,
    scoring_options,
    show,
    terminal_width,
    trials_option,
)
from reelscore.cli.report_options import Pictures, picture_options
from reelscore.cli.table_options import read_scored_systems
from reelscore.data.table import ScoreTable
from reelscore.report.tables.grid import Cell, Grid
from reelscore.report.tables.leaderboard import leaderboard, leaderboard_csv, lettered
from reelscore.significance.comparison import (
    UNTESTED,
    Comparison,
    marks_of_tests,
    strictest,
    untested_notes,
)
from reelscore.significance.pair_tests import METHODS, Test, compare
from reelscore.stats.corrections import Correction

_TESTS: dict[str, tuple[Test, ...]] = {
    "both": ("bootstrap", "randomization"),
    "bootstrap": ("bootstrap",),
    "randomization": ("randomization",),
}


@click.command("compare", cls=FilesCommand)
@scoring_options
@click.option(
    "--baseline", "-b", metavar="NAME", help="The system to compare with; the first if not given."
)
@click.option("--all-pairs", is_flag=True, help="Compare every system with every other.")
@choice_option(
    "--test",
    choices=list(_TESTS),
    default="both",
    help="Paired bootstrap, approximate randomization, or both.",
)
@choice_option(
    "--correction",
    choices=["holm", "bonferroni", "bh", "none"],
    default="holm",
    help="Correction for the number of comparisons within one metric.",
)
@number_option(
    "--level", default=0.05, least=0, most=1, help="Mark corrected p-values below this level."
)
@resamples_option("Number of bootstrap resamples.")
@trials_option
@picture_options
def command(
    scoring: Scoring,
    baseline: str | None,
    all_pairs: bool,
    test: str,
    correction: Correction,
    level: float,
    resamples: int,
    trials: int,
    pictures: Pictures,
) -> None:
    """Score systems and test whether they differ.

    CANDIDATES are files of captions, one for each system, or NAME=FILE. They may also be score
    tables that 'reelscore score --json' or --table wrote, which need no --refs; --metrics then
    chooses from their scores. A score is marked with * if it differs from the baseline in every
    test, and with --all-pairs by the letters of the systems it is better than.

    \b
    Examples:
      reelscore compare base.json ours.json --refs refs.json
      reelscore compare *.json -r refs.json --all-pairs --latex table.tex
      reelscore compare scores.json --baseline base
    """
    source = click.get_current_context().get_parameter_source("metrics")
    chosen = None if source is ParameterSource.DEFAULT else scoring.metrics
    table = read_scored_systems(scoring.candidates, scoring.refs, chosen, scoring.match_ids)
    table = table or scoring.run()
    other = None if all_pairs else baseline or table.systems[0]
    with progress_bar("Testing") as progress:
        comparisons = compare(
            table,
            other,
            tests=_TESTS[test],
            correction=correction,
            level=level,
            resamples=resamples,
            trials=trials,
            seed=scoring.seed,
            progress=progress,
        )
    letters = dict(zip(table.systems, string.ascii_letters, strict=False)) if all_pairs else {}
    tests = strictest(comparisons)
    marks = marks_of_tests(tests, letters, other)
    grid = leaderboard(table, marks, untested_notes(tests))
    if letters:
        grid = lettered(grid, letters)
    everything = _json(table, comparisons, statistics=scoring.statistics)
    scoring.write(table, grid, csv=leaderboard_csv(table, marks), json=everything)
    if pictures.wanted:
        pictures.write(table, tests=tests, baseline=other, resamples=resamples, seed=scoring.seed)
    if scoring.shows:
        show(table, grid)
        click.echo("\n" + _p_value_grid(comparisons).to_text(terminal_width()))
        legend = _legend(other, level, correction, _TESTS[test])
        click.echo("\n" + textwrap.fill(legend, terminal_width(), break_on_hyphens=False))


def _p_value_grid(comparisons: Sequence[Comparison]) -> Grid:
    metrics = list(dict.fromkeys(each.metric for each in comparisons if each.method))
    rows: dict[tuple[str, str, str], dict[str, float]] = {}
    for each in comparisons:
        for pair in each.pairs:
            row = rows.setdefault((pair.system, pair.other, each.test), {})
            row[each.metric] = pair.p_corrected
    return Grid(
        ["p, corrected", *metrics],
        [
            [Cell(f"{system}–{other} {test[:4]}."), *(Cell(_p(values.get(m))) for m in metrics)]
            for (system, other, test), values in rows.items()
        ],
    )


def _p(value: float | None) -> str:
    if value is None:
        return UNTESTED
    return f"{value:.4f}" if value >= 0.0001 else "<.0001"


def _legend(
    baseline: str | None, level: float, correction: Correction, tests: Sequence[Test]
) -> str:
    how = " and ".join(METHODS[test] for test in tests)
    what = (
        f"* differs from {baseline}"
        if baseline
        else "letters: better than the systems with these letters"
    )
    return f"{what}, p < {level:g} ({how}; correction: {correction})"


def _json(table: ScoreTable, comparisons: Sequence[Comparison], *, statistics: bool) -> str:
    everything = {
        **table.to_dict(statistics=statistics),
        "comparisons": [pair for each in comparisons for pair in each.pair_dicts()],
        "untested": {each.metric: each.untested for each in comparisons if each.untested},
    }
    return msgspec.json.encode(everything).decode()
