"""Score stories, the timed captions of long videos (dense video captioning).

Two frameworks, each with its protocol choices by name: SODA, which matches stories in order, and
the scorer of the ActivityNet challenge, which pairs all captions that overlap.

>>> from reelscore import examples, stories
>>> systems, annotators = examples.stories()
>>> results = stories.score(systems["concise"], annotators.values())
>>> round(results["soda_c"].score, 4)
0.1929
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from reelscore._lazy import lazy_names

if TYPE_CHECKING:
    from reelscore.data.stories import Stories, Story, StoryPolicies
    from reelscore.data.story_files import read_stories, stories_of
    from reelscore.stories.matching import Match, Matching, StoryMatching, match
    from reelscore.stories.overlaps import iou
    from reelscore.stories.protocol import PRESETS, Protocol, preset
    from reelscore.stories.samples import crowd
    from reelscore.stories.scorer import StoryScorer
    from reelscore.stories.scores import score, score_systems
    from reelscore.stories.studies import Setting, Study, study_counts, study_oracle, study_order
    from reelscore.stories.timelines import Timeline, Timelines, side_by_side, timeline

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
    "StoryScorer",
    "Study",
    "Timeline",
    "Timelines",
    "crowd",
    "iou",
    "match",
    "preset",
    "read_stories",
    "score",
    "score_systems",
    "side_by_side",
    "stories_of",
    "study_counts",
    "study_oracle",
    "study_order",
    "timeline",
]

__getattr__, __dir__ = lazy_names(
    __name__,
    {
        "data.stories": "Stories Story StoryPolicies",
        "data.story_files": "read_stories stories_of",
        "stories.matching": "Match Matching StoryMatching match",
        "stories.overlaps": "iou",
        "stories.protocol": "PRESETS Protocol preset",
        "stories.samples": "crowd",
        "stories.scorer": "StoryScorer",
        "stories.scores": "score score_systems",
        "stories.studies": "Setting Study study_counts study_oracle study_order",
        "stories.timelines": "Timeline Timelines side_by_side timeline",
    },
)
