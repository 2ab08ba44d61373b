"""Organisers: who may do what, what they see, and what comes out."""

from __future__ import annotations

import io
import re
import subprocess
import sys
import zipfile

import msgspec
import pytest
from argon2 import PasswordHasher
from click.testing import CliRunner

from reelscore import examples
from reelscore.campaigns.campaign import Campaign
from reelscore.campaigns.commands.reliability import quality
from reelscore.campaigns.evaluate.results import evaluate_ratings
from reelscore.errors import NobodyPassedError
from reelscore.significance import rank_systems
from support.server import PASSWORD
from support.visits import Visitor, app_over


@pytest.fixture
def app(tmp_path):
    return app_over(tmp_path)


def test_the_first_owner_is_made_once(tmp_path):
    app = app_over(tmp_path)
    visitor = Visitor(app)
    link = f"/organise/setup/{app.state.site.setup.token}"
    assert visitor.get("/organise/setup/guess").status_code == 404
    assert visitor.press(link, name="ada", password="short").status_code == 422
    assert visitor.press(link, name="ada", password=PASSWORD).url.path == "/organise"
    assert Visitor(app).get(link).status_code == 404


def test_passwords(app):
    visitor = Visitor(app)
    visitor.log_in("ada", "owner")
    stranger = Visitor(app)
    for name, password in (("ada", "wrong password"), ("bob", PASSWORD), ("\x00", PASSWORD)):
        assert stranger.press("/organise/login", name=name, password=password).status_code == 401
    changed = visitor.press("/organise/password", old=PASSWORD, new="another long one")
    assert changed.url.path == "/organise"
    assert stranger.press("/organise/login", name="ada", password=PASSWORD).status_code == 401
    with app.state.site.database.reading() as connection:
        stored = connection.exec_driver_sql("SELECT password FROM web_account").scalar_one()
    assert stored.startswith("$argon2id$")
    # tests hash cheaply; the shipped hasher does not
    assert PasswordHasher().hash("x").startswith("$argon2id$v=19$m=65536,t=3,p=4$")


def test_nothing_is_hashed_before_it_is_needed():
    """Importing the module is quick; a server makes the hash for unknown names as it starts."""
    script = (
        "import argon2\nhash = argon2.PasswordHasher.hash\nmade = []\n"
        "argon2.PasswordHasher.hash = lambda *given: made.append(1) or hash(*given)\n"
        "from reelscore.web import security\nprint(len(made))\n"
        "hashing = security.Hashing()\nhashing._threads.shutdown()\nprint(len(made))\n"
        "security.is_password('no such account', None)\nprint(len(made))"
    )
    done = subprocess.run(
        [sys.executable, "-c", script], capture_output=True, text=True, check=True
    )
    assert done.stdout.split() == ["0", "1", "1"]


def test_guessing_passwords_is_slow(app, monkeypatch):
    monkeypatch.setattr("reelscore.web.store.accounts.is_password", lambda *_: False)
    visitor = Visitor(app)
    tries = [
        visitor.press("/organise/login", name="ada", password="x").status_code for _ in range(12)
    ]
    assert tries == [401] * 10 + [429] * 2


def test_sessions_end(app, owner):
    cookie = owner.cookies["reelscore_session"]
    assert owner.get("/organise").url.path == "/organise"
    owner.press("/organise/logout")
    owner.cookies.set("reelscore_session", cookie, path="/")
    assert owner.get("/organise").url.path == "/organise/login"  # the old cookie is of no use


def test_sessions_expire(tmp_path):
    now = [1_000_000.0]
    app = app_over(tmp_path, clock=lambda: now[0])
    visitor = Visitor(app)
    visitor.log_in()
    now[0] += 12 * 3600 - 5
    assert visitor.get("/organise").url.path == "/organise"
    now[0] += 10
    assert visitor.get("/organise").url.path == "/organise/login"


PAGES = [
    "/organise",
    "/organise/new",
    "/organise/challenge",
    "/organise/people",
    "/organise/c/dogs",
    "/organise/c/dogs/live",
    "/organise/c/dogs/raters",
    "/organise/c/dogs/pages",
    "/organise/c/dogs/videos",
    "/organise/c/dogs/videos/live",
    "/organise/c/dogs/hits",
    "/organise/c/dogs/hits/1/1",
    "/organise/c/dogs/reports",
    "/organise/c/dogs/pay/amounts",
    "/organise/c/dogs/log",
    "/organise/c/dogs/results",
    "/organise/c/dogs/results.json",
    "/organise/c/dogs/results.html",
    "/organise/c/dogs/export",
    "/organise/c/dogs/mturk.zip",
]
ACTIONS = [
    "/organise/new",
    "/organise/challenge",
    "/organise/people",
    "/organise/people/1/role",
    "/organise/people/1/password",
    "/organise/people/1/remove",
    "/organise/password",
    "/organise/logout",
    "/organise/c/dogs/state",
    "/organise/c/dogs/release",
    "/organise/c/dogs/release/1",
    "/organise/c/dogs/review/1",
    "/organise/c/dogs/offer",
    "/organise/c/dogs/top-up",
    "/organise/c/dogs/quality",
    "/organise/c/dogs/offer/1",
    "/organise/c/dogs/decide",
    "/organise/c/dogs/raters",
    "/organise/c/dogs/raters/unbind",
    "/organise/c/dogs/pages",
    "/organise/c/dogs/pages/json",
    "/organise/c/dogs/hold",
    "/organise/c/dogs/videos",
    "/organise/c/dogs/mturk",
]
FILES = {"results": ("r.csv", b"x"), "systems": ("a.json", b"{}")}
FIELDS = {
    "name": "x",
    "password": PASSWORD,
    "old": PASSWORD,
    "new": PASSWORD,
    "role": "owner",
    "state": "closed",
    "rater": "r1",
    "what": "pay",
    "reason": "x",
    "number": "1",
    "hold": "24",
    "text": "{}",
    "test": "t",
    "level": "0.05",
    "pairs": "10",
    "rejected": "rater",
}


def test_the_lists_above_are_complete(app):
    names = {"campaign": "dogs", "form": "amounts"}
    known = {
        re.sub(r"{(\w+)}", lambda name: names.get(name[1], "1"), path)
        for path in app.openapi()["paths"]
    }
    organise = {path for path in known if path.startswith("/organise")}
    elsewhere = {"/organise/login", "/organise/setup/1", "/organise/c/dogs/hits/media/1"}
    assert organise - elsewhere == {*PAGES, *ACTIONS}


def test_raters_have_no_part_in_it(app):
    rater = Visitor(app)
    rater.begin()
    for path in PAGES:
        assert rater.get(path, headers={"accept": "*/*"}).status_code == 401, path
    assert rater.get("/organise").url.path == "/organise/login"
    for path in ACTIONS:
        sent = rater.post(path, data={"proof": rater.proof, **FIELDS}, files=FILES)
        assert sent.status_code == 401, path
    assert app.state.campaigns.get("dogs").state == "open"


def test_forms_of_other_sites_do_nothing(app, owner):
    proof = owner.proof
    for path in ACTIONS:
        for headers in ({}, {"sec-fetch-site": "cross-site"}, {"origin": "https://evil.example"}):
            data = {"proof": proof if headers else "forged", **FIELDS}
            sent = owner.post(path, data=data, files=FILES, headers=headers)
            assert sent.status_code == 403, (path, headers)
    assert owner.get("/organise").url.path == "/organise"
    assert app.state.campaigns.get("dogs").state == "open"


def test_roles(app, owner, assistant):
    denied = {
        "/organise/new",
        "/organise/challenge",
        "/organise/c/dogs/pages",
        "/organise/c/dogs/export",
        "/organise/c/dogs/mturk.zip",
        "/organise/c/dogs/pay/amounts",
    }
    for path in PAGES:
        expected = 403 if path in denied else 200
        if "results." in path:
            expected = 422  # nothing to evaluate yet
        assert assistant.get(path).status_code == expected, path
    assert assistant.press("/organise/c/dogs/state", state="closed").status_code == 403
    assert assistant.press("/organise/c/dogs/state", state="paused").status_code == 200
    assert owner.press("/organise/c/dogs/state", state="closed").status_code == 200
    assert assistant.press("/organise/c/dogs/state", state="open").status_code == 403
    new = {"name": "eve", "password": PASSWORD, "role": "owner"}
    assert assistant.press("/organise/people", **new).status_code == 403
    assert owner.press("/organise/people", **new).status_code == 200
    events = [(e.actor, e.what) for e in app.state.campaigns.get("dogs").events()]
    assert events[-2:] == [("bob", "paused"), ("ada", "closed")]


def rate_all(app, name, score_of):
    """Let a rater do a HIT; kinds come in turns: caption, degraded, repeat."""
    rater = Visitor(app)
    rater.begin(name=name)
    campaign = app.state.campaigns.get("dogs")
    held = campaign.claim(name)
    proof = rater.proof
    for k, task in enumerate(held.tasks):
        sent = rater.answer(k + 1, score_of(k, task), assignment=held.id, proof=proof)
        assert sent.status_code == 200, sent.text


def test_the_quality_table_changes(app, owner):
    assert "Nobody has begun yet" in owner.get("/organise/c/dogs").text
    rate_all(app, "r1", lambda k, task: 40 + k)
    page = owner.get("/organise/c/dogs/live").text
    assert "too few pairs" in page
    assert ">Release<" not in page
    owner.press("/organise/c/dogs/decide", rater="r1", what="pay", reason="well done")
    assert "pay" in owner.get("/organise/c/dogs/live").text
    assert "well done" in owner.get("/organise/c/dogs/log").text
    assert (
        owner.press("/organise/c/dogs/decide", rater="r1", what="pay", reason=" ").status_code
        == 422
    )


def test_release_by_hand(app, owner):
    rater = Visitor(app)
    rater.begin(name="r1")
    campaign = app.state.campaigns.get("dogs")
    assert campaign.status().held == 1
    assert owner.press("/organise/c/dogs/release").status_code == 200
    assert campaign.status().held == 1  # was seen a moment ago
    owner.press("/organise/c/dogs/release/1")
    assert campaign.status().held == 0
    assert owner.press("/organise/c/dogs/release/1").status_code == 404


def test_forms_say_what_they_did(tmp_path):
    """Once, on the next page, with the time; parts that a script asks for do not use it up."""
    owner = Visitor(app_over(tmp_path, clock=lambda: 1_000_000.0))
    owner.log_in()
    campaign, texts = "/organise/c/dogs", "/organise/c/dogs/pages"
    for path, fields, words in (
        (texts, PRACTICE, "The texts are saved."),
        (f"{texts}/json", {"text": "{}"}, "The texts are saved."),
        (f"{campaign}/release", {}, "HITs that are offered again: 0."),
        (f"{campaign}/state", {"state": "paused"}, "The campaign is paused."),
        (f"{campaign}/decide", {"rater": "r1", "what": "pay", "reason": "x"}, "about r1 is kept"),
        ("/organise/password", {"old": PASSWORD, "new": PASSWORD}, "Your password is changed."),
    ):
        owner.follow_redirects = False
        sent = owner.press(path, **fields)
        assert sent.status_code == 303, path
        assert words not in owner.get(f"{campaign}/live").text, path
        owner.follow_redirects = True
        page = owner.get(sent.headers["location"]).text
        assert words in page, path
        assert "(1970-01-12 13:46:40 UTC)" in page, path
        assert words not in owner.get(sent.headers["location"]).text, path
    refused = owner.press(texts, **{**PRACTICE, "price": "x"})
    assert "are saved" not in refused.text


def test_links(app, owner):
    page = owner.press("/organise/c/dogs/raters", number=3, names="anna\nben").text
    links = [line for line in page.splitlines() if "/r/" in line]
    assert len(links) == 3
    token = links[0].rpartition("/")[2]
    rater = Visitor(app)
    assert rater.press(f"/r/{token}").status_code == 200
    assert owner.press("/organise/c/dogs/raters", names="anna").status_code == 409
    assert owner.press("/organise/c/dogs/raters", number=0).status_code == 422


def test_texts(app, owner):
    path = "/organise/c/dogs/pages/json"
    assert owner.press(path, text='{"numbers": true, "practice": []}').status_code == 200
    assert "<output>" in Visitor(app).begin().text
    for bad in (
        '{"colour": "red"}',
        "{",
        '{"video_url": "https://x y/{item}"}',
        '{"video_url": "javascript:{item}"}',
        "[" * 10_000,
        '{"practice": [{"captions": ["a", "b"], "expected": {}, "feedback": ""}]}',
        '{"practice": [{"captions": ["a"], "expected": {"x": [[0, 1]]}, "feedback": ""}]}',
    ):
        assert owner.press(path, text=bad).status_code == 422, bad
    assert app.state.campaigns.get("dogs").settings["pages"]["numbers"] is True


PRACTICE = {
    "practice_captions": "a dog",
    "practice_item": "clip01",
    "practice_context": "",
    "practice_expected": "adequacy: 60 to 100",
    "practice_feedback": "so it is",
}


def test_texts_by_the_form(app, owner):
    path, campaign = "/organise/c/dogs/pages", app.state.campaigns.get("dogs")
    contexts = {"contexts": {"clip03": "A dog sleeps."}}
    campaign.change_settings({"pages": contexts})
    said = {"must_watch": "yes", "review": "yes", "ties": "yes", "price": "0.99", **PRACTICE}
    assert owner.press(path, **said).status_code == 200
    stored = campaign.settings["pages"]
    assert stored.pop("practice") == [
        {
            "captions": ["a dog"],
            "expected": {"adequacy": [[60.0, 100.0]]},
            "feedback": "so it is",
            "item": "clip01",
            "context": "",
        }
    ]
    assert stored == {"consent": "", "price": 0.99, **contexts}  # the rest is as usual
    for bad in (
        {"practice_expected": "adequacy: much"},
        {"practice_expected": "fluency: 1 to 2"},
        {"practice_expected": "adequacy: 60 to 170"},
        {"practice_captions": "a\nb"},
        {"question": "Why?", "choices": "because"},
        {"question": "Why?", "choices": "* because\n* so"},
        {"video_url": "https://x/"},
        {"hits_per_rater": "-1"},
        {"price": "-1"},
        {"fee": "nan"},
        {"practice_item": ["a", "b"]},
        {"question": "Why?"},
    ):
        refused = owner.press(path, **{**PRACTICE, **bad})
        assert refused.status_code == 422, bad
    assert campaign.settings["pages"]["contexts"] == contexts["contexts"]


# results and files


@pytest.fixture(scope="module")
def judged(tmp_path_factory):
    """A campaign of the embedded example, judged through the pages."""
    app = app_over(tmp_path_factory.mktemp("judged"), made=False)
    owner = Visitor(app)
    owner.log_in()
    systems, references = examples.clips()
    systems.pop("human")
    files = [
        ("systems", (f"{name}.json", msgspec.json.encode(captions)))
        for name, captions in systems.items()
    ]
    files.append(("references", ("references.json", msgspec.json.encode(references))))
    layout = "systems:15 humans:10 degraded_humans:10 repeated_systems:3"
    data = {"proof": owner.proof, "name": "Clips", "layout": layout}
    made = owner.post("/organise/new", data=data, files=files)
    assert made.url.path == "/organise/c/clips", made.text
    campaign = app.state.campaigns.get("clips")
    campaign.change_settings({**campaign.settings, "pages": {"practice": []}})
    owner.press("/organise/c/clips/state", state="open")
    quality = {"human": 90, "strong": 70, "weak": 40, "broken": 15}
    for r in range(3):
        rater = Visitor(app)
        rater.begin("clips", f"r{r}")
        held = campaign.claim(f"r{r}")
        proof = rater.proof
        for k, task in enumerate(held.tasks):
            shown = task.shown[0]
            score = (
                quality[shown.system] / (3 if shown.kind == "degraded" else 1) + (k * 7 + r) % 10
            )
            rater.answer(k + 1, round(score), "clips", assignment=held.id, proof=proof)
    return app, owner, campaign


def test_results_are_those_of_the_library(judged, tmp_path):
    _app, owner, campaign = judged
    shown = owner.get("/organise/c/clips/results.json").json()
    # the same judgments, carried by a file into a campaign that no server has touched
    file = tmp_path / "export.jsonl"
    file.write_bytes(owner.get("/organise/c/clips/export").content)
    with Campaign.restore(tmp_path / "other.db", file) as other:
        results = evaluate_ratings(other.judgments(finished=True), humans=["human"])
        assert list(other.judgments()) == list(campaign.judgments())
    assert shown["rankings"] == [rank_systems(results.scores.table).to_dict()]
    assert shown["quality"]["passed"] == ["r0", "r1", "r2"]
    table = msgspec.json.decode(msgspec.json.encode(results.scores.table.to_dict()))
    assert {key: shown[key] for key in table} == table


def test_results_where_nobody_passed(judged, monkeypatch):
    """The page says it in the words of its reader, not as an argument of Python."""

    def nobody(*_, **__):
        raise NobodyPassedError(3)

    monkeypatch.setattr(
        "reelscore.campaigns.pages.organisers.results_page.evaluate_campaign", nobody
    )
    _, owner, _ = judged
    page = owner.get("/organise/c/clips/results").text
    assert "None of the 3 raters passed the quality control. The page Raters shows why" in page
    assert "controlled" not in page
    refused = owner.get("/organise/c/clips/results.json")
    assert refused.status_code == 422
    assert "controlled" not in refused.text


def test_the_quality_control_is_seen_and_changed_on_the_page(judged):
    _, owner, campaign = judged
    page = owner.get("/organise/c/clips/results").text
    assert "3 of 3 raters passed, tested on pairs by adequacy" in page
    assert 'name="pairs" min="2" value="10"' in page
    wanted = {"test": "signed-rank", "level": "0.01", "pairs": "11", "rejected": "hit"}
    done = owner.press("/organise/c/clips/quality", **wanted)
    assert "The quality control is changed." in done.text
    assert "no rater is tested, and all count" in done.text
    signature = "test:signed-rank|level:0.01|pairs:11|rejected:hit"
    assert campaign.events()[-1].reason == signature
    ran = CliRunner().invoke(quality, [campaign.database.place])
    assert "Nobody gave the 11 pairs" in " ".join(ran.output.split())
    ran = CliRunner().invoke(quality, [campaign.database.place, "--quality", "pairs:10"])
    assert "3 of 3 raters passed" in ran.output
    for bad in ({"pairs": "1"}, {"level": "2"}, {"test": "x"}, {"criterion": "style"}):
        assert owner.press("/organise/c/clips/quality", **(wanted | bad)).status_code == 422
    assert campaign.settings["quality"]["pairs"] == 11
    campaign.change_settings({"quality": {}})


def test_results_on_the_page(judged):
    _, owner, _ = judged
    page = owner.get("/organise/c/clips/results").text
    assert page.index(">human<") < page.index(">strong<") < page.index(">broken<")
    assert 'class="win"' in page
    alone = owner.get("/organise/c/clips/results.html")
    assert "Who is better than whom" in alone.text
    assert "script-src 'none'" in alone.headers["content-security-policy"]
    assert "passed" in owner.get("/organise/c/clips/live").text


@pytest.mark.parametrize(
    ("systems", "references", "message"),
    [
        ({"a.json": b'{"v1": "a'}, {"r.json": b'{"v1": ["a"]}'}, "a.json"),
        ({"a.json": b'{"v1": "a dog"}'}, {}, "needs human captions"),
        ({}, {"r.json": b'{"v1": ["a"]}'}, "systems"),
        ({"a.json": b"\x1f\x8b\x08"}, {"r.json": b'{"v1": ["a"]}'}, "compressed"),
        ({"a.json": b"[{" * 100_000}, {"r.json": b'{"v1": ["a"]}'}, "a.json"),
        ({"a.json": b'{"v1": "a dog"}'}, {"r.json": b'{"v1": ["a dog"]}'}, "different captions"),
        ({"../../a.json": b'{"v1": 5}'}, {"r.json": b'{"v1": ["a"]}'}, "a.json"),
    ],
)
def test_uploads_that_cannot_be(app, owner, systems, references, message):
    files = [("systems", each) for each in systems.items()]
    files += [("references", each) for each in references.items()]
    sent = owner.post(
        "/organise/new", data={"proof": owner.proof, "name": "New"}, files=files or None
    )
    assert sent.status_code == 422
    assert message in sent.text
    assert "/tmp" not in sent.text
    assert [each.id for each in app.state.campaigns.all()] == ["dogs"]


def test_uploads_are_limited(tmp_path):
    app = app_over(tmp_path, largest_upload=200_000)
    owner = Visitor(app)
    owner.log_in()
    data = {"proof": owner.proof, "name": "New"}
    large = owner.post("/organise/new", data=data, files={"systems": ("a.json", b" " * 300_000)})
    assert large.status_code == 413

    def body():  # without a length, as a chunked request
        head = '--x\r\nContent-Disposition: form-data; name="systems"; filename="a"\r\n\r\n'
        yield head.encode()
        for _ in range(100):
            yield b" " * 10_000

    headers = {"content-type": "multipart/form-data; boundary=x"}
    assert owner.post("/organise/new", content=body(), headers=headers).status_code == 413


def test_files_for_mturk(app, owner):
    packed = zipfile.ZipFile(io.BytesIO(owner.get("/organise/c/dogs/mturk.zip").content))
    assert packed.namelist() == ["page.html", "hits.csv"]
    text = packed.read("page.html").decode() + packed.read("hits.csv").decode()
    for word in ("alpha", "beta", "degraded", "clip0"):
        assert word not in text


@pytest.mark.parametrize(
    ("protocol", "captions", "answer", "words"),
    [
        (
            "ranking",
            3,
            {
                "correctness": [1, 2, 3],
                "relevance": [1, 2, 3],
                "grammar": [3, 1, 2],
                "helpful": [1, 2, 3],
            },
            "mean rank",
        ),
        ("forced-choice", 2, {"correctness": [1], "relevance": [-1]}, "by majority"),
        ("preference", 2, {"story": [2]}, "whom people prefer"),
        ("against-reference", 2, {"helpful": [0]}, "as good as the reference"),
    ],
)
def test_results_of_votes(tmp_path, protocol, captions, answer, words):
    systems = ("reference", "alpha-net", "beta-net")
    app = app_over(tmp_path, protocol=protocol, captions=captions, systems=systems)
    owner, rater = Visitor(app), Visitor(app)
    owner.log_in()
    rater.begin(name="r1")
    for task in (1, 2, 3):
        assert rater.answer(task, answer=answer).status_code == 200
    page = owner.get("/organise/c/dogs/results").text
    assert words in page
    assert "alpha-net" in page
    live = owner.get("/organise/c/dogs/live").text
    assert "r1" in live
    assert "untested" in live
    assert owner.get("/organise/c/dogs/results.json").status_code == 422
