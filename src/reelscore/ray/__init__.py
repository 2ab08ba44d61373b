"""Scores of Ray Data sets: captions in, item scores out, on all machines of a cluster."""

from reelscore._lazy import attach

__getattr__, __dir__, __all__ = attach(__name__, __file__)
