"""The page of a report: one HTML file with its scripts, styles and data; it loads nothing."""

from __future__ import annotations

import base64
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np

from reelscore._progress import Progress
from reelscore._version import __version__
from reelscore.data.atomic_files import check_target, write_atomically
from reelscore.data.checks import counted
from reelscore.data.tables.table_forms import TableLike
from reelscore.report.html.contents import ItemTexts, Report, Section, report_of
from reelscore.report.html.explanations import add_explanations
from reelscore.report.pages import (
    Payload,
    as_it_is,
    joined_modules,
    render,
    report_scripts,
    script_hash,
    style_sheet,
)
from reelscore.report.safe_text import legible, shared_beginning, system_names
from reelscore.report.tables.grid import Grid
from reelscore.report.tables.leaderboard import leaderboard, letters_of, table_signatures
from reelscore.significance.comparison import Comparison, marks_of_tests
from reelscore.stats.resampling import FloatArray

MOST_EMBEDDED = 6_000_000  # bytes of the pictures that lie in the page itself
_PICTURES = "img-src 'self' file: data:; "


def write_report(
    path: str | Path, report: Report, *, explain: int = 100_000, progress: Progress | None = None
) -> None:
    """Write a report as one HTML file, all or nothing.

    Previews of more than 6 MB go into a folder beside it.

    Args:
        path: The file to make or replace.
        report: What to show.
        explain: The most captions whose scores are explained; with more, none are.
        progress: Called now and then with how many captions are explained, of how many.

    Raises:
        DataError: The file cannot be written there.

    >>> import tempfile
    >>> from reelscore import score_systems
    >>> from reelscore.examples import clips
    >>> systems, references = clips()
    >>> table = score_systems(systems, references, "meteor,cider")
    >>> path = Path(tempfile.mkdtemp(), "report.html")
    >>> write_report(path, Report(table, captions=systems, references=references))
    >>> path.stat().st_size < 120_000
    True
    """
    check_target(path)
    folder = ""
    if sum(len(each.content) for each in report.previews.values()) > MOST_EMBEDDED:
        from reelscore.report.html.previews import write_pictures

        folder = write_pictures(Path(path), report.items, report.previews)
    write_atomically(path, report_html(report, explain=explain, progress=progress, folder=folder))


def report_html(
    report: Report,
    *,
    explain: int = 100_000,
    progress: Progress | None = None,
    folder: str = "",
) -> str:
    """Return a report as the text of an HTML file.

    Args:
        report: What to show.
        explain: The most captions whose scores are explained; with more, none are.
        progress: Called now and then with how many captions are explained, of how many.
        folder: The folder beside the file that has the pictures; without it, they are in the file.

    >>> from reelscore import score_systems
    >>> from reelscore.examples import clips
    >>> page = report_html(Report(score_systems(*clips(), "rouge_l"), title="<b>mine</b>"))
    >>> "<title>&lt;b&gt;mine&lt;/b&gt;</title>" in page
    True
    """
    script = f"\n{joined_modules(report_scripts() / 'main.js')}"
    # Only this very script may run, and nothing may be fetched but a video that somebody plays.
    policy = (
        f"default-src 'none'; script-src {script_hash(script)}; style-src 'unsafe-inline'; "
        f"{_PICTURES if report.previews else ''}"
        "media-src file: http: https: blob:; base-uri 'none'; form-action 'none'"
    )
    systems = report.table.systems
    lettered = bool(report.tests) and report.baseline is None
    return render(
        "report.html",
        report=report,
        version=__version__,
        policy=policy,
        style=style_sheet("report.css"),
        about=_about(report),
        grid=leaderboard(report.table, marks_of(report), people=report.human, bounds=report.bounds),
        letters=letters_of(systems) if lettered else {},
        names=system_names(systems),
        notes=dict.fromkeys([*report.notes, *report.table.notes]),
        signatures=table_signatures(report.table),
        data=as_it_is(encoded(report, explain=explain, progress=progress, folder=folder)),
        pictures=as_it_is("" if folder else _pictures(report)),
        script=as_it_is(script),
    )


def _pictures(report: Report) -> str:
    """Return the previews as text, a line for each item; nothing where there are none."""
    if not report.previews:
        return ""
    pictures = (report.previews.get(item) for item in report.items)
    return "\n".join(base64.b64encode(p.content).decode() if p else "" for p in pictures)


def _about(report: Report) -> str:
    table = report.table
    counts = [(len(table.metrics), "score"), (len(table.systems), "system")]
    if not table.metrics:
        counts = [(sum(map(len, report.captions.values())), "caption"), counts[1]]
    said = [counted(count, what) for count, what in counts]
    items = counted(len(report.items), "video" if report.timelines else "item")
    on = f" on {items}" if report.items else ""
    people = f"; {', '.join(map(legible, report.human))}: by people" if report.human else ""
    return f"{said[0]} of {said[1]}{on}{people}. {shared_beginning(table.systems)}".rstrip()


def marks_of(report: Report) -> dict[tuple[str, str], str]:
    """Mark scores by a report's tests; see `reelscore.significance.comparison.marks_of_tests`."""
    letters = letters_of(report.table.systems)
    return marks_of_tests(report.comparisons, letters, report.baseline, report.bounds)


def encoded(
    report: Report,
    *,
    explain: int = 100_000,
    progress: Progress | None = None,
    folder: str = "",
) -> str:
    """Return everything the page's scripts need, as one text."""
    items = report.items
    names = system_names(report.table.systems)
    payload = Payload()
    for k, name in enumerate(report.table.metrics):
        # item by item, so that the scores of one caption's rivals lie side by side
        payload.numbers(f"score{k}", report.table.matrix(name, report.table.systems, items).T, "f4")
    head: dict[str, object] = {
        "version": __version__,
        "systems": list(names.values()),
        "baseline": None if report.baseline is None else names[report.baseline],
        "bounds": [system in report.bounds for system in names],
        "items": [legible(item) for item in items],
        "metrics": [_metric(report, name) for name in report.table.metrics],
        "interest": _by_interest(report),
        "sections": [_section(each, k, names) for k, each in enumerate(report.sections)],
        "video": report.video,
        "videos": {k: report.videos[item] for k, item in enumerate(items) if item in report.videos},
        "notes": [],
    }
    if head["items"] != items:  # files are named by the ids as they are
        head["ids"] = [item.encode(errors="replace").decode() for item in items]
    if report.captions or report.references:
        texts = ItemTexts.of(report, items)
        texts.add_to(payload)
        head["captions"] = True
        explanations, notes = add_explanations(payload, report, texts, explain, progress)
        head |= {"explanations": explanations, "notes": notes}
    if report.previews:
        head["previews"] = {"folder": folder}
        shown = [report.previews.get(item) for item in items]
        for name in ("frames", "width", "height"):
            sizes = [0 if each is None else getattr(each, name) for each in shown]
            payload.numbers(f"preview_{name}", sizes, "u2")
    if report.timelines:
        from reelscore.report.html.timeline_columns import add_stories

        head["stories"] = add_stories(payload, report, items)
    return payload.encoded(head)


def _by_interest(report: Report) -> list[int]:
    """Order the scores as readers want to see them, by their numbers in the table.

    The report's primary score comes first, then people's, then those that papers quote, then
    others; those with tests before those without, and the last of a family first, as BLEU-4
    before BLEU-1.
    """
    tested = {each.metric for each in report.comparisons if each.about}

    def place(number: int, name: str) -> tuple[int, bool, int]:
        if name == report.primary:
            return -1, False, number
        if name in report.human:
            return 0, name not in tested, number
        if report.table.scale(name).headline:
            return 1, False, number
        return 2, name not in tested, -number

    names = report.table.metrics
    return sorted(range(len(names)), key=lambda number: place(number, names[number]))


def _metric(report: Report, name: str) -> dict[str, object]:
    table = report.table
    results = [table[system].get(name) for system in table.systems]
    tests = next((each for each in report.comparisons if each.metric == name), None)
    return {
        "name": legible(report.table.labels[name]),
        "human": name in report.human,
        "better": table.scale(name).better,
        "own": [None if each is None else _finite(each.score) for each in results],
        "ranked": [report.is_ranked(system, name) for system in table.systems],
        "intervals": [
            None if each is None or each.interval is None else [*map(_finite, each.interval)]
            for each in results
        ],
        "evidence": None if tests is None else _tests(tests, report),
    }


def _tests(tests: Comparison, report: Report) -> dict[str, object]:
    """Return the matrices of a test over all systems of the report."""
    table = report.table
    place = {name: k for k, name in enumerate(tests.systems)}
    order = [place.get(system, -1) for system in table.systems]

    def spread(matrix: FloatArray) -> list[list[float | None]]:
        return [
            [None if i < 0 or j < 0 or i == j else _finite(matrix[i, j]) for j in order]
            for i in order
        ]

    # With one baseline most pairs are not tested, so that nothing can be said of groups.
    clusters: dict[str, int] = {}
    if report.baseline is None:
        among = tests.among(
            [name for name in tests.systems if report.is_ranked(name, tests.metric)]
        )
        clusters = among.clusters
    return {
        "about": tests.about,
        "untested": tests.untested,
        "level": tests.level,
        "p": spread(tests.p_corrected),
        "wins": spread(tests.wins.astype(float)),
        "clusters": [clusters.get(system) for system in table.systems],
    }


def _finite(value: float) -> float | None:
    return float(value) if np.isfinite(value) else None


def _section(section: Section, number: int, systems: Mapping[str, str]) -> dict[str, object]:
    return {
        "id": f"section-{number}",
        "title": legible(section.title),
        "text": [legible(text) for text in section.text],
        "signatures": [legible(text) for text in section.signatures],
        "grids": [_grid(grid, systems) for grid in section.grids],
        "lead": section.lead,
    }


def _grid(grid: Grid, systems: Mapping[str, str]) -> dict[str, object]:
    def shown(text: str) -> str:
        return systems.get(text) or legible(text)

    return {
        "columns": list(map(shown, grid.columns)),
        "names": grid.names,
        "rows": [
            [
                {
                    "text": shown(cell.text),
                    "mark": cell.mark,
                    "under": cell.under,
                    "best": cell.best,
                    "bar": cell.bar,
                }
                for cell in row
            ]
            for row in grid.rows
        ],
    }


def write_table_report(
    table: TableLike, path: str | Path, people: TableLike | None = None, **fields: Any
) -> None:
    """Write the usual report of a table; what `reelscore.ScoreTable.report` does."""
    write_report(path, report_of(table, people, **fields))
