"""What is written beside captions: `OUT.run.json`, which says how `OUT.json` was made.

Signature, versions, command line, random seed, hashes of the data, and the time it took. A record
never holds a key or a header of a request: only what is passed to it is written.
"""

from __future__ import annotations

import dataclasses
import json
import os
import platform
import shlex
import sys
import time
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Any, ClassVar

import numpy as np

from reelscore._version import __version__
from reelscore.data.atomic_files import check_target, write_atomically
from reelscore.metrics.base import signature_text
from reelscore.text.words import array_fingerprint, pack


@dataclass(frozen=True)
class Parameters:
    """The parameters of a captioner: a frozen dataclass with a signature, as metrics have."""

    name: ClassVar[str]  # the captioner's name, the first part of the signature

    def signature(self, **context: object) -> str:
        """Spell out the name, all parameters, then the context and the version."""
        own = {field.name: getattr(self, field.name) for field in dataclasses.fields(self)}
        unused = [name for name, value in context.items() if value is None]
        parts = {**own, **context, "v": __version__}
        return signature_text(self.name, {k: v for k, v in parts.items() if k not in unused})


class Run:
    """One run of a command: measures its time, and writes its record."""

    def __init__(self, command: Sequence[str] | None = None) -> None:
        words = [Path(sys.argv[0]).name, *sys.argv[1:]] if command is None else command
        self._command = shlex.join(words)
        self._wall, self._processor = time.perf_counter(), time.process_time()

    def record(
        self,
        signature: str,
        *,
        seed: int | None = None,
        data: Mapping[str, str] | None = None,
        libraries: Iterable[str] = (),
        **details: object,
    ) -> dict[str, Any]:
        """Return how the output was made; the time is that since the run began."""
        versions = library_versions(["numpy", *libraries])
        return {
            "signature": signature,
            "version": __version__,
            "command": self._command,
            "seed": seed,
            "libraries": {"python": platform.python_version(), **versions},
            "data": dict(data or {}),
            "wall_seconds": round(time.perf_counter() - self._wall, 3),
            "cpu_seconds": round(time.process_time() - self._processor, 3),
            **details,
        }


def library_versions(names: Iterable[str]) -> dict[str, str]:
    """Return the versions of packages, of those that are installed."""
    found = {}
    for name in names:
        try:
            found[name] = version(name)
        except PackageNotFoundError:
            continue
    return found


def captions_hash(captions: Mapping[str, str | Sequence[str]]) -> str:
    """Eight hex digits of captions: what scores say after ``data:`` where these are references.

    >>> captions_hash({"v1": "a man"}) == captions_hash({"v1": ["a man"]})
    True
    """
    texts = [[own] if isinstance(own, str) else list(own) for own in captions.values()]
    offsets = np.cumsum([0, *map(len, texts)], dtype=np.int64)
    return array_fingerprint(pack([text for own in texts for text in own]), offsets)


def record_path(path: str | os.PathLike[str]) -> Path:
    """Name the record of a captions file.

    >>> record_path("out/nearest.json").as_posix()
    'out/nearest.run.json'
    """
    target = Path(path)
    return target.with_name(f"{target.name.removesuffix('.json')}.run.json")


def check_candidates_target(path: str | os.PathLike[str]) -> None:
    """Find out before long work whether captions and their record can be written."""
    check_target(path)
    check_target(record_path(path))


def write_candidates(
    path: str | os.PathLike[str], candidates: Mapping[str, str], record: Mapping[str, Any]
) -> None:
    """Write captions as a file that `reelscore score` takes, and their record beside it.

    Both are written aside and renamed, the record first: a captions file always has its record.
    """
    write_atomically(record_path(path), _json(record))
    write_atomically(path, _json(candidates))


def _json(content: Mapping[str, Any]) -> str:
    return json.dumps(content, ensure_ascii=False, indent=1) + "\n"
