"""What the paper says: its findings, as comparisons of rows, and the numbers of its text."""

from __future__ import annotations

from typing import NamedTuple

from reelscore.report.tables.grid import Cell, Grid


class Finding(NamedTuple):
    """A finding of the paper, as a comparison of two rows of the shipped plans.

    Attributes:
        says: What the paper says.
        table: The table.
        rows: The better row and the worse, or two that are equal.
        equal: Whether the paper finds no difference; a test can refuse that, and not prove it.
    """

    says: str
    table: str
    rows: tuple[str, str]
    equal: bool = False


FINDINGS = (
    Finding("Stacked features beat PLACES alone", "t8", ("stacked", "places")),
    Finding(
        "Classifiers trained within groups beat retrieved ones",
        *("t8", ("groups, trained", "groups, retrieved")),
    ),
    Finding(
        "Reliable labels (AUC) beat all labels", "t8", ("groups, trained, AUC", "groups, trained")
    ),
    Finding(
        "Grouped features beat stacked ones for the same labels",
        *("t8", ("groups, trained, AUC", "the same labels, stacked")),
    ),
    Finding(
        "One layer is as good as two unfactored", "t9", ("1 layer", "2 layers, unfactored"), True
    ),
    Finding("One layer beats two factored", "t9", ("1 layer", "2 layers, factored")),
    Finding("lstm-drop beats no dropout", "t10", ("lstm-drop", "no dropout")),
    Finding("lstm-drop beats lang-drop", "t10", ("lstm-drop", "lang-drop")),
    Finding("lstm-drop beats vis-drop", "t10", ("lstm-drop", "vis-drop")),
    Finding("lstm-drop beats concat-drop", "t10", ("lstm-drop", "concat-drop")),
    Finding("A ratio of 0.5 beats 0.25", "t11", ("ratio 0.5", "ratio 0.25")),
    Finding("A ratio of 0.5 beats 0.75", "t11", ("ratio 0.5", "ratio 0.75")),
    Finding("Translation beats nearest neighbours (idt)", "t12", ("SMT", "nearest, idt")),
    Finding("Visual labels and a network beat translation", "t12", ("visual labels", "SMT")),
    Finding("An ensemble beats one network", "t12", ("visual labels, ensemble", "visual labels")),
)

# Numbers that the paper's text gives, METEOR and CIDEr × 100. The bodies of Tables 6 to 12 are not
# in the text: what it does not say stays empty until a person types it in from the journal.
PUBLISHED = (
    ("7, MPII-MD", "IDT 30 (SMT-Best)", "5.59", "–", "5.4.1"),
    ("8, MPII-MD val", "PLACES alone", "7.10", "–", "5.4.2"),
    ("8, MPII-MD val", "IDT+LSDA+PLACES stacked", "7.24", "–", "5.4.2"),
    ("12, MPII-MD test", "Visual-Labels − SMT-Best", "+1.44", "+1.84", "5.4.3"),
    ("12, MPII-MD test", "Visual-Labels (derived)", "7.03", "–", "5.4.1, 3"),
    ("12, MPII-MD test", "retrieval upper bound", "19.43", "–", "5.4.3"),
    ("13, M-VAD test", "Temporal Attention", "4.33", "5.55", "Table 13"),
    ("13, M-VAD test", "S2VT", "5.62", "7.22", "Table 13"),
    ("13, M-VAD test", "Visual-Labels", "6.36", "7.48", "Table 13"),
)
_COLUMNS = ("table", "row", "METEOR", "CIDEr", "section")


def published_grid() -> Grid:
    """Return what the paper's text says, to stand beside a study of the same data; see `PUBLISHED`.

    >>> print(published_grid().to_text(100).splitlines()[0])
    table             row                             METEOR   CIDEr    section
    """
    notes = [
        "Rohrbach et al., Movie Description, IJCV 2017: numbers of its text alone. Those that only "
        "its tables give are left out, until a person types them in from the journal.",
        "derived: 5.59 + 1.44, if SMT-Best has 5.59 in Table 12 too, which the text does not say.",
        "Mean words a sentence on MPII-MD test: S2VT 7.4, Visual-Labels 8.7.",
    ]
    rows = [[Cell(text) for text in line] for line in PUBLISHED]
    return Grid(_COLUMNS, rows, names=2, notes=notes)


def published_rows() -> list[dict[str, str]]:
    """Return the same in plain values.

    >>> published_rows()[0]["METEOR"]
    '5.59'
    """
    return [dict(zip(_COLUMNS, line, strict=True)) for line in PUBLISHED]
