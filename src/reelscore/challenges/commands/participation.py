"""``reelscore challenge``: take part in a challenge, on a server or in a database."""

from __future__ import annotations

import os
import sys
import time
from contextlib import suppress
from pathlib import Path
from typing import Any
from urllib.parse import quote

import click

from reelscore.challenges.challenge import Challenge, expected_of
from reelscore.challenges.commands.files import check_export, check_logs
from reelscore.challenges.commands.options import (
    ACTOR,
    FAILED,
    OWNER,
    WAITING,
    challenge_option,
    database_option,
    exit_status,
    open_challenge,
    phase_option,
    read_file,
    say_accepted,
    say_line,
    server_option,
)
from reelscore.challenges.commands.served import login_server, served_challenge, submit_file
from reelscore.challenges.definition.reader import read_definition
from reelscore.challenges.exchange.remote import Answer, Server, checked_address, keep_login
from reelscore.challenges.exchange.verification import is_database
from reelscore.challenges.people.teams import Team, add_team, find_team
from reelscore.challenges.permissions import Who
from reelscore.challenges.queue.workers import Workers, alone_on
from reelscore.challenges.submissions import Upload, hand_in
from reelscore.challenges.uploads.splits import read_split
from reelscore.challenges.uploads.uploads import Expected, ItemList, Readers, UploadReport
from reelscore.challenges.views import View, submission_dict
from reelscore.cli.messages import printable
from reelscore.cli.options import number_option, threads_option
from reelscore.cli.report_options import Outputs, outputs
from reelscore.errors import DataError, check_choice


@click.command("check")
@click.argument("file", metavar="FILE")
@click.option("--phase", metavar="ID", help="The phase that captions are meant for.")
@server_option
@database_option
@click.option(
    "--definition",
    type=click.Path(path_type=Path),
    metavar="FILE",
    help="The definition of the challenge, where there is no database yet.",
)
@challenge_option
@threads_option
def check_command(
    file: str,
    phase: str | None,
    server: str | None,
    database: str | None,
    definition: Path | None,
    challenge_id: str,
    threads: int | None,
) -> None:
    """Check captions before they are sent, a definition, or what is kept of a challenge.

    With --phase, FILE holds captions, and is read as the server would read it; nothing is charged.
    The exit status is 2 if it cannot be scored, 3 if too many bad files were sent, 4 before the
    phase opens.

    A definition (.toml) is read with all files that it names. Of an export (.zip) with references,
    every score is computed again and compared bit by bit, and checksums and the chain of the log
    are checked. Of a database, the chains of all logs are checked: of its challenges, and of the
    server, which has tokens and accounts.

    \b
    Examples:
      reelscore challenge check lsmdc.toml
      reelscore challenge check run.json --phase blind-test
      reelscore challenge check whole.zip
    """
    if phase is None:
        if is_database(file):
            check_logs(file)
        elif file.endswith(".toml"):
            _check_definition(Path(file))
        elif file.endswith(".zip"):
            check_export(file, threads)
        else:
            raise DataError("Captions are checked for a phase; name it: --phase ID.")
        return
    captions = Path(file)
    if sum(place is not None for place in (server, database, definition)) > 1:
        raise DataError("Choose one of --server, --database and --definition.")
    if database is None and definition is None:
        asked = login_server(server)
        id = served_challenge(asked, challenge_id, phase)["id"]
        with exit_status():
            checked = asked.check(id, phase, captions)
        say_line(*checked["notes"], checked["message"])
        return
    if database is not None:
        with open_challenge(database, challenge_id) as challenge, challenge.reading() as connection:
            expected = challenge.expected_upload(connection, challenge.phase(connection, phase))
    else:
        assert definition is not None
        expected = _expected(definition, phase)
    with Readers(1) as readers:
        read = readers.read(captions.name, read_file(captions), expected)
    say_line(*read.notes)
    if isinstance(read, UploadReport):
        raise DataError("\n".join([read.message, *(f"  {each}" for each in read.problems)]))
    items = sum(len(split.items) for split in expected.splits)
    say_line(f"{captions.name} can be scored: captions of {items:,} items.")


def _check_definition(file: Path) -> None:
    definition = read_definition(file)
    for split in definition.splits:
        content = read_split(split, file.parent)
        scores = ", ".join(definition.scoring.scales(split.kind))
        shown = f"{content.count:,} items, {split.visibility}"
        say_line(f"Split {split.id!r}: {shown}; scores: {scores}.")
    say_line(f"{file}: the definition of {definition.id!r} is complete.")


def _expected(definition: Path, phase: str) -> Expected:
    read = read_definition(definition)
    check_choice("phase", phase, [each.id for each in read.phases])
    own = read.phase(phase)
    contents = {id: read_split(read.split(id), definition.parent) for id in own.splits}
    lists = [ItemList.of(id, content.items) for id, content in contents.items()]
    return expected_of(read, own, lists)


@click.command("login")
@click.argument("url", metavar="URL")
def login_command(url: str) -> None:
    """Store the token of a server of challenges.

    The page Team of a challenge makes tokens. It is asked for here, tried, and kept in a file that
    nobody else can read. REELSCORE_TOKEN takes precedence over it.

    \b
    Example:
      reelscore challenge login https://challenge.example
    """
    address = checked_address(url)
    token = os.environ.get("REELSCORE_TOKEN") or click.prompt("Token", hide_input=True, err=True)
    challenges = Server(address, token.strip(), tell=say_line).challenges()
    file = keep_login(address, token.strip())
    listed = ", ".join(challenges) or "none yet"
    say_line(f"Logged in to {address}; challenges: {listed}. The token is in {file}.")


@click.command("submit")
@click.argument("file", type=click.Path(path_type=Path), metavar="FILE")
@phase_option
@server_option
@database_option
@click.option("--team", metavar="NAME", help="With --database: the team; made if needed.")
@challenge_option
@click.option("--method", default="", metavar="TEXT", help="What the method is called.")
@click.option("--link", default="", metavar="URL", help="Where it is described.")
@click.option("--key", default="", metavar="TEXT", help="The same key is the same submission.")
@click.option("--again", "force", is_flag=True, help="Take captions that the team sent before.")
@click.option("--wait", "waits", is_flag=True, help="Wait for the scores, and print them.")
@number_option("--timeout", default=600, least=1, metavar="SECONDS", help="How long to wait.")
@outputs()
def submit_command(
    file: Path,
    phase: str,
    server: str | None,
    database: str | None,
    team: str | None,
    challenge_id: str,
    key: str,
    waits: bool,
    timeout: int,
    outputs: Outputs,
    **about: Any,
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
    patience = timeout if waits else 0
    if database is None:
        fields = {**about, "force": str(about["force"]).lower()}
        with exit_status():
            place = (login_server(server), challenge_id, phase)
            done = submit_file(*place, file, fields, key=key, timeout=patience)
        _tell(done, waits, outputs)
        return
    if team is None:
        raise DataError("With --database, name the team: --team NAME.")
    upload = Upload(file.name, read_file(file), idempotency=key, **about)
    with open_challenge(database, challenge_id) as challenge:
        challenge.find_phase(phase)  # before a team is made for it
        own = find_team(challenge, team) or add_team(challenge, team, actor=ACTOR)
        with Readers(1) as readers, exit_status():
            receipt = hand_in(challenge, readers, phase, own, upload, actor=ACTOR)
        left = (receipt.left.today, receipt.left.total)
        say_accepted(receipt.number, receipt.id, left, receipt.notes)
        done = _wait(challenge, own, phase, receipt.id, patience)
    _tell(done, waits, outputs)


def _tell(done: Answer, waits: bool, outputs: Outputs) -> None:
    """Print the scores that the team may see, and end with the status of the submission."""
    state, scores = done["state"], done["scores"]
    outputs.write(json=lambda: {name: done[name] for name in ("id", "number", "state", "scores")})
    if outputs.shows:
        for split, of_split in scores.items():
            for name, score in of_split.items():
                click.echo(f"{printable(split)}  {printable(name):<16} {score['score']:.6f}")
    if state == "scored" and not any(scores.values()):
        say_line("It is scored; teams see the scores of this phase when they are revealed.")
    reason = printable(done["reason"])
    if state == "failed":
        say_line(f"It failed: {reason}. It was not charged.")
        sys.exit(FAILED)
    if waits and state in ("queued", "scoring"):
        say_line(f"It still waits to be scored{f': {reason}' if reason else ''}.")
        sys.exit(WAITING)


def _wait(challenge: Challenge, own: Team, phase: str, id: str, timeout: float) -> Answer:
    """Wait until a submission is scored: here, or by whoever else scores for the database.

    It is seen as its team sees it; a draft, and a phase by invitation, is known to organisers.
    """
    until = time.monotonic() + timeout
    while True:
        is_draft = challenge.state == "draft"
        view = View(challenge, OWNER if is_draft else Who("participant", own.id))
        if phase not in view.phases:
            view = View(challenge, OWNER)
        submission = view.find(id)
        assert submission is not None  # it was handed in
        if submission[1].state not in ("queued", "scoring") or time.monotonic() >= until:
            return submission_dict(view, *submission)
        with suppress(DataError), alone_on(challenge.database):  # else a server scores it
            Workers(challenge.store, 1).run_until_idle()
        time.sleep(0.1)


@click.command("submissions")
@server_option
@database_option
@challenge_option
@click.option("--phase", metavar="ID", help="Of this phase only.")
@outputs()
def submissions_command(
    server: str | None,
    database: str | None,
    challenge_id: str,
    phase: str | None,
    outputs: Outputs,
) -> None:
    """List submissions and what became of them: your team's on a server, or all of a database.

    \b
    Examples:
      reelscore challenge submissions
      reelscore challenge submissions --database lsmdc.db --phase public-test
    """
    if database is None:
        listed = _served(login_server(server), challenge_id, phase)
    else:
        listed = _stored(database, challenge_id, phase)
    outputs.write(json=lambda: listed)
    for each in listed if outputs.shows else ():
        reason = f" ({each['reason']})" if each["reason"] else ""
        line = f"{each['id']}  {each['team']}, {each['phase']} {each['number']}: "
        click.echo(printable(f"{line}{each['state']}{reason}"))
        for split, scores in each["scores"].items():
            numbers = "  ".join(f"{name} {score['score']:.6f}" for name, score in scores.items())
            click.echo(printable(f"  {split}: {numbers}"))


def _served(server: Server, challenge: str, phase: str | None) -> list[Answer]:
    id = served_challenge(server, challenge, phase)["id"]
    submissions: list[Answer] = server.get(f"/challenges/{quote(id)}/submissions")["submissions"]
    return [each for each in submissions if phase in (None, each["phase"])]


def _stored(database: str, challenge_id: str, phase: str | None) -> list[Answer]:
    with open_challenge(database, challenge_id) as challenge:
        view = View(challenge, OWNER)
        if phase is not None:
            check_choice("phase", phase, view.phases)
        return [
            submission_dict(view, id, record)
            for id in view.phases
            if phase in (None, id)
            for record in view.submissions(id)
        ]
