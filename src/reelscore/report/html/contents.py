"""What a report shows: one small data model, and how it is made from a score table."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from itertools import chain
from typing import TYPE_CHECKING, Any

import numpy as np
from msgspec.structs import replace
from numpy.typing import NDArray

from reelscore.data.captions.coverage import Partial, partial_scores
from reelscore.data.captions.item_ids import matched
from reelscore.data.tables.table import MetricResult, ScoreTable
from reelscore.data.tables.table_forms import TableLike, matched_table, table_items, table_of
from reelscore.errors import DataError, UnknownNameError, check_choice
from reelscore.report.pages import Payload
from reelscore.report.safe_text import legible
from reelscore.report.tables.grid import Grid
from reelscore.significance.comparison import Comparison, untested_notes
from reelscore.significance.pair_tests import with_tests

if TYPE_CHECKING:
    from reelscore.report.html.previews import Preview
    from reelscore.stories.timelines import Timeline

IntArray = NDArray[np.int64]


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

    A table without scores is fine where there are captions to look at.

    Attributes:
        table: The scores, of metrics and of people.
        title: The heading of the page.
        human: Which of the table's scores people gave.
        captions: The captions, by system and item.
        references: The references of each item.
        timelines: The matched stories, by system and video, where the items are long videos.
        tests: Tests of the systems' differences; see `pair_tests.with_tests`.
        baseline: The system that the others were tested against, if it was one.
        bounds: Which of the table's systems are bounds, such as an oracle that sees the answers:
            they are shown, and never ranked nor called best.
        sections: Further tables.
        video: Where the videos are: a path or address with ``{item}`` in it.
        videos: Addresses of single items, where no pattern gives them.
        previews: Small pictures of the items: see `reelscore.report.html.read_previews`.
        command: The command that made the report.
        primary: The score to begin with; without one, that which papers quote.
        home: The address of the page that the report belongs to, for a link back.
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
    tests: Sequence[Comparison] = ()
    baseline: str | None = None
    bounds: Sequence[str] = ()
    sections: Sequence[Section] = ()
    video: str = ""
    videos: Mapping[str, str] = field(default_factory=dict)
    previews: Mapping[str, Preview] = field(default_factory=dict)
    command: str = ""
    primary: str = ""
    home: str = ""
    notes: Sequence[str] = ()

    def __post_init__(self) -> None:
        if not self.table.metrics and not self.captions:
            raise DataError("There is nothing to report: the table has no scores.")
        for name in self.human:
            check_choice("human score", name, self.table.metrics)
        if self.baseline is not None and self.baseline not in self.table.systems:
            raise UnknownNameError.of("baseline", self.baseline, self.table.systems)
        for name in self.bounds:
            check_choice("bound", name, self.table.systems)
        if self.video and "{item}" not in self.video:
            raise DataError(
                f"{self.video!r} has no {{item}}; put {{item}} where the id of the item belongs, "
                "as in 'videos/{item}.mp4'."
            )

    @cached_property
    def partial(self) -> Partial:
        """The scores of fewer items than others by the same metric."""
        return partial_scores(self.table, self.human)

    def is_ranked(self, system: str, metric: str) -> bool:
        """Return whether a score can be better or worse than others: of all items, of no bound."""
        return system not in self.bounds and (system, metric) not in self.partial

    @property
    def comparisons(self) -> list[Comparison]:
        """The tests of every score; where others were tested, those without say so."""
        tested = {each.metric: each for each in self.tests}
        if not tested:
            return []
        systems = {
            name: [system for system in self.table.systems if name in self.table[system]]
            for name in self.table.metrics
        }
        return [
            tested.get(name) or Comparison.none(name, systems[name], "no test was made of it")
            for name in self.table.metrics
        ]

    @property
    def items(self) -> list[str]:
        """The items that any system has a score of, in order of appearance.

        Without scores, those that any system has a caption of.
        """
        if self.table.metrics:
            return table_items(self.table)
        return list(dict.fromkeys(chain.from_iterable(self.captions.values())))


def report_of(
    table: TableLike,
    people: TableLike | None = None,
    *,
    metrics: str | Sequence[str] | None = None,
    match_ids: str | None = None,
    resamples: int = 1000,
    seed: int = 12345,
    **fields: Any,
) -> Report:
    """Make the report of a table: intervals and tests are added where they can be.

    Args:
        table: The metrics' scores, in any form of `reelscore.compare`.
        people: People's scores of the same systems, to stand beside them; likewise.
        metrics: Which of the metrics' scores to show, and in what order; all.
        match_ids: How to match items that people's table, the captions or the references write
            differently, as in `reelscore.score`.
        resamples: Resamples of the bootstrap.
        seed: Seed of the bootstrap.
        fields: Further fields of `Report`. With ``tests`` given, no others are made.

    >>> from reelscore import score_systems
    >>> from reelscore.examples import clips, path
    >>> people = ScoreTable.read(path("clips/judgments.csv"), repeats="mean")
    >>> report = report_of(score_systems(*clips(), "meteor"), people)
    >>> report.table.metrics, report.human, [each.metric for each in report.tests]
    (['meteor', 'judgments'], ['judgments'], ['meteor', 'judgments'])
    """
    table = table_of(table)
    # those of people in a campaign's results
    human = [name for name in table.metrics if name.rpartition("_")[2] in ("raw", "z")]
    tested, tests = with_tests(table, human=human, resamples=resamples, seed=seed)
    if metrics is not None:
        tested = tested.select(metrics)
        tests = [each for each in tests if each.metric in tested.metrics]
        human = [name for name in human if name in tested.metrics]
    made = fields.get("tests", tests)
    notes = (
        untested_notes(made, table.labels) if len(table.systems) > 1 else _without_intervals(tested)
    )
    fields["notes"] = [*fields.get("notes", ()), *notes]
    items = table_items(table)
    fields = {
        "captions": table.sources.captions,
        "references": table.sources.references,
        "timelines": table.sources.timelines,
        **fields,
    }
    if match_ids is not None:
        fields["captions"] = {
            system: matched(match_ids, own, items, ("captions", "items"))
            for system, own in fields["captions"].items()
        }
        fields["references"] = matched(
            match_ids, fields["references"], items, ("references", "items")
        )
    fields.setdefault("bounds", list(table.bounds))
    if people is not None:
        people = table_of(people, name="people", repeats="mean")
        people = matched_table(people, match_ids, items)
        common = {name: row for name, row in people.results.items() if name in table.results}
        judged, more = with_tests(
            replace(people, results=common), human=people.metrics, resamples=resamples, seed=seed
        )
        tested, of_people = with_people(tested, judged if common else people)
        human = [*human, *of_people]
        tests = [*fields.pop("tests", tests), *more]
    return Report(tested, **{"tests": tests, "human": human, **fields})


def _without_intervals(table: ScoreTable) -> list[str]:
    """Name the scores of a stored table that cannot be resampled."""
    names = dict.fromkeys(
        name
        for row in table.results.values()
        for name, result in row.items()
        if result.interval is None and len(result.items) > 1
    )
    if not names:
        return []
    labels = table.labels
    return [
        f"{', '.join(labels[name] for name in names)}: no intervals, since the table has no "
        "statistics of these scores that could be resampled."
    ]


def with_people(table: ScoreTable, people: ScoreTable) -> tuple[ScoreTable, list[str]]:
    """Put people's scores beside those of metrics."""
    common = [name for name in table.systems if name in people.results]
    if not common:
        raise DataError(
            f"People judged none of the systems {', '.join(table.systems)}; they judged "
            f"{', '.join(people.systems)}. Systems are compared by name, letter by letter."
        )
    if twice := [name for name in people.metrics if name in table.metrics]:
        raise DataError(f"Both people and metrics have a score {twice[0]!r}; rename one.")
    rows: dict[str, Mapping[str, MetricResult]] = {
        name: {**row, **people.results.get(name, {})} for name, row in table.results.items()
    }
    names = dict.fromkeys(metric for name in common for metric in people[name])
    return replace(table, results=rows, notes=[*table.notes, *people.notes]), list(names)


@dataclass(frozen=True)
class ItemTexts:
    """All texts, item by item: the caption of each system, then the references."""

    raw: Sequence[str]  # the texts as they were scored; empty where a system has no caption
    systems: int  # how many systems there are
    captions: IntArray  # numbers of the texts that are captions, item by item
    items: IntArray  # the item of each caption
    offsets: IntArray  # item i has the references from entry i to entry i + 1
    references: IntArray  # numbers of the texts that are references

    @classmethod
    def of(cls, report: Report, items: Sequence[str]) -> ItemTexts:
        """Gather the texts of a report."""
        nothing: dict[str, str] = {}
        candidates = [report.captions.get(name, nothing) for name in report.table.systems]
        raw: list[str] = []
        counts = []
        for item in items:
            raw += [captions.get(item, "") for captions in candidates]
            references = report.references.get(item, ())
            raw += references
            counts.append(len(references))
        offsets = np.concatenate([[0], np.cumsum(counts, dtype=np.int64)])
        systems = len(candidates)
        before = np.arange(len(items)) * systems + offsets[:-1]  # texts of earlier items
        captions = (before[:, None] + np.arange(systems)).ravel()
        owner = np.repeat(np.arange(len(items)), np.diff(offsets))
        references_at = np.arange(len(owner)) + (owner + 1) * systems
        numbers = np.repeat(np.arange(len(items)), systems)
        return cls(raw, systems, captions, numbers, offsets, references_at)

    def add_to(self, payload: Payload) -> None:
        """Put the texts into a payload, as they can be shown, with their lengths in words."""
        shown = [legible(text) for text in self.raw]
        payload.texts("texts", shown)
        payload.numbers("references", np.diff(self.offsets), "u2")
        lengths = [shown[k].count(" ") + 1 if shown[k] else 0 for k in self.captions]
        payload.numbers("lengths", np.minimum(lengths, 65_535), "u2")
