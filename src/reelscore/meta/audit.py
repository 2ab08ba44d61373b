"""Alignment audit: are the judgments those of these captions, and the references of these videos?

Captions, references and judgments often come in files that agree by line number alone, and a
table of correlations looks much the same when they are a line apart: lower, not absurd. The audit
asks three questions.

*Line sets*: do captions, references and judgments speak of the same items?
*References*: are captions more like the references of their own item than like those of others,
and of which shift most? That needs no judgments.
*Judgments*: with which shift do people's scores agree best with a quick metric of the captions,
within each system?

`audit_tables` needs score tables only, and answers the last question for the metrics in them, also
for scores that a tool returned in its own order; `quick_audit` gives its verdict.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np

from reelscore._progress import Progress, Steps
from reelscore.data.captions.caption_files import Candidates, References
from reelscore.data.captions.inputs import read_inputs
from reelscore.data.captions.python_captions import CaptionsLike
from reelscore.data.checks import first_few
from reelscore.data.tables.table import ScoreTable
from reelscore.data.tables.table_forms import TableLike, table_of
from reelscore.errors import DataError, UnknownNameError
from reelscore.meta.shifts import (
    WINDOW,
    FloatArray,
    Row,
    Scan,
    ShiftVerdict,
    better_pairing,
    decide,
    scan_shifts,
)
from reelscore.metrics.base import Metric, check_tokens
from reelscore.metrics.registry import parse_signature
from reelscore.text.tokens import Tokenizer, thread_count, tokenize_packed
from reelscore.text.words import CaptionBatch, Captions, Pairing, pack

METRIC = "cider|n:1"  # words, weighted by how telling they are: quick, and needs no language data
GRID = 3  # shifts either way of systems and references against one another
_DRAWS = 8  # random pairings of captions and references that show what chance gives
_WIDEST = 60  # shifts of the references looked at where the files differ in length


@dataclass(frozen=True)
class Audit:
    """What the audit found.

    Attributes:
        notes: What is odd about the sets of items.
        references: Captions against references, with the scan it rests on; ``None`` where there
            were score tables only.
        judgments: Judgments against captions, with the scan; ``None`` without judgments.
        grid: Correlations by shift of the systems (rows) and of the references (columns), each
            from -3 to 3; empty without judgments.
    """

    notes: Sequence[str]
    references: tuple[ShiftVerdict, Scan] | None
    judgments: tuple[ShiftVerdict, Scan] | None
    grid: FloatArray

    @property
    def verdict(self) -> ShiftVerdict:
        """The verdict that matters: misaligned references come first."""
        verdicts = [part[0] for part in (self.references, self.judgments) if part is not None]
        return next((verdict for verdict in verdicts if verdict.misaligned), verdicts[-1])

    def to_dict(self) -> dict[str, Any]:
        """Return everything as plain data."""

        def part(audited: tuple[ShiftVerdict, Scan] | None) -> dict[str, Any] | None:
            if audited is None:
                return None
            verdict, scan = audited
            return {
                **verdict.to_dict(),
                "text": str(verdict),
                "shifts": scan.shifts.tolist(),
                "strengths": scan.strengths.tolist(),
                "z_by_shift": scan.z().tolist(),
            }

        return {
            "verdict": str(self.verdict),
            "misaligned": self.verdict.misaligned,
            "notes": list(self.notes),
            "references": part(self.references),
            "judgments": part(self.judgments),
            "grid": self.grid.tolist(),
        }


def quick_audit(metrics: TableLike, human: TableLike, *, column: str | None = None) -> ShiftVerdict:
    """Ask whether a metric table and a human table speak of the same items in the same order."""
    try:
        return audit_tables(metrics, human, column=column).verdict
    except DataError:  # a warning is wanted, and tables without common items give none
        return ShiftVerdict("cannot tell")


def audit_tables(
    metrics: TableLike,
    human: TableLike,
    *,
    column: str | None = None,
    rows: Sequence[Sequence[Row]] = (),
) -> Audit:
    """Audit two score tables, as `quick_audit` does, and keep what the verdict rests on.

    Items that end in a number are taken in the order of the numbers, others as the metric table
    has them. Of some metrics less is better; that is allowed for. Where the tables do not fit as
    they stand, scores are also tried in the orders that tools return them in: ids of items, or
    numbers of rows, sorted as strings or as numbers.

    Args:
        metrics: Scores of the captions, by any number of metrics.
        human: People's scores of the same captions.
        column: Which of the human table's scores to use; the first if not given.
        rows: System and item of each row, in orders in which captions may have been given to a
            tool, such as that of a file; the orders of both tables are tried in any case.

    >>> from reelscore import examples, score_systems
    >>> table = score_systems(*examples.clips(), "meteor")
    >>> people = ScoreTable.read(examples.path("clips/judgments.csv"), repeats="mean")
    >>> str(audit_tables(table, people).verdict)  # 15 clips are few
    'cannot tell (z = 1.7)'
    """
    metrics, human = table_of(metrics), table_of(human, name="human", repeats="mean")
    name = _column(human, column)
    systems = [s for s in metrics.systems if s in human.systems and name in human[s]]
    scored = (item for s in systems for result in metrics[s].values() for item in result.items)
    items = _in_order(list(dict.fromkeys(scored)))
    if not items:
        raise DataError("The human table and the metric table have no system or no item in common.")
    people = human.matrix(name, systems, items)
    tables = [metrics.matrix(metric, systems, items) for metric in metrics.metrics]
    scans = [
        (scan_shifts(people, signed), signed) for table in tables for signed in (table, -table)
    ]
    scan, scores = max(scans, key=lambda pair: float(pair[0].z().max()))
    scan = replace(scan, tests=len(scans) * scan.tests)
    verdict = decide(scan, items, _each_system(people, scores, systems))
    if verdict.kind != "aligned":
        row_orders = [*rows, _rows(metrics), _rows(human)]
        place = {(s, item): (i, k) for i, s in enumerate(systems) for k, item in enumerate(items)}
        fits = [
            better_pairing(people, signed, replace(given, tests=scan.tests), row_orders, place.get)
            for given, signed in scans
        ]
        better = max(
            (fit for fit in fits if fit), key=lambda fit: float(fit[1].z().max()), default=None
        )
        if better is not None and better[1].z().max() > scan.z().max():
            order, scan = better
            verdict = replace(decide(scan, items), kind="reordered", order=order)
    judged = {item for s in systems for item in human[s][name].items}
    absent = sorted(judged.difference(items))
    notes = [f"{len(absent):,} judged items have no score ({first_few(absent)})."] if absent else []
    return Audit(notes, None, (verdict, scan), np.empty((0, 0)))


def audit_captions(
    candidates: Mapping[str, CaptionsLike] | CaptionsLike,
    references: CaptionsLike,
    human: TableLike | None = None,
    *,
    column: str | None = None,
    metric: str | Metric = METRIC,
    tokenizer: Tokenizer = "ptb",
    seed: int = 12345,
    threads: int | None = None,
    progress: Progress | None = None,
) -> Audit:
    """Audit captions, references and judgments.

    Args:
        candidates: Captions by system and item, in any form of `reelscore.score_systems`.
        references: Reference captions by item, likewise; their order is the order of the items.
        human: People's scores of the captions, in any form of `reelscore.meta.evaluate_metrics`.
        column: Which of the human table's scores to use; the first if not given.
        metric: The metric to compare captions and references with.
        tokenizer: As in `reelscore.score`.
        seed: Random seed of the pairings.
        threads: How many threads to use.
        progress: Called with how many comparisons are done, of how many.

    Raises:
        DataError: If captions and references have no item in common.

    >>> words = np.random.default_rng(0).permutation([f"w{k}" for k in range(400)]).tolist()
    >>> references = {str(k): [" ".join(words[k : k + 4])] for k in range(300)}
    >>> late = {"me": {str(k + 2): " ".join(words[k : k + 3]) for k in range(298)}}
    >>> audit_captions(late, references).verdict.shift
    -2
    """
    inputs = read_inputs(candidates, references)
    assert inputs.references is not None
    systems, truth = inputs.systems, inputs.references
    people = None if human is None else table_of(human, name="human", repeats="mean")
    texts = _TokenizedTexts(systems, truth, metric, tokenizer, thread_count(threads))
    offsets = _offsets(systems, truth)
    rotations = np.random.default_rng(seed).integers(
        WINDOW, max(WINDOW + 1, len(texts.items) - WINDOW), size=_DRAWS
    )
    steps = Steps(progress, len(offsets) + _DRAWS)

    def compared(shift: int) -> FloatArray:
        similarities = texts.similarities(shift)
        steps()
        return similarities

    similar = {offset: compared(offset) for offset in offsets}
    chance = [compared(rotation) for rotation in rotations.tolist()]
    notes = _notes(systems, truth, people)
    scans = {
        name: _text_scan({d: each[[k]] for d, each in similar.items()}, [c[[k]] for c in chance])
        for k, name in enumerate(texts.systems)
    }
    scan = _text_scan(similar, chance)
    verdict = decide(scan, texts.items, scans)
    if people is None:
        return Audit(notes, (verdict, scan), None, np.empty((0, 0)))
    judgments = people.matrix(_column(people, column), texts.systems, texts.items)
    shift = verdict.shift if verdict.kind == "shifted" else 0
    scan_of_people = scan_shifts(judgments, similar[shift])
    judged = decide(
        scan_of_people, texts.items, _each_system(judgments, similar[shift], texts.systems)
    )
    return Audit(notes, (verdict, scan), (judged, scan_of_people), _grid(judgments, similar))


class _TokenizedTexts:
    """Captions and references, tokenized once, to be compared at any shift."""

    def __init__(
        self,
        candidates: Mapping[str, Candidates],
        references: References,
        metric: str | Metric,
        tokenizer: Tokenizer,
        threads: int,
    ) -> None:
        self.systems = list(candidates)
        self.items = list(references)
        self._metric = parse_signature(metric) if isinstance(metric, str) else metric
        check_tokens([self._metric], tokenizer)
        self._threads = threads
        position = {item: k for k, item in enumerate(self.items)}
        known = [
            (s, position[item], caption)
            for s, captions in enumerate(candidates.values())
            for item, caption in captions.items()
            if item in position
        ]
        if not known:
            raise DataError("Candidates and references have no item in common.")
        self._rows = np.array([s for s, _, _ in known], dtype=np.int64)
        self._places = np.array([p for _, p, _ in known], dtype=np.int64)
        counts = [len(texts) for texts in references.values()]
        self._reference_offsets = np.concatenate([[0], np.cumsum(counts)]).astype(np.int64)
        flat = [text for texts in references.values() for text in texts]
        self._references = Captions(tokenize_packed(pack(flat), tokenizer, threads=threads))
        self._candidates = Captions(
            tokenize_packed(pack([text for _, _, text in known]), tokenizer, threads=threads),
            self._references.vocabulary,
        )

    @cached_property
    def _prepared(self) -> Any:
        return self._metric.prepare(self._references, self._reference_offsets)

    def similarities(self, shift: int) -> FloatArray:
        """Scores of captions against the references ``shift`` items on: systems × items."""
        pairing = Pairing((self._places + shift) % len(self.items), self._reference_offsets)
        batch = CaptionBatch(self._candidates, self._references, pairing, self._threads)
        statistics = np.asarray(self._metric.statistics(batch, self._prepared))
        matrix = np.full((len(self.systems), len(self.items)), np.nan)
        matrix[self._rows, self._places] = self._metric.scores(statistics)[:, -1]
        return matrix


def _text_scan(similar: Mapping[int, FloatArray], chance: Sequence[FloatArray]) -> Scan:
    """Scan shifts of the references: how much more alike texts are than by chance."""
    usual = np.mean(chance, axis=0)
    known = np.isfinite(usual)
    parts = np.stack([np.where(known, each - usual, 0.0).sum(axis=0) for each in similar.values()])
    noise = [np.where(known, each - usual, 0.0).sum(axis=0) for each in chance]
    # All shifts count as chance, though one may not be: texts may share no word otherwise.
    variance = np.square([*noise, *parts]).sum() / (len(noise) + len(parts) - 1)
    weights = known.any(axis=0) / max(1, known.any(axis=0).sum())
    return Scan(
        shifts=np.array(list(similar)),
        parts=parts,
        scale=float(np.sqrt(variance)),
        weights=weights,
        strengths=np.array([np.nanmean(each) for each in similar.values()]),
        tests=len(similar),
    )


def _offsets(candidates: Mapping[str, Candidates], references: References) -> list[int]:
    """Shifts of the references to try: further where files differ in length."""
    gaps = [abs(len(references) - len(captions)) for captions in candidates.values()]
    width = WINDOW + max([gap for gap in gaps if gap <= _WIDEST - WINDOW], default=0)
    width = min(width, (len(references) - 1) // 2)
    return list(range(-width, width + 1))


def _grid(people: FloatArray, similar: Mapping[int, FloatArray]) -> FloatArray:
    """Correlate judgments with captions and references shifted separately."""
    steps = range(-GRID, GRID + 1)
    if people.shape[1] <= 4 * GRID or not all(d in similar for d in range(-2 * GRID, 2 * GRID + 1)):
        return np.empty((0, 0))
    scans = {d: scan_shifts(people, similar[d], GRID) for d in range(-2 * GRID, 2 * GRID + 1)}
    return np.array(
        [[scans[two - one].strengths[scans[two - one].at(one)] for two in steps] for one in steps]
    )


def _notes(
    candidates: Mapping[str, Candidates], references: References, human: ScoreTable | None
) -> list[str]:
    """Return where the sets of items differ."""
    notes = []
    for name, captions in candidates.items():
        absent = [item for item in references if item not in captions]
        extra = [item for item in captions if item not in references]
        if absent or extra:
            notes.append(
                f"{name} has {len(captions):,} captions, the references {len(references):,} items; "
                f"{len(absent):,} have no caption, {len(extra):,} no reference "
                f"({first_few(absent or extra)})."
            )
    judged = {} if human is None else human.results
    for name, row in judged.items():
        if name not in candidates:
            notes.append(f"{name} is judged, but there are no captions of it.")
            continue
        results = row.values()
        unknown = sorted({i for r in results for i in r.items if i not in candidates[name]})
        if unknown:
            notes.append(
                f"{len(unknown):,} judged items of {name} have no caption ({first_few(unknown)})."
            )
    return notes


def _column(human: ScoreTable, column: str | None) -> str:
    if column is not None and column not in human.metrics:
        raise UnknownNameError.of("human score", column, human.metrics)
    return column or human.metrics[0]


def _each_system(one: FloatArray, two: FloatArray, systems: Sequence[str]) -> dict[str, Scan]:
    if len(systems) < 2:
        return {}
    return {name: scan_shifts(one[[k]], two[[k]]) for k, name in enumerate(systems)}


def _rows(table: ScoreTable) -> list[Row]:
    """Return the rows of a table, system by system."""
    return [
        (system, item)
        for system, row in table.results.items()
        for item in dict.fromkeys(item for result in row.values() for item in result.items)
    ]


def _in_order(items: list[str]) -> list[str]:
    """Put items that end in numbers in the order of these; others stay as they come."""
    matches = [re.fullmatch(r"(.*?)([0-9]+)", item) for item in items]
    ends = [(match[1], int(match[2])) for match in matches if match is not None]
    if len(ends) < len(items):
        return items
    return [item for _, item in sorted(zip(ends, items, strict=True))]
