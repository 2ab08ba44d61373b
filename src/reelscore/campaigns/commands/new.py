"""``reelscore campaign new``."""

from __future__ import annotations

import textwrap
from collections.abc import Mapping, Sequence
from pathlib import Path

import click

from reelscore.campaigns.campaign import Campaign
from reelscore.campaigns.commands.options import campaign_argument, say
from reelscore.campaigns.hits.design import NEED_PEOPLE, Design, make_hits, story_texts
from reelscore.campaigns.hits.plan import HitPlan
from reelscore.campaigns.imports.plain_tables import read_questions
from reelscore.campaigns.protocols import PROTOCOLS
from reelscore.cli.file_options import (
    FilesCommand,
    read_captions,
    reading_options,
    refs_option,
    system_files,
)
from reelscore.cli.options import choice_option, number_option, seed_option
from reelscore.cli.terminal import terminal_width
from reelscore.data.caption_files import candidates_of_file, references_of_files
from reelscore.data.reading import Reading
from reelscore.data.story_files import read_stories
from reelscore.errors import DataError

_HOUR = 3600.0


@click.command("new", cls=FilesCommand)
@campaign_argument
@click.argument("candidates", nargs=-1, required=True, metavar="CANDIDATES...")
@refs_option("References; the first one of each item is used as the human caption")
@click.option("--human", metavar="FILE", help="Human captions, if they are not the references.")
@click.option(
    "--human-name", default="human", show_default=True, help="The system name for human captions."
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
    help="For ratings, how many tasks of each kind a HIT has: trecvid, wmt, "
    "appraise, pilot, or 'systems:30 humans:10 degraded_humans:10'.",
)
@click.option(
    "--hits",
    type=click.IntRange(min=1),
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
    "--tests",
    metavar="FILE",
    help="Test questions for comparisons: item, first, second, expected.",
)
@click.option("--name", metavar="TEXT", help="Name of the campaign; the file's name if not given.")
@click.option("--open", "opens", is_flag=True, help="Open the campaign for raters immediately.")
@reading_options()
@seed_option
def command(
    campaign: str,
    candidates: tuple[str, ...],
    refs: tuple[str, ...],
    human: str | None,
    human_name: str,
    protocol: str,
    layout: str,
    hits: int | None,
    per_hit: int,
    raters: int,
    hold: float,
    stories: bool,
    tests: str | None,
    name: str | None,
    opens: bool,
    reading: Reading,
    seed: int,
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
    humans = _humans(refs, human, reading, stories)
    design = Design(protocol, layout, hits, per_hit, human_name, seed)
    if not humans and PROTOCOLS[protocol].name in NEED_PEOPLE:
        raise DataError(f"{protocol} needs human captions; name them: --refs FILE.")
    plan = make_hits(design, systems, humans, read_questions(tests) if tests else ())
    _store(campaign, name, design, plan, raters, hold * _HOUR, opens)
    for line in str(plan).splitlines():
        click.echo(textwrap.fill(line, terminal_width(), subsequent_indent="  "))


def _humans(
    refs: Sequence[str], human: str | None, reading: Reading, stories: bool
) -> Mapping[str, str]:
    if refs and human:
        raise DataError("Human captions are named twice; give --refs or --human, not both.")
    if stories:
        texts: dict[str, str] = {}
        for path in refs or ([human] if human else []):
            texts = {**story_texts(read_stories(path)), **texts}
        return texts
    if human:
        return candidates_of_file(human, reading)[0]
    if refs:
        references, _ = references_of_files(refs, reading)
        return {item: captions[0] for item, captions in references.items()}
    return {}


def _store(
    where: str,
    name: str | None,
    design: Design,
    plan: HitPlan,
    raters: int,
    hold: float,
    opens: bool,
) -> None:
    with Campaign.from_plan(
        where, name or Path(where).stem, design, plan, raters_per_hit=raters, hold=hold
    ) as campaign:
        if opens:
            campaign.set_state("open", actor="command line")
        say(f"Campaign {campaign.id!r} is {'open' if opens else 'a draft'} in {where}.")
