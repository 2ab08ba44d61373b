"""Commands for a campaign at work: ``media``, ``status``, ``offer``, ``top-up``, ``pay``."""

from __future__ import annotations

import sys
from dataclasses import asdict, replace
from datetime import datetime, timezone
from pathlib import Path

import click

from reelscore.campaigns.campaign import Campaign
from reelscore.campaigns.commands.options import (
    AskedOfRaters,
    campaign_argument,
    control_option,
    id_option,
    opened_campaign,
)
from reelscore.campaigns.evaluate.results import campaign_quality
from reelscore.campaigns.hits.tasks import counted
from reelscore.campaigns.hits.top_up import top_up
from reelscore.campaigns.payments import PAY_LISTS, Pay, pay_list
from reelscore.campaigns.report.tables import text_grid
from reelscore.campaigns.store.records import Status, Terms
from reelscore.cli.messages import say
from reelscore.cli.options import Command, choice_option, number_option
from reelscore.cli.report_options import Outputs, outputs
from reelscore.cli.terminal import STDOUT, check_targets, progress_bar, terminal_width, write
from reelscore.errors import DataError, check_choice
from reelscore.report.safe_text import legible


@click.command("media")
@opened_campaign
@click.option(
    "--videos",
    metavar="FOLDER",
    type=click.Path(path_type=Path),
    required=True,
    help="The videos, named by their items: clip01.mp4.",
)
def check_videos(campaign: Campaign, videos: Path) -> None:
    """Check, before a campaign opens, that its videos can be played.

    Checks the video of every item of the HITs and of the practice: is it missing, unreadable,
    truncated, without pictures, or in a container or codec that Chromium does not play? Videos on
    another site cannot be checked. The lengths are stored in the campaign; the exit status is 1
    if anything is wrong.

    \b
    Example:
      reelscore campaign media my.db --videos clips/
    """
    from reelscore.web.server import need_web

    need_web()
    from reelscore.campaigns.pages.video_checks import CONVERT, check_media

    if not videos.is_dir():
        raise DataError(f"{videos}: no such folder; expected the folder with the videos.")
    with progress_bar("Checking videos") as progress:
        report = check_media(campaign, videos, progress=progress)
    if report.faults:
        for fault in report.faults:
            say(legible(str(fault)), err=False)
        click.echo()
    say(str(report), err=False)
    if report.faults:
        say(f"To convert a file, for example: {CONVERT}", err=False)
        sys.exit(1)


_BAR = 40


@click.command("status")
@campaign_argument
@id_option
@click.option(
    "--state",
    type=click.Choice(["open", "paused", "closed"]),
    help="Open the campaign for raters, pause it, or close it.",
)
@click.option("--release", is_flag=True, help="First offer again the HITs whose raters have left.")
@click.option("--list", "lists", is_flag=True, help="List the campaigns of the database.")
@outputs()
def show_status(
    campaign: str,
    campaign_id: str | None,
    state: str | None,
    release: bool,
    lists: bool,
    outputs: Outputs,
) -> None:
    """Show the progress of a campaign; open, pause or close it.

    \b
    Examples:
      reelscore campaign status my.db
      reelscore campaign status my.db --state open
    """
    if lists:
        kept = list(map(_named, Campaign.list(campaign)))
        outputs.write(json=lambda: kept)
        for each in kept if outputs.shows else ():
            click.echo("{id}  {name}  ({protocol})".format(**each))
        return
    with Campaign.open(campaign, campaign_id) as opened:
        if release:
            opened.release_abandoned()
        if state:
            opened.set_state(state, actor="command line")  # type: ignore[arg-type]
        status = opened.status()
        outputs.write(json=lambda: {**_named(opened.terms), **asdict(status)})
        if outputs.shows:
            _show(opened, status)


def _named(terms: Terms) -> dict[str, str]:
    return {"id": terms.id, "name": terms.name, "protocol": terms.protocol.name}


def _show(campaign: Campaign, status: Status) -> None:
    made = datetime.fromtimestamp(campaign.terms.created, timezone.utc)
    click.echo(f"{campaign.name} ({campaign.id}): {campaign.protocol.name}, {status.state}")
    layout = f", layout {campaign.terms.layout}" if campaign.terms.layout else ""
    click.echo(f"made {made:%Y-%m-%d %H:%M} UTC, seed {campaign.terms.seed}{layout}\n")
    wanted = status.open + status.held + status.done
    share = status.done / wanted if wanted else 0.0
    bar = "█" * round(share * _BAR)
    click.echo(f"{bar:░<{_BAR}} {share:.0%}")
    raters = campaign.terms.raters_per_hit
    times = f", {raters} raters each" if raters > 1 else ""
    click.echo(
        f"{status.hits:,} HITs{times}: {status.done:,} done, {status.held:,} held, "
        f"{status.open:,} open, {status.abandoned:,} given up"
    )
    click.echo(f"{status.judgments:,} judgments by {status.raters:,} raters\n")
    rows = ((system, f"{count:,}") for system, count in status.by_system.items())
    click.echo(text_grid(["system", "judgments"], rows).to_text(terminal_width()))


@click.command("offer", cls=Command)
@opened_campaign
@click.option(
    "--rater",
    "raters",
    multiple=True,
    metavar="NAME",
    help="A rater whose HITs are offered again; may be repeated.",
)
@click.option("--all", "everyone", is_flag=True, help="All raters whose work cannot be used.")
@click.option("--reason", default="", metavar="TEXT", help="The reason, for the log.")
@control_option
def offer(
    campaign: Campaign,
    raters: tuple[str, ...],
    everyone: bool,
    reason: str,
    asked: AskedOfRaters,
) -> None:
    """Offer the finished HITs of unusable raters again.

    With --all, these are the HITs of raters who are excluded, were rejected, or fail the quality
    control. Each HIT gets one more place for one more rater, unless its place was already offered
    again. The judgments are kept.

    \b
    Examples:
      reelscore campaign offer my.db --all
      reelscore campaign offer my.db --rater r-07 --reason "answered by a program"
    """
    if bool(raters) == everyone:
        raise DataError(
            "No raters are named. Name them with --rater, or use --all for every rater whose work "
            "cannot be used."
        )
    judgments = campaign.judgments(finished=True)
    if everyone:
        wanted = campaign_quality(campaign, judgments, asked.of(campaign)).poor
        reason = reason or "the work cannot be used"
    else:
        for name in raters:
            check_choice("rater", name, judgments.rater.names)
        wanted = frozenset(raters)
    number = campaign.offer_all_again(wanted, actor="command line", reason=reason)
    open_places = campaign.status().open
    say(f"{number:,} HITs of {len(wanted):,} raters are offered again; {open_places:,} are open.")


@click.command("top-up", cls=Command)
@opened_campaign
@number_option(
    *("--judgments", "wanted"),
    least=1,
    required=True,
    help="Number of good judgments that each system should have.",
)
@control_option
@outputs()
def add_hits(campaign: Campaign, wanted: int, asked: AskedOfRaters, outputs: Outputs) -> None:
    """Add HITs until every system will have enough good judgments.

    Judgments are good if their HIT is finished and their rater is neither excluded nor rejected
    and passes the quality control. Judgments expected from open and held HITs are counted too. New
    HITs use the same captions as the first ones, starting with those that have the fewest good
    judgments.

    \b
    Example:
      reelscore campaign top-up my.db --judgments 150
    """
    done = top_up(campaign, wanted, actor="command line", control=asked.of(campaign))
    awaited, places = campaign.awaited(), campaign.status().open
    to_come = {
        name: sum(number for (system, _), number in awaited.items() if system == name)
        for name in done.good
    }
    content = {"hits": done.hits, "good": done.good, "to_come": to_come, "open": places}
    outputs.write(json=lambda: content)
    if outputs.shows:
        rows = ((name, f"{good:,}", f"{to_come[name]:,}") for name, good in done.good.items())
        grid = text_grid(["system", "good judgments", "to come"], rows)
        click.echo(grid.to_text(terminal_width()))
    added = (
        f"{counted(done.hits, 'HIT')} {'is' if done.hits == 1 else 'are'} added"
        if done.hits
        else "Nothing is missing, no HITs are added"
    )
    say(f"{added}; {places:,} places are open.")


@click.command("pay")
@campaign_argument
@click.argument("path", metavar="[FILE]", default=STDOUT)
@id_option
@choice_option(
    "--format",
    "form",
    choices=list(PAY_LISTS),
    default="amounts",
    help="; ".join(f"{each.words} ({name})" for name, each in PAY_LISTS.items()) + ".",
)
@number_option("--price", least=0.0, help="Price of a HIT; the campaign's price if not given.")
@click.option("--whole", is_flag=True, help="Pay nothing for unfinished HITs.")
def pay(
    campaign: str, path: str, campaign_id: str | None, form: str, price: float | None, whole: bool
) -> None:
    """List payments in the formats of crowd services.

    A finished HIT earns its price, an unfinished one the share of the tasks answered, a rejected
    one nothing.

    \b
    Examples:
      reelscore campaign pay my.db amounts.csv --price 2.50
      reelscore campaign pay my.db approve.txt --format prolific-approve
    """
    from reelscore.web.server import need_web

    need_web()
    from reelscore.campaigns.store.raters import list_taken
    from reelscore.web.store.schema import open_database

    check_targets(path)
    with Campaign.open(campaign, campaign_id) as opened:
        open_database(campaign).close()  # makes the tables of the pages where there are none
        pay = replace(Pay.of(opened), pro_rata=not whole)
        pay = pay if price is None else replace(pay, price=price)
        if not pay.price:
            say("The price of a HIT is 0; give --price, or enter it under Texts.")
        write(path, pay_list(form, list_taken(opened), pay), private=True)
