"""Anchors: pairs of texts on which a network goes on saying what it says.

A network that learns that damaged captions are worse may forget what people taught it. So in that
stage its own scores before the stage are the targets for ordinary captions: of the videos that it
learned from, and of videos and pictures elsewhere, of which nobody judged any. The similarity of
sentence vectors has a share in the targets, a larger one elsewhere, where it agrees with people
better than what was learned from one kind of videos does.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np

from reelscore.learned.judged_captions import JudgedCaption
from reelscore.learned.networks.sentence_vectors import Embedding, cosines
from reelscore.learned.training.recipes import Stage
from reelscore.text.damages.negation import negated
from reelscore.text.damages.sentence import WordRow

if TYPE_CHECKING:
    from reelscore.learned.networks.cross_encoder import CrossEncoder
    from reelscore.learned.training.examples import TrainingExamples

HERE, ELSEWHERE = 0, 1
_MOST = 40_000  # captions here; and elsewhere half as many
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
        for place, group, most in ((HERE, captions, _MOST), (ELSEWHERE, elsewhere, _MOST // 2))
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
