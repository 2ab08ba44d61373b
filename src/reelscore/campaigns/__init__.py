"""Ask people: campaigns of human judgments, from the plan to the significance table."""

from reelscore._lazy import attach

__getattr__, __dir__, __all__ = attach(__name__, __file__)
