"""The items of a public split, one by one: a report of the entries on its board.

Nothing is shown that the viewer may not see: without item scores there is no report, and captions
and references are left out of it where they are not published. Stories are shown on timelines, with
what was matched with what, where both they and their references may be seen.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from msgspec.structs import replace

from reelscore.challenges.store.results import SubmissionRecord
from reelscore.challenges.uploads.splits import story_of
from reelscore.challenges.views import View
from reelscore.data.stories import Stories
from reelscore.data.tables.table import ItemIndex, ItemScores, MetricResult, ScoreTable
from reelscore.report.html.contents import Report
from reelscore.stats.resampling import FloatArray
from reelscore.stories.story_scorer import StoryScorer
from reelscore.stories.timelines import Timelines

_TIMELINES = 10  # entries whose stories are matched for a page


def explorer(
    view: View, phase: str, split: str, submissions: Sequence[str] | None = None
) -> Report | None:
    """Make a report of what the viewer may see of the items of a split."""
    items = view.items(phase, split)
    wanted = _wanted(view, phase, split) if submissions is None else list(submissions)
    records = [record for record in view.entries_of(phase) if record.id in wanted]
    records.sort(key=lambda record: wanted.index(record.id))  # as on the board, best first
    scores = {r.id: own for r in records if (own := view.item_scores(phase, split, r))}
    shown = [record for record in records if record.id in scores]
    if items is None or not shown:
        return None
    names = _names(shown)
    captions = {names[r.id]: c for r in shown if (c := view.captions(phase, split, r)) is not None}
    return Report(
        _table(view, phase, split, shown, scores, names, items),
        title=f"{view.name}: {split}",
        **_texts(view, phase, split, captions),
        video=view.definition.split(split).videos,
        primary=next((b.primary for b in view.definition.boards_of(phase, split)), ""),
        notes=_notes(view, split, captions),
    )


def _texts(
    view: View, phase: str, split: str, captions: Mapping[str, Mapping[str, Any]]
) -> dict[str, Any]:
    """Return the fields of a report that hold captions and references."""
    if view.definition.split(split).kind == "captions":
        return {"captions": captions, "references": view.references(phase, split) or {}}
    annotators = view.story_references(phase, split)
    if annotators is None or not captions:
        return {}
    protocol = view.definition.scoring.story_protocol
    stories = {
        name: Stories({v: story_of({"captions": rows}) for v, rows in own.items()})
        for name, own in list(captions.items())[:_TIMELINES]
    }
    score = (protocol.soda_scores or ("soda_c",))[-1]
    return {"timelines": Timelines(stories, StoryScorer(annotators, protocol, 1), score)}


def _wanted(view: View, phase: str, split: str) -> list[str]:
    """Return the entries on the first board of a split, in its order."""
    boards = view.definition.boards_of(phase, split)
    board = view.board(boards[0].id) if boards else None
    return [row.id for row in board.all_rows] if board else []


def _names(records: Sequence[SubmissionRecord]) -> dict[str, str]:
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
    records: Sequence[SubmissionRecord],
    scores: Mapping[str, Mapping[str, FloatArray]],
    names: dict[str, str],
    items: Sequence[str],
) -> ScoreTable:
    scales = view.definition.scoring.scales(view.definition.split(split).kind)
    index = ItemIndex(items)
    boards = [board for id in view.boards() if (board := view.board(id)) is not None]
    shown = {id: own for board in boards for id, own in board.table.results.items()}
    results: dict[str, dict[str, MetricResult]] = {}
    for record in records:
        whole = view.scores(phase, split, record) or shown.get(record.id, {})
        row = results.setdefault(names[record.id], {})
        for name, values in scores[record.id].items():
            if name in whole and name in scales:
                own = ItemScores(index, values)
                row[name] = replace(whole[name], items=own, scale=scales[name])
    return ScoreTable(results)


def _notes(view: View, split: str, captions: Mapping[str, object]) -> list[str]:
    if not captions:
        return ["The organisers have not published the captions."]
    if view.definition.split(split).kind == "stories" and len(captions) > _TIMELINES:
        return [f"Timelines show the stories of the first {_TIMELINES} entries."]
    return []
