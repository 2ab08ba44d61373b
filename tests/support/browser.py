"""What people do in a real browser."""

from __future__ import annotations

from support.server import OWNER, PASSWORD

_LEVELS = {"wcag2a", "wcag2aa", "wcag21a", "wcag21aa"}


def new_visitor(chromium, **choices):
    """A new visitor's browser, with cookies of its own."""
    context = chromium.new_context(**choices)
    # only for what never comes: a busy machine may take long, and no test is about speed
    context.set_default_timeout(120_000)
    return context


def press(page, name):
    """Press a button; where that leads to another page, it is there afterwards."""
    page.get_by_role("button", name=name, exact=True).click()
    page.wait_for_load_state()


def follow(page, name, *, exact=True):
    """Follow the first link of a name; the page it leads to is there afterwards."""
    page.get_by_role("link", name=name, exact=exact).first.click()
    page.wait_for_load_state()


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
    slider = page.locator("input[type=range]").nth(number)
    box = slider.bounding_box()  # where it lies may change while the page is laid out
    slider.click(position={"x": box["width"] * value / 100, "y": box["height"] / 2})


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
    """Tell whether nothing sticks out to the side, once all is drawn for the window as it is."""
    page.evaluate("new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done)))")
    return page.evaluate("document.documentElement.scrollWidth <= innerWidth")


def faults(page):
    """Give what the accessibility checker finds.

    Of what WCAG 2.1 demands at the levels A and AA that is everything, of what is only good
    practice the serious and critical.
    """
    from axe_playwright_python.sync_playwright import Axe

    violations = Axe().run(page).response["violations"]
    return [
        (each["id"], [node["html"] for node in each["nodes"]][:3])
        for each in violations
        if _LEVELS & {*each["tags"]} or each["impact"] in ("serious", "critical")
    ]
