"""Logins and accounts: guessing, bursts, and what owners change about people."""

from __future__ import annotations

import queue
import threading

import httpx
import pytest

from reelscore.challenges.store.events import broken_link, read_events
from reelscore.errors import DataError
from reelscore.web import security
from reelscore.web.store import accounts
from support.server import OWNER, PASSWORD, serve, small_campaign
from support.visits import Visitor, app_over

OTHER = "another long password"


@pytest.fixture
def app(tmp_path):
    return app_over(tmp_path)


class SlowHashing:
    """Passwords are wrong, and it takes until `finish` to see it."""

    def __init__(self, monkeypatch):
        self.begun, self.finish = queue.Queue(), threading.Event()
        monkeypatch.setattr(accounts, "is_password", self.is_password)

    def is_password(self, password, stored):
        self.begun.put(password)
        assert self.finish.wait(300)
        return False


def log_in_at_once(url, number, address):
    """Begin many logins, and give a queue of their statuses."""
    statuses = queue.Queue()

    def log_in(k):
        forwarded = {"x-forwarded-for": address(k), "accept": "text/html"}
        with httpx.Client(base_url=url, headers=forwarded, timeout=300) as client:
            page = client.get("/organise/login").text
            proof = page.partition('name="proof" value="')[2].partition('"')[0]
            fields = {"proof": proof, "name": OWNER, "password": "wrong"}
            statuses.put(client.post("/organise/login", data=fields).status_code)

    for k in range(number):
        threading.Thread(target=log_in, args=[k], daemon=True).start()
    return statuses


def test_a_burst_of_logins_does_not_hold_up_raters(tmp_path, monkeypatch):
    small_campaign(tmp_path / "dogs.db")
    hashing = SlowHashing(monkeypatch)
    with serve(str(tmp_path / "dogs.db")) as served:
        rater = httpx.Client(base_url=served.url, timeout=300, follow_redirects=True)
        link = served.invite("dogs")[0]
        page = rater.get(link, headers={"accept": "text/html"}).text
        proof = page.partition('name="proof" value="')[2].partition('"')[0]
        rater.post(link, data={"proof": proof})
        rater.post("/c/dogs/instructions", data={"proof": proof})
        statuses = log_in_at_once(served.url, 60, lambda k: f"10.0.0.{k}")
        # the queue is full, and those who find it so know at once
        assert [statuses.get(timeout=300) for _ in range(52)] == [503] * 52
        assert rater.get("/c/dogs/task/1").status_code == 200
        assert hashing.begun.qsize() == security._HASHERS  # others keep their processors
        hashing.finish.set()
        assert [statuses.get(timeout=300) for _ in range(8)] == [401] * 8
        assert hashing.begun.qsize() == 8
        rater.close()


def test_failures_count_before_they_are_known(tmp_path, monkeypatch):
    small_campaign(tmp_path / "dogs.db")
    monkeypatch.setattr(security, "_QUEUE", 60)
    hashing = SlowHashing(monkeypatch)
    with serve(str(tmp_path / "dogs.db")) as served:
        # of one account, from wherever they come
        statuses = log_in_at_once(served.url, 60, lambda k: f"10.0.0.{k}")
        assert [statuses.get(timeout=300) for _ in range(50)] == [429] * 50
        hashing.finish.set()
        assert [statuses.get(timeout=300) for _ in range(10)] == [401] * 10
        assert hashing.begun.qsize() == 10


def wrong(visitor, name=OWNER, **more):
    return visitor.press("/organise/login", name=name, password="wrong", **more).status_code


def test_who_proves_who_they_are_is_not_held_up_by_neighbours(app):
    """All come from one address, as behind one router."""
    ada, neighbour = Visitor(app), Visitor(app)
    ada.log_in()
    link = ada.invited()
    assert [wrong(neighbour) for _ in range(12)] == [401] * 10 + [429] * 2
    assert [neighbour.get(f"/r/guess{k}").status_code for k in range(12)] == [404] * 10 + [429] * 2
    assert ada.get("/organise").status_code == 200  # a session
    assert Visitor(app).press(link).status_code == 200  # a link
    ada.press("/organise/logout")
    done = ada.press("/organise/login", name=OWNER, password=PASSWORD)  # where ada was before
    assert done.url.path == "/organise"
    assert [wrong(ada) for _ in range(12)] == [401] * 10 + [429] * 2  # and who took the browser


def test_one_address_cannot_try_a_password_on_everybody(app):
    guesser = Visitor(app)
    statuses = [wrong(guesser, name=f"name{k}") for k in range(102)]
    assert statuses == [401] * 100 + [429] * 2


def test_logging_out_ends_this_browser_and_everywhere_ends_all(app):
    here, there = Visitor(app), Visitor(app)
    here.log_in()
    for _ in range(2):
        there.press("/organise/login", name=OWNER, password=PASSWORD)
        here.press("/organise/login", name=OWNER, password=PASSWORD)
        here.press("/organise/logout")
        assert (is_in(here), is_in(there)) == (False, True)
    here.press("/organise/login", name=OWNER, password=PASSWORD)
    here.press("/organise/logout", everywhere="yes")
    assert (is_in(here), is_in(there)) == (False, False)


def test_right_passwords_are_no_failures(app):
    Visitor(app).log_in()
    for _ in range(12):
        page = Visitor(app).press("/organise/login", name=OWNER, password=PASSWORD)
        assert page.url.path == "/organise"


def id_of(app, name):
    everybody = accounts.list_accounts(app.state.site.database)
    return next(account.id for account in everybody if account.name == name)


def is_in(visitor):
    return visitor.get("/organise").url.path == "/organise"


def test_an_owner_gives_a_new_password(app, owner, assistant):
    page = owner.press(f"/organise/people/{id_of(app, 'bob')}/password", password=OTHER)
    assert "bob has a new password" in page.text
    assert not is_in(assistant)
    assert assistant.press("/organise/login", name="bob", password=PASSWORD).status_code == 401
    assert assistant.press("/organise/login", name="bob", password=OTHER).url.path == "/organise"
    short = owner.press(f"/organise/people/{id_of(app, 'bob')}/password", password="short")
    assert short.status_code == 422
    assert is_in(assistant)


def test_an_owner_promotes_and_demotes(app, owner, assistant):
    place = f"/organise/people/{id_of(app, 'bob')}/role"
    assert "bob is an owner now" in owner.press(place, role="owner").text
    assert not is_in(assistant)
    assistant.press("/organise/login", name="bob", password=PASSWORD)
    assert assistant.get("/organise/new").status_code == 200
    assert owner.press(place, role="king").status_code == 422
    owner.press(place, role="assistant")
    assert not is_in(assistant)
    assistant.press("/organise/login", name="bob", password=PASSWORD)
    assert assistant.get("/organise/new").status_code == 403


def test_an_owner_removes_somebody(app, owner, assistant):
    cookie = assistant.cookies["reelscore_session"]
    place = f"/organise/people/{id_of(app, 'bob')}/remove"
    assert "bob has no account any more" in owner.press(place).text
    assert not is_in(assistant)
    assert assistant.press("/organise/login", name="bob", password=PASSWORD).status_code == 401
    assert owner.press(place).status_code == 404
    # the next account gets the same number in SQLite, and not the session
    Visitor(app).log_in("eve", "owner")
    assistant.cookies.set("reelscore_session", cookie, path="/")
    assert not is_in(assistant)


def test_changes_of_organisers_are_logged(app, owner, assistant):
    place = f"/organise/people/{id_of(app, 'bob')}"
    owner.press(f"{place}/role", role="owner")
    owner.press(f"{place}/role", role="king")  # refused: nothing is changed or logged
    owner.press(f"{place}/password", password=OTHER)
    owner.press("/organise/password", old=PASSWORD, new=OTHER)
    owner.press("/organise/people", name="eve", password=OTHER, role="assistant")
    owner.press(f"{place}/remove")
    with app.state.site.database.reading() as connection:
        events = read_events(connection, None)
        assert broken_link(connection, None) is None
    told = [(event.actor, event.what, event.about, event.before, event.after) for event in events]
    assert told == [
        (OWNER, "account", OWNER, "", "owner"),
        ("bob", "account", "bob", "", "assistant"),
        (OWNER, "role", "bob", "assistant", "owner"),
        (OWNER, "password", "bob", "", ""),
        (OWNER, "password", OWNER, "", ""),
        (OWNER, "account", "eve", "", "assistant"),
        (OWNER, "account", "bob", "owner", "removed"),
    ]


def test_the_last_owner_stays(app, owner, assistant):
    place = f"/organise/people/{id_of(app, OWNER)}"
    for action in ({"path": "/role", "role": "assistant"}, {"path": "/remove"}):
        refused = owner.press(place + action.pop("path"), **action)
        assert refused.status_code == 422
        assert "last owner" in refused.text
    assert is_in(owner)
    assert "the role of the last one cannot change" in owner.get("/organise/people").text
    owner.press(f"/organise/people/{id_of(app, 'bob')}/role", role="owner")
    assert owner.press(f"{place}/role", role="assistant").url.path == "/organise/login"
    with pytest.raises(DataError, match="last owner"):
        accounts.remove_account(app.state.site.database, id_of(app, "bob"))


def test_assistants_change_nobody(app, owner, assistant):
    assert "Change</summary>" not in assistant.get("/organise/people").text
    for action in ("role", "password", "remove"):
        place = f"/organise/people/{id_of(app, OWNER)}/{action}"
        assert assistant.press(place, role="owner", password=OTHER).status_code == 403
    assert is_in(owner)


def test_the_top_leads_somewhere(app, tmp_path):
    page = Visitor(app).get("/")
    assert page.status_code == 200
    assert "open the one you were given" in page.text
    assert 'href="/organise"' in page.text
    under = Visitor(app_over(tmp_path, made=False, prefix="/rate"))
    for path in ("/rate", "/rate/", "/"):
        page = under.get(path)
        assert (page.status_code, 'href="/rate/organise"' in page.text) == (200, True), path
