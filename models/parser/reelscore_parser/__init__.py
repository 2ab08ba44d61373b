"""The parser and the lexicon of reelscore: data files beside this one."""

from pathlib import Path

__version__ = "1.0.0"


def path() -> Path:
    """The folder with the model and the lexicon."""
    return Path(__file__).parent
