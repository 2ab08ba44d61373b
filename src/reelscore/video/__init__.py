"""Pictures from videos: which frames, at which size, and which file shows which item."""

from reelscore._lazy import attach

__getattr__, __dir__, __all__ = attach(__name__, __file__)
