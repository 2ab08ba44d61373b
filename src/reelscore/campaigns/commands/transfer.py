"""Commands that move campaigns and judgments: ``hits``, ``import``, ``export``, ``backup``."""

from __future__ import annotations

import csv
import io
from collections import Counter
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import click

from reelscore.campaigns.campaign import Campaign
from reelscore.campaigns.commands.options import campaign_argument, id_option, opened_campaign
from reelscore.campaigns.hits.tasks import KINDS, Hit
from reelscore.campaigns.imports.judgment_files import (
    FORMATS,
    judgments_csv,
    stream_judgments,
)
from reelscore.campaigns.protocols import PROTOCOLS
from reelscore.campaigns.report.tables import text_grid
from reelscore.cli.messages import say
from reelscore.cli.options import file_option
from reelscore.cli.report_options import Outputs, outputs
from reelscore.cli.terminal import STDOUT, check_targets, terminal_width, write
from reelscore.data.checks import counted
from reelscore.errors import DataError
from reelscore.report.tables.grid import Grid


@click.command("hits")
@opened_campaign
@outputs(".csv")
@file_option("--key", "Write the key (the system and kind of each task) as CSV.")
def show_hits(campaign: Campaign, outputs: Outputs, key_file: str | None) -> None:
    """Show the HITs, or export them for another tool.

    The table counts the tasks of each kind by system. The file of --output is blind: it has the
    tasks as raters may see them, without systems and control tasks. The key and the JSON file
    reveal them: keep them to the organisers.

    \b
    Examples:
      reelscore campaign hits my.db
      reelscore campaign hits my.db -o tasks.csv --key key.csv
    """
    check_targets(key_file)
    hits = list(campaign.hits())
    outputs.write(csv=lambda: _csv(hits, blind=True), json=lambda: hits, private=["json"])
    if key_file:
        write(key_file, _csv(hits, blind=False), private=True)
    if outputs.shows and key_file != STDOUT:
        sizes = sorted({len(hit.tasks) for hit in hits})
        tasks = "–".join(map(str, sizes[:: max(1, len(sizes) - 1)])) or "0"
        click.echo(f"{len(hits):,} HITs of {tasks} tasks\n")
        click.echo(_counts(hits).to_text(terminal_width()))


def _csv(hits: Sequence[Hit], *, blind: bool) -> str:
    out = io.StringIO()
    writer = csv.writer(out, lineterminator="\n")
    columns = ["text"] if blind else ["system", "kind", "expected"]
    writer.writerow(["hit", "position", "task", "item", "slot", *columns])
    for hit in hits:
        for position, task in enumerate(hit.tasks):
            for slot, shown in enumerate(task.shown):
                place = [hit.id, position, task.id, task.item, slot]
                expected = "" if task.expected is None else task.expected
                secret = [shown.system, shown.kind, expected]
                writer.writerow([*place, shown.text] if blind else [*place, *secret])
    return out.getvalue()


def _counts(hits: Sequence[Hit]) -> Grid:
    counts = Counter(
        (shown.system, shown.kind) for hit in hits for task in hit.tasks for shown in task.shown
    )
    systems = sorted({system for system, _ in counts})
    kinds = [kind for kind in KINDS if any(k == kind for _, k in counts)]
    rows = ((system, *(f"{counts[system, kind]:,}" for kind in kinds)) for system in systems)
    return text_grid(["system", *kinds], rows)


@click.command("import")
@campaign_argument
@click.argument("files", nargs=-1, required=True, metavar="FILES...")
@id_option
@click.option(
    "--format",
    type=click.Choice(FORMATS),
    help="mturk: batch results; ad-latest: tables of the Direct Assessment tools; "
    "standardized: the same with z scores; csv: any table with rater, system, "
    "item, score. Recognised by the header if not given.",
)
@click.option("--pair", metavar="cs-en", help="Language pair to import, if the files hold several.")
@click.option(
    "--moments",
    metavar="FILE",
    help="For z scores: raters' means and deviations; by default next to the file.",
)
@click.option(
    "--protocol",
    type=click.Choice(list(PROTOCOLS)),
    help="What raters were asked; direct-assessment for a new campaign.",
)
@click.option(
    "--people",
    "humans",
    multiple=True,
    metavar="NAME",
    help="A system that stands for human captions.",
)
@click.option(
    "--name", metavar="TEXT", help="Name of a new campaign; the file's name if not given."
)
def import_files(
    campaign: str,
    files: tuple[str, ...],
    campaign_id: str | None,
    protocol: str | None,
    humans: tuple[str, ...],
    name: str | None,
    **choices: Any,
) -> None:
    """Import judgments, or a whole campaign, from files.

    If CAMPAIGN does not exist, it is created from the files. If it exists, the judgments must be
    of its tasks. Either everything is imported or nothing. A .jsonl file or a folder written by
    'campaign export' becomes a campaign again.

    \b
    Examples:
      reelscore campaign import run-a.db Batch_*_batch_results.csv
      reelscore campaign import wmt.db ad-csen-good-stnd.csv
      reelscore campaign import copy.db my-campaign.jsonl
    """
    if len(files) == 1 and (Path(files[0]).is_dir() or ".jsonl" in Path(files[0]).name):
        with Campaign.restore(campaign, files[0], id=campaign_id) as made:
            say(f"Campaign {made.id!r} is restored in {campaign}.")
        return
    notes: list[str] = []
    if _exists(campaign):
        with Campaign.open(campaign, campaign_id) as there:
            asked = there.protocol.name
            if protocol not in (None, asked):
                raise DataError(f"Campaign {there.id!r} asks for {asked}.")
            rows = stream_judgments(files, notes, protocol_name=asked, **choices)
            count = there.append(rows, new_hits=there.terms.layout == "imported")
        for said in [*notes, f"{count:,} judgments are added to {there.id!r}."]:
            say(said)
        return
    asked = protocol or "direct-assessment"
    with Campaign.from_judgments(
        campaign,
        name or Path(campaign).stem,
        stream_judgments(files, notes, protocol_name=asked, **choices),
        protocol=asked,
        humans=humans,
        id=campaign_id,
    ) as made:
        status = made.status()
    done = (
        f"{campaign}, campaign {made.id!r}: {counted(status.judgments, 'judgment')} of "
        f"{counted(status.hits, 'HIT')} by {counted(status.raters, 'rater')}."
    )
    for said in [*notes, done]:
        say(said)


def _exists(where: str) -> bool:
    """Return whether judgments are to be added to a campaign; a URL's may hold several."""
    if "://" in where:
        try:
            return bool(Campaign.list(where))
        except DataError:
            return False
    return Path(where).exists()


@click.command("export")
@opened_campaign
@click.argument("path", metavar="PATH")
@click.option("--judgments", is_flag=True, help="Only the judgments, as one CSV table.")
def export(campaign: Campaign, path: str, judgments: bool) -> None:
    """Export everything, or the judgments, to plain files.

    PATH is a .jsonl file or a new folder of CSV files; 'campaign import' restores the campaign
    from them. With --judgments it is a CSV file, or - for standard output.

    \b
    Examples:
      reelscore campaign export my.db my-campaign.jsonl
      reelscore campaign export my.db judgments.csv --judgments
    """
    if judgments:
        check_targets(path)
        write(path, judgments_csv(campaign.rows()), private=True)
    else:
        campaign.export(path)
    if path != STDOUT:
        say(f"{campaign.status().judgments:,} judgments are in {path}.")


@click.command("backup")
@campaign_argument
@click.argument("path", metavar="PATH")
def back_up(campaign: str, path: str) -> None:
    """Copy the whole database while it is in use.

    PATH is a new file, or a folder, in which the file is named after the database and the time.
    The backup of a SQLite file is a SQLite file that can be used directly; that of a PostgreSQL
    database is an archive for pg_restore, made by pg_dump. It contains all campaigns, raters and
    accounts, but not the secret that signs links and completion codes.

    \b
    Examples:
      reelscore campaign backup my.db backups/
      reelscore campaign backup postgresql://rate@db/rate rate.dump
    """
    say(f"The database is copied to {Campaign.backup(campaign, path)}.")
