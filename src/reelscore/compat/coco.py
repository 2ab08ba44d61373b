"""pycocoevalcap without Java: its classes, arguments, return values and numbers.

Change the import lines and leave the rest::

    from reelscore.compat.coco import Bleu, Cider, COCOEvalCap, Meteor, PTBTokenizer, Rouge, Spice

Differences, all on purpose: captions with a line separator inside (CR, U+2028…) keep their place
instead of shifting all captions after them; ``Spice`` is close to the official tool, not equal, and
warns where its order differs from that of the captions; ``COCOEvalCap`` leaves SPICE out; bad
arguments raise `reelscore.DataError`, which says what is wrong, instead of an assertion.
"""

from __future__ import annotations

import warnings
from array import array
from collections.abc import Hashable, Iterable, Mapping, Sequence
from typing import Any, TypeVar

import click
import numpy as np

from reelscore.data.captions.paired_captions import Paired
from reelscore.errors import DataError
from reelscore.metrics import bleu, cider, meteor, rouge_l, spice
from reelscore.metrics.base import FloatArray, Metric
from reelscore.metrics.registry import table_columns
from reelscore.scoring.prepared import PreparedReferences
from reelscore.text.tokens import tokenize

Id = TypeVar("Id", bound=Hashable)
Captions = Mapping[Any, Sequence[str]]

__all__ = ["Bleu", "COCOEvalCap", "Cider", "Meteor", "PTBTokenizer", "Rouge", "Spice"]


class PTBTokenizer:
    """The Penn Treebank step, captions of all images in one run as pycocoevalcap makes it.

    >>> PTBTokenizer().tokenize({7: [{"caption": "A man's dog."}]})
    {7: ["a man 's dog"]}
    """

    def tokenize(
        self, captions_for_image: Mapping[Id, Sequence[Mapping[str, object]]]
    ) -> dict[Id, list[str]]:
        """Tokenize ``{image id: [{"caption": text}, …]}`` into ``{image id: [tokens, …]}``."""
        owners = [image for image, captions in captions_for_image.items() for _ in captions]
        texts = [str(each["caption"]) for row in captions_for_image.values() for each in row]
        by_image: dict[Id, list[str]] = {}
        for image, tokens in zip(owners, tokenize(texts, "ptb-coco"), strict=True):
            by_image.setdefault(image, []).append(tokens)
        return by_image


class Bleu:
    """BLEU of orders 1 to n.

    >>> score, scores = Bleu(2).compute_score({1: ["a man runs"]}, {1: ["a man"]}, verbose=0)
    >>> [round(each, 4) for each in score], len(scores), len(scores[0])
    ([0.6065, 0.6065], 2, 1)
    """

    def __init__(self, n: int = 4) -> None:
        self._n = n

    def compute_score(
        self, gts: Captions, res: Captions, verbose: int = 1
    ) -> tuple[list[float], list[list[float]]]:
        """Return the corpus score of each order, and for each order the images' scores."""
        metric = bleu.Bleu(self._n)
        statistics = _statistics(metric, gts, res)
        totals = statistics.sum(axis=0)
        if verbose > 0:
            _print_counts(totals, self._n)
        corpus: list[float] = metric.scores(totals).tolist()
        items: list[list[float]] = metric.scores(statistics).T.tolist()
        return corpus, items

    def method(self) -> str:
        """Name the metric."""
        return "Bleu"


class Meteor:
    """METEOR 1.5, in this process: nothing to start, nothing to close.

    >>> Meteor().compute_score({1: ["a red automobile"]}, {1: ["a red car"]})
    (0.9142857142857143, [0.9142857142857143])
    """

    def compute_score(self, gts: Captions, res: Captions) -> tuple[float, list[float]]:
        """Return the corpus score and the images' scores."""
        corpus, items = _scores(meteor.Meteor(), gts, res)
        return float(corpus), items.tolist()

    def close(self) -> None:
        """Do nothing: there is no process to end."""

    def method(self) -> str:
        """Name the metric."""
        return "METEOR"


class Rouge:
    """ROUGE-L.

    >>> score, scores = Rouge().compute_score({1: ["a man runs"]}, {1: ["a man runs"]})
    >>> float(score), scores.tolist()
    (1.0, [1.0])
    """

    def __init__(self) -> None:
        self.beta = 1.2

    def calc_score(self, candidate: Sequence[str], refs: Sequence[str]) -> float:
        """Score one candidate, given as a list of one, against its references."""
        return float(self.compute_score({0: refs}, {0: candidate})[0])

    def compute_score(self, gts: Captions, res: Captions) -> tuple[np.float64, FloatArray]:
        """Return the mean and the images' scores."""
        return _scores(rouge_l.RougeL(self.beta), gts, res)

    def method(self) -> str:
        """Name the metric."""
        return "Rouge"


class Cider:
    """CIDEr-D, which the COCO tools call CIDEr.

    >>> references = {1: ["a man"], 2: ["a dog"]}
    >>> score, scores = Cider().compute_score(references, {1: ["a man"], 2: ["x"]})
    >>> round(float(score), 2), scores.shape
    (2.5, (2,))
    """

    def __init__(
        self, test: object = None, refs: object = None, n: int = 4, sigma: float = 6.0
    ) -> None:
        self._n = n
        self._sigma = sigma

    def compute_score(self, gts: Captions, res: Captions) -> tuple[np.float64, FloatArray]:
        """Return the mean and the images' scores."""
        return _scores(cider.Cider(self._n, self._sigma), gts, res)

    def method(self) -> str:
        """Name the metric."""
        return "CIDEr"


class Spice:
    """SPICE, in the order of sorted ids as the official tool returns it; needs a parser.

    All other classes return scores in the order given. Pair these with ``sorted(gts)``.

    >>> captions = {1: ["a man runs"]}
    >>> mean, scores = Spice().compute_score(captions, captions)  # doctest: +SKIP
    >>> float(mean), scores[0]["Object"]["f"]  # doctest: +SKIP
    (1.0, 1.0)
    """

    _KINDS = (
        ("Relation", "relation"),
        ("Cardinality", "cardinality"),
        ("Attribute", "attribute"),
        ("Size", "size"),
        ("Color", "colour"),
        ("Object", "object"),
    )

    def compute_score(
        self, gts: Captions, res: Captions
    ) -> tuple[np.float64, list[dict[str, dict[str, float]]]]:
        """Return the mean, and for each image, by sorted id, the scores of all tuples and by kind.

        Returns:
            The mean F-score; and for each image seven dictionaries, ``All`` and six kinds, with
            precision ``pr``, recall ``re``, ``f``, the counts ``tp``, ``fp``, ``fn`` and
            ``numImages``. A kind that the references have no tuples of has NaN.

        Raises:
            MissingExtraError: If there is no parser.
        """
        try:
            images = sorted(gts)
        except TypeError:
            raise DataError(
                "The ids of gts cannot be sorted: they are of several kinds. Use only numbers or "
                "only strings."
            ) from None
        if images != list(gts):
            first = next(pair for pair in zip(images, gts, strict=True) if pair[0] != pair[1])
            warnings.warn(
                "Spice returns scores in the order of sorted ids, as the official tool does, and "
                f"that is not the order given: {first[0]!r} comes where {first[1]!r} was given. "
                "Pair them with sorted(gts).",
                stacklevel=2,
            )
        metric = spice.Spice()
        statistics = _statistics(metric, {image: gts[image] for image in images}, res)
        return metric.aggregate(statistics)[0], [
            self._dictionaries(metric, row) for row in statistics
        ]

    def method(self) -> str:
        """Name the metric."""
        return "SPICE"

    def _dictionaries(self, metric: spice.Spice, row: FloatArray) -> dict[str, dict[str, float]]:
        found = metric.tuple_scores(row)
        undefined = {"pr": np.nan, "re": np.nan, "f": np.nan}
        every = {"All": found["all"], **{name: found[kind] for name, kind in self._KINDS}}
        return {
            name: {
                "pr": each.precision,
                "re": each.recall,
                "f": each.f,
                "fn": float(each.reference - each.correct),
                "numImages": 1.0,
                "fp": float(each.candidate - each.correct),
                "tp": float(each.correct),
                **(undefined if each.reference == 0 and name != "All" else {}),
            }
            for name, each in every.items()
        }


class COCOEvalCap:
    """Evaluate results against annotations, both as pycocotools' ``COCO`` objects hold them.

    Attributes:
        eval: The corpus score of each metric: ``Bleu_1`` … ``Bleu_4``, ``METEOR``, ``ROUGE_L``,
            ``CIDEr``.
        evalImgs: For each image a dictionary of its scores.
        imgToEval: The same by image id.
        params: ``{"image_id": [...]}``, the images to evaluate; may be changed before `evaluate`.

    >>> from types import SimpleNamespace
    >>> captions = {1: [{"caption": "A man runs."}], 2: [{"caption": "Two dogs."}]}
    >>> coco = SimpleNamespace(imgToAnns=captions, getImgIds=lambda: list(captions))
    >>> evaluation = COCOEvalCap(coco, coco)
    >>> evaluation.evaluate()
    tokenization...
    ...
    CIDEr: 6.250
    >>> evaluation.imgToEval[1]["ROUGE_L"].item()
    1.0
    """

    def __init__(self, coco: Any, cocoRes: Any) -> None:
        self.evalImgs: list[dict[str, object]] = []
        self.eval: dict[str, float] = {}
        self.imgToEval: dict[Hashable, dict[str, object]] = {}
        self.coco = coco
        self.cocoRes = cocoRes
        self.params = {"image_id": coco.getImgIds()}

    def evaluate(self) -> None:
        """Tokenize and score; fills ``eval``, ``evalImgs`` and ``imgToEval``."""
        images = self.params["image_id"]
        click.echo("tokenization...")
        gts = PTBTokenizer().tokenize({image: self.coco.imgToAnns[image] for image in images})
        res = PTBTokenizer().tokenize({image: self.cocoRes.imgToAnns[image] for image in images})
        click.echo("setting up scorers...")
        scorers: list[tuple[Bleu | Meteor | Rouge | Cider, list[str]]] = [
            (Bleu(4), ["Bleu_1", "Bleu_2", "Bleu_3", "Bleu_4"]),
            (Meteor(), ["METEOR"]),
            (Rouge(), ["ROUGE_L"]),
            (Cider(), ["CIDEr"]),
        ]
        for scorer, methods in scorers:
            click.echo(f"computing {scorer.method()} score...")
            score, scores = scorer.compute_score(gts, res)
            columns = scores if isinstance(scorer, Bleu) else [scores]
            for method, corpus, column in zip(methods, np.atleast_1d(score), columns, strict=True):
                self.setEval(float(corpus), method)
                self.setImgToEvalImgs(column, gts, method)
                click.echo(f"{method}: {corpus:0.3f}")
        self.setEvalImgs()

    def setEval(self, score: float, method: str) -> None:
        """Keep a corpus score."""
        self.eval[method] = score

    def setImgToEvalImgs(
        self, scores: Iterable[float], imgIds: Iterable[Hashable], method: str
    ) -> None:
        """Keep the images' scores of one metric."""
        for image, score in zip(imgIds, scores, strict=True):
            self.imgToEval.setdefault(image, {"image_id": image})[method] = score

    def setEvalImgs(self) -> None:
        """Gather the images' scores in a list."""
        self.evalImgs = list(self.imgToEval.values())


def _scores(metric: Metric, gts: Captions, res: Captions) -> tuple[np.float64, FloatArray]:
    statistics = _statistics(metric, gts, res)
    return metric.aggregate(statistics)[0], metric.scores(statistics)[:, 0]


def _statistics(metric: Metric, gts: Captions, res: Captions) -> FloatArray:
    """Measure captions that are tokenized already; images may have any ids."""
    if gts.keys() != res.keys():
        odd = list(gts.keys() ^ res.keys())
        raise DataError(
            f"{len(odd)} images are in only one of gts and res (such as {odd[0]!r}); "
            "both must have the same."
        )
    for image in gts:
        if isinstance(res[image], str) or len(res[image]) != 1:
            raise DataError(f"res[{image!r}] is {res[image]!r}; expected a list of one caption.")
        if isinstance(gts[image], str) or len(gts[image]) < 1:
            raise DataError(f"gts[{image!r}] is {gts[image]!r}; expected a list of captions.")
    offsets = array("q", [0])
    for image in gts:
        offsets.append(offsets[-1] + len(gts[image]))
    paired = Paired(
        items=[str(k) for k in range(len(gts))],
        candidates=[res[image][0] for image in gts],
        references=[caption for image in gts for caption in gts[image]],
        reference_offsets=offsets,
    )
    prepared = PreparedReferences(paired, table_columns(metric), "none", None, "error", "zero")
    return prepared.measure(paired.candidates, np.arange(len(gts), dtype=np.int64))[0]


def _print_counts(totals: FloatArray, n: int) -> None:
    """Print what pycocoevalcap prints of BLEU's counts."""
    counts = [int(total) for total in totals]
    length, reference_length = counts[2 * n], counts[2 * n + 1]
    shown = {
        "testlen": length,
        "reflen": reference_length,
        "guess": counts[n : 2 * n],
        "correct": counts[:n],
    }
    click.echo(str(shown))
    # the same tiny constants as in the score itself
    click.echo(f"ratio: {(length + 1e-15) / (reference_length + 1e-9)}")
