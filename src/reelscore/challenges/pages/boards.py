"""Leaderboards: on a page, as files, and the items behind them."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Annotated
from urllib.parse import quote

from fastapi import Path
from fastapi.responses import HTMLResponse, Response
from markupsafe import Markup

from reelscore.challenges.boards.board_forms import board_csv, board_grid, board_json
from reelscore.challenges.boards.board_teams import team_lines, teams_html
from reelscore.challenges.boards.boards import Board
from reelscore.challenges.boards.explorer import explorer
from reelscore.challenges.definition import records as definition
from reelscore.challenges.pages.pages import items
from reelscore.challenges.pages.visits import PATH, AnyVisit, Visit, missing
from reelscore.challenges.views import Record
from reelscore.report.html.page import report_html
from reelscore.web.media import video_files
from reelscore.web.requests import Router
from reelscore.web.store.accounts import account_names

router = Router(prefix=PATH + "/{challenge}")
BoardId = Annotated[str, Path(max_length=100)]
FORMS: dict[str, tuple[str, Callable[[Board], str]]] = {
    "csv": ("text/csv", board_csv),
    "json": ("application/json", board_json),
    "tex": ("application/x-tex", lambda board: board_grid(board).to_latex() + "\n"),
}


def seen_board(visit: Visit, id: str) -> Board:
    """Return a board as it may be seen.

    Raises:
        HTTPException: If there is none; status 404.
    """
    board = visit.view.board(id)
    if board is None:
        raise missing()
    visit.is_about(next(each.phase for each in visit.view.definition.boards if each.id == id))
    return board


@router.get("/boards")
def show_first(visit: AnyVisit) -> Response:
    """Go to the first board that may be seen, of a phase that is open where there is one."""
    view = visit.view
    seen = [id for id in view.boards() if view.board(id) is not None]
    if not seen:
        return visit.page("no_board.html")
    phases = {board.id: view.phases[board.phase] for board in view.definition.boards}
    is_open = [id for id in seen if phases[id].opens <= view.now < phases[id].closes]
    return visit.go(f"/boards/{(is_open or seen)[0]}")


@router.get("/boards/{board}.{form}")
def give_board(visit: AnyVisit, board: BoardId, form: BoardId) -> Response:
    """Return a board as CSV, JSON or LaTeX."""
    if form not in FORMS:
        raise missing()
    kind, written = FORMS[form]
    return Response(written(seen_board(visit, board)), media_type=kind)


@router.get("/boards/{board}")
def show_board(visit: AnyVisit, board: BoardId) -> Response:
    """Show a leaderboard."""
    own = seen_board(visit, board)
    described = next(each for each in visit.view.definition.boards if each.id == board)
    return visit.page(
        "board.html",
        board=own,
        phase=visit.view.definition.phase(described.phase),
        split=visit.view.definition.split(described.split),
        table=visit.view.board_html(board),
        history=visit.view.board_history(board),
        teams=_teams(visit, described),
        has_items=_has_items(visit, described.phase, described.split),
        boards=[(id, other.title) for id in visit.view.boards() if (other := visit.view.board(id))],
    )


def _teams(visit: Visit, board: definition.Board) -> Markup:
    """Write who is in the teams, and links to captions, as far as they may be seen."""
    prefix = visit.site.settings.prefix

    def address(record: Record) -> str:
        return f"{prefix}{visit.path}/submissions/{record.id}/file"

    return teams_html(team_lines(visit.view, board, member_names(visit, board.id), address))


def member_names(visit: Visit, board: str) -> dict[int, str]:
    """Return the names of the members of teams on a board, as far as they may be known."""
    accounts = [id for ids in visit.view.board_members(board).values() for id in ids]
    return account_names(visit.site.database, accounts)


def _has_items(visit: Visit, phase: str, split: str) -> bool:
    view = visit.view
    if view.definition.split(split).visibility != "public":
        return False
    return any(view.item_scores(phase, split, record) for record in view.entries_of(phase))


@router.get("/boards/{board}/items")
def show_items(visit: AnyVisit, board: BoardId) -> Response:
    """Show the items of a public split one by one, as a report."""
    seen_board(visit, board)
    described = next(each for each in visit.view.definition.boards if each.id == board)
    home = f"{visit.site.settings.prefix}{visit.path}/boards/{board}"
    return items_page(visit, described.phase, described.split, home=home)


def items_page(
    visit: Visit,
    phase: str,
    split: str,
    submissions: Sequence[str] | None = None,
    *,
    home: str = "",
) -> Response:
    """Show items as a report; it allows its own script alone, and videos that somebody plays.

    Raises:
        HTTPException: If no item scores may be seen; status 404.
    """
    report = explorer(visit.view, phase, split, submissions)
    if report is None:
        raise missing()
    report = replace(report, home=home)
    folder = visit.site.settings.videos
    if not report.video and folder is not None:
        files = video_files(folder)
        place = f"{visit.site.settings.prefix}{visit.path}/clips/{phase}/{split}/"
        clips = {
            item: place + quote(item, safe="") + files[item].suffix
            for item in items(visit, phase, split) or ()
            if item in files
        }
        report = replace(report, videos=clips)
    visit.request.state.policy |= {
        "script-src": "'unsafe-inline'",  # the page itself names the only one by its digest
        "style-src": "'unsafe-inline'",
        "media-src": "http: https:",
    }
    return HTMLResponse(report_html(report))


@router.get("/clips/{phase}/{split}/{name}")
def give_clip(
    visit: AnyVisit,
    phase: BoardId,
    split: BoardId,
    name: Annotated[str, Path(max_length=1000)],
) -> Response:
    """Send the clip of an item from the server's folder of videos, once its phase is open."""
    item = name.rpartition(".")[0]
    if item not in (items(visit, phase, split) or ()):
        raise missing()
    videos = visit.site.videos
    return videos.send(visit.known.id, videos.name(visit.known.id, item))
