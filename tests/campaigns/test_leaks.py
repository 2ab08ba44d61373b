"""Nothing that a rater's browser gets tells the system, the item, the kind of a task, or controls.

Every reply to a rater is searched whole: status line to body, headers and cookies included. The
search itself is tried on leaks that are planted in each place a name could slip out by.
"""

from __future__ import annotations

import base64
import json
import re

import pytest
from starlette.responses import Response

from reelscore.campaigns.hits.tasks import Hit, Shown, Task
from reelscore.campaigns.pages.raters import session
from reelscore.campaigns.pages.raters import task_pages as tasks
from reelscore.web import media
from reelscore.web.site import Website
from support.visits import Visitor, app_over

TEXT = "text 0.1.0 of a dog"
# systems, kinds, items, tasks, HITs, the campaign's name
HIDDEN = ("alpha", "beta", "human", "degraded", "repeat", "clip0", "t0-", "hit-", "of 2017")
SEEN = re.compile(r"kind|system|item|expected|quality|reference")


class Eavesdropper(Visitor):
    """A rater's browser that remembers all it was ever sent."""

    def __init__(self, app):
        self.heard = []
        super().__init__(app)

    def send(self, request, **more):
        reply = super().send(request, **more)
        reply.read()
        self.heard.append(reply)
        return reply

    def words(self):
        for reply in self.heard:
            yield str(reply.request.url)
            for name, value in reply.headers.items():
                yield f"{name}: {value}"
                yield from decoded(value)
            if not reply.headers.get("content-type", "").startswith(("video/", "text/css")):
                yield reply.text
                yield from decoded(reply.text)


def decoded(text):
    """Read what is only wrapped: words in base64, as signed cookies have them."""
    for word in re.findall(r"[\w+/=-]{8,}", text):
        for part in (word, *word.split("-")):
            try:
                yield base64.urlsafe_b64decode(part + "=" * (-len(part) % 4)).decode("latin-1")
            except ValueError:
                continue


def leaks(rater):
    everything = "\n".join(rater.words()).lower()
    assert TEXT in everything  # it was heard at all
    return [word for word in HIDDEN if word in everything]


def do_a_hit(app):
    """See everything that a rater can see on the way through a HIT."""
    rater = Eavesdropper(app)
    pages = [rater.begin()]
    rater.get("/c/dogs/instructions")
    for task in (1, 2, 3):
        page = rater.get(f"/c/dogs/task/{task}")
        for video in re.findall(r'(?:src|data-video)="(/c/dogs/media/[^"]+)"', page.text):
            rater.get(video, headers={"range": "bytes=0-9"})
        rater.answer(task, 101)  # refused, with a message
        rater.answer(task, seen=0.1)
        rater.answer(task)
        rater.answer(task, 7)  # not the same: refused
        pages.append(page)
    rater.get("/c/dogs/task/1")
    rater.get("/c/dogs/task/99")
    rater.get("/c/dogs/media/none")
    rater.press("/c/dogs/skip", assignment=1, task=1)
    assert "Thank you" in rater.get("/c/dogs/finish").text
    return rater, pages


@pytest.fixture
def app(tmp_path, videos):
    return app_over(tmp_path, videos=videos)


def test_nothing_tells_what_a_task_is(app):
    rater, pages = do_a_hit(app)
    assert leaks(rater) == []
    for page in pages:  # nor do names in the page's own data: which say what, not of what sort
        names = re.findall(r"data-([\w-]+)", page.text)
        assert not [name for name in names if SEEN.search(name)]
    replies = [each.json() for each in rater.heard if "json" in each.headers["content-type"]]
    allowed = {"assignment", "task", "remaining", "done", "new", "next"}
    allowed |= {"message", "reason", "problems"}  # of errors
    assert {key for reply in replies for key in reply} <= allowed


def planted_in_html(patch):
    whole = Website.page

    def page(self, request, template, status=200, /, **context):
        shown = whole(self, request, template, status, **context)
        if template != "raters/task.html":
            return shown
        task = context["session"].assignment().tasks[context["number"] - 1]
        marked = shown.body.decode().replace("<form", f"<form class='{task.shown[0].kind}'", 1)
        return Response(marked, media_type="text/html")

    patch.setattr(Website, "page", page)


def planted_in_json(patch):
    honest = tasks.JSONResponse
    planted = {"next": "task/t0-1"}
    patch.setattr(tasks, "JSONResponse", lambda said, *rest: honest({**said, **planted}, *rest))


def planted_in_a_refusal(patch):
    patch.setattr(tasks, "_REFUSALS", {"answered": "Task 't0-1' has another answer."})


def planted_in_the_video_address(patch):
    honest = session.video_of
    patch.setattr(session, "video_of", lambda rater, item: f"{honest(rater, item)}#{item}")


def planted_in_a_task_id(patch):
    honest = tasks.task_screen

    def show(session, tasks, place):
        task_id = tasks[place].id
        patch.setattr(type(session), "home", property(lambda self: f"/c/dogs?{task_id}"))
        return honest(session, tasks, place)

    patch.setattr(tasks, "task_screen", show)


def planted_in_a_header(patch):
    whole = Website.page

    def page(self, request, template, *rest, **context):
        shown = whole(self, request, template, *rest, **context)
        if template == "raters/task.html":
            shown.headers["x-served-for"] = context["session"].assignment().tasks[0].shown[0].system
        return shown

    patch.setattr(Website, "page", page)


def planted_in_a_cookie(patch):
    whole = Website.page

    def page(self, request, template, *rest, **context):
        shown = whole(self, request, template, *rest, **context)
        if template == "raters/task.html":
            told = [task.shown[0].kind for task in context["session"].assignment().tasks]
            value = base64.urlsafe_b64encode(json.dumps(told).encode()).decode()
            self.set_cookie(shown, "plan", value, "/", 60)
        return shown

    patch.setattr(Website, "page", page)


def planted_in_the_video_reply(patch):
    class Named(media.FileResponse):
        def __init__(self, file, **more):
            super().__init__(file, filename=file.name, **more)

    patch.setattr(media, "FileResponse", Named)


PLANTED = [
    planted_in_html,
    planted_in_json,
    planted_in_a_refusal,
    planted_in_the_video_address,
    planted_in_a_header,
    planted_in_a_cookie,
    planted_in_the_video_reply,
]


@pytest.mark.parametrize("plant", PLANTED, ids=lambda plant: plant.__name__)
def test_a_planted_leak_is_found(app, monkeypatch, plant):
    plant(monkeypatch)
    rater, _ = do_a_hit(app)
    assert leaks(rater) != []


def test_a_planted_task_id_is_found(app, monkeypatch):
    planted_in_a_task_id(monkeypatch)
    rater = Eavesdropper(app)
    rater.begin()
    assert "t0-" in leaks_of_first(rater)


def leaks_of_first(rater):
    return [word for word in HIDDEN if word in "\n".join(rater.words()).lower()]


def test_names_of_videos_are_of_no_order(tmp_path, videos):
    """Words derived with a secret: other campaigns and servers have others."""
    app = app_over(tmp_path, videos=videos)
    name = app.state.site.videos.name
    items = [f"clip{k:02}" for k in range(1, 16)]
    names = [name("dogs", item) for item in items]
    assert len(set(names)) == 15
    assert names != sorted(names)
    assert not set(names) & {name("cats", item) for item in items}
    other = app_over(tmp_path, made=False, videos=videos, secret="t" * 40)
    assert not set(names) & {other.state.site.videos.name("dogs", item) for item in items}


def test_numbers_tell_no_kind(tmp_path):
    """What a page calls a task is its place, the same for every kind; the order is the plan's."""
    kinds = ("degraded", "caption", "repeat", "reference")
    app = app_over(tmp_path, hits=0)
    app.state.campaigns.get("dogs").add_hits(
        [
            Hit(f"hit-{kind}", (Task(f"t0-{kind}", "clip01", (Shown("human", TEXT, kind),)),))
            for kind in kinds
        ]
    )
    seen = set()
    for _ in kinds:
        rater = Eavesdropper(app)
        page = rater.begin()
        assert leaks(rater) == []
        seen.add(re.sub(r'data-(assignment|now|proof)="[^"]*"|value="[^"]*"', "", page.text))
    assert len(seen) == 1  # but for running numbers, all pages are the same
