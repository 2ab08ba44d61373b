"""Document frequencies in a file, so that CIDEr of small or different sets can be compared."""

from __future__ import annotations

from itertools import pairwise
from pathlib import Path

import msgspec

from reelscore.data.atomic_files import write_atomically
from reelscore.data.captions.inputs import references_by_item
from reelscore.data.captions.paired_captions import lone_references
from reelscore.data.captions.python_captions import CaptionsLike
from reelscore.errors import DataError
from reelscore.text.tokens import Tokenizer, tokenize_packed
from reelscore.text.words import pack


class FrequencyFile(msgspec.Struct):
    """Document frequencies as stored: JSON with these two fields."""

    documents: int
    frequencies: dict[str, float]


def read_frequencies(path: str | Path) -> FrequencyFile:
    """Read document frequencies from JSON: ``{"documents": 2, "frequencies": {"a man": 1}}``.

    Args:
        path: The file.
    """
    try:
        stored = msgspec.json.decode(Path(path).read_bytes(), type=FrequencyFile)
    except OSError as error:
        raise DataError(f"{path}: cannot be read ({error.strerror}).") from error
    except msgspec.DecodeError as error:
        raise DataError(
            f"{path}: not a file of document frequencies: {error}. "
            "Expected JSON with 'documents' and 'frequencies', as write_frequencies makes it."
        ) from error
    return stored


def write_frequencies(
    path: str | Path,
    references: CaptionsLike,
    *,
    n: int = 4,
    tokenizer: Tokenizer = "ptb",
) -> None:
    """Count in how many items' references each n-gram stands, and store it for `Cider`.

    Args:
        path: The JSON file to write.
        references: The references of each item, in any form of `reelscore.score` that has ids.
        n: The longest n-grams to count, in words.
        tokenizer: As in `reelscore.score`.

    >>> import tempfile
    >>> path = Path(tempfile.mkdtemp()) / "df.json"
    >>> write_frequencies(path, {"v1": ["a man", "a boy"], "v2": ["a dog"]}, n=1)
    >>> read_frequencies(path).frequencies
    {'a': 2.0, 'man': 1.0, 'boy': 1.0, 'dog': 1.0}
    """
    counts: dict[str, float] = {}
    checked = lone_references(references_by_item(references), empty="zero")
    tokenized = tokenize_packed(pack(checked.references), tokenizer).unpack()
    for begin, end in pairwise(checked.reference_offsets):
        tokens = [text.split() for text in tokenized[begin:end]]
        # a dict, not a set: the order of the file must not depend on string hashing
        ngrams = dict.fromkeys(
            " ".join(words[k : k + order])
            for words in tokens
            for order in range(1, n + 1)
            for k in range(len(words) - order + 1)
        )
        for ngram in ngrams:
            counts[ngram] = counts.get(ngram, 0.0) + 1.0
    stored = FrequencyFile(documents=len(checked), frequencies=counts)
    write_atomically(path, msgspec.json.encode(stored).decode())
