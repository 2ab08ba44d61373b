"""Raters in a frame on Mechanical Turk's pages, where browsers keep no cookies for us."""

from __future__ import annotations

import re
import threading
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from urllib.parse import parse_qs, urlencode

import pytest

from reelscore.campaigns.pages.raters import entry, session
from support.browser import watch
from support.server import serve, small_campaign
from support.visits import Visitor, app_over

SANDBOX = "https://workersandbox.mturk.com"


class Frame(Visitor):
    """A browser that keeps nothing between two requests."""

    def request(self, *arguments, **more):
        self.cookies.clear()
        return super().request(*arguments, **more)

    def enter(self, assignment="a1", worker="A1B2", to=SANDBOX):
        query = {"assignmentId": assignment, "hitId": "h1", "workerId": worker, "turkSubmitTo": to}
        self.page = self.get(f"/mturk/dogs?{urlencode(query)}")
        self.home = re.match(r"/c/dogs/in/[^/]+|", self.page.url.path)[0]
        return self.page

    @property
    def token(self):
        return re.search(r'(?:name="proof" value|data-proof)="([^"]+)"', self.page.text)[1]

    def agree(self):
        self.page = self.post(f"{self.home}/instructions", data={"proof": self.token})
        return self.page

    def rate(self, task, **changes):
        campaign = self.home.removeprefix("/c/")
        return self.answer(task, campaign=campaign, proof=self.token, **changes)


@pytest.fixture
def app(tmp_path):
    return app_over(tmp_path, pages={"mturk": True})


def test_a_preview_takes_nothing(app):
    page = Visitor(app).get("/mturk/dogs?assignmentId=ASSIGNMENT_ID_NOT_AVAILABLE&hitId=h1")
    assert "This is a preview" in page.text
    assert "frame-ancestors 'self' https://*.mturk.com" in page.headers["content-security-policy"]
    assert "x-frame-options" not in page.headers
    assert app.state.campaigns.get("dogs").status().held == 0


@pytest.mark.parametrize("to", [SANDBOX, f"{SANDBOX}/", "https://www.mturk.com/"])
def test_from_the_door_to_the_submit_form(app, to):
    frame = Frame(app)
    assert frame.enter(to=to).url.path.endswith("/instructions")
    assert "x-frame-options" not in frame.page.headers
    assert frame.agree().url.path == f"{frame.home}/task/1"
    for task in (1, 2, 3):
        assert frame.rate(task).json()["new"]
    finish = frame.get(f"{frame.home}/finish")
    assert f'action="{to.rstrip("/")}/mturk/externalSubmit"' in finish.text
    assert 'name="assignmentId" value="a1"' in finish.text
    assert to.rstrip("/") in finish.headers["content-security-policy"]
    assert "set-cookie" not in finish.headers


def test_it_submits_to_mturk_only(app):
    for evil in ("https://evil.example", "http://www.mturk.com", "https://www.mturk.com.evil.org"):
        assert Frame(app).enter(to=evil).status_code == 400


def test_the_next_hit_is_new_work_and_ends_the_old_key(app):
    frame = Frame(app)
    frame.enter()
    old = frame.home
    frame.agree()
    for task in (1, 2, 3):
        frame.rate(task)
    assert frame.enter("a2").url.path.endswith("/task/1")
    assert frame.get(f"{old}/finish").status_code == 403
    assert frame.rate(1, assignment=2).json()["new"]


def test_a_returned_hit_goes_on_in_the_next(app):
    frame = Frame(app)
    frame.enter()
    frame.agree()
    frame.rate(1)
    assert frame.enter("a2").url.path.endswith("/task/2")


def test_keys_are_not_for_others(app):
    frame, other = Frame(app), Frame(app)
    frame.enter()
    frame.agree()
    other.enter("b1", "B2C3")
    other.agree()
    assert other.rate(1, assignment=1).status_code == 403
    # the form's token belongs to the key
    campaign = frame.home.removeprefix("/c/")
    assert frame.answer(1, campaign=campaign, proof=other.token).status_code == 403
    key = frame.home.rpartition("/")[2]
    for bad in (key[:-2] + "xx", "x", key.replace(".", "", 1), "..", "%2e%2e"):
        assert frame.get(f"/c/dogs/in/{bad}/work").status_code in (403, 404), bad
    assert frame.get(f"/c/dogs/in/{key}/work").status_code == 200
    refused = frame.get("/c/dogs/in/x/work")  # said in the frame, not only by an empty one
    assert "x-frame-options" not in refused.headers
    assert "Open the link you were given once more" in refused.text
    # a cookie's value is no key
    visitor = Visitor(app)
    visitor.begin()
    cookie = visitor.cookies["reelscore_rater"]
    assert frame.get(f"/c/dogs/in/{cookie}/work").status_code == 403


class Turk(BaseHTTPRequestHandler):
    """Mechanical Turk: a page with our frame in it, and the address that takes results."""

    def do_GET(self):
        self.send_response(200)
        self.end_headers()
        page = f'<h1>Turk</h1><iframe src="{self.server.frame}" width="900" height="1200"></iframe>'
        self.wfile.write(page.encode())

    def do_POST(self):
        sent = self.rfile.read(int(self.headers["content-length"])).decode()
        self.server.submitted.append((self.path, parse_qs(sent)))
        self.send_response(200)
        self.end_headers()
        self.wfile.write(b"<p>Submitted</p>")

    def log_message(self, *_):
        pass


@contextmanager
def turk():
    server = ThreadingHTTPServer(("127.0.0.1", 0), Turk)
    server.submitted = []
    threading.Thread(target=server.serve_forever, daemon=True).start()
    try:
        yield server
    finally:
        server.shutdown()
        server.server_close()


@pytest.mark.parametrize("storage", ["none", "refused"])
def test_in_a_frame_of_another_site(tmp_path, videos, page, monkeypatch, storage):
    small_campaign(tmp_path / "dogs.db", tasks=2, pages={"mturk": True})
    with serve(str(tmp_path / "dogs.db"), videos=videos) as served, turk() as server:
        site = f"http://localhost:{server.server_port}"  # to browsers, another site than 127.0.0.1
        monkeypatch.setattr(session, "MTURK_PAGES", site)
        monkeypatch.setattr(session, "MTURK_HOSTS", (site,))
        monkeypatch.setattr(entry, "MTURK_HOSTS", (site,))
        query = {"assignmentId": "a1", "hitId": "h1", "workerId": "A1B2", "turkSubmitTo": site}
        server.frame = f"{served.url}/mturk/dogs?{urlencode(query)}"
        if storage == "refused":  # as browsers do that block third-party cookies
            page.add_init_script(
                "if (top !== self) for (const kind of ['localStorage', 'sessionStorage'])"
                " Object.defineProperty(window, kind, { get() { throw new DOMException('no'); } });"
            )
        page.goto(site)
        frame = page.frames[1]
        frame.check("input[name=agree]")
        frame.get_by_role("button", name="Go on").click()
        for number in (1, 2):
            frame.wait_for_url(f"**/task/{number}")
            watch(frame)
            frame.locator("input[type=range]").press("End")
            frame.click("#next")
        frame.wait_for_url("**/finish")
        frame.get_by_role("button", name="Submit the HIT").click()
        frame.wait_for_selector("text=Submitted")
        ((path, sent),) = server.submitted
        assert path == "/mturk/externalSubmit"
        assert sent["assignmentId"] == ["a1"]
        assert re.fullmatch(r"\w{4}-\w{4}", sent["code"][0])
        assert served.campaign("dogs").judgments().score.tolist() == [100, 100]
        assert page.context.cookies(served.url) == []
