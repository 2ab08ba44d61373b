"""``reelscore compare``."""

from __future__ import annotations

import textwrap

import click
from click.core import ParameterSource

from reelscore.cli.commands.score import ScoringOptions, scoring_options
from reelscore.cli.file_options import FilesCommand
from reelscore.cli.options import ChosenTests, resamples_option, significance_option
from reelscore.cli.report_options import Pictures, layout_options, picture_options
from reelscore.cli.table_options import read_scored_systems
from reelscore.cli.terminal import show_grid, show_origin, terminal_width
from reelscore.errors import DataError
from reelscore.report.tables.differences import difference_grid, marked_leaderboard
from reelscore.report.tables.leaderboard import TableLayout, leaderboard_csv, letters_of
from reelscore.scoring.intervals import with_intervals
from reelscore.significance.comparison import marks_of_tests, strictest

# Options that say how captions are scored; scores that are made already cannot follow them.
_OF_CAPTIONS = (
    "leave_one_out",
    "missing",
    "empty",
    "tokenizer",
    "split",
    "out",
    "bad_rows_file",
)


@click.command("compare", cls=FilesCommand)
@scoring_options
@click.option(
    "--baseline", "-b", metavar="NAME", help="The system to compare with; the first if not given."
)
@click.option("--all-pairs", is_flag=True, help="Compare every system with every other.")
@click.option("--intervals", is_flag=True, help="Add 95 % bootstrap intervals of the scores.")
@significance_option
@resamples_option("Number of bootstrap resamples.")
@layout_options()
@picture_options
def command(
    scoring: ScoringOptions,
    baseline: str | None,
    all_pairs: bool,
    intervals: bool,
    test: ChosenTests,
    resamples: int,
    layout: TableLayout,
    pictures: Pictures,
) -> None:
    """Score systems and test whether they differ.

    CANDIDATES are files of captions, one for each system, or NAME=FILE. They may also be score
    tables that 'reelscore score --json' or --table wrote, which need no --refs; --metrics then
    chooses from their scores. A score is marked with ▲ or ▼ if it is better or worse than the
    baseline's in every test, and with --all-pairs by the letters of the systems it is better than.
    The differences follow, with 95 % intervals and p-values.

    \b
    Examples:
      reelscore compare base.json ours.json --refs refs.json
      reelscore compare *.json -r refs.json --all-pairs -o table.tex
      reelscore compare scores.json --baseline base
    """
    source = click.get_current_context().get_parameter_source
    chosen = None if source("metrics") is ParameterSource.DEFAULT else scoring.metrics
    table = read_scored_systems(scoring.candidates, scoring.refs, chosen, scoring.match_ids)
    given = [name for name in _OF_CAPTIONS if source(name) is ParameterSource.COMMANDLINE]
    if table is not None and given:
        raise DataError(
            f"--{given[0].replace('_', '-')} is for captions; {scoring.candidates[0]} is a score "
            "table, whose scores are made already. Give the caption files with --refs."
        )
    if scoring.leave_one_out:
        raise DataError(
            "--leave-one-out: captions scored against fewer references are not tested against "
            "others; use 'reelscore score'."
        )
    if table is None:
        if scoring.large and test.name == "randomization":
            raise DataError("--test randomization needs all items at once; use --test bootstrap.")
        table = scoring.run(resamples)
    other = None if all_pairs else baseline or table.systems[0]
    comparisons = test.made(table, other, resamples, scoring.seed)
    if intervals:
        table = with_intervals(table, resamples=resamples, seed=scoring.seed)
    tests = strictest(comparisons)
    grid = marked_leaderboard(table, comparisons, layout=layout)
    marks = marks_of_tests(tests, letters_of(table.systems), other, table.bounds)
    scoring.files.write_table(
        table,
        [grid],
        csv=lambda: leaderboard_csv(layout.arranged(table), marks),
        comparisons=comparisons,
    )
    if pictures.wanted:
        pictures.write(table, tests=tests, baseline=other, resamples=resamples, seed=scoring.seed)
    if scoring.files.shows:
        show_grid(grid)
        whom = "Differences between systems" if other is None else f"Differences from {other}"
        intervals_too = "95 % intervals and " if test.name != "randomization" else ""
        title = f"{whom}, with {intervals_too}corrected p-values:"
        click.echo(textwrap.fill(title, terminal_width(), break_on_hyphens=False))
        show_grid(difference_grid(table, comparisons, layout))
        show_origin(table)
