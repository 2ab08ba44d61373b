"""What becomes public of teams: captions after the reveal, names if they agree; addresses never."""

from __future__ import annotations

import io
import json
import re
import zipfile

import pytest

from reelscore.challenges.people.invitations import invite_to_phase
from reelscore.challenges.people.teams import find_team
from reelscore.challenges.queue import workers
from reelscore.challenges.queue.workers import Workers
from reelscore.challenges.uploads import uploads
from support.challenge_data import SECOND, captions
from support.challenge_process import Here
from support.challenge_server import HERE, At, Participant, Program, challenge_app
from support.visits import Visitor

DAY = 86400 * SECOND
CONSOLE = f"{HERE}/console"
API = "/api/v1/challenges/dogs"
PUBLISHED = 'final = "last"\n[publish]\ncaptions = true\n'


@pytest.fixture(autouse=True)
def no_processes(monkeypatch):
    """Read and score files here: it is quicker, and other tests start processes for it."""
    for module in (uploads, workers):
        monkeypatch.setattr(module, "Helper", Here)


def stage(folder, clock, more=PUBLISHED):
    """An app with two teams, each with a member."""
    with challenge_app(folder, clock, more=more) as app:
        app.clock = clock
        for name, team in (("pat", "Ours"), ("kim", "Theirs")):
            visitor = Participant(app)
            visitor.register(name)
            visitor.make_team(team)
            setattr(app, name, visitor)
        yield app


@pytest.fixture
def app(tmp_path):
    yield from stage(tmp_path, At())


def handed_in(app):
    """Hand a file of each team in and score it; give the ids by team."""
    app.pat.hand_in(captions(0))
    app.kim.hand_in(captions(1))
    Workers(app.state.challenges.challenges, 1).run_until_idle()
    rows = Program(app, "pat", "read").get(f"{API}/submissions").json()["submissions"]
    rows += Program(app, "kim", "read").get(f"{API}/submissions").json()["submissions"]
    return {row["team"]: row["id"] for row in rows}


def statuses(app, id, viewers):
    """The status of a submission's file: for each viewer on the page, and for a program."""
    seen = {}
    for name, viewer in viewers.items():
        seen[name] = viewer.get(f"{HERE}/submissions/{id}/file").status_code
        if name != "visitor":
            program = Program(app, name, "read")
            assert program.get(f"/api/v1/submissions/{id}/file").status_code == seen[name]
    return seen


def test_captions_of_others_are_public_after_the_reveal(app, owner, assistant):
    id = handed_in(app)["Ours"]
    viewers = {"visitor": Visitor(app), "kim": app.kim, "pat": app.pat}
    viewers |= {"bob": assistant, "ada": owner}
    before = statuses(app, id, viewers)
    assert before == {"visitor": 404, "kim": 404, "pat": 200, "bob": 200, "ada": 200}
    assert f"submissions/{id}/file" not in Visitor(app).get(f"{HERE}/boards/test").text
    app.clock.moment += 20 * DAY
    assert set(statuses(app, id, viewers).values()) == {200}
    file = Visitor(app).get(f"{HERE}/submissions/{id}/file")
    assert file.content == captions(0)
    assert file.headers["content-disposition"].startswith("attachment")
    assert Visitor(app).get(f"/api/v1/submissions/{id}/file").status_code == 401  # no token
    assert Program(app, "kim", "read").get(f"/api/v1/submissions/{id}").status_code == 404
    board = Visitor(app).get(f"{HERE}/boards/test").text
    assert re.search(rf'Ours</bdi> · <a href="{HERE}/submissions/{id}/file">', board)
    app.pat.press(f"{HERE}/submissions/{id}/withdraw")
    assert statuses(app, id, viewers) == before


def test_captions_are_not_public_unless_the_definition_says_so(tmp_path):
    for app in stage(tmp_path, At(), 'final = "last"'):
        id = handed_in(app)["Ours"]
        app.clock.moment += 20 * DAY
        viewers = {"visitor": Visitor(app), "kim": app.kim, "pat": app.pat}
        assert statuses(app, id, viewers) == {"visitor": 404, "kim": 404, "pat": 200}


def test_the_archive_has_published_captions_and_names(app, assistant):
    ids = handed_in(app)
    app.pat.press(f"{HERE}/team/members", shown="1")

    def archive():
        content = assistant.press(f"{CONSOLE}/archive").content
        with zipfile.ZipFile(io.BytesIO(content)) as opened:
            return {name: opened.read(name).decode() for name in opened.namelist()}

    assert not [name for name in archive() if "captions-" in name]
    app.clock.moment += 20 * DAY
    files = archive()
    name = f"dogs/data/captions-test-{ids['Ours']}.json"
    assert json.loads(files[name]) == json.loads(captions(0))
    page = files["dogs/board-test.html"]
    assert f'href="data/captions-test-{ids["Ours"]}.json"' in page
    assert "Ours</bdi>: pat" in page
    assert "kim" not in page
    assert "archive" in assistant.get(f"{HERE}/log").text


def test_members_are_named_if_the_captain_says_so(app):
    handed_in(app)
    link = re.search(
        r"(/challenges/dogs/team/join/[\w.-]+)", app.pat.press(f"{HERE}/team/invite").text
    )
    second = Participant(app)
    second.register("sam")
    second.press(link[1])

    def names(viewer):
        return re.findall(r"Ours</bdi>: (\w+(?:, \w+)*)", viewer.get(f"{HERE}/boards/test").text)

    def told():
        return Visitor(app).get(f"{API}/boards/test", headers={"accept": "*/*"}).json()["members"]

    assert names(Visitor(app)) == names(app.kim) == []
    assert names(app.pat) == ["pat, sam"]
    assert told() == {}
    assert second.press(f"{HERE}/team/members", shown="1").status_code == 403
    assert "Show our names to everybody" in app.pat.get(f"{HERE}/team").text
    app.pat.press(f"{HERE}/team/members", shown="1")
    assert names(Visitor(app)) == names(app.kim) == ["pat, sam"]
    assert told() == {"Ours": ["pat", "sam"]}
    app.pat.press(f"{HERE}/team/members")
    assert names(Visitor(app)) == []


def test_addresses_are_for_organisers(app, owner, assistant):
    handed_in(app)
    contact = "pat@lab.example"
    done = app.pat.press(f"{HERE}/team/contact", contact=contact)
    assert f'value="{contact}"' in done.text
    app.pat.press(f"{HERE}/team/members", shown="1")
    for path in ("", "/team", "/boards/test", "/log", "/console"):
        for visitor in (Visitor(app), app.kim):
            assert contact not in visitor.get(HERE + path).text
    for organiser in (owner, assistant):
        assert contact in organiser.get(CONSOLE).text
        assert contact not in organiser.get(f"{HERE}/log").text  # nothing is removed from there
    assert app.pat.press(f"{HERE}/team/contact", contact="a\u202eb").status_code == 422
    with_it = {"reason": "the printer", "addresses": "1"}
    for fields, expected in (({"reason": "a copy"}, False), (with_it, True)):
        content = owner.press(f"{CONSOLE}/export", **fields).content
        with zipfile.ZipFile(io.BytesIO(content)) as opened:
            members = opened.read("tables/challenge_member.jsonl").decode()
        assert (contact in members) is expected
    app.pat.press(f"{HERE}/team/leave")
    assert contact not in owner.get(CONSOLE).text


UNLISTED = """final = "last"
[[split]]
id = "zzsplit"
visibility = "public"
references = "references.json"
[[phase]]
id = "zzphase"
splits = ["zzsplit"]
opens = 2026-06-01T00:00:00Z
closes = 2026-06-11T00:00:00Z
limits = { per_day = 5 }
listed = false
[[board]]
id = "zzboard"
phase = "zzphase"
primary = "cider"
columns = [{ scores = ["cider"] }]
"""
PLACES = (
    f"{HERE}/boards/zzboard",
    f"{HERE}/boards/zzboard.csv",
    f"{HERE}/data/zzphase/zzsplit/ids.txt",
    f"{HERE}/data/zzphase/sample.json",
)
PROGRAM_PLACES = (
    f"{API}/boards/zzboard",
    f"{API}/boards/zzboard.csv",
    f"{API}/splits/zzsplit/items",
    f"{API}/phases/zzphase/quota",
)


def test_a_phase_that_is_not_listed_does_not_exist_for_others(tmp_path):
    for app in stage(tmp_path, At(), UNLISTED):
        owner = Visitor(app)
        owner.log_in()
        team = Program(app, "pat", "read").team
        place = f"{CONSOLE}/phases/zzphase/invitations"
        for name, status in (("pat", 404), ("kim", 404)):
            check(app, name, status)
        refused = owner.press(place, team=team.id, what="invite", reason="")
        assert refused.status_code == 422
        done = owner.press(place, team=team.id, what="invite", reason="they try it")
        assert "Ours is invited to zzphase" in done.text
        check(app, "pat", 200)
        check(app, "kim", 404)
        hand_in(app, "pat", 201)
        id = Program(app, "pat", "read").get(f"{API}/submissions").json()["submissions"][0]["id"]
        assert Program(app, "kim", "read").get(f"/api/v1/submissions/{id}").status_code == 404
        owner.press(place, team=team.id, what="withdraw", reason="it is over")
        check(app, "pat", 404)
        assert Program(app, "pat", "read").get(f"/api/v1/submissions/{id}").status_code == 404


def check(app, name, status):
    """Look for the phase on all pages and routes, as a participant and as nobody."""
    participant, program = getattr(app, name), Program(app, name, "read", "submit")
    for path in PLACES:
        assert participant.get(path).status_code == status, path
        assert Visitor(app).get(path).status_code == 404, path
    for path in PROGRAM_PLACES:
        assert program.get(path).status_code == status, path
    for path in (HERE, f"{HERE}/rules", f"{HERE}/data", f"{HERE}/submit", f"{HERE}/log", API):
        seen = (program if path == API else participant).get(path).text
        assert ("zzphase" in seen) == (status == 200) or path == f"{HERE}/log", path
        assert "zzphase" not in Visitor(app).get(path).text
    if status == 404:
        hand_in(app, name, 404)


def hand_in(app, name, status):
    program = Program(app, name, "read", "submit")
    where = f"{API}/phases/zzphase/submissions"
    file = {"file": ("run.json", captions())}
    assert program.post(where, files=file).status_code == status
    if status == 404:
        assert program.post(where.replace("submissions", "check"), files=file).status_code == 404
        data = {"proof": getattr(app, name).proof, "phase": "zzphase"}
        assert getattr(app, name).post(f"{HERE}/submit", data=data, files=file).status_code == 404


def test_invitations_follow_a_command(tmp_path):
    """What is done outside of the server counts at once."""
    for app in stage(tmp_path, At(), UNLISTED):
        challenges = app.state.challenges.challenges
        challenge = challenges.find()
        invite_to_phase(challenge, "zzphase", find_team(challenge, "Theirs"), actor="x", reason="y")
        assert app.kim.get(PLACES[0]).status_code == 200
