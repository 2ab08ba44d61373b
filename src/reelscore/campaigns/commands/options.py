"""Options that the commands about campaigns share."""

from __future__ import annotations

from typing import Annotated, cast, get_args

import click
import msgspec

from reelscore.campaigns.campaign import Campaign
from reelscore.campaigns.evaluate.quality import Control, Rejected, Test, control_of
from reelscore.campaigns.judgments import Judgments
from reelscore.cli.messages import say
from reelscore.cli.options import SettingsOption, gathered
from reelscore.errors import check_choice

campaign_argument = click.argument("campaign", metavar="CAMPAIGN")
id_option = click.option(
    "--campaign",
    "campaign_id",
    metavar="ID",
    help="Id of the campaign, if the database holds several.",
)


def _opened(campaign: str, campaign_id: str | None) -> Campaign:
    """Open a campaign until the command ends."""
    return click.get_current_context().with_resource(Campaign.open(campaign, campaign_id))


opened_campaign = gathered(
    "campaign", _opened, {"campaign": campaign_argument, "campaign_id": id_option}
)
_TESTS = get_args(Test)


class AskedOfRaters(msgspec.Struct, frozen=True):
    """What a command asks of raters; where it asks nothing, a campaign's settings decide.

    Attributes:
        test: One-sided test of pairs of a caption and its degraded caption.
        level: A rater passes with a p-value below this: 0.05.
        pairs: The least number of pairs needed to decide about a rater: 10.
        rejected: What is left out after a rejected HIT: the rater, only that hit, or nothing
            (keep).
        criterion: By which criterion raters are tested: the first.
    """

    test: Test | None = None
    level: Annotated[float, msgspec.Meta(gt=0, lt=1)] | None = None
    pairs: Annotated[int, msgspec.Meta(ge=2)] | None = None
    rejected: Rejected | None = None
    criterion: str | None = None

    def of(self, campaign: Campaign | None = None) -> Control:
        """Return what raters of a campaign must show."""
        given = {k: value for k, value in msgspec.structs.asdict(self).items() if value is not None}
        return control_of(campaign.settings if campaign else {}, given)


def _tested(name: str) -> AskedOfRaters:
    if name:
        check_choice("test of pairs", name, _TESTS)
    return AskedOfRaters(cast("Test", name) if name else None)


control_option = click.option(
    "--quality",
    "asked",
    cls=SettingsOption,
    start=_tested,
    known=_TESTS,
    without=["test"],
    metavar="TEST|KEY:VALUE",
    help="What raters must show: by a one-sided test of pairs of a caption and its degraded "
    f"caption ({', '.join(_TESTS)}). What is not given is as the campaign's settings say; t.",
)


def judged(campaign: Campaign) -> Judgments:
    """Take the judgments of finished HITs, and say how many others there are."""
    finished = campaign.judgments(finished=True)
    others = campaign.status().judgments - len(finished)
    if others:
        say(f"{others:,} judgments of unfinished HITs are left out.")
    return finished
