"""An organiser's road in a real browser: dates, grants, items with clips, and people's verdict."""

from __future__ import annotations

import pytest

from reelscore.campaigns.campaign import Campaign
from reelscore.campaigns.simulate.crowd import Crowd
from reelscore.campaigns.simulate.simulation import Truth, simulate_campaign
from support.browser import faults, follow, is_within, log_in, press
from support.challenges import OPENS, REVEALS, made_with
from support.server import serve

HERE = "/challenges/clips"


class At:
    """A clock that tests set."""

    moment = OPENS + 10**9

    def __call__(self):
        return self.moment / 1e6


@pytest.fixture(scope="module")
def served(tmp_path_factory, videos):
    folder = tmp_path_factory.mktemp("organiser")
    made_with(folder, "full", visibility="public").database.close()
    with serve(str(folder / "c.db"), clock=At(), videos=videos) as served:
        yield served


def rate(served):
    """Let a simulated crowd do the only campaign there is, and close it."""
    with Campaign.open(served.settings.database) as campaign:
        systems = sorted(set(campaign.systems) - {"human"})
        quality = dict(zip(systems, (-0.6, -0.2, 0.2, 0.6), strict=True))
        truth = Truth(quality | {"human": 1.0}, Crowd(), 1)
        hits = list(campaign.hits())
        crowd = simulate_campaign(hits, truth, seed=5, mix={"diligent": 1.0}, raters_per_hit=6)
        campaign.append(crowd.judgments)
        campaign.set_state("open", actor="ada")
        campaign.set_state("closed", actor="ada")


def decide(page, what, button, **fields):
    """Open a part of the console, fill its form in and send it; give what the next page says."""
    page.get_by_label(what, exact=True).click()
    form = page.locator("details[open] form", has=page.get_by_role("button", name=button))
    for name, value in fields.items():
        form.locator(f"input[name={name}]").fill(value)
    form.get_by_role("button", name=button).click()
    page.wait_for_load_state()
    return page.inner_text("[role=status]")


def test_from_the_console_to_the_column_of_people(served, page, shoot):
    here = served.url + HERE
    log_in(page, served)
    page.goto(f"{here}/console")
    assert faults(page) == []
    dates = page.locator("form[action$='/console/dates']")
    dates.locator("input[name=closes]").fill("2026-07-02T12:00:00Z")
    dates.locator("input[name=reason]").fill("the network was down")
    press(page, "Change the dates")
    page.goto(here)
    changed = page.inner_text("main")
    assert "2026-08-01T00:00:00Z → closes 2026-07-02T12:00:00Z" in changed
    assert "the network was down" in changed
    page.goto(f"{here}/console")
    done = decide(page, "Decide about strong", "Grant", amount="2", reason="a file was cut off")
    assert "strong may submit 2 more in main" in done
    shoot(page, "challenge-console")
    for path in ("", "/rules", "/data", "/boards/main", "/log", "/team", "/submit", "/console"):
        page.goto(here + path)
        assert faults(page) == [], path

    page.goto(f"{here}/console")
    done = decide(page, "Make the campaign of da", "Make the campaign", reason="all is in")
    assert "is made of 4 entries" in done
    rate(served)
    page.reload()
    done = decide(page, "Publish da", "Publish the column", reason="people have spoken")
    assert "The column of da is published" in done
    page.goto(f"{here}/boards/main")
    assert "people" in page.inner_text("table.board .groups")
    best = page.locator("table.board td.best").last.inner_text()
    assert float(best.split("[")[0]) > 0
    assert faults(page) == []
    shoot(page, "challenge-people")

    At.moment = REVEALS
    page.reload()
    follow(page, "Items, one by one")
    loaded = "v => v.readyState || new Promise(done => v.addEventListener('loadeddata', done))"
    page.locator("video").evaluate(loaded)
    assert faults(page) == []
    shoot(page, "challenge-items", whole=False)


def test_a_board_on_a_phone_and_on_paper(served, page, shoot):
    page.goto(f"{served.url}{HERE}/boards/main")
    page.wait_for_selector("table.board button")
    lead = page.locator("table.board small.lead").first
    assert not lead.is_visible()
    page.set_viewport_size({"width": 390, "height": 800})
    assert is_within(page)
    assert lead.inner_text().startswith("CIDEr ")  # its column may be out of sight
    page.set_viewport_size({"width": 718, "height": 1000})  # A4 without its margins
    page.emulate_media(media="print")
    for head in page.locator("table.board thead tr:last-child th").all():
        assert head.locator("button").is_visible()
    first = page.locator(".cluster.first").first
    ink = "e => [getComputedStyle(e).color, getComputedStyle(e).backgroundColor]"
    assert first.evaluate(ink) == ["rgb(0, 0, 0)", "rgba(0, 0, 0, 0)"]  # no backgrounds on paper
    assert page.locator("pre.signatures").first.is_visible()
    assert not page.get_by_role("navigation").first.is_visible()
    assert is_within(page)
    shoot(page, "challenge-paper")
