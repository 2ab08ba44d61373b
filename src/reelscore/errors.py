"""Every error reelscore raises on purpose.

ReelscoreError
├── DataError (ValueError)             a file or argument does not say what it should
│   ├── RefusedError                   a campaign cannot take this from this rater
│   ├── FullError                      the disk under a database has no room left
│   └── NobodyPassedError              no rater of a campaign passed the quality control
├── UnknownNameError (LookupError)     an unknown metric, format or option
├── ResourceError (OSError)            the METEOR index cannot be built, written or read
├── EndpointError (ConnectionError)    a model's server refuses a request, or does not answer
├── ClusterError (ConnectionError)     a Ray cluster cannot be reached, or cannot do the work
└── MissingExtraError (ImportError)    an optional dependency is not installed

A message says what is wrong, where, what was expected, and how to fix it. The command line
prints it as it is and exits with status 2; any other exception is a defect of reelscore and
keeps its traceback.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Sequence
from contextlib import contextmanager
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from pathlib import Path

__all__ = [
    "ClusterError",
    "DataError",
    "EndpointError",
    "FullError",
    "MissingExtraError",
    "NobodyPassedError",
    "ReelscoreError",
    "RefusedError",
    "ResourceError",
    "UnknownNameError",
]


_LISTED = 30  # names that a message lists


class ReelscoreError(Exception):
    """The root of the tree: catch this to catch everything reelscore reports."""


class DataError(ReelscoreError, ValueError):
    """Input that cannot be used as it is."""


class RefusedError(DataError):
    """An answer or a claim that a campaign cannot take.

    Attributes:
        reason: Why, in one word: ``unknown``, ``answered``, ``taken``, ``closed``, ``excluded``.
        problems: What is wrong with a file, each by itself.
    """

    def __init__(self, reason: str, message: str, problems: Sequence[str] = ()) -> None:
        super().__init__(message)
        self.reason, self.problems = reason, tuple(problems)


class FullError(DataError):
    """A database whose disk is full: nothing more can be stored until there is room."""


class NobodyPassedError(DataError):
    """A campaign whose raters all failed the quality control.

    Attributes:
        said: That in a sentence, without a remedy.
    """

    def __init__(self, raters: int) -> None:
        who = f"None of the {raters} raters" if raters > 1 else "The one rater has not"
        self.said = f"{who} passed the quality control."
        super().__init__(f"{self.said} Look at the raters, or pass controlled=False.")


class UnknownNameError(ReelscoreError, LookupError):
    """A name that is not in the list it was looked up in."""

    @classmethod
    def of(cls, kind: str, name: str, known: Iterable[str], remedy: str = "") -> UnknownNameError:
        """Build the message, with the nearest known name as a suggestion.

        >>> print(UnknownNameError.of("metric", "rogue_l", ["bleu", "rouge_l"]))
        Unknown metric 'rogue_l'. Did you mean 'rouge_l'? Known: bleu, rouge_l.
        """
        import difflib

        known = sorted(known)
        near = difflib.get_close_matches(name, known, n=1)
        guess = f" Did you mean {near[0]!r}?" if near else ""
        ending = remedy or f"Known: {', '.join(known)}."
        if not remedy and len(known) > _LISTED:
            ending = f"There are {len(known):,}, such as {', '.join(known[:3])}."
        return cls(f"Unknown {kind} {name!r}.{guess} {ending}")


class ResourceError(ReelscoreError, OSError):
    """Language data that is missing, damaged or cannot be stored."""


class EndpointError(ReelscoreError, ConnectionError):
    """A server of a model that refuses a request, or does not answer."""


class ClusterError(ReelscoreError, ConnectionError):
    """A Ray cluster that cannot be reached, or whose machines cannot do the work."""


class MissingExtraError(ReelscoreError, ImportError):
    """A feature whose optional dependencies are not installed."""

    @classmethod
    def of(cls, need: str, *packages: str) -> MissingExtraError:
        """Build the message: what is needed, and the command that installs it.

        >>> print(MissingExtraError.of("Plots need matplotlib", "reelscore[plots]"))
        Plots need matplotlib. To install: pip install 'reelscore[plots]'
        """
        return cls(f"{need}. To install: {install_command(*packages)}")


# Packages that lie beside reelscore's own sources, in a clone of the repository.
_MODELS = {
    "reelscore-bertha": "models/bertha",
    "reelscore-parser": "models/parser",
    "reelscore-studies": "studies",
}


def install_command(*packages: str) -> str:
    """The command that installs packages, whether reelscore came from an index or from a clone.

    An extra of reelscore is named as it is, since pip takes it from what is installed. Models are
    taken from the clone, where reelscore was installed from one.

    >>> install_command("reelscore[plots]")
    "pip install 'reelscore[plots]'"
    """
    import shlex

    clone = _clone()
    parts = []
    for package in packages:
        if clone and package in _MODELS and (clone / _MODELS[package]).is_dir():
            package = str(clone / _MODELS[package])
        parts.append(shlex.quote(package))
    return " ".join(["pip install", *parts])


def _clone() -> Path | None:
    """The folder that reelscore was installed from; ``None`` where it came from an index."""
    import json
    from importlib.metadata import PackageNotFoundError, distribution
    from pathlib import Path
    from urllib.parse import urlsplit
    from urllib.request import url2pathname

    try:
        origin = json.loads(distribution("reelscore").read_text("direct_url.json") or "{}")
    except (PackageNotFoundError, ValueError):
        return None
    address = urlsplit(origin.get("url", ""))
    if address.scheme != "file" or "dir_info" not in origin:
        return None
    return Path(url2pathname(address.path))


@contextmanager
def about_system(system: str) -> Iterator[None]:
    """Let an error say which system it is about; a system without a name is the only one."""
    try:
        yield
    except DataError as error:
        if not system:
            raise
        raise DataError(f"{system}: {error}") from error


def check_choice(kind: str, name: object, known: Collection[str]) -> None:
    """Refuse a name that is not one of those known.

    >>> check_choice("tokenizer", "ptb", ["ptb", "none"])
    """
    if name not in known:
        raise UnknownNameError.of(kind, str(name), known)
