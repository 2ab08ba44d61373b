"""Where work is done: in threads of this process, or on the machines of a Ray cluster.

An engine knows nothing of captions: it shares a value with its workers and applies a function to
batches, in order. What is computed, and how it is put together, is the same for all engines, so
that the choice never changes a number.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from reelscore._lazy import lazy_names

if TYPE_CHECKING:
    from reelscore.engines.engine import Engine, Shared

__all__ = ["Engine", "Shared"]

__getattr__, __dir__ = lazy_names(__name__, {"engines.engine": "Engine Shared"})
