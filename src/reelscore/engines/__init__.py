"""Where work is done: in threads of this process, or on the machines of a Ray cluster.

An engine knows nothing of captions: it shares a value with its workers and applies a function to
batches, in order. What is computed, and how it is put together, is the same for all engines, so
that the choice never changes a number.
"""

from reelscore._lazy import attach

__getattr__, __dir__, __all__ = attach(__name__, __file__)
