"""Challenges made for tests: their tables filled directly, scores and all."""

from __future__ import annotations

import atexit
import json
import shutil
import tempfile
from dataclasses import dataclass, field, replace
from functools import cache
from pathlib import Path

from sqlalchemy import insert, select

from reelscore.challenges.boards.ladder import tell
from reelscore.challenges.definition.reader import parse_definition
from reelscore.challenges.queue.job_results import put_scores
from reelscore.challenges.queue.scorers import prepare, score_split
from reelscore.challenges.store import tables
from reelscore.challenges.store.blobs import put_blob
from reelscore.challenges.store.results import scores_of, told_of
from reelscore.challenges.store.tables import open_challenges
from reelscore.challenges.updates import scoring_settings
from reelscore.data.tables.scales import Scale
from reelscore.examples import clips
from reelscore.store.values import from_iso
from support.challenge_data import challenge_text

OPENS, CLOSES, REVEALS = (from_iso(f"2026-0{k}-01T00:00:00Z") for k in (6, 7, 8))
HOUR = 3600 * 1_000_000

COLUMNS = """[
  { group = "words", scores = ["bleu_4", "cider"], scale = 100, precision = 1 },
  { group = "text", scores = ["length"], ranked = false, precision = 2 },
  { group = "people", human = "da", precision = 2 },
  { group = "people", human = "points" },
  { group = "ranks", human = "ranks" },
]"""
PEOPLE = """
[[human]]
id = "da"
phase = "main"
protocol = "direct-assessment"
layout = "pilot"
items = 12
raters = 6
seed = 3
[[human]]
id = "ranks"
phase = "main"
protocol = "ranking"
include_reference = true
items = 3
[[human]]
id = "points"
phase = "main"
protocol = "against-reference"
raters = 3
quorum = [2, 3]
items = 3
[award]
rule = "column"
column = "cider"
[publish]
captions = false
items = true
"""


def definition_text(feedback="reveal", step=""):
    """Write the definition of a challenge on the embedded example, judged by people, too."""
    step = f"step = {{ blind = {step} }}" if step else ""
    return challenge_text(
        "clips",
        "Ten clips",
        challenge='references = "open"',
        split="blind",
        references='references = "refs.json"',
        scoring='metrics = ["bleu|n:4", "cider", "diversity"]\nseed = 7',
        resamples=200,
        closes="2026-07-01",
        phase=f"""reveals = 2026-08-01T00:00:00Z
feedback = {{ blind = "{feedback}" }}
final = "last"
late = "mark"
{step}
limits = {{ concurrent = 1 }}""",
        columns=COLUMNS,
        more=PEOPLE,
    ).replace('[[board]]\nid = "blind"', '[[board]]\nid = "main"')


@dataclass
class Made:
    """A challenge in a database, and what it was made of."""

    database: object
    definition: object
    references: dict
    keys: dict = field(default_factory=dict)
    teams: dict = field(default_factory=dict)
    count: int = 0
    settings: dict = field(default_factory=dict)
    scorer: tuple = ()

    def team(self, name, kind="team", state="active"):
        with self.database.writing() as connection:
            key = connection.execute(
                insert(tables.team).values(
                    challenge=self.keys["challenge"],
                    id=f"team-{name}",
                    name=name,
                    skeleton=name.casefold(),
                    kind=kind,
                    state=state,
                    approved=True,
                    members_shown=False,
                    created=OPENS,
                )
            ).inserted_primary_key[0]
        self.teams[name] = key

    def submit(self, team, captions, *, arrived=None, late=False, chosen=False, method=""):
        """Score captions as a scorer does, and keep everything."""
        self.count += 1
        arrived = OPENS + self.count * HOUR if arrived is None else arrived
        id = f"sub{self.count:07d}"
        texts = [captions[item] for item in self.references]
        scored = score_split(*self.scorer, texts, self.settings)
        phase, split = self.keys["phase"], self.keys["split"]
        with self.database.writing() as connection:
            text = json.dumps({"blind": texts}).encode()
            blob = put_blob(connection, text)
            number = 1 + len(
                connection.execute(
                    select(tables.submission).where(tables.submission.c.team == self.teams[team])
                ).all()
            )
            key = connection.execute(
                insert(tables.submission).values(
                    id=id,
                    phase=phase,
                    team=self.teams[team],
                    number=number,
                    arrived=arrived,
                    received=arrived + 5,
                    file_name=f"{team}.json",
                    upload_blob=blob,
                    captions_blob=blob,
                    content=blob,
                    method=method,
                    description="",
                    link="",
                    idempotency="",
                    late=late,
                    status="active",
                    chosen=chosen,
                )
            ).inserted_primary_key[0]
            job = connection.execute(
                insert(tables.job).values(
                    submission=key,
                    generation=1,
                    state="scored",
                    claims=1,
                    faults=0,
                    needs="",
                    not_before=arrived,
                    lease="",
                    worker="w",
                    reason="",
                    queued=arrived,
                    finished=arrived + 9,
                )
            ).inserted_primary_key[0]
            put_scores(connection, job, split, scored)
            self._tell(connection, team, id, key, scored.scores, arrived)
        return id

    def _tell(self, connection, team, id, key, scores, time):
        phase, split = self.keys["phase"], self.keys["split"]
        described = self.definition.phases[0]
        query = (
            select(tables.submission.c.id, tables.job.c.key)
            .join(tables.job, tables.job.c.submission == tables.submission.c.key)
            .where(tables.submission.c.team == self.teams[team], tables.submission.c.id != id)
        )
        jobs = {row.id: row.key for row in connection.execute(query)}
        told = told_of(connection, phase, split, 1)
        own = [told[other] for other in jobs if other in told]
        before = own[-1] if own else None
        if before is not None:
            [stored] = scores_of(connection, split, [jobs[before.submission]], drawn=True).values()
            before = before.of_results(stored)
        now = tell(
            described.feedback["blind"],
            id,
            scores,
            primary=self.definition.boards[0].primary,
            sign=Scale("high").sign,
            step=described.step.get("blind"),
            before=before,
        )
        connection.execute(
            insert(tables.shown).values(
                team=self.teams[team],
                phase=phase,
                split=split,
                submission=key,
                generation=1,
                time=time,
                told=json.dumps(now and now.to_dict()),
            )
        )


def make_challenge(where, references, text=None):
    """Make a challenge with one blind split, one phase and no teams."""
    text = text or definition_text()
    definition = parse_definition(text)
    database = open_challenges(where, create=True)
    made = Made(database, definition, references)
    with database.writing() as connection:
        challenge = connection.execute(
            insert(tables.challenge).values(
                id=definition.id,
                name=definition.name,
                state="open",
                definition=text,
                digest=definition.digest,
                pages="{}",
                created=OPENS,
            )
        ).inserted_primary_key[0]
        described = definition.splits[0]
        items = json.dumps({"items": list(references)}).encode()
        texts = json.dumps({"references": list(references.values())}).encode()
        made.settings = scoring_settings(definition, definition.phases[0])
        made.scorer = prepare(made.settings, items, texts, 1)
        split = connection.execute(
            insert(tables.split).values(
                challenge=challenge,
                id=described.id,
                visibility=described.visibility,
                kind=described.kind,
                items_blob=put_blob(connection, items),
                references_blob=put_blob(
                    connection, json.dumps({"references": list(references.values())}).encode()
                ),
                digest="d",
                count=len(references),
            )
        ).inserted_primary_key[0]
        window = definition.phases[0]
        phase = connection.execute(
            insert(tables.phase).values(
                challenge=challenge,
                id=window.id,
                position=0,
                opens=window.opens,
                closes=window.closes,
                reveals=window.reveals,
                priority=0,
                settings=json.dumps(made.settings),
                generation=1,
            )
        ).inserted_primary_key[0]
        connection.execute(
            insert(tables.phase_split).values(
                phase=phase,
                split=split,
                position=0,
                feedback=window.feedback[described.id],
                step=str(window.step.get(described.id, "")),
            )
        )
    made.keys = {"challenge": challenge, "split": split, "phase": phase}
    return made


def made_with(folder, feedback="reveal", step="", visibility="blind"):
    """Make a challenge in which the systems of the embedded example take part."""
    path, made = _example(feedback, step, visibility)
    shutil.copy(path, folder / "c.db")
    return replace(made, database=open_challenges(folder / "c.db"), teams=dict(made.teams))


@cache
def _example(feedback, step, visibility):
    """Make it once, in a file to copy."""
    folder = Path(tempfile.mkdtemp())
    atexit.register(shutil.rmtree, folder)
    systems, references = clips()
    text = definition_text(feedback, step)
    text = text.replace('visibility = "blind"', f'visibility = "{visibility}"')
    made = make_challenge(folder / "c.db", references, text)
    with made.database:
        for name, kind in (("strong", "team"), ("weak", "team"), ("human", "organisers")):
            made.team(name, kind)
        made.team("broken", "baseline")
        for name in systems:
            made.submit(name, systems[name], method=f"how {name} works")
    return folder / "c.db", made
