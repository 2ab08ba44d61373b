"""What every metric is: parameters, statistics of each item, and scores of their sums.

The split is what the rest rests on. Statistics are computed once for each item, whatever the
other items are; any set of items is scored from the *sum* of their rows. So threads, shards,
streaming, per-item scores, bootstrap and permutation tests need no code in the metrics.

A metric writes two functions, `statistics` and `scores`, and declares its `name` and how to read
its scores. All else has defaults, and so has `scores` where these are means: `prepare` for what all
systems share, `files` and `training_items` for metrics that read models.
"""

from __future__ import annotations

import dataclasses
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, ClassVar, Literal, TypeAlias, cast

from msgspec import structs

from reelscore._lazy import np
from reelscore._native import Rows
from reelscore.data.tables.scales import Scale, output_name
from reelscore.errors import DataError, UnknownNameError
from reelscore.text.tokens import Tokenizer, check_tokenizer
from reelscore.text.words import CaptionBatch, Captions, Pairing

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from reelscore.metrics.training_data import TrainingItems

FloatArray: TypeAlias = "NDArray[np.float64]"
Reads = Literal["english", "words", "any", "answers"]


@dataclasses.dataclass(frozen=True)
class Metric(ABC):
    """A metric is a value: its fields are its parameters, and appear in its signature.

    A field that does not change scores, such as how many requests are in flight, is declared with
    ``field(compare=False)`` and left out of the signature.

    Attributes:
        name: The name in the registry, which is also the name of the file.
        output_scale: Which way is better, the range, and whether items together score the mean of
            their scores. It travels with the scores, and all that rank systems go by it.
        needs_references: False for metrics of the candidates alone.
        independent: False where a caption's statistics depend on the system's other captions;
            such a metric is computed over all captions at once and has no resampling interval.
        counts: True where all statistics are whole numbers: their sums are exact in any order.
        core: True where the core computes it, in C++: `statistics` returns the core's `Rows`, and
            `scores` takes and returns them as well as arrays, so that no array need be made.
        slow: True where a progress bar is worth showing even for a few captions; engines then get
            small pieces, so that all workers have some.
        reads: Which texts it is made for: ``english`` alone; ``words``, any language whose words
            are divided by blanks or by a tokenizer; ``any``; or ``answers``, which are no captions.
        tokenizers: The tokenizers whose tokens it takes; all where it is empty.
    """

    name: ClassVar[str]
    output_scale: ClassVar[Scale] = Scale()
    needs_references: ClassVar[bool] = True
    independent: ClassVar[bool] = True
    counts: ClassVar[bool] = False
    core: ClassVar[bool] = False
    slow: ClassVar[bool] = False
    reads: ClassVar[Reads] = "words"
    tokenizers: ClassVar[tuple[str, ...]] = ()

    @abstractmethod
    def statistics(self, batch: CaptionBatch, prepared: Any) -> FloatArray | Rows:
        """Candidates × k numbers: everything the scores need from each."""

    def scores(self, totals: Any) -> Any:
        """Scores from sums of statistics: (..., k) in, (..., number of outputs) out.

        A row by itself is the sum over one item, so the same function gives per-item scores.
        Unless a metric says otherwise they are means: all columns by the last, which counts; NaN
        where it counts nothing.
        """
        with np.errstate(invalid="ignore"):
            return totals[..., :-1] / totals[..., -1:]

    @property
    def outputs(self) -> tuple[str, ...]:
        """Names of the scores this metric gives; most give one, under their own name."""
        return (self.name,)

    @property
    def output_scales(self) -> tuple[Scale, ...]:
        """How to read each of the outputs; all alike unless a metric says otherwise."""
        return (self.output_scale,) * len(self.outputs)

    def prepare(self, references: Captions, reference_offsets: NDArray[np.int64]) -> Any:
        """Compute once what all systems share; handed to `statistics` as ``prepared``."""
        return None

    @property
    def compares(self) -> bool:
        """Whether one caption can be compared with one reference, as inside stories."""
        return self.needs_references and self.independent

    def from_zero(self) -> Metric:
        """Return the same metric on a scale that begins at 0, if it has one."""
        return self

    @property
    def weighs_all_references(self) -> bool:
        """Whether `prepare` looks at the references of all items together, as CIDEr's does."""
        return False

    def gather(self, references: Captions, reference_offsets: NDArray[np.int64]) -> Any:
        """Find out from some items what `prepare` finds out from all; ``None`` if that is nothing.

        What several parts of the items gave is put together by `reelscore.scoring.shards`, and
        has a method `prepare`, which takes the references of a part.
        """
        return None

    @property
    def one_process(self) -> bool:
        """Whether one process must measure all captions, such as one that keeps a journal."""
        return False

    def files(self) -> dict[str, str]:
        """Files the scores depend on, by parameter; their fingerprints enter the signature."""
        return {}

    def training_items(self) -> TrainingItems | None:
        """The items it was trained on; ``None`` for a metric that was not, or does not know."""
        return None

    def unseen_remedy(self, groups: Sequence[str]) -> str:
        """What to do about items it was trained on, in a sentence or two."""
        return ""

    def notes(self, prepared: Any) -> list[str]:
        """What there is to say after captions were measured, such as what that cost."""
        return []

    def found(self, prepared: Any) -> dict[str, object]:
        """What the signature says of how captions were measured, known only afterwards."""
        return {}

    def aggregate(self, statistics: FloatArray) -> FloatArray:
        """Score any set of items together: one number per output."""
        scores: FloatArray = self.scores(column_sums(statistics))
        return scores

    def scale_of(self, name: str) -> Scale:
        """How to read one output, or a table's score by a variant, as a score table carries it."""
        own = self.output_scales[self.outputs.index(output_name(name))]
        return structs.replace(own, together=not self.independent)

    def signature(self, **context: object) -> str:
        """Spell out name and all parameters, then the context: enough to make the number again.

        >>> from reelscore.metrics.rouge_l import RougeL
        >>> RougeL().signature(tok="ptb")
        'rouge_l|beta:1.2|tok:ptb'
        """
        return signature_text(self.name, {**self.parameters(), **context})

    def parameters(self, *, changed: bool = False) -> dict[str, object]:
        """Return what enters the signature, by name; only what differs from the defaults, if asked.

        >>> from reelscore.metrics.rouge_l import RougeL
        >>> RougeL().parameters(), RougeL().parameters(changed=True)
        ({'beta': 1.2}, {})
        """
        own = [(field, getattr(self, field.name)) for field in dataclasses.fields(self)]
        return {
            field.name: value
            for field, value in own
            if field.compare and not (changed and value == field.default)
        }

    @classmethod
    def from_parameters(cls, parameters: dict[str, str]) -> Metric:
        """Build the metric from parameters as a signature spells them.

        Keys that are not parameters are taken for context where `CONTEXT_KEYS` has them, and
        refused otherwise.
        """
        fields = {f.name: f for f in dataclasses.fields(cls)}
        if "sentences" in parameters and "sentences" not in fields:
            from reelscore.metrics.sentences import BySentence, Sentences

            own = {key: text for key, text in parameters.items() if key != "sentences"}
            metric, sentences = cls.from_parameters(own), cast("Sentences", parameters["sentences"])
            return metric if sentences == "whole" else BySentence(metric, sentences)
        values: dict[str, Any] = {}
        for key, text in parameters.items():
            if key in fields:
                values[key] = _value(cls, fields[key], text)
            elif key not in CONTEXT_KEYS:
                raise UnknownNameError.of(f"parameter of {cls.name}", key, fields)
        return cls(**values)


def changed_parameters(metric: Metric) -> str:
    """Spell the parameters that differ from the defaults, as a signature does."""
    changed = metric.parameters(changed=True)
    return "|".join(f"{name}:{spelled(value)}" for name, value in changed.items())


def core_scores(function: Callable[..., Rows], totals: Any, *parameters: object) -> Any:
    """Compute scores in the core: rows from rows, and an array of any shape from an array."""
    if isinstance(totals, Rows):
        return function(totals, *parameters)
    flat = np.ascontiguousarray(totals, dtype=np.float64).reshape(-1, totals.shape[-1])
    scores = np.asarray(function(Rows(flat), *parameters))
    return scores.reshape(*totals.shape[:-1], scores.shape[1])


def measured_rows(metric: Metric, batch: CaptionBatch, prepared: Any) -> Rows:
    """Return a metric's statistics as the core holds them."""
    statistics = metric.statistics(batch, prepared)
    if isinstance(statistics, Rows):
        return statistics
    return Rows(np.ascontiguousarray(statistics, dtype=np.float64))


def scores_of_rows(metric: Metric, rows: Rows) -> tuple[list[float], Rows]:
    """Return the scores of all rows together, and those of each row."""
    if metric.core:
        [together] = metric.scores(rows.sums()).tolist()
        return together, metric.scores(rows)
    statistics = np.asarray(rows)
    items = np.ascontiguousarray(metric.scores(statistics), dtype=np.float64)
    return metric.aggregate(statistics).tolist(), Rows(items)


CONTEXT_KEYS = frozenset(
    {
        *("tok", "items", "refs", "data", "missing", "ids", "common", "empty", "files", "revision"),
        *("trained", "seen", "parser", "rules", "asked", "strict"),
        *("level", "resamples", "seed", "resampling", "v"),
    }
)


def pair_statistics(
    metric: Metric,
    texts: Captions,
    candidates: NDArray[np.int64],
    references: NDArray[np.int64],
    threads: int,
) -> FloatArray:
    """Statistics of candidates, each against one reference, all given by number."""
    each_its_own = np.arange(texts.size + 1)
    pairing = Pairing(references, each_its_own)
    batch = CaptionBatch(texts.take(candidates), texts, pairing, threads)
    return np.asarray(metric.statistics(batch, None))


def check_tokens(metrics: Iterable[Metric], tokenizer: Tokenizer) -> None:
    """Refuse a tokenizer that does not exist, or whose tokens some metric does not take.

    >>> from reelscore.metrics.registry import resolve
    >>> check_tokens(resolve("bleu,cider"), "zh")
    """
    check_tokenizer(tokenizer)
    metrics = list(metrics)
    refusing = [m for m in metrics if m.tokenizers and tokenizer not in m.tokenizers]
    if refusing:
        names = ", ".join(metric.name for metric in refusing)
        rest = ",".join(metric.name for metric in metrics if metric not in refusing)
        remedy = f'Leave {"it" if len(refusing) == 1 else "them"} out: metrics="{rest}"'
        raise DataError(
            f"{names}: made for English in Penn Treebank tokens, not for the tokenizer "
            f"{tokenizer!r}. {remedy if rest else 'Choose another metric'}, or use the tokenizer "
            f"{refusing[0].tokenizers[0]}."
        )


def check_processes(metrics: Iterable[Metric]) -> None:
    """Refuse metrics that several processes cannot measure.

    >>> from reelscore.metrics.registry import resolve
    >>> check_processes(resolve("bleu,cider"))
    """
    for metric in metrics:
        if metric.one_process:
            raise DataError(
                f"{metric.name} keeps its answers in a journal, which one process writes. Leave it "
                "out here, and score it with the engine threads."
            )


def check_range(metric: Metric, parameter: str, low: float, high: float) -> None:
    """Refuse a parameter outside its range (NaN is always outside)."""
    value = getattr(metric, parameter)
    if not low <= value <= high:
        raise DataError(
            f"{metric.name}: {parameter} is {value}; expected a number from {low:g} to {high:g}."
        )


def column_sums(statistics: FloatArray) -> FloatArray:
    """Sum each column, pairwise, so that a million items lose no digits."""
    rows = Rows(np.ascontiguousarray(statistics, dtype=np.float64))
    sums: FloatArray = np.asarray(rows.sums())[0]
    return sums


def with_count(*columns: FloatArray) -> FloatArray:
    """Put columns side by side and add one of ones, so that sums can be turned into means.

    >>> import numpy as np
    >>> with_count(np.array([0.5, 0.25])).tolist()
    [[0.5, 1.0], [0.25, 1.0]]
    """
    return np.column_stack([*columns, np.ones(len(columns[0]))])


def mean_of_first(totals: FloatArray) -> FloatArray:
    """Scores of the metrics that are plain means: first column over last.

    Args:
        totals: Sums of statistics, with the number of items in the last column.

    >>> import numpy as np
    >>> mean_of_first(np.array([1.5, 2.0])).tolist()
    [0.75]
    """
    return totals[..., :1] / totals[..., -1:]


def signature_text(name: str, parts: Mapping[str, object]) -> str:
    """Spell a signature: a name, then each part with its value.

    >>> signature_text("nearest", {"k": 1, "clip": False})
    'nearest|k:1|clip:no'
    """
    return "|".join([name, *(f"{key}:{spelled(value)}" for key, value in parts.items())])


def spelled(value: object) -> str:
    """Spell a value as signatures do."""
    if value is None:
        return "none"
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, float):
        return f"{value:.17g}" if float(f"{value:g}") != value else f"{value:g}"
    return "%6Eone" if value == "none" else _quoted(str(value))


# What a text may hold unescaped beside letters and digits: not the characters that separate the
# parts of a signature, and no blanks, which would be lost at its ends.
_PLAIN = "/:+-_.~=@!$&'()*;?#[]{}<>^`"

# urllib takes 2 ms to import, and nearly all values are words and numbers.


def _quoted(text: str) -> str:
    if text.isascii() and text.replace("-", "").replace(".", "").isalnum():
        return text
    from urllib.parse import quote

    return quote(text, safe=_PLAIN)


def unquoted(text: str) -> str:
    """Read a text as a signature spells it.

    >>> unquoted("a%7Cb")
    'a|b'
    """
    if "%" not in text:
        return text
    from urllib.parse import unquote

    return unquote(text)


_READERS: dict[str, Callable[[str], Any]] = {
    "int": int,
    "float": float,
    "bool": {"yes": True, "no": False}.__getitem__,
    "str": unquoted,
}


def _value(metric: type[Metric], field: dataclasses.Field[Any], text: str) -> Any:
    """Read a parameter's value according to its annotation (``float``, ``str | None``…)."""
    kinds = [kind.strip() for kind in str(field.type).split("|")]
    if "None" in kinds and text == "none":
        return None
    kind = kinds[0] if kinds[0] in _READERS else "str"
    try:
        return _READERS[kind](text)
    except (ValueError, KeyError):
        expected = "yes or no" if kind == "bool" else kind
        raise DataError(
            f"Parameter {field.name!r} of {metric.name} is {text!r}; expected {expected}."
        ) from None
