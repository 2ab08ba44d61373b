"""What organisers take along: an export of the challenge, and its archive.

What a server sends has no references, and nothing of single items of blind splits: whoever has the
machine exports the rest with the command line.
"""

from __future__ import annotations

import io
import shutil
import tempfile
import zipfile
from collections.abc import Callable
from pathlib import Path
from typing import Annotated

from fastapi import Form
from fastapi.responses import FileResponse, Response
from starlette.background import BackgroundTask

from reelscore.challenges.boards.board_teams import named_members
from reelscore.challenges.exchange.archive import archive_files
from reelscore.challenges.exchange.exports import export_challenge, note_download
from reelscore.challenges.pages.visits import PATH, AsOrganiser, AsOwner, Visit
from reelscore.challenges.views import View
from reelscore.data.atomic_files import write_atomically
from reelscore.errors import DataError
from reelscore.web.requests import Router
from reelscore.web.site import FromOurForm
from reelscore.web.store.accounts import account_names

router = Router(prefix=PATH + "/{challenge}/console")


@router.post("/export", dependencies=[FromOurForm])
def give_export(
    visit: AsOwner,
    reason: Annotated[str, Form(max_length=2000)],
    addresses: Annotated[bool, Form()] = False,
) -> Response:
    """Make an export and send it; the log says who took it along, and why."""
    if not reason.strip():
        raise DataError("Say why; it stands in the log.")

    def write(path: Path) -> None:
        export_challenge(
            visit.site.database,
            visit.known.id,
            path,
            now=visit.view.now,
            addresses=addresses,
            blind_items=False,
        )

    note = f"{reason} (with addresses)" if addresses else reason
    return _download(visit, "export", f"{visit.known.id}.zip", write, note)


@router.post("/archive", dependencies=[FromOurForm])
def give_archive(visit: AsOrganiser) -> Response:
    """Make the archive, as a visitor sees the challenge, and send it in a zip file."""
    if visit.known.state == "draft":
        raise DataError("Visitors see nothing of a draft; open the challenge first.")

    def write(path: Path) -> None:
        view = View(visit.site.database, visit.known.id, now=visit.view.now)
        files = archive_files(view, account_names(visit.site.database, named_members(view)))
        content = io.BytesIO()
        with zipfile.ZipFile(content, "w", zipfile.ZIP_DEFLATED) as archive:
            for name, part in files.items():
                archive.writestr(f"{visit.known.id}/{name}", part)
        write_atomically(path, content.getvalue(), private=True)

    return _download(visit, "archive", f"{visit.known.id}-archive.zip", write, "")


def _download(
    visit: Visit, what: str, name: str, write: Callable[[Path], None], reason: str
) -> Response:
    """Make a file aside, note it in the log, and send it; nothing of it stays on the server."""
    folder = Path(tempfile.mkdtemp(prefix="reelscore-"))
    try:
        write(folder / name)
        note_download(visit.arena, visit.known, what, actor=visit.name, reason=reason)
    except BaseException:
        shutil.rmtree(folder, ignore_errors=True)
        raise
    tidy = BackgroundTask(shutil.rmtree, folder, ignore_errors=True)
    return FileResponse(folder / name, media_type="application/zip", filename=name, background=tidy)
