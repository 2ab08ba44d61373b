"""Leaderboards: on a page, as files, and the items behind them."""

from __future__ import annotations

from collections.abc import Callable
from typing import Annotated

from fastapi import Path
from fastapi.responses import HTMLResponse, Response

from reelscore.challenge.board_forms import board_csv, board_grid, board_json, history_svg
from reelscore.challenge.boards import Board
from reelscore.challenge.explorer import explorer
from reelscore.report.html.model import Report
from reelscore.report.html.page import report_html
from reelscore.web.arena.visits import PATH, AnyVisit, Visit, missing
from reelscore.web.requests import Router

router = Router(prefix=PATH + "/{challenge}")
BoardId = Annotated[str, Path(max_length=100)]
FORMS: dict[str, tuple[str, Callable[[Board], str]]] = {
    "csv": ("text/csv", board_csv),
    "json": ("application/json", board_json),
    "tex": ("application/x-tex", lambda board: board_grid(board).to_latex() + "\n"),
}


def seen_board(visit: Visit, id: str) -> Board:
    """Give a board as it may be seen.

    Raises:
        HTTPException: If there is none; status 404.
    """
    board = visit.view.board(id)
    if board is None:
        raise missing()
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
    """Give a board as CSV, JSON or LaTeX."""
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
        history=history_svg(own),
        has_items=_has_items(visit, described.phase, described.split),
        boards=[(id, other.title) for id in visit.view.boards() if (other := visit.view.board(id))],
    )


def _has_items(visit: Visit, phase: str, split: str) -> bool:
    view = visit.view
    if view.definition.split(split).kind != "captions":
        return False
    return any(view.item_scores(phase, split, record) for record in view.entries_of(phase)[:1])


@router.get("/boards/{board}/items")
def show_items(visit: AnyVisit, board: BoardId) -> Response:
    """Show the items of a public split one by one, as a report."""
    seen_board(visit, board)
    described = next(each for each in visit.view.definition.boards if each.id == board)
    return report_page(visit, explorer(visit.view, described.phase, described.split))


def report_page(visit: Visit, report: Report | None) -> Response:
    """Show a report; it allows its own script alone, and videos that somebody plays."""
    if report is None:
        raise missing()
    visit.request.state.policy |= {
        "script-src": "'unsafe-inline'",  # the page itself names the only one by its digest
        "style-src": "'unsafe-inline'",
        "media-src": "http: https:",
    }
    return HTMLResponse(report_html(report))
