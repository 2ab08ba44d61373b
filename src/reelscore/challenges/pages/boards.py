"""Leaderboards: on a page, as files, and the items behind them."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Annotated
from urllib.parse import quote

from fastapi import Path, Query
from fastapi.responses import HTMLResponse, Response
from markupsafe import Markup

from reelscore.challenges.boards.board_forms import (
    board_csv,
    board_grid,
    board_json,
    team_lines,
    teams_html,
)
from reelscore.challenges.boards.boards import Leaderboard
from reelscore.challenges.boards.explorer import explorer
from reelscore.challenges.definition import records as definition
from reelscore.challenges.exchange.archive import FORMS, ITEMS
from reelscore.challenges.pages.context import AnyPage, ChallengePage, Router, missing
from reelscore.challenges.pages.overview import items
from reelscore.challenges.pages.wing_pages import PATH
from reelscore.challenges.views import SubmissionRecord, View
from reelscore.report.html.page import report_html
from reelscore.web.media import video_files
from reelscore.web.store.accounts import account_names

router = Router(prefix=PATH + "/{challenge}")
BoardId = Annotated[str, Path(max_length=100)]
Generation = Annotated[int | None, Query(ge=1, le=10_000)]
_WRITTEN: dict[str, tuple[str, Callable[[Leaderboard], str]]] = {
    "csv": ("text/csv", board_csv),
    "json": ("application/json", board_json),
    "tex": ("application/x-tex", lambda board: board_grid(board).to_latex() + "\n"),
}


def seen_board(page: ChallengePage, id: str) -> Leaderboard:
    """Return a board as it may be seen."""
    board = page.view.board(id)
    if board is None:
        raise missing()
    return board


@router.get("/boards")
def show_first(page: AnyPage) -> Response:
    """Go to the first board that may be seen, of a phase that is open where there is one."""
    view = page.view
    seen = [id for id in view.boards() if view.board(id) is not None]
    if not seen:
        return page.render("no_board.html")
    phases = {board.id: view.phases[board.phase] for board in view.definition.boards}
    is_open = [id for id in seen if phases[id].is_open(view.now)]
    return page.go_to(f"/boards/{(is_open or seen)[0]}")


@router.get("/boards/{board}.{form}")
def give_board(page: AnyPage, board: BoardId, form: BoardId) -> Response:
    """Return a board as CSV, JSON or LaTeX."""
    if form not in _WRITTEN:
        raise missing()
    kind, written = _WRITTEN[form]
    return Response(written(seen_board(page, board)), media_type=kind)


@router.get("/boards/{board}")
def show_board(page: AnyPage, board: BoardId, generation: Generation = None) -> Response:
    """Show a leaderboard, perhaps with the scores before all were scored again."""
    newest = seen_board(page, board).generation
    if generation is not None:
        view = View(page.challenge, page.view.who, now=page.view.now, generation=generation)
        page = replace(page, view=view)
    own = seen_board(page, board)
    described = page.view.definition.board(board)
    phase = page.view.definition.phase(described.phase)
    place = f"{page.site.settings.prefix}{page.path}/boards/"
    has_items = _has_items(page, described.phase, described.split)
    return page.render(
        "board.html",
        layout="challenges/page.html",
        board=own,
        generations=[
            (f"{place}{board}?generation={k}", k) for k in range(newest, 0, -1) if newest > 1
        ],
        phase=phase.name or phase.id,
        files=[
            *((f"{place}{board}.{form}", text) for form, text in FORMS.items()),
            *([(f"{place}{board}/items", ITEMS)] if has_items else []),
        ],
        table=page.view.board_html(board),
        history=page.view.board_history(board),
        teams=_teams(page, described),
        boards=[
            (place + id, other.title, id == board)
            for id in page.view.boards()
            if (other := page.view.board(id))
        ],
    )


def _teams(page: ChallengePage, board: definition.Board) -> Markup:
    """Write who is in the teams, and links to captions, as far as they may be seen."""
    prefix = page.site.settings.prefix

    def address(record: SubmissionRecord) -> str:
        return f"{prefix}{page.path}/submissions/{record.id}/file"

    return teams_html(team_lines(page.view, board, member_names(page, board.id), address))


def member_names(page: ChallengePage, board: str) -> dict[int, str]:
    """Return the names of the members of teams on a board, as far as they may be known."""
    accounts = [id for ids in page.view.board_members(board).values() for id in ids]
    return account_names(page.challenge.database, accounts)


def _has_items(page: ChallengePage, phase: str, split: str) -> bool:
    view = page.view
    if view.definition.split(split).visibility != "public":
        return False
    return any(view.item_scores(phase, split, record) for record in view.entries_of(phase))


@router.get("/boards/{board}/items")
def show_items(page: AnyPage, board: BoardId) -> Response:
    """Show the items of a public split one by one, as a report."""
    seen_board(page, board)
    described = page.view.definition.board(board)
    home = f"{page.site.settings.prefix}{page.path}/boards/{board}"
    return items_page(page, described.phase, described.split, home=home)


def items_page(
    page: ChallengePage,
    phase: str,
    split: str,
    submissions: Sequence[str] | None = None,
    *,
    home: str = "",
) -> Response:
    """Show items as a report; it allows its own script alone, and videos that somebody plays."""
    report = explorer(page.view, phase, split, submissions)
    if report is None:
        raise missing()
    report = replace(report, home=home)
    folder = page.site.settings.videos
    if not report.video and folder is not None:
        files = video_files(folder)
        place = f"{page.site.settings.prefix}{page.path}/clips/{phase}/{split}/"
        clips = {
            item: place + quote(item, safe="") + files[item].suffix
            for item in items(page, phase, split) or ()
            if item in files
        }
        report = replace(report, videos=clips)
    page.request.state.policy |= {
        "script-src": "'unsafe-inline'",  # the page itself names the only one by its digest
        "style-src": "'unsafe-inline'",
        "media-src": "http: https:",
    }
    return HTMLResponse(report_html(report))


@router.get("/clips/{phase}/{split}/{name}")
def give_clip(
    page: AnyPage,
    phase: BoardId,
    split: BoardId,
    name: Annotated[str, Path(max_length=1000)],
) -> Response:
    """Send the clip of an item from the server's folder of videos, once its phase is open."""
    item = name.rpartition(".")[0]
    if item not in (items(page, phase, split) or ()):
        raise missing()
    videos = page.site.videos
    return videos.send(page.challenge.id, videos.name(page.challenge.id, item))
