"""The demo: a running challenge on the embedded example, with the entries of four teams."""

from __future__ import annotations

import json
import shutil
from dataclasses import replace
from functools import partial
from pathlib import Path

from reelscore import examples
from reelscore.challenges.challenge import DAY, Challenges
from reelscore.challenges.people.teams import add_team
from reelscore.challenges.submissions import Upload, hand_in
from reelscore.challenges.updates import make_challenge
from reelscore.challenges.uploads.uploads import Readers
from reelscore.errors import MissingExtraError
from reelscore.examples.drawn_videos import draw_videos
from reelscore.store.values import to_iso
from reelscore.web.settings import Settings, load_secret

_OVERVIEW = """\
Describe fifteen short clips, in one sentence each. This is a demo: everything is lost when it ends.

Make an account and a team, and hand in the sample file of the page *Data*, with captions of your
own. The score stands on the leaderboard within seconds.

The practice phase is over: its leaderboard leads to the items, one by one, with what everybody
wrote.
"""
_RULES = "One sentence a clip. Say which data your method was trained on.\n"
_DEFINITION = """\
[challenge]
id = "demo"
name = "Demo: fifteen clips"
registration = "open"
references = "open"
pages = {{ overview = "overview.md", rules = "rules.md" }}
[[split]]
id = "test"
visibility = "public"
references = "references.json"
[scoring]
metrics = ["bleu_4", "meteor", "rouge_l", "cider", "diversity"]
seed = 2026
[[phase]]
id = "main"
name = "Main phase"
splits = ["test"]
opens = {opens}
closes = {closes}
feedback = {{ test = "full" }}
limits = {{ per_day = 5, total = 100 }}
final = "best"
[[phase]]
id = "practice"
name = "Practice"
splits = ["test"]
opens = {opens}
closes = {over}
feedback = {{ test = "full" }}
limits = {{ per_day = 5, total = 100 }}
final = "best"
after = "open"
[[board]]
id = "test"
name = "Main leaderboard"
phase = "main"
primary = "cider"
columns = {columns}
[[board]]
id = "practice"
name = "Practice leaderboard"
phase = "practice"
primary = "cider"
columns = {columns}
[publish]
items = true
captions = true
"""
_COLUMNS = """[
  { group = "words", scores = ["cider", "bleu_4", "meteor"], scale = 100, precision = 1 },
  { group = "words", scores = ["rouge_l"], scale = 100, precision = 1 },
  { group = "text", scores = ["length"], ranked = false, precision = 1 },
  { group = "text", scores = ["vocabulary"], ranked = false, precision = 0 },
]"""
# who hands in the captions of which system, how many days ago, and by which method
_ENTRIES = (
    ("Baseline", "baseline", "broken", 9, "one sentence for many clips"),
    ("Weak Links", "team", "weak", 6, "a small model"),
    ("Strong Words", "team", "strong", 3, "a large model"),
    ("The organisers", "organisers", "human", 1, "written by a person"),
)


def _at(moment: int, _: object) -> int:
    """Return a time that stands still, as a clock."""
    return moment


def challenge_settings(folder: Path, url: str) -> Settings:
    """Make the challenge in a folder, and say how to serve it; the server scores the entries."""
    database = folder / "demo.db"
    with Challenges.opened(database, create=True) as made, made.reading() as connection:
        now = made.now(connection)
    definition = _DEFINITION.format(
        columns=_COLUMNS,
        opens=to_iso(now - 10 * DAY),
        closes=to_iso(now + 20 * DAY),
        over=to_iso(now - DAY // 2),
    )
    (folder / "demo.toml").write_text(definition, encoding="utf-8")
    (folder / "overview.md").write_text(_OVERVIEW, encoding="utf-8")
    (folder / "rules.md").write_text(_RULES, encoding="utf-8")
    shutil.copyfile(examples.path("clips/references.json"), folder / "references.json")
    systems, _ = examples.clips()
    with Challenges.opened(database) as opened, Readers(1) as readers:
        make_challenge(replace(opened, clock=partial(_at, now - 10 * DAY)), folder / "demo.toml")
        for name, kind, system, days, method in _ENTRIES:
            challenge = replace(opened, clock=partial(_at, now - days * DAY)).find()
            team = add_team(challenge, name, kind=kind)
            upload = Upload(f"{system}.json", json.dumps(systems[system]).encode(), method)
            for phase in ("main", "practice"):
                hand_in(challenge, readers, phase, team, upload)
    videos: Path | None = folder / "videos"
    try:
        (folder / "videos").mkdir()
        draw_videos(folder / "videos", systems["human"])
    except MissingExtraError:
        videos = None
    secret = load_secret(folder / "secret")
    return Settings(str(database), secret=secret, url=url, scorers=1, videos=videos)
