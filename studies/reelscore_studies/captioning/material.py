"""What a study works on: captions, tuples and features of three sets, and what tables call them."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from reelscore._progress import Progress
from reelscore.data.captions.caption_files import read_references
from reelscore.data.source import read_lines
from reelscore.errors import DataError, check_choice
from reelscore.report.tuples import Tuples
from reelscore.text.names.name_replacement import without_names
from reelscore_studies.baselines.clip_features import (
    Features,
    MissingItems,
    common_items,
    feature_items,
    read_features,
)
from reelscore_studies.captioning.plans import Plan
from reelscore_studies.rendered.dataset import SETS, RenderedClips, write_clips
from reelscore_studies.rendered.scenes import NAME, TITLE
from reelscore_studies.tuple_files import read_tuples


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
        lists: Files with one name a line: classes of places and of objects, names of people.
        rendered: The folder of rendered clips, where these are such.
        missing: What to do with items that have captions or features, but not both.
    """

    title: str
    sets: Mapping[str, SetFiles]
    lists: Mapping[str, Path]
    rendered: Path | None = None
    missing: MissingItems = "error"

    def captions(self, name: str) -> dict[str, list[str]]:
        """Return the references of a set, of the items that have features."""
        own = self.sets[name]
        texts = read_references(own.captions)
        if self.rendered is not None:
            return texts
        items = list(texts)
        for path in own.features.values():
            items = common_items(items, feature_items(path), self.missing)
        texts = {item: texts[item] for item in items}
        cast = self.words("someone")
        return texts if cast is None else without_names(texts, cast)

    def tuples(self, name: str, kind: Any = "text") -> Tuples:
        """Return the tuples of a set."""
        path = self.sets[name].tuples
        if path is None:
            raise DataError(f"[data.{name}] has no tuples; labels and translation need them.")
        return read_tuples(path, kind)

    def features(self, name: str, wanted: str, items: Sequence[str]) -> dict[str, Features]:
        """Return features of a set, such as ``idt+lsda``, in the order of items."""
        own = self.sets[name].features
        return {part: read_features(own[part], items) for part in wanted.split("+")}

    def check_features(self, wanted: str) -> None:
        """Refuse names of features that a set does not have."""
        for name, files in self.sets.items():
            for part in wanted.split("+"):
                check_choice(f"feature of [data.{name}]", part, files.features)

    def words(self, which: str) -> list[str] | None:
        """Return a list of classes, or of names."""
        return read_lines(self.lists.get(which))

    def truth(self, name: str) -> Features:
        """Return the true labels of rendered clips, as scores of one or none."""
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
        """Return another caption of each rendered clip than the one that is its reference."""
        four = json.loads(self._rendered(f"references/{name}.json"))
        return {item: texts[1] for item, texts in four.items()}

    def _rendered(self, name: str) -> str:
        if self.rendered is None:
            raise DataError("The truth is known of rendered clips alone; leave this row out.")
        return (self.rendered / name).read_text("utf-8")


def material_of(
    plan: Plan,
    dose: Mapping[str, Any],
    folder: Path,
    *,
    jobs: int = 1,
    progress: Progress | None = None,
) -> Material:
    """Find the data of a plan; rendered clips are rendered where they are not there yet."""
    if plan.data is not None:
        home = Path(plan.folder)
        files = {"train": plan.data.train, "val": plan.data.val, "test": plan.data.test}
        sets = {
            name: SetFiles(
                home / own.captions,
                home / own.tuples if own.tuples else None,
                {feature: home / path for feature, path in own.features.items()},
            )
            for name, own in files.items()
        }
        listed = {name: getattr(plan.data, name) for name in ("places", "objects", "someone")}
        there = {name: home / path for name, path in listed.items() if path is not None}
        title = plan.study.title or "own data"
        return Material(title, sets, there, missing=plan.data.missing)
    size: Any = plan.study.data.removeprefix(f"{NAME}-")
    base = home = folder / plan.study.data
    write_clips(base, RenderedClips(size), jobs=jobs, progress=progress)
    if dose:  # it changes captions, tuples, or which clips there are: never what a clip shows
        changes = "".join(f"_{name}_{value}" for name, value in sorted(dose.items()))
        home = folder / f"{plan.study.data}{changes}"
        write_clips(home, RenderedClips(size, **dose), features=False)
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
