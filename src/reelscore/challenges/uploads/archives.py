"""What strangers upload, taken out of its wrapping with care: zip, gzip, xz, Zstandard.

Members of archives are read as streams and counted by what really comes out; nothing is ever
written to a disk, and names are never paths.
"""

from __future__ import annotations

import gzip
import io
import lzma
import stat
import zipfile
import zlib
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from functools import partial
from pathlib import PurePosixPath

from reelscore.errors import DataError, MissingExtraError

LARGEST = 64 << 20  # bytes of all files of an upload, unpacked
MEMBERS = 100
_PIECE = 1 << 16
_WINDOW = 1 << 27  # bytes that a compressor may look back
_ZIP = (b"PK\x03\x04", b"PK\x05\x06", b"PK\x07\x08")
_GZIP, _XZ, _ZSTD = b"\x1f\x8b", b"\xfd7zXZ\0", b"\x28\xb5\x2f\xfd"
_OTHER_ARCHIVES = (b"Rar!", b"7z\xbc\xaf\x27\x1c", b"BZh")
_METHODS = (zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED)
# What CodaLab's and other people's archives hold beside captions.
_PASSED_OVER = ("metadata", "readme", "readme.txt", "readme.md", "desktop.ini", "thumbs.db")


@dataclass
class Unpacked:
    """The files of an upload."""

    files: dict[str, bytes] = field(default_factory=dict)  # their content, by name for messages
    notes: list[str] = field(default_factory=list)  # what was passed over


def unpack(name: str, content: bytes) -> Unpacked:
    """Take the files of an upload out of their wrapping."""
    budget = _Budget()
    if content.startswith(_ZIP):
        return _unzip(name, content, budget)
    return Unpacked({name: _plain(name, content, budget)})


class _Budget:
    """How many bytes may still come out."""

    def __init__(self) -> None:
        self.left = LARGEST

    def take(self, name: str, size: int) -> None:
        self.left -= size
        if self.left < 0:
            raise DataError(
                f"{name}: holds more than {LARGEST >> 20} MB once it is unpacked; send captions "
                "alone."
            )


def _plain(name: str, content: bytes, budget: _Budget) -> bytes:
    """Return the content of a file that may be compressed, once."""
    for magic, pieces in _COMPRESSED.items():
        if content.startswith(magic):
            text = b"".join(_counted(name, pieces(content), budget))
            if text.startswith((*_COMPRESSED, *_ZIP)):
                raise DataError(f"{name}: is packed twice; pack the captions once.")
            return text
    if content.startswith(_OTHER_ARCHIVES) or content[257:262] == b"ustar":
        raise DataError(f"{name}: is an archive of another kind; send a zip, or the file itself.")
    budget.take(name, len(content))
    return content


def _counted(name: str, pieces: Iterator[bytes], budget: _Budget) -> Iterator[bytes]:
    try:
        for piece in pieces:
            budget.take(name, len(piece))
            yield piece
    except (EOFError, OSError, zlib.error, lzma.LZMAError, _zstd_error()) as error:
        said = str(error) or type(error).__name__
        raise DataError(f"{name}: the compressed file is damaged or truncated ({said}).") from None


def _zstd_error() -> type[Exception]:
    try:
        from zstandard import ZstdError
    except ImportError:
        return EOFError
    return ZstdError


def _gzip_pieces(content: bytes) -> Iterator[bytes]:
    return iter(partial(gzip.GzipFile(fileobj=io.BytesIO(content)).read, _PIECE), b"")


def _xz_pieces(content: bytes) -> Iterator[bytes]:
    rest = content
    while rest:
        stream = lzma.LZMADecompressor(lzma.FORMAT_XZ, memlimit=2 * _WINDOW)
        while not stream.eof:
            piece = stream.decompress(rest, _PIECE)
            rest = b""
            if not piece and stream.needs_input:
                raise EOFError("it ends too early")
            yield piece
        rest = stream.unused_data.lstrip(b"\0")


def _zstd_pieces(content: bytes) -> Iterator[bytes]:
    try:
        import zstandard
    except ImportError:
        raise MissingExtraError.of("Zstandard needs zstandard", "reelscore[files]") from None
    rest = content
    while rest:
        frame = zstandard.ZstdDecompressor(max_window_size=_WINDOW).decompressobj()
        # small pieces: a few kilobytes can already unfold to a hundred megabytes
        for begin in range(0, len(rest), 4096):
            yield frame.decompress(rest[begin : begin + 4096])
            if frame.eof:
                rest = frame.unused_data + rest[begin + 4096 :]
                break
        else:
            raise EOFError("it ends too early")


_COMPRESSED: dict[bytes, Callable[[bytes], Iterator[bytes]]] = {
    _GZIP: _gzip_pieces,
    _XZ: _xz_pieces,
    _ZSTD: _zstd_pieces,
}


def _unzip(name: str, content: bytes, budget: _Budget) -> Unpacked:
    try:
        archive = zipfile.ZipFile(io.BytesIO(content))
    except (zipfile.BadZipFile, OSError, ValueError, NotImplementedError) as error:
        raise DataError(f"{name}: the zip is damaged or truncated ({error}).") from None
    members = archive.infolist()
    if len(members) > MEMBERS:
        raise DataError(f"{name}: holds {len(members):,} members; at most {MEMBERS} are taken.")
    unpacked, passed = Unpacked(), []
    for member in members:
        own = f"{name}/{printed_name(member.filename)}"
        if member.is_dir():
            continue
        if is_passed_over(member.filename):
            passed.append(printed_name(member.filename))
            continue
        if stat.S_ISLNK(member.external_attr >> 16):
            raise DataError(f"{own}: is a link; put the file itself into the zip.")
        if member.flag_bits & 1:
            raise DataError(f"{own}: is encrypted; make the zip without a password.")
        if member.compress_type not in _METHODS:
            raise DataError(f"{own}: is packed by an unusual method; make an ordinary zip.")
        if own in unpacked.files:
            raise DataError(f"{own}: is in the zip twice.")
        text = _member(own, archive, member, budget)
        if text.startswith(_ZIP):
            raise DataError(f"{own}: is an archive inside an archive; unpack it first.")
        budget.left += len(text)  # counted once more, as it is after the next unpacking
        unpacked.files[own] = _plain(own, text, budget)
    if passed:
        unpacked.notes.append(f"Passed over in {name}: {', '.join(passed[:5])}.")
    if not unpacked.files:
        raise DataError(f"{name}: the zip holds no caption file.")
    return unpacked


def _member(name: str, archive: zipfile.ZipFile, member: zipfile.ZipInfo, budget: _Budget) -> bytes:
    """Read a member; what its header says about sizes is not believed."""
    pieces: list[bytes] = []
    try:
        with archive.open(member) as stream:
            while piece := stream.read(_PIECE):
                budget.take(name, len(piece))
                pieces.append(piece)
    except (zipfile.BadZipFile, zlib.error, EOFError, OSError, NotImplementedError) as error:
        raise DataError(f"{name}: the zip is damaged or lies about it ({error}).") from None
    return b"".join(pieces)


def is_passed_over(name: str) -> bool:
    """Return whether a member of an archive is what systems and platforms put there by themselves.

    >>> is_passed_over("__MACOSX/._a.json"), is_passed_over("run/a.json")
    (True, False)
    """
    parts = PurePosixPath(name.replace("\\", "/")).parts
    last = parts[-1].lower() if parts else ""
    return "__MACOSX" in parts or last.startswith(".") or last in _PASSED_OVER


def printed_name(name: str) -> str:
    """Return a name for messages: short, and on one line."""
    plain = "".join(char if char.isprintable() else "?" for char in name)
    return plain if len(plain) <= 80 else f"{plain[:77]}…"
