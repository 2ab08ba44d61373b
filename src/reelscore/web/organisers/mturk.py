"""Mechanical Turk's own pages: files to publish with, and the results that come back."""

from __future__ import annotations

import io
import shutil
import zipfile
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Annotated

from fastapi import File, UploadFile
from fastapi.responses import Response

from reelscore.errors import DataError
from reelscore.web.guards import Router
from reelscore.web.mturk_files import hits_csv, page_html, read_results
from reelscore.web.organisers.session import PATH, Owner
from reelscore.web.pages import read_pages
from reelscore.web.site import FromOurForm

router = Router(prefix=PATH + "/c/{campaign}")


@router.get("/mturk.zip")
def give_files(desk: Owner, campaign: str) -> Response:
    """Give the page and the HITs, without anything that tells systems or controls."""
    found = desk.campaign(campaign)
    pages = read_pages(found.settings)
    packed = io.BytesIO()
    with zipfile.ZipFile(packed, "w", zipfile.ZIP_DEFLATED) as target:
        page = page_html(desk.site.templates, found.protocol, pages, found.hits())
        target.writestr("page.html", page)
        target.writestr("hits.csv", hits_csv(found.hits(), pages, page))
    headers = {"content-disposition": f'attachment; filename="{found.id}-mturk.zip"'}
    return Response(packed.getvalue(), media_type="application/zip", headers=headers)


@router.post("/mturk", dependencies=[FromOurForm])
def take_results(desk: Owner, campaign: str, results: Annotated[UploadFile, File()]) -> Response:
    """Add the judgments of a file of results, all or none."""
    found = desk.campaign(campaign)
    with TemporaryDirectory() as folder:
        file = Path(folder, "results.csv")
        with file.open("wb") as target:
            shutil.copyfileobj(results.file, target)
        try:
            number = found.append(read_results(str(file), found.hits(), found.protocol))
        except DataError as error:
            raise DataError(str(error).replace(f"{folder}/", "")) from None
    found.decide("import", "", actor=desk.account.name, reason=f"{number} judgments from MTurk")
    return desk.go(f"/c/{campaign}", f"{number} judgments are added.")
