"""The METEOR index: what is in its file, and what happens when it is not whole."""

from __future__ import annotations

import gzip
import zipfile
from importlib.util import find_spec
from pathlib import Path

import numpy as np
import pytest

from reelscore import ResourceError, _native
from reelscore._cache import cache_directory
from reelscore.text import meteor_data

LISTS = {
    "add_function_words": "function/english.words",
    "add_prefixes": "nonbreaking/english.prefixes",
    "add_exceptions": "synonym/english.exceptions",
    "add_synsets": "synonym/english.synsets",
}


def small_index(paraphrases="0.5\nis going to\nwill\n0.1\nwill\nis going to\n"):
    builder = _native.MeteorIndexBuilder()
    builder.add_function_words(b"the\na\n")
    builder.add_prefixes(b"# list\nMr\nNo #NUMERIC_ONLY#\n")
    builder.add_exceptions(b"man\nmen\ngo\nwent gone\nfell\nwent\n")
    builder.add_synsets(b"car\n00000001\nauto\n00000001\nman\n00000002\ngo\n3\nfell\n4 5\n")
    builder.add_paraphrases(paraphrases.encode())
    return builder.finish().tobytes()


def opened(content):
    return _native.MeteorIndex.open(np.frombuffer(content, np.uint8))


def modules(index, candidate, reference):
    """By which module each match was found: 0 exact, 1 stem, 2 synonym, 3 paraphrase."""
    parameters = (0.85, 0.2, 0.6, 0.75)
    matches = _native.meteor_alignment(index, candidate, reference, parameters)[2]
    return [match[4] for match in matches]


def test_all_parts_are_read_back():
    index = opened(small_index())
    assert modules(index, "the auto will stop", "the car is going to stop") == [0, 2, 3, 0]
    assert index.synsets("men") == [2]
    assert index.synsets("went") == [3, 4, 5]  # of both its bases
    assert index.synsets("unknown") == []


def test_a_trie_of_many_groups():
    """Children are found by counting: far beyond one block of 64 nodes and one sample of groups."""
    phrases = [f"w{k % 97} v{k % 31} u{k}" for k in range(3000)]
    table = "".join(f"1\n{phrase}\nx{k}\n" for k, phrase in enumerate(sorted(phrases)))
    index = opened(small_index(table))
    for k, phrase in enumerate(sorted(phrases)):
        assert modules(index, f"x{k}", phrase) == [3], phrase
        assert modules(index, f"x{k + 1}", phrase) == []


def test_long_lists_of_paraphrases():
    """Distances between paraphrases take one to three bytes; lists of a block follow each other."""
    table = "".join(f"1\ns{k % 5}\nt{k * 7 % 40_000}\n" for k in range(40_000))
    index = opened(small_index(table))
    for k in range(0, 40_000, 37):
        target = f"t{k * 7 % 40_000}"
        assert modules(index, target, f"s{k % 5}") == [3]
        assert modules(index, target, f"s{(k + 1) % 5}") == []


def test_every_flipped_byte_is_noticed():
    content = bytearray(small_index())
    for place in range(0, len(content), max(1, len(content) // 500)):
        content[place] ^= 1
        assert opened(bytes(content)) is None, place
        content[place] ^= 1
    assert opened(bytes(content)) is not None


def test_pages_that_are_lost_or_exchanged_are_noticed():
    content = np.fromfile(meteor_data.index_file(), np.uint8)
    page = 4096
    one = slice(page, 2 * page)
    for distance in (1, 2, 16, 4096):
        other = slice(page * (1 + distance), page * (2 + distance))
        before, after = content[one].copy(), content[other].copy()
        assert (before != after).any()
        content[one], content[other] = after, before
        assert _native.MeteorIndex.open(content) is None, distance
        content[one], content[other] = before, 0
        assert _native.MeteorIndex.open(content) is None, distance
        content[other] = after
    assert _native.MeteorIndex.open(content) is not None


DAMAGES = {
    "empty": lambda content: b"",
    "truncated": lambda content: content[: len(content) // 2],
    "something appended": lambda content: content + b"x",
    "another file": lambda content: b"PK\3\4 this is a zip file\n" * 100,
}


@pytest.mark.parametrize("damage", DAMAGES.values(), ids=DAMAGES)
def test_a_damaged_file(damage, tmp_path, monkeypatch):
    file = tmp_path / "meteor.index"
    file.write_bytes(damage(small_index()))
    monkeypatch.setattr(meteor_data, "index_file", lambda: file)
    with pytest.raises(ResourceError, match=r"meteor\.index.*pip install --force-reinstall"):
        meteor_data.meteor_index()


def test_no_file(tmp_path, monkeypatch):
    monkeypatch.setattr(meteor_data, "index_file", lambda: tmp_path / "meteor.index")
    with pytest.raises(ResourceError, match=r"cannot be read.*pip install --force-reinstall"):
        meteor_data.meteor_index()


def test_the_file_is_installed_and_small():
    assert Path(meteor_data.index_file()).stat().st_size < 28_000_000


@pytest.mark.parametrize("table", ["0.5\nwill\n", "0.5\nwill\n \n"])
def test_a_broken_table(table):
    with pytest.raises(ValueError, match="paraphrases"):
        small_index(table)


@pytest.mark.full
def test_the_index_holds_the_published_data():
    """What the build makes of models/meteor/english.tar.xz, against METEOR's own files."""
    folder = Path(find_spec("pycocoevalcap").submodule_search_locations[0]) / "meteor"
    builder = _native.MeteorIndexBuilder()
    with zipfile.ZipFile(folder / "meteor-1.5.jar") as jar:
        for method, member in LISTS.items():
            getattr(builder, method)(jar.read(member))
    with gzip.open(folder / "data" / "paraphrase-en.gz") as table:
        while chunk := table.read(1 << 24):
            builder.add_paraphrases(chunk)
    assert builder.finish().tobytes() == Path(meteor_data.index_file()).read_bytes()


def test_where_caches_lie(monkeypatch, tmp_path):
    monkeypatch.setenv("REELSCORE_CACHE", str(tmp_path / "x"))
    assert cache_directory() == tmp_path / "x"
    monkeypatch.setenv("REELSCORE_CACHE", "relative")
    assert cache_directory() == Path.cwd() / "relative"
    monkeypatch.setenv("REELSCORE_CACHE", "~/x")
    assert cache_directory() == Path.home() / "x"
    monkeypatch.delenv("REELSCORE_CACHE")
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    monkeypatch.setattr("sys.platform", "linux")
    assert cache_directory() == tmp_path / "reelscore"
