"""Pairs of texts that teach a network what is worse, and pairs that keep what people taught it.

Captions stand beside damaged copies of themselves. A network that learns that damaged captions are
worse may forget what people taught it; so in that stage its own scores before the stage are the
targets for ordinary captions, the anchors: of the videos that it learned from, and of videos and
pictures elsewhere, of which nobody judged any. The similarity of sentence vectors has a share in
the targets, a larger one elsewhere, where it agrees with people better than what was learned from
one kind of videos does.
"""

from __future__ import annotations

import math
import random
from bisect import bisect_right
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import islice
from typing import TYPE_CHECKING

import numpy as np

from reelscore.learned.judged_captions import JudgedCaption
from reelscore.learned.networks.sentence_vectors import Embedding, cosines
from reelscore.learned.training.recipes import Stage
from reelscore.text.damages.exploits import exploit
from reelscore.text.damages.negation import negated
from reelscore.text.damages.rules import HELD_OUT_NEGATIONS, LACKING_NEGATIONS, damage, damage_forms
from reelscore.text.damages.sentence import WordRow

if TYPE_CHECKING:
    from reelscore.learned.networks.cross_encoder import CrossEncoder
    from reelscore.learned.training.examples import TrainingExamples


# The kinds of damage that are taught, in this order. One that is not named here changes no
# training; another form of one that is named does, as all its forms are taught.
_TAUGHT = (
    *("negation", "shuffle", "roles", "stutter", "truncation"),
    *("noun", "number", "colour", "being", "verb"),
)
# Those of a caption's form: worse whoever wrote it. The others change what it says, which may
# by chance make the caption of a system better.
_OF_FORM = ("negation", "shuffle", "stutter", "truncation")
# Candidates that cheat; in other languages the network reads nothing, so it learns nothing there.
# What is generic is left out: systems write it, and people judge it fairly.
_EXPLOITS = ("spoilt copy", "all references", "500 words", "other video", "punctuation")
_EXPLOIT_MARGIN = 0.4  # of the margin of a damage: a copy shares more with a reference
_MOST = {"truncation": 1.6}  # half of a true caption is true
_ENOUGH = 8_000  # pairs of each kind


@dataclass(frozen=True)
class DamagedPair:
    """A caption, a worse one, and references of the video to compare both with."""

    better: str  # the caption
    worse: str  # the worse one
    references: tuple[str, ...]
    margin: float = 1.0  # by how much it is better at least, as a share of the stage's margin
    # by how much at most. Without a bound, whatever looks like a damage would fall far below what
    # people say of it
    most: float = 3.0

    @property
    def texts(self) -> tuple[str, ...]:
        """All its texts."""
        return (self.better, self.worse, *self.references)


class PairsByLength:
    """Pairs of one kind of damage, to draw from those that are short enough."""

    def __init__(self, pairs: Sequence[DamagedPair], length: Mapping[str, int]) -> None:
        def longest(pair: DamagedPair) -> int:
            own = max(length[pair.better], length[pair.worse])
            return own + max(length[text] for text in pair.references)

        self._pairs = sorted(pairs, key=longest)
        self._lengths = [longest(pair) for pair in self._pairs]

    def count(self, longest: int) -> int:
        """How many pairs have a candidate and a reference of so many tokens together, or fewer."""
        return bisect_right(self._lengths, longest)

    def draw(self, chance: random.Random, longest: int) -> DamagedPair:
        """Draw one of those."""
        return self._pairs[chance.randrange(self.count(longest))]


def damaged_pairs(
    captions: Sequence[JudgedCaption],
    seed: int,
    unknown: Sequence[str] = (),
    elsewhere: Sequence[JudgedCaption] = (),
) -> dict[str, list[DamagedPair]]:
    """Damage captions in every way that is taught; the pairs of each lesson."""
    by_lesson = {}
    captions = [*captions, *(caption for caption in elsewhere if caption.person)]
    for lesson, (kind, forms) in _lessons().items():
        if kind in unknown:
            continue
        rng = random.Random(f"{seed} {lesson}")
        if kind in _EXPLOITS:
            pairs = list(islice(_exploits(captions, kind, rng), _ENOUGH))
        else:
            pairs = list(islice(_damages(captions, kind, forms, rng), _ENOUGH))
        if pairs:
            by_lesson[lesson] = pairs
    return by_lesson


def _lessons() -> dict[str, tuple[str, list[str]]]:
    """Name the lessons; each has a kind of damage or exploit, and the forms of a damage."""
    lessons = {kind: (kind, damage_forms(kind)) for kind in _TAUGHT}
    taught = [form for form in damage_forms("negation") if form not in HELD_OUT_NEGATIONS]
    # few captions can be changed in these forms, so they would hardly come up among the others
    lessons["negation"] = ("negation", [form for form in taught if form not in LACKING_NEGATIONS])
    lessons["lacking"] = ("negation", list(LACKING_NEGATIONS))
    return lessons | {kind: (kind, []) for kind in _EXPLOITS}


def _damages(
    captions: Sequence[JudgedCaption], kind: str, forms: Sequence[str], rng: random.Random
) -> Iterator[DamagedPair]:
    most = _MOST.get(kind, DamagedPair.most)
    for caption, text, others in _originals(captions, rng, people=kind not in _OF_FORM):
        damaged = damage(kind, text, rng, forms=forms, references=caption.references)
        if damaged is not None:
            yield DamagedPair(text, damaged, others, most=most)


def _exploits(
    captions: Sequence[JudgedCaption], kind: str, rng: random.Random
) -> Iterator[DamagedPair]:
    texts = [text for caption in captions for text in caption.references]
    for _, text, others in _originals(captions, rng, people=True):
        strange = rng.sample(texts, min(len(texts), 60))
        cheat = exploit(kind, text, rng, references=others, others=strange)
        if cheat is not None:
            yield DamagedPair(text, cheat, others, _EXPLOIT_MARGIN, math.inf)


def _originals(
    captions: Sequence[JudgedCaption], rng: random.Random, *, people: bool
) -> Iterator[tuple[JudgedCaption, str, tuple[str, ...]]]:
    """Draw captions with what to compare them with.

    Most are people's beside other people's; some are copies of a reference, and, unless only
    people are asked for, some a system's.
    """
    for caption in rng.sample(captions, len(captions)):
        draw = rng.random()
        if caption.person or (draw < 0.2 and not people):
            yield caption, caption.candidate, caption.references
            continue
        text = rng.choice(caption.references)
        others = tuple(other for other in caption.references if other != text)
        if draw < 0.4 or not others:
            yield caption, text, (text,)
        else:
            yield caption, text, others


HERE, ELSEWHERE = 0, 1
_ANCHORS = 40_000  # captions here; and elsewhere half as many
_MISMATCHED = 0.2  # share of captions beside a reference of another video
_CUT_SHORT = 0.1  # share of captions of which the first words alone are taken: people judge what
# little is said by whether it is true, so fragments are not worse than the network says


def anchor_pairs(
    captions: Sequence[JudgedCaption],
    elsewhere: Sequence[JudgedCaption],
    rng: np.random.Generator,
    rounds: int = 1,
) -> list[tuple[str, str, int]]:
    """Draw pairs of caption and reference, and whether they are from here or elsewhere."""
    pairs: list[tuple[str, str, int]] = []
    sources = [
        (place, list({(each.item, each.candidate): each for each in group}.values()), most)
        for place, group, most in (
            (HERE, captions, _ANCHORS),
            (ELSEWHERE, elsewhere, _ANCHORS // 2),
        )
    ]
    for place, distinct, most in sources * rounds:
        for row in rng.permutation(len(distinct))[:most]:
            own = distinct[row]
            other = distinct[int(rng.integers(len(distinct)))]
            texts = (other if rng.random() < _MISMATCHED else own).references
            candidate = own.candidate
            if rng.random() < _CUT_SHORT:
                candidate = " ".join(candidate.split()[: int(rng.integers(1, 5))])
            pairs.append((candidate, texts[int(rng.integers(len(texts)))], place))
    return pairs


def without_negation(pairs: Sequence[tuple[str, str, int]]) -> list[tuple[str, str, int]]:
    """Leave out pairs in which a text denies something.

    The network is about to learn what a negation means. What it says of one before the stage
    would teach it that the word in question changes nothing: even the few captions with "without"
    are enough.

    >>> without_negation([("a man without hat", "a man", 0), ("a man sits", "a boy sits", 0)])
    [('a man sits', 'a boy sits', 0)]
    """
    return [pair for pair in pairs if not any(negated(WordRow.read(text)) for text in pair[:2])]


def with_targets(
    anchors: TrainingExamples, stage: Stage, network: CrossEncoder, embedding: Embedding | None
) -> TrainingExamples:
    """Put what the network says now, mixed with similarity, as targets."""
    references = [texts[0] for texts in anchors.references]
    own = network.predict(anchors.candidates, references)
    if embedding is None or not any(stage.similarity):
        return replace(anchors, targets=own)
    similar = cosines(anchors.candidates, references, embedding)
    here = anchors.sources == HERE
    # to the level and spread of the network's own scores of the videos that it knows
    similar = (similar - similar[here].mean()) / (similar[here].std() or 1.0)
    similar = own[here].mean() + own[here].std() * similar
    share = np.where(here, *stage.similarity)
    return replace(anchors, targets=(own + share * similar) / (1 + share))
