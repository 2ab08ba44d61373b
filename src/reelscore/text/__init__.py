"""From captions to words: packed strings, PTB tokens, word ids, grammar, damages by rule."""

from reelscore._lazy import attach

__getattr__, __dir__, __all__ = attach(__name__, __file__)
