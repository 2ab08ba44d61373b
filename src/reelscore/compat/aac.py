"""aac-metrics without Java: its functions for captions, their arguments, return values and numbers.

Change the import lines and leave the rest::

    from reelscore.compat.aac import cider_d, evaluate, preprocess_mono_sents

Scores are tensors, as there, so this module needs torch. Arguments about Java, caches and devices
are taken and not used. SPICE, and SPIDEr with it, are close to the official tool, not equal, and
need a parser. Metrics that are other models (FENSE, MACE, BERTScore…) are refused.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import TYPE_CHECKING, Any

from reelscore._packages import need
from reelscore.compat import coco
from reelscore.errors import DataError, UnknownNameError
from reelscore.text.tokens import tokenize

if TYPE_CHECKING:
    from torch import Tensor

Scores = dict[str, "Tensor"]
Outputs = tuple[Scores, Scores]
Preprocess = bool | Callable[[list[str]], list[str]]

__all__ = [
    "Evaluate",
    "bleu",
    "bleu_1",
    "bleu_2",
    "bleu_3",
    "bleu_4",
    "cider_d",
    "evaluate",
    "meteor",
    "preprocess_mono_sents",
    "preprocess_mult_sents",
    "rouge_l",
    "spice",
    "spider",
]


def preprocess_mono_sents(sentences: list[str], *unused: Any, **also_unused: Any) -> list[str]:
    """Tokenize sentences in one run, as the COCO tools do.

    Args:
        sentences: The sentences.
        unused: Arguments of aac-metrics that are not needed here.
        also_unused: Likewise.

    >>> preprocess_mono_sents(["A man's dog."])
    ["a man 's dog"]
    """
    return tokenize(sentences, "ptb-coco")


def preprocess_mult_sents(
    mult_sentences: list[list[str]], *unused: Any, **also_unused: Any
) -> list[list[str]]:
    """Tokenize lists of sentences, all in one run.

    Args:
        mult_sentences: The lists.
        unused: Arguments of aac-metrics that are not needed here.
        also_unused: Likewise.

    >>> preprocess_mult_sents([["A man.", "A boy."], ["Two dogs."]])
    [['a man', 'a boy'], ['two dogs']]
    """
    tokens = iter(preprocess_mono_sents([each for row in mult_sentences for each in row]))
    return [[next(tokens) for _ in row] for row in mult_sentences]


def bleu(
    candidates: list[str],
    mult_references: list[list[str]],
    return_all_scores: bool = True,
    n: int = 4,
    **unused: Any,
) -> Any:
    """BLEU of one order; the sentences are taken as they are.

    Args:
        candidates: One sentence for each item.
        mult_references: The references of each item.
        return_all_scores: Whether to give the scores of the corpus and of the sentences, or the
            score of the corpus alone.
        n: The order.
        unused: Arguments of aac-metrics that are not needed here.

    >>> corpus, sentences = bleu(["a man runs"], [["a man runs"]], n=2)  # doctest: +SKIP
    """
    return _bleu_of(n)(candidates, mult_references, return_all_scores)


def _metric(name: str, about: str, score: Callable[..., tuple[Any, Any]]) -> Callable[..., Any]:
    """Make the function of a metric without parameters of its own."""

    def scored(
        candidates: list[str],
        mult_references: list[list[str]],
        return_all_scores: bool = True,
        **unused: Any,
    ) -> Any:
        corpus, items = score(*_dictionaries(candidates, mult_references))
        return _outputs(name, corpus, items, return_all_scores)

    scored.__name__ = scored.__qualname__ = name
    scored.__doc__ = f"""{about}; candidates, mult_references, return_all_scores and unused as of
    `bleu`.

    >>> corpus, sentences = {name}(["a man", "a dog"], [["a boy"], ["a dog"]])  # doctest: +SKIP
    """
    return scored


def _bleu_of(order: int) -> Callable[..., Any]:
    def score(gts: coco.Captions, res: coco.Captions) -> tuple[float, list[float]]:
        corpus, items = coco.Bleu(order).compute_score(gts, res, 0)
        return corpus[-1], items[-1]

    return _metric(f"bleu_{order}", f"BLEU of order {order}", score)


def _spice(gts: coco.Captions, res: coco.Captions) -> tuple[Any, list[float]]:
    corpus, items = coco.Spice().compute_score(gts, res)
    return corpus, [each["All"]["f"] for each in items]


bleu_1, bleu_2, bleu_3, bleu_4 = map(_bleu_of, range(1, 5))
rouge_l = _metric("rouge_l", "ROUGE-L", lambda *captions: coco.Rouge().compute_score(*captions))
spice = _metric("spice", "SPICE, close to the official tool; needs a parser", _spice)


def meteor(
    candidates: list[str],
    mult_references: list[list[str]],
    return_all_scores: bool = True,
    *,
    language: str = "en",
    params: Iterable[float] | None = None,
    weights: Iterable[float] | None = None,
    **unused: Any,
) -> Any:
    """METEOR 1.5 for English.

    Args:
        candidates, mult_references, return_all_scores, unused: As of `bleu`.
        language: ``en``.
        params: ``None``, for METEOR's own.
        weights: ``None``, for METEOR's own.

    Raises:
        DataError: For another language, parameters or weights.

    >>> corpus, sentences = meteor(["a man", "a dog"], [["a boy"], ["a dog"]])  # doctest: +SKIP
    """
    if language != "en" or params is not None or weights is not None:
        raise DataError("meteor: only English with METEOR's own parameters and weights; pass none.")
    corpus, items = coco.Meteor().compute_score(*_dictionaries(candidates, mult_references))
    return _outputs("meteor", corpus, items, return_all_scores)


def cider_d(
    candidates: list[str],
    mult_references: list[list[str]],
    return_all_scores: bool = True,
    *,
    n: int = 4,
    sigma: float = 6.0,
    **unused: Any,
) -> Any:
    """CIDEr-D.

    Args:
        candidates, mult_references, return_all_scores, unused: As of `bleu`.
        n: The highest order of n-grams.
        sigma: Of the penalty for another length.

    Raises:
        DataError: If there are fewer than two candidates.

    >>> corpus, sentences = cider_d(["a man", "a dog"], [["a boy"], ["a dog"]])  # doctest: +SKIP
    """
    if len(candidates) < 2:
        raise DataError(
            f"cider_d: {len(candidates)} candidates; expected two or more, since words are "
            "weighted by how many items they occur in."
        )
    scorer = coco.Cider(n=n, sigma=sigma)
    corpus, items = scorer.compute_score(*_dictionaries(candidates, mult_references))
    return _outputs("cider_d", corpus, items, return_all_scores)


def spider(
    candidates: list[str],
    mult_references: list[list[str]],
    return_all_scores: bool = True,
    **options: Any,
) -> Any:
    """SPIDEr, the mean of CIDEr-D and SPICE, with both.

    Args:
        candidates, mult_references, return_all_scores: As of `bleu`.
        options: As of `cider_d`.

    >>> corpus, sentences = spider(["a man", "a dog"], [["a boy"], ["a dog"]])  # doctest: +SKIP
    """
    parts = [each(candidates, mult_references, **options) for each in (cider_d, spice)]
    corpus, items = ({**parts[0][k], **parts[1][k]} for k in (0, 1))
    for scores in (corpus, items):
        scores["spider"] = (scores["cider_d"] + scores["spice"]) / 2
    return (corpus, items) if return_all_scores else corpus["spider"]


_METRICS: dict[str, Callable[..., Any]] = {
    **{"bleu_1": bleu_1, "bleu_2": bleu_2, "bleu_3": bleu_3, "bleu_4": bleu_4},
    **{"meteor": meteor, "rouge_l": rouge_l, "cider_d": cider_d},
    **{"spice": spice, "spider": spider},
}
_DEFAULT = ("bleu_1", "bleu_2", "bleu_3", "bleu_4", "meteor", "rouge_l", "spider")
_SETS = {"default": _DEFAULT, "dcase2020": _DEFAULT}


def evaluate(
    candidates: list[str],
    mult_references: list[list[str]],
    preprocess: Preprocess = True,
    metrics: str | Iterable[str] | Iterable[Callable[..., Any]] = "default",
    **unused: Any,
) -> Outputs:
    """Tokenize and score; gives the scores of the corpus, and those of the sentences.

    Args:
        candidates: One sentence for each item.
        mult_references: The references of each item.
        preprocess: Whether to tokenize, or how.
        metrics: ``default``, or names of metrics, or functions of this module.
        unused: Arguments of aac-metrics that are not needed here.

    Raises:
        UnknownNameError: If there is no such metric here.

    >>> corpus, _ = evaluate(["a man runs", "two dogs"], [["a man runs"], ["dogs"]],
    ...                      metrics=["bleu_1", "cider_d"])  # doctest: +SKIP
    """
    functions = [_function(metric) for metric in _named(metrics)]
    if preprocess is True:
        candidates = preprocess_mono_sents(candidates)
        mult_references = preprocess_mult_sents(mult_references)
    elif callable(preprocess):
        candidates = preprocess(candidates)
        tokens = iter(preprocess([each for row in mult_references for each in row]))
        mult_references = [[next(tokens) for _ in row] for row in mult_references]
    corpus: Scores = {}
    sentences: Scores = {}
    for function in functions:
        of_corpus, of_sentences = function(candidates, mult_references)
        corpus |= of_corpus
        sentences |= of_sentences
    return corpus, sentences


class Evaluate:
    """`evaluate` as an object: called with sentences, or fed batch by batch.

    Args:
        preprocess, metrics, unused: As in `evaluate`.

    >>> evaluate = Evaluate(metrics=["rouge_l"])
    >>> evaluate.update(["a man"], [["a man"]])
    """

    def __init__(
        self,
        preprocess: Preprocess = True,
        metrics: str | Iterable[str] | Iterable[Callable[..., Any]] = "default",
        **unused: Any,
    ) -> None:
        self._preprocess = preprocess
        self._metrics = [_function(metric) for metric in _named(metrics)]
        self.reset()

    def __call__(self, candidates: list[str], mult_references: list[list[str]]) -> Outputs:
        """Score sentences alone, without those kept so far."""
        return evaluate(candidates, mult_references, self._preprocess, self._metrics)

    forward = __call__

    def update(self, candidates: list[str], mult_references: list[list[str]]) -> None:
        """Keep a batch of sentences."""
        self._candidates += candidates
        self._references += mult_references

    def compute(self) -> Outputs:
        """Score all sentences kept."""
        return self(self._candidates, self._references)

    def reset(self) -> None:
        """Forget all sentences."""
        self._candidates: list[str] = []
        self._references: list[list[str]] = []


def _named(metrics: str | Iterable[Any]) -> list[Any]:
    if isinstance(metrics, str):
        return list(_SETS.get(metrics, (metrics,)))
    return list(metrics)


def _function(metric: Any) -> Callable[..., Any]:
    if callable(metric):
        function: Callable[..., Any] = metric
        return function
    if metric not in _METRICS:
        raise UnknownNameError.of("metric", str(metric), [*_METRICS, *_SETS])
    return _METRICS[metric]


def _dictionaries(
    candidates: Sequence[str], mult_references: Sequence[Sequence[str]]
) -> tuple[dict[int, Sequence[str]], dict[int, Sequence[str]]]:
    if not candidates:
        raise DataError("There are no candidates; expected one sentence for each item.")
    if len(candidates) != len(mult_references):
        raise DataError(
            f"{len(candidates)} candidates and references of {len(mult_references)} items; "
            "expected as many."
        )
    return dict(enumerate(mult_references)), {k: [text] for k, text in enumerate(candidates)}


def _outputs(name: str, corpus: Any, sentences: Any, return_all_scores: bool) -> Any:
    torch = need("torch", "torch", "Scores as tensors need")
    score = torch.as_tensor(float(corpus), dtype=torch.float64)
    if not return_all_scores:
        return score
    return {name: score}, {name: torch.as_tensor(sentences, dtype=torch.float64)}
