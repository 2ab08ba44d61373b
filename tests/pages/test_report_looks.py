"""How reports look, in Chromium: accessible, in any width, in light and dark, on paper."""

from __future__ import annotations

import re

import pytest

from support.report_pages import LONG_NAMES, PREFIX, TITLE, names

EMBEDDED = ["demo", "compared", "agreeing", "told", "campaign", "long_names", "other_names"]
EMBEDDED += ["gallery", "unscored"]
REAL = [pytest.param(name, marks=pytest.mark.shared) for name in ("sa_2020", "bmt")]
PAPER = 703  # pixels: A4 less margins of 12 mm


@pytest.fixture
def path(request, name):
    """The page of a report of that kind."""
    fixture = request.getfixturevalue(name)
    return getattr(fixture, "path", fixture)


@pytest.mark.parametrize("name", [*EMBEDDED, *REAL])
@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_accessibility(opened, path, scheme):
    axe = pytest.importorskip("axe_playwright_python.sync_playwright")
    # axe is a script of its own, which the page's policy would not let run
    page = opened(path, color_scheme=scheme, bypass_csp=True).page
    # in dark only colours differ
    options = {"runOnly": ["color-contrast"]} if scheme == "dark" else None
    violations = axe.Axe().run(page, options=options).response["violations"]
    serious = [
        (each["id"], [node["html"][:120] for node in each["nodes"][:3]])
        for each in violations
        if each["impact"] in ("serious", "critical")
    ]
    assert serious == []


@pytest.mark.parametrize("name", [*EMBEDDED, "wide", *REAL])
def test_nothing_sticks_out(opened, path):
    page = opened(path).page
    for width in (1280, 390):
        page.set_viewport_size({"width": width, "height": 900})
        page.wait_for_selector(f"html[data-width='{width}']")  # figures are drawn anew
        assert page.evaluate("document.documentElement.scrollWidth") <= width


@pytest.mark.parametrize("name", [*EMBEDDED, "wide", *REAL])
def test_nothing_is_cut_off_on_paper(opened, path):
    page = opened(path, width=PAPER).page
    page.emulate_media(media="print")
    ends = page.locator("main :is(table, svg, canvas, p, h2, h3)").evaluate_all(
        "all => all.map((each) => each.getBoundingClientRect().right)"
    )
    assert max(ends) <= PAPER
    shapes = page.locator("canvas").evaluate_all(
        "all => all.map((each) => each.clientWidth / each.clientHeight)"
    )
    assert all(1.2 < shape < 1.6 for shape in shapes)  # dots stay round


@pytest.mark.parametrize("name", ["long_names", "other_names"])
@pytest.mark.parametrize("width", [1280, 821, 390])
def test_long_names_lie_on_nothing(opened, path, width):
    page = opened(path, width=width).page
    assert page.locator("#leaderboard .scroll").evaluate("each => each.scrollLeft") == 0
    lie_over = page.locator("#leaderboard tr, .captions tr").evaluate_all(
        """rows => rows.flatMap((row) => {
          const ends = [...row.cells].map((cell) => {
            const range = document.createRange();
            range.selectNodeContents(cell);
            return range.getBoundingClientRect();
          });
          const overlap = (one, other) => one.left < other.right && one.top < other.bottom
            && other.top < one.bottom;
          return ends.slice(1).filter((one, k) => overlap(one, ends[k])).map(() => row.innerText);
        })"""
    )
    assert lie_over == []
    names = page.locator("#interval-plot text[text-anchor=end]")
    assert names.evaluate_all("all => all.every((e) => e.getBoundingClientRect().left >= 0)")


def test_what_names_have_in_common_is_said_once(long_names, other_names, opened):
    page = opened(long_names.path).page
    assert f"The systems' names begin with “{PREFIX}”, left out here." in page.inner_text("header")
    assert names(page) == list(LONG_NAMES)
    assert PREFIX not in page.inner_text("main section#leaderboard")
    assert PREFIX not in page.inner_text("#more")
    page = opened(other_names.path).page
    assert names(page)[0] == PREFIX + LONG_NAMES[0]
    assert "left out" not in page.inner_text("header")


def test_light_and_dark(demo, opened):
    page = opened(demo.path, color_scheme="dark").page

    def paper() -> str:
        return page.evaluate("getComputedStyle(document.body).backgroundColor")

    assert paper() == "rgb(22, 24, 27)"
    page.get_by_role("button", name="Switch to light colours").click()
    assert paper() == "rgb(255, 255, 255)"


def test_print(demo, opened, tmp_path):
    page = opened(demo.path, "#item=clip05", color_scheme="dark").page
    page.emulate_media(media="print")
    assert not page.locator(".list").is_visible()
    assert not page.locator("nav").is_visible()
    assert page.locator(TITLE).is_visible()
    assert page.locator("#leaderboard table").is_visible()
    paper = page.pdf(path=tmp_path / "report.pdf", format="A4")
    assert paper.startswith(b"%PDF")
    assert len(re.findall(rb"/Type\s*/Page\b", paper)) in range(2, 8)
