"""`parquet`: tables in Parquet, as data frames and data set libraries write them.

A cell holds a caption, or a list of them. Needs the package pyarrow.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from typing import TYPE_CHECKING

from reelscore._packages import need
from reelscore.data.formats import Format
from reelscore.data.json_documents import joined
from reelscore.data.reading import Reading, Record, Request
from reelscore.data.source import Source
from reelscore.errors import DataError

if TYPE_CHECKING:
    import pyarrow as pa
    import pyarrow.parquet as pq

_ROWS = 10_000  # that are Python objects at a time


class Parquet(Format):
    """``parquet``: a table with named columns."""

    unit = "row"

    def fields(self, source: Source, reading: Reading) -> list[str]:
        """Name the columns."""
        names: list[str] = _open(source).schema_arrow.names
        return names

    def read(self, source: Source, request: Request) -> Iterator[Record]:
        """Yield number, item id and caption or captions of each row."""
        table = _open(source)
        names = table.schema_arrow.names
        fields = request.reading.fields
        if fault := fields.fault(names, request.role):
            raise DataError(f"{source.path}: {fault}.")
        item = fields.item_field(names) or ""
        captions = fields.caption_fields(names, request.role)
        split = [name for name in ("split",) if name in names and request.reading.splits]
        check_single([item, *captions, *split], names, source.path)
        rows = _rows(table, [item, *captions, *split], source.path)
        for number, row in enumerate(rows, start=1):
            values = [row[name] for name in captions]
            if request.takes(row[item], row.get("split")):
                yield number, row[item], values[0] if len(values) == 1 else joined(values)


def check_single(columns: Iterable[str], names: Sequence[str], path: str) -> None:
    """Refuse a table with several columns of a name that is needed: one of them would count."""
    for name in columns:
        if names.count(name) > 1:
            raise DataError(
                f"{path}: {names.count(name)} columns have the name {name!r}; rename or remove "
                "all but one."
            )


def holds_bytes(kind: pa.DataType) -> bool:
    """Return whether a type of pyarrow is one of bytes."""
    from pyarrow import types

    kinds = types.is_binary, types.is_large_binary, types.is_fixed_size_binary, types.is_binary_view
    return any(is_kind(kind) for is_kind in kinds)


def need_pyarrow(what: str) -> None:
    """Refuse what needs pyarrow, where it is not installed."""
    need("pyarrow", "reelscore[files]", f"{what} needs")


def _open(source: Source) -> pq.ParquetFile:
    need_pyarrow(f"{source.path}: reading Parquet")
    import pyarrow as pa
    import pyarrow.parquet as pq

    with damage_explained(source.path):
        return pq.ParquetFile(pa.BufferReader(source.document()))


def _rows(table: pq.ParquetFile, columns: list[str], path: str) -> Iterator[dict[str, object]]:
    batches = table.iter_batches(_ROWS, columns=list(dict.fromkeys(columns)))
    while True:
        with damage_explained(path):
            batch = next(batches, None)
            rows = [] if batch is None else _with_texts(batch).to_pylist()
        if batch is None:
            return
        yield from rows


def _with_texts(batch: pa.RecordBatch) -> pa.RecordBatch:
    """Take columns of bytes for texts, as older programs wrote these."""
    import pyarrow as pa

    for place, field in enumerate(batch.schema):
        if holds_bytes(field.type):
            texts = batch.column(place).cast(pa.binary()).cast(pa.string())
            batch = batch.set_column(place, field.name, texts)
    return batch


@contextmanager
def damage_explained(path: str) -> Iterator[None]:
    """Let an error say that a file begins like Parquet, and is not."""
    import pyarrow

    try:
        yield
    except (pyarrow.ArrowException, OSError, UnicodeDecodeError) as error:
        what = str(error).partition("\n")[0]
        raise DataError(f"{path}: the Parquet file is damaged ({what}).") from None
