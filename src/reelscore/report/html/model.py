"""What a report shows: one small data model for all that reelscore computes."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property

from reelscore.data.coverage import Partial, partial_scores
from reelscore.data.table import ScoreTable
from reelscore.errors import DataError, UnknownNameError
from reelscore.report.tables.grid import Grid
from reelscore.significance.evidence import Evidence
from reelscore.stories.timelines import Timeline


@dataclass(frozen=True)
class Section:
    """Further tables of a report, under a heading of their own.

    Attributes:
        title: The heading.
        text: What the tables say and how to read them, a paragraph each.
        grids: The tables.
        signatures: How their numbers were made.
        lead: It is what the report is about, and stands right below the leaderboard.
    """

    title: str
    text: Sequence[str] = ()
    grids: Sequence[Grid] = ()
    signatures: Sequence[str] = ()
    lead: bool = False


@dataclass(frozen=True)
class Report:
    """Everything that one report shows; the table is all it needs.

    Attributes:
        table: The scores, of metrics and of people.
        title: The heading of the page.
        human: Which of the table's scores people gave.
        captions: The captions, by system and item.
        references: The references of each item.
        timelines: The matched stories, by system and video, where the items are long videos.
        evidence: Tests of the systems' differences; see `reelscore.significance.pair_tests`.
        baseline: The system that the others were tested against, if it was one.
        sections: Further tables.
        video: Where the videos are: a path or address with ``{item}`` in it.
        videos: Addresses of single items, where no pattern gives them.
        command: The command that made the report.
        notes: What the reader should know.

    >>> from reelscore import score_systems
    >>> from reelscore.examples import clips
    >>> systems, references = clips()
    >>> report = Report(score_systems(systems, references, "meteor"), captions=systems)
    >>> len(report.items), report.items[0]
    (15, 'clip01')
    """

    table: ScoreTable
    title: str = "reelscore report"
    human: Sequence[str] = ()
    captions: Mapping[str, Mapping[str, str]] = field(default_factory=dict)
    references: Mapping[str, Sequence[str]] = field(default_factory=dict)
    timelines: Mapping[str, Mapping[str, Timeline]] = field(default_factory=dict)
    evidence: Sequence[Evidence] = ()
    baseline: str | None = None
    sections: Sequence[Section] = ()
    video: str = ""
    videos: Mapping[str, str] = field(default_factory=dict)
    command: str = ""
    notes: Sequence[str] = ()

    def __post_init__(self) -> None:
        if not self.table.metrics:
            raise DataError("There is nothing to report: the table has no scores.")
        for name in self.human:
            if name not in self.table.metrics:
                raise UnknownNameError.of("human score", name, self.table.metrics)
        if self.baseline is not None and self.baseline not in self.table.systems:
            raise UnknownNameError.of("baseline", self.baseline, self.table.systems)
        if self.video and "{item}" not in self.video:
            raise DataError(
                f"{self.video!r} says nothing of the item; put {{item}} where its id belongs, "
                "as in 'videos/{item}.mp4'."
            )

    @cached_property
    def partial(self) -> Partial:
        """The scores of fewer items than others by the same metric."""
        return partial_scores(self.table, self.human)

    @property
    def tests(self) -> list[Evidence]:
        """The evidence of every score; where others were tested, those without say so."""
        tested = {each.metric: each for each in self.evidence}
        if not tested:
            return []
        systems = {
            name: [system for system in self.table.systems if name in self.table[system]]
            for name in self.table.metrics
        }
        return [
            tested.get(name) or Evidence.none(name, systems[name], "no test was made of it")
            for name in self.table.metrics
        ]

    @property
    def items(self) -> list[str]:
        """The items that any system has a score of, in order of appearance."""
        seen: dict[str, None] = {}
        last = None
        for row in self.table.results.values():
            for result in row.values():
                if result.items.index is not last:  # columns of one system share their index
                    last = result.items.index
                    seen.update(dict.fromkeys(last.items))
        return list(seen)
