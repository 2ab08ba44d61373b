"""Captions of any model as a file: who describes clips, with what, and the record of it.

The baselines that a table is compared with are in the sibling distribution reelscore-studies.
"""

from reelscore._lazy import attach

__getattr__, __dir__, __all__ = attach(__name__, __file__)
