"""A challenge on a server: what commands ask for where no database is named."""

from __future__ import annotations

import time
from collections.abc import Mapping
from pathlib import Path
from urllib.parse import quote

from reelscore.challenges.boards.awards import AwardDecision
from reelscore.challenges.boards.board_forms import board_of
from reelscore.challenges.boards.boards import Leaderboard
from reelscore.challenges.commands.options import say_accepted, say_line
from reelscore.challenges.exchange.remote import Answer, Server, known_server
from reelscore.errors import DataError, RefusedError, UnknownNameError, check_choice

_PAUSE = 1.0  # seconds between two looks at a submission that waits


def login_server(url: str | None, *, visitor: bool = False) -> Server:
    """Return the server to ask: that of an option, or of ``challenge login``."""
    return known_server(url, visitor=visitor, tell=say_line)


def served_challenge(server: Server, id: str, phase: str | None = None) -> Answer:
    """Return a challenge as its server describes it; without an id, the only one it has."""
    described = _described(server, id)
    if phase is not None:
        check_choice("phase", phase, [each["id"] for each in described["phases"]])
    return described


def _described(server: Server, id: str) -> Answer:
    if not id:
        ids = server.challenges()
        if len(ids) != 1:
            named = ", ".join(ids) or "none"
            raise DataError(f"{server.url} has these challenges: {named}; choose with --challenge.")
        [id] = ids
    try:
        described: Answer = server.get(f"/challenges/{quote(id)}")
    except RefusedError as error:
        if error.reason != "missing":
            raise
        raise UnknownNameError.of("challenge", id, server.challenges()) from None
    return described


def served_boards(
    server: Server, challenge: str, board: str | None
) -> tuple[list[Leaderboard], AwardDecision | None]:
    """Return the boards of a challenge, or one of them, as the server shows them, and the award."""
    described = served_challenge(server, challenge)
    ids: list[str] = described["boards"]
    if board is not None:
        check_choice("board", board, ids)
        ids = [board]
    boards = []
    for id in ids:
        try:
            shown = server.get(f"/challenges/{quote(described['id'])}/boards/{quote(id)}")
        except RefusedError as error:
            if error.reason != "missing":  # a board that may not be seen yet
                raise
            continue
        boards.append(board_of(shown))
    award = described["award"]
    return boards, award and AwardDecision(award["winners"], award["why"], {})


def submit_file(
    server: Server,
    challenge: str,
    phase: str,
    file: Path,
    fields: Mapping[str, str],
    *,
    key: str,
    timeout: float,
) -> Answer:
    """Hand a file in, and wait some seconds for its scores."""
    id = served_challenge(server, challenge, phase)["id"]
    receipt = server.submit(id, phase, file, fields, key)
    left = (receipt["left"]["today"], receipt["left"]["total"])
    say_accepted(receipt["number"], receipt["id"], left, receipt["notes"])
    until = time.monotonic() + timeout
    while True:
        submission: Answer = server.get(f"/submissions/{receipt['id']}")
        if submission["state"] not in ("queued", "scoring") or time.monotonic() >= until:
            return submission
        server.pause(_PAUSE)
