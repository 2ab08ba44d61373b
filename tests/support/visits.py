"""Raters and organisers without a browser: what they click, as requests."""

from __future__ import annotations

import re
import time

from starlette.testclient import TestClient

from reelscore.campaigns.store import raters
from reelscore.web.app import create_app
from reelscore.web.settings import Settings
from reelscore.web.store.accounts import add_account
from support.server import OWNER, PASSWORD, SECRET, small_campaign

URL = "http://127.0.0.1:8000"


def app_over(folder, *, made=True, prefix="", **options):
    """Make an app over a new database with a small campaign; options are those of either."""
    names = ("protocol", "captions", "tasks", "hits", "pages", "id", "systems")
    campaign = {name: options.pop(name) for name in names if name in options}
    if "clock" in options:
        campaign["clock"] = options["clock"]
    database = str(folder / "dogs.db")
    if made:
        small_campaign(database, **campaign)
    options = {"secret": SECRET, **options}
    return create_app(Settings(database, url=URL + prefix, **options))


def routes_of(app):
    """Every route of an app that has a method, as its router names it."""
    for route in app.routes:
        router = getattr(route, "original_router", None)
        yield from router.routes if router else [route]


class Visitor(TestClient):
    """A browser of its own: cookies, and the token of its forms."""

    def __init__(self, app, **more):
        more = {"headers": {"accept": "text/html"}} | more
        super().__init__(app, base_url=URL, raise_server_exceptions=False, **more)
        self.site = app.state.site

    @property
    def proof(self):
        """The token of this browser's forms, as any page shows it."""
        prefix = self.site.settings.prefix
        if "reelscore_browser" not in self.cookies:
            page = self.get(f"{prefix}/organise/login").text
            shown = re.search(r'name="proof" value="([^"]+)"', page)[1]
            assert shown == self.site.signer.proof(self.cookies["reelscore_browser"])
        return self.site.signer.proof(self.cookies["reelscore_browser"])

    def press(self, path, **fields):
        return self.post(path, data={"proof": self.proof, **fields})

    # raters

    def invited(self, campaign="dogs", name=""):
        return f"/r/{raters.invite(self.site.database, campaign, [name], 1)[0]}"

    def begin(self, campaign="dogs", name=""):
        """Come in by a link of one's own, agree, and take a HIT; give the first task's page."""
        link = self.invited(campaign, name)
        self.press(link)
        return self.press(f"/c/{campaign}/instructions")

    def answer(self, task=1, score=50.0, campaign="dogs", **changes):
        now = time.time()
        sent = {
            "assignment": 1,
            "task": task,
            "answer": {"adequacy": [score]},
            "started": now - 5,
            "submitted": now,
            "seen": 1.0,
        }
        headers = {"x-form-proof": changes.pop("proof", None) or self.proof, "accept": "*/*"}
        return self.post(f"/c/{campaign}/answers", json=sent | changes, headers=headers)

    # organisers

    def log_in(self, name=OWNER, role="owner"):
        add_account(self.site.database, name, PASSWORD, role)
        return self.press("/organise/login", name=name, password=PASSWORD)
