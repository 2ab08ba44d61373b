"""The report of one submission: for its team and organisers, on public and on blind splits."""

from __future__ import annotations

import json
import re

import pytest

from reelscore import examples
from reelscore.challenges.challenge import Challenges
from reelscore.challenges.people.teams import add_team
from reelscore.challenges.queue.workers import Workers
from reelscore.challenges.store.tables import open_challenges
from reelscore.challenges.submissions import Upload, hand_in
from reelscore.challenges.updates import make_challenge
from reelscore.challenges.uploads.uploads import Readers
from reelscore.data.story_files import read_stories
from reelscore.web.app import create_app
from reelscore.web.settings import Settings
from support.challenge_data import START, captions, challenge_text
from support.challenge_server import HERE, At, Participant, challenge_app
from support.report_payload import decoded
from support.server import SECRET
from support.visits import Visitor


@pytest.fixture
def app(tmp_path, request):
    choices = getattr(request, "param", {})
    with challenge_app(tmp_path, At(), **choices) as app:
        yield app


@pytest.fixture
def submission(app, member):
    page = member.hand_in(captions(), method="<b>ours</b>", link="https://lab.example")
    Workers(app.state.challenges.challenges, 1).run_until_idle()
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
    assert "are shown to nobody" in text


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


def told_stories(folder, visibility, score):
    """Make an app over a challenge of stories that is over, with an entry; give a visitor of it."""
    scores = "activitynet" if "anet" in score else score
    text = challenge_text(
        "stories",
        "Stories",
        challenge='references = "open"',
        split="val",
        visibility=visibility,
        references='kind = "stories"\nreferences = ["annotator_1.json", "annotator_2.json"]',
        scoring=f"""scores = ["{scores}"]
metrics = ["meteor"]
protocol = {{ annotators = "mean" }}""",
        primary=score,
        more="[publish]\ncaptions = true\nitems = true",
    )
    (folder / "s.toml").write_text(text)
    for name in ("annotator_1.json", "annotator_2.json"):
        (folder / name).write_bytes(examples.path(f"stories/{name}").read_bytes())
    place = str(folder / "s.db")
    with open_challenges(place, create=True) as database:
        challenges, readers = Challenges(database, lambda _: START), Readers(1)
        make_challenge(challenges, folder / "s.toml")
        challenge = challenges.find()
        upload = Upload("run.json", json.dumps(examples.stories()[0]["concise"]).encode())
        hand_in(challenge, readers, "main", add_team(challenge, "Ours"), upload)
        readers.close()
        Workers(challenges, 1).run_until_idle()
    clock = At()
    clock.moment = START + 10**13
    return Visitor(create_app(Settings(place, secret=SECRET, clock=clock)))


@pytest.mark.parametrize("score", ["soda_c", "anet_meteor"])
def test_stories_of_public_splits_have_references_and_timelines(tmp_path, score):
    visitor, here = told_stories(tmp_path, "public", score), "/challenges/stories"
    links = re.findall(r'href="([^"]+references.json[^"]*)"', visitor.get(f"{here}/data").text)
    assert len(links) == 2
    for number, link in enumerate(links, start=1):
        (tmp_path / "got.json").write_bytes(visitor.get(link).content)
        got, own = (
            read_stories(tmp_path / "got.json"),
            read_stories(tmp_path / f"annotator_{number}.json"),
        )
        assert {v: (s.sentences, s.segments.tolist(), s.duration) for v, s in got.items()} == {
            v: (s.sentences, s.segments.tolist(), s.duration) for v, s in own.items()
        }
    assert visitor.get(links[0].replace("=1", "=3")).status_code == 404
    assert f'href="{here}/boards/val/items"' in visitor.get(f"{here}/boards/val").text
    page = visitor.get(f"{here}/boards/val/items")
    assert page.status_code == 200
    head, columns = decoded(re.search(r'id="data">([^<]*)<', page.text)[1])
    assert head["systems"] == ["Ours"]
    assert "annotator 2" in str(head)
    told = examples.stories()[0]["concise"]["results"].values()
    sentences = {row["sentence"] for rows in told for row in rows}
    assert sentences <= set(columns["story sentences"])


def test_stories_of_blind_splits_have_neither(tmp_path):
    visitor, here = told_stories(tmp_path, "blind", "soda_c"), "/challenges/stories"
    assert "references.json" not in visitor.get(f"{here}/data").text
    for place in ("data/main/val/references.json", "boards/val/items"):
        assert visitor.get(f"{here}/{place}").status_code == 404
    assert visitor.get(f"{here}/boards/val").status_code == 200
