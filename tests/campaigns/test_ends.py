"""Every way to end, from every service, leads home."""

from __future__ import annotations

import re

import pytest

from support.visits import Visitor, app_over

CHECK = [{"question": "What is judged?", "choices": ["the video", "the text"], "right": 1}]
CODES = {
    "no_consent_code": "CNOCONSENT",
    "screen_out_code": "CSCREENED",
    "no_work_code": "CNOWORK",
    "timed_out_code": "CTIMEDOUT",
    "partial_code": "CPARTIAL",
    "stopped_code": "CSTOPPED",
    "review_code": "CREVIEW",
    "rejected_code": "CREJECTED",
}
WAYS_IN = {
    "prolific": "/prolific/dogs?PROLIFIC_PID=p{k}&STUDY_ID=s&SESSION_ID=x{k}",
    "mturk": "/mturk/dogs?assignmentId=a{k}&hitId=h{k}&workerId=W{k}"
    "&turkSubmitTo=https%3A%2F%2Fwww.mturk.com",
    "open": "/join/dogs",
}


class Walk:
    """A rater on the way to an end."""

    def __init__(self, folder, service, codes):
        self.now = [1_000_000.0]
        pages = {"open": True, "mturk": True, "prolific_code": "CDONE", "check": CHECK}
        pages |= {"review": True, **codes}
        self.app = app_over(folder, hits=1, pages=pages, clock=lambda: self.now[0])
        self.campaign = self.app.state.campaigns.get("dogs")
        self.visitor = self.enter(service, 1)

    def enter(self, service, k):
        visitor = Visitor(self.app)
        if service in ("prolific", "mturk"):
            page = visitor.get(WAYS_IN[service].format(k=k))
        else:
            page = visitor.press("/join/dogs" if service == "open" else visitor.invited())
        visitor.home = page.url.path.removesuffix("/instructions")
        visitor.token = re.search(r'name="proof" value="([^"]+)"', page.text)[1]
        return visitor

    def press(self, page, visitor=None, **fields):
        visitor = visitor or self.visitor
        return visitor.post(f"{visitor.home}/{page}", data={"proof": visitor.token, **fields})

    def work(self):
        return self.visitor.get(f"{self.visitor.home}/work")

    def begin(self, visitor=None, right=1):
        self.press("instructions", visitor)
        return self.press("check", visitor, choice=right)

    def answer(self, task=1):
        sent = {"assignment": 1, "task": task, "answer": {"adequacy": [50]}, "seen": 1.0}
        sent |= {"started": self.now[0] - 5, "submitted": self.now[0]}
        headers = {"x-form-proof": self.visitor.token}
        reply = self.visitor.post(f"{self.visitor.home}/answers", json=sent, headers=headers)
        assert reply.status_code == 200, reply.text

    def set_state(self, state):
        self.campaign.set_state(state, actor="me")


def declined(walk):
    return walk.press("decline")


def screened_out(walk):
    walk.begin(right=0)
    return walk.press("check", choice=0)


def no_work(walk):
    walk.begin(walk.enter("link", 2))  # takes the only HIT
    return walk.begin()


def not_open(walk):
    walk.set_state("paused")
    return walk.begin()


def timed_out(walk):
    walk.begin()
    walk.answer()
    walk.now[0] += walk.campaign.terms.hold + 1
    walk.begin(walk.enter("link", 2))
    return walk.work()


def partial(walk):
    walk.begin()
    walk.answer()
    return walk.press("return")


def paused(walk):
    walk.begin()
    walk.answer()
    walk.now[0] += walk.campaign.terms.hold + 1
    walk.campaign.release_abandoned()
    walk.set_state("paused")
    return walk.work()


def closed(walk):
    walk.begin()
    walk.answer()
    walk.set_state("closed")
    return walk.work()


def excluded(walk):
    walk.begin()
    walk.answer()
    rater = walk.campaign.assignment(1).rater
    walk.campaign.decide("exclude", rater, actor="me", reason="test")
    return walk.work()


def too_fast(walk):
    walk.begin()
    for task in (1, 2, 3):
        walk.visitor.get(f"{walk.visitor.home}/task/{task}")
        walk.answer(task)
    return walk.work()


def rejected(walk):
    too_fast(walk)
    walk.campaign.review(1, "reject", actor="me", reason="a program")
    return walk.work()


ENDS = {
    too_fast: "CREVIEW",
    rejected: "CREJECTED",
    declined: "CNOCONSENT",
    screened_out: "CSCREENED",
    no_work: "CNOWORK",
    not_open: "CNOWORK",
    timed_out: "CTIMEDOUT",
    partial: "CPARTIAL",
    paused: "CSTOPPED",
    closed: "CSTOPPED",
    excluded: "CSTOPPED",
}
WITH_ANSWERS = (too_fast, timed_out, partial, paused, closed, excluded)


def home(page):
    """Give the part of a page that leads home."""
    return page.text.partition('id="home"')[2].partition("</div>")[0]


@pytest.mark.parametrize("end", ENDS, ids=lambda end: end.__name__)
def test_prolific_gets_the_code_of_the_end(tmp_path, end):
    page = end(Walk(tmp_path, "prolific", CODES))
    assert f'href="https://app.prolific.com/submissions/complete?cc={ENDS[end]}"' in home(page)
    assert f'class="code">{ENDS[end]}<' in home(page)


@pytest.mark.parametrize("end", ENDS, ids=lambda end: end.__name__)
def test_prolific_without_codes_is_asked_to_return(tmp_path, end):
    page = end(Walk(tmp_path, "prolific", {}))
    assert "return" in home(page)
    assert 'href="https://app.prolific.com/"' in home(page)
    assert "CDONE" not in page.text  # nobody is paid in full for a part
    kept = re.search(r"Your (answer is|3 answers are) kept", page.text)
    assert bool(kept) == (end in WITH_ANSWERS)


@pytest.mark.parametrize("end", ENDS, ids=lambda end: end.__name__)
def test_mturk_submits_what_there_is_or_returns(tmp_path, end):
    page = end(Walk(tmp_path, "mturk", {}))
    if end in WITH_ANSWERS:
        assert 'action="https://www.mturk.com/mturk/externalSubmit"' in home(page)
        assert 'name="assignmentId" value="a1"' in home(page)
        assert re.search(r'name="answers" value="[13]"', home(page))
    else:
        assert "return the HIT" in home(page)


@pytest.mark.parametrize("service", ["link", "open"])
@pytest.mark.parametrize("end", ENDS, ids=lambda end: end.__name__)
def test_others_may_close_the_page(tmp_path, end, service):
    assert "You may close this page" in home(end(Walk(tmp_path, service, {})))


def test_a_task_of_a_closed_campaign_is_no_trap(tmp_path):
    walk = Walk(tmp_path, "prolific", CODES)
    walk.begin()
    walk.set_state("closed")
    assert "CSTOPPED" in walk.visitor.get("/c/dogs/task/1").text
    walk.set_state("open")
    assert walk.work().url.path == "/c/dogs/task/1"


def test_who_finished_is_not_timed_out(tmp_path):
    walk = Walk(tmp_path, "open", {})
    walk.begin()
    for task in (1, 2, 3):
        walk.visitor.answer(task, started=1.0, submitted=2.0)
    assert "No tasks at the moment" in walk.press("work").text


def test_declining_stores_nothing_and_can_be_taken_back(tmp_path):
    walk = Walk(tmp_path, "prolific", CODES)
    declined(walk)
    assert walk.work().url.path == "/c/dogs/instructions"
    walk.begin()
    assert walk.press("decline").url.path == "/c/dogs/task/1"  # too late to get that code


def test_prolific_may_come_again_after_giving_back(tmp_path):
    walk = Walk(tmp_path, "prolific", CODES)
    partial(walk)
    again = Visitor(walk.app).get("/prolific/dogs?PROLIFIC_PID=p1&STUDY_ID=s&SESSION_ID=x9")
    assert again.url.path == "/c/dogs/task/2"


# How long a HIT waits for its rater


def test_each_answer_begins_the_hold_time_anew(tmp_path):
    walk = Walk(tmp_path, "prolific", CODES)
    assert walk.campaign.terms.hold == 24 * 3600
    walk.begin()
    for task in (1, 2):
        walk.now[0] += walk.campaign.terms.hold - 1
        walk.visitor.answer(task, started=walk.now[0] - 5, submitted=walk.now[0])
    walk.now[0] += walk.campaign.terms.hold - 1
    assert walk.campaign.release_abandoned() == 0
    assert walk.work().url.path == "/c/dogs/task/3"
    walk.now[0] += walk.campaign.terms.hold + 1
    assert walk.campaign.release_abandoned() == 1
    assert walk.work().url.path == "/c/dogs/task/3"  # nobody took it: the rater goes on


def test_an_owner_sets_the_hold_time(tmp_path):
    walk = Walk(tmp_path, "prolific", CODES)
    owner = Visitor(walk.app)
    owner.log_in()
    assert 'name="hold" min="0.01" step="any" value="24"' in owner.get("/organise/new").text
    page = owner.press("/organise/c/dogs/hold", hold="1.5")
    assert page.url.path == "/organise/c/dogs/pages"
    assert 'value="1.5"' in page.text
    assert "HITs are held for 1.5 hours" in page.text
    assert owner.press("/organise/c/dogs/hold", hold="0").status_code == 422
    assert "from 24 to 1.5 hours" in owner.get("/organise/c/dogs/log").text
    walk.begin()
    walk.now[0] += 1.6 * 3600
    walk.begin(walk.enter("link", 2))  # takes the place
    assert "CTIMEDOUT" in walk.work().text
