"""UTF-8 and nothing else, with the line and byte of whatever is not."""

from __future__ import annotations

import codecs

from reelscore.data.problems import Problems
from reelscore.errors import DataError

_CHUNK = 1 << 20
_UTF_16_OR_32 = (codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE, codecs.BOM_UTF32_BE)


def without_mark(head: bytes, path: str) -> bytes:
    r"""Drop the UTF-8 byte-order mark from the beginning of a file, and refuse UTF-16 and UTF-32.

    >>> without_mark(b"\xef\xbb\xbfa man", "run.txt")
    b'a man'
    """
    if head.startswith(_UTF_16_OR_32) or _is_unmarked_utf_16(head):
        raise DataError(
            f"{path}: the text is UTF-16 or UTF-32; expected UTF-8. "
            f"Convert it: iconv -f UTF-16 -t UTF-8 {path} > converted"
        )
    return head.removeprefix(codecs.BOM_UTF8)


def _is_unmarked_utf_16(head: bytes) -> bool:
    # In Western text every second byte is zero, either the even ones or the odd ones.
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
