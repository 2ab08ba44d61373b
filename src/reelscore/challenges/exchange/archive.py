"""A challenge as a static site: what a visitor sees, in files that need no server."""

from __future__ import annotations

import hashlib
import json
import os
import secrets
import shutil
from collections.abc import Mapping
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

from reelscore import __version__
from reelscore.challenges.boards.board_forms import (
    board_csv,
    board_grid,
    board_json,
    published_captions,
    render,
    team_lines,
    teams_html,
)
from reelscore.challenges.boards.explorer import explorer
from reelscore.challenges.store.results import SubmissionRecord
from reelscore.challenges.views import View
from reelscore.data.spreadsheet import spreadsheet_csv
from reelscore.errors import DataError
from reelscore.report.html.page import report_html
from reelscore.report.pages import as_it_is
from reelscore.report.tables.grid import latex_text
from reelscore.store.values import to_iso

if TYPE_CHECKING:
    from markupsafe import Markup

_STATIC = Path(__file__).parents[1] / "static"
FORMS = {"csv": "CSV", "json": "JSON", "tex": "LaTeX"}  # of a board
ITEMS = "Items, one by one"
TITLES = {"overview": "Overview", "rules": "Rules", "data": "Data"}


def write_archive(
    view: View, folder: str | os.PathLike[str], names: Mapping[int, str] | None = None
) -> list[str]:
    """Write a challenge as a static site, all or nothing."""
    target = Path(folder)
    if target.exists():
        raise DataError(f"{target}: is there already; name a new folder.")
    files = archive_files(view, names)
    aside = target.with_name(f".{target.name[:50]}.{secrets.token_hex(4)}.tmp")
    try:
        for name, content in files.items():
            path = aside / name
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_bytes(content)
        aside.rename(target)
    except OSError as error:
        raise DataError(f"{target}: cannot be made: {error.strerror or error}.") from None
    finally:
        shutil.rmtree(aside, ignore_errors=True)
    return list(files)


def archive_files(view: View, names: Mapping[int, str] | None = None) -> dict[str, bytes]:
    """Return the files of an archive, by name, checksums last."""
    if view.who.role != "visitor":
        raise DataError("An archive shows what a visitor sees; open the view without a role.")
    boards = {id: board for id in view.boards() if (board := view.board(id)) is not None}
    links = [
        ("index.html", "Overview"),
        *((f"board-{id}.html", b.title) for id, b in boards.items()),
    ]
    pages = view.challenge.pages
    texts = {page: pages[page] for page in TITLES if pages.get(page)}
    links += [(f"{page}.html", TITLES[page]) for page in texts if page != "overview"]
    links.append(("log.html", "Log"))
    common: dict[str, object] = {
        "challenge": view.name,
        "links": links,
        "version": __version__,
        "made": (to_iso(view.now) or "")[:10],
        "chain": view.chain_head(),
    }
    files: dict[str, str] = {}

    def page(address: str, title: str, template: str, **context: object) -> None:
        files[address] = render(template, title=title, here=address, **common, **context)

    page(
        "index.html",
        view.name,
        "archive_index.html",
        overview=markdown(texts.get("overview", "")),
        phases=phase_lines(view),
        boards=[(f"board-{id}.html", board) for id, board in boards.items()],
        verdict=view.verdict(),
        citation=citation(view),
    )
    for id, board in boards.items():
        name = f"board-{id}"
        described = view.definition.board(id)
        phase = view.definition.phase(described.phase)
        report = explorer(view, described.phase, described.split)
        if report is not None:
            files[f"items-{id}.html"] = report_html(replace(report, home=f"{name}.html"))
        file_of = partial(_captions_file, id)
        lines = team_lines(view, described, names or {}, file_of)
        for record in published_captions(view, described):
            captions = view.captions(described.phase, described.split, record)
            files[file_of(record)] = _readable(captions or {})
        page(
            f"{name}.html",
            f"{board.title} · {view.name}",
            "challenges/board.html",
            layout="archive_base.html",
            boards=[],  # the frame names them
            generations=[],
            board=board,
            phase=phase.name or phase.id,
            files=[
                *((f"data/{name}.{form}", text) for form, text in FORMS.items()),
                *([(f"items-{id}.html", ITEMS)] if report is not None else []),
            ],
            table=view.board_html(id),
            teams=teams_html(lines),
            history=view.board_history(id),
        )
        files[f"data/{name}.csv"] = board_csv(board)
        files[f"data/{name}.json"] = board_json(board)
        files[f"data/{name}.tex"] = board_grid(board).to_latex() + "\n"
    for key, text in texts.items():
        if key != "overview":
            page(f"{key}.html", TITLES[key], "archive_text.html", text=markdown(text))
    events = view.events()
    page("log.html", "Log", "archive_log.html", events=events)
    files["data/log.csv"] = spreadsheet_csv(
        [
            ["time", "what", "about", "reason", "before", "after"],
            *([to_iso(e.time), e.what, e.about, e.reason, e.before, e.after] for e in events),
        ]
    )
    if view.definition.text:  # else it tells of phases that a visitor may not know of
        files["data/definition.toml"] = view.definition.text
    files["style.css"] = _text("archive.css") + _text("board.css")
    files["board.js"] = _text("board.js")
    contents = {name: text.encode() for name, text in files.items()}
    sums = "".join(
        f"{hashlib.sha256(content).hexdigest()}  {name}\n" for name, content in contents.items()
    )
    return {**contents, "SHA256SUMS": sums.encode()}


def _captions_file(board: str, record: SubmissionRecord) -> str:
    return f"data/captions-{board}-{record.id}.json"


def _readable(captions: Mapping[str, Any]) -> str:
    """Write captions in a format that reelscore reads; uploads themselves may be anything."""
    content: object = captions
    if any(isinstance(rows, list) for rows in captions.values()):
        timed = {
            video: [{"timestamp": row[:2], "sentence": row[2]} for row in rows]
            for video, rows in captions.items()
        }
        content = {"results": timed}
    return json.dumps(content, ensure_ascii=False, indent=1) + "\n"


@dataclass(frozen=True)
class PhaseLine:
    """A phase as the overview tells of it."""

    name: str
    opens: str
    closes: str
    reveals: str
    items: int


def phase_lines(view: View) -> list[PhaseLine]:
    """Return the dates of the phases that the viewer may know of."""
    return [
        PhaseLine(
            phase.name or phase.id,
            to_iso(view.phases[phase.id].opens) or "",
            to_iso(view.phases[phase.id].closes) or "",
            to_iso(view.phases[phase.id].reveals) or "",
            sum(view.counts[split] for split in phase.splits),
        )
        for phase in view.definition.phases
    ]


def citation(view: View, url: str = "") -> str:
    """Return a BibTeX entry of the challenge.

    Organisers may give their own, as the page ``citation`` of the definition.
    """
    own = view.challenge.pages.get("citation", "").strip()
    if own:
        return own
    begin = min((phase.opens for phase in view.phases.values()), default=view.challenge.created)
    year = (to_iso(begin) or "")[:4]
    fields = {
        "title": latex_text(view.name),
        "year": year,
        "howpublished": rf"\url{{{url}}}" if url else "",
        "note": f"Challenge, scored with reelscore {__version__}",
    }
    lines = [f"  {name} = {{{text}}}" for name, text in fields.items() if text]
    key = view.id.replace("-", "").removesuffix(year) + year
    return f"@misc{{{key},\n" + ",\n".join(lines) + "\n}"


def markdown(text: str) -> Markup:
    """Turn Markdown into HTML; raw HTML in it is shown as text."""
    from markdown_it import MarkdownIt

    # Pictures would be fetched from elsewhere, which pages here never do.
    reader = MarkdownIt("commonmark", {"html": False}).enable("table").disable("image")
    return as_it_is(reader.render(text))


def _text(name: str) -> str:
    return (_STATIC / name).read_text(encoding="utf-8")
