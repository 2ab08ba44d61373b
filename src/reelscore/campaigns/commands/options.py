"""Options that the commands about campaigns share."""

from __future__ import annotations

import click

from reelscore.campaigns.campaign import Campaign
from reelscore.campaigns.evaluate.quality import Control, control_of
from reelscore.campaigns.judgments import Judgments
from reelscore.cli.messages import say
from reelscore.cli.options import Decorator, choice_option, gathered

campaign_argument = click.argument("campaign", metavar="CAMPAIGN")
id_option = click.option(
    "--id", "campaign_id", metavar="ID", help="Id of the campaign, if the database holds several."
)
_CONTROL: dict[str, Decorator] = {
    "test": choice_option(
        "--test",
        choices=["t", "signed-rank", "rank-sum"],
        default=None,
        help="One-sided test of pairs of a caption and its degraded caption: t, unless the "
        "campaign's settings say otherwise, as for the next four.",
    ),
    "level": click.option(
        "--level",
        type=click.FloatRange(0, 1, min_open=True, max_open=True),
        help="A rater passes with a p-value below this: 0.05.",
    ),
    "pairs": click.option(
        "--pairs",
        type=click.IntRange(min=2),
        help="The least number of pairs needed to decide about a rater: 10.",
    ),
    "rejected": choice_option(
        "--rejected",
        choices=["rater", "hit", "keep"],
        default=None,
        help="What is left out after a rejected HIT: the rater, only that HIT, or nothing.",
    ),
    "criterion": click.option(
        "--criterion", metavar="NAME", help="By which criterion raters are tested: the first."
    ),
}


class AskedOfRaters:
    """What a command asks of raters; where it asks nothing, a campaign's settings decide."""

    def __init__(self, **given: object) -> None:
        self.given = {name: value for name, value in given.items() if value is not None}

    def of(self, campaign: Campaign | None = None) -> Control:
        """Return what raters of a campaign must show."""
        return control_of(campaign.settings if campaign else {}, self.given)


control_options = gathered("asked", AskedOfRaters, _CONTROL)


def judged(campaign: Campaign) -> Judgments:
    """Take the judgments of finished HITs, and say how many others there are."""
    finished = campaign.judgments(finished=True)
    others = campaign.status().judgments - len(finished)
    if others:
        say(f"{others:,} judgments of unfinished HITs are left out.")
    return finished
