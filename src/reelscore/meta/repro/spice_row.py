"""The SPICE row in Tables 2 and 4 of the BERTHA paper, and the two errors in it.

The official tool's counts for every caption judged by several people (MA) are kept beside the
printed tables: correct tuples, tuples of the candidate, tuples of the reference (HUMAN-B, text as
it was written), once for the captions one line off that the paper used, once for the right ones.

The printed row comes out if, besides the line shift, the scores are paired with the judgments in
another order. pycocoevalcap returns the scores of SPICE in the order of sorted ids, those of its
other metrics in the order given: rows numbered "1", "2", … "1540" come back as "1", "10", "100", …
"""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from importlib.resources import as_file, files
from pathlib import Path

import numpy as np

from reelscore.data.datasets.trecvid_ha import Assessment
from reelscore.metrics.base import FloatArray
from reelscore.metrics.spice import TupleScore

_FILE = "bertha_spice.npz"


def official_scores(data: Assessment) -> FloatArray | None:
    """The official tool's scores of a folder's judged captions, in the order of its file.

    Args:
        data: A folder of judgments by several people.

    Returns:
        The scores; ``None`` for other data than those they were made of.
    """
    with (
        as_file(files("reelscore.meta.published").joinpath(_FILE)) as path,
        np.load(path, allow_pickle=False) as stored,
    ):
        name = f"{data.folder}|{data.reading}"
        if name not in stored or stored[f"{name}|rows"].tobytes() != _fingerprint(data.rows):
            return None
        counts = stored[name].tolist()
    return np.array([TupleScore.of(*row).f for row in counts])


def in_string_order(scores: FloatArray) -> FloatArray:
    """Scores as they come back for rows numbered from 1, the numbers sorted as strings.

    >>> in_string_order(np.arange(1.0, 13.0)).astype(int).tolist()
    [1, 10, 11, 12, 2, 3, 4, 5, 6, 7, 8, 9]
    """
    return scores[sorted(range(len(scores)), key=lambda row: str(row + 1))]


def by_system_and_item(data: Assessment, scores: FloatArray) -> FloatArray:
    """Bring scores from the order of the file into that of `reelscore.meta.judged.Judged`."""
    of_row = dict(zip(data.rows, scores.tolist(), strict=True))
    return np.array(
        [
            of_row[system, item]
            for system in data.human.systems
            for item in data.human[system]["z"].items
        ]
    )


def write_counts(
    path: str | Path, counts: Sequence[tuple[Assessment, Sequence[Sequence[int]]]]
) -> None:
    """Keep counts of the official tool, a row for each of a folder's judged captions.

    Args:
        path: The file to write.
        counts: Folders; and correct, candidate's and reference's tuples by row of the file.
    """
    arrays = {}
    for data, rows in counts:
        name = f"{data.folder}|{data.reading}"
        arrays[name] = np.array(rows, dtype=np.uint8)
        arrays[f"{name}|rows"] = np.frombuffer(_fingerprint(data.rows), dtype=np.uint8)
    np.savez_compressed(path, **arrays)  # type: ignore[arg-type]


def _fingerprint(rows: Sequence[tuple[str, str]]) -> bytes:
    return hashlib.blake2b(repr(list(rows)).encode(), digest_size=8).digest()
