"""``reelscore challenge leaderboard``."""

from __future__ import annotations

from functools import partial

import click

from reelscore.challenges.boards.awards import AwardDecision
from reelscore.challenges.boards.board_forms import board_csv, board_grid, board_json, history_svg
from reelscore.challenges.boards.boards import Leaderboard
from reelscore.challenges.commands.options import (
    OWNER,
    challenge_option,
    open_challenge,
    server_option,
)
from reelscore.challenges.commands.served import login_server, served_boards
from reelscore.challenges.permissions import VISITOR, Who
from reelscore.challenges.views import View
from reelscore.cli.messages import printable
from reelscore.cli.options import number_option
from reelscore.cli.report_options import Outputs, outputs
from reelscore.cli.terminal import terminal_width, write
from reelscore.errors import DataError, check_choice


@click.command("leaderboard")
@click.argument("database", required=False, metavar="[DATABASE]")
@server_option
@challenge_option
@click.option("--board", "board_id", metavar="ID", help="Which board; all of them.")
@number_option("--generation", least=1, help="Earlier scores; the newest if not given.")
@click.option("--organisers", is_flag=True, help="Show what organisers see, hidden scores too.")
@outputs(".csv", ".tex", ".svg")
def leaderboard_command(
    database: str | None,
    server: str | None,
    challenge_id: str,
    board_id: str | None,
    generation: int | None,
    organisers: bool,
    outputs: Outputs,
) -> None:
    """Show leaderboards, as visitors see them.

    Without DATABASE they are those of a server: of --server, which needs no account, or that of
    'challenge login', as the account may see them.

    Entries of one cluster cannot be told apart; the range behind a rank gives the places that the
    test leaves open. A file takes one board; .svg shows its entries over time.

    \b
    Examples:
      reelscore challenge leaderboard --server https://challenge.example
      reelscore challenge leaderboard lsmdc.db
      reelscore challenge leaderboard lsmdc.db --board blind -o board.tex
    """
    if database is not None and server is not None:
        raise DataError("Name a DATABASE or a --server, not both.")
    if database is None:
        if organisers or generation:
            name = "--organisers" if organisers else "--generation"
            raise DataError(f"{name} needs a DATABASE; a server shows what a token may see.")
        boards, verdict = served_boards(login_server(server, visitor=True), challenge_id, board_id)
    else:
        who = OWNER if organisers else VISITOR
        boards, verdict = _stored(database, challenge_id, board_id, who, generation)
    if not boards:
        raise DataError("No board can be seen yet; organisers see theirs with --organisers.")
    if outputs.wanted:
        if len(boards) > 1:
            ids = ", ".join(board.id for board in boards)
            raise DataError(f"There are several boards: {ids}; choose one with --board.")
        [board] = boards
        outputs.write(
            [board_grid(board)] if outputs.paths else (),
            csv=partial(board_csv, board),
            svg=lambda: str(history_svg(board)),
        )
        if outputs.json_file:
            write(outputs.json_file, board_json(board))
    if outputs.shows:
        for board in boards:
            click.echo(printable(f"{board.title}\n{_text(board)}\n"))
        if verdict is not None and verdict.winners:
            winners = ", ".join(verdict.winners)
            click.echo(printable(f"Award: {winners}. {' '.join(verdict.why)}"))


def _stored(
    database: str, challenge_id: str, board_id: str | None, who: Who, generation: int | None
) -> tuple[list[Leaderboard], AwardDecision | None]:
    with open_challenge(database, challenge_id) as challenge:
        view = View(challenge, who, generation=generation)
        ids = view.boards()
        if board_id is not None:
            check_choice("board", board_id, ids)
            ids = [board_id]
        boards = [board for id in ids if (board := view.board(id)) is not None]
        return boards, view.verdict()


def _text(board: Leaderboard) -> str:
    if board.names:
        return "Scores are not shown yet. Teams: " + ", ".join(board.names)
    return board_grid(board).to_text(terminal_width())
