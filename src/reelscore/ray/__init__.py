"""Scores of Ray Data sets: captions in, item scores out, on all machines of a cluster."""

from __future__ import annotations

from typing import TYPE_CHECKING

from reelscore._lazy import lazy_names

if TYPE_CHECKING:
    from reelscore.ray.datasets import score

__all__ = ["score"]

__getattr__, __dir__ = lazy_names(__name__, {"ray.datasets": "score"})
