"""Captions in and out: read and check files, pair candidates with references, write safely.

An *item* is one video or clip, with an id. A *candidate* is the caption a system gives an item;
*references* are its human captions. Everything is checked here, at the border, so that the
metrics never meet a bad record.
"""

from reelscore._lazy import attach

__getattr__, __dir__, __all__ = attach(__name__, __file__)
