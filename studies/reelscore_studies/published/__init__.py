"""Numbers printed in papers, one JSON file for each paper, with its source."""

from __future__ import annotations

from importlib.resources import files
from typing import Any

import msgspec


def published(paper: str) -> dict[str, Any]:
    """Return the printed tables of a paper.

    >>> published("direct_assessment")["tables"]["5"]
    {'raw': 0.995, 'z': 0.997}
    """
    text = files(__name__).joinpath(f"{paper}.json").read_bytes()
    tables: dict[str, Any] = msgspec.json.decode(text)
    return tables
