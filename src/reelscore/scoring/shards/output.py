"""The folder that scores of many captions go to, and what makes it safe to begin again.

``items/part-*.parquet`` hold the scores of items, ``scores.json`` those of systems, and
``manifest.json`` says what was scored, how, and which parts are done; ``draws.npz`` has the sums of
resamples, where some were drawn. Every file is written aside
and renamed. What is only needed until all parts are done is in ``.work``.
"""

from __future__ import annotations

import hashlib
import io
import os
import shutil
from collections.abc import Mapping, Sequence
from contextlib import suppress
from pathlib import Path

import msgspec
import numpy as np

from reelscore._records import resolved
from reelscore.data.atomic_files import check_own_folder, write_atomically
from reelscore.data.captions.shards import BadRow, Shard
from reelscore.data.tables.table import ScoreTable
from reelscore.errors import DataError
from reelscore.metrics.base import FloatArray
from reelscore.scoring.shards.parts import PartEntry, checksum, part_name

MANIFEST = "manifest.json"
SCORES = "scores.json"
DRAWS = "draws.npz"
_FORMAT = 1


class Origin(msgspec.Struct, frozen=True):
    """What scores are made from: two runs with the same origin give the same scores.

    The names are those of the message that refuses another run.
    """

    version: str
    candidates: str
    references: str
    metrics: list[str]
    settings: list[str]


class ReadRecord(msgspec.Struct, frozen=True):
    """What was found out when the shards were read."""

    systems: list[str]
    fingerprint: int
    captions: int
    references: int
    empty: dict[str, int]
    notes: list[str] = []


class Manifest(msgspec.Struct):
    """What ``manifest.json`` says.

    Of a complete run, results has the checksums of files, and items a number for those of each
    system.
    """

    format: int
    origin: Origin
    partitions: int
    read: ReadRecord | None = None
    parts: list[PartEntry] = []
    bad: list[BadRow] = []
    results: dict[str, str] = {}
    items: dict[str, int] = {}
    complete: bool = False


class Output:
    """A folder of scores: opened for one run at a time, and kept as it is if that fails."""

    def __init__(self, folder: Path, origin: Origin, partitions: int) -> None:
        self.folder = folder
        self.items = folder / "items"
        self.work = folder / ".work"
        _kept(folder, origin)
        self._is_new = not folder.exists()
        try:
            self.work.mkdir(parents=True, exist_ok=True)
            self._lock = _locked(folder)
        except OSError as error:
            raise DataError(f"{folder}: cannot be written: {error.strerror}.") from None
        stored = _kept(folder, origin)  # as it is now that no other run writes to it
        if stored is not None and stored.complete and not self._is_whole(stored):
            stored = None
        self.manifest = stored or Manifest(_FORMAT, origin, partitions)
        try:
            self._tidy()
            self._write_manifest()
            for made in (self.items, self.split, self.sums):
                made.mkdir(exist_ok=True)
        except (DataError, OSError):
            self.close()
            raise

    def _tidy(self) -> None:
        """Remove what a run that was killed left behind, but for its parts."""
        self._drop_lost_parts()
        shutil.rmtree(self.split, ignore_errors=True)
        if not self.manifest.parts:
            shutil.rmtree(self.items, ignore_errors=True)
        if not self.manifest.complete:
            for name in (SCORES, DRAWS):
                (self.folder / name).unlink(missing_ok=True)
        for aside in (*self.items.glob(".*.tmp"), *self.folder.glob(".*.tmp")):
            aside.unlink()

    @property
    def split(self) -> Path:
        """Where shards are cut."""
        return self.work / "split"

    @property
    def sums(self) -> Path:
        """Where parts leave what the totals are made from."""
        return self.work / "sums"

    def __enter__(self) -> Output:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        """Remove what nobody needs any more: all of it, if no part was done."""
        shutil.rmtree(self.split, ignore_errors=True)
        if not self.manifest.parts:
            (self.folder / MANIFEST).unlink(missing_ok=True)
            shutil.rmtree(self.items, ignore_errors=True)
        if self.manifest.complete or not self.manifest.parts:
            shutil.rmtree(self.work, ignore_errors=True)
        if self._is_new:
            with suppress(OSError):  # there are parts in it
                self.folder.rmdir()
        os.close(self._lock)

    def remaining(self) -> list[int]:
        """The numbers of the parts that are not done."""
        done = {entry.name for entry in self.manifest.parts}
        return [k for k in range(self.manifest.partitions) if part_name(k) not in done]

    def keep_read(self, read: ReadRecord, bad: Sequence[BadRow]) -> None:
        """Note what was found in the shards, and records that cannot be used."""
        self.manifest.read = read
        self.manifest.bad = list(bad)
        self._write_manifest()

    def keep_part(self, entry: PartEntry) -> None:
        """Note that a part is done."""
        self.manifest.parts = sorted([*self.manifest.parts, entry], key=lambda each: each.name)
        self._write_manifest()

    def finish(
        self,
        table: ScoreTable,
        bad: Sequence[BadRow],
        draws: Mapping[str, FloatArray],
        items: Mapping[str, int],
    ) -> None:
        """Write the scores of systems: the run is complete."""
        results = {SCORES: table.to_json().encode()}
        if draws:
            content = io.BytesIO()
            np.savez(content, allow_pickle=False, **draws)
            results[DRAWS] = content.getvalue()
        for name, written in results.items():
            write_atomically(self.folder / name, written)
        self.manifest.results = {name: checksum(written) for name, written in results.items()}
        self.manifest.items = dict(items)
        self.manifest.bad = list(bad)
        self.manifest.complete = True
        self._write_manifest()

    def draws(self) -> dict[str, FloatArray]:
        """The sums of each metric's statistics in every draw, of a run that is complete."""
        path = self.folder / DRAWS
        if not path.exists():
            return {}
        with np.load(path) as stored:
            return dict(stored)

    def _is_whole(self, manifest: Manifest) -> bool:
        """Return whether all files of a finished run are there, and as they were written."""
        parts = {self.items / entry.name: entry.checksum for entry in manifest.parts}
        results = {self.folder / name: digest for name, digest in manifest.results.items()}
        files = (parts | results).items()
        return bool(manifest.items) and all(_is(path, digest) for path, digest in files)

    def _drop_lost_parts(self) -> None:
        """Forget parts whose files are not there any more, or not as they were written."""
        if self.manifest.complete:
            return
        self.manifest.parts = [
            entry
            for entry in self.manifest.parts
            if _is(self.items / entry.name, entry.checksum)
            and _is(self.sums / entry.name, entry.sums)
        ]

    def _write_manifest(self) -> None:
        content = msgspec.json.format(msgspec.json.encode(self.manifest), indent=1)
        write_atomically(self.folder / MANIFEST, content)


def file_fingerprint(shard: Shard, _: None) -> str:
    """Fingerprint a shard, by its bytes: its name does not change a score."""
    digest = hashlib.blake2b(digest_size=16)
    try:
        with Path(shard.path).open("rb") as file:
            while chunk := file.read(1 << 20):
                digest.update(chunk)
    except OSError as error:
        raise DataError(f"{shard.path}: cannot be read ({error.strerror}).") from None
    return digest.hexdigest()


def together(fingerprints: Sequence[str]) -> str:
    """Fingerprint several shards, in their order."""
    return hashlib.blake2b("".join(fingerprints).encode(), digest_size=16).hexdigest()


def _kept(folder: Path, origin: Origin) -> Manifest | None:
    """What to go on with: the manifest of a run with the same origin, if it has done a part."""
    stored = _stored(folder)
    if stored is None:
        check_own_folder(folder, MANIFEST)
        return None
    if not stored.parts:
        return None
    _check_same(folder, stored.origin, origin)
    return stored


def _stored(folder: Path) -> Manifest | None:
    try:
        content = (folder / MANIFEST).read_bytes()
    except (FileNotFoundError, NotADirectoryError):
        return None
    except OSError as error:
        raise DataError(f"{folder / MANIFEST}: cannot be read ({error.strerror}).") from None
    try:
        manifest = msgspec.json.decode(content, type=resolved(Manifest))
    except msgspec.MsgspecError as error:
        raise DataError(
            f"{folder / MANIFEST}: not a manifest of scores ({error}); choose another folder."
        ) from None
    if manifest.format > _FORMAT:
        raise DataError(
            f"{folder / MANIFEST}: has format {manifest.format} of a newer reelscore; this one "
            f"reads up to {_FORMAT}."
        )
    return manifest


def _check_same(folder: Path, stored: Origin, origin: Origin) -> None:
    """Refuse to go on with scores of something else, by name."""
    for name in Origin.__struct_fields__:
        old, new = getattr(stored, name), getattr(origin, name)
        if old == new:
            continue
        if name == "settings":
            old, new = zip(*((a, b) for a, b in zip(old, new, strict=False) if a != b), strict=True)
        if isinstance(old, (list, tuple)):
            old, new = ", ".join(old), ", ".join(new)
            detail = f"{old}; now {new}"
        elif name == "version":
            detail = f"reelscore {old}; this is {new}"
        else:
            detail = f"other files, or the same files with another content; they were {old[:8]}"
        raise DataError(
            f"{folder}: was begun with other {name} ({detail}). Finish it with the same, or choose "
            "another folder."
        )


def _locked(folder: Path) -> int:
    """Hold the folder for this process; the system lets go of it however the process ends."""
    descriptor = os.open(folder / ".work" / "lock", os.O_WRONLY | os.O_CREAT, 0o666)
    try:
        import fcntl

        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        os.close(descriptor)
        raise DataError(f"{folder}: another run is writing to it; wait for its end.") from None
    except (ImportError, OSError):  # no locks on this system, or in this folder
        pass
    return descriptor


def _is(path: Path, digest: str) -> bool:
    try:
        return checksum(path.read_bytes()) == digest
    except OSError:
        return False
