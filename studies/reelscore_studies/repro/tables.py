"""Tables of reproduced papers: what was printed beside what comes out."""

from __future__ import annotations

import math

from reelscore.report.tables.grid import Cell, Grid
from reelscore_studies.judged.trecvid_ha import FOLDERS, YEARS
from reelscore_studies.published import published
from reelscore_studies.repro.bertha import (
    LEARNED,
    METRICS,
    SETTINGS,
    Reproduction,
    Setting,
    agrees,
    mean_of_years,
    odd_means,
)
from reelscore_studies.repro.direct_assessment import Replication

_COLUMNS = {
    "5": [*(f"HUMAN-{letter}" for letter in "ABCDE"), "all five"],
    "7": list(FOLDERS),
}


def table_grid(reproduction: Reproduction, table: str) -> Grid:
    """Lay out one table, three rows a metric.

    ``=`` marks printed values that come out again, ``≠`` printed means that do not follow from the
    printed cells.

    >>> rows = {"METEOR": [0.017, 0.083, 0.129, 0.222, 0.235]}
    >>> blocks = {"printed": rows, "as published": rows, "right lines": {}}
    >>> reproduction = Reproduction({"4": blocks}, {}, {}, 1)
    >>> print(table_grid(reproduction, "4").to_text())
    Table 4               VTT-16  VTT-17  VTT-18  VTT-19  VTT-20    Mean
    METEOR, printed       0.017   0.083   0.129   0.222   0.235    0.167
    METEOR, as published  0.017=  0.083=  0.129=  0.222=  0.235=   0.167
    """
    means = published("bertha")["tables"]["means"].get(table, {})
    odd = {row for other, row, *_ in odd_means() if other == table}
    blocks = reproduction.tables[table]
    columns = _COLUMNS.get(table, [f"VTT-{year % 100}" for year in YEARS])
    rows = []
    for name in dict.fromkeys(name for block in blocks.values() for name in block):
        printed = blocks["printed"].get(name, [math.nan] * len(columns))
        if name in blocks["printed"]:
            rows.append([Cell(f"{name}, printed"), *(Cell(f"{value:.3f}") for value in printed)])
            if name in means:
                rows[-1].append(Cell(f"{means[name]:.3f}", "≠" if name in odd else ""))
        for setting in SETTINGS:
            if name in blocks.get(setting, {}):
                values = blocks[setting][name]
                marks = [
                    "=" if setting == "as published" and agrees(table, one, two) else ""
                    for one, two in zip(printed, values, strict=True)
                ]
                cells = [Cell(f"{v:.3f}", mark) for v, mark in zip(values, marks, strict=True)]
                rows.append([Cell(f"{name}, {setting}"), *cells])
                if means:
                    rows[-1].append(Cell(f"{mean_of_years(values):.3f}"))
    return Grid([f"Table {table}", *columns, *(["Mean"] if means else [])], rows)


def williams_grid(reproduction: Reproduction, which: str, setting: Setting) -> Grid:
    """Lay out a matrix of p-values; ``*`` marks p < 0.05.

    >>> p = [[float("nan") if j == k else 0.01 if j < k else 0.99 for j in range(5)]
    ...      for k in range(5)]
    >>> reproduction = Reproduction({}, {"MA": {"right lines": p}}, {}, 1)
    >>> cell = williams_grid(reproduction, "MA", "right lines").rows[1][1]
    >>> cell.text, cell.mark
    ('0.010', '*')
    """
    # the learned metrics come last, where they are there
    names = [*METRICS, *LEARNED][: len(reproduction.williams[which][setting])]
    rows = [
        [
            Cell(name),
            *(
                Cell("–") if math.isnan(p) else Cell(f"{p:.3f}", "*" if p < 0.05 else "")
                for p in row
            ),
        ]
        for name, row in zip(names, reproduction.williams[which][setting], strict=False)
    ]
    return Grid([f"{which}, {setting}", *names], rows)


def coefficients_grid(reproduction: Reproduction) -> Grid:
    """Lay out the coefficients of the fusion.

    >>> reproduction = Reproduction({}, {}, {"printed": {"METEOR": 0.281}, "right lines": {}}, 1)
    >>> print(coefficients_grid(reproduction).to_text())
    coefficients  METEOR
    printed       0.2810
    right lines        –
    """
    names = list(dict.fromkeys(name for row in reproduction.coefficients.values() for name in row))
    return Grid(
        ["coefficients", *names],
        [
            [Cell(setting), *(Cell(f"{row[n]:.4f}" if n in row else "–") for n in names)]
            for setting, row in reproduction.coefficients.items()
        ],
    )


def replication_grid(replication: Replication) -> Grid:
    """Lay out means and correlations side by side.

    >>> replication = Replication({"A": {"raw": (80.0, 81.0), "z": (0.5, 0.6)}},
    ...                           {"raw": (0.995, 0.995), "z": (0.997, 0.997)}, {}, {}, "sts")
    >>> print(replication_grid(replication).to_text())
    system           raw, Table 4  raw, here  z, Table 4  z, here
    A                        80.0       81.0       0.500    0.600
    r, here                            0.995                0.997
    r, as in Table 5                   0.995                0.997
    """
    rows = [
        [
            Cell(name),
            *(Cell(f"{value:.1f}") for value in row["raw"]),
            *(Cell(f"{value:.3f}") for value in row["z"]),
        ]
        for name, row in replication.means.items()
    ]
    for k, label in enumerate(("r, here", "r, as in Table 5")):
        raw, z = (f"{replication.correlations[scale][k]:.3f}" for scale in ("raw", "z"))
        rows.append([Cell(label), Cell(""), Cell(raw), Cell(""), Cell(z)])
    return Grid(["system", "raw, Table 4", "raw, here", "z, Table 4", "z, here"], rows)


def likeness_grid(replication: Replication) -> Grid:
    """Lay out how like the captions of each system are to those of the others.

    >>> replication = Replication({}, {}, {"INF": (0.446, 0.111)}, {}, "meteor")
    >>> print(likeness_grid(replication).to_text())
    Table 1  printed (UMBC STS)  meteor, here
    INF                   0.446         0.111
    """
    rows = [
        [Cell(name), *(Cell(f"{value:.3f}") for value in values)]
        for name, values in replication.likeness.items()
    ]
    return Grid(["Table 1", "printed (UMBC STS)", f"{replication.similarity}, here"], rows)


def metrics_grid(replication: Replication) -> Grid:
    """Lay out the correlations of metrics with the printed means of five systems.

    >>> replication = Replication({}, {}, {}, {"sts": (-0.444, -0.617)}, "meteor")
    >>> print(metrics_grid(replication).to_text())
    Table 6, r with printed z  printed    here
    STS (here: meteor)          -0.444  -0.617
    """
    labels = {"bleu_4": "BLEU", "meteor": "METEOR", "sts": f"STS (here: {replication.similarity})"}
    rows = [
        [Cell(labels[name]), *(Cell(f"{value:.3f}") for value in values)]
        for name, values in replication.metrics.items()
    ]
    return Grid(["Table 6, r with printed z", "printed", "here"], rows)
