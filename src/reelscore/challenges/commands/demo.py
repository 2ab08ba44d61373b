"""``reelscore demo challenge``: a challenge on the embedded example, with entries of four teams."""

from __future__ import annotations

import json
import shutil
from dataclasses import replace
from functools import partial
from pathlib import Path
from string import Template

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

_FILES = Path(__file__).parents[1] / "demo"  # the definition and its pages
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
    shifts = {"opens": -10 * DAY, "over": -DAY // 2, "closes": 20 * DAY}
    times = {name: to_iso(now + shift) for name, shift in shifts.items()}
    for file in _FILES.iterdir():
        text = Template(file.read_text(encoding="utf-8")).substitute(times)
        (folder / file.name).write_text(text, encoding="utf-8")
    shutil.copyfile(examples.path("clips/references.json"), folder / "references.json")
    systems, _ = examples.clips()
    with Challenges.opened(database) as opened, Readers(1) as readers:
        first = replace(opened, clock=partial(_at, now - 10 * DAY))
        make_challenge(first, folder / "challenge.toml")
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
