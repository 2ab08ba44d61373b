"""An organiser in a real browser."""

from __future__ import annotations

import json

import pytest

from reelscore import examples
from reelscore.campaigns.campaign import Campaign
from reelscore.campaigns.hits.design import Design, make_hits
from reelscore.campaigns.pages.rater_pages import read_pages
from support.browser import faults, is_within, log_in, press
from support.server import serve, small_campaign

TABS = ("", "/raters", "/results", "/pages", "/log")


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
    page.fill("input[name=hits]", "5")
    assert faults(page) == []
    shoot(page, "organiser_new")
    press(page, "Make the campaign")
    page.wait_for_selector("text=Nobody has begun yet")
    press(page, "Open for raters")
    page.wait_for_selector("#live >> text=open")

    campaign = served.campaign("fifteen-clips")
    campaign.change_settings({"pages": {"price": 1.5}})
    quality = {"human": 88, "strong": 70, "weak": 45, "broken": 12}
    for rater in range(4):
        held = campaign.claim(f"r{rater}")
        for k, task in enumerate(held.tasks if rater < 3 else held.tasks[:12]):
            shown = task.shown[0]
            score = quality[shown.system] / (3 if shown.kind == "degraded" else 1)
            score = 50 if rater == 2 else min(100, round(score) + (7 * k + rater) % 12)
            begun = campaign.clock() - 8 - 60 * (len(held.tasks) - k)
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
    row.get_by_role("button", name="Decide about r2").click()
    page.get_by_role("radio", name="Exclude").check()
    page.get_by_label("Reason").fill("always the same score")
    assert faults(page) == []
    shoot(page, "organiser_decide")
    page.locator("#decide").get_by_role("button", name="Decide", exact=True).click()
    page.wait_for_selector("#raters >> td:has-text('exclude')")
    assert campaign.excluded() == {"r2"}

    page.click(".tabs >> text=Results")
    page.wait_for_load_state()
    assert page.inner_text("table >> nth=0").splitlines()[1].startswith("human")
    assert faults(page) == []
    shoot(page, "rating-results")
    page.click(".tabs >> text=Raters")
    page.fill("input[name=number]", "2")
    press(page, "Make links")
    assert page.inner_text("pre.links").count("/r/") == 2
    assert faults(page) == []
    for scheme, width in (("light", 1280), ("dark", 390)):
        page.set_viewport_size({"width": width, "height": 900})
        page.emulate_media(color_scheme=scheme)
        for name in ("", "new", "people", *(f"c/fifteen-clips{tab}" for tab in TABS)):
            page.goto(f"{served.url}/organise/{name}".rstrip("/"))
            assert is_within(page), name
            if scheme == "dark":  # in the light most were looked at above
                assert faults(page) == [], name
            shoot(page, f"organiser_{name.replace('/', '_') or 'campaigns'}_{width}")


def test_texts_in_a_form(served, page, tmp_path, shoot):
    """Owners change what raters read without a word of JSON."""
    small_campaign(tmp_path / "clips.db", pages={"practice": None})
    log_in(page, served)
    page.goto(f"{served.url}/organise/c/dogs/pages")
    page.locator("input[name=title]").fill("Dogs, please")
    page.get_by_label("Sliders show their number").check()
    page.click("text=A woman rides a horse")
    page.locator("textarea[name=practice_captions]").nth(1).fill("")  # removes it
    page.click("text=One more question")
    page.get_by_label("Question", exact=True).fill("What do you judge?")
    page.locator("textarea[name=choices]").first.fill("The video\n* The text")
    assert faults(page) == []
    shoot(page, "organiser_texts_filled")
    page.evaluate("scrollTo(0, 0)")
    shoot(page, "rating-texts", whole=False)
    press(page, "Save")
    page.wait_for_selector("[role=status] >> text=The texts are saved. (20")
    page.wait_for_selector("text=Question 1")
    assert page.evaluate("scrollY") == 0  # where the message is
    assert faults(page) == []
    shoot(page, "organiser_texts_saved", whole=False)
    assert page.locator("textarea[name=choices]").first.input_value() == "The video\n* The text"
    pages = read_pages(served.campaign("dogs").settings)
    assert (pages.title, pages.numbers, len(pages.practice)) == ("Dogs, please", True, 1)
    assert pages.check[0].right == 1
    assert pages.instructions == ""  # as usual, so it is not stored

    page.locator("textarea[name=choices]").first.fill("The video")
    page.locator("input[name=title]").fill("Not to be lost")
    press(page, "Save")
    page.wait_for_selector("text=Nothing was saved")
    assert page.locator("input[name=title]").input_value() == "Not to be lost"
    assert read_pages(served.campaign("dogs").settings).title == "Dogs, please"


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
