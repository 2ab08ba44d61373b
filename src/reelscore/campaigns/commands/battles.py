"""``reelscore battles``: who is better, by comparisons of two captions at a time."""

from __future__ import annotations

from collections.abc import Mapping
from functools import partial
from typing import Any, NamedTuple, get_args

import click
from msgspec.structs import replace

from reelscore.campaigns.campaign import Campaign
from reelscore.campaigns.commands.options import AskedOfRaters, judged
from reelscore.campaigns.evaluate.battle_checks import agree, leanings
from reelscore.campaigns.evaluate.battles import BASELINES, Battles, Preset, rank_battles
from reelscore.campaigns.evaluate.results import campaign_quality
from reelscore.campaigns.imports.battles import read_battles
from reelscore.campaigns.report.plots import draw_ranks
from reelscore.campaigns.report.tables import battle_grid
from reelscore.cli.file_options import FilesCommand, FilesOption, system_files
from reelscore.cli.messages import say
from reelscore.cli.options import (
    choice_option,
    gathered,
    number_option,
    resamples_option,
    seed_option,
)
from reelscore.cli.report_options import ResultFiles, result_files
from reelscore.cli.terminal import progress_bar, show
from reelscore.errors import DataError

_SQLITE = b"SQLite format 3\0"


class _Source(NamedTuple):
    """What is read of each source."""

    verdict: str | None
    metric: str | None
    criterion: str | None
    campaign_id: str | None

    def battles(self, names: tuple[str, ...]) -> Battles:
        """Read and join the battles of campaigns and files."""
        parts = []
        for name in names:
            if "://" in name or _is_database(name):
                parts.append(self._of_campaign(name))
            else:
                parts.append(read_battles(name, verdict=self.verdict, metric=self.metric))
        return Battles.join(parts)

    def _of_campaign(self, name: str) -> Battles:
        with Campaign.open(name, self.campaign_id) as campaign:
            form = campaign.protocol.form
            if form == "rating":
                raise DataError(
                    f"{name}: raters judged single captions there; battles need a campaign of "
                    "comparisons or rankings."
                )
            judgments = judged(campaign)
            quality = campaign_quality(campaign, judgments, AskedOfRaters().of(campaign))
            good = quality.good(judgments)
            if not len(good):
                raise DataError(f"{name}: there are no judgments that count: {quality.summary}")
            say(quality.summary)
            battles = Battles.of_judgments(good, form, self.criterion)
            return battles.with_captions(campaign.captions())


def _is_database(name: str) -> bool:
    try:
        with open(name, "rb") as file:  # noqa: PTH123 (the name may be that of a pipe)
            return file.seekable() and file.read(len(_SQLITE)) == _SQLITE
    except OSError:
        return False


_SOURCE = {
    "verdict": click.option(
        "--verdict", metavar="FIELD", help="The field that says who won.  [default: winner]"
    ),
    "metric": click.option(
        "--metric",
        "-m",
        metavar="NAME",
        help="Of score tables: the better caption by this score wins.  [default: the judge's "
        "answers to pairs]",
    ),
    "criterion": click.option("--criterion", metavar="NAME", help="By what people judged."),
    "campaign_id": click.option(
        "--campaign", "campaign_id", metavar="ID", help="Id of the campaign."
    ),
}


@click.command("battles", cls=FilesCommand)
@click.argument("sources", nargs=-1, required=True, metavar="BATTLES...")
@choice_option(
    "--preset",
    choices=get_args(Preset),
    default="bradley-terry",
    help="How battles are made a score: by Bradley and Terry's model, or as published: Elo (K 4, "
    "median of battles drawn anew), CapArena-Auto (half of wins less losses against baselines).",
)
@choice_option(
    "--ties",
    choices=["davidson", "half"],
    default="davidson",
    help="Ties of bradley-terry: by Davidson's model, or half a win each.",
)
@click.option(
    "--baselines",
    default=",".join(BASELINES),
    metavar="A,B,C",
    help="The baselines of caparena-auto.  [default: those published]",
)
@click.option(
    "--captions", cls=FilesOption, help="The systems' captions, to count their words: [NAME=]FILE."
)
@click.option(
    "--against",
    cls=FilesOption,
    help="Battles of another source, such as people for a judge: how far do they agree?",
)
@gathered("source", _Source, _SOURCE)
@number_option(
    "--confidence", "level", default=0.95, above=0, most=0.999, help="Level of the intervals."
)
@resamples_option("Number of resamples of the items.")
@seed_option
@result_files(figure="with points and places of systems")
def command(
    sources: tuple[str, ...],
    preset: Preset,
    baselines: str,
    captions: tuple[str, ...],
    against: tuple[str, ...],
    source: _Source,
    files: ResultFiles,
    **choices: Any,
) -> None:
    """Rank systems by battles: which of two captions of an item is better.

    BATTLES are files of arenas (the columns of Chatbot Arena or CapArena), campaigns of comparisons
    or rankings, or score tables with the judge's answers to pairs of captions. Points are 1000 on
    average, 400 apart where the odds are ten to one; intervals and ranks are by bootstrap over the
    items. Notes say how often the caption shown first won, and the longer one.

    \b
    Examples:
      reelscore battles votes.csv
      reelscore battles campaign.db --criterion helpful
      reelscore battles arena.json --preset caparena-auto
      reelscore battles judge.json --against campaign.db -o ranks.pdf
    """
    battles = source.battles(sources).with_captions(_captions(captions))
    # of the other source the usual verdict counts: the people's, where a file has the judge's, too
    others = [source._replace(verdict=None, metric=None).battles(against)] if against else []
    with progress_bar("Drawing battles anew") as progress:
        ranking, *other_rankings = (
            rank_battles(each, preset, baselines=_listed(baselines), progress=progress, **choices)
            for each in (battles, *others)
        )
    leans = leanings(battles, choices["level"])
    extra: dict[str, object] = {"leanings": [each._asdict() for each in leans]}
    lines = list(map(str, leans))
    for other, their_ranking in zip(others, other_rankings, strict=True):
        agreement = agree((battles, other), (ranking, their_ranking), choices["level"])
        extra["agreement"] = agreement._asdict()
        lines += [f"Against {', '.join(against)}: {agreement.lines[0]}", *agreement.lines[1:]]
    table = ranking.table()
    table, grid = replace(table, notes=[*table.notes, *lines]), battle_grid(ranking)
    files.write_table(
        table,
        [grid],
        draw=partial(draw_ranks, ranking),
        json=lambda: {**ranking.to_dict(), **extra, "notes": table.notes},
    )
    if files.shows:
        show(table, grid)


def _listed(names: str) -> list[str]:
    return [name for name in map(str.strip, names.split(",")) if name]


def _captions(files: tuple[str, ...]) -> Mapping[str, Mapping[str, str]]:
    from reelscore.data.captions.caption_files import read_candidates

    return {system: read_candidates(path) for system, path in system_files(files).items()}
