"""Captioners: baselines to put under a table, and captions of any model as a file.

Baselines are made from the user's own features and captions: the nearest neighbour, the retrieval
upper bound, the best constant sentence, visual labels with a small network. They are floors to
compare with, no competitors of today's models.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from reelscore._lazy import lazy_names

if TYPE_CHECKING:
    from reelscore.captioners.adapters.clip_work import CaptionSettings
    from reelscore.captioners.caption_run import CaptionRun, run
    from reelscore.captioners.captioner import Captioner
    from reelscore.captioners.classifiers import LabelParameters, TrainedLabel
    from reelscore.captioners.features import Features, feature_items, read_features
    from reelscore.captioners.label_folders import Labels
    from reelscore.captioners.neighbours import NearestItems, NearestSearch, nearest
    from reelscore.captioners.rendered.dataset import RenderedClips, write_clips
    from reelscore.captioners.retrieval import (
        Bound,
        BoundSearch,
        ConstantSearch,
        ConstantSentence,
        bound,
        constant,
    )
    from reelscore.captioners.run_record import Parameters, Run, write_candidates
    from reelscore.captioners.search import Neighbours, nearest_rows, normalised
    from reelscore.captioners.study.plans import Plan, read_plan
    from reelscore.captioners.study.runs import run_study
    from reelscore.captioners.study.tables import StudyResults
    from reelscore.captioners.training import Recipe
    from reelscore.captioners.translation import TranslationParameters, Translator
    from reelscore.captioners.tuples import Roles, Tuples, read_tuples

__all__ = [
    "Bound",
    "BoundSearch",
    "CaptionRun",
    "CaptionSettings",
    "Captioner",
    "ConstantSearch",
    "ConstantSentence",
    "Features",
    "LabelParameters",
    "Labels",
    "NearestItems",
    "NearestSearch",
    "Neighbours",
    "Parameters",
    "Plan",
    "Recipe",
    "RenderedClips",
    "Roles",
    "Run",
    "StudyResults",
    "TrainedLabel",
    "TranslationParameters",
    "Translator",
    "Tuples",
    "bound",
    "constant",
    "feature_items",
    "nearest",
    "nearest_rows",
    "normalised",
    "read_features",
    "read_plan",
    "read_tuples",
    "run",
    "run_study",
    "write_candidates",
    "write_clips",
]

__getattr__, __dir__ = lazy_names(
    __name__,
    {
        "captioners.adapters.clip_work": "CaptionSettings",
        "captioners.caption_run": "CaptionRun run",
        "captioners.captioner": "Captioner",
        "captioners.classifiers": "LabelParameters TrainedLabel",
        "captioners.label_folders": "Labels",
        "captioners.neighbours": "NearestItems NearestSearch nearest",
        "captioners.retrieval": "Bound BoundSearch ConstantSearch ConstantSentence bound constant",
        "captioners.features": "Features feature_items read_features",
        "captioners.run_record": "Parameters Run write_candidates",
        "captioners.rendered.dataset": "RenderedClips write_clips",
        "captioners.search": "Neighbours nearest_rows normalised",
        "captioners.study.plans": "Plan read_plan",
        "captioners.study.runs": "run_study",
        "captioners.study.tables": "StudyResults",
        "captioners.training": "Recipe",
        "captioners.translation": "TranslationParameters Translator",
        "captioners.tuples": "Roles Tuples read_tuples",
    },
)
