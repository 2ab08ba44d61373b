"""The items of a public split, one by one: a report of the entries on its board.

Nothing is shown that the viewer may not see: without item scores there is no report, and captions
and references are left out of it where they are not published.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from reelscore.challenge.definition import Board
from reelscore.challenge.definition_checks import score_scales
from reelscore.challenge.store.results import Record
from reelscore.challenge.views import View
from reelscore.data.table import ItemIndex, ItemScores, MetricResult, ScoreTable
from reelscore.report.html.model import Report


def explorer(
    view: View, phase: str, split: str, submissions: Sequence[str] | None = None
) -> Report | None:
    """Make a report of what the viewer may see of the items of a split.

    Args:
        view: The challenge, as somebody sees it.
        phase: The phase.
        split: One of its splits, of captions.
        submissions: The public ids of the submissions to show; those on the split's board.

    Returns:
        The report, or ``None`` where the viewer may see no item scores.
    """
    if view.definition.split(split).kind != "captions":
        return None
    items = view.items(phase, split)
    wanted = _wanted(view, phase, split) if submissions is None else list(submissions)
    records = [record for record in view.entries_of(phase) if record.id in wanted]
    records.sort(key=lambda record: wanted.index(record.id))  # as on the board, best first
    scores = {record.id: view.item_scores(phase, split, record) for record in records}
    shown = [record for record in records if scores[record.id]]
    if items is None or not shown:
        return None
    names = _names(shown)
    captions = {names[r.id]: c for r in shown if (c := view.captions(phase, split, r)) is not None}
    return Report(
        _table(view, phase, split, shown, scores, names, items),
        title=f"{view.name}: {split}",
        captions=captions,
        references=view.references(phase, split) or {},
        video=view.definition.split(split).videos,
        primary=next((b.primary for b in _boards(view, phase, split)), ""),
        notes=_notes(captions),
    )


def _boards(view: View, phase: str, split: str) -> list[Board]:
    return [
        board for board in view.definition.boards if (board.phase, board.split) == (phase, split)
    ]


def _wanted(view: View, phase: str, split: str) -> list[str]:
    """Give the entries on the first board of a split, in its order."""
    boards = _boards(view, phase, split)
    board = view.board(boards[0].id) if boards else None
    return [row.entry.id for row in board.all_rows] if board else []


def _names(records: Sequence[Record]) -> dict[str, str]:
    """What the report calls each submission: its team, with a number where there are several."""
    teams = [record.team_name for record in records]
    return {
        r.id: r.team_name if teams.count(r.team_name) == 1 else f"{r.team_name} {r.number}"
        for r in records
    }


def _table(
    view: View,
    phase: str,
    split: str,
    records: Sequence[Record],
    scores: Any,
    names: dict[str, str],
    items: Sequence[str],
) -> ScoreTable:
    scales = score_scales(view.definition.scoring, "captions")
    index = ItemIndex(items)
    board = {
        row.entry.id: row.entry.scores
        for id in view.boards()
        if (made := view.board(id)) is not None
        for row in made.all_rows
    }
    results: dict[str, dict[str, MetricResult]] = {}
    for record in records:
        whole = view.scores(phase, split, record) or board.get(record.id, {})
        row = results.setdefault(names[record.id], {})
        for name, values in scores[record.id].items():
            if name in whole and name in scales:
                score = whole[name]
                interval = None
                if score.low is not None and score.high is not None:
                    interval = (score.low, score.high)
                own = ItemScores(index, values)
                row[name] = MetricResult(
                    name, score.value, own, score.signature, interval, scales[name]
                )
    return ScoreTable(results)


def _notes(captions: dict[str, Any]) -> list[str]:
    return [] if captions else ["The organisers have not published the captions."]
