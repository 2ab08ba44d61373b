"""Participants of challenges have accounts, and none of the organisers' pages."""

from __future__ import annotations

import re

import pytest
from sqlalchemy import text

from reelscore.campaigns.campaign import Campaign
from reelscore.campaigns.store.schema import MIGRATIONS as CAMPAIGNS
from reelscore.errors import DataError
from reelscore.store.database import Database
from reelscore.web.store import accounts
from reelscore.web.store.schema import MIGRATIONS as PAGES
from reelscore.web.store.schema import open_database
from support.made_hits import begun_campaign
from support.server import PASSWORD
from support.visits import Visitor, app_over, routes_of

OPEN = {"/organise/login", "/organise/setup/{token}"}


@pytest.fixture
def app(tmp_path):
    return app_over(tmp_path, attempts=10**6)


def organising(app):
    """Every route below /organise that needs an organiser, with each of its methods."""
    for route in routes_of(app):
        if route.path.startswith("/organise"):
            for method in sorted(route.methods - {"HEAD"}):
                if route.path not in OPEN:
                    yield (
                        method,
                        re.sub(r"\{[^}]*\}", "1", route.path.replace("{campaign}", "dogs")),
                    )


def test_participants_are_refused_by_every_page_of_organisers(app):
    visitor = Visitor(app)
    assert visitor.log_in("pat", "participant").status_code == 403  # where the login leads to
    assert "reelscore_session" in visitor.cookies
    ways = list(organising(app))
    assert len(ways) > 40
    for method, path in ways:
        sent = {"data": {"proof": visitor.proof}} if method == "POST" else {}
        got = visitor.request(method, path, follow_redirects=False, **sent)
        assert got.status_code == 403, (method, path, got.text)
    print(f"{len(ways)} routes of organisers refuse a participant")


def test_the_session_is_for_all_pages(app):
    visitor = Visitor(app)
    proof = visitor.proof
    accounts.add_account(app.state.site.database, "ada", PASSWORD, "owner")
    fields = {"proof": proof, "name": "ada", "password": PASSWORD}
    got = visitor.post("/organise/login", data=fields, follow_redirects=False)
    [cookie] = [each for each in got.headers.get_list("set-cookie") if "reelscore_session=" in each]
    assert re.search(r"; path=/(;|$)", cookie, re.IGNORECASE)
    assert "httponly" in cookie.lower()
    assert "samesite=lax" in cookie.lower()


def test_participants_are_no_organisers(app):
    database = app.state.site.database
    accounts.add_account(database, "pat", PASSWORD, "participant")
    assert not accounts.has_accounts(database)  # so the first owner can still be made
    owner = Visitor(app)
    owner.log_in()
    assert "pat" not in owner.get("/organise/people").text
    names = [each.name for each in accounts.list_accounts(database, ("participant",))]
    assert names == ["pat"]


def test_a_database_that_had_only_campaigns_keeps_everything(where):
    with begun_campaign(where) as (campaign, _):
        id, judged = campaign.id, campaign.judgments().score.tolist()
    with Database(where, CAMPAIGNS) as database, database.writing() as connection:
        PAGES.upgrade(connection)
        for number, (name, role) in enumerate([("ada", "owner"), ("bob", "assistant")], start=3):
            connection.execute(
                text("INSERT INTO web_account VALUES (:id, :name, 'hashed', :role, 7)"),
                {"id": number, "name": name, "role": role},
            )
    with open_database(where) as database:
        assert [
            (each.id, each.name, each.role, each.sessions)
            for each in accounts.list_accounts(database)
        ] == [(3, "ada", "owner", 7), (4, "bob", "assistant", 7)]
        if database.is_sqlite:
            added = accounts.add_account(database, "pat", PASSWORD, "participant")
            accounts.remove_account(database, added.id)
            again = accounts.add_account(database, "pat", PASSWORD, "participant")
            assert again.id > added.id > 4  # a number that a team may know is not given twice
    with Campaign.open(where, id) as campaign:
        assert campaign.judgments().score.tolist() == judged == [71.0]


@pytest.mark.parametrize(
    "name", ["\u0430da", "\u0430\u0501\u0430", "Ada", "a.da", "\uff41da", "\u00e0da"]
)
def test_nobody_is_mistaken_for_another(app, name):
    """A name of one script that does not look like another's, as for teams."""
    database = app.state.site.database
    accounts.add_account(database, "ada", PASSWORD, "owner")
    with pytest.raises(DataError, match=r"mixes letters|looks like|already"):
        accounts.add_account(database, name, PASSWORD, "participant")


def test_a_name_is_kept_in_one_spelling(app):
    database = app.state.site.database
    assert accounts.add_account(database, "\uff50at", PASSWORD, "participant").name == "pat"
    for spelling in ("pat", "\uff50at"):
        assert accounts.check_account(database, spelling, PASSWORD).name == "pat"
    assert accounts.check_account(database, "Pat", PASSWORD) is None
    with pytest.raises(DataError, match="cannot be a name"):
        accounts.add_account(database, "pat\u00bd", PASSWORD, "participant")  # has a slash then
