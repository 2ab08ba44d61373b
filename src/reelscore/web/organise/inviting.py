"""Links for raters, the codes they come back with, and the texts they read."""

from __future__ import annotations

from typing import Annotated

import msgspec
from fastapi import APIRouter, Form
from fastapi.responses import Response
from starlette.exceptions import HTTPException

from reelscore.human.store.texts import check_name
from reelscore.web.organise.session import PATH, Organiser, Owner
from reelscore.web.pages import KEY, Pages, read_pages
from reelscore.web.site import FromOurForm
from reelscore.web.store import raters
from reelscore.web.store.assignments import list_taken

router = APIRouter(prefix=PATH + "/c/{campaign}")
_MOST = 1000


@router.get("/raters")
def show_raters(desk: Organiser, campaign: str) -> Response:
    """Show who was invited, who came, and the codes of finished HITs."""
    found = desk.campaign(campaign)
    taken = list_taken(desk.site.database, found.id)
    codes = {
        each.id: desk.site.signer.code(found.id, each.rater, str(each.id))
        for each in taken
        if each.state == "done"
    }
    return desk.page(
        "raters.html",
        campaign=found,
        people=raters.list_raters(desk.site.database, found.id),
        taken=taken,
        codes=codes,
        events=list(reversed(found.events())),
        links=(),
    )


@router.post("/raters", dependencies=[FromOurForm])
def invite(
    desk: Organiser,
    campaign: str,
    number: Annotated[int, Form(ge=0, le=_MOST)] = 0,
    names: Annotated[str, Form(max_length=50_000)] = "",
) -> Response:
    """Make links, shown this once: what is stored of them opens nothing."""
    found = desk.campaign(campaign)
    given = [check_name(name.strip(), "A rater") for name in names.splitlines() if name.strip()]
    wanted = given + [""] * max(0, number - len(given))
    if not 0 < len(wanted) <= _MOST:
        raise HTTPException(422, f"Between 1 and {_MOST} links can be made at once.")
    tokens = raters.invite(desk.site.database, found.id, wanted, desk.site.now)
    address = desk.site.settings.url.rstrip("/")
    links = [f"{address}/r/{token}" for token in tokens]
    return desk.page("links.html", campaign=found, links=links)


@router.post("/raters/unbind", dependencies=[FromOurForm])
def unbind(desk: Organiser, campaign: str, rater: Annotated[str, Form(max_length=200)]) -> Response:
    """Let a link work in another browser."""
    found = desk.campaign(campaign)
    if not raters.unbind(desk.site.database, found.id, rater):
        raise HTTPException(404, "There is no such link.")
    found.decide("unbind", rater, actor=desk.account.name, reason="the link may move")
    return desk.go(f"/c/{campaign}/raters")


@router.get("/pages")
def show_pages(desk: Owner, campaign: str) -> Response:
    """Show what raters are told, for editing."""
    found = desk.campaign(campaign)
    pages = read_pages(found.settings)
    text = msgspec.json.format(msgspec.json.encode(pages), indent=2).decode()
    defaults = Pages(instructions="\n\n".join(pages.instructions_for(found.protocol)))
    return desk.page("pages.html", campaign=found, pages=pages, text=text, defaults=defaults)


@router.post("/pages", dependencies=[FromOurForm])
def set_pages(
    desk: Owner, campaign: str, text: Annotated[str, Form(max_length=500_000)]
) -> Response:
    """Replace what raters are told."""
    found = desk.campaign(campaign)
    try:
        wanted = msgspec.json.decode(text)
    except (msgspec.DecodeError, RecursionError) as error:
        raise HTTPException(422, f"This is no JSON: {error}.") from None
    settings = {**found.settings, KEY: wanted}
    read_pages(settings)  # says what is wrong before anything is stored
    found.set_settings(settings)
    found.decide("pages", "", actor=desk.account.name, reason="the pages of raters were changed")
    return desk.go(f"/c/{campaign}")
