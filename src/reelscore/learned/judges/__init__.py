"""Judges: metrics that ask a large model, from the user's folder or behind an endpoint."""

from reelscore._lazy import attach

__getattr__, __dir__, __all__ = attach(__name__, __file__)
