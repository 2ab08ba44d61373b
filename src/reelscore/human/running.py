"""What is done while a campaign runs: HITs go in and out, answers come, decisions are made."""

from __future__ import annotations

import time
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from types import TracebackType
from typing import TYPE_CHECKING, Any, Literal

from reelscore.human.hits.tasks import Hit
from reelscore.human.judgments import Judgment, Judgments
from reelscore.human.protocols import Answer
from reelscore.human.store.records import Assignment, Event, Receipt, Skip, State, Status, Terms
from reelscore.store.values import check_name, check_text, microseconds

if TYPE_CHECKING:
    from typing_extensions import Self

    from reelscore.store.database import Database

Clock = Callable[[], float]
# Tells of a hold time whether raters who were not seen for it had the chance to be seen.
MayRelease = Callable[[float], bool]


def _always(hold: float) -> bool:
    return True


@dataclass(frozen=True)
class Running(Terms):
    """A campaign with its database open; see `reelscore.human.campaign.Campaign`."""

    database: Database = field(repr=False, compare=False)
    clock: Clock = field(default=time.time, repr=False, compare=False)
    may_release: MayRelease = field(default=_always, repr=False, compare=False)

    def __enter__(self) -> Self:
        """Return the campaign itself; leaving disconnects it."""
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        """Disconnect."""
        self.disconnect()

    def disconnect(self) -> None:
        """Close the connections to the database; the campaign itself stays as it is."""
        self.database.close()

    # what it is

    @property
    def state(self) -> State:
        """Draft, open, paused or closed, at this moment."""
        from reelscore.human.store.campaigns import read_state

        with self.database.reading() as connection:
            return read_state(connection, self)

    def set_state(self, state: State, *, actor: str, reason: str = "") -> None:
        """Open, pause or close the campaign, and log it.

        In a draft nothing is handed out. A paused campaign hands out no new HITs and still takes
        the answers to those that are held; a closed one takes none. It may be opened again.

        Raises:
            UnknownNameError: If there is no such state.
            DataError: If a campaign that was begun is to be a draft again.
        """
        from reelscore.human.store.campaigns import write_state
        from reelscore.human.store.decisions import log

        with self.database.writing() as connection:
            write_state(connection, self, state)
            log(connection, self, self._now(), actor, state, "", reason)

    @property
    def systems(self) -> tuple[str, ...]:
        """The systems whose captions are judged."""
        from reelscore.human.store.campaigns import read_systems

        with self.database.reading() as connection:
            return read_systems(connection, self)

    @property
    def humans(self) -> tuple[str, ...]:
        """The systems that are people."""
        from reelscore.human.store.campaigns import read_humans

        with self.database.reading() as connection:
            return read_humans(connection, self)

    @property
    def settings(self) -> dict[str, Any]:
        """Whatever programs on top have noted."""
        from reelscore.human.store.campaigns import read_settings

        with self.database.reading() as connection:
            return read_settings(connection, self)

    def set_settings(self, settings: Mapping[str, Any]) -> None:
        """Replace the settings.

        Raises:
            DataError: If JSON cannot say them.
        """
        from reelscore.human.store.campaigns import write_settings

        with self.database.writing() as connection:
            write_settings(connection, self, settings)

    def change_settings(self, parts: Mapping[str, Any]) -> None:
        """Replace some of the settings, whatever others do with the rest at the same time.

        Raises:
            DataError: If JSON cannot say them.
        """
        from reelscore.human.store.campaigns import read_settings, write_settings

        with self.database.writing() as connection:
            self.database.alone(connection, self.id, "settings")
            write_settings(connection, self, {**read_settings(connection, self), **parts})

    def set_hold(self, hold: float, *, actor: str, reason: str = "") -> Self:
        """Change how long a HIT waits for its rater, and log it.

        Args:
            hold: Seconds without a sign of its rater after which a HIT returns to the pool.
            actor: Who changes it.
            reason: Why.

        Returns:
            The campaign with the new hold time; this one keeps the old.

        Raises:
            DataError: If the time is not more than 0.
        """
        from reelscore.human.store.campaigns import write_hold
        from reelscore.human.store.decisions import log

        with self.database.writing() as connection:
            write_hold(connection, self, hold)
            said = reason or f"from {self.hold / 3600:g} to {hold / 3600:g} hours"
            log(connection, self, self._now(), actor, "hold", "", said)
        return replace(self, hold=hold)

    # HITs and their raters

    def add_hits(self, hits: Iterable[Hit]) -> int:
        """Add HITs, all or none; those added first are handed out first.

        Returns:
            How many there were.

        Raises:
            DataError: If a HIT is there already, or does not fit the protocol or the systems.
        """
        from reelscore.human.store.assignments import insert_hits

        with self.database.staging() as connection:
            return insert_hits(connection, self, hits)

    def hits(self) -> Iterator[Hit]:
        """Give the HITs one after the other, in the order they were added."""
        from reelscore.human.store.queries import hits

        with self.database.reading() as connection:
            yield from hits(connection, self)

    def items(self) -> Sequence[str]:
        """Name the items that HITs are about, in order."""
        from reelscore.human.store.queries import items

        with self.database.reading() as connection:
            return items(connection, self)

    def captions(self) -> dict[str, dict[str, str]]:
        """Give the captions that the HITs are made of, by system and item; empty if not known."""
        from reelscore.human.store.campaigns import read_captions

        with self.database.reading() as connection:
            return read_captions(connection, self)

    def awaited(self) -> dict[tuple[str, str], int]:
        """Count the judgments of each caption that open and held places will bring."""
        from reelscore.human.store.queries import awaited

        with self.database.reading() as connection:
            return awaited(connection, self)

    def claim(self, rater: str, client: str = "") -> Assignment | None:
        """Give a rater a HIT: the one held, else the one left if it is still free, else the next.

        The next is one with the fewest raters so far, of which the rater has had no caption.
        Places of raters who have not been seen for the hold time are offered again before.

        Args:
            rater: Who asks.
            client: What the rater uses.

        Returns:
            The assignment; None where there is no HIT for this rater now.

        Raises:
            RefusedError: If the rater is excluded.
        """
        from reelscore.human.store.assignments import claim

        check_name(rater, "the rater")
        check_text(client, "the client")
        releasing = self.may_release(self.hold)
        return claim(self.database, self, rater, client, self._now(), releasing=releasing)

    def assignment(self, id: int) -> Assignment | None:
        """Look an assignment up; None where nobody has it."""
        from reelscore.human.store.queries import load_assignment

        with self.database.reading() as connection:
            return load_assignment(connection, self, id)

    def submit(
        self,
        assignment: int,
        rater: str,
        task: str,
        answer: Answer,
        *,
        started: float | None = None,
        submitted: float | None = None,
        client: str = "",
        watched: float | None = None,
        is_served: bool = False,
    ) -> Receipt:
        """Keep the answer to one task; when this returns, it is on the disk.

        The same answer may be sent again and is acknowledged again. An answer that comes after
        the HIT has returned to the pool is kept as long as nobody else has taken the place.

        Args:
            assignment: The id of the assignment.
            rater: Who answers.
            task: The id of the task.
            answer: Scores by criterion, as the protocol asks.
            started: When the task was shown, in seconds since 1970, as the rater's page says.
            submitted: When it was answered, as the page says.
            client: What the rater used.
            watched: The share of the video that was watched, as the page says.
            is_served: Whether the answer comes from a page that `open_task` was called for; then
                times that cannot be are noted in the assignment's flags.

        Raises:
            DataError: If the protocol cannot have such an answer.
            RefusedError: If the rater has no such task, it has another answer or was skipped, the
                place is taken, the rater is excluded, or the campaign is closed.
        """
        from reelscore.human.store.answers import Sent, submit

        check_text(client, "the client")
        times = [None if when is None else microseconds(when) for when in (started, submitted)]
        sent = Sent(assignment, rater, task, answer, times[0], times[1], client, watched, is_served)
        return submit(self.database, self, sent, self._now())

    def skip(self, assignment: int, rater: str, task: str, reason: str = "") -> Receipt:
        """Note that a rater reports a task and goes on without an answer.

        A skipped task counts as settled: a HIT whose other tasks are answered is done. The same
        may be sent again and is acknowledged again.

        Raises:
            RefusedError: If the rater has no such task, it has an answer, the place is taken, or
                the campaign is closed.
        """
        from reelscore.human.store.answers import skip_task

        check_text(reason, "the reason")
        now = self._now()
        return skip_task(self.database, self, assignment, rater, task, reason, now)

    def skips(self) -> Sequence[Skip]:
        """Give the tasks that raters reported and skipped, oldest first."""
        from reelscore.human.store.queries import skips

        with self.database.reading() as connection:
            return list(skips(connection, self))

    def open_task(self, assignment: int, rater: str, task: str) -> bool:
        """Note that a rater is sent a task now; the first time counts.

        The answer to the task that was sent last is stored with this time beside what the
        rater's page says. Like `touch`, it lets the hold time begin anew.

        Returns:
            Whether the rater holds the assignment and it has the task; if not, nothing changes.
        """
        from reelscore.human.store.assignments import open_task

        return open_task(self.database, self, assignment, rater, task, self._now())

    def touch(self, assignment: int, rater: str) -> bool:
        """Note that a rater is still at work, so that the hold time begins anew.

        Args:
            assignment: The id of the assignment.
            rater: Who holds it.

        Returns:
            Whether the rater holds it; if not, nothing changes.
        """
        from reelscore.human.store.assignments import touch

        return touch(self.database, self, assignment, rater, self._now())

    def release_abandoned(self, now: float | None = None) -> int:
        """Offer again the places of raters who have not been seen for the hold time.

        Their judgments stay. Whoever claims does this too.

        Args:
            now: The time to go by, instead of the clock's.

        Returns:
            How many places.
        """
        from reelscore.human.store.assignments import release

        with self.database.writing() as connection:
            return release(connection, self, self._now() if now is None else microseconds(now))

    def release(self, assignment: int, *, actor: str, reason: str = "") -> None:
        """Offer one place again at once, and log it.

        Raises:
            RefusedError: If nobody holds it.
        """
        from reelscore.human.store.assignments import release_one

        release_one(self.database, self, assignment, self._now(), actor, reason)

    # judgments

    def judgments(self, *, finished: bool = False) -> Judgments:
        """Give the judgments in the order they came.

        Args:
            finished: Only those of HITs that were finished, none of abandoned ones.
        """
        return Judgments.of(self.rows(finished=finished))

    def rows(self, *, finished: bool = False) -> Iterator[Judgment]:
        """Give the judgments one after the other, without holding them all."""
        from reelscore.human.store.queries import judgments

        with self.database.reading() as connection:
            yield from judgments(connection, self, finished=finished)

    def append(self, judgments: Iterable[Judgment], *, new_hits: bool = False) -> int:
        """Add judgments that were made elsewhere, all or none.

        A rater's judgments of a HIT take one of its places. Where they are not all, the HIT counts
        as abandoned: they stay, and the place is offered again.

        Args:
            judgments: The judgments, of tasks that the campaign has.
            new_hits: Make HITs, tasks and places that it does not have; each is done then.

        Returns:
            How many there were.

        Raises:
            DataError: If any has no task or no place, contradicts the task or the scale, or is
                there already; the message names the first few.
        """
        from reelscore.human.store.imports import append

        with self.database.staging() as connection:
            return append(connection, self, judgments, self._now(), new_hits=new_hits)

    def status(self) -> Status:
        """Tell where the campaign stands."""
        from reelscore.human.store.queries import status

        with self.database.reading() as connection:
            return status(connection, self)

    # decisions

    def decide(self, what: str, about: str, *, actor: str, reason: str = "") -> None:
        """Log a decision, and do what it means.

        ``exclude`` takes a rater out of the results and lets them do nothing more: the HIT they
        hold is offered again. ``reject`` does the same, and none of their HITs is paid.
        ``readmit`` ends both. ``pay`` approves the HITs that they have finished.

        Args:
            what: The decision; another word is logged and does nothing.
            about: The rater or HIT.
            actor: Who decides.
            reason: Why.
        """
        from reelscore.human.store.reviews import decide

        decide(self.database, self, self._now(), actor, what, about, reason)

    def review(
        self,
        assignment: int,
        verdict: Literal["approve", "reject"],
        *,
        actor: str,
        reason: str = "",
    ) -> None:
        """Approve or reject one finished HIT, and log it.

        Raises:
            RefusedError: If it is not a finished one.
        """
        from reelscore.human.store.reviews import review

        review(self.database, self, assignment, verdict, self._now(), actor, reason)

    def offer_again(self, assignment: int, *, actor: str, reason: str = "") -> bool:
        """Offer the place of a finished HIT to one more rater, and log it.

        Its judgments stay; whether they count is another question.

        Returns:
            Whether a place was added; False where it was before.

        Raises:
            RefusedError: If it is not a finished one.
        """
        from reelscore.human.store.reviews import offer_again

        return offer_again(self.database, self, assignment, self._now(), actor, reason)

    def offer_all_again(self, raters: Collection[str], *, actor: str, reason: str = "") -> int:
        """Offer once more the places of all HITs that these raters have finished, and log it.

        Returns:
            How many places were added; those that were offered again before do not count.
        """
        from reelscore.human.store.reviews import offer_all_again

        return offer_all_again(self.database, self, raters, self._now(), actor, reason)

    def events(self) -> Sequence[Event]:
        """Give the log, oldest first."""
        from reelscore.human.store.decisions import events

        with self.database.reading() as connection:
            return list(events(connection, self))

    def excluded(self) -> frozenset[str]:
        """Name the raters who are excluded."""
        from reelscore.human.store.decisions import excluded

        with self.database.reading() as connection:
            return excluded(connection, self)

    def rejected(self) -> frozenset[str]:
        """Name the raters with a HIT that was rejected."""
        from reelscore.human.store.reviews import rejected

        with self.database.reading() as connection:
            return rejected(connection, self)

    def export(self, path: str | Path) -> None:
        """Write everything to plain files: a .jsonl file, or a new folder of CSV files.

        `Campaign.restore` makes the same campaign of them, and that writes the same files.

        Raises:
            DataError: If they cannot be written, or the folder is there and not empty.
        """
        from reelscore.human.store.export import export

        with self.database.reading() as connection:
            export(connection, self, Path(path))

    def _now(self) -> int:
        return microseconds(self.clock())
