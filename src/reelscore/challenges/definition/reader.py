"""The TOML file of a challenge, read into a `Definition` and checked as a whole.

`read_definition` reads a file, `parse_definition` the text that the database keeps. Files that a
definition names (references, pages, baselines) are looked for beside it; the text alone is enough
for a server, since all of them are in the database then.
"""

from __future__ import annotations

import os
from collections.abc import Iterable
from functools import lru_cache
from pathlib import Path

import msgspec
from msgspec.structs import fields, replace

from reelscore._records import resolved
from reelscore.challenges.definition.checks import definition_faults
from reelscore.challenges.definition.records import PAGES, About, Definition
from reelscore.challenges.definition.toml_tables import own_value, parse_toml, table_faults
from reelscore.errors import DataError


def read_definition(path: str | os.PathLike[str]) -> Definition:
    """Read and check the file of a challenge.

    Args:
        path: The TOML file; the files that it names lie beside it.

    Raises:
        DataError: With everything that is wrong, each with its key.

    >>> read_definition("none.toml")
    Traceback (most recent call last):
    reelscore.errors.DataError: none.toml: no such file.
    """
    path = Path(path)
    try:
        text = path.read_text(encoding="utf-8")
    except FileNotFoundError:
        raise DataError(f"{path}: no such file.") from None
    except (OSError, UnicodeDecodeError) as error:
        raise DataError(f"{path}: cannot be read: {error}.") from None
    return parse_definition(text, str(path), path.parent)


@lru_cache(maxsize=32)
def parsed_definition(text: str) -> Definition:
    """Return the definition that the database keeps as a text; every page and every job asks."""
    return parse_definition(text)


def parse_definition(text: str, file: str = "definition", folder: Path | None = None) -> Definition:
    r"""Read and check the text of a definition.

    Args:
        text: The TOML text.
        file: Its name, for messages.
        folder: Where the files that it names must be; not looked for if ``None``.

    Raises:
        DataError: With everything that is wrong, each with its key.

    >>> parse_definition('[challenge]\nid = "x"\nnmae = "X"', "c.toml")
    Traceback (most recent call last):
    reelscore.errors.DataError: c.toml: [challenge] has no key 'nmae'; did you mean name?
    c.toml: [challenge] has no name; expected a text.
    c.toml: the file has no split; expected at least one [[split]].
    c.toml: the file has no phase; expected at least one [[phase]].
    c.toml: the file has no board; expected at least one [[board]].
    """
    content = parse_toml(text, file)
    about = content.pop("challenge", {})
    tables = fields(Definition)[len(fields(About)) : -1]  # all but the text, which is no key
    _raise(file, [*table_faults(fields(About), about, "challenge"), *table_faults(tables, content)])
    definition = msgspec.convert({**about, **content}, resolved(Definition), dec_hook=own_value)
    _raise(file, definition_faults(definition, folder))
    return _with_defaults(definition, text)


def _with_defaults(definition: Definition, text: str) -> Definition:
    """Write out what depends on other tables: feedback by split, and the splits of views."""
    return replace(
        definition,
        text=text,
        pages={page: definition.pages[page] for page in PAGES if page in definition.pages},
        phases=tuple(
            replace(phase, feedback={s: phase.feedback.get(s, "full") for s in phase.splits})
            for phase in definition.phases
        ),
        boards=tuple(replace(b, split=definition.split_of(b)) for b in definition.boards),
        humans=tuple(replace(h, split=definition.split_of(h)) for h in definition.humans),
    )


def _raise(file: str, faults: Iterable[str]) -> None:
    if messages := [f"{file}: {fault}" for fault in dict.fromkeys(faults)]:
        raise DataError("\n".join(messages))
