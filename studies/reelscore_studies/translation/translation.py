"""Sentences from semantic representations: phrase-based translation (section 4.1 of the paper).

A representation, without its empty roles, is translated phrase by phrase. A translation's score is
log-linear: both phrase probabilities, a trigram language model, a bonus for each word, a penalty
for each phrase and for jumps. Two of the weights are chosen by METEOR on validation.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cache
from itertools import product
from typing import Annotated, ClassVar, Literal, NamedTuple

import msgspec

from reelscore._progress import Progress, Steps
from reelscore.captioners.run_record import Parameters
from reelscore.data.captions.paired_captions import lone_references
from reelscore.errors import DataError
from reelscore.report.tuples import Tuples
from reelscore.scoring.scorer import Scorer
from reelscore.text.tokens import tokenize
from reelscore_studies.baselines.clip_features import Features
from reelscore_studies.translation.crf import (
    NONE,
    Pairs,
    Representation,
    SemanticField,
    representations,
)
from reelscore_studies.translation.phrases import Option, PhraseTable, Words

BEGIN, END = "<begin>", "<end>"
_BONUSES, _LANGUAGE = (0.0, 0.5, 1.0), (0.5, 1.0)


class TrigramModel:
    """How likely words follow each other: trigrams, interpolated by Witten and Bell's rule.

    At each order the share of the shorter history grows with how many different words were seen
    after the longer one. Words never seen share one place of the vocabulary.
    """

    def __init__(self, sentences: Iterable[Sequence[str]]) -> None:
        self._counts: dict[tuple[str, ...], Counter[str]] = {}
        seen: set[str] = {END}
        for sentence in sentences:
            words = [BEGIN, BEGIN, *sentence, END]
            seen.update(sentence)
            for place in range(2, len(words)):
                for length in range(3):
                    history = tuple(words[place - length : place])
                    self._counts.setdefault(history, Counter())[words[place]] += 1
        self.words = (*sorted(seen), "<unk>")
        self._totals = {history: own.total() for history, own in self._counts.items()}
        self.log_chance = cache(self._log_chance)

    def _log_chance(self, history: tuple[str, ...], word: str) -> float:
        """Return the logarithm of the chance of a word after the two words before it."""
        return math.log(self._chance(history, word if word in self._counts[()] else "<unk>"))

    def _chance(self, history: tuple[str, ...], word: str) -> float:
        lower = 1 / len(self.words) if not history else self._chance(history[1:], word)
        own = self._counts.get(history)
        if own is None:
            return lower
        total, kinds = self._totals[history], len(own)
        return (own[word] + kinds * lower) / (total + kinds)


@dataclass(frozen=True)
class Weights:
    """Weights of a translation's score.

    Attributes:
        forward: Of log p(words | labels).
        backward: Of log p(labels | words).
        language: Of the language model.
        word: What each word adds.
        phrase: What each phrase costs.
        jump: What each label that is jumped over costs.
    """

    forward: float = 1.0
    backward: float = 0.5
    language: float = 1.0
    word: float = 0.5
    phrase: float = 0.5
    jump: float = 0.5


class _Hypothesis(NamedTuple):
    score: float
    words: Words
    end: int


@dataclass(frozen=True)
class Decoder:
    """Translates labels.

    Attributes:
        table: The phrases.
        model: The language model.
        weights: The weights.
        stack: Hypotheses kept for each set of labels that are translated.
    """

    table: PhraseTable
    model: TrigramModel
    weights: Weights = Weights()
    stack: int = 100

    def __call__(self, labels: Words) -> Words:
        """Translate labels that the table knows; nothing where they cannot all be said."""
        count = len(labels)
        spans = {
            (i, j): self.table.options[labels[i:j]]
            for i in range(count)
            for j in range(i + 1, count + 1)
            if labels[i:j] in self.table.options
        }
        # One stack for each set of labels that are said: what is left to say is the same in it.
        stacks: dict[int, dict[tuple[Words, int], _Hypothesis]] = {0: {}}
        stacks[0][(BEGIN, BEGIN), 0] = _Hypothesis(0.0, (), 0)
        for said in range((1 << count) - 1):
            kept = sorted(stacks.get(said, {}).values(), key=_rank)[: self.stack]
            for (i, j), options in spans.items():
                new = (1 << j) - (1 << i)
                if said & new:
                    continue
                for hypothesis in kept:
                    for option in options:
                        self._extend(stacks.setdefault(said | new, {}), hypothesis, option, i, j)
        whole = stacks.get((1 << count) - 1, {}).values()
        if not count or not whole:
            return ()
        return min((self._ended(own) for own in whole), key=_rank).words

    def _extend(
        self,
        stack: dict[tuple[Words, int], _Hypothesis],
        hypothesis: _Hypothesis,
        option: Option,
        begin: int,
        end: int,
    ) -> None:
        weights = self.weights
        words = hypothesis.words + option.words
        score = hypothesis.score + weights.forward * option.forward
        score += weights.backward * option.backward - weights.phrase
        score += weights.word * len(option.words) - weights.jump * abs(begin - hypothesis.end)
        history = (BEGIN, BEGIN, *hypothesis.words)[-2:]
        for word in option.words:
            score += weights.language * self.model.log_chance(history, word)
            history = (history[1], word)
        key, new = (history, end), _Hypothesis(score, words, end)
        if key not in stack or _rank(new) < _rank(stack[key]):
            stack[key] = new

    def _ended(self, hypothesis: _Hypothesis) -> _Hypothesis:
        history = (BEGIN, BEGIN, *hypothesis.words)[-2:]
        last = self.weights.language * self.model.log_chance(history, END)
        return hypothesis._replace(score=hypothesis.score + last)


def _rank(hypothesis: _Hypothesis) -> tuple[float, Words]:
    return -hypothesis.score, hypothesis.words


@dataclass(frozen=True)
class TranslationParameters(Parameters):
    """How captions are made by translation.

    Attributes:
        minimum: In how many items a label must occur in its role.
        kind: Labels that are words (``text``) or senses.
        pairs: Which roles the field ties: neighbours (``chain``) or all (``full``).
        stack: Hypotheses kept.
    """

    minimum: Annotated[int, msgspec.Meta(ge=1)] = 30
    kind: Literal["text", "sense"] = "text"
    pairs: Pairs = "chain"
    stack: Annotated[int, msgspec.Meta(ge=1)] = 100
    name: ClassVar[str] = "translation"


class Tried(NamedTuple):
    """A pair of weights that was tried, and METEOR on validation."""

    word: float
    language: float
    meteor: float


@dataclass(frozen=True)
class Translator:
    """Makes captions from label scores: the field, then the decoder.

    Attributes:
        field: Finds the representation.
        decoder: Translates it.
        usual: The commonest training sentence, for representations with no label at all.
        tried: The weights tried, where they were chosen on validation.
    """

    field: SemanticField
    decoder: Decoder
    usual: str
    tried: tuple[Tried, ...] = ()

    @classmethod
    def train(
        cls,
        captions: Mapping[str, Sequence[str]],
        tuples: Tuples,
        scores: Features,
        parameters: TranslationParameters | None = None,
    ) -> Translator:
        """Train on captions, their tuples and the label scores of their clips.

        Args:
            captions: The training captions; the first of an item is the one that was parsed.
            tuples: Their tuples.
            scores: The label scores.
            parameters: How.

        Raises:
            DataError: If no item has all of them.
        """
        settings = parameters or TranslationParameters()
        own = representations(tuples, settings.minimum)
        items = [item for item in captions if item in own]
        if not items:
            raise DataError("No caption has tuples. Are these the tuples of the same items?")
        texts = tokenize([captions[item][0] for item in items])
        sentences = [tuple(text.split()) for text in texts]
        pairs = [(_said(own[item]), words) for item, words in zip(items, sentences, strict=True)]
        pairs = [(labels, words) for labels, words in pairs if labels and words]
        if not pairs:
            raise DataError(
                f"No label occurs in at least {settings.minimum:,} items in its role. Lower the "
                "minimum."
            )
        table = PhraseTable.learn(pairs)
        field = SemanticField.train(
            {item: own[item] for item in items}, scores, pairs=settings.pairs
        )
        usual = Counter(texts).most_common(1)[0][0]
        return cls(field, Decoder(table, TrigramModel(sentences), stack=settings.stack), usual)

    def tuned(
        self,
        scores: Features,
        references: Mapping[str, Sequence[str]],
        *,
        threads: int | None = None,
        progress: Progress | None = None,
    ) -> Translator:
        """Choose the weights of words and of the language model by METEOR on validation.

        Args:
            scores: Label scores of the validation items.
            references: Their references.
            threads: Threads that score.
            progress: Called with how many pairs of weights are tried, of how many.
        """
        lone_references(references)  # checks that none is empty
        scorer = Scorer({k: list(v) for k, v in references.items()}, "meteor", threads=threads)
        scores = scores.take(list(references))
        found = self.field.best(scores.matrix)
        grid = list(product(_BONUSES, _LANGUAGE))
        tried, best = [], self
        steps = Steps(progress, len(grid))
        for word, language in grid:
            weights = replace(self.decoder.weights, word=word, language=language)
            candidate = replace(self, decoder=replace(self.decoder, weights=weights))
            scorer.reset()
            scorer.update(dict(zip(scores.items, candidate._sentences(found), strict=True)))
            tried.append(Tried(word, language, float(scorer.compute()["meteor"].score)))
            if tried[-1].meteor > max((own.meteor for own in tried[:-1]), default=-1.0):
                best = candidate
            steps()
        return replace(best, tried=tuple(tried))

    def generate(self, scores: Features) -> tuple[dict[str, str], dict[str, int]]:
        """Write a caption for each item.

        Args:
            scores: Label scores of the items.

        Returns:
            The captions, and how often a label that no phrase can say was left out.
        """
        found = self.field.best(scores.matrix)
        unknown: Counter[str] = Counter()
        sentences = self._sentences(found, unknown.update)
        return dict(zip(scores.items, sentences, strict=True)), dict(unknown)

    def translate(self, representation: Representation) -> str:
        """Return a representation in words.

        Args:
            representation: Subject, verb, object and location; ``<none>`` where there is none.
        """
        return self._sentences([representation])[0]

    def _sentences(
        self,
        found: Sequence[Representation],
        unknown: Callable[[Sequence[str]], object] = lambda labels: None,
    ) -> list[str]:
        known: dict[Words, tuple[str, list[str]]] = {}
        for labels in dict.fromkeys(map(_said, found)):
            words, left_out = self.decoder(labels), list[str]()
            if not words:
                left_out = [own for own in labels if (own,) not in self.decoder.table.options]
                words = self.decoder(tuple(own for own in labels if own not in left_out))
            known[labels] = " ".join(words) or self.usual, left_out
        for representation in found:
            unknown(known[_said(representation)][1])
        return [known[_said(representation)][0] for representation in found]


def _said(representation: Representation) -> Words:
    return tuple(label for label in representation if label != NONE)
