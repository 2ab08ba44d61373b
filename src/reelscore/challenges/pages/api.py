"""The programming interface: most of what pages show and do, as JSON, for programs with a token.

What is done with a form of a page, such as a decision of owners, is beside that form: see
`reelscore.challenges.pages.programs.deeds`.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict
from typing import Annotated

from anyio import to_thread
from fastapi import Body, Depends, File, Form, Header, Path, Request, UploadFile
from fastapi.responses import JSONResponse, Response

from reelscore.challenges import quota
from reelscore.challenges.boards.board_forms import board_csv, board_dict
from reelscore.challenges.pages.boards import member_names, seen_board
from reelscore.challenges.pages.console import people_of
from reelscore.challenges.pages.context import ChallengePage, Router, listed_challenges, missing
from reelscore.challenges.pages.overview import items
from reelscore.challenges.pages.programs import (
    REFUSALS,
    Answer,
    Anybody,
    Id,
    Owner,
    Reader,
    ServerOwner,
    Submitter,
    bearer,
    team_of_program,
)
from reelscore.challenges.pages.submissions import file_answer, file_name, handed_in
from reelscore.challenges.people.teams import list_teams
from reelscore.challenges.queue.queue_state import queue_state
from reelscore.challenges.submissions import SubmissionReceipt, Upload
from reelscore.challenges.uploads.uploads import Accepted
from reelscore.challenges.views import LogEvent, submission_dict
from reelscore.errors import RefusedError
from reelscore.store.values import to_iso
from reelscore.web.requests import API
from reelscore.web.store import accounts
from reelscore.web.store.accounts import Account

router = Router(prefix=API, responses=REFUSALS)


# What everybody may read


@router.get("/challenges")
def give_challenges(request: Request) -> Answer:
    """List the challenges."""
    account, _ = bearer(request)
    return {
        "challenges": [
            {"id": challenge.id, "name": challenge.definition.name, "state": challenge.state}
            for challenge in listed_challenges(request, account)
        ]
    }


@router.get("/challenges/{challenge}")
def give_challenge(page: Anybody) -> Answer:
    """Return a challenge: its phases and boards, and who has won."""
    verdict = page.view.verdict()
    return {
        "id": page.challenge.id,
        "name": page.view.name,
        "state": page.challenge.state,
        "registration": page.challenge.definition.registration,
        "phases": _phases(page),
        "boards": page.view.boards(),
        "award": verdict and {"winners": list(verdict.winners), "why": list(verdict.why)},
        "team": page.team.name if page.team else None,
    }


@router.get("/challenges/{challenge}/phases")
def give_phases(page: Anybody) -> Answer:
    """Return the phases with their times and limits."""
    return {"phases": _phases(page)}


def _phases(page: ChallengePage) -> list[Answer]:
    view = page.view
    taking = {phase.id for phase in page.open_phases}
    return [
        {
            "id": phase.id,
            "open": phase.id in taking,  # whether it takes files now
            "name": phase.name or phase.id,
            "splits": list(phase.splits),
            "opens": to_iso(view.phases[phase.id].opens),
            "closes": to_iso(view.phases[phase.id].closes),
            "reveals": to_iso(view.phases[phase.id].reveals),
            "per_day": phase.limits.per_day,
            "total": phase.limits.total,
            "concurrent": phase.limits.concurrent,
            "final": phase.final,
        }
        for phase in view.definition.phases
    ]


@router.get("/challenges/{challenge}/splits/{split}/items")
def give_items(page: Anybody, split: Id) -> Answer:
    """Return the ids of a split's items, once one of its phases is open."""
    for phase in page.view.definition.phases:
        ids = items(page, phase.id, split)
        if ids is not None:
            return {"split": split, "items": ids}
    raise missing()


@router.get("/challenges/{challenge}/boards/{board}.csv")
def give_board_csv(page: Anybody, board: Id) -> Response:
    """Return a board as CSV."""
    return Response(board_csv(seen_board(page, board)), media_type="text/csv")


@router.get("/challenges/{challenge}/boards/{board}")
def give_board(page: Anybody, board: Id) -> Answer:
    """Return a board, with the members of teams that agree to it."""
    seen, names = board_dict(seen_board(page, board)), member_names(page, board)
    members = {
        team: [names[account] for account in accounts if account in names]
        for team, accounts in page.view.board_members(board).items()
    }
    return {**seen, "members": members}


# What a team reads


@router.get("/challenges/{challenge}/phases/{phase}/quota")
def give_quota(page: Reader, phase: Id) -> Response:
    """Return what the team has left in a phase."""
    own = page.phase(phase)
    team_of_program(page)
    return JSONResponse(_left(page.left(own)))


def _left(left: quota.Left) -> Answer:
    return {**asdict(left), "resets": to_iso(left.resets)}


@router.get("/challenges/{challenge}/submissions")
def give_submissions(page: Reader) -> Answer:
    """List the submissions whose state the viewer may see: their team's, or all for organisers."""
    return {
        "submissions": [
            submission_dict(page.view, phase, record)
            for phase in page.view.phases
            for record in page.view.submissions(phase)
        ]
    }


@router.get("/submissions/{submission}")
def give_submission(page: Reader, submission: Id) -> Answer:
    """Return a submission: its state, and the scores that may be seen."""
    phase, record = page.submission(submission)
    if not page.view.sees_state(phase, record):
        raise missing()
    return submission_dict(page.view, phase, record)


@router.get("/submissions/{submission}/file")
def give_file(page: Reader, submission: Id) -> Response:
    """Return the file that was handed in, to its team, and to everybody once it is published."""
    return file_answer(page, submission)


@router.get("/submissions/{submission}/items")
def give_item_scores(page: Reader, submission: Id) -> Answer:
    """Return the scores of all items of public splits."""
    phase, record = page.submission(submission)
    view = page.view
    splits = {}
    for split in view.definition.phase(phase).splits:
        scores = view.item_scores(phase, split, record)
        ids = view.items(phase, split)
        if scores and ids is not None:
            splits[split] = {
                name: dict(zip(ids, map(float, values), strict=True))
                for name, values in scores.items()
            }
    if not splits:
        raise missing()
    return {"id": submission, "splits": splits}


# What a team does


@router.post("/challenges/{challenge}/phases/{phase}/check")
async def check_file(page: Submitter, phase: Id, file: Annotated[UploadFile, File()]) -> Response:
    """Check a file; nothing is charged or kept."""
    team_of_program(page)
    checked = await _handed_in(page, phase, file)
    headers = await to_thread.run_sync(_quota_headers, page, phase)
    answer = {"message": f"{file_name(file)} can be scored.", "notes": list(checked.notes)}
    return JSONResponse(answer, headers=headers)


@router.post("/challenges/{challenge}/phases/{phase}/submissions", status_code=201)
async def submit(
    page: Submitter,
    phase: Id,
    file: Annotated[UploadFile, File()],
    method: Annotated[str, Form(max_length=5000)] = "",
    description: Annotated[str, Form(max_length=10000)] = "",
    link: Annotated[str, Form(max_length=5000)] = "",
    force: Annotated[bool, Form()] = False,
    idempotency_key: Annotated[str, Header(max_length=200)] = "",
) -> Response:
    """Hand a file in; the same key is the same submission."""
    team_of_program(page)
    said = Upload(file_name(file), b"", method, description, link, idempotency_key, force)
    receipt = await _handed_in(page, phase, file, said)
    assert isinstance(receipt, SubmissionReceipt)
    answer = {
        "id": receipt.id,
        "number": receipt.number,
        "state": receipt.state,
        "late": receipt.late,
        "repeated": receipt.repeated,
        "notes": list(receipt.notes),
        "left": _left(receipt.left),
    }
    return JSONResponse(answer, 201, _left_headers(receipt.left, phase))


async def _handed_in(
    page: ChallengePage, phase: str, file: UploadFile, said: Upload | None = None
) -> SubmissionReceipt | Accepted:
    """Do what `handed_in` does; a refusal tells what is left, too."""
    try:
        return await handed_in(page, phase, file, said)
    except RefusedError as error:
        headers = await to_thread.run_sync(_quota_headers, page, phase)
        error.headers = headers  # type: ignore[attr-defined]  # the app sends them
        raise


def _quota_headers(page: ChallengePage, phase: str) -> dict[str, str]:
    return _left_headers(page.left(page.phase(phase)), phase)


def _left_headers(left: quota.Left, phase: str) -> dict[str, str]:
    """Return the headers by which answers to submissions tell what is left."""
    numbers = {"X-Quota-Day-Left": left.today, "X-Quota-Left": left.total}
    headers = {name: str(number) for name, number in numbers.items() if number is not None}
    return {**headers, "X-Quota-Phase": phase}


# What owners read


@router.get("/challenges/{challenge}/queue")
def give_queue(page: Owner) -> Answer:
    """Return how the queue stands."""
    return asdict(queue_state(page.challenge.store))


@router.get("/challenges/{challenge}/teams")
def give_teams(page: Owner) -> Answer:
    """Return the teams with their members, and what these have left as their address."""
    people = people_of(page)
    return {
        "teams": [
            {
                **{"id": each.id, "name": each.name, "kind": each.kind, "state": each.state},
                "approved": each.approved,
                "members": [asdict(person) for person in people.get(each.id, ())],
            }
            for each in list_teams(page.challenge)
        ]
    }


@router.get("/challenges/{challenge}/events")
def give_events(page: Owner) -> Answer:
    """Return the log, and the head of its chain."""
    server = page.view.server_log()
    return {
        "events": _events(page.view.events()),
        "chain": page.view.chain_head(),
        "server_events": _events(server.events if server else []),
        "server_chain": server.chain if server else "",
    }


def _events(events: Sequence[LogEvent]) -> list[Answer]:
    return [{**event._asdict(), "time": to_iso(event.time)} for event in events]


# Accounts of the server: those of participants, and of organisers

Text = Annotated[str, Body(embed=True, max_length=60)]
NewPassword = Annotated[str, Body(embed=True, max_length=1000)]


@router.get("/accounts")
def give_accounts(desk: ServerOwner) -> Answer:
    """List the accounts."""
    everybody = accounts.list_accounts(desk.site.database, accounts.ROLES)
    return {"accounts": [{"name": each.name, "role": each.role} for each in everybody]}


@router.post("/accounts", status_code=201)
async def add_account(
    desk: ServerOwner, name: Text, password: NewPassword, role: Text = "participant"
) -> Answer:
    """Make an account."""
    site = desk.site
    add = accounts.add_account
    made = await site.hashing.run(add, site.database, name, password, role, desk.deed)
    return {"name": made.name, "role": made.role}


def _named(desk: ServerOwner, name: Annotated[str, Path(max_length=60)]) -> Account:
    account = accounts.find_named(desk.site.database, name)
    if account is None:
        raise missing()
    return account


Named = Annotated[Account, Depends(_named)]


@router.post("/accounts/{name}/role")
def set_role(desk: ServerOwner, account: Named, role: Text) -> Answer:
    """Set the role of an account; its sessions end."""
    changed = accounts.set_role(desk.site.database, account.id, role, desk.deed)
    return {"name": changed.name, "role": changed.role}


@router.post("/accounts/{name}/password")
async def set_password(desk: ServerOwner, account: Named, password: NewPassword) -> Answer:
    """Set the password of an account; its sessions end."""
    site = desk.site
    await site.hashing.run(accounts.set_password, site.database, account.id, password, desk.deed)
    return {"message": f"{account.name} has a new password; tell it to them."}


@router.post("/accounts/{name}/remove")
def remove_account(desk: ServerOwner, account: Named) -> Answer:
    """Remove an account; what was done by its name stays in the logs."""
    accounts.remove_account(desk.site.database, account.id, desk.deed)
    return {"message": f"{account.name} has no account any more."}
