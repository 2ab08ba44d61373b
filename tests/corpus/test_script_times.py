"""Subtitles become cues, and scripts get their times by them."""

from __future__ import annotations

import importlib.util
import json
import statistics
import sys

import pytest
from msgspec import to_builtins

from reelscore.corpus import (
    Cue,
    CueLine,
    Element,
    Film,
    Project,
    align_script,
    parse_script,
    read_script,
    read_subtitles,
    write_fountain,
)
from reelscore.corpus.pipeline import SCRIPT, SCRIPT_TIMES, SUBTITLES
from reelscore.corpus.words.subtitles import spoken_lines
from reelscore.errors import DataError, MissingExtraError


@pytest.mark.parametrize(
    ("text", "lines"),
    [
        ("<i>Run</i>\nnow!", [(None, "Run now!")]),
        ("- Who?\n- Me, of\ncourse.", [(None, "Who?"), (None, "Me, of course.")]),
        ("[door creaks] Hi. (SIGHS)", [(None, "Hi.")]),
        ("(he laughs)", []),
        ("I said (and meant) it.", [(None, "I said (and meant) it.")]),
        ("♪ La la ♪", [(None, "La la")]),
        ("ANNA: Why?", [("ANNA", "Why?")]),
        ("DR. STONE:\nGo.", [("DR. STONE", "Go.")]),
        ("Look: it moves at 10:30.", [(None, "Look: it moves at 10:30.")]),
        ("- ANNA: Yes.\n- BO: No.", [("ANNA", "Yes."), ("BO", "No.")]),
    ],
)
def test_words_of_a_cue(text, lines):
    assert [(line.who, line.text) for line in spoken_lines(text)] == lines


SRT = "{0}\n00:00:{1:02},000 --> 00:00:{2:02},000\n{3}\n\n"


def test_cues_are_sorted_shifted_and_reported(tmp_path):
    file = tmp_path / "a.srt"
    rows = [(1, 8, 9, "Second."), (2, 4, 5, "First."), (3, 12, 12, "Never.")]
    file.write_text("".join(SRT.format(*row) for row in rows))
    content = read_subtitles(file, shift=1.0, scale=2.0)
    assert [(cue.start, cue.end, cue.text) for cue in content.cues] == [
        (9.0, 11.0, "First."),
        (17.0, 19.0, "Second."),
        (25.0, 25.0, "Never."),
    ]
    assert [finding.code for finding in content.report] == ["unsorted", "no-duration"]
    aligned = align_script([Element("e0", 1, "dialogue", "A", "Never.")], content.cues)
    assert aligned.lines.matched == 0


def test_cues_without_words_are_not_trusted(tmp_path):
    file = tmp_path / "a.srt"
    file.write_text(SRT.format(1, 1, 2, "[music]"))
    report = read_subtitles(file, shift=-5.0).report
    assert [(each.code, each.trusted) for each in report] == [
        ("negative", True),
        ("no-words", False),
    ]


def test_formats_of_subtitles(tmp_path):
    file = tmp_path / "film"
    file.write_text("WEBVTT\n\n00:01.000 --> 00:02.000\n<v Anna>Hi <b>you</b>.\n")
    assert read_subtitles(file).cues == (Cue(1.0, 2.0, (CueLine("Anna", "Hi you."),)),)
    file.write_text("{25}{50}Hi|you.\n{75}{100}Go.\n")
    with pytest.raises(DataError, match="--fps 25"):
        read_subtitles(file)
    assert [cue.text for cue in read_subtitles(file, fps=25.0).cues] == ["Hi you.", "Go."]
    file.write_text("Only words.\n")
    with pytest.raises(DataError, match="expected SRT"):
        read_subtitles(file)
    file.write_bytes(SRT.format(1, 1, 2, "Café").encode("cp1252"))
    with pytest.raises(DataError, match=r"film:3: not utf-8 .*--encoding cp1252"):
        read_subtitles(file)
    assert read_subtitles(file, encoding="cp1252").cues[0].text == "Café"


def test_missing_packages_are_named(tmp_path, monkeypatch):
    file = tmp_path / "a.srt"
    file.write_text(SRT.format(1, 1, 2, "Hi."))
    cues = read_subtitles(file).cues
    for package in ("pysubs2", "rapidfuzz.distance"):
        monkeypatch.setitem(sys.modules, package, None)
    with pytest.raises(MissingExtraError, match=r"pysubs2.*reelscore\[corpus\]"):
        read_subtitles(file)
    with pytest.raises(MissingExtraError, match=r"rapidfuzz.*reelscore\[corpus\]"):
        align_script([Element("e0", 1, "dialogue", "A", "Hi.")], cues)


SAID = [
    "The captain sold the blue boat to a stranger",
    "Nobody wanted to hear about the broken lantern",
    "My sister hid three hundred dollars under the floor",
    "Every window in this old house is painted shut",
    "We burned the letters from Prague before the war",
    "The doctor always forgot where his keys were kept",
]


def film(order, gap=8.0):
    return [
        Cue(gap * place, gap * place + 3.0, (CueLine(None, SAID[number]),))
        for place, number in enumerate(order)
    ]


def written(scenes):
    """A script whose scenes are lines, with a description between each two."""
    elements = []
    for scene, numbers in enumerate(scenes, start=1):
        for place, number in enumerate(numbers):
            if place:
                elements.append(("description", None, "The door opens.", scene))
            elements.append(("dialogue", "ANNA", SAID[number], scene))
    return [
        Element(f"e{place}", scene, kind, who, text)
        for place, (kind, who, text, scene) in enumerate(elements)
    ]


def test_moved_scenes_are_found():
    script = written([(0, 1), (2, 3), (4, 5)])
    aligned = align_script(script, film([2, 3, 4, 5, 0, 1]))
    assert aligned.moved == (1,)
    assert aligned.lines.matched == 6
    described = [each for each in aligned.elements if each.kind == "description"]
    assert [(each.start, each.end) for each in described] == [
        (35.0, 40.0),
        (3.0, 8.0),
        (19.0, 24.0),
    ]
    assert all(each.accepted and each.score == 1.0 for each in described)


def test_no_time_is_before_the_film():
    cues = [Cue(-6.0, -3.0, (CueLine(None, SAID[0]),)), *film([1, 2], gap=2.0)]
    aligned = align_script(written([(0, 1, 2)]), cues)
    assert [each.cues for each in aligned.elements] == [(), (), (1,), (), (2,)]
    assert all(each.start is None or each.start >= 0 for each in aligned.elements)


def test_short_lines_need_a_neighbour():
    script = [
        Element("e0", 1, "dialogue", "A", "Yes."),
        Element("e1", 1, "dialogue", "B", SAID[0]),
        Element("e2", 2, "dialogue", "B", SAID[1]),
        Element("e3", 2, "dialogue", "A", "No."),
    ]
    cues = [
        Cue(1.0, 2.0, (CueLine(None, "Yes."),)),
        Cue(100.0, 103.0, (CueLine(None, SAID[0]),)),
        Cue(110.0, 113.0, (CueLine(None, SAID[1]),)),
        Cue(114.0, 115.0, (CueLine(None, "No."),)),
    ]
    assert [each.cues for each in align_script(script, cues).elements] == [(), (1,), (2,), (3,)]


def test_descriptions_without_a_time_say_why():
    script = written([(0, 1), (2, 3)])
    far = film([0, 1, 2, 3], gap=200.0)
    descriptions = [
        each for each in align_script(script, far).elements if each.kind == "description"
    ]
    assert [each.end - each.start for each in descriptions] == pytest.approx([1.35, 1.35])
    nothing = align_script(script, film([4, 5]))
    assert nothing.lines.matched == 0
    reasons = {each.reason for each in nothing.elements if each.kind == "description"}
    assert reasons == {"edge"}
    low = align_script(script, film([0, 3]))
    assert not any(each.accepted for each in low.elements if each.kind == "description")


def test_sentences_share_the_time_of_their_description():
    script = [
        Element("e0", 1, "dialogue", "A", SAID[0]),
        Element("e1", 1, "description", None, "Rain falls. The old dog barks at Mr. Stone again."),
        Element("e2", 1, "dialogue", "B", SAID[1]),
    ]
    first, second = align_script(script, film([0, 1])).sentences
    assert (first.id, first.text, first.start, first.parent) == ("e1.0", "Rain falls.", 3.0, "e1")
    assert (first.end, second.end) == (second.start, 8.0)
    assert {first.state, second.state} == {"accepted"}
    assert second.end - second.start > first.end - first.start


# Public scripts with truth


@pytest.fixture(scope="module")
def folder(shared):
    folder = shared / "movie" / "scripts"
    if not folder.is_dir():
        pytest.skip("the scripts with truth are not there")
    return folder


def timed_script(script, subtitles):
    """Do the steps of a project with one film."""
    with Project.temporary(Film("film")) as project:
        project.run(SCRIPT, "film", script)
        project.run(SUBTITLES, "film", subtitles)
        return project.run(SCRIPT_TIMES, "film")


def test_public_scripts(folder):
    spec = importlib.util.spec_from_file_location("check_scripts", folder / "check.py")
    checker = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(checker)
    rows = {}
    for path in sorted(folder.glob("[es][0-9]*.json")):
        truth = json.loads(path.read_text())
        aligned = timed_script(folder / truth["script"], folder / truth["subtitles"])
        assert aligned.report == () or aligned.report[0].code == "moved"
        elements = to_builtins(
            [each for each in aligned.elements if each.kind in ("dialogue", "description")]
        )
        rows[truth["id"]] = checker.score(truth, {"elements": elements})
    assert len(rows) == 5
    means = {name: statistics.mean(row[name] for row in rows.values()) for name in rows["s1-close"]}
    assert min(row["parse_f1"] for row in rows.values()) >= 0.98
    assert means["line_recall"] >= 0.95
    assert means["line_precision"] >= 0.99
    assert means["description_2s"] >= 0.75
    assert means["description_5s"] >= 0.89
    assert means["accepted"] >= 0.77


def test_final_draft_and_fountain_agree(folder):
    pairs = sorted((folder / "screenplain_tests").glob("*.fdx"))
    assert len(pairs) == 9
    for path in pairs:
        both = [read_script(each) for each in (path, path.with_suffix(".fountain"))]
        assert [each.format for each in both] == ["fdx", "fountain"]
        one, other = (
            [(each.scene, each.kind, each.who, each.text) for each in content.elements]
            for content in both
        )
        assert one == other, path.name


def test_scripts_are_the_same_after_writing(folder):
    for name in ("s1-close.fountain", "s2-reworded.txt", "s3-cut-moved.txt", "s4-early-draft.fdx"):
        elements = read_script(folder / name).elements
        if name.endswith(".txt"):  # its title page has no keys
            elements = tuple(each for each in elements if each.kind != "title")
        again = parse_script(write_fountain(elements), format="fountain").elements
        assert [
            (each.scene, each.kind, each.who, each.text, each.extensions) for each in again
        ] == [(each.scene, each.kind, each.who, each.text, each.extensions) for each in elements]


def test_a_script_of_another_film_is_not_trusted(folder):
    aligned = timed_script(folder / "e1-elephants.fountain", folder / "s1-close.srt")
    assert [(each.code, each.trusted) for each in aligned.report] == [("no-match", False)]
