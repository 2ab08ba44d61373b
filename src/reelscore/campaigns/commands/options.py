"""Options that the commands about campaigns share."""

from __future__ import annotations

import click

from reelscore.campaigns.campaign import Campaign
from reelscore.campaigns.evaluate.quality import Control
from reelscore.campaigns.judgments import Judgments
from reelscore.cli.messages import say
from reelscore.cli.options import choice_option, gathered, number_option

campaign_argument = click.argument("campaign", metavar="CAMPAIGN")
id_option = click.option(
    "--id", "campaign_id", metavar="ID", help="Id of the campaign, if the database holds several."
)
_CONTROL = {
    "test": choice_option(
        "--test",
        choices=["t", "signed-rank", "rank-sum"],
        default="t",
        help="One-sided test of pairs of a caption and its degraded caption.",
    ),
    "level": number_option(
        "--level", default=0.05, help="A rater passes with a p-value below this."
    ),
    "pairs": number_option(
        "--pairs", default=10, help="The least number of pairs needed to decide about a rater."
    ),
    "rejected": choice_option(
        "--rejected",
        choices=["rater", "hit", "keep"],
        default="rater",
        help="What is left out after a rejected HIT: the rater, only that HIT, or nothing.",
    ),
}


control_options = gathered("control", Control, _CONTROL)


def judged(campaign: Campaign) -> Judgments:
    """Take the judgments of finished HITs, and say how many others there are."""
    finished = campaign.judgments(finished=True)
    others = campaign.status().judgments - len(finished)
    if others:
        say(f"{others:,} judgments of unfinished HITs are left out.")
    return finished
