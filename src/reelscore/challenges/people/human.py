"""The final entries before people: a campaign made of them, and its verdict as a column.

Raters see submissions by their ids, never by teams. A campaign shows them references, as hidden
human captions or beside the entries; so on a blind split it is made only after the close, of a
sample of the items, and the sample is kept as disclosed.
"""

from __future__ import annotations

import hashlib
import json
from collections import OrderedDict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from threading import Lock
from typing import TYPE_CHECKING

import msgspec
import numpy as np
from sqlalchemy import Connection, func, insert, select, update

from reelscore.campaigns.campaign import Campaign
from reelscore.campaigns.evaluate.preferences import score_all_preferences
from reelscore.campaigns.evaluate.rankings import score_rankings
from reelscore.campaigns.evaluate.results import campaign_quality, evaluate_campaign
from reelscore.campaigns.evaluate.votes import Quorum, score_against_reference
from reelscore.campaigns.hits.design import REFERENCE, Design, make_hits, story_texts
from reelscore.campaigns.judgments import Judgments
from reelscore.campaigns.store import schema
from reelscore.campaigns.store.campaigns import all_terms, read_state
from reelscore.challenges.boards.boards import BoardEntry
from reelscore.challenges.definition.records import Human
from reelscore.challenges.people.invitations import shown_items
from reelscore.challenges.store import tables
from reelscore.challenges.store.blobs import get_blob
from reelscore.challenges.store.events import log
from reelscore.challenges.store.kept_scores import PeopleScores, people_form
from reelscore.challenges.store.tables import TableRow
from reelscore.challenges.uploads.splits import stories_references, story_of
from reelscore.data.stories import Stories
from reelscore.data.tables.scales import Scale
from reelscore.data.tables.table import ItemScores, MetricResult, ScoreTable
from reelscore.errors import DataError, UnknownNameError
from reelscore.scoring.intervals import with_intervals
from reelscore.significance import Comparison, rank_systems
from reelscore.store.database import Database
from reelscore.store.locations import Where

if TYPE_CHECKING:
    from reelscore.challenges.views import View

_PER_HIT = 10  # tasks of a HIT of rankings or comparisons
_PEOPLE = "human"  # what the hidden human captions are called in campaigns of ratings
_NOTHING = "(no description)"  # what raters read where an entry leaves a video out


@dataclass(frozen=True)
class Made:
    """A campaign that was made of the final entries."""

    campaign: str  # the campaign's id
    entries: Sequence[str]  # the submissions in it
    items: int  # how many items raters see
    disclosed: bool  # whether these are of a blind split
    plan: str  # what its HITs are, in words


@dataclass(frozen=True)
class Evaluation:
    """Where an evaluation by people stands."""

    human: Human  # what the definition says about it
    campaign: str = ""  # the campaign's id; empty before it is made
    entries: int = 0  # how many submissions are in it
    disclosed: int = 0  # of how many items of a blind split raters see references
    published: int | None = None  # when its column was published; ``None`` if it was not


def list_evaluations(view: View) -> list[Evaluation]:
    """Return the evaluations by people that the definition has, in its order."""
    with view.challenge.reading() as connection:
        return [_evaluation(connection, view, human) for human in view.definition.humans]


def _evaluation(connection: Connection, view: View, human: Human) -> Evaluation:
    row = _row(connection, view.phases[human.phase].key, human.id)
    if row is None:
        return Evaluation(human)
    entries, disclosed = len(json.loads(row.entries)), len(json.loads(row.disclosed))
    return Evaluation(human, row.campaign, entries, disclosed, row.published)


def make_campaign(view: View, where: Where, human: str, *, actor: str, reason: str = "") -> Made:
    """Freeze the final entries of a phase and make a campaign of them, in state ``draft``."""
    described = _described(view, human)
    phase = view.phases[described.phase]
    blind = _is_blind(view, described)
    with view.challenge.reading() as connection:
        _check_new(connection, phase.key, human)
    entries = [row.id for row in _final_rows(view, described)]
    if len(entries) < 2:
        raise DataError(f"{human}: {len(entries)} scored entries; a campaign needs at least 2.")
    with view.challenge.reading() as connection:
        items, people = _references(connection, view, described)
        captions = {entry: _captions(connection, view, described, entry) for entry in entries}
    sample = sampled(items, described.items, described.seed)
    chosen = {entry: _shown(texts, sample) for entry, texts in captions.items()}
    humans = _shown(people, sample)
    if described.include_reference:
        chosen[REFERENCE] = humans
    texts = [*chosen.values(), *([humans] if described.protocol == "against-reference" else [])]
    different = sum(len({own[item] for own in texts}) > 1 for item in sample)
    layout = described.layout or "trecvid"
    design = Design(
        described.protocol,
        layout,
        per_hit=max(1, min(_PER_HIT, different)),  # equal texts are not compared
        human=_PEOPLE,
        seed=described.seed,
    )
    plan = make_hits(design, chosen, humans)
    # raters learn neither the challenge nor what is asked elsewhere
    name = f"Video descriptions {hashlib.sha256(f'{view.id} {human}'.encode()).hexdigest()[:6]}"
    campaign = Campaign.from_plan(where, name, design, plan, raters_per_hit=described.raters)
    with campaign:
        made = campaign.id
    with view.challenge.writing() as connection:
        _link(connection, view, described, made, {entry: entry for entry in entries}, actor, reason)
    return Made(made, entries, len(sample), blind, str(plan))


def _shown(texts: Mapping[str, str], items: Sequence[str]) -> dict[str, str]:
    """Return what raters read of each item; an entry may leave videos out, which is judged too."""
    return {item: texts.get(item) or _NOTHING for item in items}


def _is_blind(view: View, human: Human) -> bool:
    """Return whether raters see references of a blind split."""
    blind = view.definition.split(human.split).visibility == "blind"
    if blind and view.now < view.phases[human.phase].closes:
        raise DataError(
            f"{human.id}: raters see references of the blind split {human.split!r}; make the "
            f"campaign after the phase {human.phase!r} has closed."
        )
    return blind


def _link(
    connection: Connection,
    view: View,
    human: Human,
    campaign: str,
    entries: Mapping[str, str],
    actor: str,
    reason: str,
) -> None:
    """Note that a campaign judges some entries, and what it discloses of a blind split."""
    phase, blind = view.phases[human.phase], _is_blind(view, human)
    _check_new(connection, phase.key, human.id)  # somebody else may have been quicker
    shown = set(shown_items(connection, campaign, blind=blind))
    items, _ = _references(connection, view, human)
    disclosed = [item for item in items if item in shown] if blind else []
    connection.execute(
        insert(tables.human).values(
            phase=phase.key,
            id=human.id,
            campaign=campaign,
            entries=json.dumps(entries),
            disclosed=json.dumps(disclosed),
            results="",
            made=view.now,
        )
    )
    note = partial(log, connection, view.now, view.challenge.key, actor=actor)
    note("human", human.id, reason=reason, after=campaign)
    if blind:
        why = f"references of {len(disclosed)} items go to raters of {campaign}"
        note("disclosed", human.split, reason=why, after=json.dumps(disclosed))


def _final_rows(view: View, human: Human) -> Sequence[BoardEntry]:
    """The entries that count in the phase of a human evaluation, best first."""
    boards = view.definition.boards_of(human.phase, human.split)
    if not boards:
        raise DataError(
            f"{human.id}: the split {human.split!r} of {human.phase!r} has no board, which says "
            "whose entry counts; add one to the definition."
        )
    board = view.board(boards[0].id)
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


def publish(view: View, where: Where, human: str, *, actor: str, reason: str = "") -> int:
    """Read the verdict of the closed campaign; from now on everybody sees its column."""
    described = _described(view, human)
    with view.challenge.reading() as connection:
        row = _row(connection, view.phases[described.phase].key, human)
    if row is None:
        raise DataError(f"{human}: there is no campaign yet; make it first.")
    with Campaign.open(where, row.campaign) as campaign:
        if campaign.state != "closed":
            raise DataError(
                f"{human}: the campaign {row.campaign} is {campaign.state}; close it before its "
                "verdict is published."
            )
        columns = people_form(verdict(campaign, described, json.loads(row.entries)))
    results = json.dumps({"campaign": row.campaign, "columns": columns})
    with view.challenge.writing() as connection:
        connection.execute(
            update(tables.human)
            .where(tables.human.c.key == row.key)
            .values(results=results, published=view.now)
        )
        log(connection, view.now, view.challenge.key, "published", human, actor=actor,
            reason=reason, after=row.campaign)  # fmt: skip
    return len(columns)


def link_campaign(view: View, human: str, campaign: str, *, actor: str) -> None:
    """Link a campaign that is in the database already, such as imported judgments.

    Its systems have the names of the teams.
    """
    described = _described(view, human)
    names = {row.id: row.team for row in _final_rows(view, described)}
    with view.challenge.writing() as connection:
        _link(connection, view, described, campaign, names, actor, "")


def _described(view: View, human: str) -> Human:
    humans = {each.id: each for each in view.definition.humans}
    if human not in humans:
        raise UnknownNameError.of("human evaluation", human, humans)
    return humans[human]


def _row(connection: Connection, phase: int, human: str) -> TableRow | None:
    return connection.execute(select(tables.human).filter_by(phase=phase, id=human)).first()


def _check_new(connection: Connection, phase: int, human: str) -> None:
    if _row(connection, phase, human) is not None:
        raise DataError(f"{human}: the campaign was made already; it is in the database.")


def _references(
    connection: Connection, view: View, human: Human
) -> tuple[list[str], Mapping[str, str]]:
    """The items of the split, and one human text of each."""
    row = connection.execute(select(tables.split).filter_by(key=view.splits[human.split])).one()
    items: list[str] = msgspec.json.decode(get_blob(connection, row.items_blob))["items"]
    references = get_blob(connection, row.references_blob)
    if row.kind == "stories":
        annotators = stories_references(references)  # the first goes before: it is read last
        return items, {
            video: text
            for stories in reversed(annotators)
            for video, text in story_texts(stories).items()
            if text
        }
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
        stories = {video: story_of({"captions": rows}) for video, rows in captions.items()}
        return story_texts(Stories(stories))
    row = connection.execute(
        select(tables.split.c.items_blob).filter_by(key=view.splits[human.split])
    ).one()
    items = msgspec.json.decode(get_blob(connection, row.items_blob))["items"]
    return dict(zip(items, captions, strict=True))


_KEPT = 64  # verdicts that a process keeps: they take longer than the page that shows them
_verdicts: OrderedDict[tuple[object, ...], PeopleScores] = OrderedDict()
_NOTHING_YET = PeopleScores(ScoreTable({}), {})
_lock = Lock()


def unpublished_verdict(
    database: Database, campaign: str, human: Human, entries: Mapping[str, str]
) -> PeopleScores:
    """Return the scores that a closed campaign will have; none before, or if none can be."""
    with database.reading() as connection:
        terms = {each.id: each for each in all_terms(connection)}
        if campaign not in terms or read_state(connection, terms[campaign]) != "closed":
            return _NOTHING_YET
        stamp = _stamp(connection, campaign)
    key = (database.place, campaign, human, json.dumps(entries), stamp)
    with _lock:
        if key not in _verdicts:
            try:
                opened = Campaign(terms[campaign], database)
                _verdicts[key] = verdict(opened, human, entries, " (not published)")
            except DataError:  # too few judgments, or nobody passed the quality control
                _verdicts[key] = _NOTHING_YET
        _verdicts.move_to_end(key)
        while len(_verdicts) > _KEPT:
            _verdicts.popitem(last=False)
        return _verdicts[key]


def _stamp(connection: Connection, campaign: str) -> tuple[object, ...]:
    """Return something that changes with every judgment and decision: the numbers of the last."""
    event, judgment, assignment = schema.event, schema.judgment, schema.assignment
    events = select(func.max(event.c.id)).where(event.c.campaign == campaign)
    judgments = (
        select(func.max(judgment.c.id))
        .join(assignment, judgment.c.assignment == assignment.c.id)
        .where(assignment.c.campaign == campaign)
    )
    return connection.scalar(events), connection.scalar(judgments)


def verdict(
    campaign: Campaign, human: Human, entries: Mapping[str, str], remark: str = ""
) -> PeopleScores:
    """Return the scores that a campaign leads to, one for each criterion."""
    tables_by_criterion = _scored(campaign, human)
    rows: dict[str, dict[str, MetricResult]] = {}
    clusters: dict[str, dict[str, int]] = {}
    for criterion, (table, metric, tests) in tables_by_criterion.items():
        own = {
            entry: name for entry, name in entries.items() if metric in table.results.get(name, {})
        }
        if not own:
            continue
        several = len(tables_by_criterion) > 1
        score = f"human:{human.id}:{criterion}" if several else f"human:{human.id}"
        label = criterion if several else human.name or human.id
        scale = Scale(table.scale(metric).better, label=label + remark)
        signature = table[next(iter(own.values()))][metric].signature
        with_ends = with_intervals(table.select([metric]))
        for entry, name in own.items():
            result = with_ends[name][metric]
            rows.setdefault(entry, {})[score] = MetricResult(
                score,
                result.score,
                signature=f"{signature}|campaign:{campaign.id}",
                interval=result.interval,
                scale=scale,
            )
        among = tests.among([name for name in tests.systems if name in own.values()])
        numbers = among.clusters or dict.fromkeys(own.values(), 1)
        clusters[score] = {entry: numbers[name] for entry, name in own.items()}
    return PeopleScores(ScoreTable(rows), clusters)


def _scored(campaign: Campaign, human: Human) -> dict[str, tuple[ScoreTable, str, Comparison]]:
    """For each criterion: the table, the score in it, and who is better than whom."""
    protocol = campaign.protocol
    names = [criterion.name for criterion in protocol.criteria]
    judgments = campaign.judgments(finished=True)
    if protocol.form == "rating":
        table = evaluate_campaign(campaign, judgments).scores.table
        metrics = {name: "z" if len(names) == 1 else f"{name}_z" for name in names}
        return _ranked(table, metrics)
    judged = campaign_quality(campaign, judgments).good(judgments)
    if protocol.form == "ranking":
        ranked = score_rankings(judged)
        return {
            name: (ranked.table, f"rank_{name}", each.comparison)
            for name, each in ranked.criteria.items()
        }
    if protocol.name == "against-reference":
        agree = Quorum(*human.quorum) if human.quorum else Quorum(1, human.raters)
        table = score_against_reference(judged, agree=agree).table
        return _ranked(table, {name: f"points_{name}" for name in names})
    preferred: dict[str, tuple[ScoreTable, str, Comparison]] = {}
    for name in names:
        preferred |= _ranked(_mean_preferences(judged, name), {name: f"preference_{name}"})
    return preferred


def _ranked(
    table: ScoreTable, metrics: Mapping[str, str]
) -> dict[str, tuple[ScoreTable, str, Comparison]]:
    there = {name: metric for name, metric in metrics.items() if metric in table.metrics}
    return {name: (table, metric, rank_systems(table, metric)) for name, metric in there.items()}


def _mean_preferences(judged: Judgments, criterion: str) -> ScoreTable:
    """The mean preference of each system over all others, for each video."""
    items: dict[str, dict[str, list[float]]] = {}
    for pair in score_all_preferences(judged, criterion=criterion):
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
