"""Commands that prepare a campaign: ``plan`` and ``new``."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Any

import click

from reelscore.campaigns.campaign import HOUR, Campaign
from reelscore.campaigns.commands.options import campaign_argument
from reelscore.campaigns.hits.design import Design, make_hits, story_texts
from reelscore.campaigns.hits.layouts import layout as layout_named
from reelscore.campaigns.imports.plain_tables import read_questions
from reelscore.campaigns.protocols import PROTOCOLS
from reelscore.campaigns.simulate.power import Costs, Power, Setting, hits_needed, power_of
from reelscore.cli.file_options import (
    FilesCommand,
    read_captions,
    reading_options,
    refs_option,
    system_files,
)
from reelscore.cli.messages import say
from reelscore.cli.options import choice_option, number_option, seed_option
from reelscore.cli.report_options import Outputs, outputs
from reelscore.cli.terminal import progress_bar
from reelscore.data.captions.caption_files import candidates_of_file, references_of_files
from reelscore.data.reading import Reading
from reelscore.data.story_files import read_stories
from reelscore.errors import DataError
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
@number_option("--hits", least=1, help="Compute instead what this number of HITs can show.")
@click.option(
    "--layout", default="trecvid", show_default=True, help="How many tasks of each kind a HIT has."
)
@number_option(
    "--passing", default=0.8, metavar="SHARE", help="Share of HITs that pass the quality control."
)
@number_option("--significance", "level", default=0.05, help="Significance level of the test.")
@number_option("--price", default=0.99, help="Price of a HIT in USD.")
@number_option("--fee", default=0.2, help="Fee of the crowd service, added to the price.")
@number_option(
    "--campaigns", default=400, least=20, help="Campaigns to simulate for each number of HITs."
)
@seed_option
@outputs()
def plan(
    systems: int,
    difference: float,
    power: float,
    hits: int | None,
    layout: str,
    passing: float,
    level: float,
    price: float,
    fee: float,
    outputs: Outputs,
    **choices: Any,
) -> None:
    """Estimate how many HITs are needed to distinguish two systems, and their cost.

    Campaigns are simulated with raters like those of a real campaign, and each is tested in the
    same way as real results.

    \b
    Examples:
      reelscore campaign plan --systems 5 --difference 0.15
      reelscore campaign plan --systems 5 --hits 94
    """
    setting = Setting(difference, systems, layout_named(layout), passing, level)
    with progress_bar("Simulating") as progress:
        if hits is None:
            done: list[Power] = []

            def told(each: Power) -> None:
                done.append(each)
                if progress:
                    progress(len(done), 10)

            tried = hits_needed(setting, power, progress=told, **choices)
            chosen = next(each for each in tried if each.power >= power)
        else:
            tried = [chosen := power_of(setting, hits, **choices)]
    costs = Costs(chosen.hits, price, fee, systems)
    sums = {**asdict(costs), "total": costs.total, "per_system": costs.per_system}
    everything = {"chosen": chosen, "tried": tried, "costs": sums, "setting": setting}
    outputs.write(json=lambda: everything)
    if not outputs.shows:
        return
    click.echo(_powers(tried, chosen).to_text())
    click.echo(
        f"\n{chosen.hits} HITs: two of {systems} systems that differ by z {difference:g} are told\n"
        f"apart with probability {chosen.power:.2f} (± {2 * chosen.error:.2f}), at p < {level:g}.\n"
    )
    click.echo(str(costs))


def _powers(tried: list[Power], chosen: Power) -> Grid:
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


@click.command("new", cls=FilesCommand)
@campaign_argument
@click.argument("candidates", nargs=-1, required=True, metavar="CANDIDATES...")
@refs_option("References; the first one of each item is used as the human caption")
@click.option(
    "--people", metavar="FILE", help="Captions by people, if they are not the references."
)
@click.option(
    "--people-name",
    "human",
    default="human",
    show_default=True,
    help="The system name for human captions.",
)
@choice_option(
    "--protocol",
    choices=list(PROTOCOLS),
    default="direct-assessment",
    help="What raters are asked to do.",
)
@click.option(
    "--layout",
    default="trecvid",
    show_default=True,
    metavar="NAME",
    help="For ratings, how many tasks of each kind a HIT has: trecvid, wmt, appraise, pilot (fits "
    "itself to small sets), or 'systems:30 humans:10 degraded_humans:10'.",
)
@number_option(
    "--hits",
    least=1,
    help="Number of HITs; enough to show every caption once if not given.",
)
@number_option(
    "--per-hit", default=10, least=1, help="Number of tasks in a HIT of rankings or comparisons."
)
@number_option("--raters", default=1, least=1, help="Number of raters for each HIT.")
@number_option(
    "--hold",
    default=24.0,
    least=0.01,
    metavar="HOURS",
    help="A HIT is offered again after this time without activity of its rater.",
)
@click.option("--stories", is_flag=True, help="The files are timed captions of long videos.")
@click.option(
    "--questions",
    "tests",
    metavar="FILE",
    help="Test questions for comparisons: item, first, second, expected.",
)
@click.option("--name", metavar="TEXT", help="Name of the campaign; the file's name if not given.")
@click.option("--open", "opens", is_flag=True, help="Open the campaign for raters immediately.")
@reading_options()
@seed_option
def new(
    campaign: str,
    candidates: tuple[str, ...],
    refs: tuple[str, ...],
    people: str | None,
    raters: int,
    hold: float,
    stories: bool,
    tests: str | None,
    name: str | None,
    opens: bool,
    reading: Reading,
    **design: Any,
) -> None:
    """Create a campaign and its HITs from captions.

    CANDIDATES are files of captions, one for each system, or NAME=FILE. Hidden among them are
    human captions and degraded captions, which show which raters pay attention.

    \b
    Examples:
      reelscore campaign new my.db runs/*.json --refs refs.json --hits 94
      reelscore campaign new ranks.db a.json b.json --protocol ranking --raters 3
    """
    systems: Mapping[str, Mapping[str, str]]
    if stories:
        files = system_files(candidates)
        systems = {each: story_texts(read_stories(path)) for each, path in files.items()}
    else:
        systems = read_captions(candidates, refs, reading).systems
    humans = _humans(refs, people, reading, stories)
    made_as = Design(**design)
    plan = make_hits(made_as, systems, humans, read_questions(tests) if tests else ())
    name = name or Path(campaign).stem
    with Campaign.from_plan(
        campaign, name, made_as, plan, raters_per_hit=raters, hold=hold * HOUR
    ) as made:
        if opens:
            made.set_state("open", actor="command line")
        say(f"Campaign {made.id!r} is {'open' if opens else 'a draft'} in {campaign}.")
    say(str(plan), err=False)


def _humans(
    refs: Sequence[str], people: str | None, reading: Reading, stories: bool
) -> Mapping[str, str]:
    if refs and people:
        raise DataError("Human captions are named twice; give --refs or --people, not both.")
    if stories:
        texts: dict[str, str] = {}
        for path in refs or ([people] if people else []):
            texts = {**story_texts(read_stories(path)), **texts}
        return texts
    if people:
        return candidates_of_file(people, reading)[0]
    references = references_of_files(refs, reading)[0] if refs else {}
    return {item: captions[0] for item, captions in references.items()}
