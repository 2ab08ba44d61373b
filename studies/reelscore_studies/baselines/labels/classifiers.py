"""Classifiers of visual labels: linear SVMs, the AUC filter, and the scores they give.

As in section 4.2.1 of the movie description paper: one classifier a label, trained on the features
of the label's group; labels that cannot be seen are dropped, by their AUC on validation.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, replace
from statistics import fmean
from typing import Annotated, ClassVar, Literal, NamedTuple, get_args

import msgspec
import numpy as np
from numpy.typing import NDArray

from reelscore._packages import need
from reelscore.captioners.run_record import Parameters
from reelscore.errors import DataError, UnknownNameError, check_choice
from reelscore.report.tuples import Tuples
from reelscore.stats.distributions import ranks
from reelscore.text.tokens import thread_count
from reelscore_studies.baselines.clip_features import Features, Matrix, MissingItems, common_items
from reelscore_studies.baselines.labels.svm import fit_together
from reelscore_studies.baselines.labels.visual_labels import (
    BoolArray,
    LabelMatrix,
    VisualLabel,
    label_matrix,
)

Negatives = Literal["trained", "retrieved"]
FloatArray = NDArray[np.float64]
C_GRID = (0.002, 0.02, 0.2)
LEAST_POSITIVES = 5  # on validation; an AUC of fewer says nothing


@dataclass(frozen=True)
class LabelParameters(Parameters):
    """How labels are trained and filtered.

    Attributes:
        auc: The AUC on validation that a label needs.
        auc_lower: Whether the lower 95 % limit of the AUC (DeLong) must exceed 0.5 as well: with
            few positives, some meaningless labels pass by chance.
        minimum: In how many training items a label must occur.
        negatives: ``trained``: each classifier sees only items with some label of its group;
            ``retrieved``: it sees all items, as before labels were grouped.
        cross_fit: Into how many parts training items are divided, so that each is scored by
            classifiers that did not see it; 0: all are scored by classifiers that saw them.
        missing: Whether items without captions or features are an ``error`` or left out.
        seed: The random seed of the parts, and of the classifiers where they need one.
    """

    auc: float = 0.7
    auc_lower: bool = False
    minimum: Annotated[int, msgspec.Meta(ge=1)] = 30
    negatives: Negatives = "trained"
    cross_fit: int = 0
    missing: MissingItems = "error"
    seed: int = 12345
    name: ClassVar[str] = "labels"

    def __post_init__(self) -> None:
        check_choice("kind of negatives", self.negatives, get_args(Negatives))
        check_choice("policy missing=", self.missing, get_args(MissingItems))
        if not 0 <= self.auc <= 1:
            raise DataError(f"auc is {self.auc}; expected a number from 0 to 1.")
        if self.cross_fit < 0 or self.cross_fit == 1:
            raise DataError(f"cross_fit is {self.cross_fit}; expected 0, or 2 or more parts.")


@dataclass(frozen=True)
class TrainedLabel:
    """A label and what became of it.

    Attributes:
        name: The label.
        group: Its group.
        feature: The features that its classifier sees.
        positives: Training items that have it.
        validation_positives: Validation items that have it.
        auc: The area under the ROC curve on validation, over the items with a label of the group;
            ``None`` where it cannot be said.
        auc_lower: Its lower 95 % limit (DeLong).
        kept: Whether its scores are used.
        reason: Why not; empty if they are.
    """

    name: str
    group: str
    feature: str
    positives: int
    validation_positives: int
    auc: float | None
    auc_lower: float | None
    kept: bool
    reason: str = ""


class Data(NamedTuple):
    """Items with their captions, tuples and features: what labels are trained on, or chosen by."""

    captions: Mapping[str, Sequence[str]]
    tuples: Tuples
    features: Mapping[str, Features]


@dataclass(frozen=True)
class Scaler:
    """Shifts and scales features so that on training data each has mean 0 and deviation 1."""

    mean: FloatArray
    deviation: FloatArray

    @classmethod
    def fitted(cls, rows: NDArray[np.floating]) -> Scaler:
        """Take mean and deviation of some rows; what never changes is not scaled."""
        deviation = rows.std(axis=0, dtype=np.float64)
        return cls(rows.mean(axis=0, dtype=np.float64), np.where(deviation > 0, deviation, 1.0))

    def __call__(self, rows: NDArray[np.floating]) -> FloatArray:
        """Standardise rows."""
        scaled: FloatArray = (rows - self.mean) / self.deviation
        return scaled


@dataclass(frozen=True)
class GroupClassifiers:
    """The classifiers of a group of labels.

    Attributes:
        feature: The features they see; several are joined by ``+``.
        labels: The columns of their labels.
        scaler: Standardises the features.
        weights: A column for each label.
        intercepts: One for each label.
        c: The strength that was chosen.
    """

    feature: str
    labels: NDArray[np.int64]
    scaler: Scaler
    weights: FloatArray
    intercepts: FloatArray
    c: float

    def decisions(self, rows: NDArray[np.floating]) -> FloatArray:
        """Return how far each row is on the side of each label."""
        check_width(self.feature, rows.shape[1], len(self.scaler.mean))
        values: FloatArray = self.scaler(rows) @ self.weights + self.intercepts
        return values

    def take(self, columns: Sequence[int]) -> GroupClassifiers:
        """Keep some of the labels."""
        return replace(
            self,
            labels=self.labels[columns],
            weights=self.weights[:, columns],
            intercepts=self.intercepts[columns],
        )


def check_width(feature: str, width: int, expected: int) -> None:
    """Refuse features that cannot be those that classifiers were trained on.

    >>> check_width("idt", 4, 3)
    Traceback (most recent call last):
    reelscore.errors.DataError: Features 'idt' have 4 numbers for each item, those of the training
    items 3. Extract them in the same way.
    """
    if width != expected:
        raise DataError(
            f"Features {feature!r} have {width:,} numbers for each item, those of the training "
            f"items {expected:,}. Extract them in the same way."
        )


def check_widths(
    training: Mapping[str, Features], others: Mapping[str, Features], groups: Mapping[str, str]
) -> None:
    """Refuse features of other items that cannot be those that classifiers will be trained on."""
    for name in feature_names(groups):
        own, theirs = _named(training, name), _named(others, name)
        check_width(name, theirs.matrix.shape[1], own.matrix.shape[1])


def feature_names(groups: Mapping[str, str]) -> list[str]:
    """Return the features that groups see, each once.

    >>> feature_names({"verb": "idt", "all": "idt+places"})
    ['idt', 'places']
    """
    return list(dict.fromkeys(part for own in groups.values() for part in own.split("+")))


def _named(features: Mapping[str, Features], name: str) -> Features:
    if name not in features:
        raise UnknownNameError.of("features", name, features)
    return features[name]


def stacked(features: Mapping[str, Features], name: str, items: Sequence[str]) -> Matrix:
    """Return the features of one name for some items; names joined by ``+`` stand side by side."""
    parts = [_named(features, part).take(items).matrix for part in name.split("+")]
    return parts[0] if len(parts) == 1 else np.hstack(parts)


def items_of(data: Data, groups: Mapping[str, str], missing: MissingItems) -> list[str]:
    """Return the items that have captions and every feature that is used."""
    items = list(data.captions)
    for name in feature_names(groups):
        items = common_items(items, _named(data.features, name).items, missing)
    return items


def matrix_of(
    data: Data, groups: Mapping[str, str], labels: Sequence[VisualLabel], missing: MissingItems
) -> LabelMatrix:
    """Return which of the items that can be used have which labels."""
    items = items_of(data, groups, missing)
    return label_matrix(items, data.captions, data.tuples, labels)


# One classifier


def fit(rows: FloatArray, positive: BoolArray, c: float, seed: int) -> tuple[FloatArray, float]:
    """Train a linear SVM with balanced classes; give its weights and its intercept."""
    svm = need("sklearn.svm", "reelscore[torch]", "Visual labels need", "scikit-learn")
    machine = svm.LinearSVC(
        C=c, class_weight="balanced", dual="auto", random_state=seed, max_iter=5000
    )
    machine.fit(rows, positive)
    return machine.coef_[0], float(machine.intercept_[0])


@dataclass(frozen=True)
class Trainer:
    """Trains the classifiers of one group.

    Attributes:
        training: Which training items have which labels.
        group: The group.
        rows: The features of the training items.
        parameters: How to train.
        threads: How many classifiers are trained at once.
        device: ``cpu``: by scikit-learn; ``cuda``: on the GPU, all of the group together.
    """

    training: LabelMatrix
    group: str
    rows: Matrix
    parameters: LabelParameters
    threads: int | None = None
    device: str = "cpu"

    @property
    def columns(self) -> NDArray[np.int64]:
        """The columns of the group's labels."""
        return np.array(
            [k for k, label in enumerate(self.training.labels) if label.group == self.group]
        )

    @property
    def positives(self) -> BoolArray:
        """Which training items are positive for which label of the group."""
        retrieved = self.parameters.negatives == "retrieved"
        whole = self.training.any_role if retrieved else self.training.values
        return whole[:, self.columns]

    @property
    def candidates(self) -> BoolArray:
        """Which training items the classifiers may see."""
        if self.parameters.negatives == "retrieved":
            return np.ones(len(self.training.items), dtype=np.bool_)
        return self.training.group_items(self.group)

    def classifiers(
        self, feature: str, c: float, scaler: Scaler, rows: BoolArray | None = None
    ) -> GroupClassifiers:
        """Train on the items that may be seen, or on some of them.

        A label that all of them have, or none, gets a classifier that says 0.
        """
        seen = self.candidates if rows is None else self.candidates & rows
        scaled = scaler(self.rows[seen])
        positives = self.positives[seen]
        weights = np.zeros((scaled.shape[1], positives.shape[1]))
        intercepts = np.zeros(positives.shape[1])

        def train(column: int) -> None:
            own = positives[:, column]
            if own.any() and not own.all():
                weights[:, column], intercepts[column] = fit(scaled, own, c, self.parameters.seed)

        if self.device == "cuda":
            some = np.flatnonzero(positives.any(axis=0) & ~positives.all(axis=0))
            weights[:, some], intercepts[some] = fit_together(
                scaled, positives[:, some], c, self.device
            )
            return GroupClassifiers(feature, self.columns, scaler, weights, intercepts, c)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # one that does not converge is judged by its AUC
            with ThreadPoolExecutor(thread_count(self.threads)) as pool:
                list(pool.map(train, range(positives.shape[1])))
        return GroupClassifiers(feature, self.columns, scaler, weights, intercepts, c)


def train_group(
    trainer: Trainer,
    feature: str,
    validation: LabelMatrix,
    validation_rows: Matrix,
    done: Callable[[], None] = lambda: None,
) -> tuple[GroupClassifiers, list[TrainedLabel]]:
    """Train the labels of a group with the C whose mean AUC on validation is highest."""
    scaler = Scaler.fitted(trainer.rows)
    judged_items = validation.group_items(trainer.group)
    best: tuple[float, GroupClassifiers, list[Auc | str]] | None = None
    for c in C_GRID:
        classifiers = trainer.classifiers(feature, c, scaler)
        decisions = classifiers.decisions(validation_rows[judged_items])
        positives = validation.values[np.ix_(judged_items, classifiers.labels)]
        aucs = [area_or_reason(*pair) for pair in zip(decisions.T, positives.T, strict=True)]
        areas = [own.value for own in aucs if isinstance(own, Auc)]
        mean = fmean(areas) if areas else 0.0
        if best is None or mean > best[0]:
            best = mean, classifiers, aucs
        done()
    assert best is not None
    _, classifiers, aucs = best
    judged = [
        _judged(label, feature, int(count), positive, own, trainer.parameters)
        for label, count, positive, own in zip(
            (trainer.training.labels[k] for k in classifiers.labels),
            validation.values[judged_items][:, classifiers.labels].sum(axis=0),
            trainer.positives.T,
            aucs,
            strict=True,
        )
    ]
    return classifiers, judged


def _judged(
    label: VisualLabel,
    feature: str,
    count: int,
    positive: BoolArray,
    auc: Auc | str,
    parameters: LabelParameters,
) -> TrainedLabel:
    """Decide whether a label is kept."""
    value = auc.value if isinstance(auc, Auc) else None
    lower = auc.lower if isinstance(auc, Auc) else None
    if isinstance(auc, str):
        reason = auc
    elif auc.value < parameters.auc:
        reason = f"AUC {auc.value:.3f} is below {parameters.auc:g}"
    elif parameters.auc_lower and auc.lower <= 0.5:
        reason = f"the lower limit of its AUC, {auc.lower:.3f}, is not above 0.5"
    else:
        reason = ""
    return TrainedLabel(
        label.name,
        label.group,
        feature,
        int(positive.sum()),
        count,
        value,
        lower,
        not reason,
        reason,
    )


def parts(count: int, number: int, seed: int) -> Iterator[BoolArray]:
    """Divide items at random into parts of nearly the same size; yield which are in each.

    >>> sorted(int(own.sum()) for own in parts(7, 3, seed=0))
    [2, 2, 3]
    """
    numbers = np.random.default_rng(seed).permutation(np.arange(count) % number)
    for part in range(number):
        yield numbers == part


def training_decisions(
    trainer: Trainer, classifiers: GroupClassifiers, done: Callable[[], None] = lambda: None
) -> FloatArray:
    """How far the training items are on the side of each label; out of fold with cross-fitting."""
    if not trainer.parameters.cross_fit:
        return classifiers.decisions(trainer.rows)
    places = [int(np.flatnonzero(trainer.columns == k)[0]) for k in classifiers.labels]
    values = np.empty((len(trainer.rows), len(places)))
    for held_out in parts(len(trainer.rows), trainer.parameters.cross_fit, trainer.parameters.seed):
        others = trainer.classifiers(
            classifiers.feature, classifiers.c, classifiers.scaler, ~held_out
        )
        values[held_out] = others.take(places).decisions(trainer.rows[held_out])
        done()
    return values


# The area under the ROC curve


class Auc(NamedTuple):
    """The area under a ROC curve, and its lower 95 % limit by DeLong's variance."""

    value: float
    lower: float


def area(scores: FloatArray, positive: BoolArray) -> Auc:
    """Return the share of pairs of a positive and a negative in the right order; ties count half.

    >>> area(np.array([0.9, 0.8, 0.3, 0.1]), np.array([True, False, True, False])).value
    0.75
    """
    hits, misses = scores[positive], scores[~positive]
    among_all = ranks(np.concatenate([hits, misses]))
    above = (among_all[: len(hits)] - ranks(hits)) / len(misses)
    below = 1 - (among_all[len(hits) :] - ranks(misses)) / len(hits)
    value = float(above.mean())
    variance = sum(float(own.var(ddof=1)) / len(own) for own in (above, below) if len(own) > 1)
    return Auc(value, value - 1.959963984540054 * variance**0.5)


def area_or_reason(scores: FloatArray, positive: BoolArray) -> Auc | str:
    """Return the AUC of a label, or why there is none."""
    count = int(positive.sum())
    if count < LEAST_POSITIVES:
        return f"{count} positives on validation; at least {LEAST_POSITIVES} are needed"
    if count == len(positive):
        return "every validation item with a label of the group has it"
    return area(scores, positive)
