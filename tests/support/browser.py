"""What people do in a real browser."""

from __future__ import annotations

from support.server import OWNER, PASSWORD


def press(page, name):
    page.get_by_role("button", name=name, exact=True).click()


def begin(page, link):
    """Open the link, agree, and go on."""
    page.goto(link)
    press(page, "Begin")
    page.check("input[name=agree]")
    press(page, "Go on")


def watch(page):
    """Let the video run to its end, quickly."""
    page.eval_on_selector("video", "v => { v.playbackRate = 8; return v.play(); }")
    page.wait_for_selector("#questions:not([disabled])")


def slide(page, value, number=0):
    """Click a slider; it opens when the script of the page is ready."""
    page.wait_for_selector("#questions:not([disabled])")
    box = page.locator("input[type=range]").nth(number).bounding_box()
    page.mouse.click(box["x"] + box["width"] * value / 100, box["y"] + box["height"] / 2)


def at_task(page, number):
    page.wait_for_url(f"**/task/{number}")
    page.wait_for_selector("#next")


def rate_first(page, link, value):
    """Come by a link to the first task, watch its video and rate the caption."""
    begin(page, link)
    at_task(page, 1)
    watch(page)
    slide(page, value)


def log_in(page, served):
    served.add_owner()
    page.goto(f"{served.url}/organise")
    page.fill("input[name=name]", OWNER)
    page.fill("input[name=password]", PASSWORD)
    press(page, "Log in")
    page.wait_for_selector("h1")


def is_within(page):
    """Tell whether nothing sticks out to the side."""
    return page.evaluate("document.documentElement.scrollWidth <= innerWidth")


def faults(page):
    """Give what the accessibility checker finds serious."""
    from axe_playwright_python.sync_playwright import Axe

    violations = Axe().run(page).response["violations"]
    return [
        (each["id"], [node["html"] for node in each["nodes"]][:3])
        for each in violations
        if each["impact"] in ("serious", "critical")
    ]
