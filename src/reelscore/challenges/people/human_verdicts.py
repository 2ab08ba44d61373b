"""The verdict of people: the judgments of a campaign as columns of a board."""

from __future__ import annotations

import json
from collections import OrderedDict
from collections.abc import Mapping
from threading import Lock
from typing import Any

from sqlalchemy import Connection, func, select

from reelscore.campaigns.campaign import Campaign
from reelscore.campaigns.evaluate.preferences import score_all_preferences
from reelscore.campaigns.evaluate.rankings import score_rankings
from reelscore.campaigns.evaluate.results import evaluate_ratings, usable
from reelscore.campaigns.evaluate.votes import Quorum, score_against_reference
from reelscore.campaigns.judgments import Judgments
from reelscore.campaigns.store import schema
from reelscore.campaigns.store.campaigns import all_terms, read_state
from reelscore.challenges.definition.records import Human
from reelscore.data.tables.table import ItemScores, MetricResult, ScoreTable
from reelscore.errors import DataError
from reelscore.scoring.intervals import with_intervals
from reelscore.significance import Comparison, rank_systems
from reelscore.store.database import Database

_KEPT = 64  # verdicts that a process keeps: they take longer than the page that shows them
_verdicts: OrderedDict[tuple[Any, ...], list[dict[str, Any]]] = OrderedDict()
_lock = Lock()


def unpublished_verdict(
    database: Database, campaign: str, human: Human, entries: Mapping[str, str]
) -> list[dict[str, Any]]:
    """Return the columns that a closed campaign will have; none before, or if nothing can be used.

    Args:
        database: Where the campaign is.
        campaign: Its id.
        human: What the definition says about it.
        entries: What the campaign calls each submission.
    """
    with database.reading() as connection:
        terms = {each.id: each for each in all_terms(connection)}
        if campaign not in terms or read_state(connection, terms[campaign]) != "closed":
            return []
        stamp = _stamp(connection, campaign)
    key = (database.place, campaign, human, json.dumps(entries), stamp)
    with _lock:
        if key not in _verdicts:
            try:
                _verdicts[key] = verdict(Campaign(terms[campaign], database), human, entries)
            except DataError:  # too few judgments, or nobody passed the quality control
                _verdicts[key] = []
        _verdicts.move_to_end(key)
        while len(_verdicts) > _KEPT:
            _verdicts.popitem(last=False)
        columns = _verdicts[key]
    return [{**column, "label": f"{column['label']} (not published)"} for column in columns]


def _stamp(connection: Connection, campaign: str) -> tuple[Any, ...]:
    """Return something that changes with every judgment and decision: the numbers of the last."""
    event, judgment, assignment = schema.event, schema.judgment, schema.assignment
    events = select(func.max(event.c.id)).where(event.c.campaign == campaign)
    judgments = (
        select(func.max(judgment.c.id))
        .join(assignment, judgment.c.assignment == assignment.c.id)
        .where(assignment.c.campaign == campaign)
    )
    return connection.scalar(events), connection.scalar(judgments)


def verdict(campaign: Campaign, human: Human, entries: Mapping[str, str]) -> list[dict[str, Any]]:
    """Return the columns that a campaign leads to, one for each criterion.

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
                "label": criterion if several else human.name or human.id,
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
