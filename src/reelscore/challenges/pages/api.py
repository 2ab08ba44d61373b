"""The programming interface: most of what pages show and do, as JSON, for programs with a token.

Cookies count for nothing here, so that no other site can use a browser's session.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Annotated, Any

from fastapi import Body, Depends, File, Form, Header, Path, Request, UploadFile
from fastapi.responses import JSONResponse, Response
from pydantic import BaseModel

from reelscore.challenges import quota
from reelscore.challenges.boards.board_forms import board_csv, board_dict
from reelscore.challenges.challenge import change_dates, find_phase, list_challenges
from reelscore.challenges.pages.boards import member_names, seen_board
from reelscore.challenges.pages.pages import items
from reelscore.challenges.pages.quotas import open_phases
from reelscore.challenges.pages.submissions import (
    choose_own,
    file_answer,
    file_name,
    handed_in,
    known_phase,
    own_record,
    set_own_status,
)
from reelscore.challenges.pages.visits import Arrived, Visit, missing, noted, visit_of
from reelscore.challenges.pages.wing_pages import arena_of
from reelscore.challenges.people import team_decisions, teams
from reelscore.challenges.people.tokens import find_token
from reelscore.challenges.queue import jobs
from reelscore.challenges.queue.queue_state import queue_state, why_waiting
from reelscore.challenges.submissions import Receipt
from reelscore.challenges.views import Record
from reelscore.errors import RefusedError
from reelscore.store.values import from_iso, to_iso
from reelscore.web.requests import API, Guard, RefusedRequest, Router
from reelscore.web.site import Site, address, check_failures
from reelscore.web.store.accounts import Account, find_account


class Refusal(BaseModel):
    """What every error of this interface looks like; see `reelscore.web.requests.error_answer`."""

    message: str
    reason: str
    problems: list[str]


router = Router(prefix=API, responses={422: {"model": Refusal}, "4XX": {"model": Refusal}})
Id = Annotated[str, Path(max_length=100)]
Reason = Annotated[str, Body(max_length=2000)]


def _bearer(request: Request, scope: str = "") -> tuple[Account | None, tuple[str, ...]]:
    """Return the account whose token a request bears, and what the token is good for.

    Raises:
        RefusedRequest: If the token is wrong, ended, or missing where one is needed; status 401.
    """
    site: Site = request.app.state.site
    kind, _, secret = request.headers.get("authorization", "").partition(" ")
    if not kind and not scope:
        return None, ()
    if kind.lower() != "bearer" or not secret:
        raise RefusedRequest(401, "token", "Send a token: 'Authorization: Bearer …'.")
    check_failures.value(request)
    try:
        token = find_token(arena_of(site), secret.strip())
    except RefusedError as error:
        site.failures.note(address(request))
        raise RefusedRequest(401, error.reason, str(error)) from None
    account = find_account(site.database, token.account)
    if account is None:
        raise RefusedRequest(401, "unknown", "The account of this token was removed.")
    return account, token.scopes


def _check_scope(visit: Visit, scope: str, scopes: tuple[str, ...]) -> None:
    if scope and scope not in scopes:
        raise RefusedRequest(403, "scope", f"This token may not {scope}; make one that may.")
    if scope == "organise" and not (visit.account and visit.account.is_owner):
        raise RefusedRequest(403, "scope", "Only an owner may do this.")


def _guard(scope: str) -> Guard[Visit]:
    def check(request: Request) -> Visit:
        account, scopes = _bearer(request, scope)
        site: Site = request.app.state.site
        id = str(request.path_params.get("challenge", ""))
        if id:
            visit = noted(visit_of(site, request, id, account))
        else:
            submission = str(request.path_params["submission"])
            visit = noted(_visit_of_submission(site, request, submission, account))
        _check_scope(visit, scope, scopes)
        return visit

    return Guard(check)


def _visit_of_submission(site: Site, request: Request, id: str, account: Account | None) -> Visit:
    organiser = account is not None and account.is_organiser
    for known in list_challenges(arena_of(site)):
        if organiser or known.state != "draft":
            visit = visit_of(site, request, known.id, account)
            if visit.view.find(id) is not None:
                return visit
    raise missing()


def _found(visit: Visit, id: str) -> tuple[str, Record]:
    """Return a submission with its phase; what may be seen of it is to be asked."""
    submission = visit.view.find(id)
    if submission is None:
        raise missing()
    visit.is_about(submission[0])
    return submission


Anybody = Annotated[Visit, Depends(_guard(""))]
Reader = Annotated[Visit, Depends(_guard("read"))]
Submitter = Annotated[Visit, Depends(_guard("submit"))]
Owner = Annotated[Visit, Depends(_guard("organise"))]


def _own_team(visit: Visit) -> teams.Team:
    if visit.team is None:
        raise RefusedRequest(403, "team", "You are in no team of this challenge; make one first.")
    return visit.team


# What everybody may read


@router.get("/challenges")
def give_challenges(request: Request) -> dict[str, Any]:
    """List the challenges."""
    account, _ = _bearer(request)
    organiser = account is not None and account.is_organiser
    site: Site = request.app.state.site
    return {
        "challenges": [
            {"id": known.id, "name": known.definition.name, "state": known.state}
            for known in list_challenges(arena_of(site))
            if organiser or known.state != "draft"
        ]
    }


@router.get("/challenges/{challenge}")
def give_challenge(visit: Anybody) -> dict[str, Any]:
    """Return a challenge: its phases and boards, and who has won."""
    verdict = visit.view.verdict()
    return {
        "id": visit.known.id,
        "name": visit.view.name,
        "state": visit.known.state,
        "registration": visit.known.definition.registration,
        "phases": _phases(visit),
        "boards": visit.view.boards(),
        "award": verdict and {"winners": list(verdict.winners), "why": list(verdict.why)},
        "team": visit.team.name if visit.team else None,
    }


@router.get("/challenges/{challenge}/phases")
def give_phases(visit: Anybody) -> dict[str, Any]:
    """Return the phases with their times and limits."""
    return {"phases": _phases(visit)}


def _phases(visit: Visit) -> list[dict[str, Any]]:
    view = visit.view
    taking = {phase.id for phase in open_phases(visit)}
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
def give_items(visit: Anybody, split: Id) -> dict[str, Any]:
    """Return the ids of a split's items, once one of its phases is open."""
    for phase in visit.view.definition.phases:
        ids = items(visit, phase.id, split)
        if ids is not None:
            return {"split": split, "items": ids}
    raise missing()


@router.get("/challenges/{challenge}/boards/{board}.csv")
def give_board_csv(visit: Anybody, board: Id) -> Response:
    """Return a board as CSV."""
    return Response(board_csv(seen_board(visit, board)), media_type="text/csv")


@router.get("/challenges/{challenge}/boards/{board}")
def give_board(visit: Anybody, board: Id) -> dict[str, Any]:
    """Return a board, with the members of teams that agree to it."""
    seen, names = board_dict(seen_board(visit, board)), member_names(visit, board)
    members = {
        team: [names[account] for account in accounts if account in names]
        for team, accounts in visit.view.board_members(board).items()
    }
    return {**seen, "members": members}


# What a team reads


@router.get("/challenges/{challenge}/phases/{phase}/quota")
def give_quota(visit: Reader, phase: Id) -> Response:
    """Return what the team has left in a phase."""
    own = find_phase(visit.arena, visit.known, known_phase(visit, phase))
    left = quota.quota_left(visit.arena, own, _own_team(visit))
    return JSONResponse(_left(left))


def _left(left: quota.Left) -> dict[str, Any]:
    return {
        "today": left.today,
        "total": left.total,
        "concurrent": left.concurrent,
        "resets": to_iso(left.resets),
    }


@router.get("/challenges/{challenge}/submissions")
def give_submissions(visit: Reader) -> dict[str, Any]:
    """List the submissions whose state the viewer may see: their team's, or all for organisers."""
    return {
        "submissions": [
            _submission(visit, phase, record)
            for phase in visit.view.phases
            for record in visit.view.submissions(phase)
        ]
    }


def _submission(visit: Visit, phase: str, record: Record) -> dict[str, Any]:
    view = visit.view
    scores: dict[str, Any] = {}
    if record.state == "scored":
        for split in view.definition.phase(phase).splits:
            seen = view.scores(phase, split, record)
            if seen is not None:
                scores[split] = {
                    name: {
                        "score": score.value,
                        "interval": None if score.low is None else [score.low, score.high],
                        "signature": score.signature,
                    }
                    for name, score in seen.items()
                }
    return {
        "id": record.id,
        "challenge": view.id,
        "phase": phase,
        "team": record.team_name,
        "number": record.number,
        "file": record.file_name,
        "method": record.method,
        "arrived": to_iso(record.arrived),
        "late": record.late,
        "status": record.status,
        "chosen": record.chosen,
        "state": record.state or "queued",
        "reason": why_waiting(visit.arena, record.id) or record.reason,
        "scores": scores,
    }


@router.get("/submissions/{submission}")
def give_submission(visit: Reader, submission: Id) -> dict[str, Any]:
    """Return a submission: its state, and the scores that may be seen."""
    phase, record = _found(visit, submission)
    if not visit.view.sees_state(phase, record):
        raise missing()
    return _submission(visit, phase, record)


@router.get("/submissions/{submission}/file")
def give_file(visit: Reader, submission: Id) -> Response:
    """Return the file that was handed in, to its team, and to everybody once it is published."""
    return file_answer(visit, submission)


@router.get("/submissions/{submission}/items")
def give_item_scores(visit: Reader, submission: Id) -> dict[str, Any]:
    """Return the scores of all items of public splits."""
    phase, record = _found(visit, submission)
    view = visit.view
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
async def check_file(
    visit: Submitter, arrived: Arrived, phase: Id, file: Annotated[UploadFile, File()]
) -> dict[str, Any]:
    """Check a file; nothing is charged or kept."""
    _own_team(visit)
    checked = await handed_in(visit, phase, file, arrived, check=True)
    return {"message": f"{file_name(file)} can be scored.", "notes": list(checked.notes)}


@router.post("/challenges/{challenge}/phases/{phase}/submissions", status_code=201)
async def submit(
    visit: Submitter,
    arrived: Arrived,
    phase: Id,
    file: Annotated[UploadFile, File()],
    method: Annotated[str, Form(max_length=5000)] = "",
    description: Annotated[str, Form(max_length=10000)] = "",
    link: Annotated[str, Form(max_length=5000)] = "",
    force: Annotated[bool, Form()] = False,
    idempotency_key: Annotated[str, Header(max_length=200)] = "",
) -> Response:
    """Hand a file in; the same key is the same submission."""
    _own_team(visit)
    receipt = await handed_in(
        visit,
        phase,
        file,
        arrived,
        method=method,
        description=description,
        link=link,
        idempotency=idempotency_key,
        force=force,
    )
    assert isinstance(receipt, Receipt)
    answer = {
        "id": receipt.id,
        "number": receipt.number,
        "state": receipt.state,
        "late": receipt.late,
        "repeated": receipt.repeated,
        "notes": list(receipt.notes),
        "left": _left(receipt.left),
    }
    return JSONResponse(answer, 201)


@router.post("/submissions/{submission}/choose")
def choose(visit: Submitter, submission: Id) -> dict[str, Any]:
    """Let a submission count; only the captain may."""
    choose_own(visit, submission)
    return {"message": "The choice is noted."}


@router.post("/submissions/{submission}/withdraw")
def withdraw(visit: Submitter, submission: Id) -> dict[str, Any]:
    """Take a submission off the boards."""
    set_own_status(visit, submission, "withdrawn")
    return {"message": "The submission is withdrawn."}


@router.post("/submissions/{submission}/cancel")
def cancel(visit: Submitter, submission: Id) -> dict[str, Any]:
    """Cancel a submission that waits; it is not charged."""
    own_record(visit, submission)
    jobs.cancel(visit.arena, visit.known, submission, actor=visit.name)
    return {"message": "The submission is cancelled and not charged."}


# What owners do


@router.get("/challenges/{challenge}/queue")
def give_queue(visit: Owner) -> dict[str, Any]:
    """Return how the queue stands."""
    queue = queue_state(visit.arena)
    return {
        "waiting": queue.waiting,
        "scoring": queue.scoring,
        "failed": queue.failed,
        "oldest_s": queue.oldest,
        "scorers": queue.scorers,
    }


@router.get("/challenges/{challenge}/events")
def give_events(visit: Owner) -> dict[str, Any]:
    """Return the log, and the head of its chain."""
    server = visit.view.server_log()
    return {
        "events": _events(visit.view.events()),
        "chain": visit.view.chain_head(),
        "server_events": _events(server.events if server else []),
        "server_chain": server.chain if server else "",
    }


def _events(events: Sequence[Any]) -> list[dict[str, Any]]:
    return [{**event._asdict(), "time": to_iso(event.time)} for event in events]


def named_team(visit: Visit, id: str) -> teams.Team:
    """Return a team of the challenge by its id.

    Raises:
        HTTPException: If there is none; status 404.
    """
    own = teams.find_team(visit.arena, visit.known, id)
    if own is None or own.id != id:
        raise missing()
    return own


@router.post("/challenges/{challenge}/teams/{team}/grant")
def grant(
    visit: Owner,
    team: Id,
    phase: Annotated[str, Body(max_length=100)],
    amount: Annotated[int, Body(ge=-10_000, le=10_000)],
    reason: Reason,
) -> dict[str, Any]:
    """Grant a team more submissions, or take granted ones back."""
    own = find_phase(visit.arena, visit.known, known_phase(visit, phase))
    named = named_team(visit, team)
    quota.give(visit.arena, visit.known, own, named, amount, actor=visit.name, reason=reason)
    return {"message": f"{named.name} may submit {quota.changed(amount)}."}


def _decision(what: str) -> Callable[..., dict[str, Any]]:
    def decide(
        visit: Owner, team: Id, reason: Annotated[str, Body(max_length=2000, embed=True)]
    ) -> dict[str, Any]:
        named = named_team(visit, team)
        team_decisions.decide(
            visit.arena, visit.known, named, what, actor=visit.name, reason=reason
        )
        return {"message": f"{what}: {named.name}"}

    decide.__doc__ = f"{what.capitalize()} a team."
    return decide


for _what in ("approve", "disqualify", "reinstate"):
    _path = f"/challenges/{{challenge}}/teams/{{team}}/{_what}"
    router.add_api_route(_path, _decision(_what), methods=["POST"], name=_what)


@router.post("/submissions/{submission}/rerun")
def rerun(
    visit: Owner, submission: Id, reason: Annotated[str, Body(max_length=2000, embed=True)]
) -> dict[str, Any]:
    """Queue a failed submission again."""
    jobs.rerun(visit.arena, visit.known, submission, actor=visit.name, reason=reason)
    return {"message": "The submission waits to be scored."}


@router.post("/challenges/{challenge}/phases/{phase}/extend")
def extend(
    visit: Owner,
    phase: Id,
    reason: Reason,
    closes: Annotated[str, Body(max_length=40)] = "",
    reveals: Annotated[str, Body(max_length=40)] = "",
) -> dict[str, Any]:
    """Change when a phase closes or reveals."""
    change_dates(
        visit.arena,
        visit.known,
        known_phase(visit, phase),
        actor=visit.name,
        reason=reason,
        closes=from_iso(closes or None),
        reveals=from_iso(reveals or None),
    )
    return {"message": "The dates are changed."}
