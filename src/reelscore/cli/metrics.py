"""``reelscore metrics``."""

from __future__ import annotations

import dataclasses
import sys

import click

from reelscore.metrics.registry import metric_class, metric_names


@click.command("metrics")
@click.argument("names", nargs=-1, metavar="[NAME...]")
def command(names: tuple[str, ...]) -> None:
    """List the metrics and their parameters; with NAMEs, describe these at length.

    \b
    Examples:
      reelscore metrics
      reelscore metrics meteor
    """
    for name in names or metric_names():
        metric = metric_class(name)
        about = sys.modules[metric.__module__].__doc__ or ""
        title, _, text = about.strip().partition("\n")
        click.echo(click.style(name, bold=True) + f"  {title.partition(': ')[2] or title}")
        parameters = ", ".join(f"{f.name}={f.default!r}" for f in dataclasses.fields(metric))
        click.echo(f"    {parameters or 'no parameters'}")
        if names:
            click.echo("\n" + text.strip() + "\n")
