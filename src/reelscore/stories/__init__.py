"""Score stories, the timed captions of long videos (dense video captioning).

Two frameworks, each with its protocol choices by name: SODA, which matches stories in order, and
the scorer of the ActivityNet challenge, which pairs whatever overlaps.

>>> from reelscore import examples, stories
>>> systems, annotators = examples.stories()
>>> results = stories.score(systems["concise"], annotators.values())
>>> round(results["soda_c"].score, 4)
0.1929
"""

from __future__ import annotations

from reelscore.data.stories import Stories, Story, StoryPolicies
from reelscore.data.story_files import read_stories, stories_of
from reelscore.stories.iou import iou
from reelscore.stories.matching import Match, Matching, StoryMatching, match
from reelscore.stories.presets import PRESETS, preset
from reelscore.stories.protocol import Protocol
from reelscore.stories.results import StoryResults, StoryScores
from reelscore.stories.samples import crowd
from reelscore.stories.scores import StoryScorer, score, score_systems
from reelscore.stories.studies import Setting, Study, study_counts, study_oracle, study_order
from reelscore.stories.timelines import Timeline, timeline

__all__ = [
    "PRESETS",
    "Match",
    "Matching",
    "Protocol",
    "Setting",
    "Stories",
    "Story",
    "StoryMatching",
    "StoryPolicies",
    "StoryResults",
    "StoryScorer",
    "StoryScores",
    "Study",
    "Timeline",
    "crowd",
    "iou",
    "match",
    "preset",
    "read_stories",
    "score",
    "score_systems",
    "stories_of",
    "study_counts",
    "study_oracle",
    "study_order",
    "timeline",
]
