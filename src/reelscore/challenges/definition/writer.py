"""A definition written from a form: the file that would be written by hand, to be read as such."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from pathlib import PurePath
from typing import Any

from reelscore.challenges.definition.records import Microseconds, Scoring
from reelscore.errors import DataError
from reelscore.store.values import from_iso, to_iso

_SPLIT, _PHASE = "test", "main"  # what they are called, and the board as the phase


def definition_text(
    said: Mapping[str, str], references: Sequence[str], baselines: Sequence[str] = ()
) -> str:
    """Write a definition of one split, one phase and one board; what is empty is left out.

    Args:
        said: What was filled in, by the keys of the definition; times are of UTC.
        references: The files of references.
        baselines: Files of captions that stand on the board.

    >>> form = {"id": "dogs", "name": "Dogs", "metrics": "cider rouge_l", "per_day": "5"}
    >>> print(definition_text({**form, "opens": "2026-06-01T00:00"}, ["refs.json"]))
    [challenge]
    id = "dogs"
    name = "Dogs"
    <BLANKLINE>
    [[split]]
    id = "test"
    references = "refs.json"
    <BLANKLINE>
    [scoring]
    metrics = ["cider", "rouge_l"]
    <BLANKLINE>
    [[phase]]
    id = "main"
    splits = ["test"]
    opens = 2026-06-01T00:00:00Z
    limits = { per_day = 5 }
    <BLANKLINE>
    [[board]]
    id = "main"
    phase = "main"
    primary = "cider"
    columns = [{ scores = ["cider", "rouge_l"] }]
    <BLANKLINE>
    """
    is_stories, names = said.get("kind") == "stories", tuple(said.get("metrics", "").split())
    if is_stories:
        scales = Scoring(scores=names).scales("stories")
    else:
        scales = Scoring(metrics=names or Scoring().metrics).scales("captions")
    feedback = {_SPLIT: shown} if (shown := said.get("feedback")) else {}
    phase = {
        **{"id": _PHASE, "splits": [_SPLIT], **_values(said, "opens", "closes", "reveals")},
        **{"feedback": feedback, "limits": _values(said, "per_day", "total")},
        "final": said.get("final", ""),
    }
    about = {key: said.get(key, "") for key in ("id", "name", "contact", "registration")}
    split = {key: said.get(key, "") for key in ("visibility", "kind")}
    pages = {page: f"{page}.md" for page in ("overview", "rules") if said.get(page)}
    files = references[0] if len(references) == 1 else list(references)
    primary = said.get("primary") or ("cider" if "cider" in scales else next(iter(scales)))
    columns = [{"scores": list(scales)}]
    entries = [{"name": PurePath(file).stem, "file": file, "phase": _PHASE} for file in baselines]
    tables: list[tuple[str, Mapping[str, Any]]] = [
        ("[challenge]", {**about, "pages": pages}),
        ("[[split]]", {"id": _SPLIT, **split, "references": files}),
        ("[scoring]", {"scores" if is_stories else "metrics": list(names)}),
        ("[[phase]]", phase),
        ("[[board]]", {"id": _PHASE, "phase": _PHASE, "primary": primary, "columns": columns}),
        *(("[[baseline]]", entry) for entry in entries),
    ]
    return "\n".join("\n".join([head, *_lines(table), ""]) for head, table in tables)


def _values(said: Mapping[str, str], *keys: str) -> dict[str, object]:
    """Return numbers and times of UTC that a form sends as texts; what is none stays as it is."""
    return {key: _value(said[key]) for key in keys if said.get(key)}


def _value(text: str) -> object:
    if text.isdecimal() and text.isascii():
        return int(text)
    with suppress(DataError):
        return Microseconds(from_iso(text if text[-1:] == "Z" else f"{text}Z") or 0)
    return text


def _lines(table: Mapping[str, Any]) -> Iterator[str]:
    for key, value in table.items():
        if value not in ("", [], {}):
            yield f"{key} = {_toml(value)}"


def _toml(value: object) -> str:
    if isinstance(value, Microseconds):
        return (to_iso(value) or "").replace(".000000Z", "Z")
    if isinstance(value, dict):
        return "{ " + ", ".join(_lines(value)) + " }"
    if isinstance(value, list):
        return "[" + ", ".join(map(_toml, value)) + "]"
    # JSON's texts and numbers are TOML's, but for one character
    return json.dumps(value, ensure_ascii=False).replace("\x7f", "\\u007f")
