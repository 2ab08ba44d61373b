"""YouCook2's validation stories as a challenge, with TimeChat's captions as its one entry.

    python -m benchmarks stories-challenge

A challenge takes no segment that ends before it starts, nor one after the end of its video, where
the references say how long that is. TimeChat has both: its reversed segments, which overlap
nothing, become moments here, and the references do not say how long the videos are.
"""

from __future__ import annotations

import gzip
import json
import sys
import tempfile
from pathlib import Path
from typing import Any

from benchmarks.data import ROOT
from reelscore.challenges.challenge import Challenges
from reelscore.challenges.exchange.exports import Contents, export_challenge
from reelscore.challenges.exchange.verification import verify_export
from reelscore.challenges.people.teams import add_team
from reelscore.challenges.queue.workers import Workers
from reelscore.challenges.store.tables import open_challenges
from reelscore.challenges.submissions import Upload, hand_in
from reelscore.challenges.updates import make_challenge
from reelscore.challenges.uploads.uploads import Readers
from reelscore.challenges.views import View

DENSE = ROOT.parent / "shared" / "data" / "dense"
METEOR = 0.009479686134345128  # the official scorer's, of the file as it is
MOMENT = 0.001  # seconds
DEFINITION = """\
[challenge]
id = "stories"
name = "Stories of cooking videos"
[[split]]
id = "val"
visibility = "public"
kind = "stories"
references = ["yc2_val.json"]
[scoring]
scores = ["activitynet"]
protocol = { missing = "zero", variant = "2018-11" }
[[phase]]
id = "main"
splits = ["val"]
opens = 2020-01-01T00:00:00Z
closes = 2999-01-01T00:00:00Z
[[board]]
id = "main"
phase = "main"
primary = "anet_meteor"
columns = [{ scores = ["anet_meteor", "anet_cider"], scale = 100, precision = 4 }]
"""


def read(name: str) -> dict[str, Any]:
    """Read one of the data set's files."""
    with gzip.open(DENSE / f"{name}.json.gz") as file:
        return dict(json.load(file))


def valid(results: dict[str, Any]) -> int:
    """Make moments of reversed segments; gives how many there were."""
    changed = 0
    for caption in (caption for captions in results.values() for caption in captions):
        start, end = caption["timestamp"]
        if end <= start:
            caption["timestamp"] = [start, start + MOMENT]
            changed += 1
    return changed


def main() -> None:
    if not DENSE.exists():
        sys.exit(f"The benchmark needs the stories of YouCook2; they are not at {DENSE}.")
    references = read("yc2_val")
    captions = read("timechat_yc2_pred_anet_format")
    changed = valid(captions["results"])
    for story in references.values():
        del story["duration"]
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        (folder / "stories.toml").write_text(DEFINITION)
        (folder / "yc2_val.json").write_text(json.dumps(references))
        with open_challenges(folder / "stories.db", create=True) as database:
            challenges = Challenges(database)
            make_challenge(challenges, folder / "stories.toml")
            challenge = challenges.find()
            readers = Readers(1)
            try:
                upload = Upload("timechat.json", json.dumps(captions).encode())
                team = add_team(challenge, "TimeChat")
                hand_in(challenge, readers, "main", team, upload)
            finally:
                readers.close()
            Workers(challenges, 1).run_until_idle()
            board = View(challenge).board("main")
            assert board is not None
            own = board.table[board.rows[0].id]["anet_meteor"].score
            assert abs(own - METEOR) < 1e-15  # sums in another order
            print(f"TimeChat, {changed} reversed segments: METEOR {own!r}, expected {METEOR!r}")
            path = folder / "stories.zip"
            export_challenge(challenge, path, Contents(references=True))
        checked = verify_export(path, threads=1)
        print(f"computed again: {checked.scores} scores, {len(checked.differences)} differences")
