"""Tables of the experiments of the SODA papers, set out as there: in percent."""

from __future__ import annotations

from reelscore.report.tables.grid import Cell, Grid
from reelscore_studies.stories.studies import CURRENT, Setting, Study

SODA_NAMES = {f"soda_{letter}": f"SODA ({letter})" for letter in "abc"}
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
        return [("Oracle captions", _oracle(study))]
    table = _counts if study.name == "counts" else _order
    return [(system, table(study.of(system))) for system in study.systems]


def _counts(settings: list[Setting]) -> Grid:
    """A row for each score, a column for each number of captions; the best F1 stands out."""
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


def _percent(value: float) -> str:
    return f"{100 * value:.2f}"
