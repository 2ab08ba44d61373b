"""Phrases learned from pairs of a semantic representation and a sentence.

Words are aligned by IBM model 1 in both directions. The links of both are kept, and those of one
that touch a word without any; then all consistent pairs of phrases are counted.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple

from reelscore._packages import need

Words = tuple[str, ...]
Links = frozenset[tuple[int, int]]
_ITERATIONS = 6
LONGEST = 9  # words of a phrase of a sentence
_KEPT = 20  # translations of a phrase


class Option(NamedTuple):
    """One way to say a phrase: its words, log p(words | source) and log p(source | words)."""

    words: Words
    forward: float
    backward: float


@dataclass(frozen=True)
class PhraseTable:
    """How phrases of labels are said.

    Attributes:
        options: For each phrase of labels its translations, the likeliest first.

    >>> pairs = [(("man", "run"), ("a", "man", "runs")), (("dog", "run"), ("a", "dog", "runs"))]
    >>> table = PhraseTable.learn(pairs)
    >>> [" ".join(option.words) for option in table.options["dog", "run"]]
    ['a dog runs']
    """

    options: dict[Words, tuple[Option, ...]]

    @classmethod
    def learn(cls, pairs: Sequence[tuple[Words, Words]]) -> PhraseTable:
        """Learn phrases."""
        extra = "reelscore-studies[translation]"
        nltk = need("nltk.translate.phrase_based", extra, "Translation needs", "nltk")
        together: Counter[tuple[Words, Words]] = Counter()
        # A pair that comes again has the same phrases: it is taken apart once.
        seen = Counter(zip(pairs, align(pairs), strict=True))
        for ((labels, words), links), times in seen.items():
            extracted = nltk.phrase_extraction(
                " ".join(words),
                " ".join(_one_word(label) for label in labels),
                sorted((w, k) for k, w in links),
                LONGEST,
            )
            for (w_begin, w_end), (l_begin, l_end), *_ in extracted:
                together[labels[l_begin:l_end], words[w_begin:w_end]] += times
        sources: Counter[Words] = Counter()
        targets: Counter[Words] = Counter()
        for (labels, words), times in together.items():
            sources[labels] += times
            targets[words] += times
        by_source: dict[Words, list[Option]] = {}
        for (labels, words), times in together.items():
            forward, backward = math.log(times / sources[labels]), math.log(times / targets[words])
            by_source.setdefault(labels, []).append(Option(words, forward, backward))
        return cls({labels: _likeliest(own) for labels, own in by_source.items()})


def _likeliest(options: Sequence[Option]) -> tuple[Option, ...]:
    ranked = sorted(options, key=lambda own: (-own.forward - own.backward, own.words))
    return tuple(ranked[:_KEPT])


def _one_word(label: str) -> str:
    """Spell a label such as "pick up" without blanks."""
    return "_".join(label.split())


def align(pairs: Sequence[tuple[Words, Words]]) -> list[Links]:
    """Align labels and words.

    >>> pairs = [(("dog", "run"), ("dog", "runs")), (("dog",), ("dog",)), (("run",), ("runs",))]
    >>> sorted(align(pairs)[0])
    [(0, 0), (1, 1)]
    """
    forward = _one_way([(words, labels) for labels, words in pairs])
    backward = _one_way(pairs)
    merged = []
    for here, there in zip(forward, backward, strict=True):
        merged.append(_grown(frozenset((k, w) for w, k in here), frozenset(there)))
    return merged


def _one_way(pairs: Sequence[tuple[Words, Words]]) -> list[list[tuple[int, int]]]:
    """Link each word of the first sentence with a word of the second, or with none."""
    from nltk.translate import AlignedSent, IBMModel1

    sentences = [AlignedSent(list(one), list(two)) for one, two in pairs]
    IBMModel1(sentences, _ITERATIONS)
    return [
        [(own, other) for own, other in sentence.alignment if other is not None]
        for sentence in sentences
    ]


def _grown(one: Links, two: Links) -> Links:
    """Links of both, and those of one that touch a word or a label without any.

    >>> sorted(_grown(frozenset({(0, 0), (0, 1)}), frozenset({(0, 0)})))
    [(0, 0), (0, 1)]
    """
    links = set(one & two)
    for k, w in sorted((one | two) - links):
        if all(k != own for own, _ in links) or all(w != own for _, own in links):
            links.add((k, w))
    return frozenset(links)
