"""Captions of rendered clips: a grammar with synonyms, omissions and what nobody can see.

And the other way round: what captions name of what a clip shows.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import NamedTuple, TypeVar

import numpy as np

from reelscore.text.tokens import tokenize
from reelscore_studies.rendered.actions import ACTIONS, UNSEEN
from reelscore_studies.rendered.scenes import (
    OBJECTS,
    PLACES,
    Scene,
    caption_numbers,
    draw_scene,
)

T = TypeVar("T")

REFERENCES = 4
_COMMONEST = 0.6  # share of the first of several ways to say a thing, of what is left
_PERSON, _PLACE, _OBJECT, _ADVERB = 0.28, 0.50, 0.40, 0.15
_UNSEEN_INSTEAD, _UNSEEN_TOO = 0.08, 0.06
_ADVERBS = ("slowly", "quickly", "quietly", "suddenly", "carefully")


class Clause(NamedTuple):
    """Who does what, to what, and where: what a perfect parser finds in a caption."""

    subject: str
    verb: str
    object: str | None
    location: str | None


class Caption(NamedTuple):
    """A caption and its clauses; the first is the main one."""

    text: str
    clauses: tuple[Clause, ...]


def captions_of(seed: int, movie: int, clip: int, misaligned: float = 0.10) -> tuple[Caption, ...]:
    """Write the references of a clip; the first may describe the clip before.

    >>> [caption.text for caption in captions_of(0, 3, 14)][:2]
    ['Someone throws the note.', 'Someone throws the note in the woods.']
    """
    scene = draw_scene(seed, movie, clip)
    captions = []
    for number in range(REFERENCES):
        rng = caption_numbers(seed, movie, clip, number)
        wrong = rng.random() < misaligned and number == 0 and clip > 0
        captions.append(_caption(draw_scene(seed, movie, clip - 1) if wrong else scene, rng))
    return tuple(captions)


def _caption(scene: Scene, rng: np.random.Generator) -> Caption:
    # One number for each choice, always drawn: a choice never moves those after it.
    luck = rng.random(12)
    subject = scene.who.name if luck[0] < _PERSON else "someone"
    place = _one_of(scene.place.names, luck[1]) if luck[2] < _PLACE else None
    adverb = _ADVERBS[int(luck[3] * len(_ADVERBS))] if luck[4] < _ADVERB else ""
    hidden, hidden_name = UNSEEN[int(luck[5] * len(UNSEEN))]
    there = f"{scene.place.preposition} the {place}" if place else ""
    start = "someone" if subject == "someone" else f"{'the' if luck[6] < 0.5 else 'a'} {subject}"
    if luck[7] < _UNSEEN_INSTEAD:
        clause = Clause(subject, hidden_name, None, place)
        return _written([start, hidden, adverb, there], (clause,))
    words, verb = _one_of(scene.action.forms, luck[8])
    thing, object_words = None, ""
    if scene.action.partner:
        thing = object_words = "someone"
    elif scene.object and (scene.action.object == "required" or luck[9] < _OBJECT):
        thing = _one_of(OBJECTS[scene.object], luck[10])
        object_words = f"{scene.action.link} the {thing}".strip()
    if scene.action.into:
        there = f"the {place}" if place else "the place" if words.endswith("into") else ""
        parts = [start, words, there, adverb]
    else:
        parts = [start, words, object_words, adverb, there]
    clauses = [Clause(subject, verb, thing, place)]
    if luck[11] < _UNSEEN_TOO:
        parts += ["and", hidden]
        clauses.append(Clause(subject, hidden_name, None, None))
    return _written(parts, tuple(clauses))


def _written(parts: Sequence[str], clauses: tuple[Clause, ...]) -> Caption:
    text = " ".join(part for part in parts if part)
    return Caption(f"{text[0].upper()}{text[1:]}.", clauses)


def _one_of(ways: Sequence[T], luck: float) -> T:
    """Choose among ways to say a thing, each less common than the one before."""
    shares = np.cumsum([_COMMONEST * (1 - _COMMONEST) ** k for k in range(len(ways))])
    return ways[int(np.searchsorted(shares, luck * shares[-1], side="right"))]


# What captions name

_VERBS = {action.name: [words for words, _ in action.forms] for action in ACTIONS}
_PLACES = {place.name: list(place.names) for place in PLACES}
_BANDS = {  # how common a verb is: eight of them each
    action.name: ("common verbs", "middle verbs", "rare verbs")[number // 8]
    for number, action in enumerate(sorted(ACTIONS, key=lambda own: -own.weight))
}
ROLES = ("verb", "object", "place", "person", *dict.fromkeys(_BANDS.values()))


def recall(
    captions: Mapping[str, str], truth: Iterable[Mapping[str, str | None]]
) -> dict[str, float]:
    """Return the share of clips whose caption names the true verb, object, place and person.

    Any word for a thing counts. Clips without an object are left out of its share. No caption
    names all of it: half of the references say nothing of the place.
    """
    named: dict[str, list[bool]] = {role: [] for role in ROLES}
    lines = [line for line in truth if line["item"] in captions]
    texts = tokenize(captions[str(line["item"])] for line in lines)
    for line, text in zip(lines, texts, strict=True):
        verb = _says(text, _VERBS[str(line["verb"])])
        named["verb"].append(verb)
        named[_BANDS[str(line["verb"])]].append(verb)
        named["place"].append(_says(text, _PLACES[str(line["place"])]))
        named["person"].append(_says(text, [str(line["who"])]))
        if line["object"]:
            named["object"].append(_says(text, OBJECTS[line["object"]]))
    return {role: sum(own) / len(own) for role, own in named.items() if own}


def _says(text: str, words: Iterable[str]) -> bool:
    return any(f" {word} " in f" {text} " for word in words)
