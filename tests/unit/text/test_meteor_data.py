"""The language index: built once, whatever goes wrong on the way.

All but one of these tests build from a tiny data set in the form of pycocoevalcap's.
"""

from __future__ import annotations

import errno
import gzip
import os
import resource
import signal
import subprocess
import sys
import textwrap
import time
import zipfile
from pathlib import Path

import numpy as np
import pytest

from reelscore import ResourceError, _native
from reelscore.text import meteor_data as language

JAR = {
    "function/english.words": "the\na\n",
    "nonbreaking/english.prefixes": "# list\nMr\nNo #NUMERIC_ONLY#\n",
    "synonym/english.exceptions": "man\nmen\n",
    "synonym/english.synsets": "car\n00000001\nauto\n00000001\nman\n00000002\n",
}
PARAPHRASES = "0.5\nis going to\nwill\n0.1\nwill\nis going to\n"


@pytest.fixture
def builds():
    """One entry for each time the data was looked for."""
    return []


@pytest.fixture
def sources(tmp_path, monkeypatch, builds):
    """A jar and a table of paraphrases, and a cache of their own."""
    folder = tmp_path / "sources"
    folder.mkdir()
    jar, table = folder / "meteor.jar", folder / "paraphrase.gz"
    with zipfile.ZipFile(jar, "w") as archive:
        for name, text in JAR.items():
            archive.writestr(name, text)
    table.write_bytes(gzip.compress(PARAPHRASES.encode()))
    monkeypatch.setattr(language, "_source_files", lambda: builds.append(jar) or (jar, table))
    monkeypatch.setenv("REELSCORE_CACHE", str(tmp_path / "cache"))
    forget()
    yield jar, table
    forget()


def forget():
    """What a new process would not know."""
    language._opened.cache_clear()


def index_file():
    return language.cache_directory() / language.INDEX_NAME


def left_over():
    """Files in the cache, but for the index and the lock."""
    return [
        file.name
        for file in language.cache_directory().iterdir()
        if file.suffix not in (".index", ".lock")
    ]


def works(index):
    matches = _native.meteor_alignment(
        index, "the auto will stop", "the car is going to stop", (0.85, 0.2, 0.6, 0.75)
    )[2]
    return [match[4] for match in matches] == [0, 2, 3, 0]  # exact, synonym, paraphrase, exact


def test_is_built_once(sources, builds):
    assert works(language.language_index())
    assert works(language.language_index())  # the same process
    forget()
    assert works(language.language_index())  # as another process
    assert len(builds) == 1
    assert left_over() == []


def test_where_the_cache_lies(monkeypatch, tmp_path):
    monkeypatch.setenv("REELSCORE_CACHE", str(tmp_path / "x"))
    assert language.cache_directory() == tmp_path / "x"
    monkeypatch.setenv("REELSCORE_CACHE", "relative")
    assert language.cache_directory() == Path.cwd() / "relative"
    monkeypatch.setenv("REELSCORE_CACHE", "~/x")
    assert language.cache_directory() == Path.home() / "x"
    monkeypatch.delenv("REELSCORE_CACHE")
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    if sys.platform == "linux":
        assert language.cache_directory() == tmp_path / "reelscore"


def test_a_new_cache_directory_gets_its_own_index(sources, builds, monkeypatch, tmp_path):
    language.language_index()
    monkeypatch.setenv("REELSCORE_CACHE", str(tmp_path / "deeper" / "still"))
    assert works(language.language_index())
    assert len(builds) == 2


def _flip(at):
    def damage(content):
        place = int(at * (len(content) - 1))
        return content[:place] + bytes([content[place] ^ 4]) + content[place + 1 :]

    return damage


DAMAGES = {
    "empty": lambda content: b"",
    "one byte": lambda content: content[:1],
    "truncated": lambda content: content[: len(content) // 2],
    "the last byte is missing": lambda content: content[:-1],
    "something appended": lambda content: content + b"x",
    "zeros": lambda content: bytes(len(content)),
    "another file": lambda content: b"PK\3\4 this is a zip file\n" * 100,
    "twice": lambda content: content + content,
    **{f"a bit at {at}": _flip(at) for at in (0, 0.02, 0.1, 0.3, 0.5, 0.7, 0.9, 1)},
}


@pytest.mark.parametrize("damage", DAMAGES.values(), ids=DAMAGES)
def test_a_damaged_index_is_rebuilt(sources, builds, damage):
    language.language_index()
    content = index_file().read_bytes()
    forget()
    index_file().write_bytes(damage(content))
    assert works(language.language_index())
    assert len(builds) == 2
    assert index_file().read_bytes() == content
    assert left_over() == []


def test_every_flipped_byte_is_noticed(sources):
    language.language_index()
    content = bytearray(index_file().read_bytes())
    for place in range(0, len(content), max(1, len(content) // 500)):
        content[place] ^= 1
        assert _native.LanguageIndex.open(np.frombuffer(bytes(content), np.uint8)) is None, place
        content[place] ^= 1
    assert _native.LanguageIndex.open(np.frombuffer(bytes(content), np.uint8)) is not None


# Other processes

SCRIPT = """
import os, sys, time
from pathlib import Path
from reelscore.text import meteor_data as language
language._source_files = lambda: (Path(sys.argv[1]), Path(sys.argv[2]))
{before}
language.language_index()
print("done")
"""


def start(sources, before, **options):
    script = SCRIPT.format(before=textwrap.dedent(before))
    return subprocess.Popen(
        [sys.executable, "-c", script, *map(str, sources)],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        **options,
    )


def test_several_processes_at_once(sources, tmp_path):
    log = tmp_path / "builds.log"
    before = f"""
        find = language._source_files
        def slow():
            with open({str(log)!r}, "a") as file:
                file.write("built\\n")
            time.sleep(0.5)
            return find()
        language._source_files = slow
    """
    processes = [start(sources, before) for _ in range(3)]
    outputs = [process.communicate(timeout=60) for process in processes]
    assert [out for out, _ in outputs] == ["done\n"] * 3, outputs
    assert log.read_text() == "built\n"  # by one of them
    assert works(language.language_index())
    assert left_over() == []


KILLED = {
    "while reading": """
        read = language._decompressed
        def stuck(path):
            yield from read(path)
            print("stuck", flush=True)
            time.sleep(60)
        language._decompressed = stuck
    """,
    "while writing": """
        def stuck(descriptor):
            print("stuck", flush=True)
            time.sleep(60)
        os.fsync = stuck
    """,
}


@pytest.mark.parametrize("before", KILLED.values(), ids=KILLED)
def test_killed_half_way(sources, builds, before):
    process = start(sources, before)
    assert process.stdout.readline() == "stuck\n"
    process.send_signal(signal.SIGKILL)
    process.communicate(timeout=30)
    assert not index_file().exists()
    assert works(language.language_index())  # neither the lock nor half a file is in the way
    assert len(builds) == 1


def test_an_interrupt_leaves_nothing(sources):
    process = start(sources, KILLED["while writing"])
    assert process.stdout.readline() == "stuck\n"
    process.send_signal(signal.SIGINT)
    _, errors = process.communicate(timeout=30)
    assert "KeyboardInterrupt" in errors
    assert not index_file().exists()
    assert left_over() == []


def test_leftovers_of_a_killed_build_are_removed(sources):
    # whoever holds the lock is the only builder: any file aside is nobody's
    process = start(sources, KILLED["while writing"])
    assert process.stdout.readline() == "stuck\n"
    process.send_signal(signal.SIGKILL)
    process.communicate(timeout=30)
    language.language_index()
    assert left_over() == []


def test_old_leftovers_are_removed(sources):
    folder = language.cache_directory()
    folder.mkdir(parents=True)
    stale = folder / "meteor-1.5-en-v1.0123abcd.tmp"
    stale.write_bytes(b"half")
    os.utime(stale, (time.time() - 7200,) * 2)
    mine = folder / "notes.txt"
    mine.write_text("not ours")
    language.language_index()
    assert not stale.exists()
    assert mine.exists()


# Disks


def test_full_disk(sources, monkeypatch):
    def full(descriptor):
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    monkeypatch.setattr(os, "fsync", full)
    with pytest.raises(ResourceError, match=r"No space left.*REELSCORE_CACHE") as caught:
        language.language_index()
    assert isinstance(caught.value, OSError)
    assert not index_file().exists()
    assert left_over() == []
    monkeypatch.undo()


def test_file_size_limit(sources):
    def limit():
        signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
        resource.setrlimit(resource.RLIMIT_FSIZE, (300, 300))

    process = start(sources, "", preexec_fn=limit)
    _, errors = process.communicate(timeout=30)
    assert process.returncode == 1
    assert "ResourceError" in errors
    assert "File too large" in errors
    assert "REELSCORE_CACHE" in errors
    assert not index_file().exists()
    assert left_over() == []


def test_a_file_in_place_of_the_folder(sources, tmp_path):
    (tmp_path / "cache").write_text("a file")
    with pytest.raises(ResourceError, match="REELSCORE_CACHE"):
        language.language_index()
    assert (tmp_path / "cache").read_text() == "a file"


def test_a_folder_in_place_of_the_file(sources):
    index_file().mkdir(parents=True)
    with pytest.raises(ResourceError, match="cannot be read"):
        language.language_index()


def test_read_only(sources, monkeypatch):
    # root may write anywhere, so the system's answer is played
    def refuse(self, *args, **kwargs):
        raise PermissionError(errno.EACCES, os.strerror(errno.EACCES))

    monkeypatch.setattr(Path, "mkdir", refuse)
    with pytest.raises(ResourceError, match=r"Permission denied.*REELSCORE_CACHE"):
        language.language_index()


# The data it is made from


def test_no_package(monkeypatch, tmp_path):
    monkeypatch.setenv("REELSCORE_CACHE", str(tmp_path))
    monkeypatch.setattr(language, "find_spec", lambda name: None)
    forget()
    with pytest.raises(ResourceError, match="pip install pycocoevalcap"):
        language.language_index()
    assert left_over() == []


def _truncate(file):
    file.write_bytes(file.read_bytes()[:-10])


BAD_SOURCES = [
    # which, what is done to it
    (0, lambda file: file.unlink(), "no jar"),
    (0, lambda file: file.write_bytes(b"not a zip"), "another file"),
    (0, lambda file: zipfile.ZipFile(file, "w").close(), "an empty jar"),
    (1, lambda file: file.unlink(), "no paraphrases"),
    (1, _truncate, "truncated"),
    (1, lambda file: file.write_bytes(b"not gzip"), "another file"),
    (1, lambda file: file.write_bytes(gzip.compress(b"0.5\nwill\n")), "two lines of three"),
]


@pytest.mark.parametrize(("which", "spoil", "why"), BAD_SOURCES)
def test_bad_sources(sources, which, spoil, why):
    spoil(sources[which])
    with pytest.raises(ResourceError, match="pip install"):
        language.language_index()
    assert not index_file().exists(), why
    assert left_over() == []


def test_progress(sources, tmp_path):
    calls = []
    language.build(tmp_path / "x.index", lambda done, total: calls.append((done, total)))
    size = sources[1].stat().st_size
    assert calls[-1] == (size, size)


@pytest.mark.full
def test_the_real_thing(tmp_path):
    script = textwrap.dedent(
        """
        import re, sys, time
        from pathlib import Path
        from reelscore.text import meteor_data as language
        started = time.perf_counter()
        language.language_index()
        took = time.perf_counter() - started
        started = time.perf_counter()
        language._opened.cache_clear()
        language.language_index()
        again = time.perf_counter() - started
        peak = re.search(r'VmHWM:[ \\t]+([0-9]+)', Path('/proc/self/status').read_text())[1]
        print(took, int(peak) / 1024, again)
        """
    )
    done = subprocess.run(
        [sys.executable, "-c", script],
        env={**os.environ, "REELSCORE_CACHE": str(tmp_path)},
        capture_output=True,
        text=True,
        check=True,
    )
    seconds, megabytes, again = map(float, done.stdout.split())
    assert seconds < 60
    assert megabytes < 600
    assert again < 2
    assert "Compiling METEOR's language data" in done.stderr  # whoever waits is told why
    # the index is the same wherever and whenever it is built
    mine, usual = tmp_path / language.INDEX_NAME, index_file()
    language.language_index()
    assert mine.read_bytes() == usual.read_bytes()
