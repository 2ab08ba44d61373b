"""Compressed files: known by content, and damaged ones refused."""

from __future__ import annotations

import gzip
import lzma
import random
import sys
from collections.abc import Callable
from pathlib import Path

import pytest
import zstandard

from reelscore.data import read_candidates
from reelscore.errors import DataError, MissingExtraError

COMPRESS: dict[str, Callable[[bytes], bytes]] = {
    "gz": gzip.compress,
    "xz": lzma.compress,
    # As the zstd command does; without a checksum altered bytes may go unnoticed.
    "zst": zstandard.ZstdCompressor(write_checksum=True).compress,
}
LINES = [f"caption {random.Random(number).random()}" for number in range(20_000)]
CONTENT = "".join(line + "\n" for line in LINES).encode()
AS_JSON = b'{"v1": "' + CONTENT.replace(b"\n", b" ") + b'"}'


@pytest.mark.parametrize("kind", COMPRESS)
def test_name_does_not_matter(tmp_path: Path, kind: str) -> None:
    path = tmp_path / "run.txt"
    path.write_bytes(COMPRESS[kind](CONTENT))
    assert list(read_candidates(path).values()) == LINES


@pytest.mark.parametrize("kind", COMPRESS)
def test_files_put_one_after_the_other(tmp_path: Path, kind: str) -> None:
    path = tmp_path / "run.txt"
    path.write_bytes(COMPRESS[kind](CONTENT) + COMPRESS[kind](b"and one more"))
    assert list(read_candidates(path).values()) == [*LINES, "and one more"]


@pytest.mark.parametrize("content", [CONTENT, AS_JSON], ids=["lines", "json"])
@pytest.mark.parametrize("kind", COMPRESS)
def test_damaged(tmp_path: Path, kind: str, content: bytes) -> None:
    whole = COMPRESS[kind](content)
    path = tmp_path / "run"
    half = len(whole) // 2
    for damaged in (
        whole[:half],
        whole[:-1],
        whole[:10],
        whole[:half] + bytes(200) + whole[half + 200 :],
        *([] if kind == "xz" else [whole + b"rubbish"]),  # lzma passes over what follows
    ):
        path.write_bytes(damaged)
        with pytest.raises(DataError, match="damaged or truncated") as caught:
            read_candidates(path)
        assert str(caught.value).startswith(str(path))


@pytest.mark.parametrize("kind", COMPRESS)
def test_compressed_nothing(tmp_path: Path, kind: str) -> None:
    path = tmp_path / "run"
    path.write_bytes(COMPRESS[kind](b""))
    with pytest.raises(DataError, match="the file is empty"):
        read_candidates(path)


def test_without_zstandard(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "run.zst"
    path.write_bytes(zstandard.compress(CONTENT))
    monkeypatch.setitem(sys.modules, "zstandard", None)
    with pytest.raises(MissingExtraError, match=r"pip install 'reelscore\[files\]'"):
        read_candidates(path)
