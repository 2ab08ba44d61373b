"""Mechanical Turk's own pages: out as files, through a browser, and back as judgments."""

from __future__ import annotations

import csv
import io
import json
import zipfile

import pytest
from visiting import Visitor, app_over

RANKED = ("correctness", "relevance", "grammar", "helpful")
FORMS = {
    "direct-assessment": (1, {"adequacy": [50.0]}),
    "ranking": (
        3,
        {name: [1, 2, 3] for name in ("correctness", "relevance", "grammar", "helpful")},
    ),
    "forced-choice": (2, {"correctness": [-1], "relevance": [-1]}),
}


def files(owner):
    packed = zipfile.ZipFile(io.BytesIO(owner.get("/organise/c/dogs/mturk.zip").content))
    rows = list(csv.DictReader(io.StringIO(packed.read("hits.csv").decode())))
    return packed.read("page.html").decode(), rows


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
def test_through_a_browser_and_back(tmp_path, page, protocol):
    captions, answer = FORMS[protocol]
    app = app_over(tmp_path, protocol=protocol, captions=captions, tasks=2)
    owner = Visitor(app)
    owner.log_in()
    text, rows = files(owner)
    assert [row["hit"] for row in rows] == ["h0", "h1"]
    page.set_content(f"<form>{text.replace('${tasks}', rows[0]['tasks'])}</form>")
    for task in range(2):
        assert page.inner_text("blockquote >> nth=0") == f"text 0.{task}.0 of a dog"
        assert page.locator("#next").is_disabled()
        for part in page.locator("fieldset").all():
            if protocol == "direct-assessment":
                part.locator("input").click()
            elif protocol == "ranking":
                for slot, row in enumerate(part.locator(".rank").all()):
                    row.locator("input").nth(slot).check()
            else:
                part.locator("input").first.check()
        page.click("#next")
    page.wait_for_selector("text=Press Submit below")
    answers = json.loads(page.input_value("#answers"))
    assert answers == [answer, answer]

    assert upload(owner, [("A1", "h0", answers)]).url.path == "/organise/c/dogs"
    campaign = app.state.site.campaigns.get("dogs")
    found = list(campaign.judgments())
    assert len(found) == 2 * sum(map(len, answer.values()))
    assert {(row.rater, row.hit, row.status, row.seconds) for row in found} == {
        ("A1", "h0", "approved", 61.0)
    }
    assert campaign.status().done == 1
    assert upload(owner, [("A1", "h0", answers)]).status_code == 422  # not twice


@pytest.mark.parametrize(
    ("rows", "changes"),
    [
        ([("A1", "h9", [{"adequacy": [5]}] * 3)], {}),
        ([("A1", "h0", [{"adequacy": [5]}] * 2)], {}),
        ([("A1", "h0", [{"adequacy": [500]}] * 3)], {}),
        ([("A1", "h0", [{"adequacy": [5]}] * 3)], {"Answer.answers": "{"}),
        ([("A1", "h0", [{"adequacy": [5]}] * 3), ("A2", "h0", [{"adequacy": [5]}] * 3)], {}),
    ],
)
def test_results_that_cannot_be(tmp_path, rows, changes):
    app = app_over(tmp_path)
    owner = Visitor(app)
    owner.log_in()
    refused = upload(owner, rows, **changes)
    assert refused.status_code == 422
    assert "/tmp" not in refused.text
    assert len(app.state.site.campaigns.get("dogs").judgments()) == 0
