"""Tables of a study: means over seeds, intervals, paired tests, and what METEOR does not say."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any, NamedTuple

import msgspec
import numpy as np
from numpy.typing import NDArray

from reelscore._records import resolved
from reelscore.errors import DataError
from reelscore.metrics.registry import table_columns
from reelscore.report.tables.grid import Cell, Grid
from reelscore.report.tables.leaderboard import BOUND
from reelscore.stats.distributions import student_p
from reelscore.stats.resampling import bootstrap_p_values, bootstrap_scores, percentile_interval
from reelscore_studies.captioning.material import material_of
from reelscore_studies.captioning.paper import FINDINGS
from reelscore_studies.captioning.plans import SEEDED, Plan, Row
from reelscore_studies.captioning.units import Unit, distinct, units_of
from reelscore_studies.rendered.grammar import ROLES, recall
from reelscore_studies.rendered.scenes import NAME, TITLE

FloatArray = NDArray[np.float64]
_RESAMPLES = 2000
_LEVEL = 0.05
_SEEDS = 3  # fewer say little of other seeds
_BOUNDS = {
    "bound": "an oracle: it sees the answers",
    "oracle": "an oracle: it sees the true labels",
    "human": "another caption of the clip",
}
_TABLES = {
    "t7": "Table 7: translation",
    "t8": "Table 8: labels and their features",
    "t9": "Table 9: architectures",
    "t10": "Table 10: dropout",
    "t11": "Table 11: drop ratio",
    "t12": "Table 12: methods",
    "t13": "Table 13: methods",
    "dose": "Doses: more misalignment, fewer clips",
    "schedules": "Learning rates and steps",
}


class Difference(NamedTuple):
    """How far one row is from another.

    Attributes:
        apart: The difference of the means over seeds.
        p: Of the two-sided paired bootstrap over items.
    """

    apart: float
    p: float


class RowResult(NamedTuple):
    """What a row reached.

    Attributes:
        row: The row.
        scores: For each metric the score with each seed, best weights, ×100.
        last: The same with the last weights, where there are such.
        interval: For each metric the 95 % interval of the mean over seeds, ×100.
        wordiness: Length, number of words, shares of unique and of novel captions.
        labels: How many labels the network saw, where it saw some.
    """

    row: Row
    scores: dict[str, list[float]]
    last: dict[str, list[float]]
    interval: dict[str, tuple[float, float]]
    wordiness: dict[str, float]
    labels: int | None


@dataclass(frozen=True)
class StudyResults:
    """The finished runs of a study, on validation or on test items.

    Attributes:
        plan: The plan.
        home: Its folder.
        split: ``val`` or ``test``.
        device: The device of the runs.
        seed: Random seed of the resamples.
    """

    plan: Plan
    home: Path
    split: str = "val"
    device: str = "cpu"
    seed: int = 12345

    @classmethod
    def read(cls, folder: str | Path, split: str = "val") -> StudyResults:
        """Read a study's folder; tables that are not finished are left out.

        Args:
            folder: The folder.
            split: ``val``, or ``test`` where the study was frozen.

        Raises:
            DataError: If there is no finished study.
        """
        home = Path(folder)
        try:
            plan = msgspec.json.decode((home / "plan.json").read_bytes(), type=resolved(Plan))
        except (OSError, msgspec.MsgspecError) as error:
            raise DataError(
                f"{home}: is no folder of a study; expected plan.json, as 'reelscore caption "
                "study' writes it."
            ) from error
        tables = dict.fromkeys(row.table for row in plan.row)
        over: dict[str, list[str]] = {}
        for device in ("cuda", "cpu"):
            units = units_of(plan, home, device)
            left = {unit.row.table for unit in units if not unit.result(split).is_file()}
            over[device] = [table for table in tables if table not in left]
        device = max(over, key=lambda device: len(over[device]))
        if over[device]:
            return cls(plan.only(over[device]), home, split, device)
        begun = (home / "frozen.json").is_file() or any(home.glob("results/*.test.*"))
        if split == "test" and not begun:
            raise DataError(f"{home}: test items are not captioned yet; run with --freeze first.")
        raise DataError(
            f"{home}: no table is finished yet; call 'reelscore caption study' again to go on"
            + (", with --freeze." if split == "test" else ".")
        )

    @cached_property
    def metrics(self) -> list[str]:
        """Names of the scores, METEOR first."""
        return [columns.wanted[0] for columns in table_columns(list(self.plan.study.metrics))]

    def _units(self, row: Row) -> list[Unit]:
        return [Unit(self.plan, row, seed, self.home, self.device) for seed in self.plan.seeds(row)]

    def _records(self, row: Row) -> list[dict[str, Any]]:
        return [json.loads(unit.result(self.split).read_bytes()) for unit in self._units(row)]

    def _seed_scores(self, row: Row, metric: str) -> list[float]:
        return [100 * own["measured"]["best"][metric] for own in self._records(row)]

    def _statistics(self, row: Row, metric: str) -> list[FloatArray]:
        """Return the statistics of each seed, items × k."""
        arrays = []
        for unit in self._units(row):
            with np.load(unit.result(self.split).with_suffix(".npz")) as file:
                arrays.append(np.asarray(file[f"best.{metric}"], dtype=np.float64))
        return arrays

    def _drawn(self, parts: Sequence[Sequence[FloatArray]], metric: str) -> tuple[Any, Any]:
        """Means over seeds of each part, in resamples of the items, and as they are."""
        kind = table_columns(metric)[0].metric
        width = parts[0][0].shape[1]

        def means(totals: FloatArray) -> FloatArray:
            scores, begin = [], 0
            for part in parts:
                own = []
                for _ in part:
                    own.append(kind.scores(totals[..., begin : begin + width])[..., 0])
                    begin += width
                scores.append(np.mean(own, axis=0))
            return np.stack(scores, axis=-1)

        rows = np.hstack([seed for part in parts for seed in part])
        drawn = bootstrap_scores(rows, means, resamples=_RESAMPLES, seed=self.seed)
        return drawn, means(rows.sum(axis=0))

    def difference(self, row: Row, other: Row, metric: str = "meteor") -> Difference:
        """Test a row against another, item by item.

        Args:
            row: The row.
            other: The row it is compared with.
            metric: The score.

        Raises:
            DataError: If they have different items, as after a dose that changes their number.
        """
        ours, theirs = self._statistics(row, metric), self._statistics(other, metric)
        if len(ours[0]) != len(theirs[0]):
            raise DataError(
                f"{row.name!r} has {len(ours[0]):,} items, {other.name!r} {len(theirs[0]):,}; "
                "only rows with the same items can be compared."
            )
        drawn, means = self._drawn([ours, theirs], metric)
        apart = drawn[:, :1] - drawn[:, 1:]
        observed = means[:1] - means[1:]
        return Difference(100 * float(observed[0]), float(bootstrap_p_values(apart, observed)[0]))

    def result(self, row: Row) -> RowResult:
        """Return what a row reached."""
        records = self._records(row)
        measured = [record["measured"] for record in records]
        interval = {}
        for metric in self.metrics:
            drawn, _ = self._drawn([self._statistics(row, metric)], metric)
            low, high = 100 * percentile_interval(drawn)[:, 0]
            interval[metric] = (float(low), float(high))
        last = [own["last"] for own in measured if "last" in own]
        words = ("length", "words", "unique", "novel")
        return RowResult(
            row,
            {m: [100 * own["best"][m] for own in measured] for m in self.metrics},
            {m: [100 * own[m] for own in last] for m in self.metrics},
            interval,
            {name: float(np.mean([own["best"][name] for own in measured])) for name in words},
            records[0].get("labels", {}).get("kept"),
        )

    @cached_property
    def title(self) -> str:
        """What all tables say of the data: also that clips are rendered, whatever the plan says."""
        title = str(self._records(self.plan.row[0])[0]["title"])
        return f"{title}, {TITLE}" if self._is_rendered and TITLE not in title else title

    @cached_property
    def _is_rendered(self) -> bool:
        """Whether there are rendered clips among the items, by their ids."""
        items = self._captions(self._units(self.plan.row[0])[0])
        return any(item.startswith(f"{NAME}_") for item in items)

    def grids(self) -> dict[str, Grid]:
        """Make a grid of each table of the plan, by its title."""
        tables = dict.fromkeys(row.table for row in self.plan.row)
        grids = {f"{_TABLES.get(name, name)}, {self.title}": self._grid(name) for name in tables}
        if "t12" in tables and self._truth.is_file():
            grids[f"What captions name of what the clips show, {self.title}"] = self._recall_grid()
        return grids

    @property
    def _truth(self) -> Path:
        """Where it stands what rendered clips show."""
        return self.home / "data" / self.plan.study.data / "truth.jsonl"

    def _captions(self, unit: Unit) -> dict[str, str]:
        captions: dict[str, str] = json.loads(unit.captions(self.split, "best").read_bytes())
        return captions

    def systems(self) -> dict[str, dict[str, str]]:
        """Return the captions of each row, by its name: those of the first seed.

        Rows with a dose are left out: they may have other items. Rows of several tables that are
        one run are one system, by the name of the first.

        Raises:
            DataError: If there are no others.
        """
        units = [self._units(row)[0] for row in self.plan.row if not row.dose]
        systems = {own.row.name: self._captions(own) for own in distinct(units)}
        if not systems:
            raise DataError(
                "All rows of these tables have a dose, so that their items may differ; name a "
                "table that has others."
            )
        return systems

    def references(self) -> dict[str, list[str]]:
        """Return the references of the items."""
        return material_of(self.plan, {}, self.home / "data").captions(self.split)

    def recall(self, row: Row) -> dict[str, float]:
        """Return the shares of clips whose captions name what they show, for rendered clips."""
        truth = [json.loads(line) for line in self._truth.read_text("utf-8").splitlines()]
        shares = [recall(self._captions(unit), truth) for unit in self._units(row)]
        return {role: float(np.mean([own[role] for own in shares])) for role in shares[0]}

    def _recall_grid(self) -> Grid:
        rows = [row for row in self.plan.row if row.table == "t12"]
        lines = []
        for number, row in enumerate(rows, start=1):
            shares = self.recall(row)
            cells = [Cell(f"{shares[role]:.0%}" if role in shares else "–") for role in ROLES]
            lines.append([_row_cell(number, row), *cells])
        notes = [
            f"{self.title}: shares of {self._counted(rows)}, means over seeds. Any word for it "
            "counts; references leave out most of it too.",
            *self._warnings(rows),
        ]
        return Grid(["row", *ROLES], lines, notes=notes)

    def _grid(self, table: str) -> Grid:
        rows = [row for row in self.plan.row if row.table == table]
        results = [self.result(row) for row in rows]
        main, *others = self.metrics
        means = [float(np.mean(own.scores[main])) for own in results]
        systems = [k for k, row in enumerate(rows) if not row.is_bound]
        best = max(systems, key=lambda k: means[k], default=-1)
        head = [main.upper() if main == "meteor" else main, "sd", "95 %"]
        columns = ["row", *head, *[_spelled(name) for name in others]]
        columns += ["last", "apart", "from", "p", "labels", "length", "words", "unique", "novel"]
        lines = []
        for number, own in enumerate(results):
            seeds = own.scores[main]
            low, high = own.interval[main]
            deviation = f"{np.std(seeds, ddof=1):.2f}" if len(seeds) > 1 else "–"
            lines.append(
                [
                    _row_cell(number + 1, own.row),
                    Cell(f"{means[number]:.2f}", best=number == best),
                    Cell(deviation),
                    Cell(f"{low:.1f}–{high:.1f}"),
                    *(Cell(f"{np.mean(own.scores[name]):.1f}") for name in others),
                    Cell(f"{np.mean(own.last[main]):.2f}" if own.last[main] else "–"),
                    *self._compared(own.row, rows),
                    Cell(str(own.labels) if own.labels is not None else "–"),
                    Cell(f"{own.wordiness['length']:.1f}"),
                    Cell(f"{own.wordiness['words']:.0f}"),
                    Cell(f"{own.wordiness['unique']:.0%}"),
                    Cell(f"{own.wordiness['novel']:.0%}"),
                ]
            )
        return Grid(columns, lines, notes=self._notes(rows))

    def _compared(self, row: Row, rows: Sequence[Row]) -> list[Cell]:
        if row.against is None:
            return [Cell("–"), Cell("–"), Cell("–")]
        other = self.plan.named(row, row.against)
        place = f"({rows.index(other) + 1})" if other in rows else other.name
        try:
            apart, p = self.difference(row, other, self.metrics[0])
        except DataError:  # a dose that changes the items
            return [Cell("–"), Cell(place), Cell("–")]
        return [Cell(f"{apart:+.2f}"), Cell(place), Cell(_p_text(p))]

    def _counted(self, rows: Sequence[Row]) -> str:
        counts = sorted({self._records(row)[0]["items"] for row in rows})
        items = " or ".join(f"{count:,}" for count in counts)
        return f"{items} {'validation' if self.split == 'val' else 'test'} items"

    def _notes(self, rows: Sequence[Row]) -> list[str]:
        seeds = ", ".join(map(str, self.plan.study.seeds))
        return [
            f"{self.title}: {self._counted(rows)}, one reference where there are no "
            f"more; scores × 100; means over seeds {seeds}, sd over seeds, interval and p over "
            f"items (paired bootstrap, {_RESAMPLES:,} resamples). last: METEOR of the last "
            "weights; all other columns: of those that were best on validation.",
            *self._warnings(rows),
        ]

    def _warnings(self, rows: Sequence[Row]) -> list[str]:
        """Return what nobody may overlook: bounds, too few seeds, clips that are not real."""
        notes = []
        bounds = [f"{row.name} ({_BOUNDS[row.method]})" for row in rows if row.is_bound]
        if bounds:
            notes.append(f"{BOUND} a bound and no system, so not ranked: {', '.join(bounds)}.")
        seeds = len(self.plan.study.seeds)
        if seeds < _SEEDS and any(row.method in SEEDED for row in rows):
            notes.append(
                "One seed: nothing can be said of other seeds."
                if seeds == 1
                else f"{seeds} seeds: what is said of other seeds is weak; run {_SEEDS} or more."
            )
        if self._is_rendered:
            notes.append("Clips drawn by a program: this is no reproduction of the paper.")
        return notes

    def findings(self) -> list[str]:
        """Return of each finding of the paper whether it holds here, does not, or is not decided.

        A difference counts if it is larger than chance would make it with other items, and larger
        than it would be with other seeds.
        """
        lines = []
        for finding in FINDINGS:
            ours, theirs = (self._find(finding.table, name) for name in finding.rows)
            if ours is None or theirs is None:
                continue
            main = self.metrics[0]
            apart, p = self.difference(ours, theirs, main)
            seeds = seed_p_value(*(self._seed_scores(row, main) for row in (ours, theirs)))
            unknown = seeds is None and any(row.method in SEEDED for row in (ours, theirs))
            if unknown or max(p, seeds or 0.0) >= _LEVEL:
                verdict = "not decided"
            else:
                verdict = "holds" if apart > 0 and not finding.equal else "does not hold"
            shown = f"p {_p_text(p)} over items"
            if unknown:
                shown += ", one seed"
            elif seeds is not None:
                shown += f", {_p_text(seeds)} over seeds"
            lines.append(
                f"{finding.says}: {verdict} ({finding.rows[0]} − {finding.rows[1]}: "
                f"{apart:+.2f}, {shown})"
            )
        return lines

    def _find(self, table: str, name: str) -> Row | None:
        own = [row for row in self.plan.row if (row.table, row.name) == (table, name)]
        return own[0] if own else None

    def to_dict(self) -> dict[str, Any]:
        """Everything in plain values."""
        return {
            "title": self.title,
            "split": self.split,
            "rows": [
                {**own._asdict(), "row": msgspec.to_builtins(own.row)}
                for own in map(self.result, self.plan.row)
            ],
            "findings": self.findings(),
        }


def seed_p_value(ours: Sequence[float], theirs: Sequence[float]) -> float | None:
    """Test whether two rows differ by more than their seeds do (Student's t); None if unseeded."""
    seeded = [np.asarray(scores) for scores in (ours, theirs) if len(scores) > 1]
    if not seeded:
        return None
    apart = float(np.mean(ours) - np.mean(theirs))
    freedom = sum(len(scores) - 1 for scores in seeded)
    variance = sum(len(scores) * float(np.var(scores)) for scores in seeded) / freedom
    error = float(np.sqrt(variance * sum(1 / len(scores) for scores in seeded)))
    if error == 0:
        return 0.0 if apart else 1.0
    return student_p(apart / error, freedom, "two-sided")


def _row_cell(number: int, row: Row) -> Cell:
    return Cell(f"({number}) {row.name}", BOUND if row.is_bound else "")


def _p_text(p: float) -> str:
    return f"{p:.3f}" if p >= 0.0005 else "<.001"


def _spelled(metric: str) -> str:
    return {"cider": "CIDEr", "meteor": "METEOR"}.get(metric, metric)
