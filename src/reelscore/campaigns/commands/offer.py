"""``reelscore campaign offer``."""

from __future__ import annotations

import click

from reelscore.campaigns.commands.options import (
    campaign_argument,
    control_options,
    id_option,
    opened,
    say,
)
from reelscore.campaigns.evaluate.quality import Control
from reelscore.campaigns.evaluate.results import usable
from reelscore.errors import DataError, check_choice


@click.command("offer")
@campaign_argument
@id_option
@click.option(
    "--rater",
    "raters",
    multiple=True,
    metavar="NAME",
    help="A rater whose HITs are offered again; may be repeated.",
)
@click.option(
    "--all",
    "everyone",
    is_flag=True,
    help="Offer the HITs of all raters whose work cannot be used.",
)
@click.option("--reason", default="", metavar="TEXT", help="The reason, for the log.")
@control_options
def command(
    campaign: str,
    campaign_id: str | None,
    raters: tuple[str, ...],
    everyone: bool,
    reason: str,
    control: Control,
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
            "No raters are named. Name them with --rater, or use --all for every "
            "rater whose work cannot be used."
        )
    with opened(campaign, campaign_id) as opened_campaign:
        judgments = opened_campaign.judgments(finished=True)
        if everyone:
            wanted = usable(opened_campaign, judgments, control).poor
            reason = reason or "the work cannot be used"
        else:
            for name in raters:
                check_choice("rater", name, judgments.rater.names)
            wanted = frozenset(raters)
        number = opened_campaign.offer_all_again(wanted, actor="command line", reason=reason)
        open_places = opened_campaign.status().open
    say(f"{number:,} HITs of {len(wanted):,} raters are offered again; {open_places:,} are open.")
