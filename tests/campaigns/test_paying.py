"""Whom to pay how much, in the forms that crowd services take."""

from __future__ import annotations

import csv
import io
import re

import pytest
from click.testing import CliRunner

from reelscore.campaigns.campaign import Campaign
from reelscore.campaigns.commands.upkeep import pay as command
from reelscore.campaigns.payments import Pay, amounts_csv
from reelscore.campaigns.store.raters import list_taken
from reelscore.web.store.schema import open_database
from support.server import small_campaign
from support.visits import Visitor, app_over

PROLIFIC = "/prolific/dogs?PROLIFIC_PID={0}&STUDY_ID=study&SESSION_ID=s{0}"
MTURK = (
    "/mturk/dogs?assignmentId={1}&hitId=h{1}&workerId={0}&turkSubmitTo=https%3A%2F%2Fwww.mturk.com"
)


def work(app, link, answers=3, skips=()):
    """Let somebody come in, and answer or skip the first tasks of a HIT; tell who it was."""
    visitor = Visitor(app)
    page = visitor.get(link)
    home, key = re.match(r"(/c/dogs(?:/in/([^/]+))?)/", page.url.path).groups()
    signer = app.state.site.signer
    proof = signer.proof(f"in {key}" if key else visitor.cookies["reelscore_browser"])
    if page.url.path.endswith("/instructions"):
        page = visitor.post(f"{home}/instructions", data={"proof": proof})
    assignment = int(page.text.partition('data-assignment="')[2].partition('"')[0])
    for task in range(1, answers + 1):
        if task in skips:
            sent = {"proof": proof, "assignment": assignment, "task": task}
            visitor.post(f"{home}/skip", data=sent)
        else:
            campaign = home.removeprefix("/c/")
            visitor.answer(task, assignment=assignment, campaign=campaign, proof=proof)
    return app.state.campaigns.get("dogs").assignment(assignment).rater


@pytest.fixture
def app(tmp_path):
    pages = {"prolific_code": "C1", "mturk": True, "price": 1.5, "currency": "GBP"}
    return app_over(tmp_path, hits=9, pages=pages)


@pytest.fixture
def owner(app):
    visitor = Visitor(app)
    visitor.log_in()
    return visitor


def rows(text):
    return list(csv.DictReader(io.StringIO(text)))


def test_prolific(app, owner):
    work(app, PROLIFIC.format("pdone"))
    work(app, PROLIFIC.format("ppart"), answers=1)
    work(app, PROLIFIC.format("pskip"), skips=(2,))
    work(app, PROLIFIC.format("pnone"), answers=0)
    work(app, PROLIFIC.format("pmost"), skips=(1, 2))
    rejected = work(app, PROLIFIC.format("pbad"))
    owner.press("/organise/c/dogs/decide", rater=rejected, what="reject", reason="=only 50s")
    approved = owner.get("/organise/c/dogs/pay/prolific-approve")
    assert approved.text == "pdone\npskip\n"
    assert 'filename="dogs-prolific-approve.csv"' in approved.headers["content-disposition"]
    assert owner.get("/organise/c/dogs/pay/prolific-bonus").text == "ppart,0.50\npmost,0.50\n"
    amounts = rows(owner.get("/organise/c/dogs/pay/amounts").text)
    by_worker = {row["worker"]: row for row in amounts}
    assert {name: row["amount"] for name, row in by_worker.items()} == {
        "pdone": "1.50",
        "ppart": "0.50",
        "pskip": "1.50",
        "pnone": "0.00",
        "pmost": "0.50",
        "pbad": "0.00",
    }
    assert by_worker["pdone"]["currency"] == "GBP"
    assert by_worker["pskip"]["skipped"] == "1"
    assert by_worker["pbad"]["rejected"] == "'=only 50s"  # no formula
    owner.press("/organise/c/dogs/decide", rater=rejected, what="pay", reason="was fine")
    assert "pbad" in owner.get("/organise/c/dogs/pay/prolific-approve").text


def test_each_assignment_of_mturk_is_reviewed(app, owner):
    work(app, MTURK.format("W1", "a1"))
    work(app, MTURK.format("W1", "a2"))
    work(app, MTURK.format("W1", "a3"), answers=1)
    bad = work(app, MTURK.format("W2", "b1"))
    owner.press("/organise/c/dogs/decide", rater=bad, what="reject", reason="random answers")
    assert rows(owner.get("/organise/c/dogs/pay/mturk").text) == [
        {"HITId": "ha1", "AssignmentId": "a1", "WorkerId": "W1", "Approve": "x", "Reject": ""},
        {"HITId": "ha2", "AssignmentId": "a2", "WorkerId": "W1", "Approve": "x", "Reject": ""},
        {
            "HITId": "hb1",
            "AssignmentId": "b1",
            "WorkerId": "W2",
            "Approve": "",
            "Reject": "random answers",
        },
    ]
    amounts = rows(owner.get("/organise/c/dogs/pay/amounts").text)
    assert [row["amount"] for row in amounts if row["worker"] == "W1"] == ["3.50"]


def test_what_waits_for_review_is_not_approved(tmp_path):
    pages = {"prolific_code": "C1", "price": 1.5, "review": True}
    app = app_over(tmp_path, pages=pages, clock=lambda: 1_000_000.0)  # no time passes at all
    owner = Visitor(app)
    owner.log_in()
    work(app, PROLIFIC.format("pfast"))
    assert owner.get("/organise/c/dogs/pay/prolific-approve").text == ""
    (row,) = rows(owner.get("/organise/c/dogs/pay/amounts").text)
    assert (row["to review"], row["amount"]) == ("1", "1.50")
    owner.press("/organise/c/dogs/review/1", verdict="approve")
    assert owner.get("/organise/c/dogs/pay/prolific-approve").text == "pfast\n"
    owner.press("/organise/c/dogs/review/1", verdict="reject", reason="a program")
    (row,) = rows(owner.get("/organise/c/dogs/pay/amounts").text)
    assert (row["rejected"], row["amount"]) == ("HIT h0: a program", "0.00")


def test_by_the_command(app, owner, tmp_path):
    work(app, PROLIFIC.format("pdone"))
    work(app, PROLIFIC.format("ppart"), answers=1)
    database, file = str(tmp_path / "dogs.db"), tmp_path / "amounts.csv"
    run = CliRunner().invoke
    assert run(command, [database, "--format", "prolific-approve"]).output == "pdone\n"
    assert run(command, [database, str(file)]).exit_code == 0
    assert sorted(row["amount"] for row in rows(file.read_text())) == ["0.50", "1.50"]
    assert file.stat().st_mode & 0o077 == 0
    said = run(command, [database, "--price", "3", "--whole"]).output
    assert sorted(row["amount"] for row in rows(said)) == ["0.00", "3.00"]
    assert owner.get("/organise/c/dogs/pay/nonsense").status_code == 404


def test_a_campaign_that_was_never_served(tmp_path):
    small_campaign(tmp_path / "dogs.db", tasks=1, hits=1)
    with Campaign.open(tmp_path / "dogs.db") as campaign:
        held = campaign.claim("anna")
        campaign.submit(held.id, "anna", "t0-0", {"adequacy": [5]})
    ran = CliRunner().invoke(command, [str(tmp_path / "dogs.db")])
    assert "The price of a HIT is 0" in ran.output
    assert "anna,,,1,1,1,0,0,0.00,USD," in ran.output


def test_databases_of_before_keep_the_last_submission(tmp_path):
    """The tables of the first version, as they were, with one rater at a HIT."""
    app = app_over(tmp_path, pages={"prolific_code": "C1"})
    work(app, PROLIFIC.format("p1"))
    database = app.state.site.database
    with database.writing() as connection:
        connection.exec_driver_sql("DROP TABLE web_submission")
        connection.exec_driver_sql("DROP TABLE web_ended_session")
        connection.exec_driver_sql("DROP TABLE web_claim")
        connection.exec_driver_sql("UPDATE web_schema SET version_num = '1'")
    open_database(str(tmp_path / "dogs.db")).close()
    (job,) = list_taken(app.state.campaigns.get("dogs"))
    assert (job.worker, job.study, job.session) == ("p1", "study", "sp1")
    assert "p1,1,1,3,0,0,2.00,EUR" in amounts_csv([job], Pay(2.0, "EUR", reviewed=False))
