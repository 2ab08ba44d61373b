"""What a metric does with captions that were changed on purpose.

Each trial changes captions in one way that people would notice, and tells how often the metric
scores the changed caption below the original, and by how much.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from reelscore.human.hits.degraded import degrade
from reelscore.scoring.captions import Metrics, score

_SUBJECTS = ("man", "woman", "boy", "girl", "dog", "cat", "person", "child", "baby", "people")
_SWAPS = {"man": "woman", "woman": "man", "boy": "girl", "girl": "boy", "dog": "cat", "cat": "dog"}
Change = Callable[[str, np.random.Generator], str | None]
DEGRADED = "degraded, as in Direct Assessment"


@dataclass(frozen=True)
class Trial:
    """The result of one way to change captions.

    Attributes:
        name: The change.
        captions: How many captions it could be made in.
        below: Share scored below the original.
        before: Mean score of the originals.
        after: Mean score of the changed ones.
    """

    name: str
    captions: int
    below: float
    before: float
    after: float


def shuffle_words(text: str, rng: np.random.Generator) -> str | None:
    """Put the words into another order.

    >>> sorted(shuffle_words("a man rides a horse", np.random.default_rng(0)).split())
    ['a', 'a', 'horse', 'man', 'rides']
    """
    words = text.split()
    mixed = " ".join(rng.permutation(words)) if len(words) > 2 else text
    return mixed if mixed != text else None


def swap_ends(text: str, rng: np.random.Generator) -> str | None:
    """Exchange the first two subjects named: who does what to whom.

    >>> swap_ends("a man chases a dog", np.random.default_rng(0))
    'a dog chases a man'
    """
    subjects = list(re.finditer(rf"\b({'|'.join(_SUBJECTS)})\b", text, re.IGNORECASE))
    if len(subjects) < 2 or subjects[0][0].lower() == subjects[1][0].lower():
        return None
    one, two = subjects[:2]
    return text[: one.start()] + two[0] + text[one.end() : two.start()] + one[0] + text[two.end() :]


def change_subject(text: str, rng: np.random.Generator) -> str | None:
    """Exchange one subject for another: a man for a woman, a dog for a cat.

    >>> change_subject("a man rides a horse", np.random.default_rng(0))
    'a woman rides a horse'
    """
    match = re.search(rf"\b({'|'.join(_SWAPS)})\b", text)
    return None if match is None else text[: match.start()] + _SWAPS[match[0]] + text[match.end() :]


def negate(text: str, rng: np.random.Generator) -> str | None:
    """Say that it is not so.

    >>> negate("a man is riding a horse", np.random.default_rng(0))
    'a man is not riding a horse'
    """
    changed = re.sub(r"\b(is|are)\b", r"\1 not", text, count=1)
    return changed if changed != text else None


def cut_half(text: str, rng: np.random.Generator) -> str | None:
    """Leave the second half of the words out.

    >>> cut_half("a man rides a horse", np.random.default_rng(0))
    'a man'
    """
    words = text.split()
    return " ".join(words[: len(words) // 2]) if len(words) > 3 else None


def repeat_last(text: str, rng: np.random.Generator) -> str | None:
    """Stutter at the end, as captioners do.

    >>> repeat_last("a man rides", np.random.default_rng(0))
    'a man rides rides rides rides'
    """
    words = text.split()
    return " ".join([*words, *words[-1:] * 3]) if words else None


CHANGES: dict[str, Change] = {
    "words shuffled": shuffle_words,
    "subjects exchanged (who does what to whom)": swap_ends,
    "another subject (man → woman, dog → cat)": change_subject,
    "negated (is → is not)": negate,
    "second half left out": cut_half,
    "last word repeated three times": repeat_last,
}


def try_changes(
    captions: Mapping[str, str],
    references: Mapping[str, Sequence[str]],
    metric: Metrics,
    *,
    changes: Mapping[str, Change] | None = None,
    seed: int = 12345,
) -> list[Trial]:
    """Change captions in several ways and compare a metric's scores before and after.

    Args:
        captions: Captions by item.
        references: References by item.
        metric: The metric; one with one score.
        changes: The changes; if not given, `CHANGES` and captions degraded as for raters.
        seed: Random seed.

    >>> few = {"1": "a man is riding a horse", "2": "a dog is running"}
    >>> trials = try_changes(few, {k: [text] for k, text in few.items()}, "rouge_l")
    >>> [(trial.name, trial.captions) for trial in trials][:1], trials[0].below
    ([('words shuffled', 2)], 1.0)
    """
    rng = np.random.default_rng(seed)
    trials = []
    before = _scores(captions, references, metric)
    versions = {
        name: {
            item: text for item, old in captions.items() if (text := change(old, rng)) is not None
        }
        for name, change in (CHANGES if changes is None else changes).items()
    }
    if changes is None:
        versions[DEGRADED] = degrade(captions, seed=seed)
    for name, changed in versions.items():
        if not changed:
            continue
        after = _scores(changed, {item: references[item] for item in changed}, metric)
        pairs = np.array([[before[item], after[item]] for item in changed])
        below = float((pairs[:, 1] < pairs[:, 0]).mean())
        trials.append(Trial(name, len(pairs), below, *pairs.mean(axis=0).tolist()))
    return trials


def _scores(
    captions: Mapping[str, str], references: Mapping[str, Sequence[str]], metric: Metrics
) -> Mapping[str, float]:
    scores = score(captions, references, metric, empty="zero")
    return next(iter(scores.values())).items
