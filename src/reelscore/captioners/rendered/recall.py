"""What captions say of what rendered clips show: recall of each role, and of rare verbs."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from reelscore.captioners.rendered.actions import ACTIONS
from reelscore.captioners.rendered.scenes import OBJECTS, PLACES
from reelscore.text.tokens import tokenize

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
    """Give the share of clips whose caption names the true verb, object, place and person.

    Any word for a thing counts. Clips without an object are left out of its share. No caption
    names all of it: half of the references say nothing of the place.

    Args:
        captions: The captions.
        truth: The lines of ``truth.jsonl``.

    >>> truth = [{"item": "a", "verb": "take", "object": "gun", "place": "office", "who": "man"}]
    >>> shares = recall({"a": "Someone picks up the pistol."}, truth)
    >>> shares["verb"], shares["object"], shares["place"]
    (1.0, 1.0, 0.0)
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
