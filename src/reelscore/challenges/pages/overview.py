"""What everybody reads of a challenge: overview, rules, data, dates and the log."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Annotated

from fastapi import Path, Query, Request
from fastapi.responses import PlainTextResponse, Response

from reelscore.challenges.boards.awards import award_rule
from reelscore.challenges.boards.board_forms import score_text
from reelscore.challenges.boards.boards import MARKS, BoardEntry, Leaderboard
from reelscore.challenges.definition import records as defined
from reelscore.challenges.definition.checks import score_name
from reelscore.challenges.definition.records import Definition, Publish
from reelscore.challenges.exchange.archive import citation, markdown
from reelscore.challenges.pages.context import (
    AnyPage,
    ChallengePage,
    Router,
    challenges_of,
    listed_challenges,
    missing,
    open_page,
)
from reelscore.challenges.pages.wing_pages import PATH
from reelscore.challenges.people.teams import list_teams
from reelscore.challenges.permissions import NEWS
from reelscore.data.stories import Story
from reelscore.web.sessions import find_visitor
from reelscore.web.site import Here

router = Router(prefix=PATH)
Id = Annotated[str, Path(max_length=100)]
_EXAMPLE = "what this clip shows"
_TOP = 5  # entries of a board on the overview
_NEWS = 50  # entries of the feed


@router.get("")
def show_challenges(request: Request, site: Here) -> Response:
    """List the challenges of this server."""
    account = find_visitor(request, challenges_of(request).database)
    challenges = listed_challenges(request, account)
    if len(challenges) == 1:
        return site.go(f"{PATH}/{challenges[0].id}")
    views = [open_page(request, challenge, account).view for challenge in challenges]
    return site.page(request, "challenges/challenges.html", views=views, account=account)


@router.get("/{challenge}")
def show_overview(page: AnyPage) -> Response:
    """Show what the challenge is about: its text, dates, boards, winners, and how to cite it."""
    view = page.view
    boards = [
        (id, board, _top(board)) for id in view.boards() if (board := view.board(id)) is not None
    ]
    events = view.events()
    return page.render(
        "overview.html",
        text=markdown(page.challenge.pages.get("overview", "")),
        boards=boards,
        marks=MARKS,
        changes=[event for event in events if event.what == "dates"],
        announcements=[event for event in reversed(events) if event.what == "announced"],
        verdict=view.verdict(),
        citation=citation(view, f"{page.site.settings.url}{page.path}"),
    )


@router.get("/{challenge}/news.atom")
def give_news(page: AnyPage) -> Response:
    """Return announcements, moved dates and new results as a feed, newest first."""
    news = [event for event in reversed(page.view.events()) if event.what in NEWS]
    template = page.site.templates.get_template("challenges/news.atom")
    place = f"{page.site.settings.url}{page.path}"
    text = template.render(view=page.view, news=news[:_NEWS], place=place)
    return Response(text, media_type="application/atom+xml")


def _top(board: Leaderboard) -> list[tuple[BoardEntry, str]]:
    """Return the first rows of a board, each with its primary score."""
    first = board.primary_column
    return [
        (row, f"{first.label} {score_text(first, board.table[row.id][first.score])}")
        for row in board.rows[:_TOP]
    ]


@router.get("/{challenge}/rules")
def show_rules(page: AnyPage) -> Response:
    """Show the rules: the organisers' text, and those that the definition makes."""
    definition = page.view.definition
    return page.render(
        "rules.html",
        text=markdown(page.challenge.pages.get("rules", "")),
        boards=board_rules(definition),
        award=award_rule(definition),
        published=published_rule(definition.publish),
    )


@router.get("/{challenge}/data")
def show_data(page: AnyPage) -> Response:
    """Show which items there are to caption, and what a file looks like."""
    rows = [
        (phase, split, items(page, phase.id, split))
        for phase in page.view.definition.phases
        for split in phase.splits
    ]
    return page.render(
        "data.html",
        text=markdown(page.challenge.pages.get("data", "")),
        rows=[(phase, page.view.definition.split(split), ids) for phase, split, ids in rows],
        files={
            (phase.id, split): _count_references(page, phase.id, split) for phase, split, _ in rows
        },
    )


def items(page: ChallengePage, phase: str, split: str) -> list[str] | None:
    """Return the ids of a split's items, as far as they may be seen."""
    if phase not in page.view.phases or split not in page.view.definition.phase(phase).splits:
        return None
    return page.view.items(phase, split)


@router.get("/{challenge}/data/{phase}/{split}/ids.txt")
def give_ids(page: AnyPage, phase: Id, split: Id) -> Response:
    """Return the ids of the items, one a line."""
    ids = items(page, phase, split)
    if ids is None:
        raise missing()
    return PlainTextResponse("".join(f"{id}\n" for id in ids))


@router.get("/{challenge}/data/{phase}/sample.json")
def give_sample(page: AnyPage, phase: Id) -> Response:
    """Return a file with every item of a phase, to be filled in and sent."""
    described = page.view.definition.phase(page.phase(phase).id)
    lists = [items(page, phase, split) for split in described.splits]
    ids = [id for each in lists if each is not None for id in each]
    if not ids:
        raise missing()
    if page.view.definition.kind(described) == "captions":
        sample: object = dict.fromkeys(ids, _EXAMPLE)
    else:
        timed = [{"timestamp": [0.0, 1.0], "sentence": _EXAMPLE}]
        sample = {"results": dict.fromkeys(ids, timed)}
    return _json(sample)


@router.get("/{challenge}/data/{phase}/{split}/references.json")
def give_references(
    page: AnyPage, phase: Id, split: Id, annotator: Annotated[int, Query(ge=1)] = 1
) -> Response:
    """Return the references of a public split, to those who may have them."""
    files = _references(page, phase, split)
    if annotator > len(files):
        raise missing()
    return _json(files[annotator - 1])


def _count_references(page: ChallengePage, phase: str, split: str) -> int:
    """Count the files of references that the viewer may have, without reading them."""
    view = page.view
    if not view.sees("references", phase, split):
        return 0
    described = view.definition.split(split)
    return 1 if described.kind == "captions" else len(described.references)


def _references(page: ChallengePage, phase: str, split: str) -> list[Mapping[str, object]]:
    """Return the files of references that the viewer may have.

    Of stories one for each annotator.
    """
    if items(page, phase, split) is None:
        return []
    if page.view.definition.split(split).kind == "captions":
        references = page.view.references(phase, split)
        return [] if references is None else [references]
    return [
        {video: _timed(story) for video, story in stories.items()}
        for stories in page.view.story_references(phase, split) or ()
    ]


def _timed(story: Story) -> dict[str, object]:
    """Write a story as ActivityNet Captions does."""
    duration = {} if story.duration is None else {"duration": story.duration}
    timed = {"timestamps": story.segments.tolist(), "sentences": list(story.sentences)}
    return {**duration, **timed}


@router.get("/{challenge}/log")
def show_log(page: AnyPage) -> Response:
    """Show the events that the viewer may see, and the head of the log's chain."""
    return page.render(
        "log.html",
        events=page.view.events(),
        chain=page.view.chain_head(),
        names=team_names(page),
    )


def team_names(page: ChallengePage) -> dict[str, str]:
    """Return the names of teams by their ids, as the log has them: to organisers of all."""
    if page.is_organiser:
        return {team.id: team.name for team in list_teams(page.challenge)}
    return {page.team.id: page.team.name} if page.team else {}


def _json(value: object) -> Response:
    text = json.dumps(value, ensure_ascii=False, indent=1) + "\n"
    return Response(text, media_type="application/json")


def board_rules(definition: Definition) -> list[tuple[str, str]]:
    """Return of each leaderboard, by its name, how its entries are ordered and compared."""
    return [(board.name or board.id, _order(definition, board)) for board in definition.boards]


def _order(definition: Definition, board: defined.Board) -> str:
    phase = definition.phase(board.phase)
    where = phase.name or phase.id
    if len(phase.splits) > 1:
        where += f", split {board.split}"
    order = score_name(definition, board.primary)
    return (
        f"Entries of {where}, ordered by {order}. Two entries differ if a paired bootstrap tells "
        f"them apart (p < {board.test.level:g}; correction for the number of pairs: "
        f"{board.test.correction})."
    )


def published_rule(publish: Publish) -> str:
    """Return what else becomes public when the results are revealed."""
    parts = [
        *(["the captions of entries on a leaderboard"] if publish.captions else []),
        *(["scores of single items of public splits"] if publish.items else []),
    ]
    return f"With the results: {' and '.join(parts)}." if parts else "Nothing but scores."
