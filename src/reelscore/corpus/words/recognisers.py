"""Recognisers of speech: a server, a Whisper model in a folder, or any command.

Each gets a passage as a WAV file (16 kHz, mono) and answers as servers of OpenAI's protocol do:
JSON with `text`, and where it knows them `segments` and `words` with their times; or plain text.
"""

from __future__ import annotations

import hashlib
import io
import shlex
import subprocess
from collections.abc import Callable
from pathlib import Path
from tempfile import TemporaryDirectory

import msgspec

from reelscore._packages import need
from reelscore.data.atomic_files import write_atomically
from reelscore.endpoint.chat import Endpoint
from reelscore.errors import DataError

Recogniser = Callable[[bytes], str]


def open_recogniser(
    where: str, *, model: str | None = None, language: str | None = None
) -> Recogniser:
    """Open a recogniser: the address of a server, a folder with a model, or else a command.

    >>> open_recogniser("cat")(b"A man waves.")
    'A man waves.'
    """
    if where.startswith(("http://", "https://")):
        server = Endpoint.from_environment(where)
        return lambda sound: server.transcribe(sound, model or "whisper-1", language)
    if Path(where).is_dir():
        return _whisper(where, language)
    return _command(where)


def remembered(hear: Recogniser, folder: Path, key: str) -> Recogniser:
    """Keep answers in a folder, so that work that was interrupted goes on where it was."""
    folder.mkdir(parents=True, exist_ok=True)

    def answer(sound: bytes) -> str:
        name = hashlib.sha256(key.encode() + b"\0" + sound).hexdigest()
        file = folder / name[:32]
        if not file.exists():
            write_atomically(file, hear(sound))
        return file.read_text(encoding="utf-8")

    return answer


def _whisper(folder: str, language: str | None) -> Recogniser:
    package = need("faster_whisper", "faster-whisper", "Whisper models in folders need")
    try:
        model = package.WhisperModel(folder, local_files_only=True)
    except (RuntimeError, ValueError, OSError) as error:
        raise DataError(
            f"{folder}: no model that faster-whisper can open ({error}); expected a Whisper model "
            "in CTranslate2's form."
        ) from None

    def hear(sound: bytes) -> str:
        parts, _ = model.transcribe(io.BytesIO(sound), language=language, word_timestamps=True)
        # the model's records have the names that recognisers write; its numbers are numpy's
        return msgspec.json.encode({"segments": list(parts)}, enc_hook=float).decode()

    return hear


def _command(command: str) -> Recogniser:
    try:
        words = shlex.split(command)
    except ValueError as error:
        raise DataError(f"--recogniser {command!r}: not a command ({error}).") from None

    def hear(sound: bytes) -> str:
        with TemporaryDirectory() as folder:
            file = Path(folder, "passage.wav")
            file.write_bytes(sound)
            call = [word.replace("{}", str(file)) for word in words]
            try:
                done = subprocess.run(
                    call if call != words else [*words, str(file)],
                    capture_output=True,
                    encoding="utf-8",
                    errors="replace",
                    stdin=subprocess.DEVNULL,
                    check=False,
                )
            except OSError as error:
                raise DataError(
                    f"--recogniser {command!r}: neither a folder nor a command that runs "
                    f"({error.strerror}); expected an address, a folder or a command."
                ) from None
        if done.returncode:
            said = done.stderr.strip().splitlines()[-1:] or ["it said nothing"]
            raise DataError(f"{command!r} ended with status {done.returncode}: {said[0]}")
        return done.stdout

    return hear
