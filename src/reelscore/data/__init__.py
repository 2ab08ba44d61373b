"""Captions in and out: read and check files, pair candidates with references, write safely.

An *item* is one video or clip, with an id. A *candidate* is the caption a system gives an item;
*references* are its human captions. Everything is checked here, at the border, so that the
metrics never meet a bad record.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from reelscore._lazy import lazy_names

if TYPE_CHECKING:
    from reelscore.data.atomic_files import write_atomically
    from reelscore.data.caption_files import read_candidates, read_references
    from reelscore.data.inputs import Inputs, read_inputs
    from reelscore.data.paired_captions import Paired, pair
    from reelscore.data.reading import Reading
    from reelscore.data.scales import Scale
    from reelscore.data.stories import Stories, Story, StoryPolicies
    from reelscore.data.story_files import read_stories, stories_of
    from reelscore.data.table import ItemIndex, ItemScores, MetricResult, ScoreTable, Sources
    from reelscore.data.table_files import read_table, write_table

__all__ = [
    "Inputs",
    "ItemIndex",
    "ItemScores",
    "MetricResult",
    "Paired",
    "Reading",
    "Scale",
    "ScoreTable",
    "Sources",
    "Stories",
    "Story",
    "StoryPolicies",
    "pair",
    "read_candidates",
    "read_inputs",
    "read_references",
    "read_stories",
    "read_table",
    "stories_of",
    "write_atomically",
    "write_table",
]

__getattr__, __dir__ = lazy_names(
    __name__,
    {
        "data.atomic_files": "write_atomically",
        "data.caption_files": "read_candidates read_references",
        "data.inputs": "Inputs read_inputs",
        "data.paired_captions": "Paired pair",
        "data.reading": "Reading",
        "data.scales": "Scale",
        "data.stories": "Stories Story StoryPolicies",
        "data.story_files": "read_stories stories_of",
        "data.table": "ItemIndex ItemScores MetricResult ScoreTable Sources",
        "data.table_files": "read_table write_table",
    },
)
