"""From stories to a score table: read, pair, score."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from msgspec.structs import replace

from reelscore._progress import Progress
from reelscore.data.captions.coverage import items_notes
from reelscore.data.captions.item_ids import rule_note
from reelscore.data.tables.table import ScoreTable, Sources, system_notes
from reelscore.engines.engine import Engine
from reelscore.errors import about_system
from reelscore.scoring.scores import Scores, only_row
from reelscore.stories.paired_stories import (
    StoriesLike,
    annotators_of,
    candidates_of,
    on_shared_videos,
    with_matched_videos,
)
from reelscore.stories.protocol import PRESET_NOTES, protocol_of
from reelscore.stories.story_scorer import StoryScorer
from reelscore.stories.timelines import Timelines


def score(
    candidates: StoriesLike,
    references: StoriesLike | Iterable[StoriesLike],
    scores: str | Iterable[str] | None = None,
    *,
    preset: str | None = None,
    match_ids: str | None = None,
    threads: int | None = None,
    engine: Engine | None = None,
    **choices: Any,
) -> Scores:
    """Score one system's stories.

    Args:
        candidates: The system's timed captions: a file, what `json.load` gives for it, or
            `reelscore.data.stories.Stories`.
        references: The same for the truth; several for several annotators.
        scores: ``soda`` (all three), ``soda_a``, ``soda_b``, ``soda_c``, ``activitynet``.
        preset: A named protocol to start from: see `reelscore.stories.protocol`.
        match_ids: How to match videos that candidates and references write differently, as in
            `reelscore.score`.
        threads: How many threads to use; ``None`` for all cores. Never changes a number.
        engine: As in `reelscore.score`.
        choices: Choices of the protocol that differ from the preset's or the default:
            see `reelscore.stories.protocol.Protocol`.

    Returns:
        Results by name, each with ``score``, ``items`` (videos) and ``signature``.

    Raises:
        DataError: If a file or a caption is bad, or candidates and references do not fit together.

    >>> from reelscore import examples
    >>> systems, annotators = examples.stories()
    >>> results = score(systems["concise"], annotators.values(), "soda", annotators="merge")
    >>> {name: round(results[name].score, 3) for name in ("soda_a", "soda_b", "soda_c")}
    {'soda_a': 0.19, 'soda_b': 0.211, 'soda_c': 0.194}
    >>> results["soda_c"].items["v_kayak"] > 0.15
    True
    """
    table = score_systems(
        {"": candidates},
        references,
        scores,
        preset=preset,
        match_ids=match_ids,
        threads=threads,
        engine=engine,
        **choices,
    )
    return only_row(table)


def score_systems(
    systems: Mapping[str, StoriesLike],
    references: StoriesLike | Iterable[StoriesLike],
    scores: str | Iterable[str] | None = None,
    *,
    preset: str | None = None,
    match_ids: str | None = None,
    common: bool = False,
    threads: int | None = None,
    progress: Progress | None = None,
    engine: Engine | None = None,
    **choices: Any,
) -> ScoreTable:
    """Score several systems against the same references; arguments as in `score`.

    Args:
        systems: Candidates by system name.
        references, scores, preset, match_ids: As in `score`.
        common: Score all systems on the videos that each of them has candidates for, as does
            ``missing="common"``.
        threads: As in `score`.
        progress: Called now and then with how many videos of a system are done, of how many:
            from 0 on for each.
        engine, choices: As in `score`.

    Returns:
        A table whose rows are `reelscore.Scores` and whose items are videos. Scores of the
        ActivityNet scorer have those at each threshold in ``by_tiou``, and ``sources.timelines``
        shows how each video was matched.

    >>> from reelscore import examples
    >>> systems, annotators = examples.stories()
    >>> table = score_systems(systems, annotators.values(), "soda_c,activitynet", metrics="meteor")
    >>> table.metrics
    ['soda_c_precision', 'soda_c_recall', 'soda_c', 'anet_meteor', 'anet_precision',
     'anet_recall', 'anet_f1']
    >>> {tiou: round(score, 3) for tiou, score in table["concise"]["anet_meteor"].by_tiou.items()}
    {'0.3': 0.219, '0.5': 0.234, '0.7': 0.256, '0.9': 0.224}
    >>> table.sources.timelines["concise"]["v_dogwash"].comparisons[0].summary
    'annotator 1: precision 0.1297, recall 0.1729, F1 0.1482'
    """
    if scores is not None:
        choices["scores"] = scores
    protocol = protocol_of(preset, choices)
    if protocol.missing == "common":
        common, protocol = True, protocol.but(missing="zero")
    annotators = annotators_of(references, protocol)
    read = {
        name: candidates_of(candidates, protocol, name or "candidates")
        for name, candidates in systems.items()
    }
    for name, stories in read.items():
        with about_system(name):
            read[name] = with_matched_videos(stories, annotators, match_ids)
    coverage = None
    if common:
        read, annotators, coverage = on_shared_videos(read, annotators)
    scorer = StoryScorer(annotators, protocol, threads, coverage, match_ids, engine)
    rows: dict[str, Scores] = {}
    for name, stories in read.items():
        with about_system(name):
            rows[name] = scorer.score(stories, progress)
    shown = Timelines(read, scorer, protocol.soda_scores[-1]) if protocol.soda_scores else {}
    table = ScoreTable(rows, sources=Sources(timelines=shown))
    own_notes = system_notes({name: scores.notes for name, scores in rows.items()})
    of_preset = [PRESET_NOTES[preset]] if preset in PRESET_NOTES else []
    notes = [
        *of_preset,
        *rule_note(match_ids),
        *own_notes,
        *scorer.notes(),
        *items_notes(table, coverage),
    ]
    return replace(table, notes=notes)
