"""The last step: scores of systems, from what the parts left.

Whole numbers add up exactly in any order. Fractions do not: they are put into the order of the
references first, and added by the tree that numpy adds by, so that the sum is the same to the last
bit as that of all captions in memory.
"""

from __future__ import annotations

from array import array
from collections.abc import Iterator, Mapping, Sequence

import numpy as np
from msgspec.structs import replace

from reelscore._version import __version__
from reelscore.data.captions.coverage import items_notes
from reelscore.data.captions.paired_captions import Paired, copies_warning
from reelscore.data.checks import counted
from reelscore.data.tables.table import (
    WITHOUT_ITEMS,
    Coverage,
    Draws,
    MetricResult,
    ScoreTable,
    system_notes,
)
from reelscore.errors import DataError, about_system
from reelscore.metrics.base import FloatArray
from reelscore.metrics.training_data import training_warning
from reelscore.scoring.prepared import files_part, span
from reelscore.scoring.shards.output import ReadRecord
from reelscore.scoring.shards.parts import PartSums, ScoreSettings, SystemRecord
from reelscore.stats.resampling import RESAMPLING
from reelscore.text.tokens import in_signature


def table_of_parts(
    read: ReadRecord, settings: ScoreSettings, parts: Sequence[PartSums]
) -> ScoreTable:
    """Put the parts together into a table of the systems' scores."""
    systems, fingerprint = read.systems, read.fingerprint
    spans = [part.record.references for part in parts if part.record.items]
    policies = settings.policies
    context = {
        "tok": in_signature(settings.tokenizer),
        "refs": span(min(low for low, _ in spans), max(high for _, high in spans)),
        "data": f"{(fingerprint ^ (fingerprint >> 32)) & 0xFFFFFFFF:08x}",
        "missing": policies.missing_done,
        "empty": policies.empty,
        "v": __version__,
    }
    results = {}
    notes = {}
    warnings: dict[str, None] = {}
    answers = all(own.metric.reads == "answers" for own in settings.columns)
    for number, system in enumerate(systems):
        records = [part.record.systems[number] for part in parts]
        items = sum(record.items for record in records)
        if not items:
            with about_system(system):
                raise DataError("Candidates and references have no item in common.")
        totals = _totals(number, settings, parts, records)
        row = {}
        for place, own in enumerate(settings.columns):
            metric = own.metric
            trained = next(
                (p.record.trained[place] for p in parts if place in p.record.trained), None
            )
            seen = {}
            if trained is not None:
                counts = _added(records, place)
                seen = {"trained": trained, "seen": counts.pop("")}
                warnings |= dict.fromkeys(
                    training_warning(
                        metric.name,
                        {g: n for g, n in counts.items() if n},
                        items,
                        metric.unseen_remedy,
                    )
                )
            signature = metric.signature(
                **files_part(metric, settings.tokenizer), **seen, **_in_order(context, items)
            )
            corpus = metric.scores(totals[place])
            for k, (name, output) in enumerate(zip(own.names, metric.outputs, strict=True)):
                coverage = Coverage(
                    sum(record.scored[name] for record in records),
                    sum(part.record.scored[name] for part in parts),
                )
                if name in own.wanted and coverage.scored:
                    row[name] = MetricResult(
                        name,
                        float(corpus[k]),
                        WITHOUT_ITEMS,
                        signature,
                        scale=metric.scale_of(output),
                        coverage=coverage if coverage.scored < coverage.total else None,
                    )
        results[system] = row
        notes[system] = [
            *_notes(system, records, read, settings),
            *_without_score(records, settings, items),
            *copies_warning(0 if answers else sum(record.copies for record in records), items),
        ]
    table = ScoreTable(results)
    different = items_notes(table, in_memory=False)
    return replace(table, notes=[*system_notes(notes), *different, *read.notes, *warnings])


def items_of_systems(read: ReadRecord, parts: Sequence[PartSums]) -> dict[str, int]:
    """Number the items that each system was scored on; the same items have the same number."""
    return {
        system: sum(part.record.systems[number].fingerprint for part in parts) % 2**64
        for number, system in enumerate(read.systems)
    }


def _in_order(context: dict[str, str], items: int) -> dict[str, object]:
    """The context of a signature, in the order of scoring in memory."""
    return {"tok": context["tok"], "items": items, **context}


def _added(records: Sequence[SystemRecord], place: int) -> dict[str, int]:
    together: dict[str, int] = {}
    for record in records:
        for group, count in record.seen.get(place, {}).items():
            together[group] = together.get(group, 0) + count
    return together


def _notes(
    system: str, records: Sequence[SystemRecord], read: ReadRecord, settings: ScoreSettings
) -> list[str]:
    """Return what the policies did, in the words of captions in memory."""
    together = Paired(
        items=[],
        candidates=[],
        references=[],
        reference_offsets=array("q", [0]),
        missing_candidates=sum(record.missing for record in records),
        extra_candidates=sum(record.extra for record in records),
        empty_candidates=read.empty.get(system, 0),
        empty_references=read.empty.get("", 0),
        missing=settings.policies.missing_done,
    )
    return together.notes()


def _without_score(
    records: Sequence[SystemRecord], settings: ScoreSettings, items: int
) -> Iterator[str]:
    """Yield how many captions a metric left out, such as a judge without an answer."""
    for own in settings.columns:
        missing = items - sum(record.scored[own.main] for record in records)
        if missing:
            yield f"{counted(missing, 'caption')} without {own.main}, left out of it."


def _totals(
    number: int, settings: ScoreSettings, parts: Sequence[PartSums], records: Sequence[SystemRecord]
) -> list[FloatArray]:
    """The summed statistics of one system, by metric."""
    fractions = [own for own in settings.columns if not own.metric.counts]
    rows = [np.flatnonzero(part.column("system") == number) for part in parts] if fractions else []
    places = [part.column("place")[own] for part, own in zip(parts, rows, strict=False)]
    order = np.argsort(np.concatenate(places), kind="stable") if places else None
    totals = []
    for place, own in enumerate(settings.columns):
        if own.metric.counts:
            totals.append(np.sum([record.totals[place] for record in records], axis=0))
            continue
        names = [name for name in parts[0].names if name.startswith(f"{place}.")]
        sums = []
        for name in names:
            values = [part.column(name)[mine] for part, mine in zip(parts, rows, strict=True)]
            sums.append(np.concatenate(values)[order].sum())
        totals.append(np.array(sums))
    return totals


def draws_of_parts(settings: ScoreSettings, parts: Sequence[PartSums]) -> dict[str, FloatArray]:
    """Add up the draws of all parts, by metric: systems × resamples × k; exact in any order."""
    if not settings.resamples:
        return {}
    names = [f"{place}" for place in range(len(settings.columns))]
    return {name: np.sum([part.draws(name) for part in parts], axis=0) for name in names}


def with_draws(
    table: ScoreTable,
    settings: ScoreSettings,
    draws: Mapping[str, FloatArray],
    items: Mapping[str, int],
) -> ScoreTable:
    """Put draws beside the results they belong to, for intervals and tests."""
    if not draws:
        return table
    made = f"resamples:{settings.resamples}|seed:{settings.seed}|resampling:{RESAMPLING}"
    results = {}
    for number, (system, row) in enumerate(table.results.items()):
        own: dict[str, MetricResult] = {}
        for place, columns in enumerate(settings.columns):
            drawn = draws[f"{place}"][number]
            sums = Draws(columns.names, drawn, columns.metric.scores, made, items[system])
            own |= {name: replace(row[name], draws=sums) for name in columns.wanted if name in row}
        results[system] = own
    return replace(table, results=results)
