"""What stands below a board: who is in the teams, and the captions that are published."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from reelscore.challenges.boards.board_forms import render
from reelscore.challenges.definition.records import Board
from reelscore.challenges.views import Record, View
from reelscore.report.pages import as_it_is

if TYPE_CHECKING:
    from markupsafe import Markup


@dataclass(frozen=True)
class TeamLine:
    """A team below a board.

    Attributes:
        team: Its name.
        members: Who is in it, where that may be known.
        files: Files of captions: what each is called, and where it is.
    """

    team: str
    members: Sequence[str] = ()
    files: list[tuple[str, str]] = field(default_factory=list)


def team_lines(
    view: View, board: Board, names: Mapping[int, str], address: Callable[[Record], str]
) -> list[TeamLine]:
    """List the teams of a board of which the viewer may see members or captions.

    Args:
        view: The challenge, as somebody sees it.
        board: One of its boards.
        names: The names of accounts, by their number.
        address: Where the captions of an entry are.
    """
    members = view.board_members(board.id)
    lines = {
        team: TeamLine(team, [names[account] for account in accounts if account in names])
        for team, accounts in members.items()
    }
    for record in published_captions(view, board):
        line = lines.setdefault(record.team_name, TeamLine(record.team_name))
        line.files.append(("captions", address(record)))
    shown = [line for line in lines.values() if line.members or line.files]
    return sorted(shown, key=lambda line: line.team.casefold())


def named_members(view: View) -> set[int]:
    """Return the accounts of all members that the viewer may know."""
    boards = [view.board_members(id) for id in view.boards()]
    return {account for teams in boards for accounts in teams.values() for account in accounts}


def published_captions(view: View, board: Board) -> list[Record]:
    """List the entries on a board whose captions the viewer may see, oldest first."""
    seen = view.board(board.id)
    on_board = {row.entry.id for row in seen.all_rows} if seen else set()
    return [
        record
        for record in view.entries_of(board.phase)
        if record.id in on_board and view.may_see("captions", board.phase, board.split, record)
    ]


def teams_html(lines: Sequence[TeamLine]) -> Markup:
    """Write the lines as part of a page; nothing where there are none."""
    return as_it_is(render("board_teams.html", lines=lines) if lines else "")
