"""``reelscore campaign hits``."""

from __future__ import annotations

import csv
import io
from collections import Counter
from collections.abc import Sequence

import click

from reelscore.campaigns.commands.options import campaign_argument, id_option, opened
from reelscore.campaigns.hits.tasks import KINDS, Hit
from reelscore.cli.options import file_option, json_option
from reelscore.cli.terminal import STDOUT, check_targets, terminal_width, write, write_json
from reelscore.report.tables.grid import Cell, Grid


@click.command("hits")
@campaign_argument
@id_option
@file_option("--csv", "Write the tasks as raters may see them (blind).")
@file_option("--key", "Write the key (the system and kind of each task) as CSV.")
@json_option
def command(
    campaign: str,
    campaign_id: str | None,
    csv_file: str | None,
    key_file: str | None,
    json_file: str | None,
) -> None:
    """Show the HITs, or export them for another tool.

    The table counts the tasks of each kind by system. The blind file does not reveal systems or
    control tasks. The key and the JSON file do: keep them to the organisers.

    \b
    Examples:
      reelscore campaign hits my.db
      reelscore campaign hits my.db --csv tasks.csv --key key.csv
    """
    check_targets(csv_file, key_file, json_file)
    with opened(campaign, campaign_id) as opened_campaign:
        hits = list(opened_campaign.hits())
    if csv_file:
        write(csv_file, _csv(hits, blind=True))
    if key_file:
        write(key_file, _csv(hits, blind=False), private=True)
    if json_file:
        write_json(json_file, hits, private=True)
    if STDOUT not in (csv_file, key_file, json_file):
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
    return Grid(
        ["system", *kinds],
        [
            [Cell(system), *(Cell(f"{counts[system, kind]:,}") for kind in kinds)]
            for system in systems
        ],
    )
