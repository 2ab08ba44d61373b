"""Reports opened in Chromium: what they show is what the tables say, and nothing goes wrong."""

from __future__ import annotations

import re
from dataclasses import replace

import numpy as np
import pytest

from reelscore import examples, score_systems
from reelscore.data.table import ItemScores, MetricResult, ScoreTable
from reelscore.meta.contrasts import between_scores
from reelscore.metrics.meteor import Meteor
from reelscore.report.grid import Cell, Grid
from reelscore.report.html import Report, Section, report_of, with_evidence, write_report
from reelscore.report.leaderboard import score_text

STATUS = "#items [role=status]"
TITLE = ".detail .bar h3"
ALL = ["demo", *(pytest.param(name, marks=pytest.mark.shared) for name in ("sa_2020", "bmt"))]


def names(page) -> list[str]:
    return page.locator("#leaderboard tbody th bdi").all_inner_texts()


def rows(page) -> list[str]:
    return page.locator(".row b").all_inner_texts()


def wait_for(page, selector: str, text: str) -> None:
    page.locator(selector).filter(has_text=re.compile(text)).first.wait_for()


# Leaderboard


def test_leaderboard_is_sorted_by_any_score(demo, opened):
    page = opened(demo.path).page
    table = demo.report.table
    for name in table.metrics:
        head = page.locator("#leaderboard").get_by_role("columnheader", name=name, exact=True)
        head.get_by_role("button").click()
        best_first = sorted(table.systems, key=lambda each: -table[each][name].score)
        if head.get_attribute("aria-sort") == "ascending":  # it was sorted by this already
            best_first.reverse()
        scores = [table[each][name].score for each in best_first]
        assert names(page) == best_first or len(set(scores)) < len(scores), name


@pytest.mark.shared
def test_leaderboard_has_the_tables_numbers(sa_2020, opened):
    page = opened(sa_2020.path).page
    table = sa_2020.report.table
    for row in page.locator("#leaderboard tbody tr").all():
        system = row.locator("bdi").inner_text()
        shown = [cell.evaluate("cell => cell.firstChild.data") for cell in row.locator("td").all()]
        assert shown == [score_text(table[system][name].score) for name in table.metrics]
    assert page.locator("#leaderboard tr.edge").count() == 4  # five clusters by people's z


@pytest.mark.shared
def test_wins_say_how_often_a_system_is_better(sa_2020, opened):
    page = opened(sa_2020.path).page
    page.select_option("#wins select", label="meteor")
    table = sa_2020.report.table
    best, worst = "RUC_AIM3", "IMFD_IMPRESEE"
    apart = table[best]["meteor"].items.array - table[worst]["meteor"].items.array
    won = (apart > 0).mean() + (apart == 0).mean() / 2
    cell = page.locator("#wins tbody tr", has_text=best).locator("td").last
    assert cell.inner_text() == f"{round(won * 100)}*"
    assert "p < .05" not in cell.get_attribute("title")
    assert cell.get_attribute("title") == "p = .015"  # the smallest of 15 pairs, 1,000 resamples


@pytest.mark.shared
def test_correlation_with_people(sa_2020, opened):
    page = opened(sa_2020.path).page
    table = sa_2020.report.table
    items = sa_2020.report.items
    x, y = (table.matrix(name, table.systems, items).ravel() for name in ("meteor", "z"))
    both = ~np.isnan(x) & ~np.isnan(y)
    expected = np.corrcoef(x[both], y[both])[0, 1]
    label = page.locator("#metrics [role=status]").inner_text()
    assert f"meteor and z of {both.sum():,} captions: pearson {expected:.3f}" in label


# Explorer


def test_search_finds_captions_and_references(demo, opened):
    page = opened(demo.path).page
    systems, references = examples.clips()
    page.fill("#search", "ACCORDION")
    found = [
        item
        for item in references
        if any("accordion" in text.lower() for text in references[item])
        or any("accordion" in captions[item].lower() for captions in systems.values())
    ]
    wait_for(page, STATUS, f"^{len(found)} of 15")
    assert rows(page) == found
    page.fill("#search", "clip07")
    wait_for(page, ".row", "clip07")
    assert rows(page) == ["clip07"]
    page.fill("#search", "no such words")
    wait_for(page, STATUS, "^0 of 15")
    page.fill("#search", "")
    wait_for(page, STATUS, "^15 of 15")


def test_sorted_and_filtered_by_a_score(demo, opened):
    page = opened(demo.path).page
    scores = demo.report.table["weak"]["cider"].items
    page.get_by_label("Sort by").select_option("score")
    page.locator("#items").get_by_label("Score", exact=True).select_option(label="cider")
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
    page.get_by_label("First score").select_option(label="meteor")
    page.get_by_label("Second score").select_option(label="z (people)")
    page.locator("#items").get_by_label("System", exact=True).select_option(label="PicSOM")
    high, low = rows(page)[0], None
    page.get_by_label("First", exact=True).select_option("lowest")
    low = rows(page)[0]
    found = between_scores(sa_2020.report.table, "meteor", "z", ["PicSOM"], top=1)[0]
    assert found.item in (high, low)


def test_an_item_in_full(demo, opened):
    page = opened(demo.path, "#item=clip08").page
    systems, references = examples.clips()
    assert page.locator(TITLE).inner_text() == "clip08"
    for system, captions in systems.items():
        group = page.locator(".captions tbody", has=page.get_by_role("button", name=system))
        assert group.locator("td.text").inner_text() == captions["clip08"]
        shown = group.locator("td:not(.text)").all_inner_texts()
        table = demo.report.table
        assert shown == [score_text(table[system][m].items["clip08"]) for m in table.metrics]
    texts = page.locator(".references li bdi").all_inner_texts()
    assert texts == references["clip08"]


@pytest.mark.parametrize("width", [1280, 390])
def test_alignment_and_ngrams_explain_the_scores(demo, opened, width):
    page = opened(demo.path, "#item=clip08", width=width).page
    systems, references = examples.clips()
    page.get_by_role("button", name="strong").first.click()
    texts = references["clip08"]
    best = max(texts, key=lambda text: Meteor().align(systems["strong"]["clip08"], text).score)
    found = Meteor().align(systems["strong"]["clip08"], best)
    assert page.locator(".drawn path.match:not(.inner)").count() == len(found.matches)
    kinds = [match.module for match in found.matches]
    label = page.locator(".drawn svg").get_attribute("aria-label")
    assert re.findall(r"\((\w+)\)", label) == kinds
    assert page.locator(".references li.best bdi").inner_text() == best
    shares = [float(text) for text in page.locator(".ngrams td:nth-child(2)").all_inner_texts()]
    more = page.locator("p", has_text="more, adding")
    rest = float(more.inner_text().split()[-1]) if more.count() else 0.0
    score = demo.report.table["strong"]["cider"].items["clip08"]
    assert sum(shares) + rest == pytest.approx(score, abs=0.02)


def test_links_lead_to_items(demo, opened):
    page = opened(demo.path).page
    page.evaluate("location.hash = '#item=clip11'")
    wait_for(page, TITLE, "clip11")
    page.locator(".row", has_text="clip12").click()
    assert page.url.endswith("#item=clip12")
    page.evaluate("location.hash = '#item=nothing'")
    assert page.locator(TITLE).inner_text() == "clip12"
    page.get_by_role("button", name="Next item").click()
    assert page.url.endswith("#item=clip13")
    page.context.grant_permissions(["clipboard-read", "clipboard-write"])
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
        if "#item=" in page.url:
            break
    assert "#item=clip" in page.url


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


# Stories


@pytest.mark.shared
def test_a_story_with_its_matches(bmt, opened):
    video = next(
        name
        for name, each in bmt.report.timelines["BMT 1"].items()
        if len(each.comparisons) == 2 and len(each.comparisons[0].matches) > 2
    )
    page = opened(bmt.path, f"#item={video}").page
    found = bmt.report.timelines["BMT 1"][video].comparisons
    pictures = page.locator(".story svg")
    assert pictures.count() == 2
    for k, each in enumerate(found):
        picture = pictures.nth(k)
        assert picture.locator("rect.bar-of").count() == len(each.references) + len(each.candidates)
        assert picture.locator("path.join").count() == len(each.matches)
        labels = [f"IoU {pair.iou:.2f} f {pair.f:.2f}" for pair in each.matches]
        assert picture.locator("text", has_text="IoU").all_text_contents() == labels
        assert f"F1 {each.f1:.4f}" in page.locator(".story h4").nth(k).inner_text()
    sentences = page.locator(".story li bdi").all_inner_texts()
    assert found[0].references[0].sentence.split()[0] in sentences[0]
    page.get_by_role("button", name="BMT 2").first.click()
    other = bmt.report.timelines["BMT 2"][video].comparisons[0]
    assert pictures.first.locator("path.join").count() == len(other.matches)


# What must not happen

NASTY = {
    "</script><script>window.hit = 1</script>": "</script><img src=x onerror='window.hit=1'>",
    "a/b c?&#%": "<svg onload=alert(1)>${alert(1)} {{7*7}} &lt;b&gt;",
    "عربي": "كلب يجري على الشاطئ \u202e gnirts",
    "👩‍🚒🎬": "👨‍👩‍👧‍👦 runs 🏃\u200d♀️ \x1b[31m\u2028 end",
}


def test_nothing_in_a_caption_runs(tmp_path, opened):
    captions = {"<b onclick=alert(1)>me</b>": NASTY, "you": dict.fromkeys(NASTY, "a dog")}
    references = {item: [text, "a dog runs"] for item, text in NASTY.items()}
    table = score_systems(captions, references, "meteor,cider,rouge_l")
    path = tmp_path / "nasty.html"
    title = "<script>window.hit = 1</script>"
    write_report(path, report_of(table, title=title, command="reelscore '<i>'"))
    for item, text in NASTY.items():
        page = opened(path, "#item=" + item.replace("%", "%25").replace("&", "%26")).page
        assert page.locator(TITLE).inner_text() == item
        shown = page.locator(".captions td.text").first.inner_text()
        assert "\x1b" not in shown
        assert "\u202e" not in shown
        assert shown[:12] == text[:12]
        assert page.evaluate("window.hit") is None
        assert page.locator("main img, main svg[onload], main b[onclick], main i").count() == 0
        assert page.title() == title
    assert page.evaluate("document.scripts.length") == 2  # the data and the script


def test_only_the_pages_own_script_may_run(demo, opened):
    found = opened(demo.path)
    blocked = found.page.evaluate(
        """() => new Promise((done) => {
            const say = (event) => done(event.violatedDirective);
            document.addEventListener("securitypolicyviolation", say);
            const script = document.createElement("script");
            script.textContent = "window.hit = 1";
            document.body.append(script);
        })"""
    )
    assert blocked.startswith("script-src")
    assert found.page.evaluate("window.hit") is None
    found.errors.clear()  # Chromium says on the console that it blocked the script


def test_an_old_browser_is_told_so(demo, opened):
    found = opened(demo.path, init="delete window.DecompressionStream")
    assert "DecompressionStream" in found.page.locator("#problem").inner_text()
    assert len(names(found.page)) == 4  # the leaderboard is there all the same
    found.errors.clear()  # the error is on the console too


def test_videos(tmp_path, opened):
    table = score_systems(*examples.clips(), "rouge_l")
    for pattern, kind, expected in [
        ("videos/{item}.mp4", "video", "videos/clip03.mp4"),
        ("https://example.org/watch?v={item}", "a[target]", "https://example.org/watch?v=clip03"),
    ]:
        path = tmp_path / "report.html"
        write_report(path, report_of(table, video=pattern))
        found = opened(path, "#item=clip03")
        name = "src" if kind == "video" else "href"
        address = found.page.locator(f".detail {kind}").get_attribute(name)
        assert address == expected
        found.errors.clear()  # there is no such video
    for address in ("javascript:alert(1)", " java\tscript:alert(1)", "data:text/html,x"):
        write_report(path, report_of(table, videos={"clip03": address}))
        page = opened(path, "#item=clip03").page
        assert page.locator(".detail a, .detail video").count() == 0


def test_small_and_odd_reports(tmp_path, opened):
    one = score_systems({"me": {"v1": "a dog"}}, {"v1": ["a dog runs"]}, "meteor")
    people = ScoreTable.read(examples.path("clips/judgments.csv"), repeats="mean")
    two = {
        name: {**row, "raw": replace(row["judgments"], metric="raw")}
        for name, row in people.results.items()
    }
    judged, evidence = with_evidence(ScoreTable(two), human=["judgments", "raw"])
    nothing = MetricResult("x", 1.0, ItemScores.of({}), "x")
    grid = Grid(["rater", "p"], [[Cell("r1"), Cell(".02", best=True)]])
    raters = Section("Raters", ["Who passed."], [grid])
    judgments = Report(judged, human=judged.metrics, evidence=evidence, sections=[raters])
    for name, report, shown in [
        ("one", report_of(one), "v1"),
        ("people", judgments, "clip01"),
        ("no-items", report_of(ScoreTable({"a": {"x": nothing}, "b": {"x": nothing}})), None),
        ("others", report_of(one, references={"v1": ["a cat"]}), "v1"),
    ]:
        path = tmp_path / f"{name}.html"
        write_report(path, report)
        page = opened(path).page
        assert page.locator("#leaderboard tbody tr").count() == len(report.table.systems)
        assert page.locator(TITLE).all_inner_texts() == ([] if shown is None else [shown])
        if name == "people":
            assert page.locator("#section-0 td.best").inner_text() == ".02"
        if name == "others":
            assert "do not yield the table's scores" in page.locator("#made").inner_text()


# Looks


@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("name", ALL)
def test_accessibility(request, opened, name, scheme):
    axe = pytest.importorskip("axe_playwright_python.sync_playwright")
    # axe is a script of its own, which the page's policy would not let run
    page = opened(request.getfixturevalue(name).path, color_scheme=scheme, bypass_csp=True).page
    found = axe.Axe().run(page).response["violations"]
    serious = [
        (each["id"], [node["html"][:120] for node in each["nodes"][:3]])
        for each in found
        if each["impact"] in ("serious", "critical")
    ]
    assert serious == []


@pytest.mark.parametrize("width", [1280, 390])
@pytest.mark.parametrize("name", ALL)
def test_nothing_sticks_out(request, opened, name, width):
    page = opened(request.getfixturevalue(name).path, width=width).page
    assert page.evaluate("document.documentElement.scrollWidth") <= width


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


# Size and speed


def first_paint(page) -> float:
    entries = page.evaluate("performance.getEntriesByType('paint').map((each) => each.startTime)")
    return min(entries) / 1000


def tell(capsys, made, paint: float) -> None:
    size, items = made.path.stat().st_size / 1e6, len(made.report.items)
    with capsys.disabled():
        print(
            f"\n{items:,} items: {size:.2f} MB, made in {made.seconds:.1f} s, seen in {paint:.2f} s"
        )


@pytest.mark.shared
def test_1700_items(sa_2020, opened, capsys):
    page = opened(sa_2020.path).page
    paint = first_paint(page)
    assert sa_2020.path.stat().st_size < 2_000_000
    assert paint < 5
    tell(capsys, sa_2020, paint)


def test_100_000_items(long_list, opened, capsys):
    page = opened(long_list.path).page
    paint = first_paint(page)
    wait_for(page, STATUS, "^100,000 of 100,000")
    assert page.locator(".row").count() < 40
    page.locator(".list").focus()
    page.keyboard.press("End")
    assert page.locator(TITLE).inner_text() == "video099999"
    page.fill("#search", "people hurry past. 50014")
    wait_for(page, STATUS, "^1 of 100,000")
    assert rows(page) == ["video050014"]
    page.fill("#search", "")
    page.get_by_label("Sort by").select_option("spread")
    wait_for(page, STATUS, "^100,000 of 100,000")
    table = long_list.report.table
    apart = np.abs(table["one"]["first"].items.array - table["two"]["first"].items.array)
    page.locator("#items").get_by_label("Score", exact=True).select_option(label="first")
    assert rows(page)[0] == f"video{apart.argmax():06d}"
    assert paint < 5
    tell(capsys, long_list, paint)


@pytest.mark.shared
def test_2000_items_10_systems_8_scores(trecvid, folder):
    people = list(trecvid.annotators.values())
    systems = {f"system {k}": {} for k in range(10)}
    references = {}
    known = trecvid.references()
    for k in range(2000):
        item = trecvid.items[k % len(trecvid.items)]
        references[f"item {k}"] = known[item]
        for j, captions in enumerate(systems.values()):
            written = [*trecvid.candidates.values(), *people]
            captions[f"item {k}"] = written[j][trecvid.items[(k * (j + 1)) % len(trecvid.items)]]
    table = score_systems(systems, references, "bleu,meteor,rouge_l,cider,sent_bleu")
    assert len(table.metrics) == 8
    write_report(folder / "2000.html", report_of(table))
    assert (folder / "2000.html").stat().st_size < 5_000_000
