"""Mechanical Turk's own pages: out as files, through a browser, and back as judgments."""

from __future__ import annotations

import csv
import io
import json
import re
import zipfile
from html import unescape
from urllib.parse import parse_qs, urlsplit

import pytest

from reelscore.campaigns.hits.tasks import Hit, Shown, Task
from reelscore.campaigns.pages.organisers.mturk import hits_csv
from reelscore.campaigns.pages.rater_pages import Pages
from reelscore.errors import DataError
from reelscore.web.site import static_file
from support.browser import faults, is_within, press, slide, watch
from support.visits import Visitor, app_over

TURK = "https://turk.example"
RANKED = ("correctness", "relevance", "grammar", "helpful")
FORMS = {
    "direct-assessment": (1, {"adequacy": [50.0]}),
    "ranking": (3, {name: [1, 2, 3] for name in RANKED}),
    "forced-choice": (2, {"correctness": [-1], "relevance": [-1]}),
}
HOSTILE = (
    """</script><script>alert(1)</script><img src=x onerror=alert(2)> ${evil} {{ 7 * 7 }} "'"""
)


def files(owner):
    packed = zipfile.ZipFile(io.BytesIO(owner.get("/organise/c/dogs/mturk.zip").content))
    rows = list(csv.DictReader(io.StringIO(packed.read("hits.csv").decode())))
    return packed.read("page.html").decode(), rows


@pytest.fixture
def owner_of(tmp_path):
    """Make a campaign and its owner."""

    def make(**options):
        visitor = Visitor(app_over(tmp_path, **options))
        visitor.log_in()
        return visitor

    return make


@pytest.fixture
def turk(page, videos):
    """Show a page as Mechanical Turk does: with a row put in, inside its own form."""
    asked = []

    def answer(route):
        url = urlsplit(route.request.url)
        asked.append(f"{url.hostname}{url.path}")
        if url.hostname == "lab.example":
            (file,) = videos.glob(f"{url.path.strip('/')}.*")
            route.fulfill(path=file)
        elif url.path == "/hit":
            route.fulfill(content_type="text/html", body=page.turk)
        else:
            route.fulfill(body="submitted")

    def show(text, row):
        filled = text.replace("${tasks}", row["tasks"])
        assert "${" not in filled
        page.turk = f"<!doctype html><form action='/submit'>{filled}<button>Submit</button></form>"
        page.goto(f"{TURK}/hit")
        return asked

    page.route("**/*", answer)
    return show


def choose(page, protocol):
    """Answer the task on the screen."""
    page.wait_for_selector("#questions:not([disabled])")
    for part in page.locator("fieldset.question").all():
        if protocol == "direct-assessment":
            part.locator("input").click()
        elif protocol == "ranking":
            for slot, row in enumerate(part.locator(".rank").all()):
                row.locator("input").nth(slot).check()
        else:
            part.locator("input").first.check()


def upload(owner, rows, **changes):
    out = io.StringIO()
    given = [
        {
            "HITId": "3X",
            "WorkerId": worker,
            "AssignmentStatus": "Approved",
            "WorkTimeInSeconds": "61",
            "Input.hit": hit,
            "Answer.answers": json.dumps(answers),
        }
        | changes
        for worker, hit, answers in rows
    ]
    writer = csv.DictWriter(out, list(given[0]))
    writer.writeheader()
    writer.writerows(given)
    sent = {"results": ("batch.csv", out.getvalue().encode())}
    return owner.post("/organise/c/dogs/mturk", data={"proof": owner.proof}, files=sent)


@pytest.mark.parametrize("protocol", FORMS)
def test_through_a_browser_and_back(owner_of, page, turk, shoot, protocol):
    captions, answer = FORMS[protocol]
    video_url = "https://lab.example/{item}"
    owner = owner_of(protocol=protocol, captions=captions, tasks=2, pages={"video_url": video_url})
    text, rows = files(owner)
    assert [row["hit"] for row in rows] == ["h0", "h1"]
    asked = turk(text, rows[0])
    for task in range(2):
        assert page.inner_text("#place") == f"Task {task + 1} of 2"
        assert page.inner_text("blockquote >> nth=0") == f"text 0.{task}.0 of a dog"
        assert page.locator("#questions input").first.is_disabled()  # the video comes first
        assert page.inner_text("#hint") == "Watch the video to its end first."
        watch(page)
        choose(page, protocol)
        if task == 0:
            for width in (1280, 390):
                page.set_viewport_size({"width": width, "height": 844})
                assert is_within(page)
                assert [fault for fault in faults(page) if fault[0] not in NOT_OURS] == []
                shoot(page, f"mturk_{protocol}_{width}")
        page.click("#next")
    page.wait_for_selector("text=Press Submit below")
    press(page, "Submit")
    page.wait_for_url("**/submit?*")
    posted = parse_qs(urlsplit(page.url).query)
    assert list(posted) == ["answers"]
    answers = json.loads(posted["answers"][0])
    assert answers == [{"answer": answer, "watched": 1}] * 2
    assert set(asked) == {"turk.example/hit", "turk.example/submit", *VIDEOS}  # nothing else

    assert upload(owner, [("A1", "h0", answers)]).url.path == "/organise/c/dogs"
    campaign = owner.app.state.campaigns.get("dogs")
    judgments = list(campaign.judgments())
    assert len(judgments) == 2 * sum(map(len, answer.values()))
    assert {(row.rater, row.hit, row.status, row.seconds, row.watched) for row in judgments} == {
        ("A1", "h0", "approved", 61.0, 1.0)
    }
    assert campaign.status().done == 1
    assert upload(owner, [("A1", "h0", answers)]).status_code == 422  # not twice


VIDEOS = {"lab.example/clip01", "lab.example/clip02"}
NOT_OURS = ("html-has-lang", "document-title")  # Mechanical Turk's page is around ours


@pytest.mark.parametrize("protocol", [*FORMS, "adequacy-fluency", "preference"])
def test_one_questionnaire(owner_of, protocol):
    """What raters are asked is the same on the served pages, letter by letter."""
    captions = FORMS.get(protocol, (1 if protocol == "adequacy-fluency" else 2,))[0]
    owner = owner_of(protocol=protocol, captions=captions, pages={"numbers": True, "ties": False})
    served = Visitor(owner.app)
    parts = []
    for text in (served.begin().text, files(owner)[0]):
        part = text[text.index('<div class="shown">') : text.index('<p class="hint" id="hint"')]
        part = re.sub(r"(<blockquote[^>]*>)[^<]*", r"\1", part)  # texts come with the HIT
        parts.append(re.sub(r'<form id="task"[^>]*>|<div id="task">', "", part))
    assert parts[0] == parts[1]
    assert 'data-criterion="' in parts[0]


def test_the_script_and_the_style_are_those_of_the_served_pages(owner_of):
    text, _ = files(owner_of(pages={"video_url": "https://lab.example/{item}"}))
    for name in ("task.js", "storage.js", "style.css"):
        source = re.sub(
            r"/\*.*?\*/|^ *//.*?$", "", static_file(name).read_text(), flags=re.S | re.M
        )
        lines = [line.strip().removeprefix("export ") for line in source.splitlines()]
        assert [line for line in lines if line not in text and "import" not in line] == []
    assert text.count('<script type="module">') == text.count("</script>") == 1
    assert not re.search(r"@import|url\(|<link|<script src|https?://", text)
    assert text.isascii()
    assert "1&#215;" in text
    assert "&#" not in text[text.index("<script") :] + text[: text.index("</style>")]


def test_ties_and_numbers(owner_of, page, turk):
    contexts = {f"clip{k:02}": "A dog runs over a field." for k in range(1, 16)}
    pages = {"contexts": contexts, "ties": False}
    text, rows = files(owner_of(protocol="ranking", captions=2, tasks=1, pages=pages))
    turk(text, rows[0])
    assert page.inner_text(".scene") == "A dog runs over a field."
    for name in RANKED:
        for slot in (0, 1):
            page.check(f"input[name={name}-{slot}][value='1']")
    assert page.inner_text("#hint") == "Each text needs a place of its own."
    assert page.locator("#next").is_disabled()


def test_enter_goes_on_and_submits_nothing_early(owner_of, page, turk):
    text, rows = files(owner_of(tasks=2, pages={"numbers": True}))
    turk(text, rows[0])
    slider = page.locator("input[type=range]")
    for number in (1, 2):
        assert page.inner_text("#place") == f"Task {number} of 2"
        slider.focus()
        page.keyboard.press("End")
        assert page.inner_text("output") == "100"
        page.keyboard.press("Enter")
    page.wait_for_selector("text=Press Submit below")
    assert page.url == f"{TURK}/hit"
    assert (
        json.loads(page.input_value("[name=answers]"))
        == [{"answer": {"adequacy": [100]}, "watched": None}] * 2
    )


def test_an_incomplete_hit_is_not_submitted(owner_of, page, turk):
    text, rows = files(owner_of(tasks=1, protocol="forced-choice", captions=2))
    turk(text, rows[0])
    page.locator("input[type=radio]").first.check()  # of two questions
    page.keyboard.press("Enter")
    page.keyboard.press("Tab")
    page.keyboard.press("Enter")
    assert page.inner_text("#hint") == ""
    press(page, "Submit")
    assert page.inner_text("#hint") == "Answer all tasks before you submit."
    assert page.inner_text("#place") == "Task 1 of 1"
    assert page.url == f"{TURK}/hit"


def test_texts_break_out_of_nothing(owner_of, page, turk):
    owner = owner_of(tasks=1, pages={"instructions": HOSTILE, "consent": HOSTILE})
    campaign = owner.app.state.campaigns.get("dogs")
    shown = (Shown("human", HOSTILE),)
    campaign.add_hits([Hit("evil", (Task("t", "clip01", shown),))])
    text, rows = files(owner)
    assert text.count("${") == 1
    assert text.count("</script>") == 1
    dialogs = []
    page.on("dialog", lambda dialog: (dialogs.append(dialog.message), dialog.dismiss()))
    turk(text, rows[-1])
    assert page.inner_text("blockquote") == HOSTILE
    assert page.locator("details p").all_inner_texts() == [HOSTILE, HOSTILE]
    assert page.locator("img").count() == 0
    slide(page, 70)
    page.click("#next")
    page.wait_for_selector("text=Press Submit below")
    assert dialogs == []
    assert unescape("&#36;{evil}") in page.inner_text("details")


def test_pages_of_earlier_versions_sent_answers_alone(owner_of):
    owner = owner_of()
    assert upload(owner, [("A1", "h0", [{"adequacy": [5]}] * 3)]).status_code == 200
    rows = list(owner.app.state.campaigns.get("dogs").judgments())
    assert [(row.score, row.watched) for row in rows] == [(5, None)] * 3


def test_a_hit_that_does_not_fit_beside_the_page():
    task = Task("t", "clip01", (Shown("mine", "a dog " * 5000),))
    assert len(hits_csv([Hit("h1", (task,))], Pages())) > 40_000
    with pytest.raises(DataError, match=r"'h1' takes 7\d,\d{3} bytes with its page; .* 65,535"):
        hits_csv([Hit("h1", (task,))], Pages(), "x" * 30_000)


@pytest.mark.parametrize(
    ("rows", "changes"),
    [
        ([("A1", "h9", [{"adequacy": [5]}] * 3)], {}),
        ([("A1", "h0", [{"adequacy": [5]}] * 2)], {}),
        ([("A1", "h0", [{"adequacy": [500]}] * 3)], {}),
        ([("A1", "h0", [{"answer": {"adequacy": [5]}, "watched": 2}] * 3)], {}),
        ([("A1", "h0", [{"answer": {"adequacy": [5]}, "seen": 1}] * 3)], {}),
        ([("A1", "h0", [{"adequacy": [5]}] * 3)], {"Answer.answers": "{"}),
        ([("A1", "h0", [{"adequacy": [5]}] * 3), ("A2", "h0", [{"adequacy": [5]}] * 3)], {}),
    ],
)
def test_results_that_cannot_be(owner_of, rows, changes):
    owner = owner_of()
    refused = upload(owner, rows, **changes)
    assert refused.status_code == 422
    assert "/tmp" not in refused.text
    assert len(owner.app.state.campaigns.get("dogs").judgments()) == 0
