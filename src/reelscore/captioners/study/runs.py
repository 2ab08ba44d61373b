"""Runs of a study: each row with each seed once, from a cache, alone or several at a time.

Everything is kept under the digest of what it depends on: label scores and networks in ``cache/``,
what was measured in ``results/``. A row that is finished is never run again, whatever else of the
plan changes. All choices are made on validation; test items are captioned when the study is frozen,
once.
"""

from __future__ import annotations

import hashlib
import json
import os
import time
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from concurrent.futures import ProcessPoolExecutor
from contextlib import contextmanager
from dataclasses import dataclass, replace
from multiprocessing import get_context
from pathlib import Path
from typing import TYPE_CHECKING, Any

import msgspec
import numpy as np

from reelscore._progress import Progress
from reelscore._version import __version__
from reelscore.captioners.features import Features
from reelscore.captioners.study.material import Material, material_of
from reelscore.captioners.study.plans import Plan, Row
from reelscore.data.atomic_files import opened_atomically, write_atomically
from reelscore.errors import DataError
from reelscore.metrics.registry import table_columns
from reelscore.scoring.scorer import Scorer
from reelscore.text.tokens import thread_count, tokenize

if TYPE_CHECKING:
    from reelscore.captioners.label_folders import Labels

_NO_INFLUENCE = ("table", "name", "against")


@dataclass(frozen=True)
class Unit:
    """One row with one seed.

    Attributes:
        plan: The plan.
        row: The row.
        seed: The seed.
        home: The folder of the study.
        device: Where networks are trained.
        threads: Threads for what gives the same numbers with any: classifiers and scores.
    """

    plan: Plan
    row: Row
    seed: int
    home: Path
    device: str = "cpu"
    threads: int = 1

    @property
    def settings(self) -> dict[str, Any]:
        """All that the captions depend on."""
        return {
            **{k: v for k, v in msgspec.to_builtins(self.row).items() if k not in _NO_INFLUENCE},
            **{
                key: _settings(self.plan, self.plan.named(self.row, getattr(self.row, key)))
                for key in ("of", "labels_of")
                if getattr(self.row, key)
            },
            "recipe": str(self.plan.recipe(self.row)),
            "data": self.plan.study.data,
            "files": msgspec.to_builtins(self.plan.data),
            "groups": self.plan.study.groups,
            "seeds": self.plan.study.seeds if self.row.method == "ensemble" else None,
            "metrics": self.plan.study.metrics,
            "seed": self.seed,
            "device": self.device,
            "version": __version__,
        }

    @property
    def digest(self) -> str:
        """Sixteen hex digits of the settings."""
        return _digest(self.settings)

    def result(self, split: str) -> Path:
        """Where what was measured is kept."""
        return self.home / "results" / f"{self.digest}.{split}.json"

    def material(self, jobs: int = 1, progress: Progress | None = None) -> Material:
        """Give the data of the row."""
        folder = self.home / "data"
        return material_of(self.plan, self.row, folder, jobs=jobs, progress=progress)


def _settings(plan: Plan, row: Row) -> dict[str, Any]:
    own = {k: v for k, v in msgspec.to_builtins(row).items() if k not in _NO_INFLUENCE}
    return {**own, "recipe": str(plan.recipe(row))}


def _digest(content: object) -> str:
    text = json.dumps(content, sort_keys=True, default=str)
    return hashlib.sha256(text.encode()).hexdigest()[:16]


def run_study(
    plan: Plan,
    folder: str | os.PathLike[str],
    *,
    only: Sequence[str] = (),
    freeze: bool = False,
    device: str = "cpu",
    jobs: int = 1,
    progress: Progress | None = None,
) -> None:
    """Run what of a plan is not finished yet.

    Args:
        plan: The plan.
        folder: The folder of the study, created if needed.
        only: Tables to run; all where none is named.
        freeze: Caption the test items too. From then on the plan may not change.
        device: ``cuda`` or ``cpu``.
        jobs: Rows run at the same time, one thread each; the numbers are the same with any.
        progress: Called with how many runs are done, of how many.

    Raises:
        DataError: If the study was frozen with another plan.
    """
    home = Path(folder)
    for name in ("results", "cache", "data"):
        (home / name).mkdir(parents=True, exist_ok=True)
    check_frozen(home, plan, freeze)
    threads = max(1, thread_count(None) // jobs)
    units = [
        replace(unit, threads=threads)
        for unit in units_of(plan.only(only) if only else plan, home, device)
    ]
    splits = ["val", *(["test"] if freeze else [])]
    waiting = [u for u in _once(units) if not all(u.result(s).is_file() for s in splits)]
    for row in {json.dumps(u.row.dose): u for u in waiting}.values():
        row.material(jobs, progress)
    # Label scores first, each set once: several rows learn from the same.
    labelled = {label_folder(u): u for unit in waiting for u in _labelled(unit)}
    stages: list[list[tuple[Any, ...]]] = [
        [("labels", unit, ()) for unit in labelled.values()],
        [("run", u, splits) for u in waiting if u.row.method != "ensemble"],
        [("run", u, splits) for u in waiting if u.row.method == "ensemble"],
    ]
    total, done = sum(map(len, stages)), 0
    with _workers(jobs if total > 1 else 1) as work:
        for stage in stages:
            for _ in work(_work, stage):
                done += 1
                if progress is not None:
                    progress(done, total)
    write_atomically(home / "plan.json", msgspec.json.encode(plan).decode() + "\n")
    if freeze:
        write_atomically(home / "frozen.json", json.dumps({"plan": _digest(_content(plan))}) + "\n")


def units_of(plan: Plan, home: Path, device: str = "cpu") -> list[Unit]:
    """List the runs of a plan, row by row."""
    return [Unit(plan, row, seed, home, device) for row in plan.row for seed in plan.seeds(row)]


def check_frozen(home: Path, plan: Plan, freeze: bool) -> None:
    """Refuse to change a plan whose test items were captioned.

    Raises:
        DataError: If the study was frozen with another plan.
    """
    try:
        frozen = json.loads((home / "frozen.json").read_bytes())["plan"]
    except FileNotFoundError:
        return
    if frozen != _digest(_content(plan)) and freeze:
        raise DataError(
            f"{home}: was frozen with another plan, and test items are captioned once. Name "
            "another folder, or leave --freeze out to go on with validation alone."
        )


def _content(plan: Plan) -> Any:
    return msgspec.to_builtins(plan)


def _once(units: Sequence[Unit]) -> list[Unit]:
    """Rows of several tables may be the same run."""
    return list({unit.digest: unit for unit in units}.values())


def _labelled(unit: Unit) -> list[Unit]:
    """The runs whose label scores a run needs: its own, and those of rows it refers to."""
    names = [name for name in (unit.row.of, unit.row.labels_of) if name is not None]
    others = [replace(unit, row=unit.plan.named(unit.row, name)) for name in names]
    own = [unit] if unit.row.method in ("labels", "translation") else []
    return own + [needed for other in others for needed in _labelled(other)]


@contextmanager
def _workers(jobs: int) -> Iterator[Callable[..., Iterable[None]]]:
    """Give what maps a function to tasks: here, or in several processes."""
    if jobs == 1:
        yield map
        return
    with ProcessPoolExecutor(jobs, mp_context=get_context("spawn")) as pool:
        yield pool.map


def _work(task: tuple[Any, ...]) -> None:
    kind, unit, what = task
    if kind == "labels":
        trained_labels(unit)
    else:
        run_unit(unit, what)


# Label scores


def label_folder(unit: Unit) -> Path:
    """Where the label scores of a row are kept, by all that its classifiers depend on."""
    row, plan = unit.row, unit.plan
    settings = {
        **{name: getattr(row, name) for name in ("negatives", "minimum", "cross_fit", "kind")},
        **row.dose,
        "groups": plan.study.groups if row.groups else {"all": row.features},
        "data": plan.study.data,
        "files": msgspec.to_builtins(plan.data),
        "version": __version__,
    }
    return unit.home / "cache" / f"labels_{_digest(settings)}"


def trained_labels(unit: Unit) -> Labels:
    """Give all labels of a row, whatever their AUC, from the cache or trained now."""
    from reelscore.captioners.label_folders import Labels

    folder, row = label_folder(unit), unit.row
    if folder.is_dir():
        return Labels.read(folder)
    material = unit.material()
    groups = dict(unit.plan.study.groups) if row.groups else {"all": row.features}
    features = "+".join(dict.fromkeys("+".join(groups.values()).split("+")))
    captions = {name: material.captions(name) for name in ("train", "val", "test")}
    numbers = {n: material.features(n, features, list(own)) for n, own in captions.items()}
    tuples = {name: material.tuples(name, row.kind) for name in ("train", "val")}
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
    )
    labels.write(folder, test=labels.scores(numbers["test"]))
    return Labels.read(folder)


def label_scores(unit: Unit) -> tuple[dict[str, Features], list[str], list[str]]:
    """Give the label scores of the three sets, and the labels that are kept and dropped.

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
        raise DataError(f"Row {row.name!r}: no label reached AUC {row.auc:g}. Lower auc.")
    kept = [labels.kept[column].name for column in columns]
    dropped = [label.name for label in labels.labels if label.name not in kept]
    scores = {n: Features(f.items, f.matrix[:, columns]) for n, f in labels.by_split.items()}
    return scores, kept, dropped


# One run


def run_unit(unit: Unit, splits: Sequence[str]) -> None:
    """Caption and measure the items of some sets, where that is not done yet."""
    began = time.perf_counter()
    todo = [split for split in splits if not unit.result(split).is_file()]
    material = unit.material()
    captions, facts = candidates(unit, material, todo)
    training = {text for own in material.captions("train").values() for text in tokenize(own)}
    for split in todo:
        references = material.captions(split)
        scorer = Scorer(
            references, list(unit.plan.study.metrics), empty="zero", threads=unit.threads
        )
        names = [columns.wanted[0] for columns in table_columns(list(unit.plan.study.metrics))]
        measured: dict[str, dict[str, float]] = {}
        arrays: dict[str, Any] = {}
        for weights, own in captions[split].items():
            scorer.reset()
            scorer.update(own)
            scores = scorer.compute()
            measured[weights] = {name: scores[name].score for name in names}
            measured[weights] |= wordiness(own, training)
            state = scorer.state()
            for name, rows in zip(names, state.statistics, strict=True):
                arrays[f"{weights}.{name}"] = rows[np.argsort(state.items)]
            _write_json(unit.result(split).with_suffix(f".{weights}.captions.json"), own)
        with opened_atomically(unit.result(split).with_suffix(".npz")) as file:
            np.savez(file, **arrays)
        record = {
            "settings": unit.settings,
            "title": material.title,
            "items": len(references),
            "measured": measured,
            **facts,
            "seconds": round(time.perf_counter() - began, 1),
        }
        _write_json(unit.result(split), record)


def wordiness(captions: Mapping[str, str], training: set[str]) -> dict[str, float]:
    """Measure captions beside their scores: METEOR alone rewards short safe sentences.

    Args:
        captions: The captions.
        training: The training captions, as tokens.

    >>> wordiness({"a": "a man runs", "b": "a man runs"}, {"a man runs"})
    {'length': 3.0, 'words': 3, 'unique': 0.5, 'novel': 0.0}
    """
    texts = tokenize(captions.values())
    return {
        "length": float(np.mean([len(text.split()) for text in texts])),
        "words": len({word for text in texts for word in text.split()}),
        "unique": len(set(texts)) / len(texts),
        "novel": float(np.mean([text not in training for text in texts])),
    }


def candidates(
    unit: Unit, material: Material, splits: Sequence[str]
) -> tuple[dict[str, dict[str, dict[str, str]]], dict[str, Any]]:
    """Make captions: for each set, those of the best weights and perhaps those of the last."""
    row, made = unit.row, {}
    if row.method in ("labels", "oracle", "ensemble"):
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


def _by_network(
    unit: Unit, material: Material, splits: Sequence[str]
) -> tuple[dict[str, dict[str, dict[str, str]]], dict[str, Any]]:
    from reelscore.captioners.captioner import Captioner

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
            unit.plan.recipe(own),
            seed=member.seed,
            device=unit.device,
            threads=unit.threads,
        )
        facts["history"] = model.records[0]["history"]
        facts["best"] = model.records[0]["best"]
    made: dict[str, dict[str, dict[str, str]]] = {split: {} for split in splits}
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
) -> tuple[dict[str, dict[str, dict[str, str]]], dict[str, Any]]:
    from reelscore.captioners.translation import TranslationParameters, Translator

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
    """Give each item a caption of the training item with the most similar features."""
    from reelscore.captioners.neighbours import nearest

    captions, items = material.captions("train"), list(material.captions(split))
    ours = material.features("train", features, list(captions))
    theirs = material.features(split, features, items)
    return nearest(list(ours.values()), captions, list(theirs.values()), threads=threads)


def _retrieved(unit: Unit, material: Material, split: str, items: Sequence[str]) -> dict[str, str]:
    from reelscore.captioners.retrieval import bound, constant

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


def _write_json(path: Path, content: object) -> None:
    write_atomically(path, json.dumps(content, indent=1) + "\n")
