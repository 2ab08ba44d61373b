"""Metrics learned from human judgments: BERTHA, fusion of metrics, sentence similarity."""

from reelscore._lazy import attach

__getattr__, __dir__, __all__ = attach(__name__, __file__)
