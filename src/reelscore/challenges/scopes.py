"""What somebody may know of a challenge: its phases, but for those that are not listed."""

from __future__ import annotations

from dataclasses import dataclass

from sqlalchemy import select

from reelscore.challenges.definition.reader import parsed_definition
from reelscore.challenges.definition.records import Definition
from reelscore.challenges.people.phase_invitations import invited_phases
from reelscore.challenges.showing import VISITOR, Situation, Who
from reelscore.challenges.store import tables
from reelscore.errors import UnknownNameError
from reelscore.store.database import Database


@dataclass(frozen=True)
class PhaseRow:
    """A phase as the database has it: its times may differ from the definition's."""

    key: int
    opens: int
    closes: int
    reveals: int | None
    generation: int


class Scope:
    """The parts of a challenge that one person may know of, at one moment."""

    def __init__(self, database: Database, id: str, who: Who = VISITOR, *, now: int) -> None:
        """Look at a challenge.

        Args:
            database: Where it is kept.
            id: Its id.
            who: Who looks.
            now: The time, in microseconds since 1970.

        Raises:
            UnknownNameError: If there is no such challenge, or it is a draft that only organisers
                may see.
        """
        self.database, self.who, self.now = database, who, now
        with database.reading() as connection:
            rows = {row.id: row for row in connection.execute(select(tables.challenge))}
            organiser = who.role in ("assistant", "owner")
            listed = {k: row for k, row in rows.items() if organiser or row.state != "draft"}
            if id not in listed:
                raise UnknownNameError.of("challenge", id, listed)
            self.row = listed[id]
            whole = self.whole = parsed_definition(self.row.definition)
            known = {phase.id for phase in whole.phases if phase.listed or organiser}
            if len(known) < len(whole.phases) and who.team:
                known |= invited_phases(connection, self.row.key, who.team)
            own = tables.phase.c.challenge == self.row.key
            self.phases = {
                row.id: PhaseRow(row.key, row.opens, row.closes, row.reveals, row.generation)
                for row in connection.execute(select(tables.phase).where(own))
                if row.id in known
            }
            own = tables.split.c.challenge == self.row.key
            splits = connection.execute(select(tables.split).where(own)).mappings().all()
        # what the viewer may know of: phases that are not listed are not in it
        self.definition: Definition = whole.only(self.phases)
        seen = {split.id for split in self.definition.splits}
        self.splits: dict[str, int] = {row["id"]: row["key"] for row in splits if row["id"] in seen}
        self.counts = {row["id"]: int(row["count"]) for row in splits if row["id"] in seen}

    @property
    def id(self) -> str:
        """The challenge's id."""
        return str(self.row.id)

    @property
    def name(self) -> str:
        """The challenge's name."""
        return str(self.row.name)

    def situation(self, phase: str, split: str, *, human: bool = False) -> Situation:
        """Return what permissions depend on, for a split in a phase."""
        row, described = self.phases[phase], self.definition.phase(phase)
        hides = "reveal" in described.feedback.values()
        if row.reveals is not None:
            revealed = self.now >= row.reveals
        else:  # by hand; where nothing is hidden, the end is the reveal
            revealed = not hides and self.now >= row.closes
        return Situation(
            visibility=self.definition.split(split).visibility,
            opened=self.now >= row.opens,
            revealed=revealed,
            feedback=described.feedback[split],
            references_open=self.definition.references == "open",
            terms_accepted=self.who.terms_accepted,
            publish_items=self.definition.publish.items,
            publish_captions=self.definition.publish.captions,
            human_published=human,
        )
