"""Submissions to a challenge on a server: what ``submit`` and ``submissions`` do without a file."""

from __future__ import annotations

import time
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from reelscore.challenge.remote import Server
from reelscore.cli.challenge.options import say
from reelscore.errors import DataError

_PAUSE = 1.0  # seconds between two looks at a submission that waits


def served_challenge(server: Server, id: str) -> str:
    """Give the id of a challenge on a server; without one, of the only one that there is.

    Raises:
        DataError: If there are several, or none.
    """
    if id:
        return id
    ids = [str(challenge["id"]) for challenge in server.get("/challenges")["challenges"]]
    if len(ids) != 1:
        named = ", ".join(ids) or "none"
        raise DataError(f"{server.url} has these challenges: {named}; choose with --challenge.")
    return ids[0]


def submit_file(
    server: Server,
    challenge: str,
    phase: str,
    file: Path,
    fields: Mapping[str, str],
    *,
    key: str = "",
    timeout: float | None = None,
) -> dict[str, Any]:
    """Hand a file in, and wait for its scores where a timeout is given.

    Returns:
        The submission as the server describes it.
    """
    receipt = server.submit(served_challenge(server, challenge), phase, file, fields, key)
    for note in receipt["notes"]:
        say(note)
    left = receipt["left"]
    today, total = (
        "without limit" if left[name] is None else left[name] for name in ("today", "total")
    )
    say(
        f"Submission {receipt['number']} is accepted as {receipt['id']}; left today {today}, in "
        f"all {total}."
    )
    until = time.monotonic() + (timeout or 0)
    while True:
        submission: dict[str, Any] = server.get(f"/submissions/{receipt['id']}")
        if submission["state"] not in ("queued", "scoring") or time.monotonic() >= until:
            return submission
        server.pause(_PAUSE)
