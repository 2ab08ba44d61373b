"""The page of a report: one HTML file with its scripts, styles and data; it loads nothing."""

from __future__ import annotations

import base64
import hashlib
import string
from collections.abc import Callable, Iterator, Mapping
from functools import partial
from html import escape
from importlib.resources import files
from pathlib import Path

from reelscore._version import __version__
from reelscore.data.writing import check_target, write_atomically
from reelscore.report.html.contents import encoded
from reelscore.report.html.model import Report
from reelscore.report.legible import legible, shared_beginning, system_names
from reelscore.report.tables.grid import Cell
from reelscore.report.tables.leaderboard import leaderboard
from reelscore.significance.evidence import marks_of_tests

Progress = Callable[[int, int], None]

# In the order in which they use each other.
_SCRIPTS = (
    "decode",
    "elements",
    "numbers",
    "paper",
    "leaderboard",
    "distributions",
    "wins",
    "scatter",
    "metrics",
    "lengths",
    "alignment",
    "ngrams",
    "stories",
    "query",
    "list",
    "detail",
    "explorer",
    "main",
)


def write_report(
    path: str | Path, report: Report, *, explain: int = 100_000, progress: Progress | None = None
) -> None:
    """Write a report as one HTML file, all or nothing.

    Args:
        path: The file to make or replace.
        report: What to show.
        explain: Up to so many captions, draw METEOR's alignments and CIDEr's n-grams.
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
    >>> path.stat().st_size < 100_000
    True
    """
    check_target(path)
    write_atomically(path, report_html(report, explain=explain, progress=progress))


def report_html(report: Report, *, explain: int = 100_000, progress: Progress | None = None) -> str:
    """Give a report as the text of an HTML file.

    Args:
        report: What to show.
        explain: As in `write_report`.
        progress: As in `write_report`.

    >>> from reelscore import score_systems
    >>> from reelscore.examples import clips
    >>> page = report_html(Report(score_systems(*clips(), "rouge_l"), title="<b>mine</b>"))
    >>> "<title>&lt;b&gt;mine&lt;/b&gt;</title>" in page
    True
    """
    script = _script()
    digest = base64.b64encode(hashlib.sha256(f"\n{script}\n".encode()).digest()).decode()
    # Only this very script may run, and nothing may be fetched but a video that somebody plays.
    policy = (
        f"default-src 'none'; script-src 'sha256-{digest}'; style-src 'unsafe-inline'; "
        "media-src file: http: https: blob:; base-uri 'none'; form-action 'none'"
    )
    return string.Template(_asset("page.html")).substitute(
        title=_text(report.title),
        version=__version__,
        policy=policy,
        style=_asset("style.css").strip(),
        about=_about(report),
        leaderboard=_leaderboard(report),
        made="\n".join(_made(report)),
        data=encoded(report, explain=explain, progress=progress),
        script=script,
    )


def _asset(name: str) -> str:
    return (files("reelscore.report.html") / "page" / name).read_text(encoding="utf-8")


def _script() -> str:
    """All scripts as one, in a scope of its own."""
    parts = "\n".join(_asset(f"{name}.js") for name in _SCRIPTS)
    return f'(() => {{\n"use strict";\n{parts}}})();'


def _text(text: str) -> str:
    return escape(legible(text))


def _about(report: Report) -> str:
    table = report.table
    counts = [(len(table.metrics), "score"), (len(table.systems), "system")]
    said = [f"{count:,} {what}{'s' if count != 1 else ''}" for count, what in counts]
    items = len(report.items)
    what = "video" if report.timelines else "item"
    on = f" on {items:,} {what}{'s' if items != 1 else ''}" if items else ""
    people = f"; {', '.join(map(_text, report.human))}: by people" if report.human else ""
    return f"{said[0]} of {said[1]}{on}{people}. {escape(shared_beginning(table.systems))}".rstrip()


def letters_of(systems: Mapping[str, object] | list[str]) -> dict[str, str]:
    """Name systems by letters, for marks: none where there are more of them than letters.

    >>> letters_of(["ours", "base"])
    {'ours': 'a', 'base': 'b'}
    """
    if len(systems) > len(string.ascii_letters):
        return {}
    return dict(zip(systems, string.ascii_letters, strict=False))


def marks_of(report: Report) -> dict[tuple[str, str], str]:
    """Mark scores by a report's tests; see `reelscore.significance.evidence.marks_of_tests`."""
    return marks_of_tests(report.tests, letters_of(report.table.systems), report.baseline)


def _leaderboard(report: Report) -> str:
    """The table as plain HTML: it is there at once, without scripts too."""
    table = report.table
    grid = leaderboard(table, marks_of(report), people=report.human)
    lettered = bool(report.evidence) and report.baseline is None
    letters = letters_of(report.table.systems) if lettered else {}
    names = system_names(report.table.systems)
    heads = '<th scope="col">system</th>' + "".join(map(partial(_heading, report), table.metrics))
    rows = []
    for number, (name, *cells) in enumerate(grid.rows):
        letter = letters.get(name.text, "")
        before = f'<span class="letter">{letter}</span>&nbsp;' if letter else ""
        mark = f"<sup>{_text(name.mark)}</sup>" if name.mark else ""
        head = f'<th scope="row">{before}<bdi>{escape(names[name.text])}</bdi>{mark}</th>'
        scores = "".join(map(_cell, cells))
        rows.append(f'<tr data-system="{number}">{head}{scores}</tr>')
    return (
        '<div class="scroll" tabindex="0" role="region" aria-label="Leaderboard"><table><thead>'
        f"<tr>{heads}</tr></thead>\n<tbody>\n"
        + "\n".join(rows)
        + "\n</tbody></table></div>"
        + "".join(f"\n<p>{_text(note)}</p>" for note in grid.notes)
    )


def _heading(report: Report, name: str) -> str:
    # An arrow would be taken for the order of the rows, which a click on the heading changes.
    lower = report.table.scale(name).better == "low"
    words = " <small>lower is better</small>" if lower else ""
    return f'<th scope="col">{_text(name)}{words}</th>'


def _cell(cell: Cell) -> str:
    mark = f"<sup>{_text(cell.mark)}</sup>" if cell.mark else ""
    under = f"<small>{_text(cell.under)}</small>" if cell.under else ""
    return f"<td{' class=best' if cell.best else ''}>{_text(cell.text)}{mark}{under}</td>"


def _made(report: Report) -> Iterator[str]:
    if report.command:
        yield f'<p>Command:</p><p class="signature">{_text(report.command)}</p>'
    for note in dict.fromkeys([*report.notes, *report.table.notes]):
        yield f"<p>{_text(note)}</p>"
    signatures = dict.fromkeys(
        result.signature
        for row in report.table.results.values()
        for result in row.values()
        if result.signature
    )
    if signatures:
        yield "<p>Signatures, enough to make the scores again:</p>"
    for signature in signatures:
        yield f'<p class="signature">{_text(signature)}</p>'
    yield f'<p class="dim">reelscore {__version__}</p>'
