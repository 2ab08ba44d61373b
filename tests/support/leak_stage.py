"""Four challenges full of marked words and numbers, and a crawler that opens all there is of them.

``clips`` has a blind split, hides everything until the reveal, publishes nothing, and has a phase
that is not listed, whose human evaluation decides the award. People judge its entries in two
campaigns: one is over, and its column not published; in the other a rater works, the viewer
``judge``. ``rounded`` and ``ladder`` have blind splits of which teams are told rounded scores, and
those of the Ladder. ``open`` has a public split and publishes what can be published. Of each, one
team belongs to the viewer ``own`` and one to ``other``; the account of ``own`` agrees to be named.
"""

from __future__ import annotations

import io
import itertools
import json
import logging
import random
import re

import numpy as np
from sqlalchemy import insert, select

from reelscore.campaigns.campaign import Campaign
from reelscore.challenges.challenge import Challenges
from reelscore.challenges.people.human import make_campaign
from reelscore.challenges.people.invitations import invite_to_phase
from reelscore.challenges.people.teams import (
    accept,
    decide,
    find_team,
    invite,
    set_contact,
    show_members,
)
from reelscore.challenges.people.tokens import make_token
from reelscore.challenges.permissions import Who
from reelscore.challenges.quota import put_refusal
from reelscore.challenges.store import results, tables
from reelscore.challenges.uploads.uploads import UploadReport
from reelscore.examples import clips
from reelscore.web.app import create_app
from reelscore.web.requests import LogLines
from reelscore.web.settings import Settings, logger
from reelscore.web.store.accounts import add_account, find_account
from support.challenge_data import open_view
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
TEAMS = {
    "clips": {"own": "strong", "other": "weak"},
    "open": {"own": "stark", "other": "schwach"},
    "rounded": {"own": "fort", "other": "faible"},
    "ladder": {"own": "forte", "other": "debole"},
}
# other captions in each team, so that no score is that of another
EXTRA = {"rounded": "once more", "ladder": "over there by the river"}
SYSTEMS = {"strong": "strong", "weak": "weak", "stark": "human", "schwach": "broken",
           "fort": "strong", "faible": "weak", "forte": "weak", "debole": "strong"}  # fmt: skip
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
columns = [{ scores = ["cider"] }, { human = "zzpeople" }]
[[human]]
id = "zzpeople"
phase = "zzphase"
protocol = "against-reference"
items = 3
[[board]]"""
_AWARD = '[award]\nrule = "column"\ncolumn = "cider"'
_RANKS = 'protocol = "ranking"\ninclude_reference = true\n'
_CHANGES = re.compile(r"/(choose|withdraw|cancel)$")
# what a short walk opens of some challenges: where their scores are
_SCORES = re.compile(r"(/challenges/(rounded|ladder))/(boards/|submissions|mine|console$)")
_BRIEF = re.compile(r"(/api/v1)?/challenges/(rounded|ladder)\b")


def reference_mark(challenge, number):
    """Give the word that is in the references of one item, and in no other."""
    return f"zzreference{challenge}{number}z"


def _add_failed(made, id, reason):
    """Add a submission like another one, whose job has failed; give its id."""
    submission, job = tables.submission, tables.job
    with made.database.writing() as connection:
        row = connection.execute(select(submission).filter_by(id=id)).mappings().one()
        old = connection.execute(select(job).filter_by(submission=row["key"])).mappings().one()
        key = _add_like(connection, submission, row, id=f"{id}f", number=2)
        _add_like(connection, job, old, submission=key, state="failed", reason=reason)
    return f"{id}f"


def _add_like(connection, table, row, **changes):
    values = {**row, **changes}
    del values["key"]
    return connection.execute(insert(table).values(values)).inserted_primary_key[0]


class Stage:
    """The server, the challenges, and who looks at them."""

    def __init__(self, folder):
        self.moment = OPENS
        self.place = folder / "c.db"
        small_campaign(self.place)
        self.submissions = {viewer: [] for viewer in ("own", "other")}
        self.ids = {}  # of submissions, by challenge
        blind = definition_text("reveal").replace("[[board]]", UNLISTED, 1)
        blind = blind.replace(_AWARD, _AWARD.replace("cider", "human:zzpeople"))
        self._make("clips", blind.replace(_RANKS, f"{_RANKS}raters = 7\n"), 0)
        public = definition_text("full").replace('"blind"\nreferences', '"public"\nreferences')
        public = public.replace("captions = false", "captions = true")
        self._make("open", public, 100)
        self._make("rounded", definition_text("rounded", "0.05"), 200)
        self._make("ladder", definition_text("ladder", "0.02"), 300)
        clock = lambda: self.moment / 1e6  # noqa: E731
        place = str(self.place)
        self.app = create_app(
            Settings(place, secret=SECRET, clock=clock, attempts=10**9, session=1e12)
        )
        self.site = self.app.state.site
        self.challenges = Challenges(self.site.database, lambda _: OPENS)
        self._people()
        self._campaigns()
        self.log = io.StringIO()
        self._handler = logging.StreamHandler(self.log)
        self._handler.setFormatter(LogLines())
        logger.addHandler(self._handler)
        self._level = logger.level
        logger.setLevel(logging.INFO)

    def close(self):
        logger.removeHandler(self._handler)
        logger.setLevel(self._level)
        self.app.state.challenges.readers.close()
        self.site.database.close()

    def _make(self, id, text, first):
        """Make a challenge with two teams, in whose captions are marks."""
        systems, references = clips()
        marked = {
            f"zzitem{id}{k}": [f"{text} {reference_mark(id, k)}" for text in texts]
            for k, texts in enumerate(references.values())
        }
        made = make_challenge(self.place, marked, text.replace('"clips"', f'"{id}"'))
        made.count = first
        for viewer, team in TEAMS[id].items():
            made.team(team)
            system = systems[SYSTEMS[team]]
            captions = {
                item: f"{caption} {EXTRA.get(id, '')} zzcaption{team}"
                for item, caption in zip(marked, system.values(), strict=True)
            }
            own = [made.submit(team, captions, method=f"how {team} works")]
            if id == "ladder":  # the second is worse, and the team is told the first again
                worse = dict.fromkeys(marked, f"a man zzcaption{team}")
                own.append(made.submit(team, worse))
            if id == "clips":
                own.append(_add_failed(made, own[0], f"zzmessage{viewer}"))
            self.submissions[viewer] += own
            self.ids.setdefault(id, []).extend(own)
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
            self.tokens[viewer] = make_token(
                self.app.state.challenges.challenges, account.id, "t", scopes
            )
            for id in TEAMS if role == "participant" else ():
                challenge = self.challenges.find(id)
                team = find_team(challenge, f"team-{TEAMS[id][viewer]}")
                self.teams.append(team.id)
                accept(challenge, invite(challenge, team), account.id)
                set_contact(challenge, account.id, f"zzcontact{viewer}@lab.example")
                reason = f"zzreason{viewer}"
                decide(challenge, team, "approve", actor="zznameowner", reason=reason)
                report = UploadReport(f"zzrefusal{viewer}").to_json()
                put_refusal(challenge, challenge.find_phase("main"), team, "d", report)
        challenge = self.challenges.find("open")
        show_members(challenge, find_team(challenge, "stark"), True, actor="x")
        challenge = self.challenges.find("clips")
        invite_to_phase(
            challenge, "zzphase", find_team(challenge, "strong"),
            actor="zznameowner", reason="a test",
        )  # fmt: skip

    def _campaigns(self):
        """Let people judge the entries of ``clips``: one campaign is over, the other goes on."""
        made = {
            human: make_campaign(
                open_view(self.site.database, "clips", Who("owner"), now=CLOSES),
                self.place,
                human,
                actor="zznameowner",
            ).campaign
            for human in ("ranks", "points")
        }
        self.campaign = made["points"]
        drawn = random.Random(7)
        with Campaign.open(self.place, made["ranks"]) as campaign:
            campaign.set_state("open", actor="x")
            hits = {hit.id: hit for hit in campaign.hits()}
            for rater in map(str, range(7)):
                while (held := campaign.claim(rater)) is not None:
                    for task in hits[held.hit].tasks:
                        ranks = [float(k + 1) for k in range(len(task.shown))]
                        answer = {
                            criterion.name: drawn.sample(ranks, len(ranks))
                            for criterion in campaign.protocol.criteria
                        }
                        campaign.submit(held.id, rater, task.id, answer)
            campaign.set_state("closed", actor="x")
        with Campaign.open(self.place, self.campaign) as campaign:
            campaign.change_settings({"pages": {"practice": [], "review": False}})
            campaign.set_state("open", actor="x")

    def marks(self):
        """The words and numbers to search for: patterns by name."""
        words = [
            *("zzreferenceopen", "zzitemclips", "zzphase", "zzboard", "zzpeople"),
            *(f"zzcaption{team}" for teams in TEAMS.values() for team in teams.values()),
            *(
                f"zz{what}{viewer}"
                for what in ("contact", "reason", "name", "message", "refusal")
                for viewer in TEAMS["clips"]
            ),
        ]
        marks = {word: text_mark(word) for word in words}
        with self.site.database.reading() as connection:
            shown = connection.scalars(select(tables.human.c.disclosed)).all()
        disclosed = {item for items in shown for item in json.loads(items)}
        assert 0 < len(disclosed) < 15
        for name, told in (("zzreferenceclips", False), ("disclosed", True)):
            marks[name] = tuple(
                reference_mark("clips", k).encode()
                for k in range(15)
                if (f"zzitemclips{k}" in disclosed) == told
            )
        marks["zzreferenceclips"] += (b"zzreferencerounded", b"zzreferenceladder")
        for id in ("rounded", "ladder"):
            marks[f"exact_{id}"] = self._exact(id)
        board = open_view(self.site.database, "clips", Who("owner"), now=REVEALS).board("main")
        people = [
            score.score
            for row in board.rows
            for name, score in board.table[row.id].items()
            if name.startswith("human:ranks:")
        ]
        uneven = [value for value in people if value != round(value, 6)]
        assert len(uneven) > 3
        marks["people"] = tuple(pattern for value in uneven for pattern in number_mark(value))
        view = open_view(self.site.database, "clips", Who("owner"), now=REVEALS)
        [strong, _] = view.entries_of("main")
        scores = view.scores("main", "blind", strong)
        marks["scores"] = tuple(
            pattern for name in ("cider", "bleu_4") for pattern in number_mark(scores[name].score)
        )
        marks["item_scores"] = tuple(
            pattern for id in ("clips", "rounded", "ladder") for pattern in self._item_scores(id)
        )
        return marks

    def _item_scores(self, id):
        """Give what the item scores of the first entry of a challenge look like."""
        view = open_view(self.site.database, id, Who("owner"), now=REVEALS)
        job = view.entries_of("main")[0].job
        with self.site.database.reading() as connection:
            arrays = results.arrays_of(connection, view.splits["blind"], [job], "items")
        names, data = arrays[job]
        values = np.load(io.BytesIO(data), allow_pickle=False)[:, list(names).index("cider")]
        uneven = [float(value) for value in values if 0 < value != round(value, 6)]
        assert len(uneven) > 5
        return [pattern for value in uneven for pattern in number_mark(value)]

    def _exact(self, id):
        """Give what the exact scores of a challenge look like, plain and in percent."""
        view = open_view(self.site.database, id, Who("owner"), now=REVEALS)
        scores = [view.scores("main", "blind", record) for record in view.entries_of("main")]
        values = [
            value
            for own in scores
            for name in ("cider", "bleu_4")
            for value in (own[name].score, *own[name].interval)
            if value != round(value, 6)
        ]
        assert len(values) > 10
        plain = [pattern for value in values for pattern in number_mark(value)]
        return (*plain, *(number_mark(100 * value)[0] for value in values))

    def browser(self, viewer):
        """A browser in which a viewer is logged in."""
        browser = Visitor(self.app)
        if viewer == "rater":
            browser.begin()
        elif viewer == "judge":
            browser.begin(self.campaign)
        elif viewer in self.tokens:
            account = find_account(self.site.database, self.accounts[viewer])
            cookie = self.site.signer.sign("session", [account.id, account.sessions, ""])
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
        if viewer == "judge":
            pages = ("", "instructions", "work", "task/1", "task/2", "finish")
            waiting += [("judge", f"/c/{self.campaign}/{page}") for page in pages]
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
                waiting += [
                    ("link", link)
                    for link in links
                    if link.startswith("/challenges") and (everything or not _BRIEF.match(link))
                ]
        if everything:
            for route, path in self.addresses("post", everything):
                if _CHANGES.search(path) and any(id in path for id in self.own_ids(viewer)):
                    continue  # it would be done
                headers = {**self._token(viewer, path), "accept": "*/*"}
                yield route, path, browser.post(path, json={}, headers=headers)
        for challenge in TEAMS if everything else ("clips",):
            for what in ("export", "archive"):
                path = f"/challenges/{challenge}/console/{what}"
                yield path, path, browser.press(path, reason="a look", addresses="")

    def own_ids(self, viewer):
        return self.submissions.get(viewer, ())

    def _token(self, viewer, path):
        is_program = path.startswith("/api/") and viewer in self.tokens
        return {"authorization": f"Bearer {self.tokens[viewer]}"} if is_program else {}

    def addresses(self, method, everything):
        """Every route of the description, with the ids there are.

        With everything, each id is tried with each other, and with some that there are not.
        """
        if not everything:
            every = [self._choices([id]) for id in TEAMS]
        else:
            whole = self._choices(TEAMS)
            more = {"form": ["csv", "json", "tex"], "campaign": ["dogs", self.campaign]}
            wrong = ("challenge", "phase", "split", "board", "submission", "team")
            every = [{**whole, **more, **{name: [*whole[name], "none"] for name in wrong}}]
        ours = ("/challenges", "/api", "/account")
        if method == "get":
            live = ("/challenges/clips/mine/live", "/challenges/clips/console/live")
            yield from ((path, path) for path in ("/", "/health", "/openapi.json", *live))
        for path, methods in self.app.openapi()["paths"].items():
            if method in methods and (everything or path.startswith(ours)):
                names = re.findall(r"\{(\w+)\}", path)
                for choices in every:
                    for values in itertools.product(*(choices.get(name, ["1"]) for name in names)):
                        address = path.format(**dict(zip(names, values, strict=True)))
                        if everything or not _BRIEF.match(address) or _SCORES.search(address):
                            yield path, address

    def _choices(self, challenges):
        """Give the ids of some challenges, by what routes call them."""
        unlisted = "clips" in challenges
        return {
            "challenge": list(challenges),
            "phase": ["main", *(["zzphase"] if unlisted else [])],
            "split": ["blind"],
            "board": ["main", *(["zzboard"] if unlisted else [])],
            "form": ["csv"],
            "submission": [id for c in challenges for id in self.ids[c]],
            "team": [f"team-{team}" for c in challenges for team in TEAMS[c].values()],
            "name": ["zzitemclips0.mp4"],
            "human": ["da"],
            "campaign": ["dogs"],
        }
