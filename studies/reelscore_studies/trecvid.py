"""TRECVid video-to-text as a challenge: each system a team, people's assessments as a column."""

from __future__ import annotations

import json
import os
import secrets
import shutil
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

from reelscore.campaigns.campaign import Campaign
from reelscore.campaigns.judgments import Judgment
from reelscore.challenges.challenge import Challenges
from reelscore.challenges.people.human import link_campaign, publish
from reelscore.challenges.people.teams import add_team
from reelscore.challenges.permissions import Who
from reelscore.challenges.queue.workers import Workers
from reelscore.challenges.submissions import Upload, hand_in
from reelscore.challenges.updates import make_challenge
from reelscore.challenges.uploads.uploads import Readers
from reelscore.challenges.views import View
from reelscore.errors import DataError
from reelscore.store.values import from_iso
from reelscore_studies.judged.trecvid_ha import Assessment, load

_DEFINITION = """\
[challenge]
id = "{id}"
name = "TRECVid video to text {year}"
pages = {{ overview = "overview.md" }}

[[split]]
id = "test"
visibility = "blind"
references = "references.json"

[scoring]
metrics = ["bleu|n:4", "meteor", "rouge_l", "cider", "diversity"]
seed = {year}

[[phase]]
id = "main"
name = "Description generation"
splits = ["test"]
opens = {year}-01-01T00:00:00Z             # the true dates are not in the data
closes = {next}-01-01T00:00:00Z
reveals = {next}-01-01T00:00:00Z
feedback = {{ test = "reveal" }}
final = "last"

[[board]]
id = "test"
name = "Description generation"
phase = "main"
primary = "cider"
columns = [
  {{ group = "people", human = "da", precision = 3 }},
  {{ group = "words", scale = 100, precision = 1, scores = [
      "bleu_4", "meteor", "rouge_l", "cider"] }},
  {{ group = "text", scores = ["length"], ranked = false, precision = 1 }},
  {{ group = "text", scores = ["vocabulary"], ranked = false, precision = 0 }},
]

[[human]]
id = "da"
name = "People (z)"
phase = "main"
protocol = "direct-assessment"
layout = "trecvid"

[award]
rule = "column"
column = "human:da"
within_cluster = "share"
"""
_OVERVIEW = """\
Describe each of {items:,} short videos in one sentence; {annotators} people wrote the references.

People rated the captions by Direct Assessment ({kind}), and their verdict decides. The captions,
references and ratings are those of [Lebron et al. (2022)](https://github.com/LLebronC/TRECvid-VTT_HA).
The dates of this challenge are whole years, since the true ones are not in the data.
"""
_KINDS = {"SA": "one rater a caption", "MA": "several raters a caption"}


def trecvid_challenge(
    data: str | os.PathLike[str], part: str, folder: str | os.PathLike[str]
) -> Path:
    """Make a challenge of a year of TRECVid's video-to-text task, with all scores, or nothing."""
    target = Path(folder)
    if target.exists():
        raise DataError(f"{target}: is there already; name a new folder.")
    assessment = load(Path(data), part)
    aside = target.with_name(f".{target.name[:50]}.{secrets.token_hex(4)}.tmp")
    try:
        aside.mkdir(parents=True)
        name = _make(aside, assessment)
        aside.rename(target)
    except OSError as error:
        raise DataError(f"{target}: cannot be made: {error.strerror or error}.") from None
    finally:
        shutil.rmtree(aside, ignore_errors=True)
    return target / name


def _make(folder: Path, data: Assessment) -> str:
    kind, _, year = data.folder.partition("-")
    id = f"trecvid-{year}"
    definition = folder / f"{id}.toml"
    definition.write_text(_DEFINITION.format(id=id, year=year, next=int(year) + 1), "utf-8")
    overview = _OVERVIEW.format(
        items=len(data.items), annotators=len(data.annotators), kind=_KINDS[kind]
    )
    (folder / "overview.md").write_text(overview, "utf-8")
    (folder / "references.json").write_text(json.dumps(data.references()), "utf-8")
    where = folder / f"{id}.db"
    begin = from_iso(f"{year}-06-01T00:00:00Z")
    end = from_iso(f"{int(year) + 1}-01-01T00:00:00Z")
    assert begin is not None
    assert end is not None
    with Challenges.opened(where, create=True) as opened:
        challenges = replace(opened, clock=lambda _: begin)
        make_challenge(challenges, definition)
        challenge = challenges.find(id)
        with Readers(1) as readers:
            for system, captions in data.candidates.items():
                upload = Upload(f"{system}.json", json.dumps(captions).encode())
                hand_in(challenge, readers, "main", add_team(challenge, system), upload)
        Workers(challenges, 1).run_until_idle()
        name, campaign = f"TRECVid VTT {year}, direct assessment", f"{id}-da"
        Campaign.from_judgments(where, name, _judgments(data), id=campaign).disconnect()
        view = View(challenge, Who("owner"), now=end)
        link_campaign(view, "da", campaign, actor="command line")
        publish(view, where, "da", actor="command line")
    return where.name


def _judgments(data: Assessment) -> Iterator[Judgment]:
    """Yield the released assessments, one rating of one caption each."""
    for system in data.candidates:
        row = data.human[system]
        for place, (item, z) in enumerate(row["z"].items.to_dict().items()):
            raw = row["raw"].items[item]
            task = f"{system}-{item}"
            yield Judgment("TRECVid", task, task, place, system, item, "caption", raw, z=z)
