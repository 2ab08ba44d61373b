"""A small embedded data set: 15 clips with captions, 5 videos with timed stories.

The demo, the documentation and the tests share it. All text was written for reelscore; the
README beside this file says how. The files are ordinary ones, so what reads them reads yours:
`path` says where they lie, for use on the command line.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any, cast

from reelscore.errors import UnknownNameError

__all__ = ["clips", "path", "stories"]

_HERE = Path(__file__).resolve().parent
_CLIP_SYSTEMS = ("human", "strong", "weak", "broken")
_STORY_SYSTEMS = ("concise", "verbose", "shuffled")
_ANNOTATORS = ("annotator_1", "annotator_2")


def clips() -> tuple[dict[str, dict[str, str]], dict[str, list[str]]]:
    """Return the captions of the clips: those of four systems, and the references.

    >>> systems, references = clips()
    >>> list(systems)
    ['human', 'strong', 'weak', 'broken']
    >>> systems["weak"]["clip05"]
    'a man is playing a guitar'
    >>> references["clip05"][0]
    'An old man plays the accordion in a subway station while people walk past.'
    """
    systems = {name: _read(f"clips/systems/{name}.json") for name in _CLIP_SYSTEMS}
    return systems, cast("dict[str, list[str]]", _read("clips/references.json"))


def stories() -> tuple[dict[str, dict[str, Any]], dict[str, dict[str, Any]]]:
    """Return the timed captions of the longer videos: those of three systems, and the truth.

    >>> systems, annotators = stories()
    >>> list(systems), list(annotators)
    (['concise', 'verbose', 'shuffled'], ['annotator_1', 'annotator_2'])
    >>> systems["concise"]["results"]["v_dogwash"][1]
    {'sentence': 'He sprays the dog with a hose.', 'timestamp': [16.8, 31.5]}
    >>> annotators["annotator_1"]["v_dogwash"]["timestamps"]
    [[0.0, 14.8], [15.0, 44.2], [45.1, 66.05]]
    """
    systems = {name: _read(f"stories/systems/{name}.json") for name in _STORY_SYSTEMS}
    annotators = {name: _read(f"stories/{name}.json") for name in _ANNOTATORS}
    return systems, annotators


def path(name: str = "") -> Path:
    """Return where a file or folder of the examples lies.

    >>> path("clips/references.json").name
    'references.json'
    >>> sorted(file.stem for file in path("clips/systems").iterdir())
    ['broken', 'human', 'strong', 'weak']
    >>> path("clips/refs.json")
    Traceback (most recent call last):
    reelscore.errors.UnknownNameError: Unknown example 'clips/refs.json'. Did you mean ...
    """
    files = {"": _HERE}
    for folder in ("clips", "films", "stories"):
        for file in (_HERE / folder, *(_HERE / folder).rglob("*")):
            files[file.relative_to(_HERE).as_posix()] = file
    try:
        return files[name.rstrip("/")]
    except KeyError:
        raise UnknownNameError.of("example", name, filter(None, files)) from None


def _read(name: str) -> dict[str, Any]:
    """Decode one of the JSON files; they all hold an object."""
    return cast("dict[str, Any]", json.loads(path(name).read_text(encoding="utf-8")))
