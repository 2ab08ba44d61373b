"""Models in the user's folders: what is in them, and nothing from anywhere else."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Collection
from functools import lru_cache
from pathlib import Path
from typing import Any

from reelscore.data.checks import counted
from reelscore.errors import DataError

_WEIGHTS = "*.safetensors"


def read_config(metric: str, folder: Path, option: str = "") -> dict[str, Any]:
    """Read what kind of model a folder has.

    Args:
        metric: What needs it, as a rule a metric.
        folder: The folder.
        option: How the user names a folder; by default the parameter of a metric.

    Raises:
        DataError: If there is no such folder, or no model in it.
    """
    if not folder.is_dir():
        raise DataError(
            f"{metric}: {folder}: there is no such folder. Models are never downloaded: fetch "
            f"one yourself, and name its folder: {option or f'{metric}|model:FOLDER'}."
        )
    try:
        config = json.loads((folder / "config.json").read_text(encoding="utf-8"))
        if not isinstance(config, dict):
            raise ValueError("config.json has no fields")
    except (OSError, ValueError) as error:
        raise DataError(
            f"{metric}: {folder}: not the folder of a model; expected config.json, weights "
            f"({_WEIGHTS}) and a tokenizer ({error})."
        ) from error
    if not any(folder.glob(_WEIGHTS)):
        raise DataError(f"{metric}: {folder}: there are no weights; expected {_WEIGHTS}.")
    return config


def cut_note(metric: str, texts: Collection[str]) -> list[str]:
    """Return how many texts were as long as a model reads, or longer.

    >>> cut_note("clipscore", {"a man", "a dog"})
    ['clipscore: 2 texts fill all that its model reads; words beyond that were not seen.']
    """
    if not texts:
        return []
    fill = "fills" if len(texts) == 1 else "fill"
    return [
        f"{metric}: {counted(len(texts), 'text')} {fill} all that its model reads; words beyond "
        "that were not seen."
    ]


@lru_cache(maxsize=8)
def weights_hash(folder: Path) -> str:
    """Return eight digits that change with the weights."""
    digest = hashlib.sha256()
    for path in sorted(folder.glob(_WEIGHTS)):
        with path.open("rb") as file:
            while part := file.read(1 << 20):
                digest.update(part)
    return digest.hexdigest()[:8]
