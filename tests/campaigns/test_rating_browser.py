"""A rater in a real browser: from the link to the code, through mishaps, at phone width."""

from __future__ import annotations

import json
import re

import pytest

from reelscore.campaigns.commands.demo import demo_settings
from reelscore.campaigns.store import raters
from support.browser import (
    at_task,
    begin,
    faults,
    is_within,
    new_visitor,
    press,
    rate_first,
    slide,
    watch,
)
from support.server import serve, small_campaign


@pytest.fixture
def served(tmp_path, videos):
    small_campaign(tmp_path / "dogs.db")
    with serve(str(tmp_path / "dogs.db"), videos=videos) as running:
        yield running


def scores(served):
    return served.campaign("dogs").judgments().score.tolist()


def test_from_link_to_code(tmp_path, videos, page, shoot):
    small_campaign(tmp_path / "dogs.db", pages={"practice": None, "contact": "lab@example.org"})
    with serve(str(tmp_path / "dogs.db"), videos=videos) as served:
        page.goto(served.invite("dogs", "r1")[0])
        assert faults(page) == []
        press(page, "Begin")
        page.wait_for_url("**/instructions")
        assert faults(page) == []
        shoot(page, "instructions")
        page.check("input[name=agree]")
        press(page, "Go on")
        for right in (True, False):
            slide(page, 95)
            press(page, "Check my answer")
            heading = page.inner_text("section.notice h2")
            assert heading == ("Good answer" if right else "Most people answer differently")
            assert faults(page) == []
            shoot(page, f"practice_{'fine' if right else 'unlike'}")
            page.get_by_role("link", name="Go on").click()
        for number in (1, 2, 3):
            at_task(page, number)
            assert page.locator("input[type=range]").is_disabled()
            watch(page)
            assert page.locator("#next").is_disabled()  # no preset value
            if number == 1:
                shoot(page, "task_before")
            slide(page, 20 * number)
            if number == 1:
                assert faults(page) == []
                shoot(page, "task")
            page.click("#next")
        page.wait_for_url("**/finish")
        assert faults(page) == []
        shoot(page, "finish")
        assert re.fullmatch(r"\w{4}-\w{4}", page.inner_text(".code"))
        judgments = served.campaign("dogs").judgments()
        assert judgments.score.tolist() == pytest.approx([20, 40, 60], abs=3)
        assert (judgments.submitted > judgments.started).all()
        assert set(judgments.client) == {"web 1280x900"}
        assert set(judgments.watched) == {1.0}


def test_reload_back_and_another_tab(served, page):
    link = served.invite("dogs")[0]
    begin(page, link)
    at_task(page, 1)
    watch(page)
    page.reload()
    page.wait_for_selector("#questions:not([disabled])")  # seen is seen
    assert page.locator("#next").is_disabled()
    slide(page, 70)
    page.click("#next")
    at_task(page, 2)
    page.go_back()
    page.wait_for_selector("text=Task 1 is answered")
    page.get_by_role("link", name="Go on").click()
    at_task(page, 2)
    page.goto(link)  # the link once more: where it was left
    at_task(page, 2)
    assert scores(served) == pytest.approx([70], abs=3)


def test_double_press(served, page):
    rate_first(page, served.invite("dogs")[0], 30)
    sent = []
    page.on("request", lambda request: request.method == "POST" and sent.append(request.url))
    page.eval_on_selector("#task", "f => { f.requestSubmit(); f.requestSubmit(); }")
    at_task(page, 2)
    assert len(sent) == 1
    assert scores(served) == pytest.approx([30], abs=3)


def test_offline_and_online_again(served, page):
    rate_first(page, served.invite("dogs")[0], 40)
    page.context.set_offline(True)
    page.click("#next")
    page.wait_for_selector("text=Your answer is kept in this browser and will be sent again")
    assert scores(served) == []
    page.context.set_offline(False)
    at_task(page, 2)
    assert scores(served) == pytest.approx([40], abs=3)


def test_an_answer_survives_a_closed_tab(served, page):
    link = served.invite("dogs")[0]
    rate_first(page, link, 60)
    page.context.set_offline(True)
    page.click("#next")
    page.wait_for_selector("text=Your answer is kept")
    context = page.context
    page.goto("about:blank")
    context.set_offline(False)
    later = context.new_page()
    later.goto(link)
    at_task(later, 2)  # sent by itself, then on to the next
    assert scores(served) == pytest.approx([60], abs=3)


def test_acknowledged_but_not_heard(served, page):
    """The answer arrives, its acknowledgement does not: sent again, kept once."""
    rate_first(page, served.invite("dogs")[0], 50)
    heard = []

    def lose(route):
        route.fetch()  # the server has it
        heard.append(1)
        route.abort("internetdisconnected")

    page.route("**/answers", lose, times=1)
    page.click("#next")
    at_task(page, 2)
    assert heard == [1]
    assert scores(served) == pytest.approx([50], abs=3)


PORTAL = "<!doctype html><title>Airport Wi-Fi</title><h1>Welcome! Accept our terms.</h1>"
STRANGERS = {
    "a captive portal": {"status": 200, "content_type": "text/html", "body": PORTAL},
    "a login page elsewhere": {"status": 302, "headers": {"location": "/organise/login"}},
    "JSON of somebody else": {"status": 200, "content_type": "application/json", "body": "{}"},
    "another answer's": {"status": 200, "json": {"assignment": 1, "task": 2, "next": "finish"}},
    "a proxy": {"status": 404, "content_type": "text/html", "body": "<h1>nginx</h1>"},
}


@pytest.mark.parametrize("stranger", STRANGERS)
def test_only_the_servers_own_acknowledgment_counts(served, quiet_page, stranger):
    page = quiet_page
    rate_first(page, served.invite("dogs")[0], 50)
    page.route("**/answers", lambda route: route.fulfill(**STRANGERS[stranger]))
    page.click("#next")
    page.wait_for_selector("text=Your answer is kept in this browser")
    assert len(page.evaluate("Object.keys(localStorage).filter(k => k.includes(':answer:'))")) == 1
    page.unroute("**/answers")
    at_task(page, 2)  # sent again by itself
    assert page.evaluate("Object.keys(localStorage).filter(k => k.includes(':answer:'))") == []
    assert scores(served) == pytest.approx([50], abs=3)


def test_an_answer_that_cannot_be_stays_until_another_takes_its_place(served, page):
    rate_first(page, served.invite("dogs")[0], 50)

    def spoil(route):
        sent = route.request.post_data_json
        route.continue_(post_data=json.dumps({**sent, "seen": 0.1}))

    page.route("**/answers", spoil, times=1)
    page.click("#next")
    page.wait_for_selector("text=watch it to its end")
    slide(page, 80)  # the questions are open again
    page.click("#next")
    at_task(page, 2)
    assert scores(served) == pytest.approx([80], abs=3)


def test_a_moved_link_ends_the_old_session_and_keeps_its_answer(served, quiet_page, chromium):
    page = quiet_page
    link = served.invite("dogs", "anna")[0]
    rate_first(page, link, 50)
    raters.unbind(served.site.database, "dogs", "anna")
    page.click("#next")
    page.wait_for_selector("text=Open the link you were given once more")
    page.wait_for_selector("text=Your answer is kept in this browser")
    assert scores(served) == []
    page.goto(link)  # the next browser may be the old one
    press(page, "Begin")
    at_task(page, 2)
    assert scores(served) == pytest.approx([50], abs=3)


def delay(page):
    """Hold the scripts back; the function returned lets them come."""
    held, is_open = [], []
    page.route(
        "**/static/*.js*",
        lambda route: route.continue_() if is_open else held.append(route),
    )

    def let_go():
        is_open.append(True)
        for route in held:
            route.continue_()

    return let_go


def begin_without_scripts(page, link):
    """Come to the first page with questions before its scripts; give what lets them come."""
    page.goto(link)
    press(page, "Begin")
    page.check("input[name=agree]")
    let_go = delay(page)
    page.get_by_role("button", name="Go on").click(no_wait_after=True)
    page.wait_for_selector("#next")
    return let_go


@pytest.fixture
def practising(tmp_path, page):
    """The practice page of a rater, whose scripts have not come yet."""
    small_campaign(tmp_path / "dogs.db", pages={"practice": None})
    with serve(str(tmp_path / "dogs.db")) as served:
        yield page, begin_without_scripts(page, served.invite("dogs")[0])


def test_questions_open_when_the_script_is_ready(practising):
    page, let_go = practising
    assert "questions open in a moment" in page.inner_text("#hint")
    box = page.locator("input[type=range]").bounding_box()
    page.mouse.move(box["x"] + box["width"] * 0.95, box["y"] + box["height"] / 2)
    page.mouse.down()  # too early: nothing moves
    let_go()
    page.wait_for_selector("#questions:not([disabled])")
    page.mouse.up()
    assert page.input_value("input[type=range]") == "50"
    assert page.locator("#next").is_disabled()  # half a press is no answer
    assert page.inner_text("#hint") == ""
    slide(page, 95)
    press(page, "Check my answer")
    assert page.inner_text("section.notice h2") == "Good answer"


def test_what_was_set_before_the_script_ran_counts(practising):
    page, let_go = practising
    page.eval_on_selector("input[type=range]", "slider => { slider.value = 95; }")
    let_go()
    page.wait_for_selector("#next:not([disabled])")
    assert page.get_attribute("input[type=range]", "aria-valuetext") == "95 of 100"
    press(page, "Check my answer")
    assert page.inner_text("section.notice h2") == "Good answer"


def test_a_video_played_before_the_script_ran_was_watched(served, page):
    let_go = begin_without_scripts(page, served.invite("dogs")[0])
    page.evaluate(
        """() => new Promise((end) => {
          const video = document.getElementById("video");
          video.addEventListener("ended", end);
          video.play();
        })"""
    )
    let_go()
    page.wait_for_selector("#questions:not([disabled])")


def test_without_scripts_nothing_seems_to_load(served, chromium):
    context = new_visitor(chromium, java_script_enabled=False)
    page = context.new_page()
    begin(page, served.invite("dogs")[0])
    page.wait_for_selector("noscript p")
    assert not page.is_visible("#hint")
    context.close()


def test_keyboard_only(served, page):
    keys = page.keyboard
    page.goto(served.invite("dogs")[0])
    keys.press("Tab")
    keys.press("Enter")  # Begin
    page.wait_for_url("**/instructions")
    keys.press("Tab")
    keys.press("Space")
    keys.press("Tab")
    keys.press("Enter")
    for number in (1, 2, 3):
        at_task(page, number)
        page.locator("#replay").focus()
        keys.press("Enter")  # plays
        page.wait_for_selector("#questions:not([disabled])")
        assert page.evaluate("document.activeElement.type") == "range"  # the slider comes next
        assert page.get_attribute("input[type=range]", "aria-valuetext") == "no answer yet"
        keys.press("End")
        keys.press("PageDown")
        assert page.get_attribute("input[type=range]", "aria-valuetext") == "90 of 100"
        keys.press("Tab")
        keys.press("Enter")
    page.wait_for_url("**/finish")
    assert scores(served) == [90, 90, 90]


def test_enter_sends_a_complete_answer(served, page):
    keys, sent = page.keyboard, []
    page.on("request", lambda request: "/answers" in request.url and sent.append(request.url))
    begin(page, served.invite("dogs")[0])
    at_task(page, 1)
    watch(page)
    keys.press("Enter")  # the slider has the focus: its middle is the answer now
    assert page.get_attribute("input[type=range]", "aria-valuetext") == "50 of 100"
    for name in ("#replay", "#speed", "summary"):  # Enter has a meaning of its own there
        page.locator(name).focus()
        keys.press("Enter")
        keys.press("Escape")
    assert page.locator("details").get_attribute("open") is not None
    assert sent == []
    page.locator("input[type=range]").focus()
    keys.press("ArrowRight")
    page.evaluate(  # twice, before the page can change
        """() => { for (let k = 0; k < 2; k++) document.activeElement.dispatchEvent(
            new KeyboardEvent("keydown", { key: "Enter", bubbles: true, cancelable: true })); }"""
    )
    at_task(page, 2)
    assert len(sent) == 1
    watch(page)
    slide(page, 30)
    page.evaluate("document.activeElement.blur()")
    keys.press("Enter")  # nothing has the focus
    at_task(page, 3)
    assert scores(served) == pytest.approx([51, 30], abs=3)


def test_enter_in_the_practice(tmp_path, videos, page):
    """A key that is pressed long, or twice, does not skip the feedback or answer what follows."""
    small_campaign(tmp_path / "dogs.db", pages={"practice": None})
    keys = page.keyboard
    with serve(str(tmp_path / "dogs.db"), videos=videos) as served:
        begin(page, served.invite("dogs")[0])
        page.wait_for_selector("#questions:not([disabled])")
        page.locator("input[type=range]").focus()
        keys.press("End")
        for _ in range(3):
            keys.down("Enter")  # all but the first are repeats
        page.wait_for_selector("section.notice h2")
        keys.down("Enter")
        keys.up("Enter")
        keys.press("Enter")
        assert page.inner_text("section.notice h2") == "Good answer"
        page.get_by_role("link", name="Go on").focus()
        keys.down("Enter")
        page.wait_for_selector("text=Practice 2 of 2", state="attached")
        page.wait_for_selector("#questions:not([disabled])")
        page.locator("input[type=range]").focus()
        keys.down("Enter")  # still held
        assert page.get_attribute("input[type=range]", "aria-valuetext") == "no answer yet"


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_on_a_phone(served, page, shoot, scheme):
    page.set_viewport_size({"width": 360, "height": 740})
    page.emulate_media(color_scheme=scheme)
    rate_first(page, served.invite("dogs")[0], 55)
    assert is_within(page)
    assert faults(page) == []
    shoot(page, f"task_360_{scheme}")
    next_box = page.locator("#next").bounding_box()
    assert next_box["height"] >= 40  # for a thumb
    page.click("#next")
    at_task(page, 2)


def test_a_video_that_does_not_play(tmp_path, page, shoot):
    folder = tmp_path / "videos"
    folder.mkdir()
    for k in range(1, 16):
        (folder / f"clip{k:02}.mp4").write_bytes(b"this is no video")
    small_campaign(tmp_path / "dogs.db")
    with serve(str(tmp_path / "dogs.db"), videos=folder) as served:
        begin(page, served.invite("dogs", "r1")[0])
        page.wait_for_selector("text=The video does not play here")
        shoot(page, "broken_video")
        assert faults(page) == []
        for number in (1, 2, 3):  # the rater is not trapped
            at_task(page, number)
            page.wait_for_selector("text=The video does not play here")
            page.locator("#broken button").click()
        page.wait_for_selector("text=Thank you for your reports")
        shoot(page, "all_skipped")
        assert [skip.item for skip in served.campaign("dogs").skips()] == [
            "clip01",
            "clip02",
            "clip03",
        ]


def test_text_only_with_numbers_shown(tmp_path, page, shoot):
    contexts = {f"clip{k:02}": "A dog runs over a field and barks." for k in range(1, 16)}
    small_campaign(tmp_path / "dogs.db", pages={"contexts": contexts, "numbers": True})
    with serve(str(tmp_path / "dogs.db"), prefix="/rate") as served:
        begin(page, served.invite("dogs")[0])
        at_task(page, 1)
        slide(page, 50)  # the very middle, where no value changes
        assert page.inner_text("output") == "50"
        shoot(page, "task_text_only")
        page.click("#next")
        at_task(page, 2)
        assert scores(served) == [50]


def test_the_demo(tmp_path, page, shoot):
    made = demo_settings(tmp_path, "http://127.0.0.1:1")
    with serve(made.database, videos=made.videos) as served:
        page.goto(f"{served.url}/join/demo")
        press(page, "Begin")
        page.check("input[name=agree]")
        press(page, "Go on")
        for value in (90, 10):
            slide(page, value)
            press(page, "Check my answer")
            assert page.inner_text("section.notice h2") == "Good answer"
            page.get_by_role("link", name="Go on").click()
        at_task(page, 1)
        watch(page)
        slide(page, 80)
        shoot(page, "rating-task")
        page.set_viewport_size({"width": 360, "height": 740})
        shoot(page, "rating-phone")
        page.click("#next")
        at_task(page, 2)
