"""Captions as grammar: dependency trees, and what is read from them."""

from reelscore._lazy import attach

__getattr__, __dir__, __all__ = attach(__name__, __file__)
