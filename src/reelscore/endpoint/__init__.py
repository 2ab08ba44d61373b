"""Models behind an OpenAI-compatible endpoint: requests, retries, and a journal of the answers."""

from reelscore._lazy import attach

__getattr__, __dir__, __all__ = attach(__name__, __file__)
