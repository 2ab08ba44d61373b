"""Figures 2, 3 and 4 of the BERTHA paper, drawn from what was recomputed."""

from __future__ import annotations

from pathlib import Path

import numpy as np

from reelscore.report.plots.figures import density
from reelscore.report.plots.matrices import draw_p_matrix
from reelscore.report.plots.style import COLUMN_WIDTH, PALETTE, figure, save
from reelscore_studies.judged.trecvid_ha import YEARS
from reelscore_studies.repro.bertha import LEARNED, METRICS, SETTINGS, Reproduction

_LOW, _HIGH = -3.0, 3.0  # standard scores that are shown
_NUMBERS = {"system level": 3, "caption level": 4}  # of the figures with Williams tests


def draw_figures(reproduction: Reproduction, folder: str | Path, ending: str = "pdf") -> list[Path]:
    """Draw the distributions of people's scores, and the p-values of all Williams tests."""
    Path(folder).mkdir(parents=True, exist_ok=True)
    files = [Path(folder, f"figure-2.{ending}")]
    _draw_distributions(reproduction, files[0])
    for which, settings in reproduction.williams.items():
        kind, level = which.split(", ")
        for setting in SETTINGS:
            p = np.array(settings[setting], dtype=float)
            names = [*METRICS, *LEARNED][: len(p)]
            file = f"figure-{_NUMBERS[level]}-{kind}-{setting.replace(' ', '-')}.{ending}"
            files.append(Path(folder, file))
            title = f"{kind}, {level}, {setting}: row over column"
            draw_p_matrix(p, names, 0.05, title, files[-1])
    return files


def _draw_distributions(reproduction: Reproduction, path: Path) -> None:
    """Draw how people's scores of systems' captions are distributed, a line a year."""
    with figure(1, 2, width=2 * COLUMN_WIDTH) as (drawing, panels):
        for panel, (kind, what) in zip(
            panels, (("SA", "judged once"), ("MA", "judged by many")), strict=True
        ):
            scores = {year: reproduction.human[f"{kind}-{year}"] for year in YEARS}
            for (year, own), colour in zip(scores.items(), PALETTE, strict=False):
                heights = density(own, _LOW, _HIGH)
                x = np.linspace(_LOW, _HIGH, len(heights))
                area = heights.sum() * (x[1] - x[0])
                panel.plot(x, heights / area, color=colour, label=f"VTT-{year % 100}")
            mean = float(np.mean(np.concatenate(list(scores.values()))))
            panel.set_title(f"{kind}, {what}: mean {mean:.2f}".replace("-", "−"))
            panel.set_xlabel("standardised score")
        panels[0].set_ylabel("density")
        panels[1].legend()
        save(drawing, path)
