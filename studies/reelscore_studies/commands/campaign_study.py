"""``reelscore campaign study``: many simulated campaigns whose truth is known."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import click

from reelscore.campaigns.commands.options import AskedOfRaters, control_option
from reelscore.campaigns.commands.simulate import PEOPLE, MadeUpCrowd, crowd_options
from reelscore.campaigns.hits.ratings import build_hits
from reelscore.campaigns.hits.tasks import Hit
from reelscore.campaigns.report.tables import text_grid
from reelscore.cli.options import Command, json_option, number_option, seed_option
from reelscore.cli.terminal import STDOUT, check_targets, progress_bar, write_json
from reelscore_studies.simulated_campaigns import Study
from reelscore_studies.simulated_campaigns import study as study_campaigns

_VIDEOS = 1_873


@click.command("study", cls=Command)
@crowd_options
@number_option("--systems", default=5, least=2, most=26, help="How many systems.")
@number_option("--hits", default=94, least=1, help="How many HITs.")
@number_option("--campaigns", default=100, least=1, help="How many campaigns to simulate.")
@control_option
@seed_option
@json_option
def study(
    crowd: MadeUpCrowd,
    systems: int,
    hits: int,
    campaigns: int,
    asked: AskedOfRaters,
    seed: int,
    json_file: str | None,
) -> None:
    """Simulate many campaigns whose truth is known, each with a second crowd.

    The table shows how often the true ranking is found, which careless raters are detected, and
    how well two crowds agree on the same captions.

    \b
    Example:
      reelscore campaign study --systems 5 --hits 94 --campaigns 100
    """
    check_targets(json_file)
    names = [chr(ord("a") + k) for k in range(systems)]
    quality = crowd.quality(names, None)
    made = _made_up_hits(names, hits, seed)
    with progress_bar("Simulating") as progress:
        for result in study_campaigns(
            made,
            {**quality, "human": PEOPLE},
            campaigns=campaigns,
            seed=seed,
            mix=crowd.shares(),
            control=asked.of(),
            ranked=names,
        ):
            if progress:
                progress(result.campaigns, campaigns)
    if json_file:
        write_json(json_file, _plain(result, quality))
    if json_file != STDOUT:
        _show(result, quality)


def _made_up_hits(names: Sequence[str], hits: int, seed: int) -> Sequence[Hit]:
    words = "somebody does something with some thing number {} somewhere at some time of day"
    captions = {
        name: {f"v{k}": f"{name} {words.format(k)}" for k in range(_VIDEOS)} for name in names
    }
    people = {f"v{k}": f"people see {words.format(k)}" for k in range(_VIDEOS)}
    return build_hits(captions, people, seed=seed, hits=hits).hits


def _plain(result: Study, quality: Mapping[str, float]) -> dict[str, object]:
    return {
        "campaigns": result.campaigns,
        "truth": quality,
        "recovered": result.recovered,
        "pairs": {f"{a}>{b}": count for (a, b), count in result.pairs.items()},
        "raters": result.raters,
        "passed": result.passed,
        "replication": result.replication.tolist(),
        "judgments": result.judgments,
    }


def _show(result: Study, quality: Mapping[str, float]) -> None:
    truth = ", ".join(f"{name} {z:+.2f}" for name, z in quality.items())
    click.echo(f"True quality in z: {truth}; people {PEOPLE:+.2f}\n")
    rows = []
    for kind, count in result.raters.items():
        passed = result.passed[kind]
        rows.append([kind, f"{count:,}", f"{passed:,}", f"{1 - passed / count:.1%}"])
    click.echo(text_grid(["raters", "in all", "passed", "left out"], rows).to_text())
    click.echo(
        f"\nThe true order came out in {result.recovered} of {result.campaigns} campaigns, with "
        f"{result.judgments:,.0f} judgments each.\nTwo crowds agree with r "
        f"{result.replication.mean():.3f} (lowest {result.replication.min():.3f})."
    )
