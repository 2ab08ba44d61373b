"""Answers to the tasks of the LSMDC challenges, read from their own files.

What is read becomes items with one text each, as the metric `right_answers` takes them: so they are
scored, resampled and compared as captions are.

- Answers: a line an item, its id and the answer with a tab or a comma between them, or a JSON
  object. ``[25, 26]`` and
  ``[ann],[bob]`` are two answers of one clip, ``_`` is none.
- Sets: a line a set, the ids of its clips with tabs between them.
- Similarity: a matrix as NumPy file or text, a row a sentence, a column a clip, high is similar.
"""

from __future__ import annotations

import json
import os
import re
from collections.abc import Iterator, Mapping
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from reelscore.data.checks import counted
from reelscore.errors import DataError

PathLike = str | os.PathLike[str]
Texts = dict[str, str]
_LINE = re.compile(r"([^\t]+?)\s*\t\s*(.*)|([^,]+?)\s*,\s*(.*)")


def read_answers(path: PathLike) -> Texts:
    r"""Read answers by item; several of one item have blanks between them.

    Raises:
        DataError: With the line that is wrong.
    """
    text = _read(path)
    if text.lstrip().startswith("{"):
        try:
            rows = [(str(number), *pair) for number, pair in enumerate(json.loads(text).items(), 1)]
        except ValueError as error:
            raise DataError(f"{path}: not JSON: {error}.") from None
    else:
        rows = list(_lines(path, text))
    answers: Texts = {}
    for place, item, answer in rows:
        if item in answers:
            raise DataError(f"{path}:{place}: {item!r} has an answer already; give each item one.")
        answers[item] = _plain(answer)
    if not answers:
        raise DataError(f"{path}: holds no answers; expected an id, a tab and an answer a line.")
    return answers


def _lines(path: PathLike, text: str) -> Iterator[tuple[str, str, object]]:
    for number, line in enumerate(text.splitlines(), start=1):
        if not line.strip():
            continue
        parts = _LINE.fullmatch(line.strip())
        if parts is None:
            raise DataError(
                f"{path}:{number}: {line[:60]!r} has no answer; expected an id, a tab and an "
                "answer, such as 'clip1<tab>3'."
            )
        yield str(number), parts[1] or parts[3], parts[2] if parts[1] else parts[4]


def _plain(answer: object) -> str:
    if isinstance(answer, list):
        return " ".join(map(str, answer))
    text = str(answer).strip()
    if text.startswith("[") and text.endswith("]"):
        parts = (part.strip(" []'\"") for part in text.split(","))
        return " ".join(filter(None, parts))
    return "" if text == "_" else text


def _read(path: PathLike) -> str:
    try:
        return Path(path).read_text(encoding="utf-8-sig")
    except FileNotFoundError:
        raise DataError(f"{path}: no such file.") from None
    except (OSError, UnicodeDecodeError) as error:
        raise DataError(f"{path}: cannot be read as text: {error}.") from None


def character_sets(path: PathLike, answers: Mapping[str, str], sets: PathLike) -> Texts:
    """Put the identities of each set of clips together; sets with fewer than two are left out.

    Args:
        path: The file of the answers, for messages.
        answers: The identities of each clip.
        sets: The file of sets.

    Raises:
        DataError: If a clip of a set has no answer.
    """
    joined: Texts = {}
    for number, line in enumerate(_read(sets).splitlines(), start=1):
        clips = line.split()
        missing = [clip for clip in clips if clip not in answers]
        if missing:
            raise DataError(f"{path}: has no clip {missing[0]!r}, which is in {sets}:{number}.")
        people = " ".join(filter(None, (answers[clip] for clip in clips)))
        if len(people.split()) > 1:
            if clips[0] in joined:
                raise DataError(f"{sets}:{number}: a set before begins with {clips[0]!r}, too.")
            joined[clips[0]] = people
    if not joined:
        raise DataError(f"{sets}: no set has two blanks; expected the clips of a set on each line.")
    return joined


def of_blanks(path: PathLike, answers: Mapping[str, str], blanks: Mapping[str, str]) -> Texts:
    """Return the answers of clips that have blanks; what is said of others does not count.

    Args:
        path: The file of the answers, for messages.
        answers: The identities of each clip.
        blanks: The right ones, which tell how many blanks each clip has.

    Raises:
        DataError: If a clip has more or fewer identities than blanks.
    """
    kept = {clip: answers.get(clip, "") if text else "" for clip, text in blanks.items()}
    wrong = [clip for clip in kept if len(kept[clip].split()) != len(blanks[clip].split())]
    if wrong:
        told = counted(len(kept[wrong[0]].split()), "identity", "identities")
        wanted, clips = counted(len(blanks[wrong[0]].split()), "blank"), counted(len(wrong), "clip")
        raise DataError(
            f"{path}: {wrong[0]!r} has {told} for {wanted} ({clips} in all). Name one for each "
            "blank, in order."
        )
    return kept


def read_similarity(path: PathLike) -> NDArray[np.float64]:
    """Read a matrix of similarities: a .npy file, or numbers with commas, tabs or blanks."""
    try:
        if str(path).endswith(".npy"):
            matrix = np.load(path, allow_pickle=False)
        else:
            rows = [re.split(r"[,\s]+", line.strip()) for line in _read(path).splitlines() if line]
            matrix = np.array(rows, dtype=np.float64)
    except FileNotFoundError:
        raise DataError(f"{path}: no such file.") from None
    except (ValueError, OSError, EOFError) as error:
        raise DataError(f"{path}: not a matrix of numbers: {error}.") from None
    if matrix.ndim != 2 or not matrix.size or not np.issubdtype(matrix.dtype, np.number):
        raise DataError(f"{path}: has shape {matrix.shape}; expected sentences × clips.")
    if not np.isfinite(matrix).all():
        row, column = np.argwhere(~np.isfinite(matrix))[0] + 1
        raise DataError(f"{path}: row {row}, column {column} is {matrix[row - 1, column - 1]}.")
    return np.asarray(matrix, dtype=np.float64)


def rankings(similarity: NDArray[np.float64], right: NDArray[np.int64] | None = None) -> Texts:
    """List the clips for each sentence, best first, all by number from 1.

    Args:
        similarity: Sentences × clips.
        right: The right clip of each sentence, from 0: of equal ones it comes last, so that equal
            similarities gain nothing.

    >>> rankings(np.array([[0.1, 0.9], [0.5, 0.5]]), np.array([0, 1]))
    {'1': '2 1', '2': '1 2'}
    """
    last = np.zeros(similarity.shape)
    if right is not None:
        last[np.arange(len(right)), right] = 1.0
    order = np.lexsort((last, -similarity), axis=-1) + 1
    return {str(k): " ".join(map(str, row)) for k, row in enumerate(order.tolist(), start=1)}
