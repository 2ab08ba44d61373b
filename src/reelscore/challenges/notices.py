"""Notices by e-mail: what the log says of a submission, of dates and of all, to whom it concerns.

Everything that people are written about is in the log anyway, whoever did it: a worker elsewhere,
the console, the command line. So a thread of the server reads on in the log from the last event it
has written about. Nothing is lost while it or the mail server is down. Of several servers on one
database, one sends at a time. One that is killed while it sends a notice may leave that one to be
sent again, by another after some minutes.
"""

from __future__ import annotations

import logging
import threading
from collections.abc import Iterator
from itertools import groupby
from operator import attrgetter

from sqlalchemy import Connection, func, insert, select, update

from reelscore.challenges.challenge import DAY, Challenge, Challenges
from reelscore.challenges.permissions import NEWS, Who
from reelscore.challenges.store.events import LogEvent
from reelscore.challenges.store.tables import event, job, member, notice, phase, submission, team
from reelscore.challenges.views import View
from reelscore.store.database import Database
from reelscore.web.mail import Letter, is_address
from reelscore.web.requests import where
from reelscore.web.site import Website
from reelscore.web.store.claims import Claim

logger = logging.getLogger("reelscore.web")
_OWN = ("scored", "failed")  # what is about a submission, for its team alone
_EVERY = 5.0  # seconds between two looks at the log
_LONGEST_PAUSE = 300.0  # seconds between two tries of a mail server that does not answer
_OLDEST = 3 * DAY  # what is older is no news: letters were switched off meanwhile


def own_addresses(database: Database, account: int) -> list[str]:
    """Return the addresses that somebody has left in challenges and that letters can go to."""
    with database.reading() as connection:
        active = select(member.c.contact).filter_by(account=account, state="active")
        return sorted(filter(is_address, set(connection.scalars(active))))


class Notices:
    """Sends notices while it is entered as a context; of a site that sends letters."""

    def __init__(self, site: Website, challenges: Challenges) -> None:
        assert site.mail is not None
        self._site, self._challenges, self._mail = site, challenges, site.mail
        self._claim = Claim(site.database, "notices")
        self._sent: set[tuple[int, str]] = set()  # events, and who has a letter about each
        self._stop = threading.Event()
        self._thread = threading.Thread(target=self._work, daemon=True)

    def __enter__(self) -> Notices:
        """Start to look at the log."""
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        """Stop; what is not sent yet is sent after the next start."""
        self._stop.set()
        self._thread.join()

    def _work(self) -> None:
        pause = 0.0
        while not self._stop.wait(pause):
            try:
                self.send_new()
                pause = _EVERY
            except Exception as error:  # whatever it is, later letters wait for this thread
                pause = min(_LONGEST_PAUSE, 2 * max(pause, _EVERY))
                logger.warning("notices wait", extra={"details": where(error)})

    def send_new(self) -> None:
        """Send a letter about each new event to everybody whom it concerns.

        Raises:
            OSError: If the mail server does not take letters now; the next call goes on there.
        """
        for challenge in self._challenges.all():
            if self._new_events(challenge) and self._claim.take():
                try:
                    self._send(challenge)
                finally:
                    self._claim.release()

    def _send(self, challenge: Challenge) -> None:
        """Send the letters about a challenge, while no other server does."""
        for key, told in self._new_events(challenge):  # once more: another may have sent them
            letters = [each for each in self._letters(challenge, told) if each.to]
            waiting = (each for each in letters if (key, each.to) not in self._sent)
            for letter in self._mail.send(waiting):
                self._sent.add((key, letter.to))
                if self._stop.is_set() or not self._claim.take():
                    return
            with challenge.writing() as connection:
                own = update(notice).filter_by(challenge=challenge.key)
                connection.execute(own.values(event=key))
            self._sent.clear()  # not before: on a full disk nobody is written to twice

    def _new_events(self, challenge: Challenge) -> list[tuple[int, LogEvent]]:
        """Return the events that nobody was written about; of a new challenge there are none."""
        last = select(notice.c.event).filter_by(challenge=challenge.key)
        own = select(event).filter_by(challenge=challenge.key)
        with challenge.reading() as connection:
            oldest = challenge.now(connection) - _OLDEST
            key = connection.scalar(last)
            new = own.where(event.c.key > (key or 0), event.c.what.in_((*_OWN, *NEWS)))
            rows = connection.execute(new.order_by(event.c.key)).all() if key is not None else []
        if key is None:
            with challenge.writing() as connection:
                newest = select(func.max(event.c.key)).filter_by(challenge=challenge.key)
                first = {"challenge": challenge.key, "event": connection.scalar(newest) or 0}
                connection.execute(insert(notice).values(first))
        told = attrgetter(*LogEvent._fields)
        return [(row.key, LogEvent(*told(row))) for row in rows if row.time >= oldest]

    def _letters(self, challenge: Challenge, told: LogEvent) -> Iterator[Letter]:
        """Yield the letters about an event, one to each address."""
        if challenge.state == "draft":
            return
        with challenge.reading() as connection:
            about = _submission(connection, told) if told.what in _OWN else {}
            people = _people(connection, challenge, about.get("team"))
        if told.what in _OWN and not about:  # scored once more: that news was of its phase
            return
        contact = challenge.definition.contact
        place = f"{self._site.settings.url}/challenges/{challenge.id}"
        template = self._site.templates.get_template("challenges/notice.txt")
        shown = {"challenge": challenge.definition, "event": told, "place": place, **about}
        text = template.render(shown)
        concerned = {
            address
            for id, addresses in people.items()
            if about or View(challenge, Who("participant", id)).tells_of(told)
            for address in addresses
        }
        if told.what == "failed":
            concerned.add(contact)  # that of the organisers
        yield from (Letter(to, text, contact) for to in sorted(filter(is_address, concerned)))


def _submission(connection: Connection, told: LogEvent) -> dict[str, object]:
    """Return what a letter says of a submission; nothing where it was scored before."""
    row = connection.execute(
        select(
            *(submission.c.key, submission.c.number, submission.c.file_name, team.c.name),
            func.coalesce(team.c.merged_into, team.c.key).label("team"),
            phase.c.id.label("phase"),
        )
        .join(team, submission.c.team == team.c.key)
        .join(phase, submission.c.phase == phase.c.key)
        .where(submission.c.id == told.about)
    ).one()
    scored = select(func.count()).select_from(job).filter_by(submission=row.key, state="scored")
    if told.what == "scored" and connection.execute(scored).scalar_one() > 1:
        return {}
    return dict(row._mapping)


def _people(connection: Connection, challenge: Challenge, own: object) -> dict[str, list[str]]:
    """Return the addresses of the members of one team, or of all, by the team's id."""
    rows = select(team.c.id, member.c.contact).join(member, member.c.team == team.c.key)
    rows = rows.where(member.c.challenge == challenge.key, member.c.state == "active")
    if own is not None:
        rows = rows.where(team.c.key == own)
    by_team = groupby(connection.execute(rows.order_by(team.c.id)), attrgetter("id"))
    return {id: [row.contact for row in members] for id, members in by_team}
