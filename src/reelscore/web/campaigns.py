"""The campaigns of the database, open for all pages through one set of connections."""

from __future__ import annotations

from dataclasses import dataclass, field, fields
from threading import Lock

from starlette.exceptions import HTTPException

from reelscore.human.campaign import Campaign
from reelscore.human.store.records import Terms
from reelscore.store.database import Database
from reelscore.web.settings import Settings
from reelscore.web.uptime import Uptime


@dataclass(frozen=True)
class Campaigns:
    """Finds campaigns by id; those made meanwhile, by whomever, are found too."""

    settings: Settings
    database: Database
    uptime: Uptime
    _known: dict[str, Campaign] = field(default_factory=dict, repr=False)
    _lock: Lock = field(default_factory=Lock, repr=False)

    def all(self) -> list[Campaign]:
        """Give all campaigns, oldest first."""
        with self._lock:
            for terms in Campaign.list(self.settings.database):
                self._known.setdefault(terms.id, self._opened(terms))
            return list(self._known.values())

    def get(self, id: str) -> Campaign:
        """Give one campaign.

        Raises:
            HTTPException: If there is none of that id; status 404.
        """
        if id not in self._known:
            self.all()
        try:
            return self._known[id]
        except KeyError:
            raise HTTPException(404, "There is no such campaign.") from None

    def renew(self, campaign: Campaign) -> None:
        """Put a campaign whose terms have changed in the place of the one before."""
        with self._lock:
            self._known[campaign.id] = campaign

    def _opened(self, terms: Terms) -> Campaign:
        settled = {each.name: getattr(terms, each.name) for each in fields(Terms)}
        return Campaign(
            **settled,
            database=self.database,
            clock=self.settings.clock,
            may_release=self.uptime.lasts,
        )
