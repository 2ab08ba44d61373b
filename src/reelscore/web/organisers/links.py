"""Links for raters, and the codes they come back with."""

from __future__ import annotations

from typing import Annotated

from fastapi import Form, Path
from fastapi.responses import Response
from starlette.exceptions import HTTPException

from reelscore.human.store.records import REJECTED
from reelscore.store.values import check_name
from reelscore.web.organisers.session import PATH, CampaignId, Organiser, Owner
from reelscore.web.payments import PAY_LISTS, Pay, list_work
from reelscore.web.requests import Router
from reelscore.web.site import FromOurForm
from reelscore.web.store import raters
from reelscore.web.store.assignments import list_taken

router = Router(prefix=PATH + "/c/{campaign}")
_MOST = 1000


@router.get("/raters")
def show_raters(desk: Organiser, id: CampaignId) -> Response:
    """Show who was invited, who came, and the codes of finished HITs."""
    campaign = desk.campaign(id)
    taken = list_taken(desk.site.database, campaign.id)
    codes = {
        each.id: desk.site.signer.code(campaign.id, each.rater, str(each.id))
        for each in taken
        if each.state == "done" and not each.needs_review and each.status != REJECTED
    }
    return desk.page(
        "raters.html",
        campaign=campaign,
        people=raters.list_raters(desk.site.database, campaign.id),
        taken=taken,
        codes=codes,
    )


@router.post("/raters", dependencies=[FromOurForm])
def invite(
    desk: Organiser,
    id: CampaignId,
    number: Annotated[int, Form(ge=0, le=_MOST)] = 0,
    names: Annotated[str, Form(max_length=50_000)] = "",
) -> Response:
    """Make links, shown this once: what is stored of them opens nothing."""
    campaign = desk.campaign(id)
    given = [check_name(name.strip(), "A rater") for name in names.splitlines() if name.strip()]
    wanted = given + [raters.new_name() for _ in range(number - len(given))]
    if not 0 < len(wanted) <= _MOST:
        raise HTTPException(422, f"Between 1 and {_MOST} links can be made at once.")
    tokens = raters.invite(desk.site.database, campaign.id, wanted, desk.site.now)
    address = desk.site.settings.url.rstrip("/")
    links = [(name, f"{address}/r/{token}") for name, token in zip(wanted, tokens, strict=True)]
    return desk.page("links.html", campaign=campaign, links=links)


@router.get("/pay/{form}")
def give_pay_list(
    desk: Owner, id: CampaignId, form: Annotated[str, Path(max_length=40)]
) -> Response:
    """Give whom to pay how much, in one of the forms that crowd services take."""
    if form not in PAY_LISTS:
        raise HTTPException(404, "There is no such list.")
    campaign = desk.campaign(id)
    text = PAY_LISTS[form](list_work(campaign), Pay.of(campaign))
    headers = {"content-disposition": f'attachment; filename="{campaign.id}-{form}.csv"'}
    return Response(text, media_type="text/csv; charset=utf-8", headers=headers)


@router.post("/raters/unbind", dependencies=[FromOurForm])
def unbind(
    desk: Organiser, id: CampaignId, rater: Annotated[str, Form(max_length=200)]
) -> Response:
    """Let a link work in another browser."""
    campaign = desk.campaign(id)
    if not raters.unbind(desk.site.database, campaign.id, rater):
        raise HTTPException(404, "There is no such link.")
    campaign.decide("unbind", rater, actor=desk.account.name, reason="the link may move")
    return desk.go(f"/c/{id}/raters", f"The link of {rater} may move to another browser.")
