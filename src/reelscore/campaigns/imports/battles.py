"""Read battles: tables and JSON of arenas, answers of the judge, campaigns, scores of a metric.

Rows of arenas are told by their fields: those of Chatbot Arena (``model_a``, ``model_b``,
``winner``), of CapArena (``source1``, ``source2``, ``winner`` or ``judge``, ``caption1``,
``ref_model``) and of this project's exports (``system``, ``against``, ``score``).
"""

from __future__ import annotations

import csv
import io
import os
from collections.abc import Iterator, Mapping, Sequence
from itertools import combinations
from typing import Any

import msgspec
import numpy as np

from reelscore.campaigns.evaluate.battles import Battles
from reelscore.campaigns.imports.plain_tables import delimiter
from reelscore.data.captions.inputs import system_name
from reelscore.data.checks import Problems, counted
from reelscore.data.formats.delimited import header_cells
from reelscore.data.json_documents import json_kind, whole_document
from reelscore.data.reading import ITEM_FIELDS
from reelscore.data.source import Source
from reelscore.data.spreadsheet import unquoted
from reelscore.data.tables.table import ScoreTable
from reelscore.data.tables.table_files import is_score_table, read_table
from reelscore.errors import DataError

PathLike = str | os.PathLike[str]
_FIELDS = {
    "first": ("source1", "model_a", "system_a", "first", "system"),
    "second": ("source2", "model_b", "system_b", "second", "against"),
    "item": ("img", "question_id", *ITEM_FIELDS),
    "verdict": ("winner", "winner_gpt", "verdict", "judge", "score"),
    "caption": ("caption1", "caption_a", "response_a"),
    "other caption": ("caption2", "caption_b", "response_b"),
    "baseline": ("ref_model",),
    "kind": ("kind",),
}
_FIRST = "model_a, source1, system_a, first, a, 1, caption 1, caption 1 is better"
_SECOND = "model_b, source2, system_b, second, b, 2, caption 2, caption 2 is better"
_TIE = "tie, tie (bothbad), both_bad, bothbad, equal, draw, neither"
_VERDICTS = {
    word: points
    for words, points in ((_FIRST, 1.0), (_SECOND, 0.0), (_TIE, 0.5))
    for word in words.split(", ")
}
_Rows = Sequence[Mapping[str, Any]]


def read_battles(
    path: PathLike, *, verdict: str | None = None, metric: str | None = None
) -> Battles:
    """Read the battles of a table with a header (.csv, .tsv), JSON, JSON lines, or a score table.

    `verdict` names the field that says who won, unless its name tells; `metric`, of a score table,
    the score that says who is better, instead of the judge's answers to pairs of captions.
    """
    with Source(path) as source:
        header = header_cells(source.head, delimiter(source.head))
        if is_score_table(source.path) and not set(_FIELDS["second"]).intersection(header):
            table = read_table(source.path)
            return _of_scores(table, metric) if metric else _of_judge(table, source.path)
        if metric is not None:
            raise DataError(f"{path}: --metric takes battles from score tables; this is none.")
        names, rows = _columns(source, verdict)
        return _of_rows(names, rows, source.path)


def _columns(
    source: Source, verdict: str | None
) -> tuple[dict[str, str], Iterator[tuple[int, list[Any]]]]:
    """Find the fields that count; return them by role, and their values by row."""
    if json_kind(source.head):
        records = _records(source)
        header = list(dict.fromkeys(name for record in records[:100] for name in record))
        known = _roles(header, source.path, verdict)
        numbered = enumerate(records, start=1)
        return known, ((k, [row.get(name) for name in known.values()]) for k, row in numbered)
    text = whole_document(source).decode("utf-8-sig")
    lines = csv.reader(io.StringIO(text, newline=""), delimiter=delimiter(source.head), strict=True)
    header = [cell.strip() for cell in next(lines)]
    known = _roles(header, source.path, verdict)
    places = [header.index(name) for name in known.values()]

    def rows() -> Iterator[tuple[int, list[Any]]]:
        try:
            for cells in lines:
                if cells and len(cells) != len(header):
                    raise csv.Error(f"{len(cells)} fields, and the header has {len(header)}")
                if cells:
                    yield lines.line_num, [unquoted(cells[place]) for place in places]
        except csv.Error as error:
            raise DataError(f"{source.path}:{lines.line_num}: malformed table: {error}.") from None

    return known, rows()


def _records(source: Source) -> _Rows:
    document = whole_document(source)
    try:
        if document.lstrip().startswith(b"["):
            return msgspec.json.decode(document, type=list[dict[str, Any]])
        lines = filter(bytes.strip, document.splitlines())
        return [msgspec.json.decode(line, type=dict[str, Any]) for line in lines]
    except msgspec.DecodeError as error:
        raise DataError(
            f"{source.path}: not battles ({error}); expected a JSON list of objects, or one a line."
        ) from None


def _roles(header: Sequence[str], path: str, verdict: str | None) -> dict[str, str]:
    """Find the field of each role."""
    if verdict is not None and verdict not in header:
        raise DataError(f"{path}: no field {verdict!r}; there are {', '.join(header[:20])}.")
    known = {
        role: next((name for name in names if name in header), "")
        for role, names in _FIELDS.items()
    }
    known["verdict"] = verdict or known["verdict"]
    for role in ("first", "second", "verdict"):
        if not known[role]:
            raise DataError(
                f"{path}: no battles: no field {', '.join(_FIELDS[role])}; there are "
                f"{', '.join(header[:20])}."
            )
    return {role: name for role, name in known.items() if name}


def _of_rows(names: Mapping[str, str], rows: Iterator[tuple[int, list[Any]]], path: str) -> Battles:
    problems, place = Problems(path), {role: k for k, role in enumerate(names)}
    columns: dict[str, list[Any]] = {role: [] for role in ("points", "words", *_FIELDS)}
    unanswered = 0
    for number, row in rows:
        first, second, said = (row[place[role]] for role in ("first", "second", "verdict"))
        if "kind" in place and row[place["kind"]] != "caption":
            continue
        if said is None or said == "":
            unanswered += 1
            continue
        points = _points(said, first, second, is_score=names["verdict"] == "score")
        if points is None or not first or not second or first == second:
            problems.add(
                f"{path}:{number}: {first!r} against {second!r}, and {names['verdict']} is "
                f"{str(said)[:60]!r}; expected two systems, and one of them, model_a, model_b or "
                "tie."
            )
            continue
        columns["points"].append(points)
        columns["first"].append(str(first))
        columns["second"].append(str(second))
        columns["item"].append(str(row[place["item"]]) if "item" in place else str(number))
        if "baseline" in place:
            columns["baseline"].append(str(row[place["baseline"]]))
        if "caption" in place and "other caption" in place:
            texts = (row[place["caption"]], row[place["other caption"]])
            columns["words"].append([len(str(text or "").split()) or np.nan for text in texts])
    problems.raise_if_any()
    notes = [] if "item" in place else [f"{path}: no field of items; each battle has its own."]
    if unanswered:
        told = counted(unanswered, "battle")
        notes.append(f"{path}: {told} without a verdict ({names['verdict']}) left out.")
    return Battles.of(
        columns["first"],
        columns["second"],
        columns["item"],
        columns["points"],
        words=columns["words"] or np.nan,
        baselines=columns["baseline"] or None,
        notes=notes,
    )


def _points(said: Any, first: Any, second: Any, *, is_score: bool) -> float | None:
    """Return what the first gets; a score is above 0 where the second is better."""
    if is_score:
        try:
            return (1 - float(np.sign(float(said)))) / 2
        except ValueError:
            return None
    if said in (first, second):
        return float(said == first)
    return _VERDICTS.get(str(said).strip().rstrip(".").lower())


def _of_judge(table: ScoreTable, path: str) -> Battles:
    """Take apart the judge's answers: each pair of captions was shown in both orders."""
    battles: list[tuple[str, str, str, float]] = []
    for system, row in table.results.items():
        for name, result in row.items():
            output, _, variant = name.partition("|")
            if output != "judge_first":
                continue
            parts = dict(part.partition(":")[::2] for part in result.signature.split("|"))
            if not parts.get("against"):
                raise DataError(
                    f"{path}: does not say whom {system!r} was compared with; write the table as "
                    ".json, which has the signatures."
                )
            other = system_name(parts["against"])
            share = row[f"judge|{variant}".rstrip("|")].items
            for item, bias in result.items.items():
                # The caption won `own` of the two; shown first it won `own + bias - 0.5`.
                own = share[item]
                battles.append((system, other, item, own + bias - 0.5))
                battles.append((other, system, item, 0.5 + bias - own))
    if not battles:
        raise DataError(
            f"{path}: no answers of the judge to pairs of captions (judge|prompt:preference); "
            f"name the score that decides: --metric {next(iter(table.metrics), 'NAME')}."
        )
    first, second, items, points = zip(*battles, strict=True)
    return Battles.of(first, second, items, np.clip(points, 0, 1))


def _of_scores(table: ScoreTable, metric: str) -> Battles:
    """Let the better score of two systems win, item by item."""
    name = table.one_named(metric)
    sign = table.scale(name).sign
    battles: list[tuple[str, str, str, float]] = []
    for one, other in combinations([s for s in table.systems if name in table[s]], 2):
        own, theirs = table[one][name].items, table[other][name].items
        for item in filter(theirs.index.position.__contains__, own):
            better = sign * float(np.sign(own[item] - theirs[item]))
            battles.append((one, other, item, (1 + better) / 2))
    return Battles.of(*(zip(*battles, strict=True) if battles else [[]] * 4), shown=False)
