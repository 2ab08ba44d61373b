"""The usual report of a score table: intervals, tests of all pairs, people beside metrics."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

from reelscore.data.table import MetricResult, ScoreTable
from reelscore.errors import DataError, UnknownNameError
from reelscore.report.html.model import Report
from reelscore.significance.evidence import untested_notes
from reelscore.significance.pair_tests import with_evidence


def report_of(
    table: ScoreTable,
    people: ScoreTable | None = None,
    *,
    metrics: Sequence[str] | None = None,
    resamples: int = 1000,
    seed: int = 12345,
    **fields: Any,
) -> Report:
    """Make the report of a table: intervals and tests are added where they can be.

    Args:
        table: The metrics' scores.
        people: People's scores of the same systems, to stand beside them.
        metrics: Which of the metrics' scores to show, and in what order; all.
        resamples: Resamples of the bootstrap.
        seed: Seed of the bootstrap.
        fields: Further fields of `Report`. With ``evidence`` given, no tests are made.

    >>> from reelscore import score_systems
    >>> from reelscore.examples import clips, path
    >>> people = ScoreTable.read(path("clips/judgments.csv"), repeats="mean")
    >>> report = report_of(score_systems(*clips(), "meteor"), people)
    >>> report.table.metrics, report.human, [each.metric for each in report.evidence]
    (['meteor', 'judgments'], ['judgments'], ['meteor', 'judgments'])
    """
    tested, evidence = with_evidence(table, resamples=resamples, seed=seed)
    if metrics is not None:
        tested = _chosen(tested, metrics)
        evidence = [each for each in evidence if each.metric in metrics]
    untested = fields.get("evidence", evidence)
    notes = untested_notes(untested) if len(table.systems) > 1 else _without_intervals(tested)
    fields["notes"] = [*fields.get("notes", ()), *notes]
    fields.setdefault("captions", table.sources.captions)
    fields.setdefault("references", table.sources.references)
    human: list[str] = []
    if people is not None:
        common = {name: row for name, row in people.results.items() if name in table.results}
        judged, more = with_evidence(
            replace(people, results=common), human=people.metrics, resamples=resamples, seed=seed
        )
        tested, human = with_people(tested, judged if common else people)
        evidence = [*fields.pop("evidence", evidence), *more]
    return Report(tested, **{"evidence": evidence, "human": human, **fields})


def _chosen(table: ScoreTable, metrics: Sequence[str]) -> ScoreTable:
    for name in metrics:
        if name not in table.metrics:
            raise UnknownNameError.of("score", name, table.metrics)
    rows = {
        system: {name: row[name] for name in metrics if name in row}
        for system, row in table.results.items()
    }
    return replace(table, results=rows)


def _without_intervals(table: ScoreTable) -> list[str]:
    """Name the scores of a stored table that cannot be resampled."""
    names = dict.fromkeys(
        name
        for row in table.results.values()
        for name, result in row.items()
        if result.interval is None and len(result.items) > 1
    )
    if not names:
        return []
    return [
        f"{', '.join(names)}: no intervals, since these scores are no means over items that could "
        "be drawn anew. Commands that score captions have what it takes."
    ]


def with_people(table: ScoreTable, people: ScoreTable) -> tuple[ScoreTable, list[str]]:
    """Put people's scores beside those of metrics.

    Args:
        table: The metrics' scores.
        people: People's scores; systems that no metric scored are left out.

    Returns:
        One table, and which of its scores are people's.

    Raises:
        DataError: The tables have no system in common, or a score of the same name.

    >>> from reelscore import score_systems
    >>> from reelscore.examples import clips, path
    >>> people = ScoreTable.read(path("clips/judgments.csv"), repeats="mean")
    >>> table, human = with_people(score_systems(*clips(), "meteor"), people)
    >>> table.metrics, human
    (['meteor', 'judgments'], ['judgments'])
    """
    common = [name for name in table.systems if name in people.results]
    if not common:
        raise DataError(
            f"People judged none of the systems {', '.join(table.systems)}; they judged "
            f"{', '.join(people.systems)}. Systems are compared by name, letter by letter."
        )
    if twice := [name for name in people.metrics if name in table.metrics]:
        raise DataError(f"Both people and metrics have a score {twice[0]!r}; rename one.")
    rows: dict[str, Mapping[str, MetricResult]] = {
        name: {**row, **people.results.get(name, {})} for name, row in table.results.items()
    }
    names = dict.fromkeys(metric for name in common for metric in people[name])
    return replace(table, results=rows, notes=[*table.notes, *people.notes]), list(names)
