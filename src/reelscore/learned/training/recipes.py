"""Recipes: in which stages a cross-encoder is trained, and on what.

A sentence encoder has never seen two texts at once. It first learns to compare them on pairs whose
similarity another model knows (`similarity`), and on people's captions of the same and of other
videos (`people`); then what people said of many captions once (`judgments` of kind SA), and of few
captions often (MA). At last it learns that damaged captions are worse, and says of others what it
said before (`anchors`). A smaller network learns all of this from one that knows it (`teacher`).
"""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass, replace
from typing import Annotated, Literal

from msgspec import Meta

from reelscore.errors import check_choice

Source = Literal["similarity", "people", "judgments", "anchors", "teacher"]


@dataclass(frozen=True)
class Stage:
    """One pass of training.

    Attributes:
        source: Where the targets come from.
        kinds: For judgments: which kinds; all if empty.
        epochs: How often each caption is seen.
        rate: The learning rate at its peak; the head learns five times as fast.
        batch: Captions a step.
        references: References compared at a time; their mean is what counts.
        correlation: Weight of 1 − r within a batch, beside the squared error.
        damaged: Captions a step that are compared with a damaged copy of themselves.
        margin: By how much a caption should be better than its damaged copy, in standard scores.
        damage_weight: How much that counts, beside the squared error.
        often: Lessons that come up more often than others, and how many times as often.
        similarity: For anchors: the share of similarity in the targets beside the network's own
            scores, here and elsewhere.
        rounds: For anchors and a teacher: how often captions are drawn, each time beside another
            reference.
    """

    source: Source
    kinds: tuple[str, ...] = ()
    epochs: float = 2.0
    rate: float = 5e-5
    batch: int = 64
    references: int = 1
    correlation: float = 0.0
    damaged: int = 0
    margin: float = 0.5
    damage_weight: float = 1.0
    often: tuple[tuple[str, int], ...] = ()
    similarity: tuple[float, float] = (0.0, 0.0)
    rounds: int = 1


@dataclass(frozen=True)
class Recipe:
    """The stages of a training, in order, and what they share.

    >>> careful = recipe_of("careful")
    >>> [len(part.stages) for part in (careful.shared, careful.own, careful.last)]
    [1, 3, 1]

    Attributes:
        name: Its name.
        stages: The stages.
        members: How many trainings are averaged; they share the stage of similarity, and a
            stage of anchors starts from their average.
        max_length: Tokens of candidate and reference together; more are cut off.
        weight_decay: Of AdamW.
        campaign_scales: Give every campaign its own level and spread.
        validation: Share of the items kept for early stopping; 0 trains to the end.
        patience: Epochs without a better correlation on them before a stage ends.
        similarity: How much the cosine of sentence vectors counts in the end, beside the network's
            score, if its encoder is the sentence encoder.
        unknown_damages: Kinds of damage that are not taught, to see whether they are recognised.
        layers: Which layers of the encoder are kept, counted from 0; all if empty.
    """

    name: str
    stages: tuple[Stage, ...]
    members: int = 1
    max_length: int = 128
    weight_decay: float = 0.01
    campaign_scales: bool = True
    validation: Annotated[float, Meta(ge=0, le=0.5)] = 0.0
    patience: Annotated[int, Meta(ge=1)] = 1
    similarity: float = 0.0
    unknown_damages: tuple[str, ...] = ()
    layers: tuple[int, ...] = ()

    @property
    def has_teacher(self) -> bool:
        """Whether it learns from another network."""
        return any(stage.source == "teacher" for stage in self.stages)

    @property
    def shared(self) -> Recipe:
        """The stages that all members share."""
        return replace(self, stages=tuple(s for s in self.stages if s.source == "similarity"))

    @property
    def own(self) -> Recipe:
        """The stages that each member trains separately."""
        apart = ("similarity", "anchors")
        return replace(self, stages=tuple(s for s in self.stages if s.source not in apart))

    @property
    def last(self) -> Recipe:
        """The stages that come after the averaging."""
        return replace(self, stages=tuple(s for s in self.stages if s.source == "anchors"))

    def for_kinds(self, kinds: Collection[str]) -> Recipe:
        """Return the recipe for judgments of some kinds: one stage for those without a kind.

        >>> [stage.kinds for stage in recipe_of("plain").for_kinds([""]).stages]
        [()]
        """
        if any(kinds):
            return self
        first = next((stage for stage in self.stages if stage.source == "judgments"), None)
        stages = [
            replace(stage, kinds=()) if stage is first else stage
            for stage in self.stages
            if stage.source != "judgments" or stage is first
        ]
        return replace(self, stages=tuple(stages))


_SIMILARITY = Stage("similarity", epochs=2, rate=2e-4, batch=128)
_PEOPLE = Stage("people", epochs=1, rate=5e-5)
_SINGLE = Stage("judgments", ("SA",), epochs=2, rate=1e-4, correlation=0.5)
_MULTIPLE = Stage("judgments", ("MA",), 4, 6e-5, batch=32, references=3, correlation=0.5)
_CAREFUL = Stage(
    "anchors",
    epochs=2,
    rate=6e-5,
    batch=128,
    damaged=96,
    damage_weight=0.5,
    # those that are harder to learn
    often=(
        *(("stutter", 8), ("roles", 4), ("noun", 3), ("truncation", 3), ("verb", 3)),
        *(("colour", 2), ("lacking", 2)),
    ),
    similarity=(0.0, 0.5),
    rounds=2,
)

RECIPES = {
    recipe.name: recipe
    for recipe in (
        # the paper's: judgments alone, squared error, one reference at a time
        Recipe("plain-sa", (Stage("judgments", ("SA",)),), campaign_scales=False),
        Recipe(
            "plain-ma",
            (Stage("judgments", ("MA",), epochs=4, rate=3e-5, batch=32),),
            campaign_scales=False,
        ),
        Recipe(
            "plain",
            (
                Stage("judgments", ("SA",)),
                Stage("judgments", ("MA",), epochs=4, rate=3e-5, batch=32),
            ),
            campaign_scales=False,
        ),
        Recipe("staged", (_SIMILARITY, _PEOPLE, _SINGLE, _MULTIPLE)),
        Recipe("own", (_SIMILARITY, _PEOPLE, replace(_SINGLE, kinds=()))),
        Recipe("averaged", (_SIMILARITY, _PEOPLE, _SINGLE, _MULTIPLE), members=3),
        # it also learns that damaged captions are worse
        Recipe(
            "careful",
            (_SIMILARITY, _PEOPLE, _SINGLE, _MULTIPLE, _CAREFUL),
            members=3,
            similarity=1.0,
        ),
        # fewer layers, which learn what a whole network says
        Recipe(
            "student",
            (Stage("teacher", epochs=3, rate=2e-4, batch=128, rounds=2),),
            layers=(0, 1, 3, 5),
        ),
    )
}


def recipe_of(name: str) -> Recipe:
    """Return a recipe by name.

    Raises:
        UnknownNameError: If there is none of that name.

    >>> [stage.source for stage in recipe_of("staged").stages]
    ['similarity', 'people', 'judgments', 'judgments']
    """
    check_choice("recipe", name, RECIPES)
    return RECIPES[name]
