"""Makes the gallery before each build: reports and figures of the embedded example.

Where the real data lies beside the checkout, reports of it join them.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

from reelscore import examples, score_systems, stories
from reelscore.data.tables.table import ScoreTable
from reelscore.meta.evaluation import evaluate_metrics
from reelscore.meta.report.agreement_tables import agreement_sections
from reelscore.report.html import Report, report_of, write_report
from reelscore.report.timeline.drawings import write_timeline

SHARED = Path(__file__).resolve().parents[3] / "shared" / "data"
EXTRA = Path("generated", "extra")  # copied as it is: the reports are pages of their own


def setup(app: Any) -> dict[str, bool]:
    """Hook into Sphinx; the folder has to be there when the settings are read."""
    (Path(app.confdir) / EXTRA / "gallery").mkdir(parents=True, exist_ok=True)
    app.connect("builder-inited", lambda app: make_gallery(Path(app.srcdir)))
    return {"parallel_read_safe": True, "parallel_write_safe": True}


def make_gallery(source: Path) -> None:
    """Write figures, reports, and the part of the page that depends on what data is there."""
    figures = source / "generated" / "figures"
    figures.mkdir(parents=True, exist_ok=True)
    draw_figures(figures)
    lines = []
    for name, about, make in reports():
        write_report(source / EXTRA / "gallery" / f"{name}.html", make())
        lines.append(f'- <a href="gallery/{name}.html">{about}</a>')
    # no .md: pages are for hand-written text, and this is a part of one
    (source / "generated" / "gallery.txt").write_text("\n".join(lines) + "\n", encoding="utf-8")


def draw_figures(folder: Path) -> None:
    """Draw one figure of each kind from the example."""
    table = report_of(score_systems(*examples.clips())).table
    for name in ("intervals", "distributions", "wins", "lengths"):
        getattr(table.plot, name)("cider", folder / f"{name}.svg")
    table.plot.correlations(folder / "correlations.svg")
    systems, annotators = examples.stories()
    found = stories.timeline(systems["concise"], annotators["annotator_1"], "v_dogwash")
    write_timeline(found, folder / "timeline.svg")


def reports() -> Iterator[tuple[str, str, Callable[[], Report]]]:
    """Yield name, description and maker of each report."""
    yield "clips", "Four systems, fifteen clips, with people's judgments", clip_report
    yield "stories", "Three systems, five stories", story_report
    yield "agreement", "Which metrics agree with people on the fifteen clips", agreement_report
    if (SHARED / "trecvid-vtt-ha").is_dir():
        about = "TRECVid VTT 2020: six systems, 1,700 videos, with human scores"
        yield "trecvid-2020", about, trecvid_report
    if (SHARED / "dense").is_dir():
        yield "bmt", "BMT on ActivityNet Captions: two systems, 300 videos", bmt_report


def clip_report() -> Report:
    """The embedded clips."""
    people = ScoreTable.read(examples.path("clips/judgments.csv"), repeats="mean")
    return report_of(score_systems(*examples.clips()), people, title="Four systems, fifteen clips")


def agreement_report() -> Report:
    """The embedded clips, and how metrics agree with people on them."""
    people = ScoreTable.read(examples.path("clips/judgments.csv"), repeats="mean")
    table = score_systems(*examples.clips())
    found = evaluate_metrics(table, people, level="pooled", draws=200)
    title = "Which metrics agree with people"
    return report_of(table, people, sections=agreement_sections(found), title=title)


def story_report() -> Report:
    """The embedded stories."""
    systems, annotators = examples.stories()
    table = stories.score_systems(systems, annotators.values())
    quoted = [name for name in table.metrics if not name.endswith(("_precision", "_recall"))]
    return report_of(table, metrics=quoted, title="Three systems, five stories")


def trecvid_report() -> Report:
    """A year of TRECVid, from the data set of its human assessments."""
    from reelscore_studies.judged.trecvid_ha import load

    data = load(SHARED / "trecvid-vtt-ha", "SA-2020")
    table = score_systems(data.candidates, data.references())
    return report_of(table, data.human, title="TRECVid VTT 2020", videos=data.urls)


def bmt_report() -> Report:
    """Stories of BMT on the first videos of ActivityNet Captions, by SODA (c)."""
    files = [f"{name}_{k}.json.gz" for name in ("anet_val", "bmt_gtprop_val") for k in (1, 2)]
    read = [stories.read_stories(SHARED / "dense" / name) for name in files]
    common = [video for video in read[0] if all(video in each for each in read)][:300]
    first, second, *own = [type(s)({v: s[v] for v in common}, s.policies) for s in read]
    systems = {f"BMT {k}": each for k, each in enumerate(own, start=1)}
    table = stories.score_systems(systems, [first, second], scores="soda_c")
    return report_of(table, title="BMT on ActivityNet Captions")
