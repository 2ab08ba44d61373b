"""Runs of a study: each row with each seed once, from a cache, alone or several at a time.

Everything is kept under the digest of what it depends on: label scores and networks in ``cache/``,
captions and what was measured of them in ``results/``. Captions come first: those that another
machine made, such as one with a GPU, are measured here without its networks. A row that is finished
is never run again, whatever else of the plan changes. All choices are made on validation; test
items are captioned when the study is frozen, once: ``frozen.json`` says with which plan, before the
first of them is.
"""

from __future__ import annotations

import json
import os
import time
from collections.abc import Mapping, Sequence
from dataclasses import replace
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import msgspec
import numpy as np

from reelscore._progress import Progress
from reelscore.data.atomic_files import (
    check_own_folder,
    make_folder,
    opened_atomically,
    write_atomically,
)
from reelscore.data.checks import counted
from reelscore.errors import DataError, MissingExtraError
from reelscore.metrics.registry import table_columns
from reelscore.scoring.scorer import Scorer
from reelscore.text.tokens import thread_count, tokenize
from reelscore_studies.baselines.networks.lstm import check_device, gpu_is_here, need_torch
from reelscore_studies.captioning.material import material_of
from reelscore_studies.captioning.methods import candidates, label_folder, trained_labels
from reelscore_studies.captioning.plans import Plan
from reelscore_studies.captioning.units import (
    NETWORKS,
    Unit,
    digest_of,
    distinct,
    units_of,
)
from reelscore_studies.process_pool import process_pool

_FOLDERS = ("results", "cache", "data")


def run_study(
    plan: Plan,
    folder: str | os.PathLike[str],
    *,
    only: Sequence[str] = (),
    freeze: bool = False,
    device: str = "cpu",
    jobs: int = 1,
    progress: Progress | None = None,
    rendering: Progress | None = None,
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
        rendering: Called with how many movies are rendered, of how many.

    Raises:
        DataError: If the study was frozen with another plan, or the folder holds other files.
    """
    home = Path(folder)
    check_own_folder(home, "plan.json", _FOLDERS)
    if freeze:
        _check_frozen(home, plan)
    threads = max(1, thread_count(None) // jobs)
    units = [
        replace(unit, threads=threads)
        for unit in units_of(plan.only(only) if only else plan, home, device)
    ]
    splits = ["val", *(["test"] if freeze else [])]
    waiting = [u for u in distinct(units) if not all(u.result(s).is_file() for s in splits)]
    captionless = [u for u in waiting if _uncaptioned(u, splits)]
    # What cannot be done is said before hours of rendering and training.
    _check_tools(captionless, device)
    if waiting:
        material = material_of(plan, {}, home / "data", jobs=jobs, progress=rendering)
        for unit in waiting:
            if unit.row.method in ("labels", "translation"):
                material.check_features("+".join(unit.groups.values()))
            elif unit.row.method == "nearest":
                material.check_features(unit.row.features)
        if plan.data is not None:
            for name in material.sets:
                material.captions(name)
    for name in _FOLDERS:
        make_folder(home / name)
    write_atomically(home / "plan.json", msgspec.json.encode(plan).decode() + "\n")
    if freeze:
        _write_json(home / "frozen.json", {"plan": _plan_digest(plan)})
    dosed = {json.dumps(unit.row.dose): unit for unit in waiting if unit.row.dose}
    # Label scores first, each set once: several rows learn from the same.
    labelled = {label_folder(u): u for unit in captionless for u in _labelled(unit)}
    stages: list[list[tuple[Any, ...]]] = [
        [("clips", unit, ()) for unit in dosed.values()],
        [("labels", unit, ()) for unit in labelled.values()],
        [("run", u, splits) for u in waiting if u.row.method != "ensemble"],
        [("run", u, splits) for u in waiting if u.row.method == "ensemble"],
    ]
    total, done = sum(map(len, stages)), 0
    faults: dict[str, str] = {}
    with process_pool(jobs if total > 1 else 1) as work:
        for stage in stages:
            for (_, unit, _), fault in zip(stage, work(_work, stage), strict=True):
                if fault:
                    faults[unit.row.name] = fault
                done += 1
                if progress is not None:
                    progress(done, total)
    if faults:
        name, fault = next(iter(faults.items()))
        raise DataError(
            f"{home}: {counted(len(faults), 'row')} cannot be run (first: {name!r}: {fault}). All "
            "others are finished; 'reelscore caption table' shows their tables."
        )


def _plan_digest(plan: Plan) -> str:
    content = msgspec.to_builtins(plan)
    return digest_of({k: v for k, v in content.items() if k not in ("folder", "left_out")})


def _check_frozen(home: Path, plan: Plan) -> None:
    """Refuse to change a plan with which test items are captioned."""
    try:
        frozen = json.loads((home / "frozen.json").read_bytes())["plan"]
    except FileNotFoundError:
        return
    if frozen != _plan_digest(plan):
        raise DataError(
            f"{home}: was frozen with another plan, and test items are captioned once. Name "
            "another folder, or leave --freeze out to go on with validation alone."
        )


def _labelled(unit: Unit) -> list[Unit]:
    """Return the runs whose label scores a run needs: its own, and those of rows it refers to."""
    names = [name for name in (unit.row.of, unit.row.labels_of) if name is not None]
    others = [replace(unit, row=unit.plan.named(unit.row, name)) for name in names]
    own = [unit] if unit.row.method in ("labels", "translation") else []
    return own + [needed for other in others for needed in _labelled(other)]


def _work(task: tuple[Any, ...]) -> str:
    """Do a task; give what is wrong with its row, which keeps no other from being run."""
    kind, unit, what = task
    try:
        if kind == "clips":
            unit.material()
        elif kind == "labels":
            trained_labels(unit)
        else:
            run_unit(unit, what)
    except DataError as error:
        return str(error)
    return ""


def _check_tools(units: Sequence[Unit], device: str) -> None:
    """Refuse a study whose rows need a GPU or packages that are not here."""
    methods = {unit.row.method for unit in units}
    if methods & set(NETWORKS):
        need_torch()
        check_device(device)
    packages: dict[str, str] = {}
    if methods & {"labels", "translation"} and not (device == "cuda" and gpu_is_here()):
        packages["sklearn"] = "scikit-learn"
    if "translation" in methods:
        packages |= {"sklearn_crfsuite": "sklearn-crfsuite", "nltk": "nltk"}
    for module, package in packages.items():
        if find_spec(module) is None:
            raise MissingExtraError.of(f"This study needs {package}", package)


def run_unit(unit: Unit, splits: Sequence[str]) -> None:
    """Caption and measure the items of some sets, where that is not done yet."""
    todo = [split for split in splits if not unit.result(split).is_file()]
    made = captioned(unit, todo)
    material = unit.material()
    training = {text for own in material.captions("train").values() for text in tokenize(own)}
    for split in todo:
        references = material.captions(split)
        scorer = Scorer(
            references, list(unit.plan.study.metrics), empty="zero", threads=unit.threads
        )
        names = [columns.wanted[0] for columns in table_columns(list(unit.plan.study.metrics))]
        measured: dict[str, dict[str, float]] = {}
        arrays: dict[str, Any] = {}
        for weights in made["weights"][split]:
            own = json.loads(unit.captions(split, weights).read_bytes())
            scorer.reset()
            scorer.update(own)
            scores = scorer.compute()
            measured[weights] = {name: scores[name].score for name in names}
            measured[weights] |= wordiness(own, training)
            state = scorer.state()
            for name, rows in zip(names, state.statistics, strict=True):
                arrays[f"{weights}.{name}"] = rows[np.argsort(state.items)]
        with opened_atomically(unit.result(split).with_suffix(".npz")) as file:
            np.savez(file, **arrays)
        record = {
            "settings": unit.settings,
            "title": material.title,
            "items": len(references),
            "measured": measured,
            **made["facts"],
            "seconds": made["seconds"],
        }
        _write_json(unit.result(split), record)


def captioned(unit: Unit, splits: Sequence[str]) -> dict[str, Any]:
    """Caption the items of some sets, where that is not done yet."""
    made = _read_made(unit)
    todo = _uncaptioned(unit, splits)
    if todo:
        began = time.perf_counter()
        captions, made["facts"] = candidates(unit, unit.material(), todo)
        for split, by_weights in captions.items():
            for weights, own in by_weights.items():
                _write_json(unit.captions(split, weights), own)
            made["weights"][split] = list(by_weights)
        made["seconds"] = round(made["seconds"] + time.perf_counter() - began, 1)
        _write_json(unit.made, made)
    return made


def _read_made(unit: Unit) -> dict[str, Any]:
    try:
        made: dict[str, Any] = json.loads(unit.made.read_bytes())
    except FileNotFoundError:
        made = {"weights": {}, "facts": {}, "seconds": 0.0}
    return made


def _uncaptioned(unit: Unit, splits: Sequence[str]) -> list[str]:
    """Return the sets whose captions were not made yet."""
    made = _read_made(unit)["weights"]
    return [split for split in splits if split not in made]


def wordiness(captions: Mapping[str, str], training: set[str]) -> dict[str, float]:
    """Measure captions beside their scores: METEOR alone rewards short safe sentences.

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


def _write_json(path: Path, content: object) -> None:
    write_atomically(path, json.dumps(content, indent=1) + "\n")
