"""Units of a study: one row with one seed, known by all that its captions depend on."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import msgspec

from reelscore._version import __version__
from reelscore_studies.baselines.labels.visual_labels import group_name
from reelscore_studies.captioning.material import Material, material_of
from reelscore_studies.captioning.plans import Plan, Row

NETWORKS = ("labels", "oracle", "ensemble")  # methods that train networks, or join trained ones
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
    def groups(self) -> dict[str, str]:
        """The features of each group of labels."""
        if self.row.groups is False:
            return {"all": self.row.features}
        groups = self.plan.study.groups if self.row.groups is True else self.row.groups
        return {group_name(group): features for group, features in groups.items()}

    @property
    def settings(self) -> dict[str, Any]:
        """All that the captions depend on."""
        return {
            **_settings(self.plan, self.row),
            **{
                key: _settings(self.plan, self.plan.named(self.row, getattr(self.row, key)))
                for key in ("of", "labels_of")
                if getattr(self.row, key)
            },
            "data": self.plan.study.data,
            "files": msgspec.to_builtins(self.plan.data),
            "groups": self.groups,
            "seeds": self.plan.study.seeds if self.row.method == "ensemble" else None,
            "metrics": self.plan.study.metrics,
            "seed": self.seed,
            "device": self.device if self.row.method in NETWORKS else "cpu",
            "version": __version__,
        }

    @property
    def digest(self) -> str:
        """Sixteen hex digits of the settings."""
        return digest_of(self.settings)

    def result(self, split: str) -> Path:
        """Return where what was measured is kept."""
        return self.home / "results" / f"{self.digest}.{split}.json"

    def captions(self, split: str, weights: str) -> Path:
        """Return where captions are kept."""
        return self.result(split).with_suffix(f".{weights}.captions.json")

    @property
    def made(self) -> Path:
        """Where it is kept which captions were made, and what is known of their making."""
        return self.home / "results" / f"{self.digest}.made.json"

    def material(self) -> Material:
        """Return the data of the row."""
        return material_of(self.plan, self.row.dose, self.home / "data")


def units_of(plan: Plan, home: Path, device: str = "cpu") -> list[Unit]:
    """List the runs of a plan, row by row."""
    return [Unit(plan, row, seed, home, device) for row in plan.row for seed in plan.seeds(row)]


def distinct(units: Sequence[Unit]) -> list[Unit]:
    """Take each run once, by its first row: rows of several tables may be the same run."""
    runs: dict[str, Unit] = {}
    for unit in units:
        runs.setdefault(unit.digest, unit)
    return list(runs.values())


def _settings(plan: Plan, row: Row) -> dict[str, Any]:
    """Return what of a row the captions depend on."""
    own = {k: v for k, v in msgspec.to_builtins(row).items() if k not in _NO_INFLUENCE}
    return {**own, "recipe": str(plan.recipe(row))}


def digest_of(content: object) -> str:
    """Return sixteen hex digits of plain values.

    >>> digest_of({"a": 1, "b": 2}) == digest_of({"b": 2, "a": 1})
    True
    """
    text = json.dumps(content, sort_keys=True, default=str)
    return hashlib.sha256(text.encode()).hexdigest()[:16]
