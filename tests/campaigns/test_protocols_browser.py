"""Every other protocol once, in a real browser."""

from __future__ import annotations

import pytest

from support.browser import at_task, begin, faults, is_within, slide, watch
from support.server import serve, small_campaign


@pytest.fixture
def served_with(tmp_path, videos):
    """Serve a campaign of a protocol."""
    from contextlib import ExitStack

    with ExitStack() as stack:

        def start(protocol, captions, **pages):
            database = tmp_path / f"{protocol}.db"
            systems = [f"system-{k}" for k in range(captions)] + ["human"]
            shape = {"protocol": protocol, "captions": captions, "tasks": 2, "systems": systems}
            small_campaign(database, **shape, pages=pages)
            return stack.enter_context(serve(str(database), videos=videos))

        yield start


def answers(served):
    return [(row.criterion, row.system, row.score) for row in served.campaign("dogs").judgments()]


def test_adequacy_and_fluency(served_with, page, shoot):
    served = served_with("adequacy-fluency", 1)
    begin(page, served.invite("dogs")[0])
    at_task(page, 1)
    watch(page)
    slide(page, 80, 0)
    assert page.locator("#next").is_disabled()
    slide(page, 20, 1)
    assert faults(page) == []
    shoot(page, "protocol_adequacy_fluency")
    page.click("#next")
    at_task(page, 2)
    scores = {criterion: score for criterion, _, score in answers(served)}
    assert scores == pytest.approx({"adequacy": 80, "fluency": 20}, abs=3)


def test_ranking_without_ties(served_with, page, shoot):
    served = served_with("ranking", 3, ties=False)
    page.set_viewport_size({"width": 360, "height": 740})
    begin(page, served.invite("dogs")[0])
    at_task(page, 1)
    watch(page)
    criteria = ("correctness", "relevance", "grammar", "helpful")
    for criterion in criteria:
        for slot, rank in enumerate((2, 1, 1)):
            page.check(f"input[name={criterion}-{slot}][value='{rank}']")
    assert page.locator("#next").is_disabled()
    page.wait_for_selector("text=Each text needs a place of its own")
    for criterion in criteria:
        page.check(f"input[name={criterion}-2][value='3']")
    assert faults(page) == []
    assert is_within(page)
    shoot(page, "protocol_ranking_360")
    page.click("#next")
    at_task(page, 2)
    ranks = [score for criterion, _, score in answers(served) if criterion == "grammar"]
    assert ranks == [2, 1, 3]


COVERED = """(element) => {
    const { left, top } = element.getBoundingClientRect();
    return !element.contains(document.elementFromPoint(left + 8, top + 8));
}"""


@pytest.mark.parametrize(("width", "height"), [(1280, 720), (390, 844)])
def test_the_video_stays_in_view_while_ranking(served_with, page, shoot, width, height):
    served = served_with("ranking", 5)
    page.set_viewport_size({"width": width, "height": height})
    begin(page, served.invite("dogs")[0])
    at_task(page, 1)
    watch(page)
    video = page.locator("#video")
    assert video.bounding_box()["height"] < height / 2
    for part in page.locator("blockquote, fieldset.question").all():
        part.evaluate("(element) => element.scrollIntoView()")
        box = video.bounding_box()
        assert box["y"] >= 0
        assert box["y"] + box["height"] < height / 2
        assert not part.evaluate(COVERED)  # it lies below the video or beside it
        assert not video.evaluate(COVERED)
    first = page.locator("fieldset.question").nth(1).locator("label").first
    first.locator("input").focus()  # from below, as with Shift and Tab; the browser scrolls
    assert not first.evaluate(COVERED)
    assert page.locator("#replay").is_visible()
    assert is_within(page)
    assert faults(page) == []
    shoot(page, f"protocol_ranking_five_{width}", whole=False)
    if width == 1280:  # wide enough to have the texts in view too
        boxes = [quote.bounding_box() for quote in page.locator("blockquote").all()]
        assert all(box["y"] >= 0 and box["y"] + box["height"] <= height for box in boxes)


def test_ranking_by_keyboard(served_with, page):
    served = served_with("ranking", 2)
    begin(page, served.invite("dogs")[0])
    at_task(page, 1)
    watch(page)
    page.locator("input[name=correctness-0]").first.focus()
    for _ in range(4):  # criteria, each with two texts: the first is second, and the other way
        for key in ("ArrowRight", "Space"):
            page.keyboard.press(key)
            page.keyboard.press("Tab")
    page.keyboard.press("Enter")
    at_task(page, 2)
    assert [score for _, _, score in answers(served)] == [2, 1] * 4


@pytest.mark.parametrize(
    ("protocol", "choices", "scores"),
    [
        ("against-reference", ["Both are similar"], [0]),
        ("forced-choice", ["The first is better", "The second is better"], [-1, 1]),
        ("preference", ["The second is much better"], [2]),
    ],
)
def test_comparisons(served_with, page, shoot, protocol, choices, scores):
    served = served_with(protocol, 2)
    begin(page, served.invite("dogs")[0])
    at_task(page, 1)
    watch(page)
    for part, words in zip(page.locator("fieldset.question").all(), choices, strict=True):
        assert page.locator("#next").is_disabled()
        part.get_by_label(words, exact=True).check()
    assert faults(page) == []
    shoot(page, f"protocol_{protocol}")
    page.click("#next")
    at_task(page, 2)
    assert [score for _, _, score in answers(served)] == scores
