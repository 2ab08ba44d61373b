"""Small challenges for tests: a definition beside its references, a database, and uploads."""

from __future__ import annotations

import json
from functools import cache
from pathlib import Path
from tempfile import TemporaryDirectory

from sqlalchemy import select

from reelscore.challenges.arena import Arena
from reelscore.challenges.boards.ladder import Score
from reelscore.challenges.challenge import find_challenge, make_challenge
from reelscore.challenges.people.teams import add_team
from reelscore.challenges.store.tables import job, open_challenges, result, split
from reelscore.challenges.submissions import Upload, hand_in

START = 1_780_272_000_000_000  # 2026-06-01 00:00 UTC
SECOND = 1_000_000
WORDS = ("a man runs", "a dog barks", "two cats sleep", "someone cooks rice", "the car turns")
DEFINITION = """
[challenge]
id = "dogs"
name = "Dogs of 2026"
[[split]]
id = "test"
visibility = "blind"
references = "references.json"
[scoring]
metrics = {metrics}
resamples = 100
{scoring}
[[phase]]
id = "main"
splits = ["test"]
opens = 2026-06-01T00:00:00Z
closes = 2026-06-11T00:00:00Z
feedback = {{ {feedback} }}
limits = {{ {limits} }}
{more}
[[board]]
id = "test"
phase = "main"
primary = "cider"
columns = [{{ scores = ["cider"] }}]
"""


class SetClock:
    """A clock that stands still until it is set."""

    def __init__(self, moment=START):
        self.moment = moment

    def __call__(self, _):
        return self.moment


def write_definition(folder, *, items=10, **choices):
    """Write a definition and its references; give the path of the definition."""
    folder = Path(folder)
    references = {f"v{k}": [f"{WORDS[k % 5]} slowly", WORDS[k % 5]] for k in range(items)}
    (folder / "references.json").write_text(json.dumps(references))
    usual = {
        "limits": "per_day = 5, total = 20",
        "metrics": '["cider", "rouge_l"]',
        "feedback": 'test = "full"',
        "scoring": "",
        "more": "",
    }
    (folder / "dogs.toml").write_text(DEFINITION.format(**{**usual, **choices}))
    return folder / "dogs.toml"


@cache
def empty_file():
    """Give the content of a SQLite file with all tables: copying it is quicker than making it."""
    with TemporaryDirectory() as folder:
        path = Path(folder) / "empty.db"
        open_challenges(path, create=True).close()
        return path.read_bytes()


def new_arena(where, folder, *, clock=None, **choices):
    """Make a database with one challenge; give it open, and the challenge."""
    if "://" not in str(where):
        Path(where).write_bytes(empty_file())
    arena = Arena(open_challenges(where, create=True), clock or SetClock(START + SECOND))
    make_challenge(arena, write_definition(folder, **choices))
    return arena, find_challenge(arena)


def captions(number=0, items=10):
    """Give the content of a good file; each number has other captions."""
    return json.dumps(
        {f"v{k}": f"{WORDS[(k + number) % 5]} {number}" for k in range(items)}
    ).encode()


def submit(arena, readers, known, team, number=0, *, items=10, **fields):
    """Hand in a good file."""
    upload = Upload("run.json", captions(number, items), **fields)
    return hand_in(arena, readers, known, "main", team, upload)


def a_team(arena, known, name="Ours", **fields):
    return add_team(arena, known, name, **fields)


def scores_of(arena, submission_key):
    """Give the scores of a submission's newest scored job by split, whatever its team was told."""
    newest = (
        select(job.c.key)
        .filter_by(submission=submission_key, state="scored")
        .order_by(job.c.generation.desc())
        .limit(1)
    )
    with arena.database.reading() as connection:
        rows = connection.execute(
            select(split.c.id, result)
            .join(split, split.c.key == result.c.split)
            .where(result.c.job == newest.scalar_subquery())
            .order_by(result.c.key)
        ).all()
    scores = {}
    for row in rows:
        own = Score(row.value, row.low, row.high, row.signature)
        scores.setdefault(row.id, {})[row.score] = own
    return scores
