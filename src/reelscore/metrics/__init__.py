"""Metrics: one file each, computed by `reelscore.score`."""

from reelscore._lazy import attach

__getattr__, __dir__, __all__ = attach(__name__, __file__)
