"""Kinds of options, each spelled in one way: numbers, choices, files to write."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import Any, TypeVar

import click

F = TypeVar("F", bound=Callable[..., Any])


def number_option(
    *names: str,
    default: float,
    help: str | None = None,
    least: float | None = None,
    most: float | None = None,
    above: float | None = None,
    **fields: Any,
) -> Callable[[F], F]:
    """An option that is a finite number, whole where its default is.

    Args:
        names: Its spellings, as of `click.option`.
        default: Its default.
        help: What it is.
        least: The lowest value it may have.
        most: The highest.
        above: What it must be greater than, instead of ``least``.
        fields: As of `click.option`.
    """
    whole = isinstance(default, int)
    kind: Any = int if whole else float
    if (least, most, above) != (None, None, None):
        span: Any = click.IntRange if whole else click.FloatRange
        kind = span(least if above is None else above, most, min_open=above is not None)
    if not whole:
        fields["callback"] = _finite
    return click.option(*names, type=kind, default=default, show_default=True, help=help, **fields)


def _finite(context: click.Context, option: click.Parameter, number: float) -> float:
    """Refuse nan, which no range leaves out, and infinity."""
    if not math.isfinite(number):
        raise click.BadParameter(f"{number} is not a finite number.")
    return number


def choice_option(
    *names: str, choices: Sequence[str], default: str | None, help: str
) -> Callable[[F], F]:
    """An option that is one of several words."""
    kind = click.Choice(choices)
    return click.option(*names, type=kind, default=default, show_default=True, help=help)


def file_option(name: str, help: str) -> Callable[[F], F]:
    """An option that names a file to write; ``--csv`` is the argument ``csv_file``."""
    return click.option(name, f"{name[2:].replace('-', '_')}_file", metavar="FILE", help=help)


def plot_option(what: str) -> Callable[[F], F]:
    """The option ``--plot``, which names a figure to write."""
    return click.option(
        "--plot", metavar="FILE", callback=_figure, help=f"Plot {what}: .pdf, .svg or .png."
    )


def _figure(context: click.Context, option: click.Parameter, path: str | None) -> str | None:
    """Refuse a figure that cannot be written, before any work."""
    if path is not None:
        from reelscore.report.plots.style import check_figure

        check_figure(path)
    return path


def resamples_option(help: str) -> Callable[[F], F]:
    """The option ``--resamples`` of bootstrap intervals and tests."""
    return number_option("--resamples", default=1000, least=10, help=help)


json_option = file_option("--json", "Write everything as JSON; - for standard output.")
match_ids_option = click.option(
    "--match-ids",
    metavar="RULES",
    help="Match ids that are written differently: basename (without folders and endings), "
    "casefold, zeros (without leading ones), strip, prefix, number; several with commas.",
)
seed_option = number_option("--seed", default=12345, least=0, help="Random seed.")
