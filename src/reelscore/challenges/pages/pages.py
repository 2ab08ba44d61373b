"""What everybody reads of a challenge: overview, rules, data, dates and the log."""

from __future__ import annotations

import json
from typing import Annotated, Any

from fastapi import Path, Query, Request
from fastapi.responses import PlainTextResponse, Response

from reelscore.challenges.boards.board_forms import score_text
from reelscore.challenges.boards.boards import MARKS, Board, Row
from reelscore.challenges.challenge import list_challenges
from reelscore.challenges.exchange.archive import citation, markdown
from reelscore.challenges.pages.rules import award_rule, board_rules, published_rule
from reelscore.challenges.pages.visits import PATH, AnyVisit, Visit, missing, visit_of
from reelscore.challenges.pages.wing_pages import arena_of
from reelscore.challenges.people.teams import list_teams
from reelscore.challenges.showing import may_see
from reelscore.data.stories import Story
from reelscore.web.requests import Router
from reelscore.web.sessions import find_visitor
from reelscore.web.site import Here

router = Router(prefix=PATH)
Id = Annotated[str, Path(max_length=100)]
_EXAMPLE = "what this clip shows"
_TOP = 5  # entries of a board on the overview


@router.get("")
def show_challenges(request: Request, site: Here) -> Response:
    """List the challenges of this server."""
    account = find_visitor(request)
    organiser = account is not None and account.is_organiser
    challenges = [
        known for known in list_challenges(arena_of(site)) if organiser or known.state != "draft"
    ]
    if len(challenges) == 1:
        return site.go(f"{PATH}/{challenges[0].id}")
    views = [visit_of(site, request, known.id, account).view for known in challenges]
    return site.page(request, "arena/challenges.html", views=views, account=account)


@router.get("/{challenge}")
def show_overview(visit: AnyVisit) -> Response:
    """Show what the challenge is about: its text, dates, boards, winners, and how to cite it."""
    view = visit.view
    boards = [
        (id, board, _top(board)) for id in view.boards() if (board := view.board(id)) is not None
    ]
    changes = [event for event in view.events() if event.what == "dates"]
    return visit.page(
        "overview.html",
        text=markdown(visit.known.pages.get("overview", "")),
        boards=boards,
        marks=MARKS,
        changes=changes,
        verdict=view.verdict(),
        citation=citation(view, f"{visit.site.settings.url}{visit.path}"),
    )


def _top(board: Board) -> list[tuple[Row, str]]:
    """Return the first rows of a board, each with its primary score."""
    return [
        (row, score_text(board.primary_column, row.entry.scores[board.primary]))
        for row in board.rows[:_TOP]
    ]


@router.get("/{challenge}/rules")
def show_rules(visit: AnyVisit) -> Response:
    """Show the rules: the organisers' text, and those that the definition makes."""
    definition = visit.view.definition
    return visit.page(
        "rules.html",
        text=markdown(visit.known.pages.get("rules", "")),
        boards=board_rules(definition),
        award=award_rule(definition),
        published=published_rule(definition.publish),
    )


@router.get("/{challenge}/data")
def show_data(visit: AnyVisit) -> Response:
    """Show which items there are to caption, and what a file looks like."""
    rows = [
        (phase, split, items(visit, phase.id, split))
        for phase in visit.view.definition.phases
        for split in phase.splits
    ]
    return visit.page(
        "data.html",
        text=markdown(visit.known.pages.get("data", "")),
        rows=[(phase, visit.view.definition.split(split), ids) for phase, split, ids in rows],
        files={
            (phase.id, split): _count_references(visit, phase.id, split) for phase, split, _ in rows
        },
    )


def items(visit: Visit, phase: str, split: str) -> list[str] | None:
    """Return the ids of a split's items, as far as they may be seen."""
    known = visit.view.definition.phases
    described = next((each for each in known if each.id == phase), None)
    if described is None or split not in described.splits:
        return None
    return visit.view.items(phase, split)


@router.get("/{challenge}/data/{phase}/{split}/ids.txt")
def give_ids(visit: AnyVisit, phase: Id, split: Id) -> Response:
    """Return the ids of the items, one a line."""
    ids = items(visit, phase, split)
    if ids is None:
        raise missing()
    return PlainTextResponse("".join(f"{id}\n" for id in ids))


@router.get("/{challenge}/data/{phase}/sample.json")
def give_sample(visit: AnyVisit, phase: Id) -> Response:
    """Return a file with every item of a phase, to be filled in and sent."""
    described = next((each for each in visit.view.definition.phases if each.id == phase), None)
    lists = [items(visit, phase, split) for split in described.splits] if described else []
    ids = [id for each in lists if each is not None for id in each]
    if not ids:
        raise missing()
    assert described is not None
    if visit.view.definition.kind(described) == "captions":
        sample: object = dict.fromkeys(ids, _EXAMPLE)
    else:
        timed = [{"timestamp": [0.0, 1.0], "sentence": _EXAMPLE}]
        sample = {"results": dict.fromkeys(ids, timed)}
    return _json(sample)


@router.get("/{challenge}/data/{phase}/{split}/references.json")
def give_references(
    visit: AnyVisit, phase: Id, split: Id, annotator: Annotated[int, Query(ge=1)] = 1
) -> Response:
    """Return the references of a public split, to those who may have them."""
    files = _references(visit, phase, split)
    if annotator > len(files):
        raise missing()
    return _json(files[annotator - 1])


def _count_references(visit: Visit, phase: str, split: str) -> int:
    """Count the files of references that the viewer may have, without reading them."""
    view = visit.view
    if not may_see(view.who.seen_as(), "references", view.situation(phase, split)):
        return 0
    described = view.definition.split(split)
    return 1 if described.kind == "captions" else len(described.files)


def _references(visit: Visit, phase: str, split: str) -> list[dict[str, Any]]:
    """Return the files of references that the viewer may have.

    Of stories one for each annotator.
    """
    if items(visit, phase, split) is None:
        return []
    if visit.view.definition.split(split).kind == "captions":
        references = visit.view.references(phase, split)
        return [] if references is None else [references]
    return [
        {video: _timed(story) for video, story in stories.items()}
        for stories in visit.view.story_references(phase, split) or ()
    ]


def _timed(story: Story) -> dict[str, Any]:
    """Write a story as ActivityNet Captions does."""
    duration = {} if story.duration is None else {"duration": story.duration}
    timed = {"timestamps": story.segments.tolist(), "sentences": list(story.sentences)}
    return {**duration, **timed}


@router.get("/{challenge}/log")
def show_log(visit: AnyVisit) -> Response:
    """Show the events that the viewer may see, and the head of the log's chain."""
    return visit.page(
        "log.html",
        events=visit.view.events(),
        chain=visit.view.chain_head(),
        names=team_names(visit),
    )


def team_names(visit: Visit) -> dict[str, str]:
    """Return the names of teams by their ids, as the log has them: to organisers of all."""
    if visit.is_organiser:
        return {team.id: team.name for team in list_teams(visit.arena, visit.known)}
    return {visit.team.id: visit.team.name} if visit.team else {}


def _json(value: object) -> Response:
    text = json.dumps(value, ensure_ascii=False, indent=1) + "\n"
    return Response(text, media_type="application/json")
