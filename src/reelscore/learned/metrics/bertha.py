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
What it learned are one-sentence captions of clips of a few seconds, in English. How far to trust it
elsewhere is said on the documentation's page "BERTHA".
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar, Literal, get_args

import numpy as np
from numpy.typing import NDArray

from reelscore.data.tables.scales import Scale
from reelscore.errors import DataError, check_choice
from reelscore.learned.metrics.over_references import (
    Several,
    check_several,
    over_references,
    references_of,
)
from reelscore.learned.model_files import (
    SHIPPED,
    SMALL,
    cached_info,
    held_out_folder,
    read_training_items,
)
from reelscore.learned.networks.bert import Dtype
from reelscore.learned.networks.pair_scores import pair_scorer
from reelscore.metrics.base import FloatArray, Metric, Reads, mean_of_first, with_count
from reelscore.metrics.training_data import TrainingItems
from reelscore.text.words import CaptionBatch, Captions

Units = Literal["z", "percent"]

# What a caption without a word gets, below any that people judged; the network has never seen one.
_NOTHING = -2.0


@dataclass(frozen=True)
class Bertha(Metric):
    """BERTHA with a shipped model, or one of your own.

    Attributes:
        model: ``reelscore-bertha``; ``reelscore-bertha-small``, which is quicker and also called
            ``bertha-small``; or the folder of a model.
        references: How several references count: ``mean``, ``max``, or ``blend`` of both.
        scale: ``z``, or ``percent`` for 0–100.
        dtype: In what products are computed: of bytes (``int8``), or in single precision
            (``float32``), which takes longer and says nearly the same.
        held_out: A group of the training data, such as 2020: take weights trained without it,
            where there are some; see `reelscore.learned.model_files.held_out_folder`.

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
    name: ClassVar[str] = "bertha"
    slow: ClassVar[bool] = True
    reads: ClassVar[Reads] = "english"

    def __post_init__(self) -> None:
        check_several(self.name, self.references)
        check_choice("scale of bertha", self.scale, get_args(Units))
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
        published = "'reelscore bertha evaluate' has its agreement on years it has not seen."
        return f"{_how_to_train(groups[0])} {published}"

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

    def prepare(self, references: Captions, reference_offsets: NDArray[np.int64]) -> list[str]:
        """Unpack the references once."""
        pair_scorer(self.weights, self.dtype)  # complains now if there is no model
        return references.original.unpack()

    def statistics(self, batch: CaptionBatch, prepared: list[str]) -> FloatArray:
        """Return the score over all references, and 1."""
        texts = batch.candidates.original.unpack()
        references = references_of(batch, prepared)
        counts = np.array([len(own) for own in references], dtype=np.int64)
        pairs = [(text, one) for text, own in zip(texts, references, strict=True) for one in own]
        scorer = pair_scorer(self.weights, self.dtype)
        scores = scorer.score([a for a, _ in pairs], [b for _, b in pairs], batch.threads)
        combined = over_references(scores, counts, self.references)
        silent = [not any(map(str.isalnum, text)) for text in texts]
        combined = np.where(silent, _NOTHING, combined)
        if self.scale == "percent":
            low, slope = scorer.info.to_percent
            combined = np.clip(low + slope * combined, 0.0, 100.0)
        return with_count(combined)

    def scores(self, totals: FloatArray) -> FloatArray:
        """Return the mean over items."""
        return mean_of_first(totals)


def _how_to_train(group: str) -> str:
    return (
        f"'reelscore bertha train JUDGED FOLDER --recipe careful --hold-out {group} --keep' makes "
        f"weights that have not seen {group}, for 'bertha|held_out:{group}'."
    )
