"""The score table: what every judge of captions yields, and every use of scores consumes.

A table holds, for each system and metric, one number for the system, one for each item, and the
signature of how they were made. It is written as JSON, with everything, or as CSV with the columns
system, item, metric, score, where the row with an empty item is the system's own score.
"""

from __future__ import annotations

from array import array
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import cached_property
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, NamedTuple

import msgspec
from msgspec import field, structs

from reelscore._lazy import np
from reelscore.data.checks import counted
from reelscore.data.tables.scales import HIGHER, Scale, score_labels, scores_named
from reelscore.errors import DataError, UnknownNameError

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from reelscore._native import Rows


class ItemIndex(msgspec.Struct, frozen=True, dict=True):
    """The items of a table, in order; shared by all its columns.

    >>> ItemIndex(["v1", "v2"]).position["v2"]
    1
    """

    items: Sequence[str]

    @cached_property
    def position(self) -> dict[str, int]:
        """Where each item stands."""
        return {item: k for k, item in enumerate(self.items)}


class ItemScores(Mapping[str, float]):
    """Scores by item id, over an array: a million cost eight megabytes.

    >>> scores = ItemScores.of({"v1": 0.5, "v2": 0.25})
    >>> scores["v2"], len(scores), scores.array.tolist()
    (0.25, 2, [0.5, 0.25])
    """

    def __init__(self, index: ItemIndex, scores: NDArray[np.float64] | array[float]) -> None:
        self.index = index
        self._scores = scores

    @classmethod
    def of(cls, scores: Mapping[str, float]) -> ItemScores:
        """Make them of any mapping."""
        return cls(ItemIndex(list(scores)), array("d", scores.values()))

    @property
    def array(self) -> NDArray[np.float64]:
        """The scores of all items, in order."""
        return np.asarray(self._scores)

    def __getitem__(self, item: str) -> float:
        return float(self._scores[self.index.position[item]])

    def __iter__(self) -> Iterator[str]:
        return iter(self.index.items)

    def __len__(self) -> int:
        return len(self.index.items)

    def __repr__(self) -> str:
        return f"<{len(self)} item scores>"

    def to_dict(self) -> dict[str, float]:
        """Return a plain dictionary."""
        return dict(zip(self.index.items, self._scores.tolist(), strict=True))


WITHOUT_ITEMS = ItemScores.of({})  # of a score that is known of the whole system alone


class Statistics(msgspec.Struct, frozen=True):
    """What intervals and tests need of a metric whose score is not the mean of its items' scores.

    Attributes:
        outputs: The names of the metric's scores, which share these statistics.
        items: The items; a score may have fewer, where it is not defined for all of them.
        numbers: Items × k numbers, one row for each item; `rows` has them as an array.
        scores: Turns sums of rows, (..., k), into scores, (..., outputs).
    """

    outputs: Sequence[str]
    items: Sequence[str]
    numbers: Rows | NDArray[np.float64]
    scores: Callable[[NDArray[np.float64]], NDArray[np.float64]]

    @property
    def rows(self) -> NDArray[np.float64]:
        """Items × k numbers, one row for each item."""
        return np.asarray(self.numbers)


class Draws(msgspec.Struct, frozen=True):
    """Resamples of a system's items that were summed when it was scored, item by item elsewhere."""

    outputs: Sequence[str]  # the names of the metric's scores, which share the sums
    sums: NDArray[np.float64]  # resamples × k numbers, the sums of the statistics of each resample
    # turns sums, (..., k), into scores, (..., outputs)
    scores: Callable[[NDArray[np.float64]], NDArray[np.float64]]
    made: str = ""  # how they were drawn, as a signature says it
    items: int = 0  # a number for the items; systems with the same number have the same items

    @classmethod
    def of_scores(cls, metric: str, scores: NDArray[np.float64]) -> Draws:
        """Hold resampled scores themselves, where their sums are not at hand."""
        return cls([metric], scores[:, None], _as_they_are)


def _as_they_are(scores: NDArray[np.float64]) -> NDArray[np.float64]:
    return scores


class Coverage(NamedTuple):
    """How many items were scored, of how many."""

    scored: int
    total: int

    def __str__(self) -> str:
        return f"{self.scored}/{self.total}"


class MetricResult(msgspec.Struct, frozen=True):
    """One metric's scores of one system.

    Attributes:
        metric: The score's name, such as ``meteor`` or ``bleu_4``.
        score: The number for the system.
        items: The number for each item, in input order; none where only the system's is known.
        signature: How the numbers were made, enough to make them again.
        interval: A confidence interval of the score, where one was asked for.
        scale: How to read the score: which way is better, its range, and whether it is the mean
            of its items' scores.
        statistics: What intervals and tests need, where it is not.
        by_tiou: Of a score of stories that is averaged over thresholds of overlap, the score at
            each of them.
        draws: Resamples that are made already, where the items' statistics are not at hand.
        coverage: Where the items are not at hand either, and the system has fewer than others:
            how many it has, of those that any system has.
        ratings: Of how many judgments an item's score is the mean, where it is one of several.

    >>> result = MetricResult("meteor", 0.25, ItemScores.of({"v1": 0.25}), "meteor|tok:ptb")
    >>> print(result)
    meteor 0.2500 (1 item) meteor|tok:ptb
    >>> float(result)
    0.25
    """

    metric: str
    score: float
    items: ItemScores = WITHOUT_ITEMS
    signature: str = ""
    interval: tuple[float, float] | None = None
    scale: Scale = HIGHER
    statistics: Statistics | None = None
    by_tiou: Mapping[str, float] = field(default_factory=dict)
    draws: Draws | None = None
    coverage: Coverage | None = None
    ratings: Mapping[str, int] = field(default_factory=dict)

    @property
    def drawn(self) -> NDArray[np.float64] | None:
        """The score in each of the resamples that are made already.

        >>> draws = Draws.of_scores("meteor", np.array([0.25, 0.5]))
        >>> MetricResult("meteor", 0.3, draws=draws).drawn.tolist()
        [0.25, 0.5]
        """
        if self.draws is None:
            return None
        return self.draws.scores(self.draws.sums)[:, list(self.draws.outputs).index(self.metric)]

    def __eq__(self, other: object) -> bool:
        """Compare what a reader sees: not the statistics and draws behind the scores."""
        if not isinstance(other, MetricResult):
            return NotImplemented
        ours, theirs = (
            structs.astuple(structs.replace(each, statistics=None, draws=None))
            for each in (self, other)
        )
        return ours == theirs

    def __float__(self) -> float:
        return self.score

    def __repr__(self) -> str:
        return f"<MetricResult {self}>"

    def __str__(self) -> str:
        between = "" if self.interval is None else " [{:.4f}, {:.4f}]".format(*self.interval)
        items = counted(len(self.items), "item")
        return f"{self.metric} {self.score:.4f}{between} ({items}) {self.signature}"

    def to_dict(self) -> dict[str, Any]:
        """Return the result as the JSON form of a table has it."""
        return {
            "score": self.score,
            "interval": None if self.interval is None else list(self.interval),
            "signature": self.signature,
            "scale": self.scale.to_dict(),
            **({"by_tiou": dict(self.by_tiou)} if self.by_tiou else {}),
            **({"coverage": list(self.coverage)} if self.coverage else {}),
            **({"ratings": dict(self.ratings)} if self.ratings else {}),
            "items": self.items.to_dict(),
        }


class Sources(msgspec.Struct, frozen=True):
    """What was scored, kept so that a report can show it."""

    # the captions, by system and item
    captions: Mapping[str, Mapping[str, str]] = field(default_factory=dict)
    # the references of each item
    references: Mapping[str, Sequence[str]] = field(default_factory=dict)
    # where the items are long videos, how the captions of each system and video were matched:
    # `reelscore.stories.timelines.Timeline`
    timelines: Mapping[str, Mapping[str, object]] = field(default_factory=dict)


class ScoreTable(msgspec.Struct, frozen=True):
    """Results by system and metric.

    Attributes:
        results: The results of each system, by metric.
        notes: What a reader of the numbers has to know, a sentence each; they are shown below the
            table, and kept in its JSON form.
        sources: What was scored.
        bounds: Which of the systems are none, but bounds, such as an oracle that sees the answers:
            they are shown, and neither ranked nor called the best.

    >>> result = MetricResult("meteor", 0.25, ItemScores.of({"v1": 0.25}), "meteor|tok:ptb")
    >>> table = ScoreTable({"mine": {"meteor": result}})
    >>> table.systems, table.metrics
    (['mine'], ['meteor'])
    >>> table["mine"]["meteor"].score
    0.25
    """

    results: Mapping[str, Mapping[str, MetricResult]]
    notes: Sequence[str] = ()
    sources: Sources = field(default_factory=Sources)
    bounds: Sequence[str] = ()

    def __eq__(self, other: object) -> bool:
        """Compare the scores and what is said of them, not the captions."""
        if not isinstance(other, ScoreTable):
            return NotImplemented
        ours, theirs = ((each.results, each.notes, each.bounds) for each in (self, other))
        return ours == theirs

    def __getitem__(self, system: str) -> Mapping[str, MetricResult]:
        try:
            return self.results[system]
        except KeyError:
            raise UnknownNameError.of("system", system, self.results) from None

    def __float__(self) -> float:
        """The score of a table that has one system and one score."""
        return only_score([result for row in self.results.values() for result in row.values()])

    def __repr__(self) -> str:
        text: str = view("text")(self)
        return f"<ScoreTable of {len(self.systems)} systems>\n{text}"

    @property
    def systems(self) -> list[str]:
        """The systems, in order."""
        return list(self.results)

    @property
    def metrics(self) -> list[str]:
        """The metrics any system has, in order of appearance."""
        return list(dict.fromkeys(name for row in self.results.values() for name in row))

    def scale(self, metric: str) -> Scale:
        """How to read a metric's scores.

        >>> from reelscore import score_systems
        >>> score_systems({"mine": {"v1": "a man"}}, metrics="self_bleu").scale("self_bleu").better
        'low'
        """
        for row in self.results.values():
            if metric in row:
                return row[metric].scale
        raise UnknownNameError.of("score", metric, self.metrics)

    @property
    def labels(self) -> dict[str, str]:
        """What the scores are called in print, by name.

        >>> from reelscore import score_systems
        >>> score_systems({"mine": {"v1": "a man"}}, {"v1": ["a man"]}, "bleu|n:2").labels
        {'bleu_1': 'BLEU-1', 'bleu_2': 'BLEU-2'}
        """
        return score_labels({name: self.scale(name) for name in self.metrics})

    @property
    def headings(self) -> dict[str, str]:
        """The labels, with an arrow where lower is better."""
        return {name: self.scale(name).heading(label) for name, label in self.labels.items()}

    def named(self, scores: str | Sequence[str]) -> list[str]:
        """Find the scores that somebody means, in the order of the names.

        Args:
            scores: Names or labels of scores in any spelling, or names of metrics, which mean all
                their scores; a text may have several, with commas.

        Raises:
            UnknownNameError: If the table has no such score.

        >>> from reelscore import score_systems
        >>> table = score_systems({"mine": {"v1": "a man"}}, {"v1": ["a man"]}, "bleu,rouge_l")
        >>> table.named("ROUGE-L, bleu4")
        ['rouge_l', 'bleu_4']
        """
        parts = scores.split(",") if isinstance(scores, str) else scores
        labels = self.labels
        signatures = {
            name: result.signature.split("|")
            for row in self.results.values()
            for name, result in row.items()
        }
        metrics = {name: parts[0] for name, parts in signatures.items()}
        chosen: dict[str, None] = {}
        for wanted in filter(None, map(str.strip, parts)):
            names = scores_named(wanted, labels, metrics)
            if not names and (alias := view("alias")(wanted)):  # CIDEr-D is cider|variant:d
                metric, *parameters = alias.split("|")
                names = [
                    name
                    for name in scores_named(metric, labels, metrics)
                    if {*parameters} <= {*signatures[name]}
                ]
            if not names:
                known = [text for pair in labels.items() for text in dict.fromkeys(pair)]
                raise UnknownNameError.of("score", wanted, known)
            chosen |= dict.fromkeys(names)
        return list(chosen)

    def one_named(self, score: str) -> str:
        """Find the one score that somebody means; see `named`.

        Raises:
            UnknownNameError: If the table has no such score.
            DataError: If it is a metric with several scores.
        """
        names = self.named([score])
        if len(names) > 1:
            raise DataError(f"{score!r} is several scores: {', '.join(names)}. Choose one of them.")
        return names[0]

    def select(self, scores: str | Sequence[str]) -> ScoreTable:
        """Keep some scores, in the order of the names; these are as in `named`.

        >>> from reelscore import score_systems
        >>> table = score_systems({"mine": {"v1": "a man"}}, {"v1": ["a man"]}, "bleu,rouge_l")
        >>> table.select(["ROUGE-L", "BLEU-4"]).metrics
        ['rouge_l', 'bleu_4']
        """
        names = self.named(scores)
        rows = {
            system: {name: row[name] for name in names if name in row}
            for system, row in self.results.items()
        }
        return structs.replace(self, results=rows)

    def matrix(
        self, metric: str, systems: Sequence[str], items: Sequence[str]
    ) -> NDArray[np.float64]:
        """Return the items' scores by one metric as systems × items; NaN where there is none.

        >>> result = MetricResult("meteor", 0.25, ItemScores.of({"v1": 0.25}), "meteor")
        >>> ScoreTable({"mine": {"meteor": result}}).matrix("meteor", ["mine"], ["v2", "v1"])
        array([[ nan, 0.25]])
        """
        position = {item: k for k, item in enumerate(items)}
        matrix = np.full((len(systems), len(items)), np.nan)
        for row, system in zip(matrix, systems, strict=True):
            if metric in self.results.get(system, {}):
                scores = self.results[system][metric].items
                places = np.array([position.get(item, -1) for item in scores], dtype=np.int64)
                row[places[places >= 0]] = scores.array[places >= 0]
        return matrix

    def to_dict(self, *, statistics: bool = True) -> dict[str, Any]:
        """Return the table as its JSON form has it, with notes where there are some.

        Args:
            statistics: Whether to include what intervals and tests need of scores that are not
                means of their items' scores.
        """
        from reelscore.data.tables.table_files import FORMAT, stored_statistics

        stored = stored_statistics(self) if statistics else {}
        return {
            "systems": {
                system: {name: result.to_dict() for name, result in row.items()}
                for system, row in self.results.items()
            },
            **({"notes": list(self.notes)} if self.notes else {}),
            **({"bounds": list(self.bounds)} if self.bounds else {}),
            **({"statistics": stored} if stored else {}),
            "format": FORMAT,
        }

    def to_json(self, *, statistics: bool = True) -> str:
        """Return the table as JSON text; see `to_dict`."""
        from reelscore.data.tables.table_files import json_text

        return json_text(self, statistics=statistics)

    def to_csv(self) -> str:
        """Return the table as CSV text; numbers in full, so that they read back the same."""
        from reelscore.data.tables.table_files import csv_text

        return csv_text(self)

    def write(self, path: str | Path, *, statistics: bool = True) -> None:
        """Write the table, as JSON or CSV by the file's ending.

        Args:
            path: A .csv or .json file.
            statistics: Whether a JSON file has what intervals and tests need; see `to_dict`.

        >>> import tempfile
        >>> from pathlib import Path
        >>> path = Path(tempfile.mkdtemp()) / "table.csv"
        >>> result = MetricResult("meteor", 0.25, ItemScores.of({"v1": 0.25}), "meteor")
        >>> ScoreTable({"mine": {"meteor": result}}).write(path)
        >>> ScoreTable.read(path)["mine"]["meteor"].items["v1"]
        0.25
        """
        from reelscore.data.tables.table_files import write_table

        write_table(self, path, statistics=statistics)

    def to_latex(self, tests: Sequence[object] = (), **layout: object) -> str:
        r"""Return the leaderboard as a LaTeX table, with booktabs.

        Args:
            tests: What `reelscore.compare` found; significant differences are marked.
            layout: ``scale=100`` for percentages, ``digits``, ``sort`` and ``columns``: see
                `reelscore.report.tables.leaderboard.TableLayout`.

        >>> from reelscore import score_systems
        >>> from reelscore.examples import clips
        >>> table = score_systems(*clips(), "bleu,cider")
        >>> print(table.to_latex(columns="BLEU-4,CIDEr", scale=100, digits=1))
        % needs \usepackage{booktabs}
        \begin{table}
        \centering
        \caption{Best in bold, second best underlined. Scores $\times$ 100.}
        \begin{tabular}{lrr}
        \toprule
        system & BLEU-4 & CIDEr \\
        \midrule
        human & \textbf{35.6} & \textbf{161.6} \\
        strong & \underline{26.6} & \underline{106.8} \\
        weak & 9.7 & 33.7 \\
        broken & 0.0 & 3.9 \\
        \bottomrule
        \end{tabular}
        \end{table}
        """
        return str(view("latex")(self, tests, **layout))

    def to_markdown(self, tests: Sequence[object] = (), **layout: object) -> str:
        """Return the leaderboard as a Markdown table; arguments as in `to_latex`.

        >>> from reelscore import score_systems
        >>> from reelscore.examples import clips
        >>> print(score_systems(*clips(), "cider").to_markdown(digits=2))
        | system | CIDEr |
        |---|---:|
        | human | **1.62** |
        | strong | *1.07* |
        | weak | 0.34 |
        | broken | 0.04 |
        <BLANKLINE>
        Best in bold, second best in italics.
        """
        return str(view("markdown")(self, tests, **layout))

    def to_pandas(self) -> Any:
        """Return all scores as a pandas table with the columns system, item, metric, score.

        A system's own score stands in a row whose item is missing.

        Raises:
            MissingExtraError: pandas is not installed.

        >>> from reelscore import score_systems
        >>> table = score_systems({"mine": {"v1": "a man"}}, {"v1": ["a man"]}, "rouge_l")
        >>> table.to_pandas().dropna().to_dict("records")
        [{'system': 'mine', 'item': 'v1', 'metric': 'rouge_l', 'score': 1.0}]
        """
        from reelscore._packages import need

        return need("pandas", "pandas", "A pandas table needs").DataFrame(_columns(self))

    def to_polars(self) -> Any:
        """Return all scores as a polars table; columns and rows as in `to_pandas`.

        Raises:
            MissingExtraError: polars is not installed.

        >>> from reelscore import score_systems
        >>> table = score_systems({"mine": {"v1": "a man"}}, {"v1": ["a man"]}, "rouge_l")
        >>> table.to_polars().drop_nulls().rows()
        [('mine', 'v1', 'rouge_l', 1.0)]
        """
        from reelscore._packages import need

        polars = need("polars", "polars", "A polars table needs")
        names = dict.fromkeys(("system", "item", "metric"), polars.String)
        return polars.DataFrame(_columns(self), schema_overrides=names)

    def report(self, path: str | Path, people: ScoreTable | None = None, **fields: object) -> None:
        """Write the table as one HTML page to explore, with intervals and tests.

        Args:
            path: The file to make.
            people: People's scores of the same systems, to stand beside the others.
            fields: Further fields of `reelscore.report.html.Report`, such as ``title`` and
                ``video``; ``captions`` and ``references`` for a table read from a file.

        >>> import tempfile
        >>> from pathlib import Path
        >>> from reelscore import score_systems
        >>> table = score_systems({"mine": {"v1": "a man"}}, {"v1": ["the man"]}, "rouge_l")
        >>> table.report(Path(tempfile.mkdtemp()) / "mine.html", title="My captions")
        """
        view("report")(self, path, people, **fields)

    @property
    def plot(self) -> Any:
        """Figures of the table; see `reelscore.report.plots.figures.TablePlots`."""
        return view("plot")(self)

    def _repr_html_(self) -> str:
        """Show the leaderboard in a notebook."""
        return str(view("notebook")(self))

    @classmethod
    def read(
        cls,
        path: str | Path,
        *,
        repeats: Literal["error", "mean", "z"] = "error",
        column: str | None = None,
    ) -> ScoreTable:
        """Read a table from JSON or CSV; see `reelscore.data.tables.table_files.read_table`."""
        from reelscore.data.tables.table_files import read_table

        return read_table(path, repeats=repeats, column=column)


def only_score(results: Sequence[MetricResult]) -> float:
    """Return the score where there is one alone."""
    if len(results) != 1:
        names = ", ".join(dict.fromkeys(result.metric for result in results)) or "none"
        raise DataError(
            f"There are {len(results)} scores ({names}), and one can be made a number; choose it: "
            "table['system']['cider'], or results['cider']."
        )
    return results[0].score


def system_notes(notes: Mapping[str, Sequence[str]]) -> list[str]:
    """Turn the notes of each system into notes of a table; a system without a name adds none.

    >>> system_notes({"mine": ["1 item has no candidate: skipped."], "base": []})
    ['mine: 1 item has no candidate: skipped.']
    """
    return [
        f"{system}: {note}" if system else note for system, own in notes.items() for note in own
    ]


def file_format(path: str | Path) -> Literal["json", "csv"]:
    """Recognise the format of a score table's file by its ending.

    >>> file_format("scores.json")
    'json'
    """
    suffix = Path(path).suffix.lower()
    if suffix == ".json":
        return "json"
    if suffix == ".csv":
        return "csv"
    raise DataError(f"{path}: a score table is a .json or a .csv file; change the name.")


# What layers above know of score tables: data knows it by name, and it is loaded when used.
VIEWS = {
    "report": "reelscore.report.html.page:write_table_report",
    "plot": "reelscore.report.plots.figures:TablePlots",
    "latex": "reelscore.report.tables.differences:table_latex",
    "markdown": "reelscore.report.tables.differences:table_markdown",
    "text": "reelscore.report.tables.leaderboard:table_text",
    "notebook": "reelscore.report.tables.leaderboard:table_html",
    "alias": "reelscore.metrics.registry:alias",
    "declared scale": "reelscore.metrics.registry:declared_scale",
    "metric": "reelscore.metrics.registry:declaring_metric",
}


def view(name: str) -> Any:
    """Load what layers above know of score tables: something to be called.

    >>> view("notebook").__name__
    'table_html'
    """
    module, _, attribute = VIEWS[name].partition(":")
    return getattr(import_module(module), attribute)


def _columns(table: ScoreTable) -> dict[str, Sequence[object] | NDArray[np.float64]]:
    results = [
        (system, name, result)
        for system, row in table.results.items()
        for name, result in row.items()
    ]
    counts = [1 + len(result.items) for _, _, result in results]

    def repeated(values: Sequence[str]) -> list[str]:
        return [value for value, count in zip(values, counts, strict=True) for _ in range(count)]

    scores = [np.concatenate([[result.score], result.items.array]) for _, _, result in results]
    return {
        "system": repeated([system for system, _, _ in results]),
        "item": [item for _, _, result in results for item in (None, *result.items)],
        "metric": repeated([name for _, name, _ in results]),
        "score": np.concatenate(scores) if scores else np.zeros(0),
    }
