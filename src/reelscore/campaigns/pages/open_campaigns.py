"""What campaigns add to a server: their pages, and what those keep about each campaign."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache
from threading import Lock
from typing import Annotated

from fastapi import APIRouter, Depends, Request
from starlette.exceptions import HTTPException
from starlette.routing import BaseRoute

from reelscore.campaigns.campaign import Campaign
from reelscore.campaigns.pages.organisers.progress import Trust
from reelscore.campaigns.pages.video_checks import Preflight
from reelscore.campaigns.store.campaigns import all_terms
from reelscore.web.requests import FRAME, Guard, routes_of
from reelscore.web.security import Attempts
from reelscore.web.sessions import current
from reelscore.web.site import ORGANISE, Website, WingPages
from reelscore.web.store.accounts import Account

_ARRIVALS = 120  # new raters that one address may send in a minute
_BLIND = (
    "References of a blind test set are among the texts of this campaign, and the server sends "
    "them to nobody but its raters. With the database at hand, 'reelscore campaign export' and "
    "'reelscore campaign hits' write them."
)


class OpenCampaigns(WingPages):
    """The campaigns of a server by id, those included that others make meanwhile."""

    name = "campaigns"

    def __init__(self, site: Website) -> None:
        self._site = site
        self.arrivals = Attempts(_ARRIVALS)  # new raters by address
        self.trust = Trust()  # what the judgments of each campaign say
        self.preflight = Preflight(site.settings.videos)  # the checks of their videos
        self.routes = _routes()
        pages = f"{ORGANISE}/(new|c/[^/]+/mturk)"
        self.uploads = {pages: site.settings.largest_upload}
        self._known: dict[str, Campaign] = {}
        self._lock = Lock()

    def all(self) -> list[Campaign]:
        """Return all campaigns, oldest first."""
        site = self._site
        with self._lock:
            with site.database.reading() as connection:
                for terms in all_terms(connection):
                    if terms.id not in self._known:
                        self._known[terms.id] = Campaign(
                            terms,
                            site.database,
                            site.settings.clock,
                            may_release=site.uptime.lasts,
                        )
            return list(self._known.values())

    def get(self, id: str) -> Campaign:
        """Return one campaign."""
        if id not in self._known:
            self.all()
        try:
            return self._known[id]
        except KeyError:
            raise HTTPException(404, "There is no such campaign.") from None

    def renew(self, campaign: Campaign) -> None:
        """Replace a campaign whose terms have changed."""
        with self._lock:
            self._known[campaign.id] = campaign

    def home(self) -> str:
        """Return the list of campaigns, if there are any."""
        return ORGANISE if self.all() else ""

    def menu(self, account: Account) -> Sequence[tuple[str, str, str]]:
        """Return the list of campaigns, and for owners the form of a new one."""
        pages = [("campaigns", ORGANISE, "Campaigns")]
        new = ("new", f"{ORGANISE}/new", "New campaign")
        return [*pages, new] if account.is_owner else pages


def campaigns_of(site: Website) -> OpenCampaigns:
    """Return the campaigns of a server."""
    return site.wing(OpenCampaigns)


@Guard
def chosen(request: Request) -> Campaign:
    """Return the campaign that a page of organisers is about."""
    site = current.value(request).site
    return campaigns_of(site).get(request.path_params["campaign"])


@Guard
def chosen_to_send(request: Request) -> Campaign:
    """Return the campaign, whose texts may be sent."""
    campaign = chosen.value(request)
    if is_blind(campaign):
        raise HTTPException(403, _BLIND)
    return campaign


Chosen = Annotated[Campaign, Depends(chosen)]
ChosenToSend = Annotated[Campaign, Depends(chosen_to_send)]


def is_blind(campaign: Campaign) -> bool:
    """Return whether references of a blind test set are among the texts: only raters see them."""
    return bool(campaign.settings.get("blind"))


@cache
def _routes() -> list[BaseRoute]:
    from reelscore.campaigns.pages.organisers import (
        campaign_pages,
        mturk,
        new_campaign,
        preview,
        rater_texts,
        results_page,
    )
    from reelscore.campaigns.pages.raters import ends, entry, task_pages

    modules = (entry, campaign_pages, new_campaign, rater_texts, preview, results_page, mturk)
    routes = [*routes_of(*modules), *campaign_pages.decisions.routes]
    rating = APIRouter()
    for router in (entry.preparation, task_pages.router, ends.router):
        rating.include_router(router, prefix="/c/{campaign}")
        rating.include_router(router, prefix="/c/{campaign}" + FRAME, include_in_schema=False)
    return [*routes, *rating.routes]
