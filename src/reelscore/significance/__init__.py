"""Who beats whom: tests of the differences between systems in any score table, and clusters."""

from reelscore._lazy import attach

__getattr__, __dir__, __all__ = attach(__name__, __file__)
