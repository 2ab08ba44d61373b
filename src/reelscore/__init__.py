"""reelscore tells you how good your video captions are, and how far to trust the number.

>>> import reelscore
>>> results = reelscore.score(
...     {"clip1": "a man is riding a horse", "clip2": "two dogs play"},
...     {"clip1": ["a man rides a horse"], "clip2": ["two dogs are playing", "dogs play"]},
...     metrics=["meteor", "rouge_l"],
... )
>>> round(results["meteor"].score, 3)
0.467
"""

from typing import Any

from reelscore._lazy import attach

_load, __dir__, __all__ = attach(__name__, __file__)


def __getattr__(name: str) -> Any:
    """Load a public name when it is first used."""
    if name == "parse":
        from warnings import warn

        warn("reelscore.parse is now reelscore.parse_signature", DeprecationWarning, stacklevel=2)
        name = "parse_signature"
    return _load(name)
