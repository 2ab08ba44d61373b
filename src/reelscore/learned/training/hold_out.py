"""Hold out a group, and every text of it that occurs elsewhere.

Captioners repeat themselves: "a man is playing a guitar" stands in every year's files. A caption
of the group held out must not be learned from under another year's name, so texts are compared
without case and punctuation, and captions that share one are left out of training.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import NamedTuple

from reelscore.errors import check_choice
from reelscore.learned.judged_captions import JudgedCaption
from reelscore.metrics.training_data import plain_form


class Overlap(NamedTuple):
    """How many captions of other groups were left out, and what is left of the overlap.

    Attributes:
        captions: Captions in training.
        judged: How many of them are judged.
        dropped: Captions left out because their text is one of the group held out.
        references: References left out for the same reason.
        remaining: Texts in both after that; always 0.
    """

    captions: int
    judged: int
    dropped: int
    references: int
    remaining: int


@dataclass(frozen=True)
class HeldOutSplit:
    """Captions to learn from and captions to test on.

    Attributes:
        training: Captions of the other groups, none with a text of the group held out.
        held_out: The captions of the group.
        overlap: The check.
    """

    training: list[JudgedCaption]
    held_out: list[JudgedCaption]
    overlap: Overlap


def hold_out(captions: Sequence[JudgedCaption], group: str) -> HeldOutSplit:
    """Split captions into the group held out and the rest, without any text in both."""
    groups = sorted({caption.group for caption in captions})
    check_choice("group", group, groups)
    held_out = [caption for caption in captions if caption.group == group]
    theirs = {plain_form(text) for caption in held_out for text in _texts(caption)}
    training, dropped, lost = [], 0, 0
    for caption in captions:
        if caption.group == group:
            continue
        kept = tuple(text for text in caption.references if plain_form(text) not in theirs)
        lost += len(caption.references) - len(kept)
        if plain_form(caption.candidate) in theirs or not kept:
            dropped += 1
            continue
        training.append(replace(caption, references=kept))
    ours = {plain_form(text) for caption in training for text in _texts(caption)}
    judged = sum(caption.score is not None for caption in training)
    overlap = Overlap(len(training), judged, dropped, lost, len(ours & theirs))
    return HeldOutSplit(training, held_out, overlap)


def _texts(caption: JudgedCaption) -> tuple[str, ...]:
    return (caption.candidate, *caption.references)
