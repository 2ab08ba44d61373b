"""The captions of a stress test: originals, and what the rules make of them."""

from __future__ import annotations

import random
from collections.abc import Collection, Mapping, Sequence
from typing import Literal, NamedTuple

from reelscore.errors import DataError, UnknownNameError
from reelscore.text.damages.degraded import degrade
from reelscore.text.damages.exploits import EXPLOITS, exploit, exploit_kinds, frequent_caption
from reelscore.text.damages.rules import (
    EXCHANGES,
    KINDS,
    damage,
    damage_forms,
    damage_kinds,
    told_by,
)
from reelscore.text.damages.several_sentences import WHOLE, inside_sentence, several_sentences

Sort = Literal["damage", "exploit"]
DEGRADED = "degraded"
TOLD = "told"  # of an exchanged word: a reference has the right one
SENTENCE = "sentence"  # of captions of several sentences: inside one of them, or a whole one
_LENDERS = 200  # captions of other videos that an exploit chooses from

# What each kind does, for tables and pages.
ABOUT = {
    **{name: kind.about for name, kind in KINDS.items()},
    DEGRADED: "puts words of another video's caption inside, by the rules of Direct Assessment",
    **{name: kind.about for name, kind in EXPLOITS.items()},
}
_ABOUT_WHOLE = {
    "invented": "adds a sentence of another video's caption",
    "exchanged": "exchanges two sentences",
    "left out": "leaves a sentence out",
}


class Case(NamedTuple):
    """An original and what became of it."""

    item: str
    original: str
    changed: str


def stress_kinds(*, paragraphs: bool = False) -> list[str]:
    """Return the kinds of damage and exploit; ``negation/never`` is one form of a damage.

    ``noun/told`` are those of ``noun`` where a reference has the word that was taken out. Of the
    others nobody can know by the references what was there.

    Args:
        paragraphs: Those for captions of several sentences: ``sentence/noun`` is a damage inside
            one of them, ``sentence/left out`` leaves one out.

    >>> stress_kinds()[:3], stress_kinds()[-1]
    (['negation', 'shuffle', 'roles'], 'punctuation')
    >>> stress_kinds(paragraphs=True)[-12:-8]
    ['sentence/invented', 'sentence/exchanged', 'sentence/left out', 'degraded']
    """
    damages = [
        each
        for kind in damage_kinds()
        for each in ([kind, f"{kind}/{TOLD}"] if kind in EXCHANGES else [kind])
    ]
    if paragraphs:
        damages = [f"{SENTENCE}/{each}" for each in (*damages, *WHOLE)]
    return [*damages, DEGRADED, *exploit_kinds()]


def are_paragraphs(captions: Collection[str]) -> bool:
    """Return whether most captions have several sentences."""
    return 2 * sum(map(several_sentences, captions)) > len(captions)


def about(kind: str) -> str:
    """Return what a kind does.

    >>> about("noun/told"), about("sentence/stutter")
    ('names another thing; a reference has the right word', 'repeats words, in one sentence')
    """
    name, _, form = kind.partition("/")
    if name == SENTENCE:
        return _ABOUT_WHOLE.get(form) or f"{about(form)}, in one sentence"
    return f"{ABOUT[name]}; a reference has the right word" if form == TOLD else ABOUT[name]


def kind_sort(kind: str) -> Sort:
    """Return whether a kind is a damage or an exploit."""
    return "exploit" if kind in exploit_kinds() else "damage"


def checked_kinds(kinds: Sequence[str]) -> list[str]:
    """Refuse kinds that do not exist; forms of a damage are named ``negation/never``."""
    forms = [f"{kind}/{form}" for kind in damage_kinds() for form in damage_forms(kind)]
    inside = [f"{SENTENCE}/{form}" for form in forms]
    every = [*stress_kinds(), *forms, *stress_kinds(paragraphs=True), *inside]
    if not kinds:
        raise DataError("No kind of damage or exploit is named. 'reelscore stress --list' has all.")
    for kind in kinds:
        if kind not in every:
            remedy = "'reelscore stress --list' has all."
            raise UnknownNameError.of("kind of damage or exploit", kind, every, remedy)
    return list(dict.fromkeys(kinds))


def take_out(
    references: Mapping[str, Sequence[str]], seed: int
) -> tuple[dict[str, str], dict[str, list[str]]]:
    """Take one reference of each item out, chosen by chance; items with one alone are left out.

    >>> take_out({"v1": ["a man", "a person"], "v2": ["a dog"]}, seed=1)
    ({'v1': 'a person'}, {'v1': ['a man']})
    """
    originals: dict[str, str] = {}
    left: dict[str, list[str]] = {}
    for item, texts in references.items():
        original = random.Random(f"{seed} {item}").choice(list(texts))
        others = [text for text in texts if text != original]
        if others and original.split():
            originals[item], left[item] = original, others
    return originals, left


def make_cases(
    originals: Mapping[str, str],
    references: Mapping[str, Sequence[str]],
    kinds: Sequence[str],
    seed: int,
) -> dict[str, list[Case]]:
    """Change captions in several ways.

    >>> make_cases({"v1": "a man sings"}, {"v1": ["he sings"]}, ["negation/never"], 1)
    {'negation/never': [Case(item='v1', original='a man sings', changed='a man never sings')]}
    """
    lenders = _Lenders(originals, references)
    cases = {
        kind: [
            Case(item, original, changed)
            for item, original in originals.items()
            if (changed := _changed(kind, item, original, references[item], lenders, seed))
        ]
        for kind in kinds
        if kind != DEGRADED
    }
    if DEGRADED in kinds and len(originals) > 1:
        degraded = degrade(originals, seed=seed, unable="skip")
        cases[DEGRADED] = [Case(item, originals[item], text) for item, text in degraded.items()]
    return {kind: cases[kind] for kind in kinds if cases.get(kind)}


def _changed(
    kind: str,
    item: str,
    original: str,
    references: Sequence[str],
    lenders: _Lenders,
    seed: int,
) -> str | None:
    rng = random.Random(f"{seed} {kind} {item}")  # each its own: the order does not matter
    if kind_sort(kind) == "exploit":
        others = lenders.frequent(item) if kind == "frequent" else lenders.drawn(item, rng)
        return exploit(kind, original, rng, references=references, others=others)
    name, _, form = kind.partition("/")
    if name == SENTENCE:
        if form in WHOLE:
            return WHOLE[form](original, rng, lenders.drawn(item, rng))
        return inside_sentence(
            original, rng, lambda each: _changed(form, item, each, references, lenders, seed)
        )
    if form == TOLD:
        changed = _changed(name, item, original, references, lenders, seed)
        return changed if changed and told_by(original, changed, references) else None
    forms = [form] if form else None
    return damage(name, original, rng, forms=forms, references=references)


class _Lenders:
    """The captions of all videos, which exploits of another video use."""

    def __init__(
        self, originals: Mapping[str, str], references: Mapping[str, Sequence[str]]
    ) -> None:
        # in an order of their own: that of the file must not decide what is drawn
        self._captions = [
            (item, text)
            for item in sorted(originals, key=lambda item: (len(item), item))
            for text in (originals[item], *references[item])
        ]
        best = frequent_caption([text for _, text in self._captions])
        self._best = [] if best is None else [best]
        self._with_best = {item for item, text in self._captions if text == best}

    def drawn(self, item: str, rng: random.Random) -> list[str]:
        """Draw some captions of other videos."""
        drawn = rng.sample(self._captions, min(_LENDERS, len(self._captions)))
        return [text for other, text in drawn if other != item]

    def frequent(self, item: str) -> list[str]:
        """Return the most frequent caption of another video, alone."""
        if item not in self._with_best:
            return self._best
        others = [text for other, text in self._captions if other != item]
        best = frequent_caption(others)
        return [] if best is None else [best]
