"""Databases that lose nothing: SQLite or PostgreSQL, made to behave alike, with migrations."""

from reelscore._lazy import attach

__getattr__, __dir__, __all__ = attach(__name__, __file__)
