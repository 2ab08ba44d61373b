"""Instructions, practice, comprehension check: in order, once, and with two attempts."""

from __future__ import annotations

import pytest

from reelscore.campaigns.protocols import PROTOCOLS
from support.visits import Visitor, app_over

CHECK = [{"question": "What is judged?", "choices": ["the video", "the text"], "right": 1}]


def test_order_of_steps(tmp_path):
    app = app_over(tmp_path, pages={"practice": None, "check": CHECK})
    visitor = Visitor(app)
    assert visitor.press(visitor.invited()).url.path == "/c/dogs/instructions"
    assert visitor.get("/c/dogs/work").url.path == "/c/dogs/instructions"
    assert visitor.get("/c/dogs/task/1").url.path == "/c/dogs/instructions"
    assert visitor.press("/c/dogs/instructions").url.path == "/c/dogs/practice"
    good = {"answer": '{"adequacy": [90]}'}
    assert "Good answer" in visitor.press("/c/dogs/practice", number=0, **good).text
    twice = visitor.press("/c/dogs/practice", number=0, **good)
    assert "Practice 2 of 2" in twice.text  # a second press does not skip one
    assert "differently" in visitor.press("/c/dogs/practice", number=1, **good).text
    assert visitor.get("/c/dogs/").url.path == "/c/dogs/check"
    assert app.state.campaigns.get("dogs").status().held == 0  # no HIT before all is done
    assert visitor.press("/c/dogs/check", choice=1).url.path == "/c/dogs/task/1"


def test_two_attempts(tmp_path):
    pages = {"check": CHECK, "prolific_code": "CDONE", "screen_out_code": "COUT"}
    app = app_over(tmp_path, pages=pages)
    visitor = Visitor(app)
    visitor.get("/prolific/dogs?PROLIFIC_PID=p1&STUDY_ID=s&SESSION_ID=x")
    visitor.press("/c/dogs/instructions")
    assert "one more" in visitor.press("/c/dogs/check", choice=0).text
    out = visitor.press("/c/dogs/check", choice=0)
    assert out.url.path == "/c/dogs/finish"
    assert "cc=COUT" in out.text
    assert visitor.press("/c/dogs/check", choice=1).url.path == "/c/dogs/finish"
    assert visitor.get("/c/dogs/work").url.path == "/c/dogs/finish"
    assert visitor.answer().status_code == 403


@pytest.mark.parametrize("answer", ["", "[]", "{", '{"adequacy": ["x"]}', '{"adequacy": [101]}'])
def test_practice_refuses_what_is_no_answer(tmp_path, answer):
    visitor = Visitor(app_over(tmp_path, pages={"practice": None}))
    visitor.begin()
    sent = visitor.press("/c/dogs/practice", number=0, answer=answer)
    assert sent.status_code == 422


def test_published_protocols_ask_what_they_asked():
    """Campaigns keep a protocol by its name: with other criteria, open ones refuse all answers."""
    asked = {name: [each.name for each in own.criteria] for name, own in PROTOCOLS.items()}
    published = {
        "direct-assessment": ["adequacy"],
        "adequacy-fluency": ["adequacy", "fluency"],
        "ranking": ["correctness", "relevance", "grammar", "helpful"],
        "against-reference": ["helpful"],
        "forced-choice": ["correctness", "relevance"],
        "preference": ["story"],
    }
    assert {name: asked[name] for name in published} == published


@pytest.mark.parametrize("protocol", PROTOCOLS)
def test_every_protocol_has_a_practice_that_fits_it(protocol):
    asked = PROTOCOLS[protocol]
    assert asked.practice
    for practice in asked.practice:
        criteria = {criterion.name for criterion in asked.criteria}
        assert set(practice.expected) <= criteria
        count = len(practice.captions) if asked.form == "ranking" else 1
        middle = dict.fromkeys(criteria, [1.0] * count)
        for name, ranges in practice.expected.items():
            assert len(ranges) == count
            middle[name] = [high for _, high in ranges]
        asked.check(middle, len(practice.captions))
        assert practice.is_fine(middle)
