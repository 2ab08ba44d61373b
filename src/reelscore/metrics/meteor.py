"""METEOR 1.5: aligned words, stems, synonyms and paraphrases (Denkowski and Lavie, 2014).

Scale 0–1, higher is better. Bit for bit the scores of ``meteor-1.5.jar -l en -norm`` as
pycocoevalcap 1.2 runs it, per item and for the corpus, without Java. The corpus score is made from
summed statistics, not the mean of the items' scores. Differs much from NLTK's and Hugging Face's
"METEOR", which has other parameters, no paraphrases and no function words.

The language data is an index that is compiled when reelscore is built: see
`reelscore.text.meteor_data`.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar, NamedTuple

import numpy as np
from numpy.typing import NDArray

from reelscore import _native
from reelscore.data.scales import Scale
from reelscore.metrics.base import FloatArray, Metric, Reads, check_range, check_tokens
from reelscore.text.meteor_data import language_index
from reelscore.text.packed import Packed, pack
from reelscore.text.tokens import PENN_TREEBANK, Tokenizer, tokenize
from reelscore.text.words import CaptionBatch

# Columns of the statistics, as METEOR prints them.
TEST_LENGTH, REFERENCE_LENGTH, TEST_FUNCTION, REFERENCE_FUNCTION = range(4)
MATCHES = slice(
    4, 20
)  # four for each module: test and reference content, test and reference function
TEST_MATCHES, REFERENCE_MATCHES = 21, 22  # after the number of chunks
COUNTED_CHUNKS = 23  # chunks as they enter a sum: none for a caption matched whole in one chunk

MODULES = ("exact", "stem", "synonym", "paraphrase")

PackedStems = tuple[NDArray[np.uint8], NDArray[np.int64], NDArray[np.uint8], NDArray[np.int64]]


class Match(NamedTuple):
    """Words of a candidate matched with words of a reference, by position."""

    candidate: range
    reference: range
    module: str


class Alignment(NamedTuple):
    """How METEOR matches one candidate with one reference, and the score that gives."""

    candidate: list[str]
    reference: list[str]
    matches: list[Match]
    score: float


class BestCandidates(NamedTuple):
    """For each item the number of its best candidate, its score, and how many pairs were scored."""

    candidates: NDArray[np.int64]
    scores: FloatArray
    aligned: NDArray[np.int64]


@dataclass(frozen=True)
class Meteor(Metric):
    """METEOR 1.5 for English; the defaults are the jar's.

    Attributes:
        alpha: Weight of recall against precision.
        beta: Exponent of the fragmentation penalty.
        gamma: Weight of the fragmentation penalty.
        delta: Weight of content words against function words.

    >>> from reelscore import score
    >>> results = score({"v1": "a red car"}, {"v1": ["a red automobile"]}, metrics=[Meteor()])
    >>> results["meteor"].score
    0.9142857142857143
    """

    alpha: float = 0.85
    beta: float = 0.2
    gamma: float = 0.6
    delta: float = 0.75
    name: ClassVar[str] = "meteor"
    counts: ClassVar[bool] = True
    reads: ClassVar[Reads] = "english"
    tokenizers: ClassVar[tuple[str, ...]] = PENN_TREEBANK
    module_weights: ClassVar[FloatArray] = np.array([1.0, 0.6, 0.8, 0.6])
    output_scale: ClassVar[Scale] = Scale(
        "high", 0, 1, mean=False, headline=True, label="METEOR", percent=True
    )

    def __post_init__(self) -> None:
        for parameter in ("alpha", "gamma", "delta"):
            check_range(self, parameter, 0, 1)
        check_range(self, "beta", 0, 100)

    def statistics(self, batch: CaptionBatch, prepared: Any) -> FloatArray:
        """METEOR's 23 statistics against the best reference, and the chunks that count in sums."""
        references, offsets = batch.references_in_order()
        candidates = _as_the_coco_tools_send(batch.candidates.text)
        return _native.meteor_statistics(
            language_index(),
            *candidates,
            *references,
            offsets,
            (self.alpha, self.beta, self.gamma, self.delta),
            batch.threads,
            self._stems(candidates, references),
        )

    def scores(self, totals: FloatArray) -> FloatArray:
        """F-mean of weighted precision and recall, less the fragmentation penalty."""
        d = self.delta
        length = self._weighted(totals, TEST_LENGTH, TEST_FUNCTION)
        reference_length = self._weighted(totals, REFERENCE_LENGTH, REFERENCE_FUNCTION)
        matches = totals[..., MATCHES]
        matched = np.zeros(totals.shape[:-1])
        reference_matched = np.zeros(totals.shape[:-1])
        # The order of these additions is the jar's: it decides the last bit.
        for offset, weight in ((0, d), (2, 1 - d)):
            for module, module_weight in enumerate(self.module_weights):
                column = 4 * module + offset
                matched = matched + matches[..., column] * module_weight * weight
                reference_matched = (
                    reference_matched + matches[..., column + 1] * module_weight * weight
                )
        with np.errstate(divide="ignore", invalid="ignore"):
            precision, recall = matched / length, reference_matched / reference_length
            f_mean = 1 / ((1 - self.alpha) / precision + self.alpha / recall)
            mean_matches = (totals[..., TEST_MATCHES] + totals[..., REFERENCE_MATCHES]) / 2
            fragmentation = totals[..., COUNTED_CHUNKS] / mean_matches
            score = f_mean * (1 - self.gamma * _power(fragmentation, self.beta))
        return np.maximum(np.nan_to_num(score, nan=0.0), 0.0)[..., np.newaxis]

    def best_candidates(
        self,
        candidates: Packed,
        references: Packed,
        reference_offsets: NDArray[np.int64],
        threads: int,
    ) -> BestCandidates:
        """Find for each item the candidate with the highest score, without scoring all pairs.

        Exactly what scoring all pairs gives; of equal scores the first candidate counts. Pairs
        are left out where an upper bound says that they cannot win: words that have no equal, no
        synonym, no stem and no paraphrase in the other caption cannot be matched.

        Args:
            candidates: Tokenized captions, at least one, any of which an item may get.
            references: The tokenized references of all items.
            reference_offsets: Item i has the references from entry i up to entry i + 1.
            threads: How many threads to use.

        >>> candidates, references = pack(["a dog", "a man runs"]), pack(["a man is running"])
        >>> best = Meteor().best_candidates(candidates, references, np.array([0, 1]), threads=1)
        >>> best.candidates.tolist(), best.scores.round(3).tolist()
        ([1], [0.312])
        """
        return BestCandidates(
            *_native.meteor_best(
                language_index(),
                *_as_the_coco_tools_send(candidates),
                *references,
                reference_offsets,
                (self.alpha, self.beta, self.gamma, self.delta),
                threads,
            )
        )

    def align(self, candidate: str, reference: str, tokenizer: Tokenizer = "ptb") -> Alignment:
        """Show which words of two captions match, and how: why a score is what it is.

        >>> alignment = Meteor().align("a man jumps over a car", "a man jumped over an automobile")
        >>> for match in alignment.matches:
        ...     ours = " ".join(alignment.candidate[k] for k in match.candidate)
        ...     theirs = " ".join(alignment.reference[k] for k in match.reference)
        ...     print(f"{ours} = {theirs}: {match.module}")
        a = a: exact
        man = man: exact
        jumps = jumped: stem
        over a = over an: paraphrase
        car = automobile: synonym
        """
        check_tokens([self], tokenizer)
        ours, theirs = tokenize([candidate, reference], tokenizer)
        candidate_words, reference_words, spans, score = _native.meteor_alignment(
            language_index(),
            ours,
            theirs,
            (self.alpha, self.beta, self.gamma, self.delta),
            self._stems(pack([ours, theirs])),
        )
        matches = [
            Match(range(i, i + m), range(j, j + n), MODULES[module]) for i, m, j, n, module in spans
        ]
        return Alignment(candidate_words, reference_words, matches, score)

    def _stems(self, *texts: Packed) -> PackedStems | None:
        """The stems of words in another language; ``None`` for English, which the core knows."""
        return None

    def _weighted(self, totals: FloatArray, words: int, function_words: int) -> FloatArray:
        function = totals[..., function_words]
        weighted: FloatArray = (
            self.delta * (totals[..., words] - function) + (1 - self.delta) * function
        )
        return weighted


def _power(base: FloatArray, exponent: float) -> FloatArray:
    """A power rounded as Java rounds it; numpy's and C's may differ in the last bit."""
    return _native.power(np.ascontiguousarray(base).ravel(), exponent).reshape(base.shape)


def _as_the_coco_tools_send(candidates: Packed) -> Packed:
    """Change the candidates as pycocoevalcap does: no field separator, one blank for two.

    It sends the references as they are.
    """
    content = candidates.data.tobytes()
    if b"|||" not in content and b"  " not in content:
        return candidates
    texts = candidates.unpack()
    return pack([text.replace("|||", "").replace("  ", " ") for text in texts])
