"""Checks of caption files before they are scored or published; nothing is changed.

A check is a function that takes `CheckedCaptions` and yields a `Finding` for each defect.
"""

from reelscore._lazy import attach

__getattr__, __dir__, __all__ = attach(__name__, __file__)
