"""Files are written all or nothing."""

from __future__ import annotations

import os
import threading
from pathlib import Path

import pytest

from reelscore.data.atomic_files import write_atomically
from reelscore.errors import DataError


@pytest.mark.parametrize(
    ("content", "expected"),
    [("é\r\n\n", b"\xc3\xa9\r\n\n"), (b"\x00\xff", b"\x00\xff"), ("", b"")],
)
def test_content_is_written_as_it_is(tmp_path: Path, content: str | bytes, expected: bytes) -> None:
    path = tmp_path / "file"
    path.write_text("old")
    write_atomically(str(path), content)
    assert path.read_bytes() == expected
    assert list(tmp_path.iterdir()) == [path], "nothing else stays"


def test_permissions(tmp_path: Path) -> None:
    old, new = tmp_path / "old", tmp_path / "new"
    old.touch(0o640)
    old.chmod(0o640)
    umask = os.umask(0o022)
    try:
        write_atomically(old, "x")
        write_atomically(new, "x")
    finally:
        os.umask(umask)
    assert old.stat().st_mode & 0o777 == 0o640
    assert new.stat().st_mode & 0o777 == 0o644


def test_links_are_followed(tmp_path: Path) -> None:
    target, link = tmp_path / "target", tmp_path / "link"
    target.write_text("old")
    link.symlink_to(target)
    write_atomically(link, "new")
    assert link.is_symlink()
    assert target.read_text() == "new"


@pytest.mark.parametrize("failing", ["fsync", "replace"])
def test_a_failure_leaves_the_old_file(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, failing: str
) -> None:
    def full(*_: object) -> None:
        raise OSError(28, "No space left on device")

    path = tmp_path / "file"
    path.write_text("old")
    owner = os if failing == "fsync" else Path
    monkeypatch.setattr(owner, failing, full)
    with pytest.raises(DataError, match=r"file: cannot be written: No space left on device"):
        write_atomically(path, "new")
    assert path.read_text() == "old"
    assert list(tmp_path.iterdir()) == [path]


def test_an_interruption_leaves_nothing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def interrupt(*_: object) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr(os, "fsync", interrupt)
    with pytest.raises(KeyboardInterrupt):
        write_atomically(tmp_path / "file", "new")
    assert list(tmp_path.iterdir()) == []


def test_bad_targets(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "file").touch()
    for path, message in [
        (tmp_path / "none" / "file", "there is no folder .*none'; make it first"),
        (tmp_path / "file" / "file", "is a file, not a folder"),
        (tmp_path, "is a folder; name a file in it"),
    ]:
        with pytest.raises(DataError, match=message) as caught:
            write_atomically(path, "x")
        assert str(caught.value).startswith(str(path))
    with pytest.raises(DataError, match=r"lone surrogate \('\\ud800', position 2\)"):
        write_atomically(tmp_path / "file", "a\ud800")

    def refuse(*_: object, **__: object) -> None:
        raise PermissionError(13, "Permission denied")  # root, who may run the tests, writes all

    monkeypatch.setattr(os, "open", refuse)
    with pytest.raises(DataError, match="permission denied; choose a folder"):
        write_atomically(tmp_path / "new", "x")


def test_devices_and_pipes_are_written_to(tmp_path: Path) -> None:
    write_atomically(os.devnull, "x")
    assert not Path(os.devnull).is_file()
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    received: list[bytes] = []
    reader = threading.Thread(target=lambda: received.append(pipe.read_bytes()))
    reader.start()
    write_atomically(pipe, "through")
    reader.join()
    assert received == [b"through"]
    assert pipe.is_fifo()


def test_private_files_are_for_their_owner(tmp_path: Path) -> None:
    old, new = tmp_path / "old", tmp_path / "new"
    old.touch()
    old.chmod(0o644)
    for path in (old, new):
        write_atomically(path, "x", private=True)
        assert path.stat().st_mode & 0o777 == 0o600
