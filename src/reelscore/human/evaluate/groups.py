"""Which group each item belongs to, from a table: the document of a segment, the film of a clip."""

from __future__ import annotations

from reelscore.data.source import Source
from reelscore.errors import DataError
from reelscore.human.imports.rows import places


def read_groups(description: str) -> dict[str, str]:
    r"""Read groups from a table with a header, separated by commas, tabs or blanks.

    Args:
        description: The file and the names of the columns with the items and the groups:
            ``FILE:ITEM:GROUP``.

    Raises:
        DataError: If the file or a column is not there, or an item has two groups.

    >>> import tempfile
    >>> from pathlib import Path
    >>> path = Path(tempfile.mkdtemp(), "films.csv")
    >>> _ = path.write_text("clip,film\nv1,Sintel\nv2,Sintel\n")
    >>> read_groups(f"{path}:clip:film")
    {'v1': 'Sintel', 'v2': 'Sintel'}
    """
    parts = description.rsplit(":", 2)
    if len(parts) != 3:
        raise DataError(f"Groups are {description!r}; expected FILE:ITEM:GROUP, with two columns.")
    path, item, group = parts
    found: dict[str, str] = {}
    with Source(path) as source:
        lines = (line.decode("utf-8", "replace").strip() for _, line in source.lines(1 << 20))
        header = next(lines, "")
        separator = next((each for each in ",\t" if each in header), None)
        names = [name.strip() for name in header.split(separator)]
        at = places(names, [item, group], path)
        for number, line in enumerate(lines, start=2):
            cells = [cell.strip() for cell in line.split(separator)]
            if not line:
                continue
            if len(cells) != len(names):
                raise DataError(
                    f"{path}:{number}: {len(cells)} fields, the header has {len(names)}."
                )
            if found.setdefault(cells[at[item]], cells[at[group]]) != cells[at[group]]:
                raise DataError(f"{path}:{number}: item {cells[at[item]]!r} has two groups.")
    return found
