"""How well metrics agree with people on the judged sets that metric papers report.

Each set has the protocol of the papers that report it: which coefficient, whether each rating is a
row or each rater is correlated apart, which references count, and what a tie of the metric is
worth. The signature says all of it, and a protocol is chosen by the same words. Numbers are given
times 100, as the papers print them.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, field
from importlib.resources import files
from itertools import chain
from typing import Any, Literal, NamedTuple

import msgspec
import numpy as np

from reelscore._progress import Progress
from reelscore._records import resolved
from reelscore.data.checks import counted
from reelscore.errors import DataError, UnknownNameError
from reelscore.meta.correlation import BY_GROUP
from reelscore.metrics.base import FloatArray, signature_text
from reelscore.metrics.registry import table_columns
from reelscore.metrics.sentences import means
from reelscore.scoring.captions import Metrics, score_systems
from reelscore.scoring.scores import only_row
from reelscore.stats.correlations import Level, correlate, mean_known
from reelscore_studies.judged.judged_layouts import CaptionPair, RatedCaption
from reelscore_studies.judged.judged_sets import JudgedSet

_SEED = 12345  # of ties that are broken by chance


class SetProtocol(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """What is counted on a set."""

    # of rated captions, joined by "+"; the first is what papers report
    coefficients: str = "kendall_c+kendall_b"
    # ``rows``: each rating is a row; ``apart``: each rater is correlated, and the mean of the
    # raters counts; ``mean``: a caption's mean rating is a row
    raters: Literal["rows", "apart", "mean"] = "rows"
    # what a pair counts that the metric scores alike: ``half``, nothing (``wrong``), as if the
    # ``second`` caption had won, or by ``chance`` one of them
    ties: Literal["half", "wrong", "second", "chance"] = "half"
    references: int = 0  # how many references count, the first; 0 for all
    # whether references that equal a caption are ``kept`` or ``left-out``; of a pair, those that
    # equal either are left out for both, so that both meet the same. With ``one-out`` all captions
    # meet one reference less: without their own, or, where neither of a pair has one, without each
    # in turn, and the mean counts
    own: Literal["kept", "left-out", "one-out"] = "kept"
    digits: int = -1  # to how many digits scores are rounded, so that there are ties; -1 for none
    judgments: int = 0  # how many ratings or pairs the published set has; 0 if that is not known

    def signature(self, name: str) -> str:
        """Return all choices as text.

        >>> SetProtocol(references=5, judgments=4000).signature("pascal-50s")
        'pascal-50s|coefficients:kendall_c+kendall_b|raters:rows|ties:half|references:5|own:kept|digits:-1'
        """
        return signature_text(name, {k: getattr(self, k) for k in self.__struct_fields__[:-1]})


_LINEAR = SetProtocol("pearson+spearman+kendall_b", raters="mean")
_VATEX = SetProtocol("kendall_b+spearman", raters="apart", digits=4, judgments=54_000)
_FOIL = SetProtocol(ties="wrong", own="left-out", judgments=99_480)
_with = msgspec.structs.replace

SETS: dict[str, SetProtocol] = {
    "flickr8k-expert": SetProtocol(judgments=16_992),
    "flickr8k-cf": SetProtocol("kendall_b+kendall_c", judgments=47_830),
    "composite": SetProtocol(judgments=11_985),
    "pascal-50s": SetProtocol(references=5, judgments=4_000),
    "polaris": SetProtocol(judgments=26_122),
    "nebula": SetProtocol(judgments=3_298),
    "vatex-eval": _VATEX,
    "vatex-eval-1": _with(_VATEX, references=1),
    "audiocaps-eval": SetProtocol(ties="wrong", own="one-out", judgments=1_671),
    "clotho-eval": SetProtocol(ties="wrong", own="one-out", judgments=1_750),
    "msvd-eval": _with(_LINEAR, judgments=394),
    "factvc-activitynet": _with(_LINEAR, judgments=1_200),
    "factvc-youcook2": _with(_LINEAR, judgments=600),
    "thumb": _with(_LINEAR, coefficients="pearson+kendall_c", judgments=2_500),
    "foil": _FOIL,
    "foil-1": _with(_FOIL, references=1),
    "activitynet-foil": SetProtocol(ties="wrong", judgments=1_900),
    "own": SetProtocol(),
}


def set_protocol(words: str) -> tuple[str, SetProtocol]:
    """Return the name of a set and its protocol, changed as the words behind the name say.

    Raises:
        UnknownNameError: If there is no such set.
        DataError: If there is no such choice.

    >>> set_protocol("pascal-50s|ties:wrong")[1].ties
    'wrong'
    """
    name, *parts = words.split("|")
    if name not in SETS:
        raise UnknownNameError.of("judged set", name, SETS)
    given = dict(part.partition(":")[::2] for part in parts)
    try:
        values = {**msgspec.structs.asdict(SETS[name]), **given}
        protocol = msgspec.convert(values, resolved(SetProtocol), strict=False)
    except msgspec.ValidationError as error:
        raise DataError(
            f"{words!r}: {error}; expected as in {SETS[name].signature(name)}."
        ) from None
    for coefficient in protocol.coefficients.split("+"):
        if coefficient not in BY_GROUP:
            raise UnknownNameError.of("coefficient", coefficient, BY_GROUP)
    return name, protocol


@dataclass(frozen=True)
class SetAgreement:
    """What one metric reaches on a set."""

    metric: str  # its name in a table
    # numbers times 100, by coefficient; or by kind of pair, and of ``all`` pairs
    values: dict[str, float]
    signature: str  # how the metric was computed; for a printed row, where it is printed
    printed: str = ""  # the paper, where the numbers are a paper's


@dataclass(frozen=True)
class SetTable:
    """What some metrics reach on a set."""

    name: str  # the set
    protocol: SetProtocol  # what was counted
    judgments: int  # how many ratings or pairs the copy has
    pairs: bool  # whether they are pairs
    rows: Sequence[SetAgreement]  # the metrics' rows, then the papers'
    notes: Sequence[str] = field(default=())  # what a reader has to know

    @property
    def main(self) -> str:
        """The number that papers report first."""
        return "all" if self.pairs else self.protocol.coefficients.split("+")[0]

    @property
    def signature(self) -> str:
        """How the set was counted."""
        return self.protocol.signature(self.name)

    def to_dict(self) -> dict[str, Any]:
        """Return everything as plain data."""
        return {
            "set": self.name,
            "judgments": self.judgments,
            "signature": self.signature,
            "main": self.main,
            "rows": [asdict(row) for row in self.rows],
            "notes": list(self.notes),
        }


def set_table(
    words: str,
    judged: JudgedSet,
    metrics: Metrics,
    *,
    scores: Mapping[str, Sequence[float]] | None = None,
    progress: Progress | None = None,
) -> SetTable:
    """Score a set's captions, and compare with what people said.

    Args:
        words: The name of the set, with choices other than the papers' behind it:
            ``pascal-50s|ties:wrong``.
        judged: The set.
        metrics: As in `reelscore.score`: names, plug-ins and judges included.
        scores: Scores of other metrics by name: a number for each caption in the order of the set,
            of pairs both, one after the other. Higher is better.
        progress: Called with how many captions are scored, of how many.

    Raises:
        DataError: If nothing can be compared.

    >>> one, two = (RatedCaption(f"a {what}", ["a dog"], [len(what)]) for what in ("dog", "bu"))
    >>> set_table("nebula", JudgedSet([one, two], []), "rouge_l").rows[0].values
    {'kendall_c': 100.0, 'kendall_b': 100.0}
    """
    name, protocol = set_protocol(words)
    texts = _Texts.of(judged, protocol)
    if not texts.captions:
        why = "no caption has a reference" if texts.bare else "no pair has a winner"
        raise DataError(f"{name}: there is nothing to compare; {why}.")
    notes = []
    if protocol.judgments and protocol.judgments != judged.judgments:
        have = counted(judged.judgments, "pair" if judged.pairs else "rating")
        notes.append(
            f"Warning: this copy of {name} has {have}, the published set "
            f"{protocol.judgments:,}; the numbers are not those of the papers."
        )
    if texts.bare:
        notes.append(f"{name}: {counted(texts.bare, 'row')} left out, with no reference left.")
    rows = []
    own = texts.given_scores(name, scores or {})
    for label, values, signature in chain(own, texts.scored(metrics, progress)):
        if lost := int(np.isnan(values).sum()):
            notes.append(f"{name}: {label} has no score of {counted(lost, 'caption')}.")
        if protocol.digits >= 0:
            values = np.round(values, protocol.digits)
        agreement = (
            _accuracies(texts.pairs, values, protocol)
            if texts.pairs
            else _correlations(texts.rated, values, protocol)
        )
        rows.append(SetAgreement(label, agreement, signature))
    rows += printed_rows(name)
    return SetTable(name, protocol, judged.judgments, bool(texts.pairs), rows, notes)


class _Printed(msgspec.Struct):
    sources: dict[str, str]
    rows: dict[str, list[tuple[str, str, dict[str, float]]]]


def printed_rows(name: str) -> list[SetAgreement]:
    """Return the rows that papers print for a set.

    >>> printed_rows("clotho-eval")[0].values["all"]
    59.0
    """
    text = files("reelscore_studies.published").joinpath("judged_sets.json").read_bytes()
    data = msgspec.json.decode(text, type=resolved(_Printed))
    return [
        SetAgreement(metric, values, data.sources[source], printed=source)
        for metric, source, values in data.rows.get(name, [])
    ]


class _Texts(NamedTuple):
    """The captions of a set in the order in which they are scored, and what people said of them.

    Of pairs, the second of each follows the first. `times` says how often each caption is scored,
    with other references; the mean counts. `bare` rows have no reference left.
    """

    captions: list[str]
    references: list[list[str]]
    times: list[int]
    rated: list[RatedCaption]
    pairs: list[CaptionPair]
    bare: int
    places: list[int]  # of the captions that count, in the set as it was read
    total: int  # how many captions that has

    @classmethod
    def of(cls, judged: JudgedSet, protocol: SetProtocol) -> _Texts:
        """Choose the rows and the references that count."""
        texts = cls([], [], [], [], [], 0, [], 0)
        bare = place = 0

        def counts(captions: Sequence[str], references: Sequence[str], votes: float = 1) -> bool:
            nonlocal bare, place
            place += len(captions)
            if not votes:  # they sum to 0, which does not count
                return False
            beside = _references(captions, references, protocol)
            left = all(own for turns in beside for own in turns)
            for caption, turns in zip(captions, beside, strict=True) if left else ():
                texts.captions.extend([caption] * len(turns))
                texts.references.extend(turns)
                texts.times.append(len(turns))
            texts.places.extend(range(place - len(captions), place) if left else ())
            bare += not left
            return left

        texts.rated.extend(row for row in judged.rated if counts([row.caption], row.references))
        texts.pairs.extend(
            pair for pair in judged.pairs if counts(pair.captions, pair.references, pair.votes)
        )
        return texts._replace(bare=bare, total=place)

    def given_scores(
        self, name: str, scores: Mapping[str, Sequence[float]]
    ) -> Iterator[tuple[str, FloatArray, str]]:
        """Yield the label and the scores of other metrics, of the captions that count.

        Raises:
            DataError: If there are more or fewer than captions.
        """
        for label, values in scores.items():
            if len(values) != self.total:
                raise DataError(
                    f"{label} has {counted(len(values), 'score')}; expected {self.total:,}: one "
                    f"for each caption of {name} in the order of the set, of pairs both in turn."
                )
            yield label, np.asarray(values, dtype=float)[self.places], f"{label}, scores as given"

    def scored(
        self, metrics: Metrics, progress: Progress | None
    ) -> Iterator[tuple[str, FloatArray, str]]:
        """Yield the label, the scores and the signature of each score; higher is better.

        Equal captions with equal references are scored once, but where the references of all items
        count together, as CIDEr's do: each row is an item there, as in the papers.
        """
        for columns in table_columns(metrics):
            whole = columns.metric.weighs_all_references or not columns.metric.independent
            keys = [
                (number if whole else caption, *references)
                for number, (caption, references) in enumerate(
                    zip(self.captions, self.references, strict=True)
                )
            ]
            first = {key: number for number, key in reversed([*enumerate(keys)])}
            chosen = {str(number): number for number in sorted(first.values())}
            results = only_row(
                score_systems(
                    {"": {item: self.captions[number] for item, number in chosen.items()}},
                    {item: self.references[number] for item, number in chosen.items()},
                    columns.metric,
                    empty="zero",
                    progress=progress,
                )
            )
            for output, name in zip(columns.metric.outputs, columns.names, strict=True):
                if name in columns.judged:
                    result = results[output]
                    items = result.items  # without those that have no score
                    scores = np.array([items.get(str(first[key]), np.nan) for key in keys])
                    scores = means(scores, np.array(self.times))
                    label = name if "|" in name else result.scale.label or name
                    yield label, result.scale.sign * scores, result.signature


def _references(
    captions: Sequence[str], references: Sequence[str], protocol: SetProtocol
) -> list[list[list[str]]]:
    """Return of each caption the references it meets, each time it is scored."""

    def without(*texts: str) -> list[str]:
        own = {text.strip() for text in texts}
        left = [each for each in references if each.strip() not in own]
        return left[: protocol.references or None]

    if protocol.own == "kept":
        return [[list(references[: protocol.references or None])]] * len(captions)
    there = {each.strip() for each in references}
    own = [text for text in captions if text.strip() in there]
    if protocol.own == "left-out" or len(own) == 1:
        return [[without(*own)]] * len(captions)
    if own:
        return [[without(text)] for text in captions]
    others = without()
    turns = [others[:k] + others[k + 1 :] for k in range(len(others))]
    return [turns if len(others) > 1 else [others]] * len(captions)


def _accuracies(
    pairs: Sequence[CaptionPair], values: FloatArray, protocol: SetProtocol
) -> dict[str, float]:
    apart = values[::2] - values[1::2]
    votes = np.array([pair.votes for pair in pairs])
    tied: Any = {
        "half": 0.5,
        "wrong": 0.0,
        "second": (votes < 0).astype(float),
        "chance": np.random.default_rng(_SEED).integers(0, 2, len(votes)).astype(float),
    }[protocol.ties]
    right = np.where(apart == 0, tied, np.sign(apart) == np.sign(votes)).astype(float)
    right[np.isnan(apart)] = np.nan
    kinds = np.array([pair.kind for pair in pairs])
    groups = {kind: kinds == kind for kind in sorted(set(kinds.tolist())) if kind}
    groups["all"] = np.ones(len(pairs), dtype=bool)
    return {kind: 100 * float(mean_known(right[own])) for kind, own in groups.items()}


def _correlations(
    rated: Sequence[RatedCaption], values: FloatArray, protocol: SetProtocol
) -> dict[str, float]:
    """Correlate: raters stand where systems do, and captions where items do."""
    level: Level = "per-system" if protocol.raters == "apart" else "pooled"
    if protocol.raters == "mean":
        people = np.array([[np.mean(row.ratings) for row in rated]])
    else:
        people = np.full((max(len(row.ratings) for row in rated), len(rated)), np.nan)
        for k, row in enumerate(rated):
            people[: len(row.ratings), k] = row.ratings
    metric = np.where(np.isnan(people), np.nan, values)
    people = np.where(np.isnan(metric), np.nan, people)
    return {
        name: 100 * float(correlate(people, metric, level, BY_GROUP[name]))
        for name in protocol.coefficients.split("+")
    }
