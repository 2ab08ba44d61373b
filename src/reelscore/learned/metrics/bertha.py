"""BERTHA: a metric learned from human judgments (after Lebron et al., 2022).

A cross-encoder reads candidate and reference together and says what people would. Scale: that of
standardised Direct Assessment (``z``; the captions of TRECVid's systems have mean −0.26 and
standard deviation 0.65), or 0–100 (``percent``). Higher is better. Several references: two thirds
of the mean and one of the best. The text is taken as it is, whatever the tokenizer. A caption
without a word gets −2, or 0 percent.

The network's score counts beside the cosine of the texts' vectors (`ModelInfo.similarity`), which
agrees with people better where captions are of another kind than those it learned from.

The weights are those of the package reelscore-bertha, whose smaller network is ``bertha-small``:
quicker, and nearly as good. Or they are those of a folder that ``reelscore bertha train`` wrote.
What it learned are one-sentence captions of clips of a few seconds, in English. Captions of several
sentences it reads sentence by sentence, see `reelscore.metrics.sentences`. How far to trust it is
said on the documentation's page "BERTHA".
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import ClassVar, Literal, get_args

import numpy as np

from reelscore.data.checks import counted
from reelscore.data.tables.scales import Scale
from reelscore.errors import DataError, check_choice
from reelscore.learned.metrics.over_references import Several, check_several
from reelscore.learned.metrics.sentence_pairs import References, SentencePairs, word_vectors
from reelscore.learned.model_files import (
    SHIPPED,
    SMALL,
    cached_info,
    held_out_folder,
    read_training_items,
)
from reelscore.learned.networks.bert import Dtype
from reelscore.learned.networks.pair_scores import pair_scorer
from reelscore.metrics.base import FloatArray, Reads, with_count
from reelscore.metrics.sentences import IntArray, SentenceList, Sentences, check_sentences
from reelscore.metrics.training_data import TrainingItems
from reelscore.text.words import CaptionBatch, Captions

Units = Literal["z", "percent"]

# What a caption without a word gets, below any that people judged; the network has never seen one.
_NOTHING = -2.0
# Of the sentences below it, people found something wrong in 92 of 100 about cooking videos, and in
# 80 of 100 about everyday ones (of all sentences, in 60 and 52 of 100), as FactVC had them judged.
_BORNE_OUT = 0.2


@dataclass(frozen=True)
class Bertha(SentencePairs):
    """BERTHA with a shipped model, or one of your own.

    Attributes:
        model: ``reelscore-bertha``; ``reelscore-bertha-small``, which is quicker and also called
            ``bertha-small``; or the folder of a model.
        references: How several references count: ``mean``, ``max``, or ``blend`` of both.
        scale: ``z``, or ``percent`` for 0–100.
        dtype: In what products are computed: of bytes (``int8``), or in single precision
            (``float32``), which takes longer and says nearly the same. ``float16``, half
            precision, is for GPUs; on the processor it is single precision.
        held_out: A group of the training data, such as 2020: take weights trained without it,
            where there are some; see `reelscore.learned.model_files.held_out_folder`.
        sentences: Whether sentences are asked for ``precision``, ``recall`` or ``both``, or the
            network reads ``whole`` captions.

    >>> from reelscore import score
    >>> results = score({"v1": "a man rides a horse", "v2": "a dog sleeps"},
    ...                 {"v1": ["a man is riding a horse"], "v2": ["two women are cooking"]},
    ...                 metrics=[Bertha(scale="percent")])
    >>> results["bertha"].items["v1"] > 60 > 30 > results["bertha"].items["v2"]
    True
    """

    model: str = SHIPPED
    references: Several = "blend"
    scale: Units = "z"
    dtype: Dtype = "int8"
    held_out: str | None = None
    sentences: Sentences = "precision"
    name: ClassVar[str] = "bertha"
    slow: ClassVar[bool] = True
    reads: ClassVar[Reads] = "english"

    def __post_init__(self) -> None:
        check_several(self.name, self.references)
        check_choice("scale of bertha", self.scale, get_args(Units))
        check_sentences(self.name, self.sentences)
        check_choice("dtype of bertha", self.dtype, get_args(Dtype))

    @property
    def weights(self) -> str:
        """The model whose weights are used, by name or folder.

        Raises:
            DataError: If there are no weights that were trained without the group held out.
        """
        if self.held_out is None:
            return self.model
        folder = held_out_folder(self.model, self.held_out)
        if folder is None:
            raise DataError(
                f"There are no weights of {self.model} trained without {self.held_out!r}. "
                f"{_how_to_train(self.held_out)}"
            )
        return str(folder)

    def training_items(self) -> TrainingItems | None:
        """Return the items its weights were learned from."""
        return read_training_items(self.weights)

    def unseen_remedy(self, groups: Sequence[str]) -> str:
        """Weights that have not seen the items, or how to make them."""
        there = [group for group in groups if held_out_folder(self.model, group) is not None]
        if there and self.held_out is None:
            names = " and ".join(f"'bertha|held_out:{group}'" for group in there)
            return f"Weights that have not seen them: {names}."
        if self.model != SHIPPED:
            return "Train a model without them: 'reelscore bertha train --hold-out GROUP'."
        published = "'reelscore repro unseen-years' has its agreement on years it has not seen."
        return f"{_how_to_train(groups[0])} {published}"

    def from_zero(self) -> Bertha:
        """Return it in percent: standard scores have no lowest one."""
        return replace(self, scale="percent")

    @property
    def output_scales(self) -> tuple[Scale, ...]:
        """Standard scores have no bounds, percentages have."""
        least, most = (0, 100) if self.scale == "percent" else (None, None)
        label = "BERTHA-small" if self.model == SMALL else "BERTHA"
        return (Scale("high", least, most, mean=True, label=label),)

    def signature(self, **context: object) -> str:
        """As of every metric; with the revision of the weights, and the text as it is."""
        if context:
            context = {"revision": cached_info(self.weights).revision, **context, "tok": "raw"}
        return super().signature(**context)

    def prepare(self, references: Captions, reference_offsets: IntArray) -> References:
        """Divide the references into sentences, once."""
        pair_scorer(self.weights, self.dtype)  # complains now if there is no model
        return super().prepare(references, reference_offsets)

    def statistics(self, batch: CaptionBatch, prepared: References) -> FloatArray:
        """Return the score over all references, and 1."""
        combined = self.caption_scores(batch, prepared)
        texts = batch.candidates.original.unpack()
        silent = [not any(map(str.isalnum, text)) for text in texts]
        combined = np.where(silent, _NOTHING, combined)
        return with_count(self._on_scale(combined))

    def _on_scale(self, scores: FloatArray) -> FloatArray:
        if self.scale == "z":
            return scores
        low, slope = pair_scorer(self.weights, self.dtype).info.to_percent
        return np.clip(low + slope * scores, 0.0, 100.0)

    def as_shown(self, score: float) -> float:
        """Return a standard score on the metric's scale."""
        return float(self._on_scale(np.array([score]))[0])

    @property
    def borne_out(self) -> float:
        """The score from which a sentence counts as borne out."""
        return self.as_shown(_BORNE_OUT)

    def pair_scores(
        self, ours: SentenceList, theirs: References, pairs: IntArray, threads: int
    ) -> FloatArray:
        """Score pairs on people's standardised scale."""
        scorer = pair_scorer(self.weights, self.dtype)
        candidates = [ours.texts[k] for k in pairs[0].tolist()]
        references = [theirs.parts.texts[k] for k in pairs[1].tolist()]
        return scorer.score(candidates, references, threads, theirs.cut)

    def vectors(self, texts: Sequence[str], threads: int) -> FloatArray:
        """Return the texts' vectors, or their words' where the model has no network for them."""
        own = pair_scorer(self.weights, self.dtype).vectors(texts, threads)
        return word_vectors(texts) if own is None else own

    def notes(self, prepared: References) -> list[str]:
        """Return how many pairs were longer than the network reads."""
        if not prepared.cut:
            return []
        most = pair_scorer(self.weights, self.dtype).tokens.max_length
        return [
            f"{self.name}: {counted(len(prepared.cut), 'pair')} of texts cut to the {most} tokens "
            "that the network reads; what is behind them was not seen."
        ]


def _how_to_train(group: str) -> str:
    return (
        f"'reelscore bertha train JUDGED FOLDER --recipe careful --hold-out {group} --keep' makes "
        f"weights that have not seen {group}, for 'bertha|held_out:{group}'."
    )
