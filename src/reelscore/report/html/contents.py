"""From a report to the data inside its page: one row per item, one column per score."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import numpy as np

from reelscore._version import __version__
from reelscore.report.html.explanations import add_explanations
from reelscore.report.html.model import Report, Section
from reelscore.report.html.payload import Payload
from reelscore.report.html.story_columns import add_stories
from reelscore.report.html.texts import ItemTexts
from reelscore.report.legible import legible, system_names
from reelscore.report.tables.grid import Grid
from reelscore.significance.evidence import Evidence

Progress = Callable[[int, int], None]

_QUOTED = ("meteor", "soda_c", "cider", "anet_meteor")  # the metrics that papers quote most


def encoded(report: Report, *, explain: int = 100_000, progress: Progress | None = None) -> str:
    """Give everything the page's scripts need, as one text.

    Args:
        report: What to show.
        explain: Up to so many captions, draw METEOR's alignments and CIDEr's n-grams.
        progress: Called now and then with how many captions are explained, of how many.

    >>> from reelscore import score_systems
    >>> from reelscore.examples import clips
    >>> systems, references = clips()
    >>> table = score_systems(systems, references)
    >>> text = encoded(Report(table, captions=systems, references=references))
    >>> 5_000 < len(text) < 15_000
    True
    """
    items = report.items
    names = system_names(report.table.systems)
    payload = Payload()
    for k, name in enumerate(report.table.metrics):
        # item by item, so that the scores of one caption's rivals lie side by side
        payload.numbers(f"score{k}", report.table.matrix(name, report.table.systems, items).T, "f4")
    head: dict[str, Any] = {
        "version": __version__,
        "systems": list(names.values()),
        "baseline": None if report.baseline is None else names[report.baseline],
        "items": [legible(item) for item in items],
        "metrics": [_metric(report, name) for name in report.table.metrics],
        "interest": _by_interest(report),
        "sections": [_section(each, k, names) for k, each in enumerate(report.sections)],
        "video": report.video,
        "videos": {k: report.videos[item] for k, item in enumerate(items) if item in report.videos},
        "notes": [],
    }
    if head["items"] != items:  # files are named by the ids as they are
        head["ids"] = [item.encode(errors="replace").decode() for item in items]
    if report.captions or report.references:
        texts = ItemTexts.of(report, items)
        texts.add_to(payload)
        head["captions"] = True
        head["notes"] += add_explanations(payload, report, texts, explain, progress)
    if report.timelines:
        head["stories"] = add_stories(payload, report, items)
    return payload.encoded(head)


def _by_interest(report: Report) -> list[int]:
    """Order the scores as readers want to see them, by their numbers in the table.

    People's scores come first, then the metrics that are quoted most, then others; those with
    tests before those without, and the last of a family first, as BLEU-4 before BLEU-1.
    """
    tested = {evidence.metric for evidence in report.tests if evidence.about}

    def place(number: int, name: str) -> tuple[int, int, bool, int]:
        if name in report.human:
            return 0, 0, name not in tested, number
        if name in _QUOTED:
            return 1, _QUOTED.index(name), False, 0
        return 2, 0, name not in tested, -number

    names = report.table.metrics
    return sorted(range(len(names)), key=lambda number: place(number, names[number]))


def _metric(report: Report, name: str) -> dict[str, Any]:
    table = report.table
    results = [table[system].get(name) for system in table.systems]
    evidence = next((each for each in report.tests if each.metric == name), None)
    return {
        "name": legible(name),
        "human": name in report.human,
        "better": table.scale(name).better,
        "own": [None if each is None else _finite(each.score) for each in results],
        "partial": [(system, name) in report.partial for system in table.systems],
        "intervals": [
            None if each is None or each.interval is None else [*map(_finite, each.interval)]
            for each in results
        ],
        "evidence": None if evidence is None else _tests(evidence, report),
    }


def _tests(evidence: Evidence, report: Report) -> dict[str, Any]:
    """The matrices of a test over all systems of the report."""
    table = report.table
    place = {name: k for k, name in enumerate(evidence.systems)}
    order = [place.get(system, -1) for system in table.systems]

    def spread(matrix: Any) -> list[list[Any]]:
        return [
            [None if i < 0 or j < 0 or i == j else _finite(matrix[i, j]) for j in order]
            for i in order
        ]

    # With one baseline most pairs are not tested, so that nothing can be said of groups.
    clusters: dict[str, int] = {}
    if report.baseline is None:
        among = evidence.among(
            [name for name in evidence.systems if (name, evidence.metric) not in report.partial]
        )
        scores = {name: table[name][evidence.metric].score for name in among.systems}
        clusters = among.clusters(scores, lower=table.scale(evidence.metric).better == "low")
    return {
        "about": evidence.about,
        "untested": evidence.untested,
        "level": evidence.level,
        "p": spread(evidence.p),
        "wins": spread(evidence.wins.astype(float)),
        "clusters": [clusters.get(system) for system in table.systems],
    }


def _finite(value: float) -> float | None:
    return float(value) if np.isfinite(value) else None


def _section(section: Section, number: int, systems: Mapping[str, str]) -> dict[str, Any]:
    return {
        "id": f"section-{number}",
        "title": legible(section.title),
        "text": [legible(text) for text in section.text],
        "signatures": [legible(text) for text in section.signatures],
        "grids": [_grid(grid, systems) for grid in section.grids],
        "lead": section.lead,
    }


def _grid(grid: Grid, systems: Mapping[str, str]) -> dict[str, Any]:
    def shown(text: str) -> str:
        return systems.get(text) or legible(text)

    return {
        "columns": list(map(shown, grid.columns)),
        "names": grid.names,
        "rows": [
            [{"text": shown(c.text), "mark": c.mark, "under": c.under, "best": c.best} for c in r]
            for r in grid.rows
        ],
    }
