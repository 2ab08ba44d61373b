"""The folder of a training: what is trained there, and its last checkpoint.

Checkpoints are tensors in safetensors, and the rest in their metadata; no pickles.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from reelscore._packages import need
from reelscore.data.atomic_files import check_own_folder, make_folder, write_atomically
from reelscore.errors import DataError

if TYPE_CHECKING:
    from torch import Tensor
    from torch.optim import Optimizer

_FILE = "checkpoint.safetensors"
_MOMENTS = ("step", "exp_avg", "exp_avg_sq", "momentum_buffer")


@dataclass(frozen=True)
class Checkpoint:
    """The state of a training."""

    step: int  # steps made
    origin: str  # what is trained, to tell whether a checkpoint belongs to a training
    # what was reached on validation so far, by stage or by measurement
    validation: tuple[tuple[float, ...], ...]
    # weights, the optimiser's moments, and the state of the random generator
    tensors: dict[str, Tensor]


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
    """Read the checkpoint of a training, if there is one."""
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


def named(part: str, tensors: Mapping[str, Tensor]) -> dict[str, Tensor]:
    """Put the name of a part before the names of its tensors."""
    return {f"{part}.{name}": value for name, value in tensors.items()}


def part_of(tensors: Mapping[str, Tensor], part: str, device: str = "cpu") -> dict[str, Tensor]:
    """Take the tensors of a part, under their own names, to a device."""
    beginning = f"{part}."
    return {
        name.removeprefix(beginning): value.to(device)
        for name, value in tensors.items()
        if name.startswith(beginning)
    }


def moments(optimiser: Optimizer, weights: Mapping[str, Tensor]) -> dict[str, Tensor]:
    """Return what an optimiser remembers of each weight, by kind and name."""
    return {
        f"{kind}.{name}": moment
        for name, value in weights.items()
        for kind, moment in optimiser.state.get(value, {}).items()
    }


def restore_moments(
    optimiser: Optimizer, weights: Mapping[str, Tensor], tensors: Mapping[str, Tensor], device: str
) -> None:
    """Let an optimiser remember what `moments` returned."""
    for name, value in weights.items():
        state = {
            kind: tensors[f"{kind}.{name}"].to(device)
            for kind in _MOMENTS
            if f"{kind}.{name}" in tensors
        }
        if state:
            optimiser.state[value] = state


_CLAIM = "training.json"


def claim_folder(folder: str | Path, facts: Mapping[str, object]) -> None:
    """Note what is trained in a folder; refuse a folder in which something else was."""
    home = Path(folder)
    path = home / _CLAIM
    check_own_folder(home, _CLAIM)
    ours = json.loads(json.dumps(dict(facts)))
    try:
        theirs = json.loads(path.read_bytes())
    except FileNotFoundError:
        make_folder(home)
        write_atomically(path, json.dumps(ours, indent=1).encode() + b"\n")
        return
    except (OSError, ValueError) as error:
        raise DataError(f"{path}: cannot be read: {error}. Name another folder.") from error
    if not isinstance(theirs, dict) or theirs != ours:
        known = theirs if isinstance(theirs, dict) else {}
        apart = [(known.get(k), ours[k], k) for k in ours if known.get(k) != ours[k]]
        shown = "; ".join(_difference(*pair) for pair in apart)
        raise DataError(
            f"{home}: another training was begun here ({shown}). Name another folder, or remove "
            "this one."
        )


@contextmanager
def released_on_failure(folder: str | Path) -> Iterator[None]:
    """Take back a claim if the training fails before its first checkpoint: nothing is lost then."""
    try:
        yield
    except BaseException:
        home = Path(folder)
        if not any(home.rglob(_FILE)):
            (home / _CLAIM).unlink(missing_ok=True)
            with suppress(OSError):  # other files are there
                home.rmdir()
        raise


def _difference(old: object, new: object, name: str) -> str:
    """Return what changed; of signatures only the parts that differ.

    >>> _difference("lstm|hidden:500|seed:0", "lstm|hidden:500|seed:1", "signature")
    'seed:0, not seed:1'
    """
    if not (isinstance(old, str) and isinstance(new, str) and old.count("|") == new.count("|") > 0):
        return f"{name}: {old}, not {new}"
    parts = zip(old.split("|"), new.split("|"), strict=True)
    return "; ".join(f"{own}, not {other}" for own, other in parts if own != other)
