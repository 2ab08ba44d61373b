"""Two challenges full of marked words and numbers, and a crawler that opens all there is of them.

``clips`` has a blind split, hides everything until the reveal, publishes nothing, and has a phase
that is not listed. ``open`` has a public split and publishes what can be published. Of each, one
team belongs to the viewer ``own`` and one to ``other``; the account of ``own`` agrees to be named.
"""

from __future__ import annotations

import io
import itertools
import json
import logging
import re

import numpy as np
from sqlalchemy import insert

from reelscore.challenge.arena import Arena
from reelscore.challenge.challenges import find_challenge
from reelscore.challenge.phase_invitations import invite_to_phase
from reelscore.challenge.showing import Who
from reelscore.challenge.store import results, tables
from reelscore.challenge.team_decisions import decide
from reelscore.challenge.teams import accept, find_team, invite, set_contact, show_members
from reelscore.challenge.tokens import make_token
from reelscore.challenge.views import View
from reelscore.examples import clips
from reelscore.web.app import create_app
from reelscore.web.requests import JsonLines
from reelscore.web.settings import Settings, logger
from reelscore.web.store.accounts import add_account, find_account
from support.challenges import CLOSES, OPENS, REVEALS, definition_text, make_challenge
from support.leak_search import number_mark, text_mark
from support.server import PASSWORD, SECRET, small_campaign
from support.visits import Visitor

MOMENTS = {
    "before": OPENS - 1,
    "during": OPENS + 10**10,
    "after": CLOSES + 10**9,
    "revealed": REVEALS + 10**9,
}
ROLES = {"own": "participant", "other": "participant", "assistant": "assistant", "owner": "owner"}
TEAMS = {"clips": {"own": "strong", "other": "weak"}, "open": {"own": "stark", "other": "schwach"}}
# other captions in each team, so that no score is that of another
SYSTEMS = {"strong": "strong", "weak": "weak", "stark": "human", "schwach": "broken"}
UNLISTED = """[[phase]]
id = "zzphase"
splits = ["blind"]
opens = 2026-06-01T00:00:00Z
closes = 2026-07-01T00:00:00Z
feedback = { blind = "reveal" }
listed = false
[[board]]
id = "zzboard"
phase = "zzphase"
primary = "cider"
columns = [{ scores = ["cider"] }]
[[board]]"""
_CHANGES = re.compile(r"/(choose|withdraw|cancel)$")


class Stage:
    """The server, the challenges, and who looks at them."""

    def __init__(self, folder):
        self.moment = OPENS
        self.place = folder / "c.db"
        small_campaign(self.place)
        self.submissions = {viewer: [] for viewer in ("own", "other")}
        blind = definition_text("reveal").replace("[[board]]", UNLISTED, 1)
        self._make("clips", blind, 0)
        public = blind.replace(UNLISTED, "[[board]]").replace('"clips"', '"open"')
        public = public.replace('"blind"\nreferences', '"public"\nreferences')
        public = public.replace('feedback = { blind = "reveal" }', 'feedback = { blind = "full" }')
        self._make("open", public.replace("captions = false", "captions = true"), 100)
        clock = lambda: self.moment / 1e6  # noqa: E731
        place = str(self.place)
        self.app = create_app(
            Settings(place, secret=SECRET, clock=clock, attempts=10**9, session=1e12)
        )
        self.site = self.app.state.site
        self.arena = Arena(self.site.database, lambda _: OPENS)
        self._people()
        self.log = io.StringIO()
        self._handler = logging.StreamHandler(self.log)
        self._handler.setFormatter(JsonLines())
        logger.addHandler(self._handler)
        self._level = logger.level
        logger.setLevel(logging.INFO)

    def close(self):
        logger.removeHandler(self._handler)
        logger.setLevel(self._level)
        self.site.readers.close()
        self.site.database.close()

    def _make(self, id, text, first):
        """Make a challenge with two teams, in whose captions are marks."""
        systems, references = clips()
        marked = {
            f"zzitem{id}{k}": [f"{text} zzreference{id}{k}" for text in texts]
            for k, texts in enumerate(references.values())
        }
        made = make_challenge(self.place, marked, text)
        made.count = first
        for viewer, team in TEAMS[id].items():
            made.team(team)
            system = systems[SYSTEMS[team]]
            captions = {
                item: f"{caption} zzcaption{team}"
                for item, caption in zip(marked, system.values(), strict=True)
            }
            self.submissions[viewer].append(made.submit(team, captions, method=f"how {team} works"))
        if id == "clips":
            with made.database.writing() as connection:
                phase = {"challenge": made.keys["challenge"], "id": "zzphase", "position": 1}
                times = {"opens": OPENS, "closes": CLOSES, "reveals": None}
                settings = {"priority": 0, "settings": json.dumps(made.settings), "generation": 1}
                connection.execute(insert(tables.phase).values(**phase, **times, **settings))
        made.database.close()

    def _people(self):
        """Give every viewer an account and a token, and what belongs to it."""
        self.tokens, self.teams, self.accounts = {}, [], {}
        for viewer, role in ROLES.items():
            account = add_account(self.site.database, f"zzname{viewer}", PASSWORD, role)
            self.accounts[viewer] = account.id
            scopes = ["read", "submit", *(["organise"] if role == "owner" else [])]
            self.tokens[viewer] = make_token(self.site.arena, account.id, "t", scopes)
            for id in ("clips", "open") if role == "participant" else ():
                known = find_challenge(self.arena, id)
                team = find_team(self.arena, known, TEAMS[id][viewer])
                self.teams.append(team.id)
                accept(self.arena, known, invite(self.arena, known, team), account.id)
                set_contact(self.arena, known, account.id, f"zzcontact{viewer}@lab.example")
                reason = f"zzreason{viewer}"
                decide(self.arena, known, team, "approve", actor="zznameowner", reason=reason)
        known = find_challenge(self.arena, "open")
        show_members(self.arena, known, find_team(self.arena, known, "stark"), True, actor="x")
        known = find_challenge(self.arena, "clips")
        invite_to_phase(
            self.arena, known, "zzphase", find_team(self.arena, known, "strong"),
            actor="zznameowner", reason="a test",
        )  # fmt: skip

    def marks(self):
        """The words and numbers to search for: patterns by name."""
        words = [
            *("zzreferenceclips", "zzreferenceopen", "zzitemclips", "zzphase", "zzboard"),
            *(f"zzcaption{team}" for teams in TEAMS.values() for team in teams.values()),
            *(
                f"zz{what}{viewer}"
                for what in ("contact", "reason", "name")
                for viewer in TEAMS["clips"]
            ),
        ]
        marks = {word: text_mark(word) for word in words}
        view = View(self.site.database, "clips", Who("owner"), now=REVEALS)
        [strong, _] = view.entries_of("main")
        scores = view.scores("main", "blind", strong)
        marks["scores"] = tuple(
            pattern for name in ("cider", "bleu_4") for pattern in number_mark(scores[name].value)
        )
        with self.site.database.reading() as connection:
            arrays = results.arrays_of(connection, view.splits["blind"], [strong.job], "items")
        names, data = arrays[strong.job]
        values = np.load(io.BytesIO(data), allow_pickle=False)[:, list(names).index("cider")]
        uneven = [float(value) for value in values if 0 < value != round(value, 6)]
        assert len(uneven) > 5
        marks["item_scores"] = tuple(p for value in uneven for p in number_mark(value))
        return marks

    def browser(self, viewer):
        """A browser in which a viewer is logged in."""
        browser = Visitor(self.app)
        if viewer == "rater":
            browser.begin()
        elif viewer in self.tokens:
            account = find_account(self.site.database, self.accounts[viewer])
            cookie = self.site.signer.sign("session", [account.id, account.sessions])
            browser.cookies.set("reelscore_session", cookie)
        return browser

    def crawl(self, viewer, moment, *, everything=True):
        """Open what there is; give each reply with the route and the address.

        Args:
            viewer: Who.
            moment: When.
            everything: Whether to try all ids with all others, and forms and pages of campaigns.
        """
        self.moment = MOMENTS[moment]
        browser = self.browser(viewer)
        waiting = list(self.addresses("get", everything))
        seen = set()
        while waiting:
            route, path = waiting.pop()
            if path in seen:
                continue
            seen.add(path)
            reply = browser.get(path, headers=self._token(viewer, path), follow_redirects=False)
            yield route, path, reply
            if reply.headers.get("content-type", "").startswith("text/html"):
                links = re.findall(r'(?:href|src|action|data-refresh)="(/[^"#]*)"', reply.text)
                links += [reply.headers.get("location", "")]
                waiting += [("link", link) for link in links if link.startswith("/challenges")]
        if everything:
            for route, path in self.addresses("post", everything):
                if _CHANGES.search(path) and any(id in path for id in self.own_ids(viewer)):
                    continue  # it would be done
                headers = {**self._token(viewer, path), "accept": "*/*"}
                yield route, path, browser.post(path, json={}, headers=headers)
        for challenge in TEAMS:
            for what in ("export", "archive"):
                path = f"/challenges/{challenge}/console/{what}"
                yield path, path, browser.press(path, reason="a look", addresses="")

    def own_ids(self, viewer):
        return self.submissions.get(viewer, ())

    def _token(self, viewer, path):
        is_program = path.startswith("/api/") and viewer in self.tokens
        return {"authorization": f"Bearer {self.tokens[viewer]}"} if is_program else {}

    def addresses(self, method, everything):
        """Every route of the description, with every id there is, and with some there are not."""
        ids = [*self.submissions["own"], *self.submissions["other"]]
        none = ["none"] if everything else []
        choices = {
            "challenge": [*TEAMS, *none],
            "phase": ["main", "zzphase", *none],
            "split": ["blind", *none],
            "board": ["main", "zzboard", *none],
            "form": ["csv", "json", "tex"] if everything else ["csv"],
            "submission": [*ids, *none],
            "team": [*self.teams, *none],
            "name": ["zzitemclips0.mp4"],
            "human": ["da"],
            "campaign": ["dogs"],
        }
        ours = ("/challenges", "/api", "/account")
        if method == "get":
            live = ("/challenges/clips/mine/live", "/challenges/clips/console/live")
            yield from ((path, path) for path in ("/", "/health", "/openapi.json", *live))
        for path, methods in self.app.openapi()["paths"].items():
            if method in methods and (everything or path.startswith(ours)):
                names = re.findall(r"\{(\w+)\}", path)
                for values in itertools.product(*(choices.get(name, ["1"]) for name in names)):
                    yield path, path.format(**dict(zip(names, values, strict=True)))
