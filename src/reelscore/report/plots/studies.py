"""Figure of the study of counts: precision, recall and F1 against the number of captions."""

from __future__ import annotations

from pathlib import Path

from reelscore.report.plots.style import BLUE, COLUMN_WIDTH, GREY, ORANGE, RED, figure, save
from reelscore.report.tables.studies import SODA_NAMES
from reelscore.stories.studies import CURRENT, Study

# What is drawn: end of the score's name, label, colour, line and mark.
_LINES = [
    ("_precision", "precision", ORANGE, "--", "^"),
    ("_recall", "recall", BLUE, ":", "v"),
    ("", "F1", RED, "-", "o"),
]
_TICKS = [0.1, 0.2, 0.5, 1, 2, 5, 10, 20, 50, 100, 200, 500]


def draw_counts(study: Study, path: str | Path) -> None:
    """Draw a row of panels for each system, one for each SODA score.

    The line of the current framework is in every panel. The dotted line marks as many captions as
    the truth has.

    Args:
        study: What `reelscore.stories.study_counts` gave.
        path: A .pdf, .svg or .png file.

    >>> import tempfile
    >>> from reelscore import examples
    >>> from reelscore.stories import study_counts
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
