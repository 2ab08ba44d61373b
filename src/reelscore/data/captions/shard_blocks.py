"""Shards read in blocks: Arrow tables in which all ids and captions are good.

A block has the columns ``item``, ``caption`` and ``place``, of candidates also ``system``; the
place is the shard's number and the row in it, for messages and for the order. Records that cannot
be used raise an error with file, row, item and reason, or are collected. Needs pyarrow.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from itertools import islice
from typing import TYPE_CHECKING, Any

import msgspec

from reelscore.data.captions.shards import (
    SYSTEM,
    BadRow,
    BadRows,
    Shard,
    names_of,
    open_parquet,
    place_of,
    row_of,
    system_field,
)
from reelscore.data.checks import candidate_fault, id_fault, text_fault
from reelscore.data.formats import get_format
from reelscore.data.formats.parquet import (
    check_single,
    damage_explained,
    holds_bytes,
    need_pyarrow,
)
from reelscore.data.json_documents import decode_json_line
from reelscore.data.source import Source
from reelscore.errors import DataError

if TYPE_CHECKING:
    import numpy as np
    import pyarrow as pa
    from numpy.typing import NDArray

    Arrays = Mapping[str, pa.Array]  # the columns of a block, by what they hold
    Numbers = NDArray[np.int64]

_BLOCK = 100_000  # rows in memory at a time
_SPLIT = "split"  # the field that says which part of a data set a record belongs to


def blocks_of(shard: Shard, bad: BadRows) -> Iterator[pa.Table]:
    """Read a shard, block by block."""
    need_pyarrow(f"{shard.path}: reading captions by system, or in pieces,")
    read = _parquet_blocks if shard.format == "parquet" else _line_blocks
    for block in read(shard, bad):
        if block.num_rows:
            yield block


def captions_by_system(shards: Sequence[Shard]) -> dict[str, dict[str, str]]:
    """Read shards of candidates into memory."""
    systems: dict[str, dict[str, str]] = {}
    bad = BadRows()
    for shard in shards:
        for block in blocks_of(shard, bad):
            columns = [block.column(name).to_pylist() for name in names_of("candidates")]
            for system, item, caption, place in zip(*columns, strict=True):
                own = systems.setdefault(system, {})
                if item in own:
                    again = f"system {system!r} has a caption of the item already"
                    bad.add(BadRow(shard.path, row_of(place), item, again))
                own[item] = caption
    return systems


# Parquet


def _parquet_blocks(shard: Shard, bad: BadRows) -> Iterator[pa.Table]:
    import numpy as np

    with open_parquet(shard.path) as file:
        columns = _columns(shard, file.schema_arrow.names)
        batches = file.iter_batches(_BLOCK, columns=list(columns.values()), use_threads=False)
        row = 0
        while True:
            with damage_explained(shard.path):
                batch = next(batches, None)
            if batch is None:
                return
            arrays = {role: batch.column(name) for role, name in columns.items()}
            yield checked_block(shard, arrays, np.arange(row + 1, row + 1 + batch.num_rows), bad)
            row += batch.num_rows


def _columns(shard: Shard, names: Sequence[str]) -> dict[str, str]:
    """The columns of a file, by what they hold."""
    fields = shard.reading.fields
    if fault := fields.fault(names, shard.role):
        raise DataError(f"{shard.path}: {fault}.")
    item = fields.item_field(names)
    captions = fields.caption_fields(names, shard.role)
    assert item is not None
    if len(captions) > 1:
        raise DataError(
            f"{shard.path}: captions in several columns ({', '.join(captions)}); choose one."
        )
    columns = {"item": item, "caption": captions[0]}
    system = system_field(names)
    if shard.role == "candidates" and shard.system is None:
        assert system is not None
        columns[SYSTEM] = system
    if shard.reading.splits:
        columns[_SPLIT] = _SPLIT
    check_single(columns.values(), names, shard.path)
    return columns


def checked_block(shard: Shard, arrays: Arrays, rows: Numbers, bad: BadRows) -> pa.Table:
    """Check columns and bring them into the form of a block."""
    import numpy as np
    import pyarrow as pa
    import pyarrow.compute as pc

    if _SPLIT in arrays:
        arrays, rows = _of_splits(arrays, rows, shard.reading.splits)
    count = len(arrays["item"])
    places = rows.astype(np.int64) + place_of(shard.number, 0)
    caption, item = arrays["caption"], _ids(arrays["item"])
    odd = np.zeros(count, dtype=bool)
    if pa.types.is_fixed_size_list(caption.type):
        caption = caption.cast(pa.list_(caption.type.value_type))
    if _holds_lists(caption.type):
        lengths = pc.list_value_length(caption).fill_null(0).to_numpy(zero_copy_only=False)
        odd |= (lengths == 0) if shard.role == "references" else (lengths != 1)
        # A row without captions keeps its place with an empty one, to be refused below.
        parents = np.repeat(np.arange(count), lengths)
        texts = _texts(caption.flatten())
    else:
        parents, texts = np.arange(count), _texts(caption)
    columns = {"item": item}
    if SYSTEM in arrays:
        columns[SYSTEM] = _ids(arrays[SYSTEM])
    for column in columns.values():
        odd |= _odd(column) | _blank(column)
    odd_texts = _odd(texts)
    odd[parents[odd_texts]] = True
    if odd.any():
        for k in np.flatnonzero(odd).tolist():
            values = {role: _value(array, k) for role, array in arrays.items()}
            bad.add(_bad_row(shard, int(rows[k]), values))
        keep = ~odd[parents]
        parents, texts = parents[keep], texts.filter(pa.array(keep))
    whole = len(parents) == count and not odd.any()
    spread = {
        name: column if whole else column.take(pa.array(parents))
        for name, column in columns.items()
    }
    if shard.role == "candidates" and SYSTEM not in spread:
        spread[SYSTEM] = pa.array([shard.system] * len(parents), pa.string())
    spread |= {"caption": texts, "place": pa.array(places[parents])}
    return pa.table({name: spread[name] for name in names_of(shard.role)})


def _of_splits(arrays: Arrays, rows: Numbers, splits: Sequence[str]) -> tuple[Arrays, Numbers]:
    """Leave out the records of other parts of a data set; those that name none are kept."""
    import pyarrow as pa
    import pyarrow.compute as pc

    split = _ids(arrays[_SPLIT])
    keep = pc.or_(pc.is_in(split, value_set=pa.array(splits)), pc.is_null(split))
    kept = {role: array.filter(keep) for role, array in arrays.items() if role != _SPLIT}
    return kept, rows[keep.to_numpy(zero_copy_only=False)]


def _ids(column: pa.Array) -> pa.Array:
    """A column of ids as texts: whole numbers are spelled, and what else is no text is null."""
    import pyarrow as pa

    if pa.types.is_dictionary(column.type):
        column = column.dictionary_decode()
    return column.cast(pa.string()) if pa.types.is_integer(column.type) else _texts(column)


def _texts(column: pa.Array) -> pa.Array:
    """A column as texts; what is no text is null."""
    import pyarrow as pa

    if pa.types.is_dictionary(column.type):
        column = column.dictionary_decode()
    if holds_bytes(column.type):  # texts, of older programs
        column = column.cast(pa.binary()).view(pa.string())
    kind = column.type
    if pa.types.is_string(kind):
        return _valid(column)
    if pa.types.is_large_string(kind) or pa.types.is_string_view(kind):
        return _valid(column.cast(pa.string()))
    return pa.nulls(len(column), pa.string())


def _holds_lists(kind: pa.DataType) -> bool:
    from pyarrow import types

    kinds = types.is_list, types.is_large_list, types.is_list_view, types.is_large_list_view
    return any(is_kind(kind) for is_kind in kinds)


def _valid(column: pa.Array) -> pa.Array:
    """A column of texts with null for those that are not UTF-8."""
    import pyarrow as pa

    try:
        column.validate(full=True)
    except pa.ArrowInvalid:
        texts = [_decoded(value) for value in column.cast(pa.binary()).to_pylist()]
        return pa.array(texts, pa.string())
    return column


def _decoded(value: bytes | None) -> str | None:
    try:
        return None if value is None else value.decode()
    except UnicodeDecodeError:
        return None


def _value(array: pa.Array, k: int) -> object:
    """One value as Python has it; what is no UTF-8, as bytes."""
    import pyarrow as pa

    try:
        return array[k].as_py()
    except UnicodeDecodeError:
        value = array[k]
        return value.cast(pa.binary()).as_py() if pa.types.is_string(array.type) else b""


def _odd(column: pa.Array) -> NDArray[np.bool_]:
    """Which texts are missing or hold a NUL character."""
    import pyarrow.compute as pc

    odd = pc.match_substring(column, "\0").fill_null(True)
    found: NDArray[np.bool_] = odd.to_numpy(zero_copy_only=False)
    return found


def _blank(column: pa.Array) -> NDArray[np.bool_]:
    """Which texts say nothing."""
    import pyarrow.compute as pc

    blank = pc.equal(pc.binary_length(pc.utf8_trim_whitespace(column)), 0).fill_null(True)
    found: NDArray[np.bool_] = blank.to_numpy(zero_copy_only=False)
    return found


def _bad_row(shard: Shard, row: int, values: Mapping[str, object]) -> BadRow:
    """Return what is wrong with a record, in the words of `reelscore.data.checks`."""
    for role, value in values.items():
        if isinstance(value, bytes):
            named = values["item"] if isinstance(values["item"], str) else None
            return BadRow(shard.shown, row, named, f"the {role} is not UTF-8")
    item, caption = values["item"], values["caption"]
    shown = str(item) if isinstance(item, (str, int)) else None
    if fault := id_fault(item):
        return BadRow(shard.shown, row, None, f"the item id {fault}")
    if SYSTEM in values and (fault := id_fault(values[SYSTEM])):
        return BadRow(shard.shown, row, shown, f"the system {fault}")
    captions = caption if isinstance(caption, list) else [caption]
    if not captions:
        return BadRow(shard.shown, row, shown, "there is no caption")
    if shard.role == "candidates" and len(captions) > 1:
        reason = f"{len(captions)} captions; a system gives one caption per item"
        return BadRow(shard.shown, row, shown, reason)
    faults = [fault for fault in map(text_fault, captions) if fault]
    if faults and len(captions) == 1:
        reason = candidate_fault(item, captions[0]) or ""
    else:
        reason = f"a caption {faults[0]}" if faults else "a caption cannot be read"
    return BadRow(shard.shown, row, shown, reason)


# JSON Lines


def _line_blocks(shard: Shard, bad: BadRows) -> Iterator[pa.Table]:
    import numpy as np

    with Source(shard.path, shard.reading.encoding) as source:
        names = list(get_format("jsonl").fields(source, shard.reading))
        columns = _columns(shard, names)
        decoder = _decoder(columns)
        lines = source.lines()
        while batch := list(islice(lines, _BLOCK)):
            rows = np.arange(batch[0][0], batch[0][0] + len(batch))
            values = _decoded_lines(decoder, batch)
            if values is None:  # something is wrong: line by line, to say where
                usable, values = _single_records(shard, batch, columns, bad)
                rows = np.array(usable, dtype=np.int64)
            yield checked_block(shard, _arrays(values), rows, bad)


def _decoder(columns: Mapping[str, str]) -> msgspec.json.Decoder[Any]:
    """A decoder for good records: ids that are texts or integers, captions that are texts."""
    kinds: dict[str, Any] = {"item": str | int, "caption": str | list[str], SYSTEM: str | int}
    fields: list[Any] = [(role, kinds[role]) for role in columns if role in kinds]
    if _SPLIT in columns:
        fields.append((_SPLIT, Any, None))
    record = msgspec.defstruct("Record", fields, rename=dict(columns))
    return msgspec.json.Decoder(record)


def _decoded_lines(
    decoder: msgspec.json.Decoder[Any], batch: Sequence[tuple[int, bytes]]
) -> dict[str, list[object]] | None:
    """The columns of lines, or ``None`` if one of them is not as it should be."""
    if any(line.isspace() for _, line in batch):
        return None
    try:
        records = decoder.decode_lines(b"".join(line for _, line in batch))
    except (msgspec.MsgspecError, UnicodeDecodeError):
        return None
    if len(records) != len(batch):
        return None
    names = decoder.type.__struct_fields__
    return {name: [getattr(record, name) for record in records] for name in names}


def _single_records(
    shard: Shard, batch: Sequence[tuple[int, bytes]], columns: Mapping[str, str], bad: BadRows
) -> tuple[list[int], dict[str, list[object]]]:
    """The numbers of the lines that can be used, and their columns."""
    usable = []
    good: dict[str, list[object]] = {role: [] for role in columns}
    for number, line in batch:
        if line.isspace():
            continue
        try:
            record = decode_json_line(line, shard.path, number)
        except DataError as error:
            reason = str(error).removeprefix(shard.path).partition(": ")[2].removesuffix(".")
            bad.add(BadRow(shard.path, number, None, reason))
            continue
        if not isinstance(record, dict):
            bad.add(BadRow(shard.path, number, None, "not an object with fields"))
            continue
        values = {role: record.get(name) for role, name in columns.items()}
        fault = id_fault(values["item"]) or (SYSTEM in values and id_fault(values[SYSTEM]))
        captions = values["caption"] if isinstance(values["caption"], list) else [values["caption"]]
        if fault or any(map(text_fault, captions)):
            bad.add(_bad_row(shard, number, values))
            continue
        usable.append(number)
        for role, value in values.items():
            good[role].append(value)
    return usable, good


def _arrays(values: Mapping[str, list[object]]) -> Arrays:
    import pyarrow as pa

    arrays = {}
    for role, column in values.items():
        if role == "caption":
            if any(type(value) is list for value in column):
                lists = [value if type(value) is list else [value] for value in column]
                arrays[role] = pa.array(lists, pa.list_(pa.string()))
            else:
                arrays[role] = pa.array(column, pa.string())
        elif role == _SPLIT:
            parts = [str(value) if type(value) in (str, int) else None for value in column]
            arrays[role] = pa.array(parts, pa.string())
        else:
            texts = [value if type(value) is str else str(value) for value in column]
            arrays[role] = pa.array(texts, pa.string())
    return arrays
