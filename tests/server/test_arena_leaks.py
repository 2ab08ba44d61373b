"""No page and no route of a challenge shows what its viewer may not see.

Blind references, captions and scores carry marks. A crawler opens every page and every route of the
description, with every id that there is, as six viewers and at four moments, and searches all of
each reply, what is only wrapped included. Leaks that are planted prove that it finds them.
"""

from __future__ import annotations

import base64
import gzip
import io
import itertools
import re
import zlib
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pytest

from reelscore.challenge import showing
from reelscore.challenge.arena import Arena
from reelscore.challenge.challenges import find_challenge
from reelscore.challenge.store import results
from reelscore.challenge.teams import accept, find_team, invite
from reelscore.challenge.tokens import make_token
from reelscore.challenge.views import View, Who
from reelscore.examples import clips
from reelscore.web import arena as arena_pages
from reelscore.web.app import create_app
from reelscore.web.settings import Settings
from reelscore.web.store.accounts import add_account, check_account
from support.challenges import CLOSES, OPENS, REVEALS, definition_text, make_challenge
from support.server import PASSWORD, SECRET, small_campaign
from support.visits import Visitor

MOMENTS = {
    "before": OPENS - 1,
    "during": OPENS + 10**10,
    "after": CLOSES + 10**9,
    "revealed": REVEALS + 10**9,
}
VIEWERS = ("visitor", "rater", "other", "own", "assistant", "owner")
SHORT = {("visitor", "before"), ("visitor", "during"), ("other", "during"), ("own", "after"),
         ("owner", "during"), ("rater", "after"), ("visitor", "revealed")}  # fmt: skip
ALL = list(itertools.product(VIEWERS, MOMENTS))


class Stage:
    """A server with a hidden challenge, and what nobody may find in which case."""

    def __init__(self, folder):
        self.moment = OPENS
        database = folder / "c.db"
        small_campaign(database)
        systems, references = clips()
        marked = {
            item: [f"{text} zzreference{k}" for text in texts]
            for k, (item, texts) in enumerate(references.items())
        }
        self.made = make_challenge(database, marked, definition_text("reveal"))
        self.submissions = {}
        for team in ("strong", "weak"):
            self.made.team(team)
            captions = {item: f"{text} zzcaption{team}" for item, text in systems[team].items()}
            self.submissions[team] = self.made.submit(team, captions, method=f"how {team} works")
        self.made.database.close()
        clock = lambda: self.moment / 1e6  # noqa: E731
        settings = Settings(str(database), secret=SECRET, clock=clock, attempts=10**9, session=1e12)
        self.app = create_app(settings)
        self.site = self.app.state.site
        self.arena = Arena(self.site.database, lambda _: OPENS)
        self.known = find_challenge(self.arena)
        self._numbers()
        self.tokens = {}
        roles = {"own": "participant", "other": "participant", "assistant": "assistant",
                 "owner": "owner"}  # fmt: skip
        for viewer, role in roles.items():
            account = add_account(self.site.database, viewer, PASSWORD, role)
            if role == "participant":
                team = find_team(self.arena, self.known, "strong" if viewer == "own" else "weak")
                accept(self.arena, self.known, invite(self.arena, self.known, team), account.id)
            scopes = ["read", "submit", *(["organise"] if role == "owner" else [])]
            self.tokens[viewer] = make_token(self.site.arena, account.id, "t", scopes)
        self.teams = [find_team(self.arena, self.known, name).id for name in ("strong", "weak")]

    def _numbers(self):
        """The scores of items and of all captions, as texts to search for."""
        view = View(self.site.database, "clips", Who("owner"), now=REVEALS)
        [strong, _] = view.entries_of("main")
        scores = view.scores("main", "blind", strong)
        self.scores = [repr(scores[name].value)[:10] for name in ("cider", "bleu_4")]
        with self.site.database.reading() as connection:
            arrays = results.arrays_of(connection, view.splits["blind"], [strong.job], "items")

        names, data = arrays[strong.job]
        values = np.load(io.BytesIO(data), allow_pickle=False)[:, list(names).index("cider")]
        shown = [float(value) for value in values if 0 < value != round(value, 6)]
        assert len(shown) > 5
        self.items = [repr(value)[:10] for value in shown]

    def hidden(self, viewer, moment):
        """Give the texts that a viewer may not find at a moment."""
        words = ["zzreference", *self.items]
        organiser = viewer in ("assistant", "owner")
        if not organiser:
            words += ["zzcaption" + team for team in ("strong", "weak")]
            if viewer in ("own", "other"):
                words.remove("zzcaptionstrong" if viewer == "own" else "zzcaptionweak")
            if moment != "revealed":
                words += self.scores
        return words

    def crawl(self, viewer, moment):
        """Open everything; give each reply with its address."""
        self.moment = MOMENTS[moment]
        browser = Visitor(self.app)
        if viewer == "rater":
            browser.begin()
        elif viewer in self.tokens:
            account = check_account(self.site.database, viewer, PASSWORD)
            cookie = self.site.signer.sign("session", [account.id, account.sessions])
            browser.cookies.set("reelscore_session", cookie)
        waiting, seen = list(self.seeds()), set()
        while waiting:
            path = waiting.pop()
            if path in seen:
                continue
            seen.add(path)
            is_program = path.startswith("/api/") and viewer in self.tokens
            token = {"authorization": f"Bearer {self.tokens[viewer]}"} if is_program else {}
            reply = browser.get(path, headers=token, follow_redirects=False)
            assert reply.status_code < 500, (path, reply.text)
            yield path, reply
            if reply.headers.get("content-type", "").startswith("text/html"):
                links = re.findall(r'(?:href|src|action|data-refresh)="(/[^"#]*)"', reply.text)
                links += [reply.headers.get("location", "")]
                waiting += [each for each in links if each.startswith("/challenges")]

    def seeds(self):
        """Every route that can be read, with every id."""
        choices = {
            "challenge": ["clips"],
            "phase": ["main", "none"],
            "split": ["blind"],
            "board": ["main"],
            "form": ["csv", "json", "tex"],
            "submission": [*self.submissions.values(), "sub0000009"],
            "team": self.teams,
            "token": ["none"],
            "key": ["1"],
        }
        yield from ("/", "/challenges", "/challenges/clips/mine/live", "/health", "/openapi.json")
        for path, methods in self.app.openapi()["paths"].items():
            if "get" in methods and path.startswith(("/challenges", "/api", "/account")):
                names = re.findall(r"\{(\w+)\}", path)
                for values in itertools.product(*(choices[name] for name in names)):
                    yield path.format(**dict(zip(names, values, strict=True)))


def unwrapped(text):
    """Read what is only wrapped: base64, with what is compressed in it."""
    for word in re.findall(r"[\w+/=-]{24,}", text):
        plain = word.replace("-", "+").replace("_", "/")
        try:
            content = base64.b64decode(plain + "=" * (-len(plain) % 4))
        except ValueError:
            continue
        yield content.decode("latin-1")
        for opened in (gzip.decompress, zlib.decompress, lambda c: zlib.decompress(c, -15)):
            try:
                yield opened(content).decode("latin-1")
            except (OSError, EOFError, zlib.error):
                continue


def leaks(reply, hidden):
    whole = "\n".join([reply.text, *(f"{name}: {value}" for name, value in reply.headers.items())])
    everything = "\n".join([whole, *unwrapped(whole)])
    return [word for word in hidden if word in everything]


@pytest.fixture(scope="module")
def stage(tmp_path_factory):
    stage = Stage(tmp_path_factory.mktemp("leaks"))
    yield stage
    stage.site.readers.close()
    stage.site.database.close()


@pytest.mark.parametrize(("viewer", "moment"), ALL)
def test_nobody_finds_what_is_hidden(stage, viewer, moment, full):
    if not full and (viewer, moment) not in SHORT:
        pytest.skip("all viewers and moments are tried with --full")
    hidden, answered = stage.hidden(viewer, moment), 0
    for path, reply in stage.crawl(viewer, moment):
        assert leaks(reply, hidden) == [], (path, reply.status_code)
        if re.search(r"(boards/\w+|submissions/\w+)/items$|/report/|references.json$", path):
            assert reply.status_code in (303, 401, 403, 404), path  # numbers are packed in reports
        answered += reply.status_code == 200
    assert answered > 8


def test_a_refused_file_and_an_accepted_one_tell_nothing_of_references(stage):
    stage.moment = MOMENTS["during"]
    program = {"authorization": f"Bearer {stage.tokens['own']}"}
    browser = Visitor(stage.app)
    for content in (b"{}", b"[", b'{"clip01": "a zz"}', b'{"x": 1}', b"\xff\x00"):
        for what in ("check", "submissions"):
            path = f"/api/v1/challenges/clips/phases/main/{what}"
            reply = browser.post(path, files={"file": ("f", content)}, headers=program)
            assert reply.status_code == 422
            assert leaks(reply, stage.hidden("own", "during")) == []


def found(stage, viewer, moment):
    hidden = stage.hidden(viewer, moment)
    return {word for _, reply in stage.crawl(viewer, moment) for word in leaks(reply, hidden)}


@pytest.mark.parametrize(
    ("what", "expected"), [("references", "zzreference"), ("item_scores", "items")]
)
def test_planted_leaks_are_found(stage, monkeypatch, what, expected):
    monkeypatch.setitem(showing.RULES, (what, "blind"), (lambda _: "everything",) * 5)
    words = found(stage, "own", "revealed")
    assert words & ({expected} if expected != "items" else set(stage.items))


def test_wrapped_leaks_are_found():
    note = base64.b64encode(b"a zzreference3 in a header").decode()
    reply = SimpleNamespace(headers={"x-note": note}, text="")
    assert leaks(reply, ["zzreference", "zzother"]) == ["zzreference"]
    packed = base64.urlsafe_b64encode(gzip.compress(b"what zzreference3 says" * 3)).decode()
    reply = SimpleNamespace(headers={}, text=f"<script>{packed}</script>")
    assert leaks(reply, ["zzreference", "zzother"]) == ["zzreference"]


def test_pages_read_no_table_themselves():
    files = list(Path(arena_pages.__file__).parent.glob("*.py"))
    assert len(files) > 8
    for file in files:
        assert not re.search(r"sqlalchemy|challenge\.store|job_results", file.read_text()), file
