"""What must not happen: text that runs, pages that load something, reports that break."""

from __future__ import annotations

import pytest
from msgspec.structs import replace

from reelscore import examples, score_systems
from reelscore.data.tables.table import ItemScores, MetricResult, ScoreTable
from reelscore.report.html import Report, Section, report_of, write_report
from reelscore.report.tables.grid import Cell, Grid
from reelscore.significance.pair_tests import with_tests
from support.report_pages import TITLE, names

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


EVIL = [
    "<img src=x onerror=window.hit=1>",
    "</script><script>window.hit=1</script>",
    "<!--",
    "--><b>bold</b>",
    "\u202eesrever",
    "a\ud800b",
    "nul\0byte",
    "👩\u200d🚒",
    "\"' onmouseover=window.hit=1 '\"",
]


@pytest.mark.parametrize("evil", EVIL)
def test_whatever_text_is_shown_as_text(tmp_path, opened, evil):
    """The same text as caption, reference, system, score, item, title, command and note."""
    items = ItemScores.of({evil: 0.5, "plain": 0.25})
    result = MetricResult(evil, 0.375, items, evil)
    rows = {evil: {evil: result}, "other": {evil: replace(result, score=0.5)}}
    section = Section(evil, [evil], [Grid([evil, "x"], [[Cell(evil), Cell(evil)]])], [evil])
    report = report_of(
        ScoreTable(rows, notes=[evil]),
        title=evil,
        command=evil,
        captions={evil: {evil: evil}},
        references={evil: [evil]},
        sections=[section],
        videos={evil: evil},
    )
    path = tmp_path / "evil.html"
    write_report(path, report)
    page = opened(path).page
    page.locator(".row").first.click()
    page.get_by_label("Sort by").select_option("score")
    clean = page.locator(TITLE).inner_text()
    assert "\0" not in clean
    assert "\u202e" not in clean
    shown = {
        "h1": page.locator("h1").inner_text(),
        "title": page.title(),
        "system": names(page)[0] if names(page)[0] != "other" else names(page)[1],
        "caption": page.locator(".captions td.text").first.inner_text(),
        "reference": page.locator(".references bdi").first.inner_text(),
        "score": page.locator("#leaderboard thead button").nth(1).inner_text(),
        "section": page.locator("#section-0 h2").inner_text(),
        "cell": page.locator("#section-0 td").first.inner_text(),
        "command": page.locator("#made .signature").first.inner_text(),
    }
    assert set(shown.values()) == {clean}
    assert clean[0] == evil[0] or evil[0] == "\u202e"
    assert page.evaluate("window.hit") is None
    assert page.locator("main img, main b:not(.row b), [onmouseover]").count() == 0
    assert page.evaluate("document.scripts.length") == 2


def test_only_the_pages_own_script_may_run(demo, opened):
    window = opened(demo.path)
    blocked = window.page.evaluate(
        """() => new Promise((done) => {
            const say = (event) => done(event.violatedDirective);
            document.addEventListener("securitypolicyviolation", say);
            const script = document.createElement("script");
            script.textContent = "window.hit = 1";
            document.body.append(script);
        })"""
    )
    assert blocked.startswith("script-src")
    assert window.page.evaluate("window.hit") is None
    window.meant.append("Content Security Policy")  # Chromium says that it blocked the script


def test_an_old_browser_is_told_so(demo, opened):
    window = opened(demo.path, init="delete window.DecompressionStream")
    assert "DecompressionStream" in window.page.locator("#problem").inner_text()
    assert len(names(window.page)) == 4  # the leaderboard is there all the same
    window.meant.append("DecompressionStream")  # the error is on the console too


def test_videos(tmp_path, opened):
    table = score_systems(*examples.clips(), "rouge_l")
    for pattern, kind, expected in [
        ("videos/{item}.mp4", "video", "videos/clip03.mp4"),
        ("https://example.org/watch?v={item}", "a[target]", "https://example.org/watch?v=clip03"),
    ]:
        path = tmp_path / "report.html"
        write_report(path, report_of(table, video=pattern))
        window = opened(path, "#item=clip03")
        name = "src" if kind == "video" else "href"
        address = window.page.locator(f".detail {kind}").get_attribute(name)
        assert address == expected
        window.meant.append("ERR_FILE_NOT_FOUND")  # there is no such video
    for address in ("javascript:alert(1)", " java\tscript:alert(1)", "data:text/html,x"):
        write_report(path, report_of(table, videos={"clip03": address}))
        page = opened(path, "#item=clip03").page
        assert page.locator(".detail a, .detail video").count() == 0


def test_a_video_on_the_web_is_not_loaded_unasked(tmp_path, opened):
    table = score_systems(*examples.clips(), "rouge_l")
    path = tmp_path / "report.html"
    write_report(path, report_of(table, video="https://example.org/{item}.mp4"))
    window = opened(path, "#item=clip03")
    player = window.page.locator(".detail video")
    assert player.get_attribute("src") == "https://example.org/clip03.mp4"
    window.page.get_by_role("button", name="Next item").click()
    assert [url for url in window.requests if url.startswith("http")] == []


@pytest.mark.shared
def test_a_video_plays(tmp_path, opened, shared):
    folder = shared / "movie" / "vidln_narration"
    captions = {"OVIS_train_1_0": "a panda eats", "oops_train_1381_2": "a man falls"}
    table = score_systems({"me": captions}, {item: ["a man"] for item in captions}, "rouge_l")
    (tmp_path / "videos").symlink_to(folder)
    path = tmp_path / "report.html"
    write_report(path, report_of(table, video="videos/{item}.webm"))
    page = opened(path).page
    length = page.locator(".detail video").evaluate(
        """(video) => new Promise((done) => {
          const tell = () => done(video.duration);
          if (video.readyState >= 1) tell();
          else video.addEventListener("loadedmetadata", tell);
        })"""
    )
    assert length > 1


def test_small_and_odd_reports(tmp_path, opened):
    one = score_systems({"me": {"v1": "a dog"}}, {"v1": ["a dog runs"]}, "meteor")
    people = ScoreTable.read(examples.path("clips/judgments.csv"), repeats="mean")
    two = {
        name: {**row, "raw": replace(row["judgments"], metric="raw")}
        for name, row in people.results.items()
    }
    judged, tests = with_tests(ScoreTable(two), human=["judgments", "raw"])
    nothing = MetricResult("x", 1.0, ItemScores.of({}), "x")
    grid = Grid(["rater", "p"], [[Cell("r1"), Cell(".02", best=True)]])
    raters = Section("Raters", ["Who passed."], [grid])
    judgments = Report(judged, human=judged.metrics, tests=tests, sections=[raters])
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
