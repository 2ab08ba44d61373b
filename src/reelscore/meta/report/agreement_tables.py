"""How well metrics agree with people: tables, sections of a report, and figures."""

from __future__ import annotations

import math
from collections.abc import Sequence
from pathlib import Path

import numpy as np

from reelscore.meta.correlation import Correlation
from reelscore.meta.evaluation import MetaEvaluation
from reelscore.report.html.contents import Section
from reelscore.report.plots.figures import file_name
from reelscore.report.plots.matrices import draw_p_matrix
from reelscore.report.plots.style import BLUE, COLUMN_WIDTH, figure, label_points, save
from reelscore.report.safe_text import short_names
from reelscore.report.tables.grid import Cell, Grid, p_value
from reelscore.significance.comparison import UNTESTED, Comparison
from reelscore.stats.correlations import mean_known
from reelscore.stats.resampling import FloatArray

_NAMED = 12  # systems of a scatter plot that are named beside their points; more are numbered
_NAME = 24  # characters of a name
_MANY = 3000  # dots from which on they are drawn as pixels, so that the file stays small


def correlation_grid(correlations: Sequence[Correlation]) -> Grid:
    """Return a row for each metric, best first, and a column for each coefficient."""
    coefficients = list(dict.fromkeys(each.coefficient for each in correlations))
    rows: dict[str, dict[str, Correlation]] = {}
    for each in correlations:
        rows.setdefault(each.metric, {})[each.coefficient] = each
    best = {
        name: max(
            (_number(row[name].value) for row in rows.values() if not math.isnan(row[name].value)),
            key=float,
            default="",
        )
        for name in coefficients
    }

    def place(metric: str) -> float:
        value = rows[metric][coefficients[0]].value
        return math.inf if math.isnan(value) else -value

    cells = []
    for metric in sorted(rows, key=place):
        row = [Cell(metric)]
        for name in coefficients:
            each = rows[metric][name]
            text = _number(each.value)
            under = "" if each.interval is None else "{:.2f}…{:.2f}".format(*each.interval)
            row.append(Cell(text, under=under, best=len(rows) > 1 and text == best[name]))
        cells.append([*row, Cell(f"{rows[metric][coefficients[0]].n:,}")])
    return Grid(["metric", *coefficients, "n"], cells)


def significance_grid(tests: Comparison) -> Grid:
    """Table of p-values: does the row agree better with people than the column?"""
    rows = []
    ranks = tests.ranks
    for k, metric in enumerate(tests.systems):
        row = tests.p_corrected[k]
        marks = ["*" if p < tests.level else "" for p in row]
        cells = [
            Cell("" if j == k else UNTESTED if math.isnan(p) else p_value(p), mark)
            for j, (p, mark) in enumerate(zip(row, marks, strict=True))
        ]
        rows.append([Cell(metric), Cell(str(ranks.get(metric, 1))), *cells])
    untested = np.isnan(tests.p[~np.eye(len(tests.systems), dtype=bool)]).any()
    notes = [f"{UNTESTED} not tested: too few scores in common, or one does not vary."]
    return Grid([tests.test, "rank", *tests.systems], rows, notes=notes if untested else ())


def footnotes(correlations: Sequence[Correlation]) -> list[str]:
    """Return what is not defined, and how many groups that concerns."""
    notes = []
    for each in correlations:
        what = f"{each.metric}, {each.coefficient}"
        if math.isnan(each.value):
            notes.append(f"{what}: not defined ({each.reason}).")
        elif each.undefined:
            defined = each.groups - each.undefined
            notes.append(
                f"{what}: the mean of {defined:,} of {each.groups:,} groups; "
                "not defined in the others."
            )
    return notes


def agreement_sections(evaluation: MetaEvaluation) -> list[Section]:
    """Lay out correlations, and a table for each test, to stand below a report's leaderboard."""
    level = f"level: {evaluation.level}"
    about = [
        f"Correlations, {level}.",
        *footnotes(evaluation.correlations),
        *evaluation.cells.notes,
    ]
    grids = [correlation_grid(evaluation.correlations)]
    sections = [Section("Agreement with people", about, grids, lead=True)]
    for test in evaluation.tests:
        text = (
            f"p that the row agrees better with people than the column; * p < "
            f"{test.level:g}, {test.metric}, {level}."
        )
        heading = f"Which metric agrees better: {test.test}"
        grid = significance_grid(test)
        sections.append(Section(heading, [text], [grid], [test.signature], lead=True))
    return sections


def draw_agreement(
    evaluation: MetaEvaluation, folder: str | Path, ending: str = "pdf"
) -> list[Path]:
    """Draw a scatter plot for each metric and a heat map for each test, as PDF, SVG or PNG.

    Args:
        evaluation: The meta-evaluation.
        folder: Where to put the files; made if it is not there.
        ending: ``pdf``, ``svg`` or ``png``.

    >>> import tempfile
    >>> from reelscore.meta.paired_scores import Cells
    >>> cells = Cells(["a", "b"], ["v1"], np.array([[1.0], [2.0]]), {"x": np.array([[1.0], [3.0]])})
    >>> evaluation = MetaEvaluation("system", cells, [], [])
    >>> [file.name for file in draw_agreement(evaluation, tempfile.mkdtemp(), "svg")]
    ['scatter-x.svg']
    """
    Path(folder).mkdir(parents=True, exist_ok=True)
    files = []
    for metric in evaluation.cells.metrics:
        files.append(Path(folder, f"scatter-{file_name(metric)}.{ending}"))
        _draw_scatter(evaluation, metric, files[-1])
    for test in evaluation.tests:
        files.append(Path(folder, f"p-values-{test.test}.{ending}"))
        title = f"p (row better than column): {test.test}, {test.metric}"
        draw_p_matrix(test.p_corrected, test.systems, test.level, title, files[-1])
    return files


def _draw_scatter(evaluation: MetaEvaluation, metric: str, path: Path) -> None:
    """Draw the systems' means, each with its name, and beside them the captions, if any."""
    human, scores = evaluation.cells.pair(metric)
    axis = f"−{metric}" if metric in evaluation.cells.turned else metric
    x, y = mean_known(scores), mean_known(human)
    shown = ~np.isnan(x)
    systems = [name for name, there in zip(evaluation.cells.systems, shown, strict=True) if there]
    x, y = x[shown], y[shown]
    captions = evaluation.level != "system"
    wide = 2 * COLUMN_WIDTH if captions else COLUMN_WIDTH
    labels, legend = short_names(systems, _NAME), ""
    if len(systems) > _NAMED:
        labels, legend = _numbered(systems, y, int(wide / 0.05))
    height = 2.5 + 0.1 * legend.count("\n") + (0.2 if legend else 0)
    with figure(1, 1 + captions, width=wide, height=height) as (drawing, panels):
        if captions:
            panels[0].plot(
                scores.ravel(),
                human.ravel(),
                ".",
                color=BLUE,
                alpha=0.4,
                markersize=2.5,
                markeredgewidth=0,
                rasterized=scores.size > _MANY,
            )
        panels[-1].plot(x, y, "o", color=BLUE)
        panels[-1].margins(0.12)
        for panel, what in zip(panels, ["captions", "systems"][-len(panels) :], strict=True):
            panel.set_xlabel(f"{axis}, {what}" if captions else axis)
            panel.set_ylabel("human score")
        panels[0].set_title(_title(evaluation, metric), loc="left")
        if legend:
            drawing.supxlabel(legend, x=0.01, ha="left", fontsize=5.5, family="monospace")
        if systems:
            label_points(panels[-1], x.tolist(), y.tolist(), labels)
        save(drawing, path)


def _numbered(systems: Sequence[str], y: FloatArray, width: int) -> tuple[list[str], str]:
    """Number systems from the top of the figure on; return the numbers, and what they stand for."""
    order = np.argsort(-y, kind="stable")
    numbers = {int(system): str(number) for number, system in enumerate(order, start=1)}
    names = short_names(systems, _NAME)
    entries = [f"{numbers[int(k)]:>2} {names[k]}" for k in order]
    widest = max(map(len, entries)) + 2
    columns = max(1, width // widest)
    rows = -(-len(entries) // columns)
    lines = ["".join(each.ljust(widest) for each in entries[row::rows]) for row in range(rows)]
    return [numbers[k] for k in range(len(systems))], "\n".join(map(str.rstrip, lines))


def _title(evaluation: MetaEvaluation, metric: str) -> str:
    """Return the first coefficients of the metric: "pearson .97, kendall_b .80"."""
    parts = [
        f"{each.coefficient} {each.value:.3f}"
        for each in evaluation.correlations
        if each.metric == metric and not math.isnan(each.value)
    ]
    return ", ".join(parts[:2])


def _number(value: float) -> str:
    return "–" if math.isnan(value) else f"{value:.3f}"
