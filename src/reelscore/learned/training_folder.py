"""The folder of a training, and what tells one training from another."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path

from reelscore.data.writing import write_atomically
from reelscore.errors import DataError

_FILE = "training.json"


def claim_folder(folder: str | Path, facts: Mapping[str, object]) -> None:
    """Note what is trained in a folder; refuse a folder in which something else was.

    Args:
        folder: Where a training keeps its checkpoints and its model; made if need be.
        facts: What the training depends on: recipe, encoder, seed and the like.

    Raises:
        DataError: If another training was begun there.

    >>> from tempfile import TemporaryDirectory
    >>> with TemporaryDirectory() as home:
    ...     claim_folder(home, {"recipe": "own", "seed": 1})
    ...     claim_folder(home, {"recipe": "own", "seed": 1})
    ...     claim_folder(home, {"recipe": "own", "seed": 2})
    Traceback (most recent call last):
    reelscore.errors.DataError: ...: another training was begun here (seed: 1, not 2)...
    """
    home = Path(folder)
    path = home / _FILE
    ours = json.loads(json.dumps(dict(facts)))
    try:
        theirs = json.loads(path.read_bytes())
    except FileNotFoundError:
        home.mkdir(parents=True, exist_ok=True)
        write_atomically(path, json.dumps(ours, indent=1).encode() + b"\n")
        return
    except (OSError, ValueError) as error:
        raise DataError(f"{path}: cannot be read: {error}. Name another folder.") from error
    if not isinstance(theirs, dict) or theirs != ours:
        known = theirs if isinstance(theirs, dict) else {}
        apart = [k for k in ours if known.get(k) != ours[k]]
        shown = "; ".join(f"{k}: {known.get(k)}, not {ours[k]}" for k in apart)
        raise DataError(
            f"{home}: another training was begun here ({shown}). Name another folder, or remove "
            "this one."
        )
