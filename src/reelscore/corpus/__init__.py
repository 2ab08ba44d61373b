"""Corpora of described films: from film sound and its described version to narrated clips.

A described track is aligned with its film, whatever was cut, inserted or changed in speed, and the
narrator is what the film does not explain.
"""

from reelscore._lazy import attach

__getattr__, __dir__, __all__ = attach(__name__, __file__)
