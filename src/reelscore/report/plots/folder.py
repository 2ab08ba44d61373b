"""All figures of a score table, as files in a folder."""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from reelscore.data.table import ScoreTable
from reelscore.report.plots.tables import TablePlots
from reelscore.significance.evidence import Evidence
from reelscore.significance.pair_tests import with_evidence

if TYPE_CHECKING:
    from matplotlib.figure import Figure


def draw_table(
    table: ScoreTable,
    folder: str | Path,
    ending: str = "pdf",
    evidence: Sequence[Evidence] | None = None,
    people: Collection[str] = (),
) -> list[Path]:
    """Draw all figures of a table into a folder.

    Args:
        table: The scores.
        folder: Where to put the files; made if it is not there.
        ending: ``pdf``, ``svg`` or ``png``.
        evidence: Tests of the systems' differences; made if not given.
        people: Scores that people gave, of other items of each system.

    Returns:
        The files.

    >>> import tempfile
    >>> from reelscore import score_systems
    >>> from reelscore.examples import clips
    >>> [path.name for path in draw_table(score_systems(*clips(), "meteor"), tempfile.mkdtemp())]
    ['intervals-meteor.pdf', 'distributions-meteor.pdf', 'wins-meteor.pdf', 'lengths-meteor.pdf']
    """
    tests = with_evidence(table)[1] if evidence is None else evidence
    plots = TablePlots(table, tests, people)
    kinds: Mapping[str, Callable[[str, Path], Figure]] = {
        "intervals": plots.intervals,
        "distributions": plots.distributions,
        "wins": plots.wins,
        "lengths": plots.lengths,
    }
    several = len(table.systems) > 1
    made = []
    Path(folder).mkdir(parents=True, exist_ok=True)
    for metric in table.metrics:
        if not table.scale(metric).ranks:
            continue
        has_items = any(len(row[metric].items) for row in table.results.values() if metric in row)
        for kind, draw in kinds.items():
            wanted = {
                "intervals": several,
                "distributions": has_items,
                "wins": several and has_items,
                "lengths": has_items and any(table.sources.captions.values()),
            }[kind]
            if wanted:
                made.append(Path(folder, f"{kind}-{file_name(metric)}.{ending}"))
                draw(metric, made[-1])
    if len(table.metrics) > 1:
        made.append(Path(folder, f"correlations.{ending}"))
        plots.correlations(made[-1])
    return made


def file_name(score: str) -> str:
    """Make a score's name fit for a file.

    >>> file_name("bertha|references:blend")
    'bertha_references_blend'
    """
    return re.sub(r"[^\w.-]+", "_", score)
