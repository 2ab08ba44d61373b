"""The organisers' console of a challenge: queue, teams, submissions, dates, scoring again.

Evaluations by people, exports, archives and new challenges are made here, too.
"""

from __future__ import annotations

import shutil
import tempfile
import zipfile
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Literal, TypeVar, get_args

from fastapi import Depends, Form, Request
from fastapi.responses import FileResponse, Response
from pydantic import Field
from starlette.background import BackgroundTask
from starlette.datastructures import FormData, UploadFile

from reelscore.campaigns.pages.open_campaigns import campaigns_of
from reelscore.campaigns.pages.organisers.new_campaign import saved
from reelscore.campaigns.store.records import Status
from reelscore.challenges import quota, submissions
from reelscore.challenges.boards.board_forms import named_members
from reelscore.challenges.challenge import State
from reelscore.challenges.definition.reader import parse_definition
from reelscore.challenges.definition.writer import definition_text
from reelscore.challenges.exchange.archive import archive_files
from reelscore.challenges.exchange.exports import Contents, export_challenge, note_download
from reelscore.challenges.pages.accounts import reset_link
from reelscore.challenges.pages.context import (
    ChallengePage,
    OrganiserPage,
    OwnerPage,
    Router,
    missing,
)
from reelscore.challenges.pages.overview import team_names
from reelscore.challenges.pages.programs import Id, Link, Owner, Reason, deeds
from reelscore.challenges.pages.wing_pages import PATH, ChallengePages
from reelscore.challenges.people import teams
from reelscore.challenges.people.human import Evaluation, list_evaluations, make_campaign, publish
from reelscore.challenges.people.invitations import (
    invite_to_phase,
    invited_teams,
    withdraw_invitation,
)
from reelscore.challenges.queue import jobs
from reelscore.challenges.queue.queue_state import queue_state
from reelscore.challenges.submissions import hand_in_baselines
from reelscore.challenges.updates import make_challenge
from reelscore.challenges.views import View, check_reason
from reelscore.data.checks import counted
from reelscore.errors import DataError, ReelscoreError
from reelscore.store.values import from_iso
from reelscore.web.requests import Router as WebRouter
from reelscore.web.sessions import Desk
from reelscore.web.sessions import Owner as Organising
from reelscore.web.site import ORGANISE, FromOurForm
from reelscore.web.store.accounts import account_names, find_named

router = Router(prefix=PATH + "/{challenge}/console")
Amount = Annotated[int, Field(ge=-10_000, le=10_000)]
Moment = Annotated[str, Field(max_length=40)]
Name = Annotated[str, Field(max_length=60)]
TeamName = Annotated[str, Field(max_length=300)]
Result = TypeVar("Result")
_NO_LINK = Link("", "")


@router.get("")
def show_console(page: OrganiserPage) -> Response:
    """Show how the challenge stands, and what can be done about it."""
    return _console(page)


def _console(page: ChallengePage, made: Link = _NO_LINK) -> Response:
    """Show the console, perhaps with a link that was just made."""
    view = page.view
    records = [(phase, record) for phase in view.phases for record in view.submissions(phase)]
    names = {record.id: record.team_name for _, record in records}
    same = [
        [(id, names.get(id, "")) for id in ids] for _, ids in teams.same_captions(page.challenge)
    ]
    people = people_of(page)
    return page.render(
        "console.html",
        queue=queue_state(page.challenge.store),
        teams=teams.list_teams(page.challenge),
        counts=Counter(record.team for _, record in records),
        records=list(reversed(records)),
        same=same,
        states=get_args(State),
        people=people,
        invited=invited_teams(page.challenge),
        evaluations=watched(page),
        events=view.events(),
        names=team_names(page),
        changed=view.changed_event(),
        chain=view.chain_head(),
        made=made,
    )


@dataclass(frozen=True)
class Person:
    """A member of a team, for organisers."""

    name: str
    role: str
    contact: str


def people_of(page: ChallengePage) -> dict[str, list[Person]]:
    """Return the members of all teams, by the team's id."""
    rows = teams.all_members(page.challenge)
    names = account_names(page.challenge.database, [row.account for row in rows])
    people: dict[str, list[Person]] = {}
    for row in rows:
        if row.account in names:
            person = Person(names[row.account], row.role, row.contact)
            people.setdefault(row.team_id, []).append(person)
    return people


@router.get("/definition.toml")
def give_definition(page: OrganiserPage) -> Response:
    """Return the definition, as it was written."""
    name = f'attachment; filename="{page.challenge.id}.toml"'
    text = page.challenge.definition.text
    return Response(text, media_type="text/plain", headers={"content-disposition": name})


@router.get("/live", include_in_schema=False)
def renew_queue(page: OrganiserPage) -> Response:
    """Return the figures of the queue anew."""
    return page.render_part("queue.html", queue=queue_state(page.challenge.store))


# What owners decide: each decision is a form of the console, and a request of programs

decisions, decision = deeds(OwnerPage, Owner, "/console", _console)


@decision("/console/teams", "/teams")
def make_team(page: ChallengePage, name: TeamName, captain: Name, reason: Reason) -> str:
    """Make a team for somebody, who is its captain."""
    account = find_named(page.site.database, captain)
    if account is None:
        raise DataError(f"There is no account {captain!r}.")
    check_reason(reason)
    made = teams.add_team(page.challenge, name, account=account.id, actor=page.name, reason=reason)
    return f"The team {made.name} is made, with {account.name} as its captain."


@decision("/console/teams/{team}/grant", "/teams/{team}/grant")
def grant(page: ChallengePage, team: Id, phase: Id, amount: Amount, reason: Reason) -> str:
    """Grant a team more submissions, or take granted ones back."""
    own, of_phase = page.named_team(team), page.phase(phase)
    quota.give(page.challenge, of_phase, own, amount, actor=page.name, reason=reason)
    more = "more" if amount > 0 else "less"
    return f"{own.name} may submit {abs(amount)} {more} in {phase}."


@decision("/console/teams/{team}/merge", "/teams/{team}/merge")
def merge(page: ChallengePage, team: Id, into: Id, reason: Reason) -> str:
    """Merge a team into another."""
    own, other = page.named_team(team), page.named_team(into)
    teams.merge(page.challenge, own, other, actor=page.name, reason=reason)
    return f"{own.name} is part of {other.name} now."


@decision("/console/teams/{team}/withdraw", "/teams/{team}/withdraw")
def withdraw(page: ChallengePage, team: Id, reason: Reason) -> str:
    """Take all entries of a team off the boards, as the team wishes."""
    own = page.named_team(team)
    check_reason(reason)
    count = submissions.withdraw_team(page.challenge, own, actor=page.name, reason=reason)
    return f"{own.name}: {counted(count, 'entry', 'entries')} withdrawn."


@decision("/console/teams/{team}/decide", "/teams/{team}/{what}")
def decide(page: ChallengePage, team: Id, what: teams.Decision, reason: Reason) -> str:
    """Approve, disqualify or reinstate a team."""
    own = page.named_team(team)
    teams.decide(page.challenge, own, what, actor=page.name, reason=reason)
    return f"{own.name}: {what}."


@decision("/console/phases/{phase}/invitations", "/phases/{phase}/invitations")
def change_invitation(
    page: ChallengePage,
    phase: Id,
    team: Id,
    what: Literal["invite", "withdraw"],
    reason: Reason,
) -> str:
    """Invite a team to a phase that is not listed, or take the invitation back."""
    change, done = {
        "invite": (invite_to_phase, "is invited"),
        "withdraw": (withdraw_invitation, "is no longer invited"),
    }[what]
    own = page.named_team(team)
    page.phase(phase)
    change(page.challenge, phase, own, actor=page.name, reason=reason)
    return f"{own.name} {done} to {phase}."


@decision("/console/submissions/{submission}/status", "/submissions/{submission}/status")
def set_status(
    page: ChallengePage, submission: Id, status: Literal["active", "disqualified"], reason: Reason
) -> str:
    """Disqualify a submission, or take that back."""
    submissions.set_status(page.challenge, submission, status, actor=page.name, reason=reason)
    return f"Submission {submission} is {status}."


@decision("/console/submissions/{submission}/rerun", "/submissions/{submission}/rerun")
def rerun(page: ChallengePage, submission: Id, reason: Reason) -> str:
    """Queue a failed submission again."""
    jobs.rerun(page.challenge, submission, actor=page.name, reason=reason)
    return f"Submission {submission} waits to be scored."


@decision("/console/dates", "/phases/{phase}/extend")
def change_dates(
    page: ChallengePage, phase: Id, reason: Reason, closes: Moment = "", reveals: Moment = ""
) -> str:
    """Change when a phase closes or reveals; empty times stay."""
    page.challenge.change_dates(
        page.phase(phase).id,
        actor=page.name,
        reason=reason,
        closes=from_iso(closes or None),
        reveals=from_iso(reveals or None),
    )
    return f"The dates of {phase} are changed."


@decision("/console/announcements", "/announcements")
def announce(page: ChallengePage, text: Reason) -> str:
    """Announce something to all; it is on the overview, in the feed and in the log for good."""
    if not text.strip():
        raise DataError("The announcement is empty; write what everybody is to know.")
    page.challenge.announce(text.strip(), actor=page.name)
    return "Announced."


@decision("/console/rescore", "/phases/{phase}/rescore")
def rescore(page: ChallengePage, phase: Id, reason: Reason) -> str:
    """Score all submissions of a phase again, as the next generation."""
    count = jobs.rescore(page.challenge, page.phase(phase).id, actor=page.name, reason=reason)
    what = counted(count, "submission")
    return f"{what} of {phase} {'is' if count == 1 else 'are'} scored again."


@decision("/console/state", "/state")
def change_state(page: ChallengePage, state: State, reason: Reason) -> str:
    """Make the challenge a draft, open, closed or archived."""
    page.challenge.set_state(state, actor=page.name, reason=reason)
    return f"The challenge is {state} now."


@decision("/console/invite", "/invite")
def invite(page: ChallengePage) -> Link:
    """Make a link by which people can register, good for thirty days."""
    token = page.site.signer.sign("invitation", page.challenge.id)
    link = f"{page.site.settings.url}{page.path}/register?invitation={token}"
    return Link("A link to register, good for thirty days", link)


@decision("/console/password", "/password")
def new_password(page: ChallengePage, name: Name) -> Link:
    """Make a link by which a participant sets a new password, good once within a day."""
    account = find_named(page.site.database, name)
    if account is None or account.is_organiser:
        raise DataError(f"There is no participant {name!r}.")
    return Link(f"A new password for {name}, good once, for a day", reset_link(page.site, account))


# Evaluations by people


@dataclass(frozen=True)
class Watched:
    """An evaluation with the figures of its campaign; ``None`` before that is made."""

    evaluation: Evaluation
    status: Status | None


def watched(page: ChallengePage) -> list[Watched]:
    """Return the evaluations of a challenge as the console shows them."""
    campaigns = {campaign.id: campaign for campaign in campaigns_of(page.site).all()}
    return [
        Watched(each, campaigns[each.campaign].status() if each.campaign in campaigns else None)
        for each in list_evaluations(page.view)
    ]


@decision("/console/human/{human}/make", "/human/{human}/make")
def make(page: ChallengePage, human: Id, reason: Reason) -> str:
    """Freeze the final entries and make a campaign of them, as a draft."""
    made = _decided(make_campaign, page, human, reason)
    return f"The campaign of {human} is made of {len(made.entries)} entries and {made.items} items."


@decision("/console/human/{human}/publish", "/human/{human}/publish")
def publish_column(page: ChallengePage, human: Id, reason: Reason) -> str:
    """Make the verdict of the closed campaign a column that everybody sees."""
    _decided(publish, page, human, reason)
    return f"The column of {human} is published."


def _decided(decide: Callable[..., Result], page: ChallengePage, id: str, reason: str) -> Result:
    """Make or publish an evaluation that exists, with a reason for the log."""
    if id not in {human.id for human in page.view.definition.humans}:
        raise missing()
    check_reason(reason)
    return decide(page.view, page.site.settings.database, id, actor=page.name, reason=reason)


# What organisers take along: what a server sends has no references, and nothing of single items of
# blind splits; whoever has the machine exports the rest with the command line.


@router.post("/export", dependencies=[FromOurForm])
def give_export(
    page: OwnerPage,
    reason: Annotated[Reason, Form()],
    addresses: Annotated[bool, Form()] = False,
) -> Response:
    """Make an export and send it; the log says who took it along, and why."""
    check_reason(reason)

    def write(path: Path) -> None:
        contents = Contents(addresses=addresses, blind_items=False)
        export_challenge(page.challenge, path, contents, now=page.view.now)

    note = f"{reason} (with addresses)" if addresses else reason
    return _download(page, "export", f"{page.challenge.id}.zip", write, note)


@router.post("/archive", dependencies=[FromOurForm])
def give_archive(page: OrganiserPage) -> Response:
    """Make the archive, as a visitor sees the challenge, and send it in a zip file."""
    if page.challenge.state == "draft":
        raise DataError("Visitors see nothing of a draft; open the challenge first.")

    def write(path: Path) -> None:
        view = View(page.challenge, now=page.view.now)
        files = archive_files(view, account_names(page.challenge.database, named_members(view)))
        with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
            for name, part in files.items():
                archive.writestr(f"{page.challenge.id}/{name}", part)

    return _download(page, "archive", f"{page.challenge.id}-archive.zip", write, "")


def _download(
    page: ChallengePage, what: str, name: str, write: Callable[[Path], None], reason: str
) -> Response:
    """Make a file aside, note it in the log, and send it; nothing of it stays on the server."""
    folder = Path(tempfile.mkdtemp(prefix="reelscore-"))
    try:
        write(folder / name)
        note_download(page.challenge, what, actor=page.name, reason=reason)
    except BaseException:
        shutil.rmtree(folder, ignore_errors=True)
        raise
    tidy = BackgroundTask(shutil.rmtree, folder, ignore_errors=True)
    return FileResponse(folder / name, media_type="application/zip", filename=name, background=tidy)


# A new challenge, from a form or from a definition, by the same steps as on the command line

making = WebRouter(prefix=ORGANISE)


@making.get("/challenge")
def show_form(desk: Organising) -> Response:
    """Ask for a definition, or for what one says."""
    return desk.page("new_challenge.html", error="", said={})


async def _sent(request: Request) -> FormData:
    return await request.form()


@making.post("/challenge", dependencies=[FromOurForm])
def make_new(desk: Organising, sent: Annotated[FormData, Depends(_sent)]) -> Response:
    """Make a challenge, in state draft, or change one; on any fault nothing is done."""
    said = {key: text.strip() for key, text in sent.items() if isinstance(text, str)}
    files = {
        name: [each for each in sent.getlist(name) if isinstance(each, UploadFile) and each.size]
        for name in ("definition", "references", "baselines")
    }
    with tempfile.TemporaryDirectory() as folder:
        try:
            id = _made(desk, Path(folder), said, files)
        except ReelscoreError as error:
            text = str(error).replace(f"{folder}/", "")
            page = desk.page("new_challenge.html", error=text, said=said)
            page.status_code = 422
            return page
    return desk.site.go(f"{PATH}/{id}/console")


def _made(
    desk: Desk, folder: Path, said: Mapping[str, str], files: Mapping[str, Sequence[UploadFile]]
) -> str:
    """Make a challenge of uploaded files in a folder; return its id."""
    saved_as = {name: [saved(folder, each).name for each in files[name]] for name in files}
    path = folder / "".join(saved_as["definition"][:1] or ["challenge.toml"])
    if not files["definition"]:
        for page in ("overview", "rules"):
            (folder / f"{page}.md").write_text(said.get(page, ""), encoding="utf-8")
        text = definition_text(said, saved_as["references"], saved_as["baselines"])
        path.write_text(text, encoding="utf-8")
    definition = parse_definition(path.read_text(encoding="utf-8"), path.name)
    # a definition of somebody else must not name files of this machine
    named = {*definition.pages.values(), *(each.file for each in definition.baselines)}
    named = named.union(*(split.files for split in definition.splits))
    if missing := sorted(named - {each.name for each in folder.iterdir()}):
        raise DataError(f"The definition names {', '.join(missing)}: upload what it names, too.")
    wing = desk.site.wing(ChallengePages)
    challenges, change = wing.challenges, "change" in said
    if not change and definition.id in {each.id for each in challenges.all()}:
        raise DataError(
            f"There is a challenge {definition.id!r} already; choose another id, or change that "
            "one by its definition."
        )
    actor = desk.account.name
    make_challenge(challenges, path, draft=True, rescore=change, actor=actor)
    list(hand_in_baselines(challenges.find(definition.id), wing.readers, folder, actor=actor))
    return definition.id
