"""What raters read and see, for owners to edit: a form, or everything as JSON."""

from __future__ import annotations

from typing import Annotated, Any

import msgspec
from fastapi import Depends, Form
from fastapi.responses import Response
from starlette.exceptions import HTTPException

from reelscore.errors import DataError
from reelscore.human.campaign import Campaign
from reelscore.web.guards import Router
from reelscore.web.organisers.new_campaign import HOUR, Hours
from reelscore.web.organisers.session import PATH, Desk, Owner
from reelscore.web.organisers.texts_form import Fields
from reelscore.web.pages import KEY, Pages, read_pages
from reelscore.web.site import FromOurForm

router = Router(prefix=PATH + "/c/{campaign}")


@router.get("/pages")
def show_pages(desk: Owner, campaign: str) -> Response:
    """Show what raters are told, for editing."""
    found = desk.campaign(campaign)
    return _form(desk, found, Fields.of(read_pages(found.settings), found.protocol))


@router.post("/pages", dependencies=[FromOurForm])
def set_pages(desk: Owner, campaign: str, fields: Annotated[Fields, Depends()]) -> Response:
    """Replace what raters are told by what the form says; texts by item stay."""
    found = desk.campaign(campaign)
    try:
        wanted = msgspec.to_builtins(fields.pages(found.protocol))
        contexts = read_pages(found.settings).contexts
        _store(desk, found, {**wanted, "contexts": contexts} if contexts else wanted)
    except DataError as error:
        page = _form(desk, found, fields, str(error))
        page.status_code = 422
        return page
    return desk.go(f"/c/{campaign}/pages", "The texts are saved.")


@router.post("/pages/json", dependencies=[FromOurForm])
def set_pages_as_json(
    desk: Owner, campaign: str, text: Annotated[str, Form(max_length=500_000)]
) -> Response:
    """Replace what raters are told by what a text says."""
    try:
        wanted = msgspec.json.decode(text)
    except (msgspec.DecodeError, RecursionError) as error:
        raise HTTPException(422, f"This is no JSON: {error}.") from None
    _store(desk, desk.campaign(campaign), wanted)
    return desk.go(f"/c/{campaign}/pages", "The texts are saved.")


@router.post("/hold", dependencies=[FromOurForm])
def set_hold(desk: Owner, campaign: str, hold: Hours) -> Response:
    """Change after how many hours without a sign of its rater a HIT returns to the pool."""
    changed = desk.campaign(campaign).set_hold(hold * HOUR, actor=desk.account.name)
    desk.site.campaigns.renew(changed)
    return desk.go(f"/c/{campaign}/pages", f"HITs are held for {hold:g} hours.")


def _form(desk: Desk, campaign: Campaign, fields: Fields, error: str = "") -> Response:
    pages = read_pages(campaign.settings)
    return desk.page(
        "texts.html",
        campaign=campaign,
        fields=fields,
        contexts=len(pages.contexts),
        text=msgspec.json.format(msgspec.json.encode(pages), indent=2).decode(),
        example="; ".join(Fields.of(Pages(), campaign.protocol).practice_expected[:1]),
        error=error,
    )


def _store(desk: Desk, campaign: Campaign, wanted: Any) -> None:
    settings = {**campaign.settings, KEY: wanted}
    # says what is wrong before anything is stored
    for practice in read_pages(settings).practice_for(campaign.protocol):
        practice.check(campaign.protocol)
    campaign.change_settings({KEY: wanted})
    campaign.decide("pages", "", actor=desk.account.name, reason="the pages of raters were changed")
