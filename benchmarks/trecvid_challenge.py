"""TRECVid VTT 2020 as a challenge: each system a team, people's assessments as a column.

    python -m benchmarks trecvid-challenge

Makes the definition, hands every system's captions in, scores them, imports the direct assessments
as a campaign, publishes its column, and computes every score again from the export. With
``REELSCORE_CHALLENGE=folder`` everything stays in that folder: the definition with its files, the
database, the export and the archive.
"""

from __future__ import annotations

import json
import os
import sys
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path

from benchmarks.data import TRECVID
from reelscore.challenge.archive import write_archive
from reelscore.challenge.arena import Arena
from reelscore.challenge.board_forms import board_grid
from reelscore.challenge.challenges import find_challenge, make_challenge
from reelscore.challenge.exports import export_challenge
from reelscore.challenge.human import link_campaign, publish
from reelscore.challenge.store.tables import open_challenges
from reelscore.challenge.submissions import Upload, hand_in
from reelscore.challenge.teams import add_team
from reelscore.challenge.uploads import Readers
from reelscore.challenge.verification import verify_export
from reelscore.challenge.views import View
from reelscore.challenge.workers import Workers
from reelscore.data.datasets.trecvid_ha import Assessment, load
from reelscore.human.campaign import Campaign
from reelscore.human.judgments import Judgment
from reelscore.store.values import from_iso

PUBLISHED = {"bleu_4": 0.174429, "meteor": 0.172660, "rouge_l": 0.398206, "cider": 0.303038}
DEFINITION = """\
[challenge]
id = "trecvid-2020"
name = "TRECVid video to text 2020"
pages = { overview = "overview.md" }

[[split]]
id = "test"
visibility = "blind"
references = "references.json"

[scoring]
metrics = ["bleu|n:4", "meteor", "rouge_l", "cider", "diversity"]
seed = 2020

[[phase]]
id = "main"
name = "Description generation"
splits = ["test"]
opens = 2020-06-01T00:00:00Z
closes = 2020-10-01T00:00:00Z
reveals = 2020-11-01T00:00:00Z
feedback = { test = "reveal" }
limits = { per_day = 4, total = 4 }
final = "last"

[[board]]
id = "test"
name = "Description generation"
phase = "main"
primary = "cider"
columns = [
  { group = "people", human = "da", precision = 3 },
  { group = "words", scale = 100, precision = 1, scores = [
      "bleu_4", "meteor", "rouge_l", "cider"] },
  { group = "text", scores = ["length"], ranked = false, precision = 1 },
  { group = "text", scores = ["vocabulary"], ranked = false, precision = 0 },
]

[[human]]
id = "da"
phase = "main"
protocol = "direct-assessment"
layout = "trecvid"

[award]
rule = "column"
column = "human:da"
within_cluster = "share"
"""
OVERVIEW = """\
Describe each of 1,700 short videos in one sentence. Five people wrote the references.

People rated the captions by Direct Assessment; the winner is determined by people.
"""


def judgments(data: Assessment) -> Iterator[Judgment]:
    """The released assessments, one rating of one caption each."""
    for system in data.candidates:
        row = data.human[system]
        for k, (item, z) in enumerate(row["z"].items.to_dict().items()):
            raw = row["raw"].items[item]
            task = f"{system}-{item}"
            yield Judgment("TRECVid", task, task, k, system, item, "caption", raw, z=z)


def make(folder: Path) -> tuple[Path, Arena]:
    """Make the challenge in a folder; everything is scored at the end."""
    data = load(TRECVID.parent, "SA-2020")
    (folder / "trecvid-2020.toml").write_text(DEFINITION)
    (folder / "overview.md").write_text(OVERVIEW)
    (folder / "references.json").write_text(json.dumps(data.references()))
    where = folder / "trecvid-2020.db"
    now = [from_iso("2020-09-01T12:00:00Z") or 0]

    def clock(_: object) -> int:
        now[0] += 60_000_000
        return now[0]

    arena = Arena(open_challenges(where, create=True), clock)
    make_challenge(arena, folder / "trecvid-2020.toml")
    known = find_challenge(arena, "trecvid-2020")
    readers = Readers(1)
    try:
        for system, captions in data.candidates.items():
            team = add_team(arena, known, system)
            upload = Upload(f"{system}.json", json.dumps(captions).encode())
            hand_in(arena, readers, known, "main", team, upload)
    finally:
        readers.close()
    Workers(arena, 1).run_until_idle()
    name = "TRECVid VTT 2020, direct assessment"
    Campaign.from_judgments(where, name, judgments(data), id="trecvid-da").disconnect()
    after = from_iso("2020-11-01T00:00:00Z") or 0
    link_campaign(arena.database, known.id, "da", "trecvid-da", now=after, actor="benchmark")
    publish(where, arena.database, known.id, "da", now=after, actor="benchmark")
    return where, arena


def main() -> None:
    if not TRECVID.exists():
        sys.exit(f"The benchmark needs the TRECVid data set; it is not at {TRECVID}.")
    kept = os.environ.get("REELSCORE_CHALLENGE")
    if kept:
        Path(kept).mkdir(parents=True)
        show(Path(kept))
    else:
        with tempfile.TemporaryDirectory() as folder:
            show(Path(folder))


def show(folder: Path) -> None:
    """Make the challenge and print its board, then compute every score again."""
    begin = time.perf_counter()
    _, arena = make(folder)
    now = from_iso("2020-11-02T00:00:00Z") or 0
    with arena.database as database:
        view = View(database, "trecvid-2020", now=now)
        board = view.board("test")
        assert board is not None
        print(board_grid(board).to_text(100))
        print(f"\nmade in {time.perf_counter() - begin:.1f} s")
        [best] = [row for row in board.rows if row.entry.team == "RUC_AIM3"]
        for name, value in PUBLISHED.items():
            own = best.entry.scores[name].value
            print(f"RUC_AIM3 {name} {own:.6f}, expected {value:.6f}")
            assert round(own, 6) == value
        path = folder / "trecvid-2020.zip"
        export_challenge(database, "trecvid-2020", path, now=now, references=True)
        write_archive(view, folder / "archive")
    checked = verify_export(path, threads=1)
    print(
        f"computed again: {checked.submissions} submissions, {checked.scores} scores and "
        f"{checked.arrays} arrays, {len(checked.differences)} differences"
    )
    assert not checked.differences
