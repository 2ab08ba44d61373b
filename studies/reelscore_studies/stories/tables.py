"""Tables and a figure of the experiments of the SODA papers, set out as there: in percent."""

from __future__ import annotations

from itertools import combinations
from pathlib import Path

from reelscore.report.plots.style import BLUE, COLUMN_WIDTH, GREY, ORANGE, RED, figure, save
from reelscore.report.tables.grid import Cell, Grid, p_value
from reelscore_studies.stories.studies import CURRENT, Setting, Study

SODA_NAMES = {f"soda_{letter}": f"SODA ({letter})" for letter in "abc"}
# What is drawn: end of the score's name, label, colour, line and mark.
_LINES = [
    ("_precision", "precision", ORANGE, "--", "^"),
    ("_recall", "recall", BLUE, ":", "v"),
    ("", "F1", RED, "-", "o"),
]
_UNIT = " (scores in percent)"
_TICKS = [0.1, 0.2, 0.5, 1, 2, 5, 10, 20, 50, 100, 200, 500]
_PARTS = {"P": "_precision", "R": "_recall", "F1": ""}


def study_grids(study: Study) -> list[tuple[str, Grid]]:
    """Lay out a study: a title and a table for each system, or one for all of them.

    >>> scores = {"f": 0.213, "self_bleu": 0.795, "self_bleu_all": 0.9}
    >>> study = Study("oracle", [Setting("ours", "oracle", 3.5, 1.0, scores, {})], "")
    >>> print(study_grids(study)[0][1].to_text())
    system  captions     f  Self-BLEU  of all
    ours         3.5  21.3       79.5    90.0
    """
    if study.name == "oracle":
        grids = [(f"Oracle captions{_UNIT}", _oracle(study))]
        return [*grids, ("p of the differences", _tests(study))] if study.tests else grids
    table = _counts if study.name == "counts" else _order
    return [(system + _UNIT, table(study.of(system))) for system in study.systems]


def draw_counts(study: Study, path: str | Path) -> None:
    """Draw a row of panels for each system, one for each SODA score.

    The line of the current framework is in every panel. The dotted line marks as many captions as
    the truth has.

    >>> import tempfile
    >>> from reelscore import examples
    >>> from reelscore_studies import study_counts
    >>> systems, annotators = examples.stories()
    >>> study = study_counts(systems, annotators.values(), ratios=[0.5, 1], repeats=1)
    >>> draw_counts(study, Path(tempfile.mkdtemp(), "counts.svg"))
    """
    systems = study.systems
    height = 0.4 + 2.0 * len(systems)
    with figure(len(systems), 3, width=2 * COLUMN_WIDTH, height=height) as (drawing, panels):
        for row, system in enumerate(systems):
            settings = sorted(study.of(system), key=lambda each: each.ratio)
            x = [each.ratio for each in settings]
            top = 1.05 * max(max(each.scores.values()) for each in settings)
            for column, (score, name) in enumerate(SODA_NAMES.items()):
                panel = panels[3 * row + column]
                lines = [(score + end, *look) for end, *look in _LINES]
                lines.append((CURRENT, "current framework", GREY, "-.", "s"))
                for key, label, colour, line, mark in lines:
                    y = [100 * each.scores[key] for each in settings]
                    panel.plot(x, y, line, color=colour, marker=mark, label=label)
                panel.axvline(1, color=GREY, linewidth=0.8, linestyle=":")
                panel.set_xscale("log")
                panel.set_xticks([tick for tick in _TICKS if x[0] / 1.3 <= tick <= x[-1] * 1.3])
                panel.minorticks_off()
                panel.xaxis.set_major_formatter("{x:g}")
                panel.set_ylim(0, 100 * top)
                panel.tick_params(labelleft=column == 0)
                if row == 0:
                    panel.set_title(name)
                if row == len(systems) - 1:
                    panel.set_xlabel("captions / references")
            panels[3 * row].set_ylabel(f"{system}\nscore (%)")
        handles, labels = panels[0].get_legend_handles_labels()
        drawing.legend(handles, labels, loc="outside lower center", ncols=4)
        save(drawing, path)


def _counts(settings: list[Setting]) -> Grid:
    """Return a row for each score, a column for each number of captions; the best F1 stands out."""
    rows = [[Cell("captions"), *(Cell(f"{each.captions:.1f}") for each in settings)]]
    rows.append(_row("Current", CURRENT, settings))
    for score, name in SODA_NAMES.items():
        rows += [_row(f"{name} {part}", score + end, settings) for part, end in _PARTS.items()]
    return Grid(["", *(each.setting for each in settings)], rows)


def _row(name: str, score: str, settings: list[Setting]) -> list[Cell]:
    values = [each.scores[score] for each in settings]
    emphasised = not score.endswith(("_precision", "_recall"))
    return [
        Cell(name),
        *(Cell(_percent(value), best=emphasised and value == max(values)) for value in values),
    ]


def _order(settings: list[Setting]) -> Grid:
    """A row for each score, a column for each order, with the change from the correct one."""
    rows = []
    for score, name in {CURRENT: "Current", **SODA_NAMES}.items():
        correct = settings[0].scores[score]
        row = [Cell(name)]
        for each in settings:
            change = 100 * (each.scores[score] / correct - 1) if correct else 0.0
            under = "" if each is settings[0] else f"({change:+.1f})".replace("-", "−")
            row.append(Cell(_percent(each.scores[score]), under=under))
        rows.append(row)
    return Grid(["", *(each.setting for each in settings)], rows)


def _oracle(study: Study) -> Grid:
    rows = [
        [
            Cell(each.system),
            Cell(f"{each.captions:.1f}"),
            *(Cell(f"{100 * value:.1f}") for value in each.scores.values()),
        ]
        for each in study.settings
    ]
    return Grid(["system", "captions", "f", "Self-BLEU", "of all"], rows)


def _tests(study: Study) -> Grid:
    """Lay out p-values, corrected for the number of pairs; ``*`` marks those that are significant.

    They are of approximate randomization over the videos.
    """
    pairs = list(combinations(range(len(study.tests[0].systems)), 2))
    rows = [
        [
            Cell(" and ".join(study.tests[0].systems[k] for k in pair)),
            *(
                Cell(p_value(test.p_corrected[pair]), "*" if test.p_corrected[pair] < 0.05 else "")
                for test in study.tests
            ),
        ]
        for pair in pairs
    ]
    names = {"f": "f", "self_bleu": "Self-BLEU"}
    return Grid(["systems", *(names[test.metric] for test in study.tests)], rows)


def _percent(value: float) -> str:
    return f"{100 * value:.2f}"
