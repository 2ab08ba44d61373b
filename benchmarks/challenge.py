"""From upload to score: a file of LSMDC's size, four metrics, 1,000 resamples.

    python -m benchmarks challenge

A challenge of 9,578 clips with one reference each, in a SQLite file; as a server would, this
process keeps a reader and a scorer running. Captions are those of TRECVid where they are at hand,
else made up; each submission has other captions. The first one also prepares the references.
"""

from __future__ import annotations

import json
import os
import statistics
import tempfile
import time
from pathlib import Path

from benchmarks.data import TRECVID
from reelscore.challenges.challenge import Challenges
from reelscore.challenges.people.teams import add_team
from reelscore.challenges.permissions import Who
from reelscore.challenges.queue.workers import Workers
from reelscore.challenges.store.tables import open_challenges
from reelscore.challenges.submissions import Upload, hand_in
from reelscore.challenges.updates import make_challenge
from reelscore.challenges.uploads.uploads import Readers
from reelscore.challenges.views import View

ITEMS = 9_578
SUBMISSIONS = 11
DEFINITION = """
[challenge]
id = "lsmdc"
name = "LSMDC"
[[split]]
id = "blind"
visibility = "blind"
references = "references.json"
[scoring]
metrics = ["bleu|n:4", "meteor", "rouge_l", "cider"]
resamples = 1000
seed = 2016
[[phase]]
id = "blind"
splits = ["blind"]
opens = 2026-01-01T00:00:00Z
closes = 2999-01-01T00:00:00Z
feedback = { blind = "reveal" }
[[board]]
id = "blind"
phase = "blind"
primary = "cider"
columns = [{ scores = ["cider"] }]
"""


def sentences() -> list[str]:
    """Captions to make files of: different ones, about as long as LSMDC's."""
    if TRECVID.exists():
        from reelscore_studies.judged.trecvid_ha import load

        data = load(TRECVID.parent, "SA-2020")
        return [caption for captions in data.candidates.values() for caption in captions.values()]
    people, verbs = (
        ("a man", "someone", "two women", "a child"),
        ("walks", "turns", "looks", "sits"),
    )
    places = ("in the room", "by the door", "at the table", "on the street", "near a car")
    return [f"{a} {b} {c} and {d}" for a in people for b in verbs for c in places for d in verbs]


def main() -> None:
    texts = sentences()
    items = [f"clip{k:05}" for k in range(ITEMS)]
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        references = {item: [texts[(k * 7) % len(texts)]] for k, item in enumerate(items)}
        (folder / "references.json").write_text(json.dumps(references))
        (folder / "lsmdc.toml").write_text(DEFINITION)
        with open_challenges(folder / "lsmdc.db", create=True) as database:
            challenges = Challenges(database)
            make_challenge(challenges, folder / "lsmdc.toml")
            seconds = _measured(challenges, items, texts)
    first, rest = seconds[0], seconds[1:]
    print(f"{ITEMS:,} captions, BLEU-1 to 4, METEOR, ROUGE-L, CIDEr, 1,000 resamples, SQLite")
    print(f"first submission of the split: {first[0]:.2f} s, accepted after {first[1]:.2f} s")
    median, accepted = (statistics.median(column) for column in zip(*rest, strict=True))
    slowest = max(total for total, _ in rest)
    times = os.times()
    used = times.user + times.system + times.children_user + times.children_system
    print(
        f"{len(rest)} more, one after the other: upload to score {median:.2f} s (median), at most "
        f"{slowest:.2f} s; accepted after {accepted:.2f} s"
    )
    print(f"{used / len(seconds):.2f} s of CPU each, with the start of all processes")


def _measured(
    challenges: Challenges, items: list[str], texts: list[str]
) -> list[tuple[float, float]]:
    """Hand files in one after the other; give seconds to the score, and to the acknowledgment."""
    challenge, readers = challenges.find(), Readers(1)
    team = add_team(challenge, "Ours")
    seconds = []
    with Workers(challenges, 1) as workers:
        for number in range(SUBMISSIONS):
            captions = [
                {"video_id": item, "caption": texts[(k * 11 + number * 101) % len(texts)]}
                for k, item in enumerate(items)
            ]
            upload = Upload("run.json", json.dumps(captions).encode())
            begin = time.perf_counter()
            hand_in(challenge, readers, "blind", team, upload)
            accepted = time.perf_counter() - begin
            workers.wake()
            while View(challenge, Who("owner")).submissions("blind")[-1].state != "scored":
                time.sleep(0.01)
            seconds.append((time.perf_counter() - begin, accepted))
    readers.close()
    return seconds
