"""Studies that repeat papers: their data, runs, tables and commands."""

from reelscore._lazy import attach

__getattr__, __dir__, __all__ = attach(__name__, __file__)
