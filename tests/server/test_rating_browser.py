"""A rater in a real browser: from the link to the code, through mishaps, at phone width."""

from __future__ import annotations

import re

import pytest
from browsing import at_task, begin, faults, is_within, press, slide, watch
from serving import serve, small_campaign

from reelscore.web.demo_campaign import demo_settings


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
            assert heading == ("Just so" if right else "Most people answer otherwise")
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
        found = served.campaign("dogs").judgments()
        assert found.score.tolist() == pytest.approx([20, 40, 60], abs=3)
        assert (found.submitted > found.started).all()
        assert set(found.client) == {"web 1280x900 seen 100%"}


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
    begin(page, served.invite("dogs")[0])
    at_task(page, 1)
    watch(page)
    slide(page, 30)
    sent = []
    page.on("request", lambda request: request.method == "POST" and sent.append(request.url))
    page.eval_on_selector("#task", "f => { f.requestSubmit(); f.requestSubmit(); }")
    at_task(page, 2)
    assert len(sent) == 1
    assert scores(served) == pytest.approx([30], abs=3)


def test_offline_and_online_again(served, page):
    begin(page, served.invite("dogs")[0])
    at_task(page, 1)
    watch(page)
    slide(page, 40)
    page.context.set_offline(True)
    page.click("#next")
    page.wait_for_selector("text=Your answer is kept and will be sent")
    assert scores(served) == []
    page.context.set_offline(False)
    at_task(page, 2)
    assert scores(served) == pytest.approx([40], abs=3)


def test_an_answer_survives_a_closed_tab(served, page):
    link = served.invite("dogs")[0]
    begin(page, link)
    at_task(page, 1)
    watch(page)
    slide(page, 60)
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
    begin(page, served.invite("dogs")[0])
    at_task(page, 1)
    watch(page)
    slide(page, 50)
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


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_on_a_phone(served, page, shoot, scheme):
    page.set_viewport_size({"width": 360, "height": 740})
    page.emulate_media(color_scheme=scheme)
    begin(page, served.invite("dogs")[0])
    at_task(page, 1)
    watch(page)
    slide(page, 55)
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
        press(page, "Report: the video does not play")
        page.wait_for_selector("text=The organisers know now")
        press(page, "Stop and give the tasks back")
        page.wait_for_selector("text=Given back")
        events = [(event.what, event.about) for event in served.campaign("dogs").events()]
        assert ("report", "clip01") in events
        assert served.campaign("dogs").status().held == 0


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
            assert page.inner_text("section.notice h2") == "Just so"
            page.get_by_role("link", name="Go on").click()
        at_task(page, 1)
        watch(page)
        slide(page, 80)
        shoot(page, "rating-task")
        page.set_viewport_size({"width": 360, "height": 740})
        shoot(page, "rating-phone")
        page.click("#next")
        at_task(page, 2)
