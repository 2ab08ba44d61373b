"""One caption file, open for reading: decompressed, in UTF-8, every failure a clear DataError.

The file ``-`` is standard input.
"""

from __future__ import annotations

import codecs
import io
import os
import sys
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import IO, cast

from reelscore.data.checks import Problems
from reelscore.errors import DataError

STANDARD_INPUT = "-"
PARQUET = b"PAR1"  # a binary format: there is nothing to decode
HEAD_SIZE = 1 << 16
_CHUNK = 1 << 20
# Small, because four kilobytes of Zstandard can already unfold to a hundred megabytes.
_ZSTD_PIECE = 4096
_UTF_16_OR_32 = (codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE, codecs.BOM_UTF32_BE)

# What reading may raise.
Damage = tuple[type[Exception], ...]
NOT_COMPRESSED: Damage = (OSError,)


class EmptyFileError(DataError):
    """There is nothing in a file."""


class Source:
    """A file that is read once, from beginning to end; pipes will do.

    Attributes:
        path: The path as the user wrote it, for messages.
        head: The first bytes of the content, to tell the format by.
    """

    def __init__(
        self,
        path: str | os.PathLike[str],
        encoding: str | None = None,
        content: bytes | None = None,
    ) -> None:
        """Open the file and look at its beginning."""
        is_input = content is None and os.fspath(path) == STANDARD_INPUT
        self.path = "standard input" if is_input else os.fspath(path)
        self._damage = NOT_COMPRESSED
        self._document: bytes | None = None
        with ExitStack() as on_failure, self._failures_explained():
            if content is not None:
                opened = _in_memory(content)
            else:
                opened = _standard_input() if is_input else Path(path).open("rb")  # noqa: SIM115
            file = on_failure.enter_context(opened)
            self._stream, self._damage = decompressed(file)
            is_text = not self._stream.peek(len(PARQUET)).startswith(PARQUET)
            if encoding is not None and is_text:
                text = recoded(self._stream.read(), encoding, self.path)
                self._stream = _in_memory(text)
            self.head = self._stream.read(HEAD_SIZE)
            if is_text:
                self.head = without_mark(self.head, self.path)
            if not self.head:
                raise EmptyFileError(f"{self.path}: the file is empty; expected captions.")
            self._files = on_failure.pop_all()

    def __enter__(self) -> Source:
        """Return the source itself; leaving closes the file."""
        return self

    def __exit__(self, *_: object) -> None:
        """Close the file."""
        self.close()

    def close(self) -> None:
        """Close the file."""
        self._files.close()

    @property
    def is_compressed(self) -> bool:
        """Whether the file is smaller than its content."""
        return self._damage is not NOT_COMPRESSED

    @property
    def is_blank(self) -> bool:
        """Whether there is nothing but blanks and ends of lines."""
        return len(self.head) < HEAD_SIZE and self.head.isspace()

    def lines(self, longest: int = -1) -> Iterator[tuple[int, bytes]]:
        r"""Yield each line with its number from 1 on; only \n ends a line, and it is kept."""
        with self._failures_explained():
            number = 0
            for number, line in enumerate(io.BytesIO(self.head), start=1):
                if not line.endswith(b"\n"):
                    line += self._stream.readline(longest)
                yield number, line if longest < 0 else self._checked(line, number, longest)
            if longest < 0:
                yield from enumerate(self._stream, start=number + 1)
                return
            while line := self._stream.readline(longest):
                number += 1
                yield number, self._checked(line, number, longest)

    def _checked(self, line: bytes, number: int, longest: int) -> bytes:
        if 0 <= longest <= len(line) and not line.endswith(b"\n"):
            raise DataError(
                f"{self.path}:{number}: the line has more than {longest:,} bytes; "
                "is this the right file?"
            )
        return line

    def blocks(self) -> Iterator[bytes]:
        r"""Yield the content in blocks of some tens of kilobytes; all but the last end with \n."""
        with self._failures_explained():
            block = self.head
            while block:
                yield block if block.endswith(b"\n") else block + self._stream.readline()
                block = self._stream.read(HEAD_SIZE)

    def document(self) -> bytes:
        """Read the whole content; after that there are no lines to be read."""
        if self._document is None:
            with self._failures_explained():
                self._document = self.head + self._stream.read()
        return self._document

    @contextmanager
    def _failures_explained(self) -> Iterator[None]:
        try:
            yield
        except FileNotFoundError:
            raise DataError(f"{self.path}: no such file.") from None
        except IsADirectoryError:
            raise DataError(f"{self.path}: is a folder; name a file in it.") from None
        except PermissionError:
            raise DataError(f"{self.path}: permission denied; make it readable first.") from None
        except self._damage as error:
            damaged = "the compressed file is damaged or truncated"
            what = damaged if self.is_compressed else "cannot be read"
            raise DataError(f"{self.path}: {what} ({error}).") from None


_input_read: tuple[object, bytes] = (None, b"")


def _standard_input() -> io.BufferedReader:
    """Standard input from its beginning: a file of candidates and references is read twice."""
    global _input_read
    if _input_read[0] is not sys.stdin:
        _input_read = (sys.stdin, sys.stdin.buffer.read())
    return _in_memory(_input_read[1])


def _in_memory(content: bytes) -> io.BufferedReader:
    return io.BufferedReader(cast(io.RawIOBase, io.BytesIO(content)))


def recoded(content: bytes, encoding: str, path: str) -> bytes:
    """Return a text of another encoding as UTF-8; a text that is UTF-8 stays as it is.

    Where files of several encodings are read together, this tells them apart: hardly any text of
    another encoding is valid UTF-8, unless it is ASCII alone.

    >>> recoded("é".encode("cp1252"), "cp1252", "a.txt") == recoded("é".encode(), "cp1252", "b.txt")
    True
    """
    is_wide = codecs.lookup(encoding).name.startswith(("utf-16", "utf-32"))
    if b"\0" not in content and (is_wide or not content.isascii()):
        try:
            content.decode()
        except UnicodeDecodeError:
            pass
        else:
            return content
    try:
        return content.decode(encoding).encode()
    except UnicodeError as error:
        raise DataError(
            f"{path}: the text is neither UTF-8 nor {encoding} ({error}). Name the encoding it "
            "was written in."
        ) from None


# Compression: gzip, xz and Zstandard, recognised by their first bytes. The modules are imported
# when they are used: most files are not compressed.


def decompressed(stream: io.BufferedReader) -> tuple[io.BufferedReader, Damage]:
    """Wrap a stream if its first bytes are those of a compressed file."""
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
    from reelscore._packages import need

    zstandard = need("zstandard", "reelscore[files]", "Reading .zst files needs")
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


# UTF-8 and nothing else, with the line and byte of whatever is not


def without_mark(head: bytes, path: str) -> bytes:
    r"""Drop the UTF-8 byte-order mark from the beginning of a file, and refuse UTF-16 and UTF-32.

    >>> without_mark(b"\xef\xbb\xbfa man", "run.txt")
    b'a man'
    """
    if head.startswith(_UTF_16_OR_32) or _is_unmarked_utf_16(head):
        raise DataError(
            f"{path}: the text is UTF-16 or UTF-32; expected UTF-8. "
            f"Convert it: iconv -f UTF-16 -t UTF-8 {path} > converted; "
            'a file of captions may stay as it is: encoding="utf-16".'
        )
    return head.removeprefix(codecs.BOM_UTF8)


def _is_unmarked_utf_16(head: bytes) -> bool:
    # In Western text every second byte is zero, either the even ones or the odd ones.
    if b"\0" not in head:
        return False
    even, odd = head[::2].count(0), head[1::2].count(0)
    return (even == 0) != (odd == 0) and even + odd > len(head) / 3


def decode_line(line: bytes, path: str, number: int) -> str:
    """Decode one line of a file.

    >>> decode_line(b"a man", "run.txt", 3)
    'a man'
    """
    try:
        return line.decode()
    except UnicodeDecodeError as error:
        raise DataError(
            f"{path}:{number}: invalid UTF-8: byte {line[error.start]:#04x} "
            f"at byte {error.start + 1} of the line."
        ) from None


def check_document(document: bytes, path: str) -> None:
    """Raise one DataError that counts the lines with invalid UTF-8, if there are any.

    The text is never held whole: one emoji would make it four bytes a character.
    """
    decoder = codecs.getincrementaldecoder("utf-8")()
    try:
        for start in range(0, len(document), _CHUNK):
            decoder.decode(document[start : start + _CHUNK])
        decoder.decode(b"", final=True)
    except UnicodeDecodeError:
        problems = Problems(path)
        for number, line in enumerate(document.split(b"\n"), start=1):
            try:
                decode_line(line, path, number)
            except DataError as error:
                problems.add(str(error))
        problems.raise_if_any()


def read_lines(path: str | os.PathLike[str] | None) -> list[str] | None:
    """Read a list with one name a line; ``None`` where no file is named."""
    if path is None:
        return None
    try:
        text = Path(path).read_text(encoding="utf-8")
    except FileNotFoundError:
        raise DataError(f"{path}: no such file.") from None
    except (OSError, UnicodeDecodeError) as error:
        reason = getattr(error, "strerror", None) or error
        raise DataError(f"{path}: cannot be read: {reason}.") from error
    return [line.strip() for line in text.splitlines() if line.strip()]
