"""``reelscore metrics``."""

from __future__ import annotations

import dataclasses
import inspect
import sys
import textwrap

import click

from reelscore.cli.report_options import Outputs, outputs
from reelscore.cli.terminal import terminal_width
from reelscore.errors import DataError
from reelscore.metrics.base import Metric
from reelscore.metrics.registry import metric_class, metric_names, unusable_plugins


@click.command("metrics")
@click.argument("names", nargs=-1, metavar="[NAME...]")
@outputs()
def command(names: tuple[str, ...], outputs: Outputs) -> None:
    """List the metrics and their parameters; with NAMEs, describe these at length.

    \b
    Examples:
      reelscore metrics
      reelscore metrics meteor
      reelscore metrics --json -
    """
    outputs.write(json=lambda: [_record(name) for name in names or metric_names()])
    if not outputs.shows:
        return
    for name in names or metric_names():
        try:
            metric = metric_class(name)
        except DataError:
            if names:
                raise
            continue  # a plug-in that is named below
        name = metric.name
        about = inspect.cleandoc(sys.modules[metric.__module__].__doc__ or "")
        title, *paragraphs = about.split("\n\n")
        what = title.partition(": ")[2] or title
        heading = _wrapped(f"{name}  {what}", " " * (len(name) + 2))
        click.echo(click.style(name, bold=True) + heading.removeprefix(name))
        parameters = [f"{f.name}={f.default!r}" for f in dataclasses.fields(metric)]
        click.echo(_wrapped("    " + (", ".join(parameters) or "no parameters"), "    "))
        for scale, own in _scales(metric).items():
            click.echo(_wrapped(f"    {', '.join(own)}: {scale}", "      "))
        if names:
            click.echo("".join(f"\n{_wrapped(each, '')}\n" for each in paragraphs))
    for problem in [] if names else unusable_plugins():
        click.echo(_wrapped(problem, "  "), err=True)


def _record(name: str) -> dict[str, object]:
    """Describe a metric as plain data."""
    metric = metric_class(name)
    about = inspect.cleandoc(sys.modules[metric.__module__].__doc__ or "")
    return {
        "name": metric.name,
        "about": about.partition("\n\n")[0],
        "parameters": {f.name: repr(f.default) for f in dataclasses.fields(metric)},
        "scores": {output: scale for scale, own in _scales(metric).items() for output in own},
    }


def _scales(metric: type[Metric]) -> dict[str, list[str]]:
    """Return the outputs of a metric with its defaults, by how they are to be read."""
    if any(f.default is dataclasses.MISSING for f in dataclasses.fields(metric)):
        return {str(metric.output_scale): [metric.name]}
    by_scale: dict[str, list[str]] = {}
    made = metric()
    for output, scale in zip(made.outputs, made.output_scales, strict=True):
        by_scale.setdefault(str(scale), []).append(output)
    return by_scale


def _wrapped(text: str, indent: str) -> str:
    return textwrap.fill(text, terminal_width(), subsequent_indent=indent, break_on_hyphens=False)
