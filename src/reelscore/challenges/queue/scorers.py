"""One submission scored, in a process of its own, by the same scorers as everywhere.

The process keeps the prepared references of the last few splits. It knows neither the database nor
whose captions it scores. What it says about a defect holds no captions and no references.
"""

from __future__ import annotations

import traceback
from collections import OrderedDict
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import msgspec
import numpy as np
from msgspec.structs import replace

from reelscore.challenges.definition.records import Scoring, ScoringSettings
from reelscore.challenges.queue.processes import Message
from reelscore.challenges.store.kept_scores import (
    ScoredSplit,
    draws_file,
    npy_file,
    result_of,
    score_form,
    with_draws,
)
from reelscore.challenges.uploads.splits import captions_references, stories_references, story_of
from reelscore.data.stories import Stories
from reelscore.data.tables.table import Draws, MetricResult, ScoreTable
from reelscore.errors import DataError
from reelscore.scoring.intervals import add_intervals, groups_of, intervals_of, resampled
from reelscore.scoring.prepared import PreparedReferences
from reelscore.scoring.scores import Scores

_KEPT = 4  # splits whose references stay prepared
_LEVEL = 0.95

Score = Callable[[Any], Scores]
_prepared: OrderedDict[str, tuple[Score, list[str]]] = OrderedDict()


def answer(request: Message) -> Message:
    """Score one submission; called in a process of its own."""
    try:
        settings, content = request["settings"], request["content"]
        digests: dict[str, str] = request["digests"]
        names = {split: _name(digest, settings) for split, digest in digests.items()}
        missing = [
            digests[split]
            for split, name in names.items()
            if name not in _prepared and digests[split] not in content
        ]
        if missing:
            return {"missing": missing}
        captions = msgspec.json.decode(request["captions"])
        scored = {}
        for split, name in names.items():
            if name not in _prepared:
                items_text, references = content[digests[split]]
                _prepared[name] = prepare(settings, items_text, references, request["threads"])
            _prepared.move_to_end(name)
            while len(_prepared) > _KEPT:
                _prepared.popitem(last=False)
            score, items = _prepared[name]
            scored[split] = _packed(score_split(score, items, captions[split], settings))
        return {"scored": scored}
    except Exception as error:  # the end of the process's work: told to the one that asked
        return {"defect": _where(error)}


def _name(digest: str, settings: ScoringSettings) -> str:
    return digest + msgspec.json.encode(settings, order="sorted").decode()


def _where(error: BaseException) -> str:
    """Return where something failed, without what it was about."""
    frames = traceback.extract_tb(error.__traceback__)
    lines = [f"{frame.filename}:{frame.lineno} {frame.name}" for frame in frames]
    return "\n".join([type(error).__name__, *lines[-12:]])


def prepare(
    settings: ScoringSettings, items: bytes, references: bytes, threads: int | None = None
) -> tuple[Score, list[str]]:
    """Prepare the references of a split."""
    ids: list[str] = msgspec.json.decode(items)["items"]
    if settings["kind"] == "stories":
        return _story_scorer(settings, references, threads), ids
    from reelscore.metrics.registry import table_columns

    paired = captions_references(items, references)
    columns = table_columns(settings["metrics"])
    prepared = PreparedReferences(paired, columns, settings["tokenizer"], threads, "error", "error")
    places = np.arange(len(ids), dtype=np.int64)
    return lambda captions: prepared.scores(prepared.measure(captions, places)), ids


def _story_scorer(settings: ScoringSettings, references: bytes, threads: int | None) -> Score:
    from reelscore.stories.story_scorer import StoryScorer

    scoring = Scoring(scores=tuple(settings["scores"]), protocol=settings["protocol"])
    protocol = scoring.story_protocol
    scorer = StoryScorer(stories_references(references), protocol, threads)

    def score(captions: Mapping[str, Sequence[Any]]) -> Scores:
        stories = {video: story_of({"captions": rows}) for video, rows in captions.items()}
        return scorer.score(Stories(stories, protocol.policies))

    return score


def score_split(
    score: Score, items: Sequence[str], captions: Any, settings: ScoringSettings
) -> ScoredSplit:
    """Score the captions of one split, and resample the scores."""
    scores = score(captions)
    table = scores.table("submission")
    results = drawn_results(table, items, settings["resamples"], settings["seed"])
    return ScoredSplit(results, {**_arrays(scores, items), "draws": draws_file(results)})


def drawn_results(
    table: ScoreTable, items: Sequence[str], resamples: int, seed: int
) -> dict[str, MetricResult]:
    """Resample the scores of one submission: its results, with intervals and draws."""
    [system] = table.systems
    groups = groups_of(table)[0]
    whole = [group for group in groups if len(group.rows[0]) == len(items)]
    for group in whole:
        result = next(table[system][name] for name in group.outputs if name in table[system])
        order = result.statistics.items if result.statistics else result.items.index.items
        if list(order) != list(items):
            raise DataError(
                f"The items of {system!r} are in another order than those of the split; score "
                "them in the split's order, so that resamples are of the same items."
            )
    intervals: dict[tuple[str, str], tuple[float, float]] = {}
    draws = {}
    for group, drawn in resampled(whole, resamples, seed):
        intervals |= intervals_of(group, drawn, _LEVEL)
        for k, name in enumerate(group.outputs):
            draws[name] = Draws.of_scores(name, np.ascontiguousarray(drawn[:, 0, k]))
    made = f"level:{_LEVEL:g}|resamples:{resamples}|seed:{seed}"
    row = add_intervals(table, intervals, made)[system]
    return {name: replace(result, draws=draws.get(name)) for name, result in row.items()}


def _arrays(scores: Scores, items: Sequence[str]) -> dict[str, tuple[list[str], bytes]]:
    """Return the scores of items and the statistics as NumPy files, a row for each item."""
    place = {item: k for k, item in enumerate(items)}
    columns = np.full((len(items), len(scores)), np.nan)
    for k, result in enumerate(scores.values()):
        rows = [place[item] for item in result.items.index.items]
        columns[rows, k] = result.items.array
    names, parts = [], []
    for measured in scores.measurements:
        if len(measured.statistics) == len(items):
            parts.append(measured.statistics)
            width = measured.statistics.shape[1]
            names += [f"{measured.metric.name}:{k}" for k in range(width)]
    statistics = np.hstack(parts) if parts else np.zeros((len(items), 0))
    return {
        "items": (list(scores), npy_file(columns)),
        "statistics": (names, npy_file(np.ascontiguousarray(statistics, dtype=np.float64))),
    }


def _packed(scored: ScoredSplit) -> Message:
    return {
        "scores": [(own.metric, score_form(own), own.signature) for own in scored.scores.values()],
        "arrays": dict(scored.arrays),
    }


def unpacked(answered: Message) -> dict[str, ScoredSplit]:
    """Return what a scorer's process answered."""
    scored = {}
    for split, each in answered["scored"].items():
        results = {name: result_of(name, *own) for name, *own in each["scores"]}
        arrays = each["arrays"]
        scored[split] = ScoredSplit(with_draws(results, *arrays["draws"]), arrays)
    return scored
