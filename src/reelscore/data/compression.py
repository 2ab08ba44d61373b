"""Compressed files, known by their first bytes: gzip, xz and Zstandard.

The modules are imported on use, for `import reelscore` is quick.
"""

from __future__ import annotations

import io
from collections.abc import Callable
from typing import IO, cast

from reelscore.errors import MissingExtraError

# Small, because four kilobytes of Zstandard can already unfold to a hundred megabytes.
_ZSTD_PIECE = 4096

# What reading may raise.
Damage = tuple[type[Exception], ...]
NOT_COMPRESSED: Damage = (OSError,)


def decompressed(stream: io.BufferedReader) -> tuple[io.BufferedReader, Damage]:
    """Wrap a stream if its first bytes are those of a compressed file.

    Returns:
        The stream to read from, and the exceptions that reading it may raise.
    """
    magic = stream.peek(6)
    for beginning, wrap in _WRAPPERS.items():
        if magic.startswith(beginning):
            inner, damage = wrap(stream)
            return io.BufferedReader(cast(io.RawIOBase, inner), 1 << 16), damage
    return stream, NOT_COMPRESSED


def _gzip(stream: io.BufferedReader) -> tuple[object, Damage]:
    import gzip
    import zlib

    return gzip.GzipFile(fileobj=stream), (OSError, EOFError, zlib.error)


def _xz(stream: io.BufferedReader) -> tuple[object, Damage]:
    import lzma

    return lzma.LZMAFile(stream), (OSError, EOFError, lzma.LZMAError)


def _zstd(stream: io.BufferedReader) -> tuple[object, Damage]:
    try:
        import zstandard
    except ImportError:
        raise MissingExtraError(
            "Reading .zst files needs zstandard. Install it: pip install 'reelscore[zstd]'."
        ) from None
    return _ZstdReader(stream), (OSError, EOFError, zstandard.ZstdError)


class _ZstdReader(io.RawIOBase):
    """Zstandard frames as one stream; zstandard's own reader takes a truncated file for a whole."""

    def __init__(self, stream: IO[bytes]) -> None:
        from zstandard import ZstdDecompressor

        self._stream = stream
        # The default refuses the large windows of `zstd --long=31`.
        self._frames = ZstdDecompressor(max_window_size=1 << 31)
        self._frame = self._frames.decompressobj()
        self._left = b""  # compressed, belongs to the next frame
        self._ready = memoryview(b"")
        self._between_frames = False

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: memoryview) -> int:  # type: ignore[override]
        while not self._ready:
            piece = self._left or self._stream.read(_ZSTD_PIECE)
            if not piece:
                if self._between_frames:
                    return 0
                raise EOFError("the file ends before its last frame does")
            if self._between_frames:
                self._frame = self._frames.decompressobj()
            self._ready = memoryview(self._frame.decompress(piece))
            self._left = self._frame.unused_data
            self._between_frames = self._frame.eof
        size = min(len(buffer), len(self._ready))
        buffer[:size] = self._ready[:size]
        self._ready = self._ready[size:]
        return size


_WRAPPERS: dict[bytes, Callable[[io.BufferedReader], tuple[object, Damage]]] = {
    b"\x1f\x8b": _gzip,
    b"\xfd7zXZ\0": _xz,
    b"\x28\xb5\x2f\xfd": _zstd,
}
