"""No page, route, file or log of a challenge shows what its viewer may not see.

References, captions, scores, names and addresses carry marks. A crawler opens every page and every
route of the description, with every id that there is, as seven viewers and at four moments, takes
exports and archives along, and searches all of each reply, what is wrapped or compressed included.
What the table below allows must be found, everything else must not. Planted leaks prove the search.
"""

from __future__ import annotations

import base64
import bz2
import gzip
import io
import itertools
import lzma
import re
import struct
import zipfile
from pathlib import Path
from types import SimpleNamespace

import pytest

from reelscore.challenges import pages as challenge_pages
from reelscore.challenges import permissions
from reelscore.challenges.views import View
from support.challenge_data import export
from support.challenges import REVEALS
from support.leak_search import marks_in, number_mark, reply_content, text_mark
from support.leak_stage import MOMENTS, Stage
from support.visits import Visitor

VIEWERS = ("visitor", "rater", "other", "own", "assistant", "owner")
SHORT = {("visitor", "before"), ("other", "during"), ("own", "after"), ("owner", "during"),
         ("judge", "after"), ("visitor", "revealed"), ("assistant", "revealed")}  # fmt: skip
# people judge entries of a blind split when its phase is over
ALL = [*itertools.product(VIEWERS, MOMENTS), ("judge", "after"), ("judge", "revealed")]
ORGANISERS = ("assistant", "owner")


def nobody(_viewer, _moment):
    return False


def only(*viewers):
    """Some viewers and the organisers, at any time."""
    return lambda viewer, _: viewer in (*viewers, *ORGANISERS)


def at(moments, *viewers):
    """Some viewers and the organisers at any time, everybody at some moments."""
    return lambda viewer, moment: viewer in (*viewers, *ORGANISERS) or moment in moments


def perhaps(rule, *viewers):
    """A rule, and viewers who may see it, but do not find it on every walk: None."""
    return lambda viewer, moment: None if viewer in viewers else rule(viewer, moment)


OPENED = ("during", "after", "revealed")
# The table of who may see what, as far as it can be told by what is found: everything that is
# allowed is somewhere, and nothing else is anywhere.
TABLE = {
    "zzreferenceclips": nobody,  # references of blind splits
    # but for those of the sample that people judge by, which goes to raters
    "disclosed": lambda viewer, _: viewer == "judge",
    "item_scores": nobody,  # of a blind split
    "scores": at(("revealed",)),  # of a blind split that hides them until the reveal
    "exact_rounded": only(),  # of a blind split of which everybody is told rounded scores
    "exact_ladder": only(),  # the same, by the Ladder
    "people": only(),  # the column of a human evaluation that is not published
    "zzreferenceopen": lambda _, moment: moment in OPENED,  # a public split, references "open"
    "zzitemclips": at(OPENED),  # ids of items
    # captions that are not published; raters see some of those that they judge
    "zzcaptionstrong": perhaps(only("own"), "judge"),
    "zzcaptionweak": perhaps(only("other"), "judge"),
    "zzcaptionfort": only("own"),
    "zzcaptionfaible": only("other"),
    "zzcaptionforte": only("own"),
    "zzcaptiondebole": only("other"),
    "zzcaptionstark": at(("revealed",), "own"),  # captions that are
    "zzcaptionschwach": at(("revealed",), "other"),
    "zznameown": at(OPENED, "own"),  # a team that agrees to be named, on its board
    "zznameother": only("other"),
    "zzcontactown": only("own"),
    "zzcontactother": only("other"),
    "zzreasonown": only("own"),  # of decisions about a team, in the log
    "zzreasonother": only("other"),
    "zzmessageown": only("own"),  # of a job that failed
    "zzmessageother": only("other"),
    "zzrefusalown": perhaps(nobody, "own", *ORGANISERS),  # of a file, said once
    "zzrefusalother": perhaps(nobody, "other", *ORGANISERS),
    "zzphase": only("own"),  # a phase that is not listed: own is invited
    "zzboard": only("own"),
    "zzpeople": only("own"),  # its human evaluation, which decides the award
}


@pytest.fixture(scope="module")
def stage(tmp_path_factory):
    stage = Stage(tmp_path_factory.mktemp("leaks"))
    yield stage
    stage.close()


@pytest.fixture(scope="module")
def marks(stage):
    return stage.marks()


@pytest.fixture
def visited(stage, tmp_path, full):
    """A stage, and one of its own where everything is tried: some requests change it."""
    if not full:
        yield stage
        return
    own = Stage(tmp_path)
    yield own
    own.close()


def searched(stage, marks, viewer, moment, *, everything):
    """Crawl, and give the marks that were found, each with the first place, and the counts."""
    found, counts = {}, {"routes": set(), "replies": 0, "pages": 0}
    for route, path, reply in stage.crawl(viewer, moment, everything=everything):
        assert reply.status_code < 500, (path, reply.text)
        counts["routes"].add(route)
        counts["replies"] += 1
        counts["pages"] += reply.status_code == 200
        for part in reply_content(reply):
            for name in marks_in(part, marks):
                # the address that was asked for may come back
                if name.encode() not in path.encode() or reply.status_code == 200:
                    found.setdefault(name, path)
        if re.search(r"/(boards/\w+|submissions/\w+)/items$|/report/blind$", path):
            blind = re.search(r"/(clips|rounded|ladder)/", path)
            assert not blind or reply.status_code in (303, 401, 403, 404), path
    return found, counts


@pytest.mark.parametrize(("viewer", "moment"), ALL)
def test_everybody_finds_what_they_may_see_and_nothing_else(visited, viewer, moment, full):
    if not full and (viewer, moment) not in SHORT:
        pytest.skip("all viewers and moments are tried with --full")
    stage, marks = visited, visited.marks()
    found, counts = searched(stage, marks, viewer, moment, everything=full)
    rules = {name: rule(viewer, moment) for name, rule in TABLE.items()}
    hidden = {name: path for name, path in found.items() if rules[name] is False}
    assert hidden == {}
    assert {name for name, allowed in rules.items() if allowed} - found.keys() == set()
    assert counts["pages"] > 15
    print(viewer, moment, len(counts["routes"]), "routes", counts["replies"], "replies",
          counts["pages"], "pages", len(hidden), "findings")  # fmt: skip
    log = stage.log.getvalue().encode()
    assert b'"route"' in log
    assert marks_in(log, marks) == set()


def test_the_table_has_every_mark(marks):
    assert set(marks) == set(TABLE)


def test_a_refused_file_and_an_accepted_one_tell_nothing_of_references(stage, marks):
    stage.moment = MOMENTS["during"]
    program = {"authorization": f"Bearer {stage.tokens['own']}"}
    browser = Visitor(stage.app)
    for content in (b"{}", b"[", b'{"zzitemclips1": "a zz"}', b'{"x": 1}', b"\xff\x00"):
        for what in ("check", "submissions"):
            path = f"/api/v1/challenges/clips/phases/main/{what}"
            reply = browser.post(path, files={"file": ("f", content)}, headers=program)
            assert reply.status_code == 422
            found = {name for part in reply_content(reply) for name in marks_in(part, marks)}
            assert found <= {"zzitemclips"}


def test_a_defect_tells_nothing(stage, marks, monkeypatch):
    """Neither the page nor the log holds the message of an error, which may quote anything."""

    def broken(*_):
        raise RuntimeError(marks["zzreferenceclips"][0].decode())

    monkeypatch.setattr(View, "board", broken)
    stage.moment = MOMENTS["during"]
    for path in ("/challenges/clips/boards/main", "/api/v1/challenges/clips/boards/main"):
        reply = Visitor(stage.app).get(path)
        assert reply.status_code == 500
        assert marks_in(b"".join(reply_content(reply)), marks) == set()
    log = stage.log.getvalue().encode()
    assert b"RuntimeError" in log
    assert marks_in(log, marks) == set()


PLANTED = {
    "references": ({"zzreferenceclips"}, "/challenges/clips/data/main/blind/references.json"),
    "captions": ({"zzcaptionstrong"}, "/api/v1/submissions/sub0000001/file"),
    "board": ({"exact_ladder"}, "/api/v1/challenges/ladder/boards/main"),
    "job": ({"zzmessageown"}, "/api/v1/challenges/clips/submissions"),
    "human": ({"people"}, "/api/v1/challenges/clips/boards/main"),
}


@pytest.mark.parametrize("what", PLANTED)
def test_planted_leaks_are_found(stage, marks, monkeypatch, what, full):
    monkeypatch.setitem(permissions.RULES, (what, "blind"), (lambda _: "everything",) * 5)
    if what == "job":  # of others, only what is on a board is ever shown
        monkeypatch.setattr(View, "sees_state", lambda *_: True)
    planted, path = PLANTED[what]
    stage.moment = MOMENTS["revealed"]
    program = {"authorization": f"Bearer {stage.tokens['other']}"}
    assert planted <= marks_in(Visitor(stage.app).get(path, headers=program).content, marks)
    if full:  # the crawler comes there by itself
        found, _ = searched(stage, marks, "other", "revealed", everything=False)
        assert planted <= found.keys()


def test_a_planted_leak_of_item_scores_is_found(stage, marks, monkeypatch):
    """The crawler refuses to get any reply about items of a blind split; so this asks itself."""
    monkeypatch.setitem(permissions.RULES, ("item_scores", "blind"), (lambda _: "everything",) * 5)
    stage.moment = MOMENTS["revealed"]
    program = {"authorization": f"Bearer {stage.tokens['other']}"}
    path = f"/api/v1/submissions/{stage.submissions['own'][0]}/items"
    assert "item_scores" in marks_in(Visitor(stage.app).get(path, headers=program).content, marks)


def test_a_rater_learns_neither_teams_nor_that_there_is_a_challenge(stage, marks):
    stage.moment = MOMENTS["after"]
    judge = stage.browser("judge")
    pages = [judge.get(f"/c/{stage.campaign}/{page}") for page in ("task/1", "instructions")]
    assert "disclosed" in marks_in(pages[0].content, marks)  # the reference that they compare with
    for page in pages:
        assert page.status_code == 200
        for word in ("Ten clips", "/challenges", "team-", *stage.ids["clips"]):
            assert word not in page.text, word


def test_planted_leaks_in_files_are_found(stage, marks, tmp_path):
    """A whole export has item scores as NumPy keeps them, compressed; the console's has not."""
    path = tmp_path / "whole.zip"
    for options, expected in (
        ({"blind_items": False}, set()),
        ({}, {"item_scores"}),
        ({"references": True}, {"item_scores", "zzreferenceclips"}),
        ({"addresses": True}, {"item_scores", "zzcontactown", "zzcontactother"}),
    ):
        export(stage.site.database, "clips", path, now=REVEALS, **options)
        found = marks_in(path.read_bytes(), marks)
        secret = {"item_scores", "zzreferenceclips", "zzcontactown", "zzcontactother"}
        assert found & secret == expected


def test_a_planted_phase_is_found(stage, marks, monkeypatch):
    shown = View.__init__

    def careless(self, *arguments, **options):
        shown(self, *arguments, **options)
        self.definition = self.challenge.definition

    monkeypatch.setattr(View, "__init__", careless)
    stage.moment = MOMENTS["during"]
    reply = Visitor(stage.app).get("/challenges/clips/rules")
    assert {"zzphase", "zzpeople"} <= marks_in(reply.content, marks)


def wrapped(content):
    """A text in every wrapping that the search knows, and some around others."""
    packed = io.BytesIO()
    with zipfile.ZipFile(packed, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("a.txt", gzip.compress(content))
    yield packed.getvalue()
    for pack in (gzip.compress, bz2.compress, lzma.compress):
        yield pack(content)
        yield b"data:" + base64.b64encode(pack(content))
    yield b"<script>" + base64.urlsafe_b64encode(gzip.compress(content * 3)) + b"</script>"
    yield b"".join(b"%%%02x" % byte for byte in content)
    if content.isascii():
        yield b"".join(b"&#%d;" % byte for byte in content)


def test_wrapped_leaks_are_found():
    marks = {"word": text_mark("zzreference"), "number": number_mark(0.12345678901)}
    for content, expected in (
        (b"a zzreference3 in a page", {"word"}),
        (b"packed " + struct.pack("<d", 0.12345678901) + b" by NumPy", {"number"}),
        (b"score 0.12345678 and more", {"number"}),
        (b"nothing of that kind in here", set()),
    ):
        for form in wrapped(content):
            assert marks_in(form, marks) == expected, form
    note = base64.b64encode(b"a zzreference3 in a header").decode()
    reply = SimpleNamespace(headers={"x-note": note}, content=b"")
    assert {name for part in reply_content(reply) for name in marks_in(part, marks)} == {"word"}


def test_pages_read_no_table_themselves():
    files = list(Path(challenge_pages.__file__).parent.glob("*.py"))
    assert len(files) > 10
    for file in files:
        assert not re.search(r"sqlalchemy|challenges\.store|job_results", file.read_text()), file
