"""Statistics of scores: resampling, significance, corrections; they know nothing of captions."""

from reelscore._lazy import attach

__getattr__, __dir__, __all__ = attach(__name__, __file__)
