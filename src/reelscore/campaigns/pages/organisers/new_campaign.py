"""A new campaign from uploaded captions, by the same readers as the command line's."""

from __future__ import annotations

import re
import shutil
from collections.abc import Mapping
from pathlib import Path, PurePosixPath
from tempfile import TemporaryDirectory
from typing import Annotated

from fastapi import File, Form, UploadFile
from fastapi.responses import Response
from starlette.datastructures import UploadFile as SentFile

from reelscore.campaigns.campaign import HOLD, HOUR, Campaign
from reelscore.campaigns.hits.design import Design, make_hits
from reelscore.campaigns.hits.tasks import HitPlan
from reelscore.campaigns.protocols import PROTOCOLS
from reelscore.data import read_candidates, read_references
from reelscore.errors import DataError, ReelscoreError
from reelscore.web.requests import Router
from reelscore.web.sessions import PATH, Desk, Owner
from reelscore.web.site import FromOurForm

router = Router(prefix=PATH)
_PACKED = (b"\x1f\x8b", b"BZh", b"\xfd7zXZ", b"\x28\xb5\x2f\xfd", b"PK")
_HUMAN = "human"
Hours = Annotated[float, Form(ge=0.01, le=10_000)]
Short = Annotated[str, Form(max_length=200)]


@router.get("/new")
def show_form(desk: Owner) -> Response:
    """Ask for the files and the protocol."""
    return _form(desk, {})


@router.post("/new", dependencies=[FromOurForm])
def create(
    desk: Owner,
    name: Short,
    systems: Annotated[list[UploadFile], File()],
    references: Annotated[list[UploadFile] | None, File()] = None,
    protocol: Short = "direct-assessment",
    layout: Short = "trecvid",
    hits: Annotated[int, Form(ge=0, le=100_000)] = 0,
    per_hit: Annotated[int, Form(ge=1, le=1000)] = 10,
    raters: Annotated[int, Form(ge=1, le=100)] = 1,
    hold: Hours = HOLD / HOUR,
    seed: Annotated[int, Form(ge=0, le=2**31)] = 12345,
) -> Response:
    """Make a campaign, in state draft; on any fault nothing is made."""
    design = Design(protocol, layout, hits or None, per_hit, _HUMAN, seed)
    try:
        if not name.strip():
            raise DataError("The campaign has no name; give it one.")
        with TemporaryDirectory() as folder:
            plan = _plan(Path(folder), design, systems, references or [])
        with Campaign.from_plan(
            desk.site.settings.database,
            name.strip(),
            design,
            plan,
            raters_per_hit=raters,
            hold=hold * HOUR,
        ) as campaign:
            made = campaign.id
    except ReelscoreError as error:
        given = {"name": name, "protocol": protocol, "layout": layout, "hits": hits}
        given |= {"per_hit": per_hit, "raters": raters, "hold": hold, "seed": seed}
        page = _form(desk, given, str(error))
        page.status_code = 422
        return page
    return desk.go(f"/c/{made}", "The campaign is made, as a draft.")


def _form(desk: Desk, values: Mapping[str, object], error: str = "") -> Response:
    protocols = PROTOCOLS.values()
    return desk.page("new.html", protocols=protocols, error=error, values=values)


def _plan(
    folder: Path, design: Design, systems: list[UploadFile], references: list[UploadFile]
) -> HitPlan:
    if design.protocol not in PROTOCOLS:
        raise DataError(f"There is no protocol {design.protocol!r}.")
    captions: dict[str, Mapping[str, str]] = {}
    try:
        for k, upload in enumerate(filter(is_file, systems)):
            file = saved(folder / f"system{k}", upload)
            if file.stem in captions:
                raise DataError(f"Two systems are called {file.stem!r}; rename a file.")
            captions[file.stem] = read_candidates(file)
        files = [
            saved(folder / f"reference{k}", upload)
            for k, upload in enumerate(filter(is_file, references))
        ]
        people = read_references(files) if files else {}
    except DataError as error:
        # files are called what people call them, not where they lie for a moment
        plain = re.sub(re.escape(str(folder)) + r"/\w+/", "", str(error))
        raise DataError(plain) from None
    if not captions:
        raise DataError("There are no captions; choose a file for each system.")
    humans = {item: texts[0] for item, texts in people.items()}
    return make_hits(design, captions, humans, ())


def is_file(upload: UploadFile) -> bool:
    """Return whether a file was chosen; browsers send an empty one where none was."""
    return bool(upload.filename)


def saved(folder: Path, upload: SentFile) -> Path:
    """Put an upload into a folder, under the last part of its name."""
    last = PurePosixPath((upload.filename or "").replace("\\", "/")).name
    name = re.sub(r"[^\w. -]", "_", last).lstrip(".")[:100] or "captions"
    head = upload.file.read(6)
    if head.startswith(_PACKED):
        raise DataError(f"{name}: is compressed; unpack it first.")
    upload.file.seek(0)
    folder.mkdir(exist_ok=True)
    if (folder / name).exists():
        raise DataError(f"Two files are called {name}; rename one.")
    with (folder / name).open("wb") as target:
        shutil.copyfileobj(upload.file, target)
    return folder / name
