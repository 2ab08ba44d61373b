"""An organiser in a real browser."""

from __future__ import annotations

import json

import pytest
from browsing import faults, log_in, press
from serving import serve

from reelscore import examples
from reelscore.human.building import Design, make_hits
from reelscore.human.campaign import Campaign


@pytest.fixture
def served(tmp_path):
    with serve(str(tmp_path / "clips.db")) as running:
        yield running


@pytest.fixture
def clips(tmp_path):
    """The files of the embedded example, as an organiser has them."""
    systems, references = examples.clips()
    files = {}
    for name, captions in {**systems, "references": references}.items():
        if name != "human":
            files[name] = tmp_path / f"{name}.json"
            files[name].write_text(json.dumps(captions))
    return files


def test_from_upload_to_results(served, page, clips, shoot):
    log_in(page, served)
    assert faults(page) == []
    page.click("text=New campaign")
    page.fill("input[name=name]", "Fifteen clips")
    page.set_input_files(
        "input[name=systems]", [clips[name] for name in ("strong", "weak", "broken")]
    )
    page.set_input_files("input[name=references]", clips["references"])
    page.fill("input[name=layout]", "systems:15 humans:10 degraded_humans:10 repeated_systems:5")
    assert faults(page) == []
    shoot(page, "organiser_new")
    press(page, "Make the campaign")
    page.wait_for_selector("text=Nobody has begun yet")
    press(page, "Open for raters")
    page.wait_for_selector("#live >> text=open")

    campaign = served.campaign("fifteen-clips")
    quality = {"human": 88, "strong": 70, "weak": 45, "broken": 12}
    for rater in range(3):
        held = campaign.claim(f"r{rater}")
        for k, task in enumerate(held.tasks):
            shown = task.shown[0]
            score = quality[shown.system] / (3 if shown.kind == "degraded" else 1)
            score = 50 if rater == 2 else min(100, round(score) + (7 * k + rater) % 12)
            begun = campaign.clock() - 8
            campaign.submit(
                held.id,
                held.rater,
                task.id,
                {"adequacy": [score]},
                started=begun,
                submitted=begun + 7,
            )
    # without a reload: the page asks by itself
    page.wait_for_selector("#raters >> text=passed")
    page.wait_for_selector("#raters >> text=constant")
    assert faults(page) == []
    shoot(page, "rating-quality")
    row = page.locator("#raters tr", has_text="r2")
    row.locator("summary").click()
    row.locator("select").select_option("exclude")
    row.locator("input[name=reason]").fill("always the same score")
    row.get_by_role("button", name="Decide").click()
    page.wait_for_selector("#raters >> td:has-text('exclude')")
    assert campaign.excluded() == {"r2"}

    page.click("text=Results")
    assert page.inner_text("table >> nth=0").splitlines()[1].startswith("human")
    assert faults(page) == []
    shoot(page, "rating-results")
    page.click("text=Raters and log")
    page.fill("input[name=number]", "2")
    press(page, "Make links")
    assert page.inner_text("pre.links").count("/r/") == 2
    page.goto(f"{served.url}/organise")
    shoot(page, "organiser_campaigns")
    assert faults(page) == []


def test_export_and_log_out(served, page, tmp_path):
    systems, references = examples.clips()
    people = {item: texts[0] for item, texts in references.items()}
    systems.pop("human")
    design = Design(
        "direct-assessment", "systems:15 humans:10 degraded_humans:10", 1, 10, "human", 1
    )
    names = [*systems, "human"]
    with Campaign.create(tmp_path / "clips.db", "Clips", systems=names) as campaign:
        campaign.add_hits(make_hits(design, systems, people, ()).hits)
    log_in(page, served)
    page.click("text=Clips")
    with page.expect_download() as download:
        page.click("text=Export")
    assert download.value.suggested_filename == "clips.jsonl"
    assert json.loads(download.value.path().read_text().splitlines()[0])
    press(page, "Log out")
    page.wait_for_url("**/organise/login")
    page.goto(f"{served.url}/organise/c/clips")
    page.wait_for_url("**/organise/login")
