"""Damage to captions of several sentences: inside one of them, or to which sentences there are."""

from __future__ import annotations

import random
from collections.abc import Callable, Sequence
from itertools import pairwise

from reelscore.text.paragraphs import split_sentences

_ENDS = (".", "!", "?", "…", '"', "”", ")")


def several_sentences(text: str) -> bool:
    """Return whether a caption has more than one sentence.

    >>> several_sentences("a man sings. he bows")
    True
    """
    return len(_spans(text)) > 1


def inside_sentence(
    text: str, rng: random.Random, change: Callable[[str], str | None]
) -> str | None:
    """Change one sentence, the first that can be changed in a random order; none of a lone one.

    >>> inside_sentence("A man sings. He bows.", random.Random(1), lambda each: each.upper())
    'A MAN SINGS. He bows.'
    """
    spans = _spans(text)
    if len(spans) < 2:
        return None
    for start, end in rng.sample(spans, len(spans)):
        if changed := change(text[start:end]):
            ended = text[end - 1] in _ENDS and not changed.endswith(_ENDS)
            return f"{text[:start]}{changed}{'.' * ended}{text[end:]}"
    return None


def exchange_sentences(text: str, rng: random.Random, others: Sequence[str]) -> str | None:
    """Exchange two sentences: what happens later is told first."""
    parts = _parts(text)
    if len(parts) < 2:
        return None
    one, two = rng.sample(range(len(parts)), 2)
    parts[one], parts[two] = parts[two], parts[one]
    return " ".join(parts)


def leave_sentence_out(text: str, rng: random.Random, others: Sequence[str]) -> str | None:
    """Leave one sentence out."""
    parts = _parts(text)
    if len(parts) < 2:
        return None
    del parts[rng.randrange(len(parts))]
    return " ".join(parts)


def invent_sentence(text: str, rng: random.Random, others: Sequence[str]) -> str | None:
    """Add a sentence of another video's caption anywhere."""
    parts = _parts(text)
    if len(parts) < 2 or not others:
        return None
    strange = rng.choice(_parts(rng.choice(others)))
    parts.insert(rng.randrange(len(parts) + 1), strange)
    return " ".join(parts)


# of whole sentences, by name; the captions are those of other videos
WHOLE: dict[str, Callable[[str, random.Random, Sequence[str]], str | None]] = {
    "invented": invent_sentence,
    "exchanged": exchange_sentences,
    "left out": leave_sentence_out,
}


def _spans(text: str) -> list[tuple[int, int]]:
    """Return where the sentences stand that stand in the text as they are read."""
    spans = []
    end = 0
    for sentence in split_sentences(text):
        start = text.find(sentence, end)
        if start >= 0:
            end = start + len(sentence)
            spans.append((start, end))
    return spans


def _parts(text: str) -> list[str]:
    """Divide a text after its sentences, and leave nothing out; each part ends with a mark."""
    ends = [end for _, end in _spans(text)]
    cuts = [0, *ends[:-1], len(text)]
    parts = [text[start:end].strip() for start, end in pairwise(cuts)]
    return [part if part.endswith(_ENDS) else f"{part}." for part in parts]
