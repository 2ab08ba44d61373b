"""What a challenge is: frozen dataclasses, which `definition_file` reads from one TOML file."""

from __future__ import annotations

import hashlib
from collections.abc import Collection, Mapping
from dataclasses import dataclass, field, replace
from typing import Any, Literal

Registration = Literal["open", "invite", "approve"]
Visibility = Literal["public", "blind"]
Kind = Literal["captions", "stories"]
Feedback = Literal["full", "rounded", "ladder", "reveal"]
Final = Literal["chosen", "last", "best"]
METRICS = ("bleu", "meteor", "rouge_l", "cider")


@dataclass(frozen=True)
class Split:
    """Items with references: public, or blind."""

    id: str
    visibility: Visibility
    kind: Kind
    references: tuple[str, ...]  # files; of stories one per annotator
    format: str = ""
    part: str = ""  # of a data set whose file names parts: val, test
    videos: str = ""  # address of a clip, with {item}


@dataclass(frozen=True)
class ScoringLimits:
    """How much one submission may ask for."""

    seconds: int = 600
    memory_gb: float = 4.0
    caption_characters: int = 2000
    captions_per_story: int = 1000
    upload_mb: int = 32


@dataclass(frozen=True)
class Scoring:
    """How captions and stories are scored."""

    metrics: tuple[str, ...] = METRICS
    scores: tuple[str, ...] = ()  # of stories
    protocol: Mapping[str, Any] = field(default_factory=dict)  # of stories
    tokenizer: str = "ptb"
    resamples: int = 1000
    seed: int = 12345
    device: str = "cpu"
    limits: ScoringLimits = ScoringLimits()


@dataclass(frozen=True)
class PhaseLimits:
    """How often a team may submit; ``None`` is without limit."""

    per_day: int | None = None
    total: int | None = None
    concurrent: int | None = None


@dataclass(frozen=True)
class Phase:
    """A window in which submissions are taken. Times are microseconds since 1970."""

    id: str
    splits: tuple[str, ...]
    opens: int
    closes: int
    reveals: int | None
    feedback: Mapping[str, Feedback]  # by split
    step: Mapping[str, float | Literal["auto"]]  # by split
    limits: PhaseLimits
    final: Final = "last"
    late: Literal["refuse", "mark"] = "refuse"
    after: Literal["closed", "open"] = "closed"
    listed: bool = True
    grace: int = 600  # seconds for the body of a request
    priority: int = 0
    name: str = ""


@dataclass(frozen=True)
class Columns:
    """Columns of a board that belong together: scores of metrics, or one of people."""

    group: str
    scores: tuple[str, ...] = ()
    human: str = ""  # the id of a human evaluation
    scale: float = 1.0
    precision: int | None = None
    ranked: bool = True


@dataclass(frozen=True)
class Board:
    """A view of scores."""

    id: str
    phase: str
    split: str
    primary: str
    columns: tuple[Columns, ...]
    level: float = 0.05
    correction: str = "holm"
    name: str = ""

    def has(self, score: str) -> bool:
        """Return whether a score is on the board: of a metric, or of people, ``human:ID``."""
        if score.startswith("human:"):
            return score.split(":")[1] in {group.human for group in self.columns}
        return score in {self.primary, *(name for g in self.columns for name in g.scores)}


@dataclass(frozen=True)
class Human:
    """An evaluation of the final entries by people."""

    id: str
    phase: str
    split: str
    protocol: str
    items: int | None = None  # a sample; None: all
    raters: int = 1
    quorum: tuple[int, int] | None = None
    seed: int = 0
    include_reference: bool = False
    layout: str = ""
    name: str = ""  # of its column


@dataclass(frozen=True)
class Award:
    """Who wins: the best by one column, by the mean rank over some, or by points for places."""

    rule: Literal["column", "mean_rank", "points"]
    columns: tuple[str, ...]
    points: tuple[int, ...] = (3, 2, 1)
    ties: tuple[str, ...] = ()
    within_cluster: Literal["share", "order"] = "share"
    board: str = ""

    def is_decided_by(self, boards: Collection[Board]) -> bool:
        """Return whether some boards have all columns that decide."""
        judging = [board for board in boards if self.board in ("", board.id)]
        columns = (*self.columns, *self.ties)
        return all(any(board.has(column) for board in judging) for column in columns)


@dataclass(frozen=True)
class Baseline:
    """A caption file of the organisers that stands on the board."""

    name: str
    file: str
    phase: str
    method: str = ""


@dataclass(frozen=True)
class Publish:
    """What everybody may see after the reveal."""

    captions: bool = False
    items: bool = False


@dataclass(frozen=True)
class Definition:
    """A whole challenge, as its file describes it."""

    id: str
    name: str
    registration: Registration
    splits: tuple[Split, ...]
    scoring: Scoring
    phases: tuple[Phase, ...]
    boards: tuple[Board, ...]
    humans: tuple[Human, ...] = ()
    award: Award | None = None
    baselines: tuple[Baseline, ...] = ()
    publish: Publish = Publish()
    pages: Mapping[str, str] = field(default_factory=dict)  # files, by page
    contact: str = ""
    largest_team: int | None = None
    teams_close: int | None = None
    references: Literal["open", "members"] = "members"  # of public splits
    text: str = field(default="", repr=False)

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
