"""The final entries before people: a campaign made of them, and its verdict as a column.

Raters see submissions by their ids, never by teams. A campaign shows them references, as hidden
human captions or beside the entries; so on a blind split it is made only after the close, of a
sample of the items, and the sample is kept as disclosed.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import msgspec
import numpy as np
from sqlalchemy import Connection, insert, select, update

from reelscore.challenge.boards import Row
from reelscore.challenge.definition import Human
from reelscore.challenge.store import tables
from reelscore.challenge.store.blobs import get_blob
from reelscore.challenge.store.events import log
from reelscore.challenge.views import View, Who
from reelscore.data.stories import Stories
from reelscore.data.table import ItemScores, MetricResult, ScoreTable
from reelscore.errors import DataError, UnknownNameError
from reelscore.human.campaign import Campaign
from reelscore.human.evaluate.preferences import score_all_preferences
from reelscore.human.evaluate.rankings import score_rankings
from reelscore.human.evaluate.results import evaluate_ratings, usable
from reelscore.human.evaluate.votes import Quorum, score_against_reference
from reelscore.human.hits.design import REFERENCE, Design, make_hits, story_texts
from reelscore.human.judgments import Judgments
from reelscore.scoring.intervals import with_intervals
from reelscore.significance import Comparison, rank_systems
from reelscore.store.database import Database
from reelscore.store.locations import Where

_OWNER = Who("owner")
_PER_HIT = 10  # tasks of a HIT of rankings or comparisons
_PEOPLE = "human"  # what the hidden human captions are called in campaigns of ratings


@dataclass(frozen=True)
class Made:
    """A campaign that was made of the final entries.

    Attributes:
        campaign: The campaign's id.
        entries: The submissions in it.
        items: How many items raters see.
        disclosed: Whether these are of a blind split.
        plan: What its HITs are, in words.
    """

    campaign: str
    entries: Sequence[str]
    items: int
    disclosed: bool
    plan: str


def make_campaign(
    where: Where, database: Database, id: str, human: str, *, now: int, actor: str
) -> Made:
    """Freeze the final entries of a phase and make a campaign of them, in state ``draft``.

    Args:
        where: The database's place, in which the campaign is made.
        database: The same, open.
        id: The challenge's id.
        human: The id of the human evaluation in the definition.
        now: The time, in microseconds since 1970.
        actor: Who does it, for the log.

    Raises:
        DataError: If the phase of a blind split has not closed, fewer than two entries are scored,
            or the campaign was made before.
        UnknownNameError: If there is no such challenge or human evaluation.
    """
    view = View(database, id, _OWNER, now=now)
    described = _described(view, human)
    phase = view.phases[described.phase]
    blind = view.definition.split(described.split).visibility == "blind"
    if blind and now < phase.closes:
        raise DataError(
            f"{human}: raters see references of the blind split {described.split!r}; make the "
            f"campaign after the phase {described.phase!r} has closed."
        )
    with database.reading() as connection:
        if _row(connection, phase.key, human) is not None:
            raise DataError(f"{human}: the campaign was made already; it is in the database.")
    entries = [row.entry.id for row in _final_rows(view, described)]
    if len(entries) < 2:
        raise DataError(f"{human}: {len(entries)} scored entries; a campaign needs at least 2.")
    with database.reading() as connection:
        items, people = _references(connection, view, described)
        captions = {entry: _captions(connection, view, described, entry) for entry in entries}
    sample = sampled(items, described.items, described.seed)
    chosen = {entry: {item: texts[item] for item in sample} for entry, texts in captions.items()}
    humans = {item: people[item] for item in sample}
    if described.include_reference:
        chosen[REFERENCE] = humans
    layout = described.layout or "trecvid"
    design = Design(
        described.protocol,
        layout,
        per_hit=min(_PER_HIT, len(sample)),
        human=_PEOPLE,
        seed=described.seed,
    )
    plan = make_hits(design, chosen, humans)
    # raters learn neither the challenge nor what is asked elsewhere
    name = f"Video descriptions {hashlib.sha256(f'{id} {human}'.encode()).hexdigest()[:6]}"
    campaign = Campaign.from_plan(where, name, design, plan, raters_per_hit=described.raters)
    with campaign:
        # the rating pages let nobody in without an invitation then
        campaign.change_settings({"blind": blind})
        made = campaign.id
    with database.writing() as connection:
        connection.execute(
            insert(tables.human).values(
                phase=phase.key,
                id=human,
                campaign=made,
                entries=json.dumps({entry: entry for entry in entries}),
                disclosed=json.dumps(sample if blind else []),
                results="",
                made=now,
            )
        )
        log(connection, now, view.row.key, "human", human, actor=actor, after=made)
        if blind:
            log(
                connection,
                now,
                view.row.key,
                "disclosed",
                described.split,
                actor=actor,
                reason=f"references of {len(sample)} items go to raters of {made}",
                after=json.dumps(sample),
            )
    return Made(made, entries, len(sample), blind, str(plan))


def _final_rows(view: View, human: Human) -> Sequence[Row]:
    """The entries that count in the phase of a human evaluation, best first."""
    boards = [
        board.id
        for board in view.definition.boards
        if (board.phase, board.split) == (human.phase, human.split)
    ]
    if not boards:
        raise DataError(
            f"{human.id}: the split {human.split!r} of {human.phase!r} has no board, which says "
            "whose entry counts; add one to the definition."
        )
    board = view.board(boards[0])
    return board.rows if board else []


def sampled(items: Sequence[str], count: int | None, seed: int) -> list[str]:
    """Draw some of the items at random; they stay in order.

    >>> sampled(["a", "b", "c", "d"], 2, seed=1), sampled(["a", "b"], None, seed=1)
    (['b', 'c'], ['a', 'b'])
    """
    if count is None or count >= len(items):
        return list(items)
    places = np.random.default_rng(seed).choice(len(items), count, replace=False)
    return [items[k] for k in sorted(places)]


def publish(where: Where, database: Database, id: str, human: str, *, now: int, actor: str) -> int:
    """Read the verdict of the closed campaign; from now on everybody sees its column.

    Args:
        where: The database's place.
        database: The same, open.
        id: The challenge's id.
        human: The id of the human evaluation in the definition.
        now: The time, in microseconds since 1970.
        actor: Who does it, for the log.

    Returns:
        How many columns there are.

    Raises:
        DataError: If there is no campaign yet, or it is not closed.
        UnknownNameError: If there is no such challenge or human evaluation.
    """
    view = View(database, id, _OWNER, now=now)
    described = _described(view, human)
    with database.reading() as connection:
        row = _row(connection, view.phases[described.phase].key, human)
    if row is None:
        raise DataError(f"{human}: there is no campaign yet; make it first.")
    with Campaign.open(where, row.campaign) as campaign:
        if campaign.state != "closed":
            raise DataError(
                f"{human}: the campaign {row.campaign} is {campaign.state}; close it before its "
                "verdict is published."
            )
        columns = verdict(campaign, described, json.loads(row.entries))
    results = json.dumps({"campaign": row.campaign, "columns": columns})
    with database.writing() as connection:
        connection.execute(
            update(tables.human)
            .where(tables.human.c.key == row.key)
            .values(results=results, published=now)
        )
        log(connection, now, view.row.key, "published", human, actor=actor, after=row.campaign)
    return len(columns)


def link_campaign(
    database: Database, id: str, human: str, campaign: str, *, now: int, actor: str
) -> None:
    """Link a campaign that is in the database already, such as imported judgments.

    Its systems have the names of the teams.

    Raises:
        DataError: If a campaign was linked before.
        UnknownNameError: If there is no such challenge or human evaluation.
    """
    view = View(database, id, _OWNER, now=now)
    described = _described(view, human)
    phase = view.phases[described.phase]
    names = {row.entry.id: row.entry.team for row in _final_rows(view, described)}
    with database.writing() as connection:
        if _row(connection, phase.key, human) is not None:
            raise DataError(f"{human}: the campaign was made already; it is in the database.")
        connection.execute(
            insert(tables.human).values(
                phase=phase.key,
                id=human,
                campaign=campaign,
                entries=json.dumps(names),
                disclosed="[]",
                results="",
                made=now,
            )
        )
        log(connection, now, view.row.key, "human", human, actor=actor, after=campaign)


def verdict(campaign: Campaign, human: Human, entries: Mapping[str, str]) -> list[dict[str, Any]]:
    """Give the columns that a campaign leads to, one for each criterion.

    Args:
        campaign: The campaign.
        human: What the definition says about it.
        entries: What the campaign calls each submission.
    """
    tables_by_criterion = _scored(campaign, human)
    columns = []
    for criterion, (table, metric, tests) in tables_by_criterion.items():
        own = {
            entry: name for entry, name in entries.items() if metric in table.results.get(name, {})
        }
        if not own:
            continue
        with_ends = with_intervals(table.select([metric]))
        among = tests.among([name for name in tests.systems if name in own.values()])
        clusters = among.clusters or dict.fromkeys(own.values(), 1)
        scores = {}
        for entry, name in own.items():
            result = with_ends[name][metric]
            low, high = result.interval or (None, None)
            scores[entry] = {
                "value": result.score,
                "low": low,
                "high": high,
                "cluster": clusters[name],
            }
        several = len(tables_by_criterion) > 1
        signature = table[next(iter(own.values()))][metric].signature
        columns.append(
            {
                "score": f"human:{human.id}:{criterion}" if several else f"human:{human.id}",
                "label": criterion if several else human.id,
                "better": table.scale(metric).better,
                "signature": f"{signature}|campaign:{campaign.id}",
                "scores": scores,
            }
        )
    return columns


def _scored(campaign: Campaign, human: Human) -> dict[str, tuple[ScoreTable, str, Comparison]]:
    """For each criterion: the table, the score in it, and who is better than whom."""
    protocol = campaign.protocol
    names = [criterion.name for criterion in protocol.criteria]
    judgments = campaign.judgments(finished=True)
    if protocol.form == "rating":
        humans, excluded = campaign.humans, campaign.excluded()
        table = evaluate_ratings(judgments, humans=humans, excluded=excluded).scores.table
        metrics = {name: "z" if len(names) == 1 else f"{name}_z" for name in names}
        return _ranked(table, metrics)
    judged = usable(campaign, judgments).judgments
    if protocol.form == "ranking":
        ranked = score_rankings(judged)
        return {
            name: (ranked.table, f"rank_{name}", each.comparison)
            for name, each in ranked.criteria.items()
        }
    if protocol.name == "against-reference":
        agree = Quorum(*human.quorum) if human.quorum else Quorum(1, human.raters)
        table = score_against_reference(judged, agree=agree).table
        metrics = {name: f"points_{name}" for name in names}
    else:
        table = _mean_preferences(judged, names[0])
        metrics = {names[0]: f"preference_{names[0]}"}
    return _ranked(table, metrics)


def _ranked(
    table: ScoreTable, metrics: Mapping[str, str]
) -> dict[str, tuple[ScoreTable, str, Comparison]]:
    there = {name: metric for name, metric in metrics.items() if metric in table.metrics}
    return {name: (table, metric, rank_systems(table, metric)) for name, metric in there.items()}


def _mean_preferences(judged: Judgments, criterion: str) -> ScoreTable:
    """The mean preference of each system over all others, for each video."""
    items: dict[str, dict[str, list[float]]] = {}
    for pair in score_all_preferences(judged.only(criterion)):
        for system, sign in ((pair.system, 1.0), (pair.other, -1.0)):
            for item, value in pair.items.items():
                items.setdefault(system, {}).setdefault(item, []).append(sign * value)
    name = f"preference_{criterion}"
    results = {}
    for system, by_item in items.items():
        means = ItemScores.of({item: sum(own) / len(own) for item, own in by_item.items()})
        score = float(means.array.mean())
        results[system] = {name: MetricResult(name, score, means, f"preference|{criterion}")}
    return ScoreTable(results)


def _described(view: View, human: str) -> Human:
    humans = {each.id: each for each in view.definition.humans}
    if human not in humans:
        raise UnknownNameError.of("human evaluation", human, humans)
    return humans[human]


def _row(connection: Connection, phase: int, human: str) -> Any:
    return connection.execute(select(tables.human).filter_by(phase=phase, id=human)).first()


def _references(
    connection: Connection, view: View, human: Human
) -> tuple[list[str], Mapping[str, str]]:
    """The items of the split, and one human text of each."""
    row = connection.execute(select(tables.split).filter_by(key=view.splits[human.split])).one()
    items: list[str] = msgspec.json.decode(get_blob(connection, row.items_blob))["items"]
    references = get_blob(connection, row.references_blob)
    if row.kind == "stories":
        from reelscore.challenge.splits import stories_references

        return items, story_texts(stories_references(references)[0])
    texts: list[list[str]] = msgspec.json.decode(references)["references"]
    return items, {item: own[0] for item, own in zip(items, texts, strict=True)}


def _captions(
    connection: Connection, view: View, human: Human, submission: str
) -> Mapping[str, str]:
    """What a submission says about each item of the split."""
    own = connection.execute(
        select(tables.submission.c.captions_blob).filter_by(id=submission)
    ).scalar_one()
    captions = msgspec.json.decode(get_blob(connection, own))[human.split]
    if isinstance(captions, dict):
        from reelscore.challenge.splits import story_of

        stories = {video: story_of({"captions": rows}) for video, rows in captions.items()}
        return story_texts(Stories(stories))
    row = connection.execute(
        select(tables.split.c.items_blob).filter_by(key=view.splits[human.split])
    ).one()
    items = msgspec.json.decode(get_blob(connection, row.items_blob))["items"]
    return dict(zip(items, captions, strict=True))
