"""Captions in and out: read and check files, pair candidates with references, write safely.

An *item* is one video or clip, with an id. A *candidate* is the caption a system gives an item;
*references* are its human captions. Everything is checked here, at the border, so that the
metrics never meet a bad record.
"""

from __future__ import annotations

from reelscore.data.pairing import Paired, pair
from reelscore.data.reading import read_candidates, read_references
from reelscore.data.writing import write_atomically

__all__ = [
    "Paired",
    "pair",
    "read_candidates",
    "read_references",
    "write_atomically",
]
