"""Timelines: what is shown is what was matched, and no caption can break a picture or a page."""

from __future__ import annotations

import json
import re
from html.parser import HTMLParser
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import pytest
from click.testing import CliRunner, Result
from msgspec.structs import replace

from reelscore import examples, stories
from reelscore.cli.main import cli
from reelscore.errors import DataError, UnknownNameError
from reelscore.report.safe_text import cells, legible, lines_of, rows_of
from reelscore.report.timeline.drawings import (
    FORMATS,
    timeline_html,
    timeline_svg,
    timeline_text,
    write_timeline,
)
from reelscore.report.timeline.layout import timeline_picture

HOSTILE = [
    "<script>alert(1)</script>",
    '"><img src=x onerror=alert(1)>',
    "</style></svg>&amp;<!--",
    "a\r\nman\x0b runs\x0c\x1b[31mred",
    "$x^2$ \\frac{1}{2}",
    "\u202eright to left\u202c",
    "人が走っている" * 12,
    "x" * 300,
    "e\u0301 🎬 family: 👩‍👧",
]


def story(sentences: list[str], step: float = 2.0) -> dict[str, Any]:
    times = [[k * step, k * step + 3.0] for k in range(len(sentences))]
    return {"duration": 60.0, "timestamps": times, "sentences": sentences}


@pytest.fixture
def hostile() -> stories.Timeline:
    truth = {"v<1>&": story(HOSTILE)}
    ours = {"v<1>&": story([*HOSTILE[::2], "something else"], 4.0)}
    return stories.timeline(ours, truth, "v<1>&", system="<b>ours</b>")


@pytest.fixture
def dogwash() -> stories.Timeline:
    systems, annotators = examples.stories()
    return stories.timeline(systems["verbose"], annotators.values(), "v_dogwash")


def test_timeline_is_the_matching() -> None:
    systems, annotators = examples.stories()
    truth = [stories.stories_of(each) for each in annotators.values()]
    ours = stories.stories_of(systems["verbose"])
    scorer = stories.StoryScorer(truth, stories.Protocol())
    for score in ("soda_a", "soda_b", "soda_c"):
        tiou = 0.5 if score == "soda_a" else 0.0
        timeline = stories.timeline(ours, truth, "v_kayak", score)
        for shown, matching in zip(
            timeline.comparisons, scorer.matchings(ours, "v_kayak", score, tiou=tiou), strict=True
        ):
            assert shown.f1 == matching.f1
            assert [(m.iou, m.f) for m in shown.matches] == [(m.iou, m.f) for m in matching.matches]
            sentences = [m.candidate.sentence for m in shown.matches if m.candidate]
            assert sentences == [
                matching.candidates.sentences[m.candidate] for m in matching.matches
            ]
            captions = [caption for row in shown.rows() for caption in row.captions]
            assert len(captions) == len(shown.references) + len(shown.candidates)
            assert sum(caption.matched for caption in captions) == 2 * len(shown.matches)


def test_merged_annotators_are_one(dogwash: stories.Timeline) -> None:
    systems, annotators = examples.stories()
    merged = stories.timeline(
        systems["verbose"], annotators.values(), "v_dogwash", annotators="merge"
    )
    assert [each.annotator for each in dogwash.comparisons] == ["annotator 1", "annotator 2"]
    assert [each.annotator for each in merged.comparisons] == ["2 annotators as one"]


def test_unknown_video() -> None:
    systems, annotators = examples.stories()
    with pytest.raises(UnknownNameError, match="v_dogwash"):
        stories.timeline(systems["concise"], annotators.values(), "v_dogwahs")


def test_a_video_without_candidates() -> None:
    timeline = stories.timeline(
        {"v_1": [{"sentence": "a man", "timestamp": [0, 4]}]},
        {"v_1": story(["a man"]), "v_2": story(["a dog runs"])},
        "v_2",
    )
    text = timeline_text(timeline)
    assert "R1  unmatched" in text
    assert timeline.comparisons[0].candidates == ()
    ElementTree.fromstring(timeline_svg(timeline))


@pytest.mark.parametrize("width", [40, 80, 120])
def test_text_fits_and_says_everything(
    dogwash: stories.Timeline, hostile: stories.Timeline, width: int
) -> None:
    for timeline in (dogwash, hostile):
        text = timeline_text(timeline, width)
        assert max(cells(line) for line in text.splitlines()) <= width
        for comparison in timeline.comparisons:
            for pair in comparison.matches:
                assert f"IoU {pair.iou:.2f}  f {pair.f:.2f}" in text
            assert text.count("unmatched") >= sum(
                not caption.matched for caption in comparison.candidates
            )
    assert "\x1b" not in timeline_text(hostile)
    assert "\u202e" not in timeline_text(hostile)


def test_short_and_reversed_segments() -> None:
    times = [[59.9, 60.0], [30.0, 10.0], [0.0, 0.0]]
    ours = {"v": {"timestamps": times, "sentences": ["a", "b", "c"]}}
    timeline = stories.timeline(
        ours, {"v": story(["a man"])}, "v", reversed_segments="zero", negative="keep"
    )
    text = timeline_text(timeline)
    assert max(map(len, text.splitlines())) <= 80
    assert all(number in text.splitlines()[4] + text.splitlines()[5] for number in "123")


@pytest.mark.parametrize("width", [358.0, 900.0])
def test_bars_do_not_overlap_and_stay_inside(
    dogwash: stories.Timeline, hostile: stories.Timeline, width: float
) -> None:
    for timeline in (dogwash, hostile):
        picture = timeline_picture(timeline, width)
        bars = picture.bars
        assert len(bars) == sum(len(c.references) + len(c.candidates) for c in timeline.comparisons)
        for k, one in enumerate(bars):
            assert one.x >= 0
            assert one.x + one.width <= width
            for other in bars[k + 1 :]:
                if abs(one.y - other.y) < one.height:
                    assert one.x + one.width <= other.x or other.x + other.width <= one.x
        labels = [words for words in picture.words if words.boxed]
        assert len(labels) == sum(len(each.matches) for each in timeline.comparisons)
        for k, label in enumerate(labels):
            for other_label in labels[k + 1 :]:
                if abs(label.y - other_label.y) < 12:
                    assert abs(label.x - other_label.x) >= label.width


def test_svg_is_well_formed_and_says_what_is_unmatched(hostile: stories.Timeline) -> None:
    svg = timeline_svg(hostile)
    root = ElementTree.fromstring(svg)
    assert {element.tag.rpartition("}")[2] for element in root.iter()} == {
        *("svg", "style", "line", "rect", "title", "text")
    }
    titles = [element.text or "" for element in root.iter("{http://www.w3.org/2000/svg}title")]
    assert any("<script>alert(1)</script>" in title for title in titles)
    unmatched = sum(
        not caption.matched
        for each in hostile.comparisons
        for caption in (*each.references, *each.candidates)
    )
    assert sum(", unmatched," in title for title in titles) == unmatched
    assert svg.count('class="bar alone"') == unmatched


class _Page(HTMLParser):
    """Collects tags, addresses and ids."""

    def __init__(self) -> None:
        super().__init__()
        self.tags: list[str] = []
        self.links: list[str] = []
        self.ids: list[str] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append(tag)
        values = {name: value or "" for name, value in attrs}
        assert not [name for name in values if name.startswith("on")]
        assert "src" not in values
        if "href" in values:
            self.links.append(values["href"])
        if "id" in values:
            self.ids.append(values["id"])


def test_page_is_safe_and_reachable(hostile: stories.Timeline, dogwash: stories.Timeline) -> None:
    for timeline in (hostile, dogwash):
        text = timeline_html(timeline)
        page = _Page()
        page.feed(text)
        assert not {"script", "img", "link", "iframe", "b-ours"} & set(page.tags)
        assert len(page.ids) == len(set(page.ids))
        # Every bar, in either width, leads to its caption; nothing leads out of the page.
        assert {link.removeprefix("#") for link in page.links} == set(page.ids)
        assert all(link.startswith("#") for link in page.links)
        assert not re.search(r"url\(|@import|https?://(?!www\.w3\.org/2000/svg)", text)
        assert "prefers-color-scheme: dark" in text
        assert "width=device-width" in text
    assert "<b>ours</b>" not in timeline_html(hostile)
    for svg in re.findall(r"<svg.*?</svg>", timeline_html(hostile), re.DOTALL):
        ElementTree.fromstring(svg)


@pytest.mark.parametrize("ending", FORMATS)
def test_files(tmp_path: Path, dogwash: stories.Timeline, ending: str) -> None:
    begin = {"png": b"\x89PNG", "svg": b"<svg", "pdf": b"%PDF", "html": b"<!doctype html>"}
    contents = []
    for name in ("one", "two"):
        write_timeline(dogwash, tmp_path / f"{name}.{ending}")
        contents.append((tmp_path / f"{name}.{ending}").read_bytes())
    assert contents[0].startswith(begin[ending])
    assert contents[0] == contents[1]


def test_a_figure_takes_dollars_as_they_are(tmp_path: Path) -> None:
    truth = {"v": story(["costs $5 and $x^{2$", "\\frac"])}
    write_timeline(stories.timeline(truth, truth, "v"), tmp_path / "story.png")


def test_unknown_ending(tmp_path: Path, dogwash: stories.Timeline) -> None:
    with pytest.raises(DataError, match=r"\.png, \.svg, \.pdf, \.html"):
        write_timeline(dogwash, tmp_path / "story.gif")
    assert not list(tmp_path.iterdir())


def test_command(tmp_path: Path) -> None:
    ours = str(examples.path("stories/systems/concise.json"))
    refs = ["-r", str(examples.path("stories/annotator_1.json"))]
    show = ["stories", "show", ours, *refs, "--video", "v_dogwash"]
    out = CliRunner().invoke(cli, show).output
    assert out.startswith("v_dogwash · concise · SODA (c), f: meteor\n")
    assert max(map(len, out.splitlines())) <= 80
    page = tmp_path / "story.html"
    assert CliRunner().invoke(cli, [*show, "-o", str(page)]).output == ""
    assert page.read_text().startswith("<!doctype html>")
    other = CliRunner().invoke(cli, [*show, "--score", "soda_a", "--tiou", "0.9"]).output
    assert "SODA (a)" in other
    assert other.count("unmatched") > out.count("unmatched")
    refused = CliRunner().invoke(cli, [*show, "-o", str(tmp_path / "story.gif")])
    assert isinstance(refused.exception, DataError)


SYSTEMS = [str(examples.path(f"stories/systems/{name}.json")) for name in ("concise", "verbose")]
TRUTH = ["-r", str(examples.path("stories/annotator_1.json"))]


def show(*arguments: str) -> Result:
    return CliRunner().invoke(cli, ["stories", "show", *arguments])


def test_side_by_side() -> None:
    systems, annotators = examples.stories()
    both = {name: systems[name] for name in ("concise", "verbose")}
    shown = stories.side_by_side(both, annotators.values(), "v_dogwash")
    assert [len(group) for group in shown.by_annotator] == [2, 2]
    for number, group in enumerate(shown.by_annotator):
        for each in group:
            alone = stories.timeline(systems[each.system], annotators.values(), "v_dogwash")
            assert replace(each, system="") == alone.comparisons[number]
    text = timeline_text(shown, 80)
    assert max(map(cells, text.splitlines())) <= 80
    for group in shown.by_annotator:
        for each in group:
            for caption in each.candidates:
                assert f"{caption.name}  " in text


def test_side_by_side_on_the_command_line(tmp_path: Path) -> None:
    done = show(*SYSTEMS, *TRUTH, "--video", "v_dogwash")
    lines = done.output.splitlines()
    assert lines[0] == "v_dogwash · concise | verbose · SODA (c), f: meteor"
    assert lines[1].startswith("concise, references: precision 0.1297")
    assert lines[2].startswith("verbose, references: precision 0.0302")
    first = next(k for k, line in enumerate(lines) if line.startswith("R1 "))
    assert lines[first + 2 : first + 4] == [
        "C1  IoU 0.92  f 0.24        0.0–16.1 s │ C2  IoU 0.90  f 0.19        0.0–16.4 s",
        "  A boy puts a white dog in a tub.     │   A boy puts a dog in a tub.",
    ]
    for ending in ("html", "svg"):
        page = tmp_path / f"story.{ending}"
        assert show(*SYSTEMS, *TRUTH, "--video", "v_dogwash", "-o", str(page)).exit_code == 0
        text = page.read_text()
        assert "concise, references" in text
        assert "verbose, references" in text
    four = [f"{name}={SYSTEMS[0]}" for name in "abcd"]
    refused = show(*four, *TRUTH, "--video", "v_dogwash")
    assert "4 systems do not fit side by side in 80 columns" in str(refused.exception)


def test_page_of_several_systems_has_each_id_once(tmp_path: Path) -> None:
    systems, annotators = examples.stories()
    page = timeline_html(stories.side_by_side(systems, annotators.values(), "v_dogwash"))
    ids = re.findall(r'id="([^"]+)"', page)
    assert len(ids) == len(set(ids)) > 20
    for target in re.findall(r'href="#([^"]+)"', page):
        assert target in ids


def damaged(path: Path, source: str, video: str) -> str:
    """Copy a file with a segment of one video that ends before it starts."""
    content = json.loads(Path(source).read_text())
    videos = content.get("results", content)
    if isinstance(videos[video], dict):
        videos[video]["timestamps"][0] = [9.0, 2.0]
    else:
        videos[video][0]["timestamp"] = [9.0, 2.0]
    path.write_text(json.dumps(content))
    return str(path)


def test_another_video_may_be_damaged(tmp_path: Path) -> None:
    ours = damaged(tmp_path / "concise.json", SYSTEMS[0], "v_kayak")
    truth = damaged(tmp_path / "truth.json", TRUTH[1], "v_pancakes")
    whole = show(SYSTEMS[0], *TRUTH, "--video", "v_dogwash")
    done = show(ours, "-r", truth, "--video", "v_dogwash")
    assert done.exit_code == 0
    assert done.stdout == whole.stdout
    notes = " ".join(done.stderr.split())
    assert "concise.json: 1 other video is left out, as captions cannot be used" in notes
    assert "video 'v_pancakes', caption 1: ends (2.0) before it starts (9.0)" in notes
    refused = show(ours, *TRUTH, "--video", "v_kayak")
    assert "video 'v_kayak', caption 1: ends (2.0)" in str(refused.exception)
    with pytest.raises(DataError, match="v_kayak"):
        stories.read_stories(ours)


def test_an_unknown_video_of_many(tmp_path: Path) -> None:
    truth = {f"v_{k:04}": story(["a man runs"]) for k in range(415)}
    with pytest.raises(UnknownNameError) as error:
        stories.timeline(truth, truth, "v_00411")
    assert str(error.value) == (
        "Unknown video 'v_00411'. Did you mean 'v_0411'? There are 415, such as v_0000, v_0001, "
        "v_0002."
    )


@pytest.mark.parametrize("text", HOSTILE)
def test_lettering(text: str) -> None:
    shown = legible(text)
    assert "\n" not in shown
    assert shown == legible(shown)
    lines = lines_of(text, 20)
    assert max(map(cells, lines)) <= 20
    assert "".join(lines).replace(" ", "") == shown.replace(" ", "")


def test_rows_take_spans_in_any_order() -> None:
    assert rows_of([(5, 9), (0, 5), (4, 6), (9, 10)]) == [0, 0, 1, 0]
