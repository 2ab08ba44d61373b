"""One caption file, open for reading: decompressed, in UTF-8, every mishap a clear DataError."""

from __future__ import annotations

import io
import os
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path
from types import TracebackType

from reelscore.data.compression import NOT_COMPRESSED, decompressed
from reelscore.data.encoding import without_mark
from reelscore.errors import DataError

HEAD_SIZE = 1 << 16


class Source:
    """A file that is read once, from beginning to end; pipes will do.

    Attributes:
        path: The path as the user wrote it, for messages.
        head: The first bytes of the content, to tell the format by.
    """

    def __init__(self, path: str | os.PathLike[str]) -> None:
        """Open the file and look at its beginning.

        Raises:
            DataError: If there is no such file, or it cannot be read, or it is empty.
        """
        self.path = os.fspath(path)
        self._damage = NOT_COMPRESSED
        with ExitStack() as on_failure, self._mishaps_explained():
            file = on_failure.enter_context(Path(path).open("rb"))
            self._stream, self._damage = decompressed(file)
            self.head = without_mark(self._stream.read(HEAD_SIZE), self.path)
            if not self.head:
                raise DataError(f"{self.path}: the file is empty; expected captions.")
            self._files = on_failure.pop_all()

    def __enter__(self) -> Source:
        """Return the source itself; leaving closes the file."""
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        """Close the file."""
        self._files.close()

    def lines(self, longest: int = -1) -> Iterator[tuple[int, bytes]]:
        r"""Yield each line with its number from 1 on; only \n ends a line, and it is kept.

        Args:
            longest: How many bytes a line may have, at most; a longer one is an error, and is
                not read to its end.
        """
        with self._mishaps_explained():
            number = 0
            for number, line in enumerate(io.BytesIO(self.head), start=1):
                if not line.endswith(b"\n"):
                    line += self._stream.readline(longest)
                yield number, self._checked(line, number, longest)
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

    def document(self) -> bytes:
        """Read the whole content."""
        with self._mishaps_explained():
            return self.head + self._stream.read()

    @contextmanager
    def _mishaps_explained(self) -> Iterator[None]:
        try:
            yield
        except FileNotFoundError:
            raise DataError(f"{self.path}: no such file.") from None
        except IsADirectoryError:
            raise DataError(f"{self.path}: is a folder; name a file in it.") from None
        except PermissionError:
            raise DataError(f"{self.path}: permission denied; make it readable first.") from None
        except self._damage as error:
            is_plain = self._damage == NOT_COMPRESSED
            what = "cannot be read" if is_plain else "the compressed file is damaged or truncated"
            raise DataError(f"{self.path}: {what} ({error}).") from None
