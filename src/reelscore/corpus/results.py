"""Results of the steps of a project: what made them, from what, and whether they are still true."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import msgspec

from reelscore._version import __version__
from reelscore.data.atomic_files import write_atomically
from reelscore.errors import DataError

_MIB = 1 << 20


@dataclass(frozen=True)
class InputFile:
    """A file that a result was made from, as it was then.

    Attributes:
        path: Where it was.
        size: Its bytes.
        sha256: The checksum of its first and its last MiB.
    """

    path: str
    size: int
    sha256: str


def fingerprint(path: str | Path, name: str | None = None) -> InputFile:
    """Describe a file as it is now, without reading all of a long one.

    Args:
        path: The file.
        name: How its path is written; as it is if not given.

    Raises:
        DataError: If there is no such file.

    >>> from tempfile import TemporaryDirectory
    >>> with TemporaryDirectory() as folder:
    ...     _ = Path(folder, "a.txt").write_text("sound")
    ...     fingerprint(Path(folder, "a.txt")).size
    5
    """
    file = Path(path)
    if not file.is_file():
        raise DataError(f"{path}: there is no such file.")
    size = file.stat().st_size
    digest = hashlib.sha256()
    with file.open("rb") as stream:
        digest.update(stream.read(_MIB))
        if size > _MIB:
            stream.seek(max(_MIB, size - _MIB))
            digest.update(stream.read(_MIB))
    return InputFile(name or str(path), size, digest.hexdigest())


def origin(
    command: str, parameters: Mapping[str, Any], inputs: Mapping[str, str | Path]
) -> dict[str, Any]:
    """Return what makes a result, and from what: its fields `made_by` and `inputs`.

    Args:
        command: The command.
        parameters: Its options.
        inputs: The files it reads, by how their paths are written.
    """
    made_by = {"command": command, "parameters": dict(parameters), "version": __version__}
    files = [msgspec.to_builtins(fingerprint(path, name)) for name, path in inputs.items()]
    return {"made_by": made_by, "inputs": files}


def is_fresh(result: Mapping[str, Any], wanted: Mapping[str, Any]) -> bool:
    """Return whether a result is what the same command would make now.

    Args:
        result: The result.
        wanted: What would make it now, by `origin`.
    """
    return all(result.get(name) == wanted[name] for name in ("made_by", "inputs"))


def read_result(path: Path) -> dict[str, Any]:
    """Read a result file.

    Args:
        path: The file.

    Raises:
        DataError: If it cannot be read, or is no JSON object.
    """
    try:
        content = msgspec.json.decode(path.read_bytes())
    except OSError as error:
        raise DataError(f"{path}: cannot be read ({error.strerror}).") from None
    except (msgspec.DecodeError, UnicodeDecodeError) as error:
        raise DataError(f"{path}: malformed JSON ({error}); make it again.") from None
    if not isinstance(content, dict):
        raise DataError(f"{path}: expected a JSON object; make it again.")
    return content


def write_result(path: Path, content: Mapping[str, Any]) -> None:
    """Write a result file, all or nothing, so that people can read and compare it.

    Args:
        path: The file.
        content: What it says.
    """
    plain = msgspec.json.format(msgspec.json.encode(content), indent=1)
    write_atomically(path, plain + b"\n")


def is_trusted(result: Mapping[str, Any]) -> bool:
    """Return whether nothing in a result's report speaks against it.

    Args:
        result: What a step gave.

    >>> is_trusted({"report": [{"code": "no-match", "trusted": False}]})
    False
    """
    return all(finding.get("trusted", True) for finding in result.get("report", ()))
