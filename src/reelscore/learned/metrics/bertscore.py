"""BERTScore: tokens matched by their vectors (Zhang et al., 2020).

Scale −1 to 1, in practice 0–1, higher is better. Every token of the candidate is compared with the
token of the reference whose vector is nearest, and the other way round: precision
``bertscore_p``, recall ``bertscore_r`` and their F-score ``bertscore_f``. Several references: the
best of each by default. The text is taken as it is, whatever the tokenizer.

Same numbers as the package bert-score 0.3.13 with the same encoder, within 1e-5. One exception: if
all cosines of a token are negative, which hardly happens below the last layer, the package counts
0 where the caption was padded, and the cosine where it was not; here it is always the cosine.

The encoder is a folder of yours, such as roberta-large; nothing is downloaded. Scores by different
encoders or layers cannot be compared.
"""

from __future__ import annotations

import csv
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import ClassVar

import numpy as np
from msgspec import structs
from numpy.typing import NDArray

from reelscore.data.tables.scales import Scale
from reelscore.errors import DataError
from reelscore.learned.metrics.over_references import (
    Several,
    WeightedReferences,
    check_several,
    over_references,
    references_of,
)
from reelscore.learned.networks.encoders import (
    DEFAULT_ENCODER,
    cut_note,
    encoder_folder,
    weights_hash,
)
from reelscore.learned.networks.token_vectors import (
    TokenVectors,
    effective_layer,
    rarity,
    token_encoder,
)
from reelscore.metrics.base import FloatArray, Metric, Reads, with_count
from reelscore.text.words import CaptionBatch, Captions

_TOGETHER = 1000  # candidates whose vectors are in memory at a time
_PAIRS = 256  # pairs matched at a time


@dataclass(frozen=True)
class BertScore(Metric):
    """BERTScore with an encoder from a folder.

    Attributes:
        model: The folder of an encoder, or ``all-minilm-l6-v2``.
        layer: Which layer's vectors to take; none for the one published as the best for an encoder
            of this kind and size, or else the last.
        idf: Whether tokens that are rare in the references weigh more.
        baseline: A file of scores of unrelated texts, as bert-score has them, that is taken for 0.
        references: How several references count: ``max``, ``mean``, or ``blend`` of both.

    >>> from reelscore import score
    >>> results = score({"v1": "a man rides a horse"}, {"v1": ["a man is riding a horse"]},
    ...                 "bertscore")
    >>> {name: round(result.score, 3) for name, result in results.items()}
    {'bertscore_p': 0.966, 'bertscore_r': 0.927, 'bertscore_f': 0.946}
    """

    model: str = DEFAULT_ENCODER
    layer: int | None = None
    idf: bool = False
    baseline: str | None = None
    references: Several = "max"
    name: ClassVar[str] = "bertscore"
    slow: ClassVar[bool] = True
    reads: ClassVar[Reads] = "any"

    def __post_init__(self) -> None:
        check_several(self.name, self.references)
        if self.model == DEFAULT_ENCODER:
            object.__setattr__(self, "reads", "english")

    @property
    def outputs(self) -> tuple[str, ...]:
        """Precision, recall, F-score."""
        return ("bertscore_p", "bertscore_r", "bertscore_f")

    @property
    def output_scales(self) -> tuple[Scale, ...]:
        """Cosines; rescaled ones can be lower. Papers quote the F-score."""
        least = -1 if self.baseline is None else None
        precision, recall, f_score = (
            Scale("high", least, 1, mean=True, label=f"BERTScore {part}", percent=True)
            for part in ("P", "R", "F1")
        )
        return (precision, recall, structs.replace(f_score, headline=True))

    @property
    def folder(self) -> Path:
        """The folder of the encoder."""
        return Path(encoder_folder(self.model))

    def files(self) -> dict[str, str]:
        """Return the file of the baseline."""
        return {} if self.baseline is None else {"baseline": self.baseline}

    def signature(self, **context: object) -> str:
        """As of every metric; with the layer used, the weights' hash, and the text as it is."""
        if not context:
            return super().signature()
        used = replace(self, layer=effective_layer(self.folder, self.layer))
        context = {"revision": weights_hash(self.folder), **context, "tok": "raw"}
        return super(BertScore, used).signature(**context)

    @property
    def weighs_all_references(self) -> bool:
        """Where rare words weigh more."""
        return self.idf

    def prepare(
        self, references: Captions, reference_offsets: NDArray[np.int64]
    ) -> WeightedReferences:
        """Load the encoder, and count in how many references each token is."""
        encoder = token_encoder(self.folder, self.layer)
        self._baselines()
        texts = references.original.unpack()
        weights = rarity(self.name, encoder.token_ids(texts)) if self.idf else None
        return WeightedReferences(texts, weights)

    def statistics(self, batch: CaptionBatch, prepared: WeightedReferences) -> FloatArray:
        """Precision, recall, F-score, and 1."""
        texts = batch.candidates.original.unpack()
        references = references_of(batch, prepared.references)
        counts = np.array([len(own) for own in references], dtype=np.int64)
        rows = []
        for first in range(0, len(texts), _TOGETHER):
            part = slice(first, first + _TOGETHER)
            pairs = [
                (text, one)
                for text, own in zip(texts[part], references[part], strict=True)
                for one in own
            ]
            rows.append(self._matched(pairs, prepared, batch.threads))
            if batch.progress is not None:
                batch.progress(min(first + _TOGETHER, len(texts)), len(texts))
        scores = np.concatenate(rows) if rows else np.zeros((0, 3))
        low = self._baselines()
        scores = (scores - low) / (1 - low)
        columns = [over_references(scores[:, k], counts, self.references) for k in range(3)]
        return with_count(*columns)

    def notes(self, prepared: WeightedReferences) -> list[str]:
        """Return which texts were cut."""
        return cut_note(self.name, prepared.cut)

    def _baselines(self) -> FloatArray:
        if self.baseline is None:
            return np.zeros(3)
        return _read_baseline(self.baseline, effective_layer(self.folder, self.layer))

    def _matched(
        self, pairs: Sequence[tuple[str, str]], prepared: WeightedReferences, threads: int
    ) -> FloatArray:
        """Precision, recall and F-score of pairs."""
        place = {text: k for k, text in enumerate(dict.fromkeys(t for pair in pairs for t in pair))}
        texts = list(place)
        tokens = token_encoder(self.folder, self.layer)(texts, threads)
        prepared.cut.update(texts[k] for k in tokens.cut)
        weights = prepared.of(tokens.ids.tolist()).astype(np.float32)
        # all references have all its words: none would count
        common = np.add.reduceat(weights, tokens.offsets[:-1]) == 0
        weights[np.repeat(common, np.diff(tokens.offsets))] = 1
        weights[tokens.offsets[:-1]] = weights[tokens.offsets[1:] - 1] = 0  # the marks
        numbers = np.array([[place[a], place[b]] for a, b in pairs], dtype=np.int64)
        lengths = np.diff(tokens.offsets)[numbers]
        scores = np.zeros((len(pairs), 3))
        order = np.lexsort((lengths[:, 1], lengths[:, 0]))
        for begin in range(0, len(order), _PAIRS):
            part = order[begin : begin + _PAIRS]
            scores[part] = _greedy_match(tokens, weights, numbers[part])
        scores[(lengths <= 2).any(axis=1)] = 0  # one of the texts is empty
        return scores


def _greedy_match(
    tokens: TokenVectors, weights: NDArray[np.float32], numbers: NDArray[np.int64]
) -> FloatArray:
    """Match the tokens of pairs of texts, each with the nearest of the other text."""
    (ours, our_tokens), (theirs, their_tokens) = (
        _padded(tokens.offsets, numbers[:, side]) for side in (0, 1)
    )
    cosines = tokens.vectors[ours] @ tokens.vectors[theirs].transpose(0, 2, 1)
    # the package lets padding count as 0, so that a score can depend on other captions' lengths
    cosines[~(our_tokens[:, :, None] & their_tokens[:, None, :])] = -np.inf
    sums = []
    for best, places, there in (
        (cosines.max(axis=2), ours, our_tokens),
        (cosines.max(axis=1), theirs, their_tokens),
    ):
        own = np.where(there, weights[places], 0.0)
        total = own.sum(axis=1)
        matched = (np.where(there, best, 0.0) * own).sum(axis=1)
        sums.append(np.divide(matched, total, out=np.zeros(len(numbers)), where=total > 0))
    precision, recall = sums
    both = precision + recall
    f_score = np.divide(2 * precision * recall, both, out=np.zeros(len(both)), where=both != 0)
    return np.column_stack([precision, recall, f_score])


def _padded(
    offsets: NDArray[np.int64], texts: NDArray[np.int64]
) -> tuple[NDArray[np.int64], NDArray[np.bool_]]:
    """Rows of the tokens of texts, in a rectangle; and which entries are tokens."""
    begins, lengths = offsets[texts], offsets[texts + 1] - offsets[texts]
    steps = np.arange(lengths.max())
    there = steps[None, :] < lengths[:, None]
    return np.where(there, begins[:, None] + steps[None, :], 0), there


def _read_baseline(file: str, layer: int) -> FloatArray:
    """Read the scores that count as 0, for a layer: lines of layer, P, R, F."""
    try:
        with Path(file).open(encoding="utf-8", newline="") as lines:
            rows = list(csv.DictReader(lines))
        values = {int(row["LAYER"]): [float(row[key]) for key in "PRF"] for row in rows}
    except OSError as error:
        raise DataError(f"bertscore: {file}: cannot be read ({error.strerror}).") from error
    except (ValueError, KeyError, TypeError, csv.Error) as error:
        raise DataError(
            f"bertscore: {file}: not a file of baselines; expected lines of LAYER,P,R,F with that "
            f"heading ({error})."
        ) from error
    if layer not in values:
        layers = ", ".join(map(str, sorted(values))) or "none"
        raise DataError(
            f"bertscore: {file}: there is no baseline for layer {layer}; it has {layers}."
        )
    baseline: FloatArray = np.array(values[layer])
    if not (np.isfinite(baseline) & (baseline < 1)).all():
        shown = ", ".join(f"{value:g}" for value in baseline)
        raise DataError(
            f"bertscore: {file}: the baselines of layer {layer} are {shown}; expected numbers "
            "below 1."
        )
    return baseline
