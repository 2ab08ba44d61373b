"""Participants: accounts, teams, files that are refused and taken, what is left, tokens."""

from __future__ import annotations

import itertools
import re

import pytest

from reelscore.challenges.pages.accounts import reset_link
from reelscore.challenges.queue.workers import Workers
from reelscore.challenges.updates import make_challenge
from reelscore.web.app import create_app
from reelscore.web.settings import Settings
from reelscore.web.store.accounts import find_account
from support.challenge_data import SECOND, START, captions
from support.challenge_server import HERE, At, Participant, Program, challenge_app, on_both
from support.server import PASSWORD, SECRET
from support.visits import Visitor


@pytest.fixture
def clock():
    return At()


@pytest.fixture
def app(mostly_sqlite, tmp_path, clock):
    with challenge_app(tmp_path, clock, mostly_sqlite) as app:
        yield app


def ids(page):
    return list(dict.fromkeys(re.findall(r"/submissions/(\w{10})/", page.text)))


def test_from_a_visitor_to_a_captain(app):
    visitor = Participant(app)
    asked = visitor.get(f"{HERE}/submit")  # not logged in: the page to log in leads back
    assert asked.url.path == "/account/login"
    assert asked.url.params["to"] == f"{HERE}/submit"
    page = visitor.register("pat")
    assert page.url.path == f"{HERE}/team"
    assert "You are in no team yet" in page.text
    assert visitor.press(f"{HERE}/team", name="Ours").status_code == 422  # rules not accepted
    page = visitor.make_team("Ours")
    assert "The team Ours is made" in page.text
    assert "captain" in page.text
    other = Participant(app)
    other.register("sam")
    assert "looks like" in other.make_team("0urs").text
    assert other.get(f"{HERE}/mine").status_code == 403
    assert visitor.press("/account/logout").status_code == 200
    assert visitor.get(f"{HERE}/team").url.path == "/account/login"
    back = visitor.press(f"/account/login?to={HERE}/team", name="pat", password=PASSWORD)
    assert back.url.path == f"{HERE}/team"
    away = visitor.press("/account/login?to=//evil.example/", name="pat", password=PASSWORD)
    assert away.url.path == HERE  # nowhere else than to our pages


def test_a_team_grows_by_a_link_and_shrinks(app, member):
    page = member.press(f"{HERE}/team/invite")
    link = re.search(r"http://127\.0\.0\.1:8000(/challenges/dogs/team/join/[\w-]+)", page.text)[1]
    friend = Participant(app)
    assert friend.get(link).url.path == f"{HERE}/register"
    page = friend.register("sam", f"?to={link.removeprefix(HERE)}")
    assert page.url.path == link
    assert "You are in the team Ours now" in friend.press(link).text
    third = Participant(app)
    third.register("kim")
    assert third.press(link).status_code == 409  # used
    assert "You have left the team" in friend.press(f"{HERE}/team/leave").text


@on_both
def test_files_are_checked_refused_taken_and_scored(app, member):
    refused = member.hand_in(b'{"v1": "a man"}')
    assert refused.status_code == 422
    assert "nothing was charged" in refused.text
    assert "9 items have no caption" in refused.text
    checked = member.hand_in(captions(), "check")
    assert "can be scored" in checked.text
    assert "left today 5 of 5, in all 20 of 20" in checked.text
    page = member.hand_in(captions(), method="<b>ours</b>", link="https://lab.example")
    assert page.url.path == f"{HERE}/mine"
    assert "Submission 1 is accepted" in page.text
    assert "no scorer is running" in page.text
    assert "left today 4 of 5, in all 19 of 20" in page.text
    assert "&lt;b&gt;ours" in page.text
    assert member.hand_in(captions()).status_code == 409  # the same captions
    assert member.hand_in(captions(1), link="javascript:alert(1)").status_code == 422
    assert Workers(app.state.challenges.challenges, 1).run_until_idle() == 1
    live = member.get(f"{HERE}/mine/live")
    assert "CIDEr" in live.text
    assert "<html" not in live.text
    [id] = ids(live)
    assert member.get(f"{HERE}/submissions/{id}/file").content == captions()
    assert member.get(f"{HERE}/submissions/{id}/report/test").status_code == 404  # blind
    assert "Ours" in Visitor(app).get(f"{HERE}/boards/test").text
    assert "is noted" in member.press(f"{HERE}/submissions/{id}/choose").text
    assert 'chip good">chosen' in member.get(f"{HERE}/mine").text
    member.press(f"{HERE}/submissions/{id}/withdraw")
    assert "Ours" not in Visitor(app).get(f"{HERE}/boards/test").text
    member.press(f"{HERE}/submissions/{id}/restore")
    assert "Ours" in Visitor(app).get(f"{HERE}/boards/test").text


def test_others_find_nothing_of_a_submission(app, member):
    [id] = ids(member.hand_in(captions()))
    other = Participant(app)
    other.register("sam")
    other.make_team("Theirs")
    for method, what in (("get", "file"), ("get", "report/test"), ("post", "choose"),
                         ("post", "withdraw"), ("post", "cancel")):  # fmt: skip
        path = f"{HERE}/submissions/{id}/{what}"
        got = other.get(path) if method == "get" else other.press(path)
        assert got.status_code == 404, what
    assert id not in other.get(f"{HERE}/mine").text
    assert "is cancelled and not charged" in member.press(f"{HERE}/submissions/{id}/cancel").text
    assert "left today 5 of 5" in member.get(f"{HERE}/submit").text


def test_closed_is_closed_to_the_microsecond(app, member, clock):
    clock.moment = START + 10 * 86400 * SECOND - 1
    assert member.hand_in(captions()).status_code == 200
    clock.moment += 1
    assert member.hand_in(captions(1)).status_code == 409
    assert "No phase takes files now" in member.get(f"{HERE}/submit").text


@pytest.mark.parametrize("state", ["closed", "archived"])
def test_a_challenge_that_organisers_close_looks_closed(app, member, owner, state):
    program = Program(app, "pat", "read")

    def is_open():
        [phase] = program.get("/api/v1/challenges/dogs").json()["phases"]
        return phase["open"]

    assert "open, closes in" in Visitor(app).get(HERE).text
    assert is_open()
    owner.press(f"{HERE}/console/state", state=state, reason="a leak")
    said = f"The challenge is {state}; it takes no files."
    for visitor in (Visitor(app), member):
        page = visitor.get(HERE).text
        assert "open, closes in" not in page
        assert f'<span class="chip">{state}</span>' in page
        assert said in page
        assert "left today" not in page
        assert f'class="button main" href="{HERE}' not in page
    form = member.get(f"{HERE}/submit")
    assert said in form.text
    assert 'type="file"' not in form.text
    assert not is_open()
    assert program.get("/api/v1/challenges/dogs").json()["state"] == state
    assert "x-quota-left" not in form.headers
    refused = member.hand_in(captions())
    assert refused.status_code == 409
    assert said in refused.text
    owner.press(f"{HERE}/console/state", state="open", reason="no leak")
    assert is_open()
    assert "left today 5 of 5" in member.get(f"{HERE}/submit").text


def test_the_list_of_challenges_says_which_are_closed(app, owner, tmp_path):
    path = tmp_path / "dogs.toml"
    path.write_text(path.read_text().replace('"dogs"', '"cats"'))
    make_challenge(app.state.challenges.challenges, path)
    assert "1 phase, closed" not in Visitor(app).get("/challenges").text
    owner.press(f"{HERE}/console/state", state="closed", reason="a leak")
    assert Visitor(app).get("/challenges").text.count("1 phase, closed") == 1


def test_after_the_close_a_team_may_leave_the_board_but_not_choose(app, member, owner, clock):
    for number in range(2):
        member.hand_in(captions(number))
        clock.moment += SECOND
    Workers(app.state.challenges.challenges, 1).run_until_idle()
    last, first = ids(member.get(f"{HERE}/mine"))
    board = f"{HERE}/boards/test"
    assert "until the phase closes" in member.get(f"{HERE}/mine").text
    clock.moment = START + 10 * 86400 * SECOND
    assert "you cannot put it back" in member.get(f"{HERE}/mine").text
    assert member.press(f"{HERE}/submissions/{first}/choose").status_code == 409
    withdrawn = member.press(f"{HERE}/submissions/{last}/withdraw")
    assert "Submission 2 is withdrawn" in withdrawn.text
    assert f"{last}/restore" not in withdrawn.text
    assert member.press(f"{HERE}/submissions/{last}/restore").status_code == 409
    assert "Ours" not in Visitor(app).get(board).text  # the first one does not take its place
    console = f"{HERE}/console"
    assert "Put back" in owner.get(console).text
    place = f"{console}/submissions/{last}/status"
    assert owner.press(place, status="active", reason=" ").status_code == 422
    owner.press(place, status="active", reason="withdrawn by mistake")
    assert "Ours" in Visitor(app).get(board).text


def test_a_whole_team_is_withdrawn(app, member, owner, clock):
    for number in range(2):
        member.hand_in(captions(number))
    Workers(app.state.challenges.challenges, 1).run_until_idle()
    clock.moment = START + 10 * 86400 * SECOND
    board = f"{HERE}/boards/test"
    assert "Ours" in Visitor(app).get(board).text
    assert "2 entries withdrawn." in member.press(f"{HERE}/team/withdraw").text
    assert "Ours" not in Visitor(app).get(board).text
    log = owner.get(f"{HERE}/log").text
    assert log.count("withdrawn") >= 2


def test_a_closed_challenge_lets_nobody_register(app, member, owner):
    invitation = member.press(f"{HERE}/team/invite").text
    link = re.search(r"/team/join/[\w-]+", invitation)[0]
    owner.press(f"{HERE}/console/state", state="closed", reason="it is over")
    visitor = Participant(app)
    assert "nobody can register any more" in visitor.get(f"{HERE}/register").text
    assert visitor.register("zoe").status_code == 403
    assert (
        visitor.press(f"{HERE}/register?to={link}", name="zoe", password="x" * 12).status_code
        == 403
    )
    assert "Take part" not in visitor.get(HERE).text
    owner.press(f"{HERE}/console/state", state="open", reason="not yet")
    visitor.register("zoe")
    owner.press(f"{HERE}/console/state", state="archived", reason="it is over")
    assert visitor.make_team("Late").status_code == 422
    assert visitor.press(HERE + link).status_code == 409


def test_a_phase_that_is_over_and_still_scores_says_so(app, member, clock, tmp_path):
    path = tmp_path / "dogs.toml"
    path.write_text(path.read_text().replace("[[board]]", 'after = "open"\n[[board]]'))
    make_challenge(app.state.challenges.challenges, path)
    assert "Closes <time" in member.get(f"{HERE}/submit").text
    clock.moment = START + 10 * 86400 * SECOND
    page = member.get(f"{HERE}/submit").text
    assert "files are still scored, and listed without a rank" in page
    assert "Closes <time" not in page


def test_forms_of_other_sites_are_refused(app, member):
    for path in ("team/invite", "team/leave", "team/tokens", "submit"):
        files = {"file": ("run.json", captions())}
        got = member.post(f"{HERE}/{path}", data={"proof": "x", "phase": "main"}, files=files)
        assert got.status_code == 403, path
    assert member.post("/account/logout", data={"proof": "x"}).status_code == 403


def with_registration(folder, mode):
    path = folder / "dogs.toml"
    path.write_text(
        path.read_text().replace("[challenge]", f'[challenge]\nregistration = "{mode}"')
    )


def changed(app, tmp_path, mode):
    with_registration(tmp_path, mode)
    make_challenge(app.state.challenges.challenges, tmp_path / "dogs.toml")


def test_invited_challenges_take_those_who_have_the_link(app, tmp_path):
    changed(app, tmp_path, "invite")
    visitor = Participant(app)
    assert "are invited" in visitor.get(f"{HERE}/register").text
    assert visitor.register("pat").status_code == 403
    invitation = app.state.site.signer.sign("invitation", "dogs")
    page = visitor.register("pat", f"?invitation={invitation}")
    assert page.url.params["invitation"] == invitation
    assert visitor.make_team("Ours").status_code == 422
    assert "is made" in visitor.make_team("Ours", invitation=invitation).text


def test_teams_wait_for_approval(app, tmp_path):
    changed(app, tmp_path, "approve")
    visitor = Participant(app)
    visitor.register("pat")
    assert "have not approved your team yet" in visitor.make_team("Ours").text
    assert visitor.hand_in(captions()).status_code == 403


def test_a_lost_password_is_replaced_by_a_link_that_is_good_once(app):
    visitor = Participant(app)
    visitor.register("pat")
    site = app.state.site
    link = reset_link(site, find_account(site.database, 1)).removeprefix(site.settings.url)
    stranger = Participant(app)
    assert "New password for pat" in stranger.get(link).text
    assert stranger.press(link, password="short").status_code == 422
    assert stranger.press(link, password="another password").url.path == HERE
    assert stranger.press(link, password="one more password").status_code == 404
    assert visitor.get(f"{HERE}/team").url.path == "/account/login"  # old sessions have ended


def test_tokens_are_shown_once_and_revoked(app, member):
    page = member.press(f"{HERE}/team/tokens", name="laptop")
    assert re.search(r"<pre[^>]*>[\w-]{32}</pre>", page.text)
    again = member.get(f"{HERE}/team").text
    assert "laptop" in again
    assert not re.search(r"<pre[^>]*>[\w-]{32}</pre>", again)
    assert "is revoked" in member.press(f"{HERE}/team/tokens/1/revoke").text
    assert member.press(f"{HERE}/team/tokens", scope="organise").status_code == 403


def guess(app, what):
    """Give a function that guesses something once, as somebody new to the server."""
    visitor = Participant(app)
    token = {"authorization": "Bearer nonsense"}
    if what == "invitation":
        visitor.register("kim")
    return {
        "password": lambda: visitor.press("/account/login", name="pat", password="a" * 12),
        "invitation": lambda: visitor.press(f"{HERE}/team/join/{'a' * 32}"),
        "reset link": lambda: visitor.get(f"/account/reset/{'a' * 32}"),
        "token": lambda: visitor.get("/api/v1/challenges/dogs/submissions", headers=token),
        "account": lambda: visitor.press(
            f"{HERE}/register", name=f"n{next(NUMBERS)}", password=PASSWORD
        ),
    }[what]


NUMBERS = itertools.count()


@pytest.mark.parametrize("what", ["password", "invitation", "reset link", "token", "account"])
def test_an_address_that_tries_too_much_has_to_wait(tmp_path, what):
    with challenge_app(tmp_path, At()) as made:
        where = made.state.site.settings.database
    app = create_app(Settings(where, secret=SECRET, clock=At(), attempts=3))
    tried = guess(app, what)
    statuses = [tried().status_code for _ in range(6)]
    app.state.site.database.close()
    assert statuses[-1] == 429
    assert 1 <= statuses.index(429) <= 3
