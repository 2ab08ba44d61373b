"""A board of 500 teams: the first view, which compares all pairs, and the next ones.

python -m benchmarks board
"""

from __future__ import annotations

import json
import tempfile
import time
from pathlib import Path

import numpy as np
from sqlalchemy import insert

from reelscore.challenges.boards.board_maker import _kept
from reelscore.challenges.challenge import Challenges
from reelscore.challenges.definition.reader import parse_definition
from reelscore.challenges.store import tables
from reelscore.challenges.store.blobs import put_blob
from reelscore.challenges.store.kept_scores import draws_file
from reelscore.challenges.store.tables import open_challenges
from reelscore.challenges.views import View
from reelscore.data.tables.table import Draws, MetricResult
from reelscore.stats.resampling import percentile_interval
from reelscore.store.database import Database
from reelscore.store.values import from_iso

TEAMS = 500
SCORES = ("bleu_1", "bleu_2", "bleu_3", "bleu_4", "meteor", "rouge_l", "cider")
DEFINITION = """
[challenge]
id = "large"
name = "A large challenge"
[[split]]
id = "test"
visibility = "public"
references = "none.json"
[[phase]]
id = "main"
splits = ["test"]
opens = 2026-01-01T00:00:00Z
closes = 2026-12-01T00:00:00Z
[[board]]
id = "main"
phase = "main"
primary = "cider"
columns = [{ scores = ["bleu_1", "bleu_2", "bleu_3", "bleu_4", "meteor", "rouge_l", "cider"] }]
"""


def fill(database: Database) -> None:
    """Put a challenge with many scored teams into a database."""
    rng = np.random.default_rng(1)
    definition = parse_definition(DEFINITION)
    opens = definition.phases[0].opens
    with database.writing() as connection:

        def add(table: object, **values: object) -> int:
            made = connection.execute(insert(table).values(**values))  # type: ignore[arg-type]
            return int(made.inserted_primary_key[0])  # type: ignore[index]

        empty = put_blob(connection, b"{}")
        challenge = add(tables.challenge, id="large", name="Large", state="open",
                        definition=DEFINITION, digest="d", pages="{}", created=opens)  # fmt: skip
        split = add(tables.split, challenge=challenge, id="test", visibility="public",
                    kind="captions", items_blob=empty, references_blob=empty, digest="d",
                    count=2000)  # fmt: skip
        phase = add(tables.phase, challenge=challenge, id="main", position=0, opens=opens,
                    closes=definition.phases[0].closes, priority=0, settings="{}",
                    generation=1)  # fmt: skip
        shared = rng.normal(scale=0.01, size=(1000, len(SCORES)))
        for k in range(TEAMS):
            team = add(tables.team, challenge=challenge, id=f"t{k}", name=f"Team {k}",
                       skeleton=f"t{k}", kind="team", state="active", approved=True,
                       members_shown=False, created=opens)  # fmt: skip
            entry = add(tables.submission, id=f"s{k:09d}", phase=phase, team=team, number=1,
                        arrived=opens + k, received=opens + k, file_name="a.json",
                        upload_blob=empty, captions_blob=empty, content="c", method="",
                        description="", link="", idempotency="", late=False, status="active",
                        chosen=False)  # fmt: skip
            job = add(tables.job, submission=entry, generation=1, state="scored", claims=1,
                      faults=0, needs="", not_before=0, lease="", worker="", reason="",
                      queued=0)  # fmt: skip
            values = 0.2 + 0.2 * k / TEAMS + rng.normal(scale=0.01, size=len(SCORES))
            drawn = values + shared + rng.normal(scale=0.004, size=shared.shape)
            low, high = percentile_interval(drawn)
            scores = {}
            for j, name in enumerate(SCORES):
                draws = Draws.of_scores(name, drawn[:, j])
                scores[name] = MetricResult(name, values[j], draws=draws)
                add(tables.result, job=job, split=split, score=name, position=j,
                    value=float(values[j]), low=float(low[j]), high=float(high[j]),
                    signature=name)  # fmt: skip
            names, content = draws_file(scores)
            add(tables.array, job=job, split=split, kind="draws", names=json.dumps(names),
                blob=put_blob(connection, content))  # fmt: skip


def main() -> None:
    now = from_iso("2026-06-01T00:00:00Z") or 0
    with (
        tempfile.TemporaryDirectory() as folder,
        open_challenges(Path(folder, "large.db"), create=True) as database,
    ):
        fill(database)
        for name in ("first view", "cached", "cached"):
            wall, cpu = time.perf_counter(), time.process_time()
            page = View(Challenges(database).find("large"), now=now).board_html("main")
            wall, cpu = time.perf_counter() - wall, time.process_time() - cpu
            assert page is not None
            print(
                f"{name}: page of {page.count('<tr><td') + page.count('<tr class')} teams, "
                f"{len(page) / 1e6:.2f} MB: {wall * 1000:.0f} ms, {cpu * 1000:.0f} ms of CPU"
            )
        _kept.clear()  # another process, which finds the board in the database
        wall = time.perf_counter()
        View(Challenges(database).find("large"), now=now).board("main")
        print(f"in another process: {1000 * (time.perf_counter() - wall):.0f} ms without the page")
