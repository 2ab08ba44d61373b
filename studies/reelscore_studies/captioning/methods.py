"""How the captions of a unit are made, by its method: networks, translation, retrieval, people.

Label scores and networks are kept in the study's ``cache/``, under the digest of what they depend
on; several rows learn from the same.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import msgspec
import numpy as np

from reelscore._version import __version__
from reelscore.errors import DataError
from reelscore_studies.baselines.clip_features import Features
from reelscore_studies.baselines.networks.lstm import gpu_is_here
from reelscore_studies.captioning.material import Material
from reelscore_studies.captioning.units import NETWORKS, Unit, digest_of

if TYPE_CHECKING:
    from reelscore_studies.baselines.labels.label_set import Labels

Captions = dict[str, dict[str, dict[str, str]]]  # by set, by weights, by item


def candidates(
    unit: Unit, material: Material, splits: Sequence[str]
) -> tuple[Captions, dict[str, Any]]:
    """Make captions: for each set, those of the best weights and perhaps those of the last."""
    row, made = unit.row, {}
    if row.method in NETWORKS:
        return _by_network(unit, material, splits)
    if row.method == "translation":
        return _by_translation(unit, material, splits)
    for split in splits:
        items = list(material.captions(split))
        if row.method == "human":
            own = material.others(split)
        elif row.method == "nearest":
            own = _nearest(material, row.features, split, unit.threads)
        else:
            own = _retrieved(unit, material, split, items)
        made[split] = {"best": own}
    return made, {}


def label_folder(unit: Unit) -> Path:
    """Return where the label scores of a row are kept, by all that its classifiers depend on."""
    row, plan = unit.row, unit.plan
    settings = {
        **{name: getattr(row, name) for name in ("negatives", "minimum", "cross_fit", "kind")},
        **row.dose,
        "groups": unit.groups,
        "data": plan.study.data,
        "files": msgspec.to_builtins(plan.data),
        "version": __version__,
    }
    return unit.home / "cache" / f"labels_{digest_of(settings)}"


def trained_labels(unit: Unit) -> Labels:
    """Return all labels of a row, whatever their AUC, from the cache or trained now."""
    from reelscore_studies.baselines.labels.classifiers import feature_names
    from reelscore_studies.baselines.labels.label_set import Labels

    folder, row = label_folder(unit), unit.row
    if folder.is_dir():
        return Labels.read(folder)
    material = unit.material()
    groups = unit.groups
    features = "+".join(feature_names(groups))
    captions = {name: material.captions(name) for name in ("train", "val", "test")}
    numbers = {n: material.features(n, features, list(own)) for n, own in captions.items()}
    tuples = {name: material.tuples(name, row.kind) for name in ("train", "val")}
    # Rows without a network need no GPU: classifiers that a CPU trains are the same to five digits.
    device = unit.device if row.method in NETWORKS or gpu_is_here() else "cpu"
    labels = Labels.train(
        captions["train"],
        tuples["train"],
        numbers["train"],
        validation=(captions["val"], tuples["val"], numbers["val"]),
        groups=groups,
        places=material.words("places"),
        objects=material.words("objects"),
        auc=0.0,
        negatives=row.negatives,
        minimum=row.minimum,
        cross_fit=row.cross_fit,
        threads=unit.threads,
        device=device,
    )
    labels.write(folder, test=labels.scores(numbers["test"]))
    return Labels.read(folder)


def label_scores(unit: Unit) -> tuple[dict[str, Features], list[str], list[str]]:
    """Return the label scores of the three sets, and the labels that are kept and dropped.

    A label's classifier and scores do not depend on which labels pass the filter: rows that differ
    in the filter alone share them.
    """
    labels, row = trained_labels(unit), unit.row
    wanted = None
    if row.labels_of is not None:
        other = replace(unit, row=unit.plan.named(row, row.labels_of))
        wanted = set(label_scores(other)[1])
    columns = [
        column
        for column, label in enumerate(labels.kept)
        if (label.auc or 0.0) >= row.auc
        and (not row.auc_lower or (label.auc_lower or 0.0) > 0.5)
        and (wanted is None or label.name in wanted)
    ]
    if not columns:
        raise DataError(f"No label reached AUC {row.auc:g}. Lower auc.")
    kept = [labels.kept[column].name for column in columns]
    dropped = [label.name for label in labels.labels if label.name not in kept]
    scores = {n: Features(f.items, f.matrix[:, columns]) for n, f in labels.by_split.items()}
    return scores, kept, dropped


def _by_network(
    unit: Unit, material: Material, splits: Sequence[str]
) -> tuple[Captions, dict[str, Any]]:
    from reelscore_studies.baselines.networks.captioner import Captioner
    from reelscore_studies.baselines.networks.training_run import TrainingSettings

    _one_thread()
    row = unit.row
    own = unit.plan.named(row, row.of) if row.of else row
    members = unit.plan.study.seeds if row.method == "ensemble" else [unit.seed]
    units = [replace(unit, row=own, seed=seed) for seed in members]
    facts: dict[str, Any] = {}
    if own.method == "oracle":
        scores = {name: material.truth(name) for name in ("train", "val", *splits)}
    else:
        scores, kept, dropped = label_scores(units[0])
        facts["labels"] = {"kept": len(kept), "dropped": sorted(dropped)}
    folders = [unit.home / "cache" / f"model_{member.digest}" for member in units]
    for member, folder in zip(units, folders, strict=True):
        noisy = _with_noise(scores, own.noise_scores, member.seed)
        model = Captioner.train(
            (noisy["train"], noisy["val"]),
            material.captions("train"),
            material.captions("val"),
            folder,
            TrainingSettings(unit.plan.recipe(own), member.seed, unit.device, unit.threads),
        )
        facts["history"] = model.records[0]["history"]
        facts["best"] = model.records[0]["best"]
    made: Captions = {split: {} for split in splits}
    for weights in ("best", "last"):
        together = Captioner.ensemble(folders, weights=weights, device=unit.device)
        for split in splits:
            inputs = [_with_noise(scores, own.noise_scores, member.seed)[split] for member in units]
            made[split][weights] = together.generate(inputs, beam=row.beam)
    return made, facts


def _with_noise(scores: Mapping[str, Features], count: int, seed: int) -> Mapping[str, Features]:
    """Add columns that say nothing."""
    if not count:
        return scores
    noisy = {}
    for number, (name, own) in enumerate(sorted(scores.items())):
        rng = np.random.default_rng([seed, number, count])
        columns = rng.standard_normal((len(own), count), dtype=np.float32)
        noisy[name] = Features(own.items, np.hstack([own.matrix, columns]))
    return noisy


def _by_translation(
    unit: Unit, material: Material, splits: Sequence[str]
) -> tuple[Captions, dict[str, Any]]:
    from reelscore_studies.translation.translation import TranslationParameters, Translator

    row = unit.row
    scores, _, _ = label_scores(unit)
    settings = TranslationParameters(minimum=row.minimum, kind=row.kind, pairs=row.pairs)
    translator = Translator.train(
        material.captions("train"), material.tuples("train", row.kind), scores["train"], settings
    ).tuned(scores["val"], material.captions("val"), threads=unit.threads)
    made, unknown = {}, {}
    for split in splits:
        own, unknown[split] = translator.generate(scores[split])
        made[split] = {"best": own}
    grid = [tried._asdict() for tried in translator.tried]
    return made, {"grid": grid, "unknown_labels": unknown}


def _nearest(material: Material, features: str, split: str, threads: int) -> dict[str, str]:
    """Return each item a caption of the training item with the most similar features."""
    from reelscore_studies.baselines.retrieval.neighbours import nearest

    captions, items = material.captions("train"), list(material.captions(split))
    ours = material.features("train", features, list(captions))
    theirs = material.features(split, features, items)
    return nearest(list(ours.values()), captions, list(theirs.values()), threads=threads)


def _retrieved(unit: Unit, material: Material, split: str, items: Sequence[str]) -> dict[str, str]:
    from reelscore_studies.baselines.retrieval.best_sentences import bound, constant

    captions = material.captions("train")
    if unit.row.method == "bound":
        return dict(bound(captions, material.captions(split), threads=unit.threads))
    if unit.row.method == "constant":
        return constant(captions, material.captions("val"), items, threads=unit.threads)
    texts = [text for own in captions.values() for text in own]
    rng = np.random.default_rng([unit.seed, len(items)])
    return {item: texts[int(rng.integers(len(texts)))] for item in items}


def _one_thread() -> None:
    """Compute with one thread, alone or beside other runs: the numbers are the same then."""
    import torch

    torch.set_num_threads(1)
