"""What is learned in a stage: captions, references to compare with, and targets."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from itertools import pairwise

import numpy as np
from numpy.typing import NDArray

from reelscore.errors import DataError
from reelscore.learned.judged_captions import JudgedCaption
from reelscore.learned.networks.bert import FloatArray
from reelscore.learned.networks.sentence_vectors import Embedding, cosines
from reelscore.learned.training.damaged_pairs import anchor_pairs, damaged_pairs, without_negation
from reelscore.learned.training.recipes import Stage

# Where pairs of people's captions and of unrelated ones stand on people's scale: people's own
# captions were judged about 0.8 above the mean, and hardly any caption falls below −1.1.
_SAME_VIDEO, _OTHER_VIDEO = 0.8, -1.1
# A score of n ratings varies about the truth by what references cannot tell, and by 1/n of the
# variance of a single rating.
_UNTOLD, _RATING = 0.15, 0.65
_DAMAGED = 4_000  # captions of each lesson that a teacher scores, with their damaged copies


@dataclass(frozen=True)
class TrainingExamples:
    """Rows of a stage."""

    candidates: list[str]  # the captions
    references: list[tuple[str, ...]]  # for each, the references it may be compared with
    targets: FloatArray  # what the metric should say
    weights: FloatArray  # how much each row counts
    campaigns: NDArray[np.int64]  # number of the campaign each target comes from; −1 for none
    # of anchors: whether each is from here or elsewhere
    sources: NDArray[np.int64] = field(default_factory=lambda: np.zeros(0, dtype=np.int64))

    def __len__(self) -> int:
        return len(self.candidates)


def campaigns_of(captions: Sequence[JudgedCaption]) -> list[str]:
    """Name the campaigns of judged captions, in order."""
    return sorted({caption.campaign for caption in captions if caption.score is not None})


def training_examples(
    stage: Stage,
    captions: Sequence[JudgedCaption],
    rng: np.random.Generator,
    *,
    embedding: Embedding | None = None,
    elsewhere: Sequence[JudgedCaption] = (),
) -> TrainingExamples:
    """Put together the rows of a stage; a network's scores become targets when it begins."""
    if stage.source == "judgments":
        examples = _judgments(stage, captions)
    elif stage.source == "similarity":
        assert embedding is not None
        examples = _similarity(captions, rng, embedding)
    elif stage.source == "anchors":
        pairs = without_negation(anchor_pairs(captions, elsewhere, rng, stage.rounds))
        sources = np.array([source for _, _, source in pairs], dtype=np.int64)
        examples = replace(_of_pairs([(a, b) for a, b, _ in pairs]), sources=sources)
    elif stage.source == "teacher":
        examples = _for_teacher(captions, elsewhere, rng, stage.rounds)
    else:
        examples = _people(captions, rng)
    if not len(examples):
        raise DataError(f"There is nothing to learn in the stage {stage.source!r} {stage.kinds}.")
    return examples


def check_stages(stages: Sequence[Stage], captions: Sequence[JudgedCaption]) -> None:
    """Refuse a recipe one of whose stages wants judgments that are not there."""
    kinds = {caption.kind for caption in captions if caption.score is not None}
    for stage in stages:
        if stage.source == "judgments" and stage.kinds and not kinds & set(stage.kinds):
            there = ", ".join(sorted(map(repr, kinds))) or "none"
            raise DataError(
                f"There is nothing to learn in the stage 'judgments' of kind "
                f"{' or '.join(stage.kinds)}: the judgments are of kind {there}. Take another "
                "recipe: 'own' learns from judgments of any kind."
            )


def _judgments(stage: Stage, captions: Sequence[JudgedCaption]) -> TrainingExamples:
    names = {name: k for k, name in enumerate(campaigns_of(captions))}
    chosen = [
        (caption, caption.score)
        for caption in captions
        if caption.score is not None and (not stage.kinds or caption.kind in stage.kinds)
    ]
    ratings = np.array([caption.ratings for caption, _ in chosen], dtype=float)
    return TrainingExamples(
        [caption.candidate for caption, _ in chosen],
        [caption.references for caption, _ in chosen],
        np.array([score for _, score in chosen]),
        1 / (_UNTOLD + _RATING / ratings),
        np.array([names[caption.campaign] for caption, _ in chosen], dtype=np.int64),
    )


def _similarity(
    captions: Sequence[JudgedCaption], rng: np.random.Generator, embedding: Embedding
) -> TrainingExamples:
    """Pairs of the same video, of people's captions, and of different videos, with their cosine."""
    pairs: list[tuple[str, str]] = []
    seen = list(
        {(each.item, each.candidate): each for each in captions if not each.person}.values()
    )
    chosen = [seen[k] for k in rng.permutation(len(seen))[:40_000]]
    people = _by_item(captions)
    everything = [text for texts in people for text in texts]
    for caption in chosen:
        pairs += [(caption.candidate, text) for text in _some(caption.references, 2, rng)]
    for texts in people:
        some = _some(texts, 3, rng)
        pairs += pairwise(some)
    for caption in chosen[: len(chosen) // 4]:
        pairs.append((caption.candidate, _any(everything, rng)))
    for _ in range(len(chosen) // 4):
        pairs.append((_any(everything, rng), _any(everything, rng)))
    candidates, references = [a for a, _ in pairs], [b for _, b in pairs]
    # to about the spread of people's scores
    targets = 3 * (cosines(candidates, references, embedding) - 0.4)
    return replace(_of_pairs(pairs), targets=targets)


def _people(captions: Sequence[JudgedCaption], rng: np.random.Generator) -> TrainingExamples:
    candidates: list[str] = []
    references: list[tuple[str, ...]] = []
    targets: list[float] = []

    def add(candidate: str, others: tuple[str, ...], target: float) -> None:
        candidates.append(candidate)
        references.append(others)
        targets.append(target)

    people = _by_item(captions)
    everything = [text for texts in people for text in texts]
    for texts in people:
        for text in texts:
            others = tuple(other for other in texts if other != text)
            if others:
                add(text, others, _SAME_VIDEO)
            add(_any(everything, rng), texts, _OTHER_VIDEO)
    automatic = [caption.candidate for caption in captions if not caption.person]
    for text in _some(automatic, 20_000, rng):
        add(text, people[int(rng.integers(len(people)))], _OTHER_VIDEO)
    return _without_campaign(candidates, references, np.array(targets))


def _for_teacher(
    captions: Sequence[JudgedCaption],
    elsewhere: Sequence[JudgedCaption],
    rng: np.random.Generator,
    rounds: int,
) -> TrainingExamples:
    """Ordinary captions, and captions beside damaged copies: what the teacher knows."""
    pairs = [
        (candidate, reference)
        for candidate, reference, _ in anchor_pairs(captions, elsewhere, rng, rounds)
    ]
    lessons = damaged_pairs(captions, int(rng.integers(2**31)), elsewhere=elsewhere)
    for damaged in lessons.values():
        for pair in damaged[:_DAMAGED]:
            reference = _any(pair.references, rng)
            pairs += [(pair.better, reference), (pair.worse, reference)]
    pairs = list(dict.fromkeys(pairs))
    return _of_pairs(pairs)


def _of_pairs(pairs: Sequence[tuple[str, str]]) -> TrainingExamples:
    """Return rows of a caption and a reference each, whose targets are not known yet."""
    zeros = np.zeros(len(pairs))
    return _without_campaign([a for a, _ in pairs], [(b,) for _, b in pairs], zeros)


def _without_campaign(
    candidates: list[str], references: list[tuple[str, ...]], targets: FloatArray
) -> TrainingExamples:
    count = len(candidates)
    return TrainingExamples(candidates, references, targets, np.ones(count), np.full(count, -1))


def _by_item(captions: Sequence[JudgedCaption]) -> list[tuple[str, ...]]:
    """References of each item, each once."""
    by_item: dict[str, dict[str, None]] = {}
    for caption in captions:
        by_item.setdefault(caption.item, {}).update(dict.fromkeys(caption.references))
    return [tuple(texts) for texts in by_item.values()]


def _some(texts: Sequence[str], count: int, rng: np.random.Generator) -> list[str]:
    return [texts[k] for k in rng.permutation(len(texts))[:count]]


def _any(texts: Sequence[str], rng: np.random.Generator) -> str:
    return texts[int(rng.integers(len(texts)))]
