"""The TRECVid human assessments: which caption was judged, and the oddities of the files."""

from __future__ import annotations

import pytest

from reelscore import DataError, UnknownNameError
from reelscore_studies.judged.trecvid_ha import FOLDERS, line_map, load, load_all
from support.trecvid_copy import DROPPED, LINES, SYSTEMS, write_copy


@pytest.fixture(scope="module")
def copy(tmp_path_factory):
    return write_copy(tmp_path_factory.mktemp("trecvid"))


@pytest.mark.parametrize("folder", FOLDERS)
def test_every_folder_loads(copy, folder):
    data = load(copy, folder)
    dropped = DROPPED[int(folder[3:])] if folder.startswith("MA") else []
    assert list(data.candidates) == sorted(SYSTEMS)
    assert data.items == [str(line + 1) for line in range(LINES) if line not in dropped]
    assert all(list(captions) == data.items for captions in data.candidates.values())
    assert all(set(row["z"].items) == set(data.items) for row in data.human.results.values())
    assert len(data.references()["2"]) == len(data.annotators)


@pytest.mark.parametrize("year", DROPPED)
def test_both_kinds_of_folder_name_the_same_captions(copy, year):
    many, single = load(copy, f"MA-{year}"), load(copy, f"SA-{year}")
    for name in SYSTEMS:
        for item in many.items:
            assert many.candidates[name][item] == single.candidates[name][item]
            assert many.human[name]["z"].items[item] == single.human[name]["z"].items[item]
    assert all(many.urls[item] == single.urls[item] for item in many.urls)
    assert all(many.annotators["HUMAN-B"][item].startswith(f"w{year}x") for item in many.items)


def test_references_are_those_of_the_video(copy):
    """Also in MA-2018, whose references have all lines of SA."""
    for data in load_all(copy):
        year = data.folder[3:]
        for captions in data.annotators.values():
            assert all(f"w{year}x{int(i) - 1}x" in captions[i] for i in data.items)


def test_line_numbers_count_from_1_and_0_is_the_last(copy):
    text = (copy / "single-annotator/2020/ad-seg-scores-en-en.csv").read_text().splitlines()
    rows = [row.split(",") for row in text if row.startswith("ALPHA,")]
    by_sid = {int(row[1]): float(row[3]) for row in rows}
    aligned = load(copy, "SA-2020").human["ALPHA"]["z"].items
    published = load(copy, "SA-2020", reading="as-published").human["ALPHA"]["z"].items
    for sid, z in by_sid.items():
        assert aligned[str(sid or LINES)] == z
        assert published[str(sid + 1)] == z


def test_people_are_left_out_unless_asked_for(copy):
    for folder in FOLDERS:
        with_people = load(copy, folder, people=True)
        extra = set(with_people.candidates) - set(load(copy, folder).candidates)
        assert extra == ({"HUMAN-B"} if folder[:2] == "SA" or folder == "MA-2019" else set())
    data = load(copy, "MA-2019", people=True)  # whose captions are among the references only
    assert data.candidates["HUMAN-B"] == data.annotators["HUMAN-B"]
    assert data.references(["HUMAN-A"])["1"] == [data.annotators["HUMAN-A"]["1"]]


def test_captions_lose_line_ends_and_outer_blanks(copy):
    raw = (copy / "single-annotator/2016/systems/trecvid16-vtt.en-en.ALPHA").read_bytes()
    assert b" \r\n" in raw
    assert all(c == c.strip() for c in load(copy, "SA-2016").candidates["ALPHA"].values())


def test_judgments_are_counted(copy):
    assert set(load(copy, "MA-2017").judgments["ALPHA"].values()) == {17}


def test_lines_are_found_by_all_captions_together():
    whole = {"a": ["x", "x", "y"], "b": ["1", "2", "1"]}
    assert line_map({"a": ["x", "y"], "b": ["2", "1"]}, whole) == [1, 2]
    assert line_map(whole, whole) == [0, 1, 2]


@pytest.mark.parametrize(
    ("part", "whole", "message"),
    [
        ({"a": ["z"]}, {"a": ["x", "y"]}, "is not in the fuller ones"),
        ({"a": ["y", "x"]}, {"a": ["x", "y", "z"]}, "another order"),
        ({"a": ["x"]}, {"a": ["x", "y", "x"]}, "cannot be told apart"),
        ({"a": ["x"]}, {"b": ["x"]}, "no system in common"),
    ],
)
def test_lines_that_cannot_be_found(part, whole, message):
    with pytest.raises(DataError, match=message):
        line_map(part, whole)


def test_unknown_names(copy):
    with pytest.raises(UnknownNameError, match="MA-2018"):
        load(copy, "MA-2081")
    with pytest.raises(UnknownNameError, match="reading"):
        load(copy, "MA-2018", reading="upside-down")
    with pytest.raises(UnknownNameError, match="annotator"):
        load(copy, "MA-2018").references(["HUMAN-Z"])


def test_broken_copies(tmp_path):
    with pytest.raises(DataError, match="no such folder"):
        load(tmp_path, "SA-2016")
    copy = write_copy(tmp_path)
    home = copy / "single-annotator" / "2016"
    scores = home / "ad-seg-scores-en-en.csv"
    good = scores.read_text()
    for line, message in [
        (f"ALPHA,{LINES},1,1,1", "SID 80; expected 0 to 79"),
        ("ALPHA,x,1,1,1", ":2: invalid literal"),
        ("OMEGA,1,1,1,1", "no captions of 'OMEGA'"),
        ("ALPHA,1", ":2: "),
    ]:
        scores.write_text(good.splitlines()[0] + "\n" + line + "\n")
        with pytest.raises(DataError, match=message):
            load(copy, "SA-2016")
    scores.unlink()
    with pytest.raises(DataError, match="cannot be read"):
        load(copy, "SA-2016")
    (home / "systems" / "other.ALPHA").write_text("other\n" * LINES)
    with pytest.raises(DataError, match="other captions of 'ALPHA'"):
        load(copy, "SA-2016")
