"""The report of one submission: its scores, its words, and the items of public splits."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Annotated, Any

from fastapi import Path
from fastapi.responses import Response

from reelscore import score
from reelscore.challenges.boards.boards import BoardColumn
from reelscore.challenges.definition.records import Split
from reelscore.challenges.pages.boards import items_page
from reelscore.challenges.pages.context import AccountPage, ChallengePage, Router, TeamPage, missing
from reelscore.challenges.pages.submissions import SubmissionId, known_columns, own_record
from reelscore.challenges.pages.wing_pages import PATH
from reelscore.challenges.views import SubmissionRecord
from reelscore.data.tables.table import MetricResult
from reelscore.metrics.diversity import Diversity

router = Router(prefix=PATH + "/{challenge}/submissions/{submission}")


@dataclass(frozen=True)
class ScoreLine:
    """A score in a report; without an interval where there is none."""

    label: str
    value: str
    interval: str = ""


@dataclass(frozen=True)
class SplitReport:
    """What the viewer may see of a submission on one split."""

    split: Split  # the split
    scores: list[ScoreLine] | None  # its scores; ``None`` while they may not be seen
    words: list[ScoreLine]  # what its captions are like, by themselves
    signatures: list[str]  # how the scores were made
    has_items: bool  # whether the items can be looked at one by one


@router.get("")
def show_submission(page: AccountPage, id: SubmissionId) -> Response:
    """Show one submission to its team and to organisers."""
    phase, record = page.submission(id)
    if not page.view.sees_state(phase, record):
        raise missing()
    described = page.view.definition.phase(phase)
    return page.render(
        "submission.html",
        record=record,
        phase=described,
        is_own=page.team is not None and page.team.id == record.team,
        splits=[_split_report(page, phase, split, record) for split in described.splits],
    )


def _split_report(
    page: ChallengePage, phase: str, id: str, record: SubmissionRecord
) -> SplitReport:
    view = page.view
    scores = view.scores(phase, id, record) if record.state == "scored" else None
    lines = None if scores is None else _lines(page, id, scores)
    return SplitReport(
        view.definition.split(id),
        lines,
        _words(view.captions(phase, id, record) or {}),
        list(dict.fromkeys(each.signature for each in (scores or {}).values() if each.signature)),
        record.state == "scored" and bool(view.item_scores(phase, id, record)),
    )


def _lines(page: ChallengePage, split: str, scores: Mapping[str, MetricResult]) -> list[ScoreLine]:
    """Write scores as boards do, those that are on one first."""
    columns = known_columns(page, split)
    names = [
        *(name for name in columns if name in scores),
        *(n for n in scores if n not in columns),
    ]
    scales = page.view.definition.scoring.scales(page.view.definition.split(split).kind)
    lines = []
    for name in names:
        own, form = scores[name], columns.get(name, BoardColumn(name)).form
        interval = " to ".join(map(form.text, own.interval or ()))
        label = (scales[name].label if name in scales else "") or name
        lines.append(ScoreLine(label, form.text(own.score), interval))
    return lines


def _words(captions: Mapping[str, Any]) -> list[ScoreLine]:
    """Return what captions are like, whatever their references are.

    >>> [line.value for line in _words({"v1": "a man runs", "v2": "a man runs"})]
    ['2', '3.0', '3', '50.0 %']
    """
    texts = {
        f"{item} {number}": part[2] if isinstance(part, list) else part
        for item, parts in captions.items()
        for number, part in enumerate(parts if isinstance(parts, list) else [parts])
    }
    if not texts:
        return []
    own = score(texts, metrics=[Diversity()])
    return [
        ScoreLine("captions", f"{len(texts):,}"),
        ScoreLine("words in a caption", f"{own['length'].score:.1f}"),
        ScoreLine("different words", f"{own['vocabulary'].score:,.0f}"),
        ScoreLine("different captions, of all", f"{own['unique'].score:.1%}".replace("%", " %")),
    ]


@router.get("/report/{split}")
def show_items(
    page: TeamPage, id: SubmissionId, split: Annotated[str, Path(max_length=100)]
) -> Response:
    """Show the items of a public split one by one, of one's own submission."""
    phase, _ = own_record(page, id)
    if split not in page.view.definition.phase(phase).splits:
        raise missing()
    home = f"{page.site.settings.prefix}{page.path}/submissions/{id}"
    return items_page(page, phase, split, [id], home=home)
