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
from typing import TYPE_CHECKING, Any, ClassVar, NamedTuple

import msgspec

from reelscore import _native
from reelscore._native import Rows
from reelscore.data.tables.scales import Scale
from reelscore.metrics.base import FloatArray, Metric, Reads, check_range, check_tokens, core_scores
from reelscore.text.meteor_data import meteor_index
from reelscore.text.tokens import PENN_TREEBANK, Tokenizer, tokenize
from reelscore.text.words import CaptionBatch, Packed, pack

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

MODULES = ("exact", "stem", "synonym", "paraphrase")

PackedStems = tuple[Packed, Packed]  # words, and the stem of each


class WordMatch(NamedTuple):
    """Words of a candidate matched with words of a reference, by position."""

    candidate: range
    reference: range
    module: str


class WordAlignment(NamedTuple):
    """How METEOR matches one candidate with one reference, and the score that gives."""

    candidate: list[str]
    reference: list[str]
    matches: list[WordMatch]
    score: float


class BestCandidates(msgspec.Struct, frozen=True):
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
    core: ClassVar[bool] = True
    counts: ClassVar[bool] = True
    reads: ClassVar[Reads] = "english"
    tokenizers: ClassVar[tuple[str, ...]] = PENN_TREEBANK
    module_weights: ClassVar[tuple[float, float, float, float]] = (1.0, 0.6, 0.8, 0.6)
    output_scale: ClassVar[Scale] = Scale(
        "high", 0, 1, mean=False, headline=True, label="METEOR", percent=True
    )

    def __post_init__(self) -> None:
        for parameter in ("alpha", "gamma", "delta"):
            check_range(self, parameter, 0, 1)
        check_range(self, "beta", 0, 100)

    def statistics(self, batch: CaptionBatch, prepared: Any) -> Rows:
        """METEOR's 23 statistics against the best reference, and the chunks that count in sums."""
        references, offsets = batch.pairing.references_in_order(batch.references.text)
        candidates = _as_the_coco_tools_send(batch.candidates.text)
        return _native.meteor_statistics(
            meteor_index(),
            candidates,
            references,
            offsets,
            self._parameters,
            batch.threads,
            self._stems(candidates, references),
        )

    def scores(self, totals: Any) -> Any:
        """F-mean of weighted precision and recall, less the fragmentation penalty."""
        return core_scores(_native.meteor_scores, totals, self._parameters, self.module_weights)

    @property
    def _parameters(self) -> _native.MeteorParameters:
        return self.alpha, self.beta, self.gamma, self.delta

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

        >>> import numpy as np
        >>> candidates, references = pack(["a dog", "a man runs"]), pack(["a man is running"])
        >>> best = Meteor().best_candidates(candidates, references, np.array([0, 1]), threads=1)
        >>> best.candidates.tolist(), best.scores.round(3).tolist()
        ([1], [0.312])
        """
        return BestCandidates(
            *_native.meteor_best(
                meteor_index(),
                _as_the_coco_tools_send(candidates),
                references,
                reference_offsets,
                self._parameters,
                threads,
            )
        )

    def align(self, candidate: str, reference: str, tokenizer: Tokenizer = "ptb") -> WordAlignment:
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
            meteor_index(),
            ours,
            theirs,
            self._parameters,
            self._stems(pack([ours, theirs])),
        )
        matches = [
            WordMatch(range(i, i + m), range(j, j + n), MODULES[module])
            for i, m, j, n, module in spans
        ]
        return WordAlignment(candidate_words, reference_words, matches, score)

    def _stems(self, *texts: Packed) -> PackedStems | None:
        """The stems of words in another language; ``None`` for English, which the core knows."""
        return None


def _as_the_coco_tools_send(candidates: Packed) -> Packed:
    """Change the candidates as pycocoevalcap does: no field separator, one blank for two.

    It sends the references as they are.
    """
    if not candidates.contains("|||") and not candidates.contains("  "):
        return candidates
    texts = candidates.unpack()
    return pack([text.replace("|||", "").replace("  ", " ") for text in texts])
