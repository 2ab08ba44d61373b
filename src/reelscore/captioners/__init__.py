"""Captioners: baselines to put under a table, and captions of any model as a file.

Baselines are made from the user's own features and captions: the nearest neighbour, the retrieval
upper bound, the best constant sentence, visual labels with a small network. They are floors to
compare with, no competitors of today's models.
"""

from reelscore._lazy import attach

__getattr__, __dir__, __all__ = attach(__name__, __file__)
