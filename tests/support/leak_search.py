"""A search for marked words and numbers in whatever a server sends, what is wrapped included."""

from __future__ import annotations

import base64
import bz2
import gzip
import html
import io
import lzma
import re
import struct
import zipfile
import zlib
from urllib.parse import unquote_to_bytes

_DEEPEST = 4  # wrappings around one another
# what opening something says that is no archive, or a broken one
_NO_ARCHIVE = (
    *(OSError, EOFError, ValueError, RuntimeError, struct.error),
    *(zipfile.BadZipFile, zlib.error, lzma.LZMAError),
)


def text_mark(text):
    """What a word looks like in bytes."""
    return (text.encode(),)


def number_mark(value):
    """What a number looks like: as text with ten characters, and as NumPy stores it."""
    return (repr(float(value))[:10].encode(), struct.pack("<d", value))


def unwrapped(content, depth=0):
    """Give some bytes, and all that can be made of them: unpacked, decoded, unescaped."""
    yield content
    if depth == _DEEPEST:
        return
    for inner in (*_unpacked(content), *_decoded(content)):
        yield from unwrapped(inner, depth + 1)


def _unpacked(content):
    """What is in an archive, or in a compressed stream that begins here."""
    if content[:2] == b"PK":
        try:
            with zipfile.ZipFile(io.BytesIO(content)) as archive:
                for entry in archive.infolist():
                    yield entry.filename.encode()
                    yield archive.read(entry)
        except _NO_ARCHIVE:
            pass
    streams = {
        b"\x1f\x8b": gzip.decompress,
        b"BZh": bz2.decompress,
        b"\xfd7zXZ": lzma.decompress,
        b"\x78": zlib.decompress,
    }
    for magic, opened in streams.items():
        if content.startswith(magic):
            try:
                yield opened(content)
            except _NO_ARCHIVE:
                continue


def _decoded(content):
    """What is written in base64, with percent signs or as entities."""
    for word in re.findall(rb"[A-Za-z0-9+/_-]{24,}={0,2}", content):
        plain = word.translate(bytes.maketrans(b"-_", b"+/")).rstrip(b"=")
        try:
            inner = base64.b64decode(plain + b"=" * (-len(plain) % 4))
        except ValueError:
            continue
        yield inner
        try:  # a stream without a header
            yield zlib.decompress(inner, -15)
        except zlib.error:
            continue
    if b"%" in content:
        plain = unquote_to_bytes(content)
        if plain != content:
            yield plain
    if re.search(rb"&#?\w+;", content):
        plain = html.unescape(content.decode("latin-1")).encode("latin-1", "replace")
        if plain != content:
            yield plain


def marks_in(content, marks):
    """Give the names of the marks that are somewhere in some bytes.

    Args:
        content: What was sent.
        marks: Patterns of bytes by name.
    """
    found = set()
    for part in unwrapped(content):
        for name, patterns in marks.items():
            if name not in found and any(pattern in part for pattern in patterns):
                found.add(name)
    return found


def reply_content(reply):
    """Give all of a reply: headers, then the body."""
    head = "\n".join(f"{name}: {value}" for name, value in reply.headers.items())
    return head.encode() + b"\n\n", reply.content
