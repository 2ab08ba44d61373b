"""Score stories, the timed captions of long videos (dense video captioning).

Two frameworks, each with its protocol choices by name: SODA, which matches stories in order, and
the scorer of the ActivityNet challenge, which pairs all captions that overlap.

>>> from reelscore import examples, stories
>>> systems, annotators = examples.stories()
>>> results = stories.score(systems["concise"], annotators.values())
>>> round(results["soda_c"].score, 4)
0.1929
"""

from reelscore._lazy import attach

__getattr__, __dir__, __all__ = attach(__name__, __file__)
