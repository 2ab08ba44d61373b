"""Human evaluation in the console, and who may not rate: members of teams, and nobody uninvited."""

from __future__ import annotations

import html
import re

import pytest

from reelscore.campaigns.campaign import Campaign
from reelscore.challenges.challenge import Challenges
from reelscore.challenges.people.human import link_campaign
from reelscore.challenges.people.teams import accept, find_team, invite, leave
from reelscore.challenges.permissions import Who
from reelscore.challenges.store.events import read_events
from reelscore.errors import DataError, UnknownNameError
from reelscore.web.app import create_app
from reelscore.web.settings import Settings
from reelscore.web.store.accounts import add_account, find_account
from support.challenge_data import open_view
from support.challenge_server import At
from support.challenges import CLOSES, OPENS, REVEALS, made_with
from support.server import PASSWORD, SECRET, small_campaign
from support.visits import Visitor

CLIPS = "/challenges/clips"
CONSOLE = f"{CLIPS}/console"


@pytest.fixture
def app(tmp_path):
    """A challenge that is over, with four entries; `app.clock` has the time."""
    made_with(tmp_path).database.close()
    clock = At()
    clock.moment = CLOSES + 1
    place = str(tmp_path / "c.db")
    app = create_app(Settings(place, secret=SECRET, clock=clock, attempts=10**6, session=1e12))
    app.clock = clock
    yield app
    app.state.challenges.readers.close()
    app.state.site.database.close()


def member_of(app, team, name="pat"):
    """A member of a team, logged in."""
    site = app.state.site
    challenges = Challenges(site.database, lambda _: OPENS)
    challenge = challenges.find()
    account = add_account(site.database, name, PASSWORD, "participant")
    accept(challenge, invite(challenge, find_team(challenge, team)), account.id)
    visitor = Visitor(app)
    visitor.press("/account/login", name=name, password=PASSWORD)
    return visitor


def made_campaign(app, owner, human="points"):
    owner.press(f"{CONSOLE}/human/{human}/make", reason="as announced")
    [campaign] = app.state.campaigns.all()
    return campaign


def test_a_campaign_is_made_watched_and_published(app, owner, assistant):
    page = assistant.get(CONSOLE).text
    assert "not made" in page
    assert "/human/points/make" not in page
    assert assistant.press(f"{CONSOLE}/human/points/make", reason="x").status_code == 403
    assert member_of(app, "strong").press(f"{CONSOLE}/human/points/make").status_code == 404
    app.clock.moment = CLOSES - 1
    early = owner.press(f"{CONSOLE}/human/points/make", reason="x")
    assert (early.status_code, "has closed" in early.text) == (422, True)
    app.clock.moment = CLOSES + 1
    assert owner.press(f"{CONSOLE}/human/points/make", reason=" ").status_code == 422
    assert owner.press(f"{CONSOLE}/human/none/make", reason="x").status_code == 404
    campaign = made_campaign(app, owner)
    page = owner.get(CONSOLE).text
    assert "references of 3 items are disclosed to raters" in page
    assert f'href="/organise/c/{campaign.id}"' in page
    assert re.search(r'<td data-label="HITs done" class="number">0 of \d+</td>', page)
    again = owner.press(f"{CONSOLE}/human/points/make", reason="again")
    assert (again.status_code, "already" in again.text) == (422, True)
    app.clock.moment = REVEALS
    early = owner.press(f"{CONSOLE}/human/points/publish", reason="x")
    assert (early.status_code, "close it" in early.text) == (422, True)
    campaign.set_state("open", actor="ada")
    hits = {hit.id: hit for hit in campaign.hits()}
    for rater in ("r1", "r2", "r3"):
        while (held := campaign.claim(rater)) is not None:
            for task in hits[held.hit].tasks:
                campaign.submit(held.id, rater, task.id, {"helpful": [0.0]})
    assert "publish it when the campaign is closed" in owner.get(CONSOLE).text
    campaign.set_state("closed", actor="ada")
    board = f"{CLIPS}/boards/main"
    assert "points" not in Visitor(app).get(board).text
    assert "points (not published)" in assistant.get(board).text
    assert assistant.press(f"{CONSOLE}/human/points/publish", reason="x").status_code == 403
    assert owner.press(f"{CONSOLE}/human/points/publish", reason="").status_code == 422
    done = owner.press(f"{CONSOLE}/human/points/publish", reason="all raters are done")
    assert "The column of points is published" in done.text
    assert "points" in Visitor(app).get(board).text
    with app.state.site.database.reading() as connection:
        events = read_events(connection, 1)
    told = [(event.what, event.actor, event.reason) for event in events if event.what != "joined"]
    assert told[1] == ("human", "ada", "as announced")
    assert told[2][0] == "disclosed"
    assert told[3] == ("published", "ada", "all raters are done")


@pytest.mark.parametrize("human", ["da", "points", "ranks"])
def test_texts_of_a_blind_split_go_to_raters_alone(app, owner, assistant, human):
    campaign = made_campaign(app, owner, human)
    here = f"/organise/c/{campaign.id}"
    texts = {shown.text for hit in campaign.hits() for task in hit.tasks for shown in task.shown}
    pages = ["", "/results", "/results.json", "/results.html", "/hits", "/hits/1/1", "/hits/1/2"]
    pages += ["/raters", "/reports", "/videos", "/pages", "/log", "/live", "/export", "/mturk.zip"]
    for viewer in (owner, assistant):
        replies = {page: viewer.get(here + page) for page in pages}
        for page, reply in replies.items():
            assert not [text for text in texts if text in html.unescape(reply.text)], page
        assert {replies[page].status_code for page in ("/export", "/mturk.zip")} == {403}
        assert "only its raters see them" in replies["/hits/1/1"].text
        assert "Preview of HIT 1" in replies["/hits/1/1"].text
    assert "reelscore campaign export" in owner.get(f"{here}/export").text
    campaign.set_state("open", actor="ada")
    rater = Visitor(app)
    rater.begin(campaign.id)
    campaign.change_settings({"pages": {"practice": []}})
    page = rater.get(f"/c/{campaign.id}/work")
    assert [text for text in texts if text in html.unescape(page.text)]


def test_texts_of_a_public_split_are_shown_and_sent(app, owner, tmp_path):
    small_campaign(tmp_path / "c.db")
    assert owner.get("/organise/c/dogs/export").status_code == 200
    assert owner.get("/organise/c/dogs/mturk.zip").status_code == 200
    assert "only its raters" not in owner.get("/organise/c/dogs/hits/1/1").text


def test_members_of_teams_do_not_rate(app, owner):
    campaign = made_campaign(app, owner)
    campaign.set_state("open", actor="ada")
    member = member_of(app, "strong")
    link = member.invited(campaign.id)
    for refused in (member.get(link), member.press(link)):
        assert refused.status_code == 403
        assert "others judge them" in refused.text
    member.press("/account/logout")
    assert member.press(link).status_code == 403  # the browser is the same
    site = app.state.site
    challenges = Challenges(site.database, lambda _: OPENS)
    leave(challenges.find(), find_account(site.database, 2).id)
    assert member.press(link).status_code == 403  # and what they know, too
    stranger = Visitor(app)
    assert stranger.press(link).status_code == 200
    assert owner.get(owner.invited(campaign.id)).status_code == 200


def test_a_rater_who_joins_a_team_rates_no_longer(app, owner):
    campaign = made_campaign(app, owner)
    campaign.set_state("open", actor="ada")
    member = member_of(app, "weak")
    cookies = {name: member.cookies.pop(name) for name in list(member.cookies)}
    page = member.begin(campaign.id)
    assert page.status_code == 200
    member.cookies.set("reelscore_session", cookies["reelscore_session"])
    assert member.get(f"/c/{campaign.id}/work").status_code == 403
    assert member.press(f"/c/{campaign.id}/instructions").status_code == 403


def test_an_open_link_is_closed_to_members_and_on_blind_splits_to_all(app, owner, tmp_path):
    campaign = made_campaign(app, owner)
    refused = owner.press(f"/organise/c/{campaign.id}/pages/json", text='{"open": true}')
    assert (refused.status_code, "cannot be open" in refused.text) == (422, True)
    refused = owner.press(f"/organise/c/{campaign.id}/pages", open="1")
    assert refused.status_code == 422
    campaign.change_settings({"pages": {"open": True}})  # past the pages
    assert Visitor(app).get(f"/join/{campaign.id}").status_code == 404
    campaign.change_settings({"blind": False})  # as on a public split
    assert Visitor(app).get(f"/join/{campaign.id}").status_code == 200
    member = member_of(app, "strong")
    assert member.get(f"/join/{campaign.id}").status_code == 403
    assert member.press(f"/join/{campaign.id}").status_code == 403


def test_an_open_campaign_is_not_linked_to_a_blind_split(app, tmp_path):
    site = app.state.site
    small_campaign(tmp_path / "c.db", pages={"open": True})

    def link(campaign):
        view = open_view(site.database, "clips", Who("owner"), now=CLOSES)
        link_campaign(view, "points", campaign, actor="ada")

    with pytest.raises(DataError, match="after the phase 'main' has closed"):
        link_campaign(
            open_view(site.database, "clips", Who("owner"), now=CLOSES - 1),
            "points",
            "dogs",
            actor="ada",
        )
    with pytest.raises(UnknownNameError, match="Did you mean 'dogs'"):
        link("dosg")
    with pytest.raises(DataError, match="is open to anybody"):
        link("dogs")
    with Campaign.open(tmp_path / "c.db", "dogs") as campaign:
        campaign.change_settings({"pages": {}})
    link("dogs")
    with Campaign.open(tmp_path / "c.db", "dogs") as campaign:
        assert campaign.settings["blind"] is True  # it cannot be opened to anybody later
    with site.database.reading() as connection:
        events = read_events(connection, app.state.challenges.challenges.find("clips").key)
    assert [event.what for event in events[-2:]] == ["human", "disclosed"]


def test_the_console_tells_of_a_changed_log(app, owner):
    made_campaign(app, owner)
    page = owner.get(CONSOLE).text
    head = re.search(r"Head of the chain: <code>(\w{64})</code>", page)[1]
    assert head in Visitor(app).get(f"{CLIPS}/log").text
    assert "the chain is right" in page
    with app.state.site.database.writing() as connection:
        connection.exec_driver_sql("DROP TRIGGER challenge_event_no_update")
        change = "UPDATE challenge_event SET reason = 'other' WHERE what = "
        connection.exec_driver_sql(f"{change} 'human'")
    assert "Entry 1 of the log was changed" in owner.get(CONSOLE).text
    assert "of the log of the server was changed" not in owner.get(CONSOLE).text
    with app.state.site.database.writing() as connection:
        connection.exec_driver_sql(f"{change} 'account'")
    assert "Entry 1 of the log of the server was changed" in owner.get(CONSOLE).text


def test_the_log_of_the_server_has_tokens_and_accounts_for_organisers(app, owner, assistant):
    member = member_of(app, "strong")
    member.press(f"{CLIPS}/team/tokens", name="laptop", scope="submit")
    page = owner.get(f"{CLIPS}/log").text
    assert "Log of the server" in page
    for name, what in (("ada", "account"), ("bob", "account"), ("pat", "token")):
        assert f'<td data-label="who">{name}</td><td data-label="what">{what}</td>' in page
    head = re.findall(r"Head of the chain: <code>(\w{64})</code>", owner.get(CONSOLE).text)[-1]
    assert head in assistant.get(f"{CLIPS}/log").text
    for viewer in (member, Visitor(app)):
        page = viewer.get(f"{CLIPS}/log").text
        assert "Log of the server" not in page
        assert head not in page


def test_the_first_page_names_challenges_beside_raters(app, owner):
    made_campaign(app, owner)
    page = Visitor(app).get("/").text
    assert f'<a href="{CLIPS}">Ten clips</a>' in page
    assert "Raters come here by a link" in page
