"""``reelscore campaign plan``."""

from __future__ import annotations

from dataclasses import asdict

import click

from reelscore.campaigns.hits.layouts import layout as layout_named
from reelscore.campaigns.simulate.power import Costs, Power, Setting, hits_needed, power_of
from reelscore.cli.options import json_option, number_option, seed_option
from reelscore.cli.terminal import STDOUT, check_targets, progress_bar, write_json
from reelscore.report.tables.grid import Cell, Grid


@click.command("plan")
@number_option(
    "--systems",
    default=5,
    least=2,
    help="Number of systems that share the HITs, human captions not counted.",
)
@number_option(
    "--difference",
    default=0.15,
    metavar="Z",
    help="The difference in z between the two systems to be distinguished.",
)
@number_option(
    "--power", default=0.8, metavar="P", help="The wanted probability of distinguishing them."
)
@click.option(
    "--hits",
    type=click.IntRange(min=1),
    help="Compute instead what this number of HITs can show.",
)
@click.option(
    "--layout",
    default="trecvid",
    show_default=True,
    help="How many tasks of each kind a HIT has.",
)
@number_option(
    "--passing", default=0.8, metavar="SHARE", help="Share of HITs that pass the quality control."
)
@number_option("--level", default=0.05, help="Significance level of the test.")
@number_option("--price", default=0.99, help="Price of a HIT in USD.")
@number_option("--fee", default=0.2, help="Fee of the crowd service, added to the price.")
@number_option(
    "--campaigns", default=400, least=20, help="Campaigns to simulate for each number of HITs."
)
@seed_option
@json_option
def command(
    systems: int,
    difference: float,
    power: float,
    hits: int | None,
    layout: str,
    passing: float,
    level: float,
    price: float,
    fee: float,
    campaigns: int,
    seed: int,
    json_file: str | None,
) -> None:
    """Estimate how many HITs are needed to distinguish two systems, and their cost.

    Campaigns are simulated with raters like those of a real campaign, and each is tested in the
    same way as real results.

    \b
    Examples:
      reelscore campaign plan --systems 5 --difference 0.15
      reelscore campaign plan --systems 5 --hits 94
    """
    check_targets(json_file)
    setting = Setting(difference, systems, layout_named(layout), passing, level)
    with progress_bar("Simulating") as progress:
        if hits is None:
            done: list[Power] = []

            def told(each: Power) -> None:
                done.append(each)
                if progress:
                    progress(len(done), 10)

            tried = hits_needed(setting, power, seed=seed, campaigns=campaigns, progress=told)
            chosen = next(each for each in tried if each.power >= power)
        else:
            chosen = power_of(setting, hits, seed=seed, campaigns=campaigns)
            tried = [chosen]
    costs = Costs(chosen.hits, price, fee, systems)
    if json_file:
        everything = {
            "chosen": asdict(chosen),
            "tried": [asdict(each) for each in tried],
            "costs": {**asdict(costs), "total": costs.total, "per_system": costs.per_system},
            "setting": asdict(setting),
        }
        write_json(json_file, everything)
    if json_file == STDOUT:
        return
    click.echo(_grid(tried, chosen).to_text())
    click.echo(
        f"\n{chosen.hits} HITs: two of {systems} systems that differ by z {difference:g} are told\n"
        f"apart with probability {chosen.power:.2f} (± {2 * chosen.error:.2f}), at p < {level:g}.\n"
    )
    click.echo(str(costs))


def _grid(tried: list[Power], chosen: Power) -> Grid:
    return Grid(
        ["HITs", "left after control", "captions a system", "power"],
        [
            [
                Cell(f"{each.hits:,}"),
                Cell(f"{each.kept:,}"),
                Cell(f"{each.captions:,}"),
                Cell(f"{each.power:.2f}", mark="*" if each == chosen else ""),
            ]
            for each in tried
        ],
    )
