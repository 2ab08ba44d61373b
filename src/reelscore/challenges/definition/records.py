"""What a challenge is: records with the keys, bounds and defaults of its definition in TOML."""

from __future__ import annotations

import hashlib
from collections.abc import Collection, Mapping, Sequence
from datetime import datetime
from functools import cached_property
from typing import Annotated, Any, Literal, TypedDict

from msgspec import Meta, Struct, field
from msgspec.structs import force_setattr, replace

from reelscore.data.tables.scales import Scale
from reelscore.stats.corrections import Correction
from reelscore.store.values import from_iso
from reelscore.stories.protocol import ACTIVITYNET, Protocol

Registration = Literal["open", "invite", "approve"]
Visibility = Literal["public", "blind"]
Kind = Literal["captions", "stories"]
Feedback = Literal["full", "rounded", "ladder", "reveal"]
Final = Literal["chosen", "last", "best"]
Rule = Literal["column", "mean_rank", "points"]  # of an award
PAGES = ("overview", "rules", "data", "citation")

_ID = r"^[a-z0-9][a-z0-9-]{0,59}\Z"
Id = Annotated[str, Meta(pattern=_ID, description="up to 60 of a-z, 0-9 and -, as in addresses")]
Natural = Annotated[int, Meta(ge=0)]
Count = Annotated[int, Meta(ge=1)]
Share = Annotated[float, Meta(gt=0, lt=1, description="a number between 0 and 1")]
Finite = Annotated[float, Meta(ge=-1e300, le=1e300, description="a finite number")]
Step = Annotated[
    Annotated[float, Meta(gt=0, lt=1000)] | Literal["auto"],
    Meta(description="a positive number or 'auto'"),
]
Quorum = Annotated[
    tuple[Count, Count], Meta(description="two numbers, such as [2, 3] for 2 of 3 raters")
]
Points = Annotated[
    tuple[Natural, ...],
    Meta(min_length=1, description="a list of whole numbers, such as [3, 2, 1]"),
]
Texts = tuple[str, ...]
Scales = Mapping[str, Scale]  # how scores are read, by name
Files = Annotated[Texts | str, Meta(description="a text or a list of texts")]


class Microseconds(int):
    """A time since 1970."""

    @classmethod
    def of(cls, value: object) -> Microseconds:
        """Read a time of TOML."""
        if not isinstance(value, datetime):
            raise ValueError
        if value.tzinfo is None:
            raise ValueError(f"has no offset; write {value.isoformat()}Z if it is UTC.")
        if value.timestamp() < 0:
            raise ValueError(f"is {value}; expected a time after 1970.")
        return cls(from_iso(value.isoformat()) or 0)


Time = Annotated[Microseconds, Meta(description="a time as 2026-09-01T12:00:00Z")]


class Table(Struct, frozen=True, forbid_unknown_fields=True):
    """A table of the definition."""


class Split(Table, frozen=True):
    """Items with references: public, or blind."""

    id: Id
    visibility: Visibility
    kind: Kind = "captions"
    references: Files = ()  # files; of stories one per annotator
    format: str = ""
    part: str = ""  # of a data set whose file names parts: val, test
    videos: str = ""  # address of a clip, with {item}

    @property
    def files(self) -> Texts:
        """The files of references."""
        return (self.references,) if isinstance(self.references, str) else self.references


class ScoringLimits(Table, frozen=True):
    """How much one submission may ask for."""

    seconds: Count = 600
    memory_gb: Annotated[float, Meta(ge=0.5, le=1_000_000)] = 4.0
    caption_characters: Annotated[int, Meta(ge=1, le=100_000)] = 2000
    captions_per_story: Annotated[int, Meta(ge=1, le=100_000)] = 1000
    upload_mb: Annotated[int, Meta(ge=1, le=64)] = 32


class Scoring(Table, frozen=True, kw_only=True, dict=True):
    """How captions and stories are scored."""

    metrics: Texts = ("bleu", "meteor", "rouge_l", "cider")
    scores: Texts = ()  # of stories
    protocol: dict[str, Any] = {}  # of stories
    tokenizer: str = "ptb"
    resamples: Annotated[int, Meta(ge=100, le=100_000)] = 1000
    seed: Natural = 12345
    device: Literal["cpu", "cuda"] = "cpu"
    limits: ScoringLimits = ScoringLimits()
    # anything else would let a team ask about single references
    missing: Literal["error"] = "error"
    empty: Literal["error"] = "error"

    @property
    def story_protocol(self) -> Protocol:
        """The protocol that stories are scored by.

        >>> Scoring(scores=("soda_c",), protocol={"annotators": "mean"}).story_protocol.scores
        ('soda_c',)
        """
        scores = {"scores": self.scores} if self.scores else {}
        return Protocol().but(**scores, **self.protocol)

    def scales(self, kind: Kind) -> Scales:
        """Return the scores that a submission gets, in order, and how each is read.

        >>> list(Scoring(metrics=("bleu|n:2", "cider")).scales("captions"))
        ['bleu_1', 'bleu_2', 'cider']
        """
        return self._caption_scales if kind == "captions" else self._story_scales

    # made once: pages of leaderboards and submissions ask for them all the time

    @cached_property
    def _caption_scales(self) -> Scales:
        from reelscore.metrics.registry import table_columns

        return {
            name: columns.metric.scale_of(output)
            for columns in table_columns(self.metrics)
            for name, output in zip(columns.names, columns.metric.outputs, strict=True)
            if name in columns.wanted
        }

    @cached_property
    def _story_scales(self) -> Scales:
        from reelscore.metrics.registry import resolve
        from reelscore.stories import video_scores as kinds

        protocol, choices = self.story_protocol, ("", "", "", "", "")
        soda = {
            "soda_a": kinds.SodaA(*choices, ""),
            "soda_b": kinds.SodaB(*choices),
            "soda_c": kinds.SodaC(*choices),
        }
        made: list[kinds.VideoScores] = [soda[name] for name in protocol.soda_scores]
        if ACTIVITYNET in protocol.scores:
            made.append(kinds.ActivityNet("", "", 1, 0.0, tuple(resolve(protocol.metrics))))
        return {name: each.scale_of(name) for each in made for name in each.outputs}


class ScoringSettings(TypedDict, total=False):
    """What a scorer knows of a phase: what the definition says, as JSON has it."""

    kind: Kind
    metrics: Sequence[str]
    tokenizer: str
    scores: Sequence[str]
    protocol: dict[str, Any]
    resamples: int
    seed: int
    device: str
    limits: Mapping[str, float]


class PhaseLimits(Table, frozen=True):
    """How often a team may submit; ``None`` is without limit."""

    per_day: Count | None = None
    total: Count | None = None
    concurrent: Count | None = None


class Phase(Table, frozen=True, kw_only=True):
    """A window in which submissions are taken."""

    id: Id
    splits: Texts
    opens: Time
    closes: Time
    reveals: Time | None = None
    feedback: dict[str, Feedback] = {}  # by split
    step: dict[str, Step] = {}  # by split
    limits: PhaseLimits = PhaseLimits()
    final: Final = "last"
    late: Literal["refuse", "mark"] = "refuse"
    after: Literal["closed", "open"] = "closed"
    listed: bool = True
    grace: Annotated[int, Meta(ge=10, le=86_400)] = 600  # seconds for the body of a request
    priority: Natural = 0
    name: str = ""


class Columns(Table, frozen=True, kw_only=True):
    """Columns of a board that belong together: scores of metrics, or one of people."""

    group: str = ""
    scores: Texts = ()
    human: str = ""  # the id of a human evaluation
    scale: Finite = 1.0
    precision: Annotated[int, Meta(ge=0, le=12)] | None = None
    ranked: bool = True


class BoardTest(Table, frozen=True):
    """How the differences on a board are tested."""

    level: Share = 0.05
    correction: Correction = "holm"


class Board(Table, frozen=True, kw_only=True):
    """A view of scores."""

    id: Id
    phase: str
    split: str = ""
    primary: str
    columns: tuple[Columns, ...] = ()
    test: BoardTest = BoardTest()
    name: str = ""

    def has(self, score: str) -> bool:
        """Return whether a score is on the board: of a metric, or of people, ``human:ID``."""
        if score.startswith("human:"):
            return score.split(":")[1] in {group.human for group in self.columns}
        return score in {self.primary, *(name for g in self.columns for name in g.scores)}


class Human(Table, frozen=True, kw_only=True):
    """An evaluation of the final entries by people."""

    id: Id
    phase: str
    split: str = ""
    protocol: str
    items: Count | None = None  # a sample; None: all
    raters: Count = 1
    quorum: Quorum | None = None
    seed: Natural = 0
    include_reference: bool = False
    layout: str = ""
    name: str = ""  # of its column


class Award(Table, frozen=True):
    """Who wins: the best by one column, by the mean rank over some, or by points for places."""

    rule: Rule
    columns: Texts = ()
    points: Points = (3, 2, 1)
    ties: Texts = ()
    within_cluster: Literal["share", "order"] = "share"
    board: str = ""
    column: str = ""  # of the rule ``column``; `columns` has it too

    def __post_init__(self) -> None:
        if self.rule == "column" and self.column:
            force_setattr(self, "columns", (self.column,))

    @property
    def shares(self) -> bool:
        """Whether those share whom the test cannot tell apart from the best."""
        return self.rule == "column" and self.within_cluster == "share"

    def is_decided_by(self, boards: Collection[Board]) -> bool:
        """Return whether some boards have all columns that decide."""
        judging = [board for board in boards if self.board in ("", board.id)]
        columns = (*self.columns, *self.ties)
        return all(any(board.has(column) for board in judging) for column in columns)


class Baseline(Table, frozen=True):
    """A caption file of the organisers that stands on the board."""

    name: str
    file: str
    phase: str
    method: str = ""


class Publish(Table, frozen=True):
    """What everybody may see after the reveal."""

    captions: bool = False
    items: bool = False


class Teams(Table, frozen=True):
    """How large teams may be, and until when they change."""

    largest: Count | None = None
    close: Time | None = None


class About(Table, frozen=True, kw_only=True):
    """The table ``[challenge]``."""

    id: Id
    name: str
    registration: Registration = "open"
    pages: dict[str, str] = {}  # files, by page
    contact: str = ""
    teams: Teams = Teams()
    references: Literal["open", "members"] = "members"  # of public splits


class Definition(About, frozen=True, kw_only=True):
    """A whole challenge: what ``[challenge]`` says, and the other tables."""

    splits: Annotated[tuple[Split, ...], Meta(min_length=1)] = field(name="split")
    scoring: Scoring = Scoring()
    phases: Annotated[tuple[Phase, ...], Meta(min_length=1)] = field(name="phase")
    boards: Annotated[tuple[Board, ...], Meta(min_length=1)] = field(name="board")
    humans: tuple[Human, ...] = field(default=(), name="human")
    award: Award | None = None
    baselines: tuple[Baseline, ...] = field(default=(), name="baseline")
    publish: Publish = Publish()
    text: str = ""  # of the file; no key

    @property
    def digest(self) -> str:
        """SHA-256 of the file."""
        return hashlib.sha256(self.text.encode()).hexdigest()

    def split(self, id: str) -> Split:
        """Return a split by its id."""
        return next(split for split in self.splits if split.id == id)

    def phase(self, id: str) -> Phase:
        """Return a phase by its id."""
        return next(phase for phase in self.phases if phase.id == id)

    def board(self, id: str) -> Board:
        """Return a board by its id."""
        return next(board for board in self.boards if board.id == id)

    def boards_of(self, phase: str, split: str) -> list[Board]:
        """Return the boards of a split in a phase."""
        return [board for board in self.boards if (board.phase, board.split) == (phase, split)]

    def split_of(self, view: Board | Human) -> str:
        """Return the split of a board or a human evaluation; empty where it must be named.

        Without a name it is the phase's only one; of a human evaluation that of the phase's only
        board.
        """
        splits = next((phase.splits for phase in self.phases if phase.id == view.phase), ())
        if view.split or not splits:
            return view.split
        if len(splits) == 1:
            return splits[0]
        boards = [board for board in self.boards if board.phase == view.phase]
        return boards[0].split if isinstance(view, Human) and len(boards) == 1 else ""

    def only(self, phases: Collection[str]) -> Definition:
        """Return the definition without other phases, and without what belongs to them alone."""
        seen = {split for phase in self.phases if phase.id in phases for split in phase.splits}
        used = {split for phase in self.phases for split in phase.splits}
        boards = tuple(board for board in self.boards if board.phase in phases)
        return replace(
            self,
            splits=tuple(s for s in self.splits if s.id in seen or s.id not in used),
            phases=tuple(phase for phase in self.phases if phase.id in phases),
            boards=boards,
            humans=tuple(human for human in self.humans if human.phase in phases),
            award=self.award if self.award and self.award.is_decided_by(boards) else None,
            baselines=tuple(b for b in self.baselines if b.phase in phases),
            text=self.text if len(phases) == len(self.phases) else "",
        )

    def kind(self, phase: Phase) -> Kind:
        """Return whether a phase takes captions or stories; its splits are alike."""
        return self.split(phase.splits[0]).kind
