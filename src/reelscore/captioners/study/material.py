"""What a study works on: captions, tuples and features of three sets, and what tables call them."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np

from reelscore._progress import Progress
from reelscore.captioners.features import Features, read_features
from reelscore.captioners.rendered.dataset import SETS, RenderedClips, write_clips
from reelscore.captioners.rendered.scenes import NAME, TITLE
from reelscore.captioners.run_record import captions_hash
from reelscore.captioners.study.plans import Plan, Row
from reelscore.captioners.tuples import Tuples, read_tuples
from reelscore.data.caption_files import read_references
from reelscore.errors import DataError, UnknownNameError

_SIZES = ("tiny", "small", "full")


@dataclass(frozen=True)
class SetFiles:
    """Where the captions, tuples and features of a set are."""

    captions: Path
    tuples: Path | None
    features: Mapping[str, Path]


@dataclass(frozen=True)
class Material:
    """The data of a row; everything is read when it is needed.

    Attributes:
        title: What tables say of it.
        sets: The files of train, val and test.
        lists: Files with the classes of places and objects.
        rendered: The folder of rendered clips, where these are such.
    """

    title: str
    sets: Mapping[str, SetFiles]
    lists: Mapping[str, Path]
    rendered: Path | None = None

    def captions(self, name: str) -> dict[str, list[str]]:
        """Give the references of a set."""
        return read_references(self.sets[name].captions)

    def tuples(self, name: str, kind: Any = "text") -> Tuples:
        """Give the tuples of a set."""
        path = self.sets[name].tuples
        if path is None:
            raise DataError(f"[data.{name}] has no tuples; labels and translation need them.")
        return read_tuples(path, kind)

    def features(self, name: str, wanted: str, items: Sequence[str]) -> dict[str, Features]:
        """Give features of a set, such as ``idt+lsda``, in the order of items."""
        own = self.sets[name].features
        for part in wanted.split("+"):
            if part not in own:
                raise UnknownNameError.of(f"feature of [data.{name}]", part, own)
        return {part: read_features(own[part], items) for part in wanted.split("+")}

    def words(self, which: str) -> list[str] | None:
        """Give a list of classes."""
        path = self.lists.get(which)
        if path is None:
            return None
        return [line.strip() for line in path.read_text("utf-8").splitlines() if line.strip()]

    def truth(self, name: str) -> Features:
        """Give the true labels of rendered clips, as scores of one or none."""
        lines = [json.loads(line) for line in self._rendered("truth.jsonl").splitlines()]
        keys = ("verb", "object", "place", "who")
        labels = sorted({(key, line[key]) for line in lines for key in keys if line[key]})
        places = {label: k for k, label in enumerate(labels)}
        items = set(self.captions(name))
        rows = {}
        for line in lines:
            if line["item"] in items:
                row = np.zeros(len(labels), dtype=np.float32)
                row[[places[key, line[key]] for key in keys if line[key]]] = 1
                rows[line["item"]] = row
        return Features.of(rows)

    def others(self, name: str) -> dict[str, str]:
        """Give another caption of each rendered clip than the one that is its reference."""
        four = json.loads(self._rendered(f"references/{name}.json"))
        return {item: texts[1] for item, texts in four.items()}

    def _rendered(self, name: str) -> str:
        if self.rendered is None:
            raise DataError("The truth is known of rendered clips alone; leave this row out.")
        return (self.rendered / name).read_text("utf-8")

    @cached_property
    def hash(self) -> str:
        """Eight hex digits of the captions of each set."""
        return "+".join(captions_hash(self.captions(name)) for name in SETS)


def material_of(
    plan: Plan, row: Row, folder: Path, *, jobs: int = 1, progress: Progress | None = None
) -> Material:
    """Find the data of a row; rendered clips are rendered where they are not there yet.

    Args:
        plan: The plan.
        row: The row.
        folder: Where rendered clips are kept.
        jobs: Processes that render.
        progress: Called with how many movies are rendered, of how many.

    Raises:
        UnknownNameError: If there is no such data.
    """
    if plan.data is not None:
        files = {"train": plan.data.train, "val": plan.data.val, "test": plan.data.test}
        sets = {
            name: SetFiles(
                Path(own.captions),
                Path(own.tuples) if own.tuples else None,
                {feature: Path(path) for feature, path in own.features.items()},
            )
            for name, own in files.items()
        }
        listed = {"places": plan.data.places, "objects": plan.data.objects}
        there = {name: Path(path) for name, path in listed.items() if path is not None}
        return Material(plan.study.title or "own data", sets, there)
    known = [f"{NAME}-{size}" for size in _SIZES]
    if plan.study.data not in known:
        raise UnknownNameError.of("data", plan.study.data, [*known, "files"])
    size: Any = plan.study.data.removeprefix(f"{NAME}-")
    base = home = folder / plan.study.data
    write_clips(base, RenderedClips(size), jobs=jobs, progress=progress)
    if row.dose:  # it changes captions, tuples, or which clips there are: never what a clip shows
        changes = "".join(f"_{name}_{value}" for name, value in sorted(row.dose.items()))
        home = folder / f"{plan.study.data}{changes}"
        write_clips(home, RenderedClips(size, **row.dose), features=False)
    sets = {
        name: SetFiles(
            home / f"{name}.json",
            home / f"tuples/{name}.jsonl",
            {path.stem: path for path in sorted((base / "features" / name).glob("*.npy"))},
        )
        for name in SETS
    }
    lists = {name: home / f"lists/{name}.txt" for name in ("places", "objects")}
    return Material(TITLE, sets, lists, home)
