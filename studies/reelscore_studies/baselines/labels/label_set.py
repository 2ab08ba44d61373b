"""Visual labels as a value and as a folder: trained classifiers, and the scores of items.

``LABELS/`` holds ``labels.json``, ``classifiers.safetensors``, and the scores of each split in
``train.safetensors``, ``val.safetensors`` and perhaps ``test.safetensors``: a vector for each item,
one number for each kept label, in the order of ``labels.json``. So a file of scores is a file of
features, and is read as one; its metadata have a hash of the labels, so that scores of other labels
are not taken for them.
"""

from __future__ import annotations

import json
import os
import secrets
import shutil
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from reelscore._progress import Progress, Steps
from reelscore.data.captions.inputs import references_by_item
from reelscore.data.captions.python_captions import CaptionsLike
from reelscore.errors import DataError
from reelscore.report.tuples import Tuples
from reelscore.text.words import array_fingerprint, pack
from reelscore_studies.baselines.array_files import read_arrays, write_arrays
from reelscore_studies.baselines.clip_features import Features, items_with_all, read_features
from reelscore_studies.baselines.labels.classifiers import (
    C_GRID,
    Data,
    FloatArray,
    GroupClassifiers,
    LabelParameters,
    Scaler,
    TrainedLabel,
    Trainer,
    check_widths,
    feature_names,
    items_of,
    matrix_of,
    stacked,
    train_group,
    training_decisions,
)
from reelscore_studies.baselines.labels.visual_labels import find_labels, group_name
from reelscore_studies.baselines.networks.lstm import check_device
from reelscore_studies.tuple_files import of_items

SPLITS = ("train", "val", "test")
_LABELS, _CLASSIFIERS = "labels.json", "classifiers.safetensors"


@dataclass(frozen=True)
class Labels:
    """Visual labels with their classifiers, and the scores of items.

    Attributes:
        labels: Every label that was trained, kept or not.
        parameters: How they were trained.
        groups: The features of each group.
        classifiers: The classifiers of the kept labels of each group.
        mean: The mean of each kept label's decision values on training items.
        deviation: Their deviation.
        by_split: The scores of ``train`` and ``val``.
    """

    labels: tuple[TrainedLabel, ...]
    parameters: LabelParameters
    groups: Mapping[str, str]
    classifiers: tuple[GroupClassifiers, ...]
    mean: FloatArray
    deviation: FloatArray
    by_split: Mapping[str, Features]

    @classmethod
    def train(
        cls,
        captions: CaptionsLike,
        tuples: Tuples,
        features: Mapping[str, Features],
        *,
        validation: tuple[CaptionsLike, Tuples, Mapping[str, Features]],
        groups: Mapping[str, str],
        places: Sequence[str] | None = None,
        objects: Sequence[str] | None = None,
        auc: float = 0.7,
        threads: int | None = None,
        device: str = "cpu",
        progress: Progress | None = None,
        **parameters: Any,
    ) -> Labels:
        """Find labels, train a classifier for each, and keep those that can be seen.

        Args:
            captions: The captions of the training items, in any form of `reelscore.score` that has
                ids.
            tuples: Their tuples.
            features: Their features, by name.
            validation: The same three for validation items, which choose C and labels.
            groups: The features that each group sees: ``verb``, ``place``, ``object``, ``other`` or
                ``all``; several features are joined by ``+``.
            places: The list of scene classes, for the group ``place``.
            objects: The list of a detector's classes, for the group ``object``.
            auc: The AUC on validation that a label needs.
            threads: How many classifiers are trained at once; all cores by default.
            device: ``cpu``, or ``cuda``: classifiers are trained on the GPU, many together.
            progress: Called with how many steps are done, of how many.
            parameters: Other attributes of `LabelParameters`.

        Raises:
            DataError: If items do not fit together, or no label of a group can be seen.
            MissingExtraError: If scikit-learn is not installed.

        >>> from reelscore.captioners import Roles
        >>> verbs = ["run", "sit", "run", "sit"] * 6
        >>> captions = {str(k): f"Someone {verb}s." for k, verb in enumerate(verbs)}
        >>> tuples = Tuples({str(k): [Roles("someone", verb)] for k, verb in enumerate(verbs)})
        >>> features = {"idt": Features.of({i: [float("run" in c)] for i, c in captions.items()})}
        >>> labels = Labels.train(captions, tuples, features, groups={"verb": "idt"}, minimum=5,
        ...                       validation=(captions, tuples, features))
        >>> [(label.name, label.auc) for label in labels.kept]
        [('run', 1.0), ('sit', 1.0)]
        >>> labels.scores(features).matrix[0].tolist()
        [1.0, -1.0]
        """
        check_device(device)
        settings = LabelParameters(auc=auc, **parameters)
        groups = _by_name(groups)
        check_widths(features, validation[2], groups)
        training = Data(references_by_item(captions), tuples, features)
        held_out = Data(references_by_item(validation[0]), *validation[1:])
        own = of_items(tuples, items_of(training, groups, settings.missing))
        found = find_labels(own, groups, minimum=settings.minimum, places=places, objects=objects)
        ours = matrix_of(training, groups, found, settings.missing)
        if settings.cross_fit > len(ours.items):
            raise DataError(
                f"cross_fit is {settings.cross_fit:,}, but there are {len(ours.items):,} training "
                "items; expected no more parts than items."
            )
        theirs = matrix_of(held_out, groups, found, settings.missing)
        steps = Steps(progress, len(groups) * (len(C_GRID) + settings.cross_fit))
        labels: list[TrainedLabel] = []
        kept: list[GroupClassifiers] = []
        decisions: list[FloatArray] = []
        for group, feature in groups.items():
            trainer = Trainer(
                ours, group, stacked(features, feature, ours.items), settings, threads, device
            )
            rows = stacked(held_out.features, feature, theirs.items)
            classifiers, judged = train_group(trainer, feature, theirs, rows, steps)
            _check_group(group, judged, settings.auc)
            kept.append(classifiers.take([k for k, own in enumerate(judged) if own.kept]))
            decisions.append(training_decisions(trainer, kept[-1], steps))
            labels += judged
        values = np.hstack(decisions)
        scaler = Scaler.fitted(values)
        made = cls(tuple(labels), settings, groups, tuple(kept), scaler.mean, scaler.deviation, {})
        scores = {
            "train": Features(ours.items, made._standardised(values), made.hash),
            "val": made._scored(held_out.features, theirs.items),
        }
        return replace(made, by_split=scores)

    @property
    def kept(self) -> tuple[TrainedLabel, ...]:
        """The labels whose scores are used, in the order of the scores."""
        return tuple(label for label in self.labels if label.kept)

    @property
    def hash(self) -> str:
        """Eight hex digits of the groups and names of these labels, in their order."""
        return _hash(self.labels)

    def filtered(self, auc: float) -> Labels:
        """Ask for a higher AUC; classifiers and the scores of the labels that stay are the same.

        Args:
            auc: The AUC on validation that a label needs.

        Raises:
            DataError: If no label of a group reaches it.
        """
        parameters = replace(self.parameters, auc=auc)
        labels = tuple(
            replace(own, kept=False, reason=f"AUC {own.auc:.3f} is below {auc:g}")
            if own.kept and own.auc is not None and own.auc < auc
            else own
            for own in self.labels
        )
        for group in self.groups:
            _check_group(group, [own for own in labels if own.group == group], auc)
        stay = np.array(
            [own.kept for own, old in zip(labels, self.labels, strict=True) if old.kept]
        )
        ends = np.cumsum([0, *(len(own.labels) for own in self.classifiers)])
        classifiers = tuple(
            own.take(np.flatnonzero(stay[begin:end]).tolist())
            for own, begin, end in zip(self.classifiers, ends[:-1], ends[1:], strict=True)
        )
        scores = {
            split: Features(own.items, np.ascontiguousarray(own.matrix[:, stay]), _hash(labels))
            for split, own in self.by_split.items()
        }
        numbers = self.mean[stay], self.deviation[stay]
        return Labels(labels, parameters, self.groups, classifiers, *numbers, scores)

    def scores(self, features: Mapping[str, Features]) -> Features:
        """Score items that classifiers did not see.

        Args:
            features: Their features, by name.

        Returns:
            A row for each item that has all features, a number for each kept label.

        Raises:
            DataError: If features are missing, or an item lacks some and the labels were not
                trained with ``missing="skip"``.
        """
        names = feature_names(self.groups)
        absent = [name for name in names if name not in features]
        if absent:
            raise DataError(
                f"There are no features {absent[0]!r}, which the labels need; there are "
                f"{', '.join(features) or 'none'}."
            )
        items = items_with_all([features[name] for name in names], self.parameters.missing)
        return self._scored(features, items)

    def _scored(self, features: Mapping[str, Features], items: Sequence[str]) -> Features:
        parts = [own.decisions(stacked(features, own.feature, items)) for own in self.classifiers]
        return Features(tuple(items), self._standardised(np.hstack(parts)), self.hash)

    def _standardised(self, values: FloatArray) -> NDArray[np.float32]:
        return Scaler(self.mean, self.deviation)(values).astype(np.float32)

    def signature(self, **context: object) -> str:
        """Spell out how the labels were made.

        Args:
            context: More parts, such as ``data``.
        """
        groups = ";".join(f"{group}={feature}" for group, feature in self.groups.items())
        return self.parameters.signature(labels=len(self.kept), groups=groups, **context)

    def write(
        self,
        folder: str | os.PathLike[str],
        *,
        test: Features | None = None,
        record: Mapping[str, Any] | None = None,
    ) -> None:
        """Write a folder, all or nothing.

        Args:
            folder: The folder to make; there must be none of that name, or an empty one.
            test: Scores of test items.
            record: How the labels were made, for ``run.json``.
        """
        target = Path(folder)
        check_folder(target)
        aside = target.with_name(f".{target.name[:50]}.{secrets.token_hex(4)}.tmp")
        aside.mkdir()
        try:
            splits = {**self.by_split, **({"test": test} if test is not None else {})}
            for split, features in splits.items():
                arrays = dict(zip(features.items, features.matrix, strict=True))
                metadata = {"labels": features.labels} if features.labels else None
                write_arrays(aside / f"{split}.safetensors", arrays, metadata)
            write_arrays(aside / _CLASSIFIERS, self._arrays())
            _write_json(aside / _LABELS, self._description())
            if record is not None:
                _write_json(aside / "run.json", record)
            if target.is_dir():
                target.rmdir()
            aside.rename(target)
        except BaseException:
            shutil.rmtree(aside, ignore_errors=True)
            raise

    def _arrays(self) -> dict[str, NDArray[np.generic]]:
        arrays: dict[str, NDArray[np.generic]] = {"mean": self.mean, "deviation": self.deviation}
        for group, own in zip(self.groups, self.classifiers, strict=True):
            arrays |= {
                f"{group}.mean": own.scaler.mean,
                f"{group}.deviation": own.scaler.deviation,
                f"{group}.weights": np.ascontiguousarray(own.weights),
                f"{group}.intercepts": own.intercepts,
                f"{group}.labels": own.labels,
            }
        return arrays

    def _description(self) -> dict[str, Any]:
        return {
            "signature": self.signature(),
            "hash": self.hash,
            "parameters": asdict(self.parameters),
            "groups": dict(self.groups),
            "c": {g: own.c for g, own in zip(self.groups, self.classifiers, strict=True)},
            "labels": [asdict(label) for label in self.labels],
        }

    @classmethod
    def read(cls, folder: str | os.PathLike[str]) -> Labels:
        """Read a folder that `write` made, with the scores of its splits.

        Args:
            folder: The folder.

        Raises:
            DataError: If it is no such folder.
        """
        place = Path(folder)
        try:
            told = json.loads((place / _LABELS).read_text(encoding="utf-8"))
            arrays = read_arrays(place / _CLASSIFIERS)
            classifiers = tuple(
                GroupClassifiers(
                    feature,
                    arrays[f"{group}.labels"],
                    Scaler(arrays[f"{group}.mean"], arrays[f"{group}.deviation"]),
                    arrays[f"{group}.weights"],
                    arrays[f"{group}.intercepts"],
                    told["c"][group],
                )
                for group, feature in told["groups"].items()
            )
            labels = tuple(TrainedLabel(**label) for label in told["labels"])
            parameters = LabelParameters(**told["parameters"])
        except (OSError, ValueError, KeyError, TypeError, AttributeError) as error:
            raise DataError(
                f"{place}: is no folder of labels ({error}); expected {_LABELS}, {_CLASSIFIERS} "
                "and scores, as 'reelscore caption labels' writes them."
            ) from error
        scores = {
            split: read_features(place / f"{split}.safetensors")
            for split in SPLITS
            if (place / f"{split}.safetensors").is_file()
        }
        made = (labels, parameters, told["groups"], classifiers, arrays["mean"])
        return cls(*made, arrays["deviation"], scores)


def choose_auc(
    labels: Labels, grid: Sequence[float], score: Callable[[Labels], float]
) -> tuple[Labels, dict[float, float]]:
    """Choose the AUC that labels need by what a captioner reaches with them on validation."""
    reached: dict[float, float] = {}
    for auc in sorted(set(grid)):
        try:
            some = labels.filtered(auc)
        except DataError:  # a group has no label left; at higher values neither
            break
        reached[auc] = score(some)
    if not reached:
        raise DataError(f"No label of a group reached AUC {min(grid):g}. Try lower values.")
    return labels.filtered(max(reached, key=reached.__getitem__)), reached


def check_folder(target: Path) -> None:
    """Refuse a folder that cannot be made."""
    if target.exists() and not (target.is_dir() and not any(target.iterdir())):
        raise DataError(f"{target}: exists already; name another folder, or remove it.")
    if not target.parent.is_dir():
        raise DataError(f"{target}: there is no folder {str(target.parent)!r}; make it.")
    if not os.access(target.parent, os.W_OK):
        raise DataError(f"{target}: permission denied; choose another place.")


def _hash(labels: Sequence[TrainedLabel]) -> str:
    kept = [text for label in labels if label.kept for text in (label.group, label.name)]
    return array_fingerprint(pack(kept))


def _by_name(groups: Mapping[str, str]) -> dict[str, str]:
    """Return the features of each group, by its name in the singular.

    >>> _by_name({"verbs": "idt"})
    {'verb': 'idt'}
    """
    named: dict[str, str] = {}
    for group, feature in groups.items():
        name = group_name(group)
        if name in named:
            raise DataError(
                f"Group {name!r} is named twice; name it once. Several features are joined by +."
            )
        named[name] = feature
    return named


def _check_group(group: str, judged: Sequence[TrainedLabel], auc: float) -> None:
    if any(label.kept for label in judged):
        return
    measured = [(label.auc, label.name) for label in judged if label.auc is not None]
    if not measured:
        most = max(judged, key=lambda label: label.validation_positives)
        raise DataError(
            f"No label of group {group!r} has enough validation items (best: {most.name!r}, "
            f"{most.reason}). Take more validation items, or leave the group out."
        )
    best, name = max(measured)
    raise DataError(
        f"No label of group {group!r} reached AUC {auc:g} (best: {name!r}, {best:.2f}). Lower auc "
        "or check the features of that group."
    )


def _write_json(path: Path, content: Mapping[str, Any]) -> None:
    path.write_text(json.dumps(content, ensure_ascii=False, indent=1) + "\n", encoding="utf-8")
