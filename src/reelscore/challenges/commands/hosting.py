"""``reelscore challenge``: make a challenge, serve and score it, decide about it."""

from __future__ import annotations

import signal
import threading
from pathlib import Path

import click

from reelscore._packages import default_device
from reelscore.challenges.challenge import Challenge, Challenges
from reelscore.challenges.commands.options import (
    ACTOR,
    OWNER,
    challenge_option,
    database_argument,
    open_challenge,
    opened_challenge,
    phase_option,
    reason_option,
    say_line,
)
from reelscore.challenges.definition.reader import read_definition
from reelscore.challenges.people.human import link_campaign, make_campaign, publish
from reelscore.challenges.people.invitations import invite_to_phase, withdraw_invitation
from reelscore.challenges.people.teams import find_team, list_teams
from reelscore.challenges.queue.jobs import rescore
from reelscore.challenges.queue.workers import Workers, alone_on
from reelscore.challenges.store.tables import building_challenges
from reelscore.challenges.submissions import hand_in_baselines
from reelscore.challenges.updates import make_challenge
from reelscore.challenges.uploads.uploads import Readers
from reelscore.challenges.views import View
from reelscore.cli.options import choice_option, number_option
from reelscore.errors import DataError, UnknownNameError


@click.command("new")
@click.argument("definition", type=click.Path(path_type=Path), metavar="DEFINITION")
@click.argument("database", required=False, metavar="[DATABASE]")
@click.option("--draft", is_flag=True, help="Show it to organisers only, for now.")
@click.option("--rescore", is_flag=True, help="Score again where the rules of scoring change.")
def new_command(definition: Path, database: str | None, draft: bool, rescore: bool) -> None:
    """Make a challenge from its definition, or update it.

    DEFINITION is a TOML file; everything that is wrong in it is named with its line. DATABASE is
    made where there is none; without it, the file is named after the challenge. The references
    are copied into the database, so those of blind splits can be kept elsewhere afterwards.

    How a phase is scored that has scores changes with --rescore only: then all its submissions are
    scored again, and boards change over when all of them are done.

    \b
    Examples:
      reelscore challenge new lsmdc.toml
      reelscore challenge new lsmdc.toml postgresql://host@db/challenges --draft
    """
    read = read_definition(definition)
    where = database or f"{read.id}.db"
    with building_challenges(where) as opened:
        challenges = Challenges(opened)
        changes = make_challenge(challenges, definition, draft=draft, rescore=rescore)
        say_line(*(changes or ["Nothing has changed."]))
        with Readers(1) as readers:
            made = challenges.find(read.id)
            for name in hand_in_baselines(made, readers, definition.parent, actor=ACTOR):
                say_line(f"Baseline {name!r} waits to be scored.")
    say_line(f"Challenge {read.id!r} is in {where}.")


@click.command("worker")
@database_argument
@number_option(
    "--scorers",
    least=1,
    help="How many submissions to score at a time; all cores but one if not given.",
)
@choice_option("--device", choices=["cpu", "cuda"], default="cpu", help="For learned metrics.")
@click.option("--once", is_flag=True, help="Score what waits now, then end.")
def worker_command(database: str, scorers: int | None, device: str, once: bool) -> None:
    """Score what waits, without pages.

    Any number of workers, on any machines, may score for one PostgreSQL database. A SQLite file
    has one process that scores: a server, or this. Learned metrics are computed where the
    challenge says (device = "cpu" or "cuda"): with --device cuda, a worker takes those of the
    second kind, and leaves those of the first to others.

    \b
    Examples:
      reelscore challenge worker lsmdc.db --once
      reelscore challenge worker postgresql://host@db/challenges --scorers 4
    """
    if device == "cuda" and default_device() != "cuda":
        raise DataError("--device cuda: no GPU that torch can use is here. Leave the option out.")
    with Challenges.opened(database) as challenges, alone_on(challenges.database):
        workers = Workers(challenges, scorers, device=device)
        if once:
            count = workers.run_until_idle()
            done = f"{count} {'submission is' if count == 1 else 'submissions are'} done."
            say_line(done, *workers.left_to_others())
            return
        stop = threading.Event()
        for number in (signal.SIGTERM, signal.SIGINT):
            signal.signal(number, lambda *_: stop.set())
        with workers:
            say_line(f"{workers.count} scorers wait for submissions; end with Ctrl-C.")
            stop.wait()


@click.command("invite")
@opened_challenge
@click.option("--phase", required=True, metavar="ID", help="A phase that is not listed.")
@click.option("--team", "team_name", required=True, metavar="NAME", help="The team: name or id.")
@reason_option
@click.option("--withdraw", is_flag=True, help="Take the invitation back.")
def invite_command(
    challenge: Challenge, phase: str, team_name: str, reason: str, withdraw: bool
) -> None:
    """Invite a team to a phase that is not listed.

    Nobody but organisers and invited teams can learn that such a phase exists.

    \b
    Example:
      reelscore challenge invite lsmdc.db --phase dry-run --team Ours --reason "tests the upload"
    """
    team = find_team(challenge, team_name)
    if team is None:
        names = [each.name for each in list_teams(challenge)]
        raise UnknownNameError.of("team", team_name, names)
    change = withdraw_invitation if withdraw else invite_to_phase
    change(challenge, phase, team, actor=ACTOR, reason=reason)
    done = "is no longer invited" if withdraw else "is invited"
    say_line(f"{team.name} {done} to {phase}.")


@click.command("rescore")
@opened_challenge
@phase_option
@reason_option
def rescore_command(challenge: Challenge, phase: str, reason: str) -> None:
    """Score all submissions of a phase again.

    They become the next generation, which boards show when all of it is done.

    \b
    Example:
      reelscore challenge rescore lsmdc.db --phase blind-test --reason "new version"
    """
    count = rescore(challenge, phase, actor=ACTOR, reason=reason)
    say_line(f"{count} submissions wait to be scored again.")


@click.command("human")
@database_argument
@challenge_option
@click.option("--id", "human_id", required=True, metavar="ID", help="The [[human]] to work on.")
@click.option("--publish", "published", is_flag=True, help="Publish the closed campaign's column.")
@click.option(
    "--campaign",
    metavar="ID",
    help="Link a campaign of this database, whose systems are named as the teams are.",
)
@click.option("--reason", default="", metavar="TEXT", help="Why, for the log.")
def human_command(
    database: str,
    challenge_id: str,
    human_id: str,
    published: bool,
    campaign: str | None,
    reason: str,
) -> None:
    """Let people judge the final entries, and publish what they say.

    Without --publish, freezes the final entries of the phase and makes a campaign of them in the
    same database, as a draft. Open it, let raters work, close it; then publish its column.

    \b
    Examples:
      reelscore challenge human lsmdc.db --id helpful
      reelscore challenge human lsmdc.db --id helpful --publish
    """
    if published and campaign:
        raise DataError("--publish and --campaign are two steps; link the campaign first.")
    with open_challenge(database, challenge_id) as challenge:
        view = View(challenge, OWNER)
        if published:
            count = publish(view, database, human_id, actor=ACTOR, reason=reason)
            say_line(f"Published {human_id}: {count} {'column' if count == 1 else 'columns'}.")
            return
        if campaign:
            link_campaign(view, human_id, campaign, actor=ACTOR)
            say_line(f"Linked the campaign {campaign} as {human_id}.")
            return
        made = make_campaign(view, database, human_id, actor=ACTOR, reason=reason)
    say_line(
        f"Made the campaign {made.campaign} of {len(made.entries)} entries and {made.items} items."
    )
    if made.disclosed:
        say_line("Raters see references of these items; they are in the log as disclosed.")
    say_line(f"Serve it with: reelscore serve {database}")
