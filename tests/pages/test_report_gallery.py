"""The gallery of a report in Chromium: cards, pages, previews that play, keys."""

from __future__ import annotations

from reelscore.report.html import previews, write_report
from support.report_pages import STATUS, TITLE, sort_items, wait_for

CARD = ".card:visible"


def cards(page):
    return page.locator(f"{CARD} h3 bdi").all_inner_texts()


def test_cards_show_what_all_systems_say(opened, gallery):
    page = opened(gallery.path).page
    card = page.locator(CARD).first
    report = gallery.report
    systems = report.table.systems
    assert card.locator("dt bdi").all_inner_texts() == systems
    item = report.items[0]
    assert card.locator("dd").all_inner_texts() == [report.captions[s][item] for s in systems]
    shown = [f"{report.table[s]['meteor'].items[item]:.4f}" for s in systems]
    assert card.locator("dt span").all_inner_texts() == shown
    assert card.locator("summary").inner_text() == "3 references"
    card.locator("summary").click()
    assert card.locator("li").all_inner_texts() == list(report.references[item])
    assert page.locator(CARD).count() == 15
    assert page.locator(".strip.none").count() == 1  # of the clip without a video


def test_a_bound_is_nowhere_the_best(opened, bounded):
    page = opened(bounded.path, "#item=clip05").page
    table = bounded.report.table
    assert max(table.systems, key=lambda name: table[name]["meteor"].score) == "human"
    page.locator("#leaderboard thead button", has_text="METEOR").click()
    rows = page.locator("#leaderboard tbody tr")
    assert "human‡" in rows.last.inner_text()  # it is not ranked
    groups = page.locator("#items tbody", has=page.locator("td.best"))
    bold = {
        "leaderboard": page.locator("#leaderboard tr:has(td.best) th bdi").all_inner_texts(),
        "item": groups.locator("th bdi").all_inner_texts(),
    }
    assert all(names and "human" not in names for names in bold.values()), bold
    page = opened(bounded.path).page
    bold = page.locator(f"{CARD} dt:has(.best) bdi").all_inner_texts()
    assert len(bold) >= 15
    assert "human" not in bold


def test_the_gallery_is_searched_and_sorted(opened, gallery):
    page = opened(gallery.path).page
    page.get_by_label("Search").fill("skateboard")
    wait_for(page, STATUS, "^1 of 15 items; scores: METEOR$")
    assert cards(page) == ["clip03"]
    assert page.locator(f"{CARD} mark").first.inner_text() == "skateboard"
    page.get_by_label("Search").fill("")
    wait_for(page, STATUS, "^15 of 15")
    table = gallery.report.table
    for by, value in {
        "score": lambda own: sum(own) / len(own),
        "spread": lambda own: max(own) - min(own),
    }.items():
        sort_items(page, by, Score="CIDEr")
        scores = {
            item: value([table[system]["cider"].items[item] for system in table.systems])
            for item in gallery.report.items
        }
        assert cards(page)[0] == max(scores, key=scores.get)
        assert page.locator(f"{CARD} h3 .dim").first.inner_text() == f"{max(scores.values()):.4f}"


def test_a_card_opens_its_item_and_back(opened, gallery):
    page = opened(gallery.path).page
    page.get_by_role("button", name="Open clip03").click()
    assert page.locator(TITLE).inner_text() == "clip03"
    assert page.get_by_role("img", name="6 frames of clip03, in their order").is_visible()
    assert page.locator(CARD).count() == 0
    page.get_by_role("button", name="Gallery").click()
    assert page.evaluate("document.activeElement.ariaLabel") == "Open clip03"


def test_a_link_opens_the_item(opened, gallery):
    page = opened(gallery.path, "#item=clip05").page
    assert page.locator(TITLE).inner_text() == "clip05"
    assert page.locator(CARD).count() == 0


def test_pages_and_keys(opened, unscored):
    page = opened(unscored.path).page
    assert page.locator(CARD).count() == 24
    assert page.locator(".pager span").first.inner_text() == "Page 1 of 5"
    page.get_by_role("button", name="Next page").first.click()
    assert cards(page)[0] == "video024"
    assert page.evaluate("document.activeElement.ariaLabel") == "Next page"
    page.get_by_role("button", name="Open video047").focus()
    page.keyboard.press("j")  # over the end of the page
    assert page.evaluate("document.activeElement.ariaLabel") == "Open video048"
    page.keyboard.press("k")
    assert page.evaluate("document.activeElement.ariaLabel") == "Open video047"
    page.keyboard.press("Enter")
    assert page.locator(TITLE).inner_text() == "video047"
    page.keyboard.press("g")
    assert page.evaluate("document.activeElement.ariaLabel") == "Open video047"


def test_captions_without_scores(opened, unscored):
    page = opened(unscored.path).page
    assert page.locator("#leaderboard").count() == 0
    assert page.locator("header p").inner_text() == "200 captions of 2 systems on 100 items."
    options = page.get_by_label("Sort by").locator("option").all_inner_texts()
    assert options == ["order of the data", "length of the caption"]
    sort_items(page, "length")
    assert page.locator(f"{CARD} dt span").count() == 0


PLAYING = "each => getComputedStyle(each).animationName"


def test_pictures_have_the_width_of_their_card_on_a_phone(opened, gallery):
    page = opened(gallery.path).page
    page.set_viewport_size({"width": 390, "height": 844})
    page.locator(".strip").first.evaluate("own => own.style.setProperty('--shape', 4 / 3)")
    wide = page.locator(f"{CARD} button").first.evaluate(
        "own => [own, own.querySelector('.strip')].map((e) => e.getBoundingClientRect().width)"
    )
    assert wide[0] > 340
    assert abs(wide[0] - wide[1]) < 3


def test_previews_play_when_pointed_at(opened, gallery):
    page = opened(gallery.path).page
    strip = page.locator(f"{CARD} .strip").first
    assert strip.evaluate(PLAYING) == "none"
    strip.hover()
    assert strip.evaluate(PLAYING) == "strip"


def test_nothing_moves_unasked_for_those_who_want_that(opened, gallery):
    page = opened(gallery.path, reduced_motion="reduce").page
    strip = page.locator(f"{CARD} .strip").first
    strip.hover()
    assert strip.evaluate(PLAYING) == "none"
    page.get_by_role("button", name="Play all previews").click()
    assert strip.evaluate(PLAYING) == "strip"
    page.get_by_role("button", name="Stop all previews").click()
    assert strip.evaluate(PLAYING) == "none"


def test_many_pictures_lie_beside_the_page(opened, gallery, tmp_path, monkeypatch):
    monkeypatch.setattr("reelscore.report.html.page.MOST_EMBEDDED", 1000)
    path = tmp_path / "videos" / "report.html"  # a name that the fixture lets through
    path.parent.mkdir()
    for _ in range(2):  # an earlier folder is replaced
        write_report(path, gallery.report)
    files = sorted(each.name for each in previews.picture_folder(path).iterdir())
    assert files[0] == "000000.webp"
    assert len(files) == 14
    page = opened(path).page
    address = page.locator(".strip").first.evaluate("each => each.style.backgroundImage")
    assert address == 'url("report_previews/000000.webp")'
    loaded = """async (source) => {
      const image = new Image();
      image.src = source;
      await image.decode();
      return image.naturalWidth;
    }"""
    assert page.evaluate(loaded, "report_previews/000000.webp") == 960
