"""The explorer of a report, in Chromium: search, filter, sort, links, keyboard, stories."""

from __future__ import annotations

import json
import re

import numpy as np
import pytest
from scipy.stats import rankdata

from reelscore import examples, score_systems
from reelscore.data.tables.scales import number_format
from reelscore.metrics.meteor import Meteor
from reelscore.report.html import report_of, write_report
from reelscore.significance.contrasts import between_scores
from support.report_pages import STATUS, TITLE, rows, sort_items, wait_for

ODD_IDS = ["a b", "a  b", "a#b&c=d", "50%", "%41", 'it\'s "so"', "ümlaut 犬 🎬", "a/b?c", "+"]


def address(page):
    """Give the address now; what Playwright knows of it may be a little older."""
    return page.evaluate("location.href")


def test_search_finds_captions_and_references(demo, opened):
    page = opened(demo.path).page
    systems, references = examples.clips()
    page.fill("#search", "ACCORDION")
    expected = [
        item
        for item in references
        if any("accordion" in text.lower() for text in references[item])
        or any("accordion" in captions[item].lower() for captions in systems.values())
    ]
    wait_for(page, STATUS, f"^{len(expected)} of 15")
    assert rows(page) == expected
    page.fill("#search", "clip07")
    wait_for(page, ".row b", "clip07")  # one item was found before, too
    assert rows(page) == ["clip07"]
    page.fill("#search", "no such words")
    wait_for(page, STATUS, "^0 of 15")
    page.fill("#search", "")
    wait_for(page, STATUS, "^15 of 15")


def test_sorted_and_filtered_by_a_score(demo, opened):
    page = opened(demo.path).page
    scores = demo.report.table["weak"]["cider"].items
    page.get_by_label("Sort by").select_option("score")
    page.locator("#items").get_by_label("Score", exact=True).select_option(label="CIDEr")
    page.locator("#items").get_by_label("System", exact=True).select_option(label="weak")
    page.get_by_label("First", exact=True).select_option("highest")
    order = sorted(scores, key=lambda item: -scores[item])
    assert rows(page)[:3] == order[:3]
    page.get_by_label("First", exact=True).select_option("lowest")
    assert rows(page)[0] == min(scores, key=scores.__getitem__)
    page.get_by_label("From").fill("0.5")
    kept = [item for item in scores if scores[item] >= 0.5]
    wait_for(page, STATUS, f"^{len(kept)} of 15")


@pytest.mark.shared
def test_disagreement_with_people(sa_2020, opened):
    page = opened(sa_2020.path).page
    page.get_by_label("Sort by").select_option("scores")
    page.get_by_label("First score").select_option(label="METEOR")
    page.get_by_label("Second score").select_option(label="z (people)")
    page.locator("#items").get_by_label("System", exact=True).select_option(label="PicSOM")
    high = rows(page)[0]
    page.get_by_label("First", exact=True).select_option("lowest")
    low = rows(page)[0]
    table = sa_2020.report.table
    items = [item for item in table["PicSOM"]["meteor"].items if item in table["PicSOM"]["z"].items]
    meteor, people = (table.matrix(name, ["PicSOM"], items)[0] for name in ("meteor", "z"))
    gap = rankdata(meteor) - rankdata(people)
    assert (high, low) == (items[int(gap.argmax())], items[int(gap.argmin())])
    most = between_scores(table, "meteor", "z", ["PicSOM"], top=1)[0]
    assert most.item == (high if gap.max() > -gap.min() else low)


def test_an_item_in_full(demo, opened):
    page = opened(demo.path, "#item=clip08").page
    systems, references = examples.clips()
    assert page.locator(TITLE).inner_text() == "clip08"
    for system, captions in systems.items():
        group = page.locator(".captions tbody", has=page.get_by_role("button", name=system))
        assert group.locator("td.text").inner_text() == captions["clip08"]
        shown = group.locator("td:not(.text)").all_inner_texts()
        table = demo.report.table
        columns = {m: table.matrix(m, table.systems, ["clip08"])[:, 0] for m in table.metrics}
        assert shown == [  # in one format for all systems
            number_format(columns[m]).text(table[system][m].items["clip08"]) for m in table.metrics
        ]
    texts = page.locator(".references li bdi").all_inner_texts()
    assert texts == references["clip08"]


@pytest.mark.parametrize("width", [1280, 390])
def test_alignment_and_ngrams_explain_the_scores(demo, opened, width):
    page = opened(demo.path, "#item=clip08", width=width).page
    systems, references = examples.clips()
    page.get_by_role("button", name="strong").first.click()
    texts = references["clip08"]
    best = max(texts, key=lambda text: Meteor().align(systems["strong"]["clip08"], text).score)
    alignment = Meteor().align(systems["strong"]["clip08"], best)
    assert page.locator(".drawn path.match:not(.inner)").count() == len(alignment.matches)
    kinds = [match.module for match in alignment.matches]
    label = page.locator(".drawn svg").get_attribute("aria-label")
    assert re.findall(r"\((\w+)\)", label) == kinds
    assert page.locator(".references li.best bdi").inner_text() == best
    shares = [float(text) for text in page.locator(".ngrams td:nth-child(2)").all_inner_texts()]
    more = page.locator("p", has_text="more, adding")
    rest = float(more.inner_text().split()[-1]) if more.count() else 0.0
    score = demo.report.table["strong"]["cider"].items["clip08"]
    assert sum(shares) + rest == pytest.approx(score, abs=0.02)


@pytest.mark.parametrize("width", [1280, 390])
def test_long_alignments_are_written_out(opened, tmp_path, width):
    """A picture with a line for each word would be several screens high."""
    caption = " ".join(f"a man{k} rides his horse{k} past" for k in range(30))
    reference = " ".join(f"the man{k} rides a horse{k} past" for k in range(30))
    table = score_systems({"ours": {"v1": caption}}, {"v1": [reference]}, "meteor")
    write_report(tmp_path / "page.html", report_of(table))
    page = opened(tmp_path / "page.html", "#item=v1", width=width).page
    alignment = Meteor().align(caption, reference)
    sides = page.locator(".runs p").all()
    assert [side.locator(".run").count() for side in sides] == 2 * [len(alignment.matches)]
    ours, theirs = (set(side.locator("sup").all_inner_texts()) for side in sides)
    assert ours == theirs == {str(k + 1) for k in range(len(ours))}
    words = sides[0].evaluate("p => [...p.querySelectorAll('span')].map((s) => s.textContent)")
    assert " ".join(words) == caption
    assert page.locator(".runs").bounding_box()["height"] < 2600
    sides[0].locator(".run").first.hover()
    assert [side.locator(".run.here").count() > 0 for side in sides] == [True, True]


def test_tuples_explain_spice(opened, tmp_path):
    tuples = {
        "a red car": [["car"], ["car", "red"]],
        "a red automobile turns": [["automobile"], ["automobile", "red"], ["automobile", "turn"]],
    }
    lines = [{"test": text, "test_tuples": each} for text, each in tuples.items()]
    (tmp_path / "tuples.jsonl").write_text("".join(json.dumps(line) + "\n" for line in lines))
    systems, references = {"ours": {"v1": "a red car"}}, {"v1": ["a red automobile turns"]}
    metric = f"spice|tuples:{tmp_path / 'tuples.jsonl'}"
    table = score_systems(systems, references, metric)
    write_report(tmp_path / "page.html", report_of(table))
    page = opened(tmp_path / "page.html", "#item=v1").page
    caption, together = (element.locator("li") for element in page.locator(".tuples").all())
    assert caption.all_inner_texts() == ["✓ car = automobile", "✓ car, red = automobile, red"]
    assert together.all_inner_texts() == ["✓ automobile", "✓ automobile, red", "automobile, turn"]
    assert page.locator("p", has_text="2 of the caption’s 2 tuples match").count() == 1


def test_links_lead_to_items(demo, opened):
    page = opened(demo.path).page
    page.evaluate("location.hash = '#item=clip11'")
    wait_for(page, TITLE, "clip11")
    page.locator(".row", has_text="clip12").click()
    assert address(page).endswith("#item=clip12")
    page.evaluate("location.hash = '#item=nothing'")
    assert page.locator(TITLE).inner_text() == "clip12"
    page.get_by_role("button", name="Next item").click()
    assert address(page).endswith("#item=clip13")
    page.context.grant_permissions(["clipboard-read", "clipboard-write"])
    page.evaluate("setTimeout = () => 0")  # what the button says stays to be read
    page.get_by_role("button", name="Copy link").click()
    wait_for(page, ".detail .bar button", "Copied")
    assert page.evaluate("navigator.clipboard.readText()").endswith("demo.html#item=clip13")


def test_dots_lead_to_items(demo, opened):
    page = opened(demo.path).page
    canvas = page.locator("#metrics canvas")
    canvas.scroll_into_view_if_needed()
    box = canvas.bounding_box()
    for share in np.linspace(0.2, 0.9, 30):
        canvas.click(position={"x": box["width"] * share, "y": box["height"] * 0.3})
        if "#item=" in address(page):
            break
    assert "#item=clip" in address(page)


def test_keyboard(demo, opened):
    page = opened(demo.path).page
    page.locator(".list").focus()
    page.keyboard.press("ArrowDown")
    page.keyboard.press("ArrowDown")
    assert page.locator(TITLE).inner_text() == "clip03"
    page.keyboard.press("End")
    assert page.locator(TITLE).inner_text() == "clip15"
    active = page.locator(".list").get_attribute("aria-activedescendant")
    assert page.locator(f"#{active}").get_attribute("aria-selected") == "true"
    page.keyboard.press("k")
    assert page.locator(TITLE).inner_text() == "clip14"
    page.keyboard.press("/")
    page.keyboard.type("j")  # a letter in the search, not a command
    assert page.locator("#search").input_value() == "j"
    assert page.locator(TITLE).inner_text() == "clip14"


def test_everything_can_be_reached_by_tab(demo, opened):
    page = opened(demo.path).page
    reached = set()
    for _ in range(150):
        page.keyboard.press("Tab")
        reached.add(page.evaluate("document.activeElement.closest('section')?.id"))
    assert {"leaderboard", "items", "wins", "distributions", "metrics", "length"} <= reached


def test_sorted_by_any_score(demo, opened):
    page = opened(demo.path).page
    table, items = demo.report.table, demo.report.items
    sort_items(page, "score")
    for name in table.metrics:
        label = f"{name} (people)" if name in demo.report.human else table.labels[name]
        page.locator("#items").get_by_label("Score", exact=True).select_option(label=label)
        means = np.nanmean(table.matrix(name, table.systems, items), axis=0)
        for which, sign in (("highest", -1), ("lowest", 1)):
            page.get_by_label("First", exact=True).select_option(which)
            shown = [means[items.index(item)] for item in rows(page)]
            assert shown == pytest.approx(sorted(means, key=lambda v, s=sign: s * v)[: len(shown)])


@pytest.mark.parametrize("other", ["cider", "judgments"])
def test_sorted_by_disagreement(demo, opened, other):
    page = opened(demo.path).page
    label = f"{other} (people)" if other in demo.report.human else demo.report.table.labels[other]
    sort_items(page, "scores", First_score="METEOR", Second_score=label, System="strong")
    contrasts = between_scores(demo.report.table, "meteor", other, ["strong"], top=15)
    sizes = {each.item: each.size for each in contrasts}
    ends = [rows(page)[0]]
    page.get_by_label("First", exact=True).select_option("lowest")
    ends.append(rows(page)[0])
    assert max(sizes[item] for item in ends) == max(sizes.values())
    assert "(1: best by the one, worst by the other)" in page.locator(STATUS).inner_text()


def test_sorted_by_two_systems(demo, opened):
    page = opened(demo.path).page
    sort_items(page, "systems", Score="CIDEr", First_system="weak", Second_system="strong")
    table = demo.report.table
    apart = table["weak"]["cider"].items.array - table["strong"]["cider"].items.array
    assert rows(page)[0] == demo.report.items[int(apart.argmax())]


def test_odd_ids_have_links(tmp_path, opened):
    captions = {item: f"a dog {k}" for k, item in enumerate(ODD_IDS)}
    table = score_systems({"me": captions}, {item: ["a dog runs"] for item in ODD_IDS}, "rouge_l")
    path = tmp_path / "odd.html"
    write_report(path, report_of(table))
    page = opened(path).page
    for k in range(len(ODD_IDS)):
        page.locator(".row").nth(k).click()
        again = opened(path, "#" + address(page).partition("#")[2]).page
        if ODD_IDS[k] != "a  b":  # shown as "a b", which is there already
            assert again.locator(".captions td.text").inner_text() == f"a dog {k}"
        assert again.locator(TITLE).inner_text() == " ".join(ODD_IDS[k].split())


def test_long_captions_show_what_nothing_bears_out(tmp_path, opened):
    pytest.importorskip("onnxruntime")
    caption = "A man lights a **fire**.\n\nA cat knocks over a vase. A dog is lying on a rug."
    reference = "a man opens a door. he lights a fire in the stove. a dog lies on the carpet."
    table = score_systems({"me": {"v": caption}}, {"v": [reference]}, "bertha")
    path = tmp_path / "long.html"
    write_report(path, report_of(table))
    page = opened(path, "#item=v").page
    assert page.locator(".captions span.alone").all_inner_texts() == ["A cat knocks over a vase"]
    assert page.locator(".references span.alone").all_inner_texts() == ["a man opens a door"]
    marked = page.locator(".sentences li.alone").all_inner_texts()
    assert [text.partition("✗ ")[2].split("\n")[0] for text in marked] == [
        "not borne out",
        "left out",
    ]
    page.fill("#search", "CAT")  # what is searched for is marked inside
    wait_for(page, ".captions span.alone mark", "cat")


def test_long_details_of_few_items_lie_on_nothing(tmp_path, opened):
    caption = "a dog runs across the wet sand and barks at the sea. " * 20
    table = score_systems({"me": {"v": caption, "w": "a cat"}}, {"v": [caption], "w": ["a cat"]})
    path = tmp_path / "few.html"
    write_report(path, report_of(table))
    page = opened(path, "#item=v").page
    detail = page.locator(".detail").bounding_box()
    below = page.get_by_role("heading", name="Distributions").bounding_box()
    assert detail["y"] + detail["height"] <= below["y"]


# Stories


@pytest.mark.shared
def test_a_story_with_its_matches(bmt, opened):
    video = next(
        name
        for name, each in bmt.report.timelines["BMT 1"].items()
        if len(each.comparisons) == 2 and len(each.comparisons[0].matches) > 2
    )
    page = opened(bmt.path, f"#item={video}").page
    comparisons = bmt.report.timelines["BMT 1"][video].comparisons
    pictures = page.locator(".story svg")
    assert pictures.count() == 2
    for k, each in enumerate(comparisons):
        picture = pictures.nth(k)
        assert picture.locator("rect.bar-of").count() == len(each.references) + len(each.candidates)
        assert picture.locator("path.join").count() == len(each.matches)
        labels = [f"IoU {pair.iou:.2f} f {pair.f:.2f}" for pair in each.matches]
        assert picture.locator("text", has_text="IoU").all_text_contents() == labels
        assert f"F1 {each.f1:.4f}" in page.locator(".story h4").nth(k).inner_text()
    sentences = page.locator(".story li bdi").all_inner_texts()
    assert comparisons[0].references[0].sentence.split()[0] in sentences[0]
    page.get_by_role("button", name="BMT 2").first.click()
    other = bmt.report.timelines["BMT 2"][video].comparisons[0]
    assert pictures.first.locator("path.join").count() == len(other.matches)


def test_a_story_is_found_by_its_words(told, opened):
    page = opened(told.path).page
    sentence = told.report.timelines["concise"]["v_kayak"].comparisons[0].references[0].sentence
    page.fill("#search", sentence.upper())
    wait_for(page, STATUS, "^1 of 5")
    assert rows(page) == ["v_kayak"]
    page.locator(".row").click()
    assert page.locator("mark").first.inner_text() == sentence
