"""``reelscore campaign simulate``."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from typing import NamedTuple

import click

from reelscore.campaigns.campaign import Campaign
from reelscore.campaigns.commands.options import opened_campaign
from reelscore.campaigns.simulate.crowd import RATER_TYPES, Crowd, RaterType
from reelscore.campaigns.simulate.simulation import Mix, Truth, bad_mix, simulate_campaign
from reelscore.cli.messages import say
from reelscore.cli.options import gathered, number_option, seed_option
from reelscore.errors import DataError

# In z, from Table 4 of the paper: people's captions, and the systems' on average.
PEOPLE, _MIDDLE = 0.895, -0.17
_STEP = 0.15


class MadeUpCrowd(NamedTuple):
    """Who judges, and what is true."""

    truth: tuple[str, ...]
    bad: float
    mix: tuple[str, ...]

    def shares(self) -> Mix:
        """Return the share of each type of rater."""
        shares: dict[RaterType, float] = {}
        for each in self.mix:
            kind, _, value = each.partition("=")
            known: Mapping[str, RaterType] = {name: name for name in RATER_TYPES}
            try:
                shares[known[kind]] = float(value)
            except (KeyError, ValueError):
                raise DataError(
                    f"{each!r}: expected TYPE=SHARE, of {', '.join(RATER_TYPES)}."
                ) from None
        return shares or bad_mix(self.bad)

    def quality(self, names: Sequence[str], humans: Sequence[str] | None) -> dict[str, float]:
        """Return true quality: as given, people well above, the others evenly apart."""
        others = [name for name in names if name not in (humans or ())]
        middle = (len(others) - 1) / 2
        truth = {name: round(_MIDDLE + _STEP * (middle - k), 4) for k, name in enumerate(others)}
        truth |= dict.fromkeys(humans or (), PEOPLE)
        for each in self.truth:
            name, _, value = each.rpartition("=")
            if name not in truth:
                known = ", ".join(truth)
                raise DataError(f"{each!r}: there is no system {name!r}; there are {known}.")
            try:
                truth[name] = float(value)
            except ValueError:
                raise DataError(f"{each!r}: expected NAME=Z, with a number.") from None
        return truth


crowd_options = gathered(
    "crowd",
    MadeUpCrowd,
    {
        "truth": click.option(
            "--true",
            "truth",
            multiple=True,
            metavar="NAME=Z",
            help="True quality of a system; may be repeated. Evenly spaced if not given.",
        ),
        "bad": number_option(
            "--bad",
            default=0.2,
            least=0,
            most=1,
            metavar="SHARE",
            help="Share of careless raters, of four types.",
        ),
        "mix": click.option(
            "--mix",
            multiple=True,
            metavar="TYPE=SHARE",
            help=f"Shares of types of raters instead: {', '.join(RATER_TYPES)}.",
        ),
    },
)


@click.command("simulate")
@opened_campaign
@crowd_options
@seed_option
def simulate(campaign: Campaign, crowd: MadeUpCrowd, seed: int) -> None:
    """Simulate the raters of a campaign, as a rehearsal.

    They do all its HITs, and their judgments are stored in it.

    \b
    Example:
      reelscore campaign simulate rehearsal.db --bad 0.3
    """
    if campaign.status().judgments:
        raise DataError(f"Campaign {campaign.id!r} has judgments already; simulate on a new one.")
    made_up = simulate_campaign(
        list(campaign.hits()),
        Truth(crowd.quality(list(campaign.systems), campaign.humans), Crowd(), seed),
        seed=seed,
        mix=crowd.shares(),
        raters_per_hit=campaign.terms.raters_per_hit,
        protocol=campaign.protocol,
    )
    campaign.append(made_up.judgments)
    types = Counter(made_up.types.values())
    kinds = ", ".join(f"{types[kind]} {kind}" for kind in RATER_TYPES if types[kind])
    say(f"{len(made_up.judgments):,} judgments by {len(made_up.types)} raters: {kinds}.")
