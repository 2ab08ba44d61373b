"""A campaign on Mechanical Turk's own pages: a page with a variable, its HITs as CSV, and back.

The page shows one row of the CSV at a time, and posts one field. Neither holds a system, an item
or a kind: when the results come back, the campaign itself knows what was shown. The page is made of
the templates, the scripts and the style of the served pages, and needs nothing from elsewhere.
"""

from __future__ import annotations

import base64
import csv
import io
import re
import shutil
import zipfile
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Annotated

import msgspec
from fastapi import File, UploadFile
from fastapi.responses import Response
from jinja2 import Environment

from reelscore.campaigns.hits.tasks import Hit
from reelscore.campaigns.imports.crowd_tables import batch_work
from reelscore.campaigns.judgments import Judgment
from reelscore.campaigns.pages.open_campaigns import Chosen, ChosenToSend
from reelscore.campaigns.pages.rater_pages import Pages, read_pages
from reelscore.campaigns.pages.raters.session import Screen
from reelscore.campaigns.protocols import Protocol
from reelscore.data.source import Source
from reelscore.errors import DataError
from reelscore.report.pages import as_it_is, joined_modules
from reelscore.web.requests import Router
from reelscore.web.sessions import PATH, Owner
from reelscore.web.site import FromOurForm, static_file

router = Router(prefix=PATH + "/c/{campaign}")
_MOST = 65_535  # bytes that Mechanical Turk takes of a page with its HIT
_LONGEST = 1 << 20  # bytes of a line of results
_Answers = dict[str, list[float]]


class TurkReply(msgspec.Struct, forbid_unknown_fields=True):
    """What the page says of one task: the answer, and the share of the video that was watched."""

    answer: _Answers
    watched: Annotated[float, msgspec.Meta(ge=0, le=1)] | None = None


_replies = msgspec.json.Decoder(list[TurkReply])
_bare_answers = msgspec.json.Decoder(list[_Answers])  # what pages of earlier versions sent


def hits_csv(hits: Iterable[Hit], pages: Pages, page: str = "") -> str:
    """Write a row for each HIT: its id, and what it shows, in letters that no page can break."""
    out = io.StringIO()
    writer = csv.writer(out, lineterminator="\n")
    writer.writerow(["hit", "tasks"])
    for hit in hits:
        shown = [
            {
                "video": pages.address_of(task.item),
                "context": pages.contexts.get(task.item, ""),
                "captions": [each.text for each in task.shown],
            }
            for task in hit.tasks
        ]
        packed = base64.b64encode(msgspec.json.encode(shown)).decode()
        size = len(packed) + len(page.encode())
        if size > _MOST:
            raise DataError(
                f"HIT {hit.id!r} takes {size:,} bytes with its page; Mechanical Turk takes "
                f"{_MOST:,}. Make a campaign with smaller HITs."
            )
        writer.writerow([hit.id, packed])
    return out.getvalue()


def page_html(templates: Environment, protocol: Protocol, pages: Pages, hits: Iterable[Hit]) -> str:
    """Write the page to be pasted into Mechanical Turk's editor."""
    marker = "the HIT's tasks"
    page = templates.get_template("mturk.html").render(
        pages=pages,
        parts=pages.instructions_for(protocol),
        screens=_screens(hits, pages, protocol),
        tasks=as_it_is(marker),
        style=as_it_is(_packed(static_file("style.css").read_text(encoding="utf-8"))),
        script=as_it_is(_packed(joined_modules(static_file("turk.js")))),
    )
    # Mechanical Turk puts a column of the CSV wherever it finds this sign; it is there only once
    page = page.replace("${", "&#36;{").replace(marker, "${tasks}")
    return page.encode("ascii", "xmlcharrefreplace").decode()  # right in any encoding


def _screens(hits: Iterable[Hit], pages: Pages, protocol: Protocol) -> dict[str, Screen]:
    """Return an empty screen for each shape of task: its scene, and the number of its texts."""
    screens = {}
    for task in (task for hit in hits for task in hit.tasks):
        video, context = pages.address_of(task.item), pages.contexts.get(task.item, "")
        scene, count = "video" if video else "words" if context else "none", len(task.shown)
        blank = Screen(("",) * count, video and "#", context and " ", protocol)
        screens[f"{scene} {count}"] = blank
    return dict(sorted(screens.items()))


def _packed(text: str) -> str:
    """Leave out comments and indentation: a HIT has to fit beside scripts and style."""
    lines = re.sub(r"/\*.*?\*/|^ *//.*?$", "", text, flags=re.DOTALL | re.MULTILINE).splitlines()
    return "\n".join(line.strip() for line in lines if line.strip())


def read_results(path: str, hits: Iterable[Hit], protocol: Protocol) -> Iterator[Judgment]:
    """Read the results that Mechanical Turk gives for download."""
    known = {hit.id: hit for hit in hits}
    with Source(path) as source:
        text = (line.decode("utf-8", "replace") for _, line in source.lines(_LONGEST))
        rows = csv.DictReader(text)
        try:
            for row in rows:
                yield from _judgments(row, known, protocol, f"{path}:{rows.line_num}")
        except csv.Error as error:
            raise DataError(f"{path}:{rows.line_num}: malformed table ({error}).") from None


def _judgments(
    row: Mapping[str, str], known: Mapping[str, Hit], protocol: Protocol, where: str
) -> Iterator[Judgment]:
    missing = {"WorkerId", "Input.hit", "Answer.answers"} - set(row)
    if missing:
        raise DataError(f"{where}: no column {', '.join(sorted(missing))}; are these its results?")
    hit = known.get(row["Input.hit"])
    if hit is None:
        raise DataError(f"{where}: the campaign has no HIT {row['Input.hit']!r}.")
    try:
        replies = _read_replies(row["Answer.answers"])
    except msgspec.MsgspecError:
        raise DataError(f"{where}: the answers cannot be read.") from None
    if len(replies) != len(hit.tasks):
        raise DataError(f"{where}: {len(replies)} answers; the HIT has {len(hit.tasks)} tasks.")
    work = batch_work(row)
    for position, (task, reply) in enumerate(zip(hit.tasks, replies, strict=True)):
        protocol.check(reply.answer, len(task.shown))
        for criterion, scores in reply.answer.items():
            for slot, score in enumerate(scores):
                beside = task.shown[1].system if protocol.form == "comparison" else ""
                yield Judgment(
                    rater=row["WorkerId"],
                    hit=hit.id,
                    task=task.id,
                    position=position,
                    system=task.shown[slot].system,
                    item=task.item,
                    kind=task.shown[slot].kind,
                    score=score,
                    criterion=criterion,
                    against=beside,
                    watched=reply.watched,
                    **work,
                )


def _read_replies(text: str) -> list[TurkReply]:
    try:
        return _replies.decode(text)
    except msgspec.ValidationError:
        return [TurkReply(answer) for answer in _bare_answers.decode(text)]


@router.get("/mturk.zip")
def give_files(desk: Owner, campaign: ChosenToSend) -> Response:
    """Return the page and the HITs, without anything that tells systems or controls."""
    pages = read_pages(campaign.settings)
    packed = io.BytesIO()
    with zipfile.ZipFile(packed, "w", zipfile.ZIP_DEFLATED) as target:
        page = page_html(desk.site.templates, campaign.protocol, pages, campaign.hits())
        target.writestr("page.html", page)
        target.writestr("hits.csv", hits_csv(campaign.hits(), pages, page))
    headers = {"content-disposition": f'attachment; filename="{campaign.id}-mturk.zip"'}
    return Response(packed.getvalue(), media_type="application/zip", headers=headers)


@router.post("/mturk", dependencies=[FromOurForm])
def take_results(desk: Owner, campaign: Chosen, results: Annotated[UploadFile, File()]) -> Response:
    """Add the judgments of a file of results, all or none."""
    with TemporaryDirectory() as folder:
        file = Path(folder, "results.csv")
        with file.open("wb") as target:
            shutil.copyfileobj(results.file, target)
        try:
            number = campaign.append(read_results(str(file), campaign.hits(), campaign.protocol))
        except DataError as error:
            raise DataError(str(error).replace(f"{folder}/", "")) from None
    campaign.decide("import", "", actor=desk.account.name, reason=f"{number} judgments from MTurk")
    return desk.go(f"/c/{campaign.id}", f"{number} judgments are added.")
