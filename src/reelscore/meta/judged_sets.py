"""How well metrics agree with people on the judged sets that metric papers report.

Each set has the protocol of the papers that report it: which coefficient, whether each rating is a
row or each rater is correlated apart, which references count, and what a tie of the metric is
worth. The signature says all of it. Coefficients are given times 100, as the papers print them.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import asdict, dataclass
from importlib.resources import files

import msgspec
import numpy as np

from reelscore.data.datasets.judged_sets import CaptionPair, JudgedSet, RatedCaption
from reelscore.errors import DataError, UnknownNameError
from reelscore.metrics.base import FloatArray, Metric, signature_text
from reelscore.scoring.captions import score
from reelscore.stats.correlations import pearson, spearman
from reelscore.stats.pairs import kendall_b, kendall_c

_COEFFICIENTS: dict[str, Callable[[FloatArray, FloatArray], FloatArray]] = {
    "pearson": pearson,
    "spearman": spearman,
    "kendall_b": kendall_b,
    "kendall_c": kendall_c,
}


@dataclass(frozen=True)
class SetProtocol:
    """What is counted on a set.

    Attributes:
        coefficients: Of rated captions; the first is what papers report.
        raters: ``rows``: each rating is a row; ``apart``: each rater is correlated, and the mean
            of the raters counts; ``mean``: a caption's mean rating is a row.
        ties: What a pair counts that the metric scores alike: ``half``, or as if the ``second``
            caption had won.
        references: How many references count, the first; 0 for all.
        leave_one_out: Of a pair, references equal to either caption count for neither.
        digits: To how many digits scores are rounded, so that there are ties; -1 for none.
    """

    coefficients: tuple[str, ...] = ("kendall_c", "kendall_b")
    raters: str = "rows"
    ties: str = "half"
    references: int = 0
    leave_one_out: bool = False
    digits: int = -1

    def signature(self, name: str) -> str:
        """Return all choices as text.

        >>> SetProtocol(references=5).signature("pascal-50s").partition("|")[2][:32]
        'coefficients:kendall_c+kendall_b'
        """
        return signature_text(name, {**asdict(self), "coefficients": "+".join(self.coefficients)})


PROTOCOLS: dict[str, SetProtocol] = {
    "flickr8k-expert": SetProtocol(),
    "flickr8k-cf": SetProtocol(("kendall_b", "kendall_c")),
    "composite": SetProtocol(),
    "pascal-50s": SetProtocol(references=5),
    "polaris": SetProtocol(),
    "nebula": SetProtocol(),
    "vatex-eval": SetProtocol(("kendall_b", "spearman"), raters="apart", digits=4),
    "vatex-eval-1": SetProtocol(("kendall_b", "spearman"), raters="apart", digits=4, references=1),
    "audiocaps-eval": SetProtocol(leave_one_out=True),
    "clotho-eval": SetProtocol(leave_one_out=True),
    "msvd-eval": SetProtocol(("pearson", "spearman", "kendall_b"), raters="mean"),
    "factvc-activitynet": SetProtocol(("pearson", "spearman", "kendall_b"), raters="mean"),
    "factvc-youcook2": SetProtocol(("pearson", "spearman", "kendall_b"), raters="mean"),
    "thumb": SetProtocol(("pearson", "kendall_c"), raters="mean"),
    "foil": SetProtocol(),
    "activitynet-foil": SetProtocol(),
}


@dataclass(frozen=True)
class SetAgreement:
    """What one metric reaches on a set.

    Attributes:
        metric: Its name in a table.
        values: Numbers times 100, by coefficient, or by kind of pair.
        signature: How the metric was computed; for a printed row, where it is printed.
        printed: Whether the numbers are a paper's.
    """

    metric: str
    values: dict[str, float]
    signature: str
    printed: bool = False


def set_protocol(name: str) -> SetProtocol:
    """Return the protocol of a set.

    Raises:
        UnknownNameError: If there is no such set.

    >>> set_protocol("pascal-50s").references
    5
    """
    if name not in PROTOCOLS:
        raise UnknownNameError.of("judged set", name, PROTOCOLS)
    return PROTOCOLS[name]


def set_agreement(
    judged: JudgedSet,
    metrics: str | Sequence[str | Metric],
    *,
    protocol: SetProtocol | None = None,
) -> list[SetAgreement]:
    """Score a set's captions, and compare with what people said.

    Args:
        judged: The set.
        metrics: As in `reelscore.score`: names, plug-ins and judges included.
        protocol: Other choices than the papers'.

    >>> rows = [RatedCaption("a dog runs", ["a dog is running"], [4.0]),
    ...         RatedCaption("a cat", ["a dog sits on a car"], [1.0])]
    >>> [row] = set_agreement(JudgedSet("nebula", rows, []), "rouge_l")
    >>> row.metric, row.values
    ('ROUGE-L', {'kendall_c': 100.0, 'kendall_b': 100.0})
    """
    protocol = protocol or set_protocol(judged.name)
    captions, references = _rows(judged, protocol)
    if not captions:
        raise DataError(f"{judged.name}: there is nothing to compare; no pair has a winner.")
    items = [str(number) for number in range(len(captions))]
    results = score(
        dict(zip(items, captions, strict=True)),
        dict(zip(items, references, strict=True)),
        metrics,
    )
    found = []
    for name, result in results.items():
        values = np.asarray(result.items.array, dtype=np.float64)
        if result.scale.better == "low":
            values = -values
        if protocol.digits >= 0:
            values = np.round(values, protocol.digits)
        found.append(
            SetAgreement(
                result.scale.label or name,
                _accuracies(judged.pairs, values, protocol)
                if judged.pairs
                else _correlations(judged.rated, values, protocol),
                result.signature,
            )
        )
    return found


def printed_rows(name: str) -> list[SetAgreement]:
    """Return the rows that papers print for a set.

    >>> printed_rows("clotho-eval")[0].values
    {'all': 75.7}
    """
    text = files("reelscore.meta.published").joinpath("judged_sets.json").read_bytes()
    data = msgspec.json.decode(text, type=_Printed)
    return [
        SetAgreement(metric, values, data.sources[source], printed=True)
        for metric, source, values in data.rows.get(name, [])
    ]


class _Printed(msgspec.Struct):
    sources: dict[str, str]
    rows: dict[str, list[tuple[str, str, dict[str, float]]]]


def _rows(judged: JudgedSet, protocol: SetProtocol) -> tuple[list[str], list[list[str]]]:
    """Return all captions to score, pair by pair, and the references that count for each."""
    captions = [row.caption for row in judged.rated]
    references = [row.references for row in judged.rated]
    for pair in _decided(judged.pairs):
        for caption in pair.captions:
            captions.append(caption)
            references.append(_others(pair) if protocol.leave_one_out else pair.references)
    if protocol.references:
        references = [texts[: protocol.references] for texts in references]
    return captions, references


def _others(pair: CaptionPair) -> list[str]:
    """Return the references but for the two captions, so that both meet the same ones."""
    both = {caption.strip() for caption in pair.captions}
    return [text for text in pair.references if text.strip() not in both]


def _decided(pairs: Iterable[CaptionPair]) -> list[CaptionPair]:
    """Return the pairs of which people prefer one; votes that sum to 0 do not count."""
    return [pair for pair in pairs if pair.votes]


def _accuracies(
    pairs: Iterable[CaptionPair], values: FloatArray, protocol: SetProtocol
) -> dict[str, float]:
    decided = _decided(pairs)
    apart = values[::2] - values[1::2]
    votes = np.array([pair.votes for pair in decided])
    tied = 0.5 if protocol.ties == "half" else (votes < 0).astype(np.float64)
    right = np.where(apart == 0, tied, np.sign(apart) == np.sign(votes))
    kinds = np.array([pair.kind for pair in decided])
    by_kind = {
        kind: 100 * float(right[kinds == kind].mean())
        for kind in dict.fromkeys(kinds.tolist())
        if kind
    }
    together = {"all": 100 * float(right.mean())}
    if by_kind:
        together["mean"] = sum(by_kind.values()) / len(by_kind)
    return {**by_kind, **together}


def _correlations(
    rated: Sequence[RatedCaption], values: FloatArray, protocol: SetProtocol
) -> dict[str, float]:
    if protocol.raters == "mean":
        columns = [(np.array([np.mean(row.ratings) for row in rated]), values)]
    elif protocol.raters == "rows":
        counts = [len(row.ratings) for row in rated]
        flat = np.array([rating for row in rated for rating in row.ratings])
        columns = [(flat, np.repeat(values, counts))]
    else:
        most = max(len(row.ratings) for row in rated)
        if any(len(row.ratings) != most for row in rated):
            raise DataError("Raters are compared apart here, but captions differ in how many.")
        people = np.array([row.ratings for row in rated])
        columns = [(people[:, k], values) for k in range(most)]
    return {
        name: 100 * float(np.mean([_COEFFICIENTS[name](human, ours) for human, ours in columns]))
        for name in protocol.coefficients
    }
