"""Checkpoints of a training: tensors in safetensors, the rest in their metadata; no pickles."""

from __future__ import annotations

import json
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from reelscore.errors import DataError
from reelscore.learned.encoders import need

_FILE = "checkpoint.safetensors"


@dataclass(frozen=True)
class Checkpoint:
    """The state of a training.

    Attributes:
        step: Steps made.
        origin: What is trained, to tell whether a checkpoint belongs to a training.
        validation: Correlations so far, by stage.
        tensors: Weights, the optimiser's moments, and the state of the random generator.
    """

    step: int
    origin: str
    validation: tuple[tuple[float, ...], ...]
    tensors: dict[str, Any]


def write_checkpoint(folder: str | Path, checkpoint: Checkpoint) -> None:
    """Write a checkpoint aside, then put it in place of the last one."""
    home = Path(folder)
    home.mkdir(parents=True, exist_ok=True)
    metadata = {
        "step": str(checkpoint.step),
        "origin": checkpoint.origin,
        "validation": json.dumps(checkpoint.validation),
    }
    tensors = {n: v.detach().cpu().contiguous() for n, v in checkpoint.tensors.items()}
    aside = home / f".{_FILE}.tmp"
    need("safetensors.torch").save_file(tensors, aside, metadata)
    aside.replace(home / _FILE)


def read_checkpoint(folder: str | Path, origin: str) -> Checkpoint | None:
    """Read the checkpoint of a training, if there is one.

    Raises:
        DataError: If the checkpoint is of another training, or damaged.
    """
    path = Path(folder) / _FILE
    if not path.is_file():
        return None
    safetensors = need("safetensors")
    try:
        with safetensors.safe_open(path, "pt") as file:
            metadata = file.metadata()
            tensors = {name: file.get_tensor(name) for name in file.keys()}  # noqa: SIM118
    except safetensors.SafetensorError as error:
        raise DataError(f"{path}: damaged ({error}); remove it to start again.") from error
    if metadata["origin"] != origin:
        raise DataError(
            f"{path}: the checkpoint of another training; remove it, or name another folder."
        )
    validation = tuple(map(tuple, json.loads(metadata["validation"])))
    return Checkpoint(int(metadata["step"]), origin, validation, tensors)
