"""The organisers' console of a challenge: queue, teams, submissions, dates, scoring again.

Evaluations by people are in `evaluations`, exports and archives in `downloads`.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated, Any

from fastapi import Form, Path
from fastapi.responses import Response

from reelscore.challenges import quota, submissions
from reelscore.challenges.challenge import change_dates, find_phase, set_state
from reelscore.challenges.pages.accounts import reset_link
from reelscore.challenges.pages.evaluations import watched
from reelscore.challenges.pages.pages import team_names
from reelscore.challenges.pages.submissions import SubmissionId, known_phase
from reelscore.challenges.pages.visits import PATH, AsOrganiser, AsOwner, Visit, missing
from reelscore.challenges.people import team_decisions, teams
from reelscore.challenges.people.phase_invitations import (
    invite_to_phase,
    invited_teams,
    withdraw_invitation,
)
from reelscore.challenges.queue import jobs
from reelscore.challenges.queue.queue_state import queue_state
from reelscore.errors import DataError
from reelscore.store.values import from_iso
from reelscore.web.requests import Router
from reelscore.web.site import FromOurForm
from reelscore.web.store.accounts import account_names, list_accounts

router = Router(prefix=PATH + "/{challenge}/console")
Reason = Annotated[str, Form(max_length=2000)]
Phase = Annotated[str, Form(max_length=100)]
TeamId = Annotated[str, Path(alias="team", max_length=100)]
_STATES = ("draft", "open", "closed", "archived")


@router.get("")
def show_console(visit: AsOrganiser) -> Response:
    """Show how the challenge stands, and what can be done about it."""
    return _console(visit)


def _console(visit: Visit, status: int = 200, /, **more: Any) -> Response:
    """Show the console, perhaps with a link that was just made."""
    view = visit.view
    records = [(phase, record) for phase in view.phases for record in view.submissions(phase)]
    counts: dict[str, int] = {}
    for _, record in records:
        counts[record.team] = counts.get(record.team, 0) + 1
    names = {record.id: record.team_name for _, record in records}
    same = [
        [(id, names.get(id, "")) for id in ids]
        for _, ids in team_decisions.same_captions(visit.arena, visit.known)
    ]
    people = _people(visit)
    context: dict[str, Any] = {"error": "", "link": "", "link_for": "", **more}
    return visit.page(
        "console.html",
        status,
        queue=queue_state(visit.arena),
        teams=teams.list_teams(visit.arena, visit.known),
        counts=counts,
        records=list(reversed(records)),
        same=same,
        states=_STATES,
        people=people,
        invited=invited_teams(visit.arena, visit.known),
        evaluations=watched(visit),
        events=view.events(),
        names=team_names(visit),
        changed=view.changed_event(),
        chain=view.chain_head(),
        **context,
    )


@dataclass(frozen=True)
class Person:
    """A member of a team, for organisers."""

    name: str
    role: str
    contact: str


def _people(visit: Visit) -> dict[str, list[Person]]:
    """Return the members of all teams, by the team's id."""
    rows = teams.all_members(visit.arena, visit.known)
    names = account_names(visit.site.database, [row.account for row in rows])
    people: dict[str, list[Person]] = {}
    for row in rows:
        if row.account in names:
            person = Person(names[row.account], row.role, row.contact)
            people.setdefault(row.team_id, []).append(person)
    return people


@router.get("/live", include_in_schema=False)
def renew_queue(visit: AsOrganiser) -> Response:
    """Return the figures of the queue anew."""
    return visit.part("queue.html", queue=queue_state(visit.arena))


def _team(visit: Visit, id: str) -> teams.Team:
    own = teams.find_team(visit.arena, visit.known, id)
    if own is None or own.id != id:
        raise missing()
    return own


@router.post("/teams/{team}/decide", dependencies=[FromOurForm])
def decide(
    visit: AsOwner, id: TeamId, what: Annotated[str, Form(max_length=20)], reason: Reason
) -> Response:
    """Approve, disqualify or reinstate a team."""
    own = _team(visit, id)
    team_decisions.decide(visit.arena, visit.known, own, what, actor=visit.name, reason=reason)
    return visit.go("/console", f"{own.name}: {what}.")


@router.post("/teams/{team}/grant", dependencies=[FromOurForm])
def grant(
    visit: AsOwner,
    id: TeamId,
    phase: Phase,
    amount: Annotated[int, Form(ge=-10_000, le=10_000)],
    reason: Reason,
) -> Response:
    """Grant a team more submissions, or take granted ones back."""
    own, of_phase = (
        _team(visit, id),
        find_phase(visit.arena, visit.known, known_phase(visit, phase)),
    )
    quota.give(visit.arena, visit.known, of_phase, own, amount, actor=visit.name, reason=reason)
    return visit.go("/console", f"{own.name} may submit {quota.changed(amount)} in {phase}.")


@router.post("/teams/{team}/merge", dependencies=[FromOurForm])
def merge(
    visit: AsOwner, id: TeamId, into: Annotated[str, Form(max_length=100)], reason: Reason
) -> Response:
    """Merge a team into another."""
    own, other = _team(visit, id), _team(visit, into)
    team_decisions.merge(visit.arena, visit.known, own, other, actor=visit.name, reason=reason)
    return visit.go("/console", f"{own.name} is part of {other.name} now.")


@router.post("/phases/{phase}/invitations", dependencies=[FromOurForm])
def change_invitation(
    visit: AsOwner,
    phase: Annotated[str, Path(max_length=100)],
    team: Annotated[str, Form(max_length=100)],
    what: Annotated[str, Form(pattern="^(invite|withdraw)$")],
    reason: Reason,
) -> Response:
    """Invite a team to a phase that is not listed, or take the invitation back."""
    change, done = {
        "invite": (invite_to_phase, "is invited"),
        "withdraw": (withdraw_invitation, "is no longer invited"),
    }[what]
    own = _team(visit, team)
    known_phase(visit, phase)
    change(visit.arena, visit.known, phase, own, actor=visit.name, reason=reason)
    return visit.go("/console", f"{own.name} {done} to {phase}.")


@router.post("/submissions/{submission}/status", dependencies=[FromOurForm])
def set_status(
    visit: AsOwner,
    id: SubmissionId,
    status: Annotated[str, Form(pattern="^(active|disqualified)$")],
    reason: Reason,
) -> Response:
    """Disqualify a submission, or take that back."""
    submissions.set_status(visit.arena, visit.known, id, status, actor=visit.name, reason=reason)
    return visit.go("/console", f"Submission {id} is {status}.")


@router.post("/submissions/{submission}/rerun", dependencies=[FromOurForm])
def rerun(visit: AsOwner, id: SubmissionId, reason: Reason) -> Response:
    """Queue a failed submission again."""
    jobs.rerun(visit.arena, visit.known, id, actor=visit.name, reason=reason)
    return visit.go("/console", f"Submission {id} waits to be scored.")


@router.post("/dates", dependencies=[FromOurForm])
def set_dates(
    visit: AsOwner,
    phase: Phase,
    reason: Reason,
    closes: Annotated[str, Form(max_length=40)] = "",
    reveals: Annotated[str, Form(max_length=40)] = "",
) -> Response:
    """Change when a phase closes or reveals; participants read it on the overview."""
    change_dates(
        visit.arena,
        visit.known,
        known_phase(visit, phase),
        actor=visit.name,
        reason=reason,
        closes=from_iso(closes or None),
        reveals=from_iso(reveals or None),
    )
    return visit.go("/console", f"The dates of {phase} are changed.")


@router.post("/rescore", dependencies=[FromOurForm])
def rescore(visit: AsOwner, phase: Phase, reason: Reason) -> Response:
    """Score all submissions of a phase again, as the next generation."""
    count = jobs.rescore(
        visit.arena, visit.known, known_phase(visit, phase), actor=visit.name, reason=reason
    )
    what = "1 submission" if count == 1 else f"{count:,} submissions"
    return visit.go("/console", f"{what} of {phase} {'is' if count == 1 else 'are'} scored again.")


@router.post("/state", dependencies=[FromOurForm])
def change_state(
    visit: AsOwner, state: Annotated[str, Form(max_length=20)], reason: Reason
) -> Response:
    """Make the challenge a draft, open, closed or archived."""
    if state not in _STATES:
        raise DataError(f"{state!r} is no state; expected {', '.join(_STATES)}.")
    set_state(visit.arena, visit.known, state, actor=visit.name, reason=reason)
    return visit.go("/console", f"The challenge is {state} now.")


@router.post("/invite", dependencies=[FromOurForm])
def invite(visit: AsOwner) -> Response:
    """Make a link by which people can register, good for thirty days."""
    token = visit.site.signer.sign("invitation", visit.known.id)
    link = f"{visit.site.settings.url}{visit.path}/register?invitation={token}"
    return _console(visit, link=link, link_for="A link to register, good for thirty days")


@router.post("/password", dependencies=[FromOurForm])
def new_password(visit: AsOwner, name: Annotated[str, Form(max_length=60)]) -> Response:
    """Make a link by which a participant sets a new password, good once within a day."""
    participants = list_accounts(visit.site.database, ("participant",))
    account = next((each for each in participants if each.name == name), None)
    if account is None:
        return _console(visit, 422, error=f"There is no participant {name!r}.")
    link = reset_link(visit.site, account)
    return _console(visit, link=link, link_for=f"A new password for {name}, good once, for a day")
