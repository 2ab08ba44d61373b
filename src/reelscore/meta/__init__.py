"""How far to trust a number: metrics against people, and judgments against their captions."""

from reelscore._lazy import attach

__getattr__, __dir__, __all__ = attach(__name__, __file__)
