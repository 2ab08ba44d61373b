"""A journal of answers: a line for each, added as it comes, so that a killed run loses nothing."""

from __future__ import annotations

import os
import threading
from collections.abc import Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, suppress
from pathlib import Path
from typing import IO, TYPE_CHECKING, Any

import msgspec

from reelscore._records import resolved
from reelscore.data.atomic_files import write_atomically
from reelscore.endpoint.answers import NumberToken
from reelscore.errors import DataError

if TYPE_CHECKING:
    from reelscore.endpoint.chat import ChatReply

_BEGINNING = b'{"key":"'  # of every line


class AnswerRecord(msgspec.Struct, frozen=True, omit_defaults=True):
    """One answer of a model."""

    key: str  # hash of all that decides the answer: model, text, pictures, sampling
    content: str  # the raw answer
    # why it cannot be used; empty where it can. The next run asks such a question again
    fault: str = ""
    finish: str = "stop"  # why the model stopped
    model: str = ""  # the model as the server names it
    fingerprint: str = ""  # the server's name for the state it is in
    tokens_in: int = 0  # tokens of the question
    tokens_out: int = 0  # tokens of the answer
    tries: int = 1  # how many requests it took
    seconds: float = 0.0  # how long it took
    # what the question was about, such as the item; for people who read the journal
    about: Mapping[str, str] = {}
    caption: str = ""  # the answer after its clean-up, where it is a caption
    made_of: Mapping[str, str] = {}  # what the key is a hash of, where a change is to be named
    frames: Sequence[int] = ()  # numbers of the frames that were shown
    times: Sequence[float] = ()  # when these frames are shown, in seconds
    form: str = ""  # the form of answers that the server was asked for
    # the tokens with digits and their chances, where these were asked for
    numbers: Sequence[NumberToken] = ()

    @classmethod
    def of(
        cls, key: str, reply: ChatReply, about: Mapping[str, str], **fields: Any
    ) -> AnswerRecord:
        """Return the record of a reply; further fields as of the class."""
        return cls(
            key,
            reply.content,
            finish="refusal" if reply.refusal else reply.finish,
            model=reply.model,
            fingerprint=reply.fingerprint,
            tokens_in=reply.tokens_in,
            tokens_out=reply.tokens_out,
            tries=reply.tries,
            seconds=round(reply.seconds, 3),
            about=dict(about),
            form=reply.form,
            numbers=reply.numbers or (),
            **fields,
        )


class Journal(AbstractContextManager["Journal"]):
    """Answers in a file, and those of this run added to it.

    Only one run at a time may have it open. A last line that was cut off is removed, if it began as
    lines of a journal do. Where there is no file, one is made.

    Raises:
        DataError: If it cannot be opened, is no journal, or is in use by another run.
    """

    def __init__(self, path: Path) -> None:
        self.path = path
        self.cut_off = False
        self._lock = threading.Lock()
        self._records: dict[str, AnswerRecord] = {}
        self._unread: dict[str, AnswerRecord] = {}
        try:
            path.parent.mkdir(parents=True, exist_ok=True)
            self._file: IO[bytes] = path.open("a+b")
        except OSError as error:
            raise DataError(
                f"{path}: the journal cannot be opened ({error.strerror}); name another file."
            ) from error
        try:
            self._take_alone()
            self._read()
        except BaseException:
            self._file.close()
            raise

    def _take_alone(self) -> None:
        try:
            import fcntl
        except ImportError:  # Windows
            return
        try:
            fcntl.flock(self._file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            raise DataError(
                f"{self.path}: another run is writing to this journal; wait for its end, or name "
                "another journal."
            ) from None
        except OSError:
            return  # a file system without locks

    def _read(self) -> None:
        self._file.seek(0)
        end = 0
        for number, line in enumerate(self._file, start=1):
            whole = line.endswith(b"\n")
            if not whole and _BEGINNING.startswith(line[: len(_BEGINNING)]):
                self.cut_off = True
                break
            end += len(line)
            try:
                if not whole:
                    raise msgspec.DecodeError("it has no end, and another beginning")
                record = msgspec.json.decode(line, type=resolved(AnswerRecord))
            except (msgspec.DecodeError, UnicodeDecodeError) as error:
                raise DataError(
                    f"{self.path}:{number}: not a line of a journal ({error}); name another file, "
                    "or remove the line."
                ) from None
            self._keep(record)
        if self.cut_off:
            self._file.truncate(end)

    def _keep(self, record: AnswerRecord) -> None:
        if not record.fault:
            self._records[record.key] = record
        elif record.finish == "stop" and record.content:
            self._unread[record.key] = record

    def answer(self, key: str) -> AnswerRecord | None:
        """Return the answer to a question, or else its last one that could not be read."""
        return self._records.get(key, self._unread.get(key))

    def __contains__(self, key: str) -> bool:
        return key in self._records

    def __getitem__(self, key: str) -> AnswerRecord:
        return self._records[key]

    def __iter__(self) -> Iterator[AnswerRecord]:
        return iter(self._records.values())

    def add(self, record: AnswerRecord) -> None:
        """Write an answer; it is in the file when this returns.

        Raises:
            DataError: If it cannot be written.
        """
        line = msgspec.json.encode(record) + b"\n"
        with self._lock:
            try:
                self._file.write(line)
                self._file.flush()
            except OSError as error:
                raise DataError(
                    f"{self.path}: the journal cannot be written ({error.strerror}); make room, or "
                    "name another file, and run it again."
                ) from error
            self._keep(record)

    def clear(self) -> None:
        """Begin anew; what the journal held is kept beside it, in a file that ends in ``.old``."""
        with self._lock:
            self._file.seek(0)
            if before := self._file.read():
                write_atomically(self.path.with_name(f"{self.path.name}.old"), before)
            self._file.truncate(0)
            self._records.clear()
            self._unread.clear()

    def close(self) -> None:
        """Write everything to the disk, and let others have the file; an empty one is removed."""
        with suppress(OSError):
            os.fsync(self._file.fileno())
            if not os.fstat(self._file.fileno()).st_size:
                self.path.unlink()
        with suppress(OSError):  # of what could not be written, `add` has told
            self._file.close()

    def __exit__(self, *error: object) -> None:
        self.close()
