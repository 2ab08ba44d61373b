"""The report of one submission: for its team and organisers, on public and on blind splits."""

from __future__ import annotations

import re

import pytest

from reelscore.challenge.workers import Workers
from support.arena import HERE, At, Participant, arena_app
from support.challenge_data import captions
from support.visits import Visitor


@pytest.fixture
def app(tmp_path, request):
    choices = getattr(request, "param", {})
    with arena_app(tmp_path, At(), **choices) as app:
        yield app


@pytest.fixture
def submission(app, member):
    page = member.hand_in(captions(), method="<b>ours</b>", link="https://lab.example")
    Workers(app.state.site.arena, 1).run_until_idle()
    return f"{HERE}/submissions/{re.search(r'/submissions/([a-z0-9]{10})', page.text)[1]}"


def test_a_report_has_scores_with_intervals_words_and_signatures(member, submission):
    assert f'href="{submission}"' in member.get(f"{HERE}/mine").text
    page = member.get(submission)
    assert page.status_code == 200
    text = re.sub(r"<[^>]+>", " ", page.text)
    assert re.search(r"CIDEr\s+[\d.]+\s+[\d.]+ to [\d.]+", text)
    assert re.search(r"different captions, of all\s+[\d.]+ %", text)
    assert "cider|" in text
    assert "&lt;b&gt;ours" in page.text
    assert 'href="https://lab.example"' in page.text
    assert "Items, one by one" not in page.text  # the split is blind
    assert "nobody learns anything" in text
    assert page.headers["x-quota-phase"] == "main"


def test_a_report_is_for_the_team_and_for_organisers(app, member, submission, assistant):
    assert Visitor(app).get(submission).url.path == "/account/login"
    other = Participant(app)
    other.register("sam")
    assert other.get(submission).status_code == 404
    other.make_team("Theirs")
    assert other.get(submission).status_code == 404
    assert member.get(f"{HERE}/submissions/aaaaaaaaaa").status_code == 404
    assert f'href="{submission}"' in assistant.get(f"{HERE}/console").text
    assert "CIDEr" in assistant.get(submission).text


@pytest.mark.parametrize("app", [{"feedback": 'test = "reveal"'}], indirect=True)
def test_a_report_before_the_reveal_has_the_words_alone(member, submission):
    text = re.sub(r"<[^>]+>", " ", member.get(submission).text)
    assert "They are not shown yet" in text
    assert "CIDEr" not in text
    assert re.search(r"different words\s+\d+", text)


def test_organisers_find_the_way_between_campaigns_and_challenges(app, owner):
    assert 'href="/challenges"' in owner.get("/organise").text
    page = owner.get(f"{HERE}/console").text
    assert 'href="/organise"' in page
    assert 'href="/organise/people"' in page
    assert 'href="/organise"' not in Visitor(app).get(HERE).text


def test_the_log_and_the_console_name_teams(member, owner, submission):
    for path in ("log", "console"):
        text = re.sub(r"<[^>]+>", " ", owner.get(f"{HERE}/{path}").text)
        assert re.search(r"team\s+Ours", text), path
