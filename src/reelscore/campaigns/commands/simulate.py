"""``reelscore campaign simulate``."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence

import click

from reelscore.campaigns.campaign import Campaign
from reelscore.campaigns.commands.options import AskedOfRaters, control_options, id_option
from reelscore.campaigns.hits.ratings import build_hits
from reelscore.campaigns.hits.tasks import Hit
from reelscore.campaigns.report.tables import text_grid
from reelscore.campaigns.simulate.crowd import RATER_TYPES, Crowd, RaterType
from reelscore.campaigns.simulate.simulation import (
    Mix,
    Study,
    Truth,
    bad_mix,
    simulate_campaign,
    study,
)
from reelscore.cli.messages import say
from reelscore.cli.options import json_option, number_option, seed_option
from reelscore.cli.terminal import STDOUT, check_targets, progress_bar, write_json
from reelscore.errors import DataError

# In z, from Table 4 of the paper: people's captions, and the systems' on average.
_PEOPLE, _MIDDLE = 0.895, -0.17
_STEP = 0.15
_VIDEOS = 1_873


@click.command("simulate")
@click.argument("campaign", metavar="[CAMPAIGN]", required=False)
@id_option
@click.option(
    "--true",
    "truth",
    multiple=True,
    metavar="NAME=Z",
    help="True quality of a system; may be repeated. Evenly spaced if not given.",
)
@number_option(
    "--bad",
    default=0.2,
    least=0,
    most=1,
    metavar="SHARE",
    help="Share of careless raters, of four types.",
)
@click.option(
    "--mix",
    multiple=True,
    metavar="TYPE=SHARE",
    help=f"Shares of types of raters instead: {', '.join(RATER_TYPES)}.",
)
@number_option(
    "--systems", default=5, least=2, most=26, help="Without CAMPAIGN: number of systems."
)
@number_option("--hits", default=94, least=1, help="Without CAMPAIGN: number of HITs.")
@number_option(
    "--campaigns", default=100, least=1, help="Without CAMPAIGN: number of campaigns to simulate."
)
@control_options
@seed_option
@json_option
def simulate(
    campaign: str | None,
    campaign_id: str | None,
    truth: tuple[str, ...],
    bad: float,
    mix: tuple[str, ...],
    systems: int,
    hits: int,
    campaigns: int,
    asked: AskedOfRaters,
    seed: int,
    json_file: str | None,
) -> None:
    """Simulate the raters of one campaign, or of many.

    With CAMPAIGN, simulated raters do all its HITs and their judgments are stored in it, as a
    rehearsal. Without CAMPAIGN, campaigns with known true quality are simulated, each with a
    second crowd on the same captions. The table shows how often the true ranking is found, which
    careless raters are detected, and how well the two crowds agree.

    \b
    Examples:
      reelscore campaign simulate rehearsal.db --bad 0.3
      reelscore campaign simulate --systems 5 --hits 94 --campaigns 100
    """
    check_targets(json_file)
    shares = _shares(mix) if mix else bad_mix(bad)
    if campaign:
        with Campaign.open(campaign, campaign_id) as opened_campaign:
            _fill(opened_campaign, truth, shares, seed)
        return
    names = [chr(ord("a") + k) for k in range(systems)]
    quality = _truth(names, truth, None)
    made = _made_up_hits(names, hits, seed)
    with progress_bar("Simulating") as progress:
        for result in study(
            made,
            {**quality, "human": _PEOPLE},
            campaigns=campaigns,
            seed=seed,
            mix=shares,
            control=asked.of(),
            ranked=names,
        ):
            if progress:
                progress(result.campaigns, campaigns)
    if json_file:
        write_json(json_file, _plain(result, quality))
    if json_file != STDOUT:
        _show(result, quality)


def _fill(campaign: Campaign, given: Sequence[str], mix: Mix, seed: int) -> None:
    if campaign.status().judgments:
        raise DataError(f"Campaign {campaign.id!r} has judgments already; simulate on a new one.")
    humans = campaign.humans
    truth = Truth(_truth(list(campaign.systems), given, humans), Crowd(), seed)
    made_up = simulate_campaign(
        list(campaign.hits()),
        truth,
        seed=seed,
        mix=mix,
        raters_per_hit=campaign.terms.raters_per_hit,
        protocol=campaign.protocol,
    )
    campaign.append(made_up.judgments)
    types = Counter(made_up.types.values())
    crowd = ", ".join(f"{types[kind]} {kind}" for kind in RATER_TYPES if types[kind])
    say(f"{len(made_up.judgments):,} judgments by {len(made_up.types)} raters: {crowd}.")


def _truth(
    names: Sequence[str], given: Sequence[str], humans: Sequence[str] | None
) -> dict[str, float]:
    """True quality: as given, people well above, the others evenly apart."""
    others = [name for name in names if name not in (humans or ())]
    middle = (len(others) - 1) / 2
    truth = {name: round(_MIDDLE + _STEP * (middle - k), 4) for k, name in enumerate(others)}
    truth |= dict.fromkeys(humans or (), _PEOPLE)
    for each in given:
        name, _, value = each.rpartition("=")
        if name not in truth:
            raise DataError(f"{each!r}: there is no system {name!r}; there are {', '.join(truth)}.")
        try:
            truth[name] = float(value)
        except ValueError:
            raise DataError(f"{each!r}: expected NAME=Z, with a number.") from None
    return truth


def _shares(given: Sequence[str]) -> Mix:
    shares: dict[RaterType, float] = {}
    for each in given:
        kind, _, value = each.partition("=")
        known: Mapping[str, RaterType] = {name: name for name in RATER_TYPES}
        try:
            shares[known[kind]] = float(value)
        except (KeyError, ValueError):
            raise DataError(
                f"{each!r}: expected TYPE=SHARE, of {', '.join(RATER_TYPES)}."
            ) from None
    return shares


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
    click.echo(f"True quality in z: {truth}; people {_PEOPLE:+.2f}\n")
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
