"""``reelscore challenge submit``."""

from __future__ import annotations

import sys
import time
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import click

from reelscore.challenges.arena import Arena
from reelscore.challenges.challenge import Known, find_challenge, find_phase
from reelscore.challenges.commands.options import (
    FAILED,
    WAITING,
    challenge_option,
    exit_status,
    json_option,
    open_arena,
    owner_view,
    say,
    seen_scores,
    server_option,
    show,
)
from reelscore.challenges.commands.served import login_server, submit_file
from reelscore.challenges.people.teams import Team, add_team, find_team
from reelscore.challenges.queue.queue_state import why_waiting
from reelscore.challenges.queue.workers import Workers, alone_on
from reelscore.challenges.submissions import Receipt, Upload, hand_in
from reelscore.challenges.uploads.uploads import Readers
from reelscore.challenges.views import Record
from reelscore.cli.messages import printable
from reelscore.cli.options import number_option
from reelscore.errors import DataError


@click.command("submit")
@click.argument("file", type=click.Path(path_type=Path), metavar="FILE")
@click.option("--phase", required=True, metavar="ID", help="The phase.")
@server_option
@click.option("--database", metavar="DATABASE", help="The database, where there is no server.")
@click.option("--team", metavar="NAME", help="With --database: the team; made if needed.")
@challenge_option
@click.option("--method", default="", metavar="TEXT", help="What the method is called.")
@click.option("--link", default="", metavar="URL", help="Where it is described.")
@click.option("--key", default="", metavar="TEXT", help="The same key is the same submission.")
@click.option("--force", is_flag=True, help="Take captions that the team sent before.")
@click.option("--wait", "waits", is_flag=True, help="Wait for the scores, and print them.")
@number_option("--timeout", default=600, least=1, metavar="SECONDS", help="How long to wait.")
@json_option
def command(
    file: Path,
    phase: str,
    server: str | None,
    database: str | None,
    team: str | None,
    challenge_id: str,
    method: str,
    link: str,
    key: str,
    force: bool,
    waits: bool,
    timeout: int,
    as_json: bool,
) -> None:
    """Hand in a file of captions, to a server or, with --database, without one.

    Exit status: 0 scored or accepted, 2 refused, 3 no quota, 4 closed, 5 failed, 6 still waiting.
    What does not arrive is sent again, and counts once. With --database, --wait scores the file
    here where no server does.

    \b
    Examples:
      reelscore challenge submit run.json --phase public-test --wait
      reelscore challenge submit run.json --phase public-test --database lsmdc.db \\
        --team Ours --wait
    """
    if database is None:
        fields = {"method": method, "link": link, "force": str(force).lower()}
        with exit_status():
            done = submit_file(
                login_server(server),
                challenge_id,
                phase,
                file,
                fields,
                key=key,
                timeout=timeout if waits else None,
            )
        _tell(done["id"], done["number"], done["state"], done["reason"], done["scores"], waits,
              as_json)  # fmt: skip
        return
    if team is None:
        raise DataError("With --database, name the team: --team NAME.")
    try:
        content = file.read_bytes()
    except OSError as error:
        raise DataError(f"{file}: cannot be read: {error.strerror or error}.") from None
    upload = Upload(file.name, content, method, "", link, key, force)
    with open_arena(database) as arena:
        known = find_challenge(arena, challenge_id)
        find_phase(arena, known, phase)  # before a team is made for it
        own = find_team(arena, known, team) or add_team(arena, known, team, actor="command line")
        receipt = _hand_in(arena, known, phase, own, upload)
        for note in receipt.notes:
            say(note)
        left = receipt.left
        say(
            f"Submission {receipt.number} is accepted as {receipt.id}; left today "
            f"{_count(left.today)}, in all {_count(left.total)}."
        )
        record = _wait(arena, known, receipt.id, timeout if waits else 0.0)
        scores = seen_scores(owner_view(arena, known), phase, record)
        reason = why_waiting(arena, receipt.id) or record.reason
    _tell(receipt.id, receipt.number, record.state, reason, scores, waits, as_json)


def _tell(
    id: str,
    number: int,
    state: str,
    reason: str,
    scores: Mapping[str, Mapping[str, Mapping[str, Any]]],
    waits: bool,
    as_json: bool,
) -> None:
    """Print the scores, and end with the status of the submission."""
    if as_json:
        show({"id": id, "number": number, "state": state, "scores": scores})
    else:
        for split, of_split in scores.items():
            for name, score in of_split.items():
                click.echo(f"{printable(split)}  {printable(name):<16} {score['score']:.6f}")
    if state == "failed":
        say(f"It failed: {printable(reason)}. It was not charged.")
        sys.exit(FAILED)
    if waits and state in ("queued", "scoring"):
        say(f"It still waits to be scored{f': {printable(reason)}' if reason else ''}.")
        sys.exit(WAITING)


def _count(number: int | None) -> str:
    return "without limit" if number is None else str(number)


def _hand_in(arena: Arena, known: Known, phase: str, team: Team, upload: Upload) -> Receipt:
    readers = Readers(1)
    try:
        with exit_status():
            return hand_in(arena, readers, known, phase, team, upload, actor="command line")
    finally:
        readers.close()


def _wait(arena: Arena, known: Known, id: str, timeout: float) -> Record:
    """Wait until a submission is scored: here, or by whoever else scores for the database."""
    until = time.monotonic() + timeout
    while True:
        submission = owner_view(arena, known).find(id)
        assert submission is not None  # it was handed in
        record = submission[1]
        if record.state not in ("queued", "scoring") or time.monotonic() >= until:
            return record
        try:
            with alone_on(arena.database):
                Workers(arena, 1).run_until_idle()
        except DataError:
            pass  # a server scores it
        time.sleep(0.1)
