"""The demo: a running challenge on the embedded example, with the entries of four teams."""

from __future__ import annotations

import json
import shutil
from pathlib import Path

from reelscore import examples
from reelscore.challenge import open_challenges
from reelscore.challenge.arena import DAY, Arena, server_clock
from reelscore.challenge.challenges import find_challenge, make_challenge
from reelscore.challenge.submissions import Upload, hand_in
from reelscore.challenge.teams import add_team
from reelscore.challenge.uploads import Readers
from reelscore.store.values import to_iso
from reelscore.web.settings import Settings, load_secret

_OVERVIEW = """\
Describe fifteen short clips, in one sentence each. This is a demo: everything is lost when it ends.

Make an account and a team, and hand in the sample file of the page *Data*, with captions of your
own. The score stands on the leaderboard within seconds.
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
splits = ["test"]
opens = {opens}
closes = {closes}
feedback = {{ test = "full" }}
limits = {{ per_day = 5, total = 100 }}
final = "best"
[[board]]
id = "test"
name = "Leaderboard"
phase = "main"
primary = "cider"
columns = [
  {{ scores = ["bleu_4", "meteor", "rouge_l", "cider"], scale = 100, precision = 1 }},
  {{ group = "text", scores = ["length", "vocabulary"], ranked = false, precision = 1 }},
]
[publish]
items = true
"""
# who hands in the captions of which system, how many days ago, and by which method
_ENTRIES = (
    ("Baseline", "baseline", "broken", 9, "one sentence for many clips"),
    ("Weak Links", "team", "weak", 6, "a small model"),
    ("Strong Words", "team", "strong", 3, "a large model"),
    ("The organisers", "organisers", "human", 1, "written by a person"),
)


def challenge_settings(folder: Path, url: str) -> Settings:
    """Make the challenge in a folder, and say how to serve it; the server scores the entries.

    Args:
        folder: An empty folder.
        url: The address to serve at.
    """
    database = folder / "demo.db"
    with open_challenges(database, create=True) as opened, opened.reading() as connection:
        now = server_clock(connection)
    definition = _DEFINITION.format(opens=to_iso(now - 10 * DAY), closes=to_iso(now + 20 * DAY))
    (folder / "demo.toml").write_text(definition, encoding="utf-8")
    (folder / "overview.md").write_text(_OVERVIEW, encoding="utf-8")
    (folder / "rules.md").write_text(_RULES, encoding="utf-8")
    shutil.copyfile(examples.path("clips/references.json"), folder / "references.json")
    systems, _ = examples.clips()
    readers = Readers(1)
    try:
        with open_challenges(database) as opened:
            make_challenge(Arena(opened, lambda _: now - 10 * DAY), folder / "demo.toml")
            for name, kind, system, days, method in _ENTRIES:
                moment = now - days * DAY
                arena = Arena(opened, lambda _, moment=moment: moment)  # type: ignore[misc]
                known = find_challenge(arena)
                team = add_team(arena, known, name, kind=kind)
                upload = Upload(f"{system}.json", json.dumps(systems[system]).encode(), method)
                hand_in(arena, readers, known, "main", team, upload)
    finally:
        readers.close()
    return Settings(str(database), secret=load_secret(folder / "secret"), url=url, scorers=1)
