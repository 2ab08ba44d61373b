"""The review page in a real browser, by keyboard alone."""

from __future__ import annotations

import json

import pytest

from support.browser import faults, is_within, new_visitor
from support.review import serve_review

FIRST = "t00.00.06.000"
UNSURE = "t00.00.14.000"


# Tests name the server before the page: so the page, which may still ask, is closed first.
@pytest.fixture
def reviewing(project):
    with serve_review(project) as review:
        yield review


@pytest.fixture
def reading(project):
    with serve_review(project, read_only=True) as review:
        yield review


def opened(page, review, film="one"):
    page.set_viewport_size({"width": 1280, "height": 900})
    page.goto(f"{review.address}?film={film}")
    page.wait_for_selector("main[data-ready]")


def press(page, *keys):
    """Press keys, each when the page has said what the last one did."""
    for key in keys:
        page.evaluate("document.getElementById('said').textContent = ''")
        page.keyboard.press(key)
        page.wait_for_selector("#said:not(:empty)")
    return page.inner_text("#said")


def lines(project):
    file = project.folder / "films" / "one" / "decisions.jsonl"
    return [json.loads(line) for line in file.read_text().splitlines()] if file.exists() else []


# Words of the list are read as they stand in it (`textContent`): a row that was just drawn has no
# `innerText` before the next picture, since rows out of sight are not laid out.


def rows(page):
    return page.eval_on_selector_all("#list button", "all => all.map(row => row.dataset.id)")


def chosen(page):
    return page.get_attribute("#list [aria-current]", "data-id")


def test_a_film_is_reviewed_by_keyboard_alone(project, reviewing, page):
    opened(page, reviewing)
    assert rows(page) == [UNSURE, "n00.00.33.000", "t00.00.24.000", FIRST]  # unsure first
    assert chosen(page) == UNSURE
    # an edge, in four sizes
    assert (
        press(page, "ArrowRight", "Shift+ArrowLeft", "Alt+ArrowLeft") == "Moved: 0:13.95 – 0:17.04"
    )
    # split at the cursor, which is in the middle; merge again
    press(page, ".", "s")
    assert page.inner_text("#text") == "Anna opens the door."
    press(page, "m")
    assert page.inner_text("#text") == "Anna opens the door. Rain falls."
    # reject with a reason; the next passage is shown
    press(page, "2")
    assert chosen(page) == "n00.00.33.000"
    # words for a segment without any, then accept
    page.keyboard.press("e")
    page.keyboard.type("Somebody leaves.")
    press(page, "Enter")
    assert page.inner_text("#text") == "Somebody leaves."
    press(page, "Enter")
    # a new segment from the selection
    press(page, "<", "<", "[", ">", "]", "n")
    made = chosen(page)
    assert made.startswith("n")
    press(page, "u")
    assert made not in rows(page)
    actions = [line["action"] for line in lines(project)]
    moves = ["move", "move", "move"]
    assert actions == [*moves, "split", "merge", "reject", "edit", "accept", "new", "undo"]
    assert {line["who"] for line in lines(project)} == {"ada"}
    assert lines(project)[5]["note"] == "text on screen"
    before = page.text_content("#list")
    page.reload()
    page.wait_for_selector("main[data-ready]")
    page.select_option("#by-order", "time")
    states = page.eval_on_selector_all("#list button", "all => all.map(row => row.textContent)")
    assert [("rejected" in text, "accepted" in text) for text in states] == [
        (False, False),
        (True, False),
        (False, False),
        (False, True),
    ]
    assert "Somebody leaves." in before


def test_two_tabs_do_not_overwrite_each_other(chromium, project, reviewing):
    tabs = new_visitor(chromium)
    one, other = tabs.new_page(), tabs.new_page()
    opened(one, reviewing)
    opened(other, reviewing)
    press(one, "Enter")
    other.keyboard.press("x")
    other.wait_for_selector("#alert:not([hidden])")
    assert "changed elsewhere" in other.inner_text("#alert")
    assert [line["action"] for line in lines(project)] == ["accept"]
    assert "accepted" in other.inner_text("#state")  # it shows what the first tab did
    press(other, "x")
    assert [line["action"] for line in lines(project)] == ["accept", "reject"]
    assert other.is_hidden("#alert")
    other.route("**/decisions", lambda route: route.abort())  # the server is gone
    shown = other.text_content("#list")
    other.keyboard.press("Enter")
    other.wait_for_selector("#alert:not([hidden])")
    assert "nothing was stored" in other.inner_text("#alert")
    assert other.text_content("#list") == shown
    tabs.close()


def test_names_are_picked(project, reviewing, page):
    opened(page, reviewing)
    page.keyboard.press("p")
    page.get_by_role("button", name="Anna: name", exact=True).press("Enter")
    page.wait_for_selector('#words-to-name [aria-label="Anna: name"][aria-pressed=true]')
    page.get_by_role("button", name="Rain: no name", exact=True).press("Enter")
    page.wait_for_selector('#words-to-name [aria-label="Rain: no name"][aria-pressed=true]')
    page.keyboard.press("Escape")
    assert [(line["action"], line["after"]) for line in lines(project)] == [
        ("name", {"name": "Anna"}),
        ("no-name", {"name": "Rain"}),
    ]


def test_tab_stops_once_in_the_list(reviewing, page):
    opened(page, reviewing)
    page.keyboard.press("ArrowDown")
    assert chosen(page) == "n00.00.33.000"
    page.keyboard.press("Tab")
    assert page.evaluate("document.activeElement.closest('.tools') !== null")
    page.keyboard.press("Shift+Tab")
    assert page.evaluate("document.activeElement.dataset.id") == "n00.00.33.000"
    page.click("text=Next")  # with the mouse: Enter is for the passage afterwards
    press(page, "Enter")
    assert "accepted" in page.text_content('#list button[data-id="t00.00.24.000"]')


def test_edges_are_dragged_and_sounds_play(project, reviewing, page):
    opened(page, reviewing)
    box = page.locator(f'.bar[data-id="{UNSURE}"]').bounding_box()
    page.mouse.move(box["x"] + box["width"] - 3, box["y"] + 8)
    page.mouse.down()
    page.mouse.move(box["x"] + box["width"] + 40, box["y"] + 8, steps=3)
    assert lines(project) == []  # an outline only
    page.mouse.up()
    page.get_by_role("status").filter(has_text="Moved").wait_for()
    assert lines(project)[0]["after"]["start"] == 14.0
    assert 17.5 < lines(project)[0]["after"]["end"] < 19.5
    page.locator("#playing").evaluate(  # a busy machine may look when the piece is over
        """(button) => new MutationObserver(() => {
          if (button.textContent === "Pause") button.dataset.played = "yes";
        }).observe(button, { childList: true })"""
    )
    for key in ("f", "a", "r"):
        with page.expect_response(lambda reply: "/sound/" in reply.url) as reply:
            page.keyboard.press(key)
        assert reply.value.ok
        assert "start=13.500" in reply.value.url  # half a second before
    page.locator("#playing[data-played]").wait_for()
    page.keyboard.press(" ")
    page.get_by_role("button", name="Play").wait_for()


def test_everybody_can_use_it(reviewing, page):
    opened(page, reviewing)
    page.locator("#spectrogram").evaluate("image => image.decode()")
    for scheme, width in (("light", 1280), ("dark", 390)):
        page.emulate_media(color_scheme=scheme)
        page.set_viewport_size({"width": width, "height": 844})
        assert faults(page) == []
        assert is_within(page)
    for key in ("?", "p"):
        page.keyboard.press(key)
        page.wait_for_selector("dialog[open]")
        assert faults(page) == []
        page.keyboard.press("Escape")
    alternative = page.get_attribute("#spectrogram", "alt")
    assert "Passages: 0:06.0 to 0:08.5, 0:14.0 to 0:17.0" in alternative


def test_filters_flags_and_other_films(reviewing, page):
    opened(page, reviewing)
    page.select_option("#by-flag", "introduction or ending")
    assert rows(page) == [FIRST]
    page.select_option("#by-flag", "unsure")
    assert rows(page) == [UNSURE]
    page.select_option("#by-flag", "")
    page.select_option("#by-state", "rejected")
    assert rows(page) == []
    assert page.is_visible("#nothing")
    page.select_option("#film", "two")  # nothing was done with it, and it has no sound
    page.wait_for_url("**?film=two")
    page.wait_for_selector("main[data-ready]")
    assert page.inner_text("#left") == "0 of 0 to do"
    assert "no segments and no sentences yet" in page.inner_text("#nothing")


def test_a_reader_decides_nothing(project, reading, page):
    opened(page, reading)
    assert press(page, "Enter") == "This review is read-only."
    assert lines(project) == []
