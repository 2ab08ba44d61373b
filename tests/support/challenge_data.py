"""Small challenges for tests: a definition beside its references, a database, and uploads."""

from __future__ import annotations

import json
from functools import cache
from pathlib import Path
from tempfile import TemporaryDirectory

from sqlalchemy import func, select

from reelscore.challenges.challenge import Challenges
from reelscore.challenges.exchange.exports import Contents, export_challenge
from reelscore.challenges.people.teams import add_team
from reelscore.challenges.permissions import VISITOR
from reelscore.challenges.store.tables import job, open_challenges, result, split, submission
from reelscore.challenges.submissions import Upload, hand_in
from reelscore.challenges.updates import make_challenge
from reelscore.challenges.views import View
from support.results import made_result

START = 1_780_272_000_000_000  # 2026-06-01 00:00 UTC
SECOND = 1_000_000
WORDS = ("a man runs", "a dog barks", "two cats sleep", "someone cooks rice", "the car turns")


def challenge_text(
    id="dogs",
    name="Dogs of 2026",
    *,
    challenge="",
    split="test",
    visibility="blind",
    references='references = "references.json"',
    scoring='metrics = ["cider", "rouge_l"]',
    resamples=100,
    opens="2026-06-01",
    closes="2026-06-11",
    phase="",
    primary="cider",
    columns="",
    more="",
):
    """Write the definition of a challenge of one split, one phase and one board."""
    columns = columns or f'[{{ scores = ["{primary}"] }}]'
    text = f"""[challenge]
id = "{id}"
name = "{name}"
{challenge}
[[split]]
id = "{split}"
visibility = "{visibility}"
{references}
[scoring]
{scoring}
resamples = {resamples}
[[phase]]
id = "main"
splits = ["{split}"]
opens = {opens}T00:00:00Z
closes = {closes}T00:00:00Z
{phase}
[[board]]
id = "{split}"
phase = "main"
primary = "{primary}"
columns = {columns}
{more}"""
    return "\n" + "".join(f"{line}\n" for line in text.splitlines() if line)


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
        "challenge": "",
    }
    said = {**usual, **choices}
    text = challenge_text(
        challenge=said["challenge"],
        scoring=f"metrics = {said['metrics']}\n{said['scoring']}",
        phase="feedback = {{ {feedback} }}\nlimits = {{ {limits} }}\n{more}".format(**said),
    )
    (folder / "dogs.toml").write_text(text)
    return folder / "dogs.toml"


@cache
def empty_file():
    """Give the content of a SQLite file with all tables: copying it is quicker than making it."""
    with TemporaryDirectory() as folder:
        path = Path(folder) / "empty.db"
        open_challenges(path, create=True).close()
        return path.read_bytes()


def new_challenge(where, folder, *, clock=None, **choices):
    """Make a database with one challenge; give the challenge."""
    if "://" not in str(where):
        Path(where).write_bytes(empty_file())
    database = open_challenges(where, create=True)
    challenges = Challenges(database, clock or SetClock(START + SECOND))
    make_challenge(challenges, write_definition(folder, **choices))
    return challenges.find()


def open_view(database, id, who=VISITOR, *, now):
    """Look at a challenge of a database."""
    return View(Challenges(database).find(id), who, now=now)


def export(database, id, path, *, now, **contents):
    """Write everything of a challenge of a database to a file."""
    return export_challenge(Challenges(database).find(id), path, Contents(**contents), now=now)


def captions(number=0, items=10):
    """Give the content of a good file; each number has other captions."""
    return json.dumps(
        {f"v{k}": f"{WORDS[(k + number) % 5]} {number}" for k in range(items)}
    ).encode()


def submit(challenge, readers, team, number=0, *, items=10, **fields):
    """Hand in a good file."""
    upload = Upload("run.json", captions(number, items), **fields)
    return hand_in(challenge, readers, "main", team, upload)


def a_team(challenge, name="Ours", **fields):
    return add_team(challenge, name, **fields)


def list_submissions(challenges, *, team_key=None):
    """Give rows of submissions with the state and reason of their newest job, oldest first."""
    newest = select(func.max(job.c.generation)).where(job.c.submission == submission.c.key)
    rows = (
        select(submission, job.c.state, job.c.reason, job.c.generation, job.c.faults)
        .join(job, job.c.submission == submission.c.key)
        .where(job.c.generation == newest.correlate(submission).scalar_subquery())
        .order_by(submission.c.key)
    )
    if team_key is not None:
        rows = rows.where(submission.c.team == team_key)
    with challenges.reading() as connection:
        return connection.execute(rows).all()


def scores_of(challenges, submission_key):
    """Give the scores of a submission's newest scored job by split, whatever its team was told."""
    newest = (
        select(job.c.key)
        .filter_by(submission=submission_key, state="scored")
        .order_by(job.c.generation.desc())
        .limit(1)
    )
    with challenges.reading() as connection:
        rows = connection.execute(
            select(split.c.id, result)
            .join(split, split.c.key == result.c.split)
            .where(result.c.job == newest.scalar_subquery())
            .order_by(result.c.key)
        ).all()
    scores = {}
    for row in rows:
        own = made_result(row.score, row.value, row.low, row.high, signature=row.signature)
        scores.setdefault(row.id, {})[row.score] = own
    return scores
