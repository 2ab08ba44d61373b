"""Letters: notices of submissions, dates and announcements, and links to a new password."""

from __future__ import annotations

import asyncio
import re
import time
from email import message_from_bytes
from email.policy import default

import pytest
from aiosmtpd.controller import Controller
from sqlalchemy import update
from test_unlisted_phases import SECRET as UNLISTED

from reelscore.challenges.challenge import Challenge
from reelscore.challenges.notices import Notices
from reelscore.challenges.people.teams import set_contact
from reelscore.challenges.queue import jobs
from reelscore.challenges.queue.jobs import rescore
from reelscore.challenges.queue.processes import harmless_environment
from reelscore.challenges.queue.workers import Workers
from reelscore.errors import DataError, FullError
from reelscore.web.mail import Letter, Mail
from reelscore.web.settings import Settings
from reelscore.web.store.accounts import find_named
from reelscore.web.store.claims import LEASE, Claim
from reelscore.web.store.schema import claim
from support.challenge_data import SECOND, captions
from support.challenge_server import HERE, At, Participant, challenge_app, on_both
from support.server import free_port

DAY = 86_400 * SECOND


class Box:
    """What a mail server does with letters: it keeps them, or refuses an address."""

    def __init__(self):
        self.letters, self.refused = [], set()
        self.meanwhile = None  # what else happens while the next letter is taken

    async def handle_RCPT(self, server, session, envelope, address, options):
        if address in self.refused:
            return "550 no such mailbox"
        envelope.rcpt_tos.append(address)
        return "250 OK"

    async def handle_DATA(self, server, session, envelope):
        meanwhile, self.meanwhile = self.meanwhile, None
        if meanwhile is not None:
            await asyncio.to_thread(meanwhile)
        self.letters.append(message_from_bytes(envelope.content, policy=default))
        return "250 OK"

    def take(self):
        """Give what has come since: addresses, subjects and texts."""
        letters, self.letters = self.letters, []
        texts = [each.get_content().replace("\r\n", "\n") for each in letters]
        heads = [(each["to"], each["subject"]) for each in letters]
        return [(*head, text) for head, text in zip(heads, texts, strict=True)]


@pytest.fixture
def box():
    return Box()


@pytest.fixture
def server(box):
    """A mail server that can be stopped."""
    controller = Controller(box, hostname="127.0.0.1", port=free_port())
    controller.start()
    yield controller
    if not controller.loop.is_closed():
        controller.stop()


@pytest.fixture
def clock():
    return At()


@pytest.fixture
def app(mostly_sqlite, tmp_path, clock, server):
    settings = {"sender": "dogs@lab.example", "smtp": f"smtp://127.0.0.1:{server.port}"}
    about = 'contact = "host@lab.example"'
    with challenge_app(
        tmp_path, clock, mostly_sqlite, settings=settings, challenge=about, more=UNLISTED
    ) as app:
        yield app


@pytest.fixture
def notices(app):
    made = Notices(app.state.site, app.state.challenges.challenges)
    made.send_new()  # what was before is no news
    return made


def pat(app, name="pat", team="Ours", contact="pat@uni.example"):
    visitor = Participant(app)
    visitor.register(name)
    visitor.make_team(team)
    account = find_named(app.state.site.database, name)
    set_contact(app.state.challenges.challenges.find(), account.id, contact)
    return visitor


@on_both
def test_teams_are_written_of_their_submissions(app, notices, box, owner, mostly_sqlite):
    visitor = pat(app)
    pat(app, "sam", "Others", "call me")  # no address
    visitor.hand_in(captions())
    challenges = app.state.challenges.challenges
    Workers(challenges, 1).run_until_idle()
    notices.send_new()
    [(to, subject, text)] = box.take()
    assert to == "pat@uni.example"
    assert subject == "Dogs of 2026: Submission 1 is scored"
    link = re.search(r"http://127.0.0.1:8000(/challenges/dogs/submissions/\w+)", text)[1]
    assert visitor.get(link).status_code == 200
    assert "run.json, which Ours handed in for main" in text
    assert "cider" not in text.lower()  # no scores: pages know who may see them
    visitor.hand_in(captions(1))
    jobs.defect(challenges, jobs.claim(challenges, "w", []), "abc")
    notices.send_new()
    (_, organisers, _), (_, subject, text) = sorted(box.take())
    assert organisers == subject == "Dogs of 2026: Submission 2 could not be scored"
    assert "a defect of the server, number abc" in text
    challenge = challenges.find()
    rescore(challenge, "main", actor="ada", reason="a reference was wrong")
    Workers(challenges, 1).run_until_idle()
    notices.send_new()
    # one letter about all that is scored once more, and one about what failed before
    subjects = [subject for _, subject, _ in box.take()]
    assert subjects == [
        "Dogs of 2026: main is scored again", "Dogs of 2026: Submission 2 is scored"
    ]  # fmt: skip
    notices.send_new()
    assert box.take() == []


def test_news_go_to_all_who_may_know_of_them(app, notices, box, owner):
    pat(app)
    pat(app, "sam", "Others", "sam@uni.example")
    owner.press(f"{HERE}/console/announcements", text="Two clips <are> new.\nSee the data.")
    dates = {"phase": "main", "closes": "2026-07-01T00:00:00Z", "reason": "more time"}
    owner.press(f"{HERE}/console/dates", **dates)
    owner.press(f"{HERE}/console/dates", **{**dates, "phase": "zzphase"})
    notices.send_new()
    letters = box.take()
    assert [to for to, _, _ in letters] == ["pat@uni.example", "sam@uni.example"] * 2
    assert "Two clips <are> new.\nSee the data." in letters[0][2]
    assert letters[2][1] == "Dogs of 2026: Dates of main have changed"
    assert "It has now: closes 2026-07-01T00:00:00Z" in letters[2][2]
    id = re.search(r"/teams/(\w+)/", owner.get(f"{HERE}/console").text)[1]
    owner.press(f"{HERE}/console/phases/zzphase/invitations", team=id, what="invite", reason="try")
    owner.press(f"{HERE}/console/dates", **{**dates, "phase": "zzphase", "reason": "again"})
    notices.send_new()
    assert len(box.take()) == 1


def test_nothing_is_lost_while_the_mail_server_is_down(app, notices, box, server, owner, clock):
    pat(app)
    pat(app, "sam", "Others", "sam@uni.example")
    box.refused = {"pat@uni.example"}
    server.stop()
    owner.press(f"{HERE}/console/announcements", text="First")
    with pytest.raises(OSError, match="refused"):
        notices.send_new()
    server = Controller(box, hostname="127.0.0.1", port=server.port)
    server.start()
    again = Notices(app.state.site, app.state.challenges.challenges)  # another process
    again.send_new()
    assert [to for to, _, _ in box.take()] == ["sam@uni.example"]  # the other is given up
    owner.press(f"{HERE}/console/announcements", text="Second")
    clock.moment += 4 * DAY
    again.send_new()
    server.stop()
    assert box.take() == []  # no news any more


@on_both
def test_of_two_servers_on_one_database_one_sends(app, notices, box, owner, mostly_sqlite):
    pat(app)
    pat(app, "sam", "Others", "sam@uni.example")
    owner.press(f"{HERE}/console/announcements", text="Once")
    other = Notices(app.state.site, app.state.challenges.challenges)
    box.meanwhile = other.send_new
    notices.send_new()
    other.send_new()
    assert [to for to, _, _ in box.take()] == ["pat@uni.example", "sam@uni.example"]


@on_both
def test_a_server_that_dies_while_it_sends_is_replaced(app, notices, box, owner, mostly_sqlite):
    pat(app)
    owner.press(f"{HERE}/console/announcements", text="Late")
    database = app.state.site.database
    dead = Claim(database, "notices")
    assert dead.take()
    notices.send_new()
    assert box.take() == []
    with database.writing() as connection:  # some minutes later
        connection.execute(update(claim).values(until=claim.c.until - LEASE))
    notices.send_new()
    assert [to for to, _, _ in box.take()] == ["pat@uni.example"]


def test_nobody_is_written_to_twice_while_the_disk_is_full(app, notices, box, owner, monkeypatch):
    pat(app)
    owner.press(f"{HERE}/console/announcements", text="Once")

    def full(_):
        raise FullError("no room")

    with monkeypatch.context() as patch:
        patch.setattr(Challenge, "writing", full)
        for _ in range(2):
            with pytest.raises(FullError):
                notices.send_new()
    notices.send_new()
    assert len(box.take()) == 1


def test_a_link_to_a_new_password_is_sent_and_nobody_learns_of_whom(app, box):
    visitor = pat(app)
    stranger = Participant(app)
    assert "Forgotten your password?" in stranger.get("/account/login").text
    pages = [stranger.press("/account/forgotten", name=name) for name in ("pat", "nobody")]
    assert pages[0].text.replace("pat", "nobody") == pages[1].text
    [(to, _, text)] = box.take()
    assert to == "pat@uni.example"
    link = re.search(r"http://127.0.0.1:8000(\S+)", text)[1]
    assert stranger.press(link, password="another password").url.path == HERE
    assert visitor.get(f"{HERE}/team").url.path == "/account/login"  # old sessions have ended
    for _ in range(5):
        stranger.press("/account/forgotten", name="pat")
    assert len(box.take()) == 2  # three an hour


def test_an_address_is_kept_when_its_owner_says_so(app, box):
    visitor, other = pat(app, contact=""), pat(app, "sam", "Others", "")
    page = visitor.press(f"{HERE}/team/contact", contact="pat@uni.example")
    assert "A letter goes to pat@uni.example" in page.text
    assert 'name="contact" maxlength="200" value=""' in page.text
    [(to, subject, text)] = box.take()
    assert (to, subject) == ("pat@uni.example", "Dogs of 2026: is this your address?")
    link = re.search(r"http://127.0.0.1:8000(\S+)", text)[1]
    assert other.get(link).status_code == 404
    assert "Your address is kept." in visitor.get(link).text
    assert 'value="pat@uni.example"' in visitor.get(f"{HERE}/team").text
    visitor.press(f"{HERE}/team/contact", contact="room 7")  # no letter can go there
    assert 'value="room 7"' in visitor.get(f"{HERE}/team").text
    for _ in range(3):
        last = visitor.press(f"{HERE}/team/contact", contact="pat@uni.example")
    assert last.status_code == 429
    assert len(box.take()) == 2


def test_organisers_get_no_link(app, box, owner):
    assert owner.press("/account/forgotten", name="ada").status_code == 200
    assert box.take() == []


def test_without_an_address_to_send_from_there_are_no_letters(tmp_path, clock):
    with challenge_app(tmp_path, clock) as app:
        assert app.state.site.mail is None
        assert "asks the organisers" in Participant(app).get("/account/login").text


def test_letters_are_not_injected_and_passwords_stay_here(server, box, monkeypatch, caplog):
    settings = Settings("x", sender="dogs@lab.example", smtp=f"smtp://localhost:{server.port}")
    list(Mail(settings).send([Letter("a@b.example", "One\nBcc: c@d.example\n", "x\ny@z")]))
    [letter] = box.letters
    assert letter["bcc"] is None
    assert letter["reply-to"] is None
    assert letter["auto-submitted"] == "auto-generated"
    box.refused = {"a@b.example"}
    Mail(settings).send_or_log(Letter("a@b.example", "One\n"))
    assert "a@b.example" not in caplog.text
    monkeypatch.setenv("REELSCORE_SMTP", "smtps://me:swordfish@mail.example")
    assert "REELSCORE_SMTP" not in harmless_environment()
    assert "swordfish" not in repr(Settings("x", smtp="smtps://me:swordfish@mail.example"))
    for smtp in ("http://x", "smtp://me:swordfish@h:port", "smtp://"):
        with pytest.raises(DataError, match="is no mail server") as caught:
            Mail(Settings("x", sender="a@b", smtp=smtp))
        assert "swordfish" not in str(caught.value)
    with pytest.raises(DataError, match="no address to send from"):
        Mail(Settings("x", sender="the dogs"))


def test_the_thread_sends_by_itself(app, box, owner, monkeypatch):
    monkeypatch.setattr("reelscore.challenges.notices._EVERY", 0.05)
    pat(app)
    Notices(app.state.site, app.state.challenges.challenges).send_new()
    with Notices(app.state.site, app.state.challenges.challenges):
        owner.press(f"{HERE}/console/announcements", text="Now")
        until = time.monotonic() + 20
        while not box.letters and time.monotonic() < until:
            time.sleep(0.05)
    assert [to for to, _, _ in box.take()] == ["pat@uni.example"]
