"""Scripts in Fountain, Final Draft and indented text become elements."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from reelscore.corpus import parse_script, read_script, write_fountain
from reelscore.corpus.scripts import formats
from reelscore.corpus.scripts.fountain import parse_fountain
from reelscore.errors import DataError, UnknownNameError

PAGES = """\
                         THE FILM

1    INT./EXT. CHURCH - DAY                              1

     A dog barks.
     Twice.

                         ANNA (V.O.)
                    (to the
                    others)
               We could not
                         (MORE)

                                                       1.

THE FILM

                         ANNA (CONT'D)
               explain it.

                         GUARD #2
               I/E is a heading.

               It is 1999.
CONTINUED:

                                                       2.

THE FILM

2    I/E. CAR - NIGHT                                    2

                         ANNA
               Yes?

                                                 FADE OUT:

                                                       3.

THE FILM

     SUDDENLY
     the end.
"""


def plain(script):
    return [(each.kind, each.who, each.text) for each in script.elements]


def test_pages_of_indented_text():
    script = parse_script(PAGES)
    assert script.format == "text"
    assert plain(script) == [
        ("title", None, "THE FILM"),
        ("heading", None, "INT./EXT. CHURCH - DAY"),
        ("description", None, "A dog barks. Twice."),
        ("parenthetical", "ANNA", "(to the others)"),
        ("dialogue", "ANNA", "We could not explain it."),
        ("dialogue", "GUARD #2", "I/E is a heading. It is 1999."),
        ("heading", None, "I/E. CAR - NIGHT"),
        ("dialogue", "ANNA", "Yes?"),
        ("transition", None, "FADE OUT:"),
        ("description", None, "SUDDENLY the end."),
    ]
    assert [each.scene for each in script.elements] == [0, 1, 1, 1, 1, 1, 2, 2, 2, 2]
    assert script.elements[4].extensions == ("V.O.",)
    assert script.elements[4].line == 11


def test_tabs_form_feeds_and_centred_names():
    speech = "{0:>20}\n\tWhat is it?\n\n"
    text = "EXT. SEA\n\nWaves.\n\n\f" + "".join(map(speech.format, ("ANNA", "BO", "ELIZABETH")))
    script = parse_script(text.replace("\n", "\r\n").replace("\r\n", "\n"), format="text")
    assert [each.who for each in script.elements][2:] == ["ANNA", "BO", "ELIZABETH"]
    assert {each.text for each in script.elements[2:]} == {"What is it?"}


def typed(title="", space="\n", mark="", name=" " * 25 + "{}", speech=15, left=5):
    """Thirty speeches with descriptions, typed in some layout; every fourth goes over a page."""
    rows = []
    for number in range(30):
        who = ("ANNA", "GUARD #2", "DR. STONE")[number % 3]
        rows += [f"{number + 1:<5}INT. PLACE - DAY        {number + 1}", ""]
        rows += [" " * left + "The old door opens.", "", name.format(who)]
        rows += [" " * speech + "We never could" + mark]
        if number % 4 == 0:
            rows += [name.format("(MORE)"), "", f"{title:<20}{number}.", ""]
            rows += [name.format(who + " (CONT'D)")]
        rows += [" " * speech + "explain it.", ""]
    return space.join(rows)


@pytest.mark.parametrize(
    "layout",
    [
        {},
        {"title": "MY FILM"},
        {"title": "\f  MY FILM"},
        {"space": "\n\n"},
        {"mark": " " * 20 + "*"},
        {"name": "{:^60}"},
        {"name": "\t\t\t{}", "speech": 12},
        {"name": "{}", "speech": 0, "left": 0},
    ],
    ids=str,
)
def test_layouts_of_typed_text(layout):
    script = parse_script(typed(**layout))
    assert script.format == "text"
    assert script.counts == {"heading": 30, "description": 30, "dialogue": 30}
    assert {each.text for each in script.elements if each.who} == {"We never could explain it."}
    assert {each.text for each in script.elements if each.kind == "heading"} == {"INT. PLACE - DAY"}
    assert {each.who for each in script.elements} == {None, "ANNA", "GUARD #2", "DR. STONE"}


def test_text_without_indents_is_read_by_names():
    script = parse_script("12  INT. CAR - DAY  12\n\nRain.\n\nANNA\nGo on.\n", format="text")
    assert [kind for kind, *_ in plain(script)] == ["heading", "description", "dialogue"]
    assert script.elements[0].text == "INT. CAR - DAY"


def test_fountain_marks():
    text = (
        "Title: A\nAuthor:\n    B\n\n.OPEN SEA #4#\n\n..and on\n\n@McAvoy ^\n(low)\nHi /* not\n"
        "said */ there.\n  \nStill me.\n\n> To black.\n\n>THE END<\n\n~La la\n\n===\n\n"
        "!INT. is no place\n\n*Rain* \\*falls\\*.[[why?]]\n\nFADE OUT:\n"
    )
    assert plain(parse_script(text)) == [
        ("title", None, "Title: A"),
        ("title", None, "Author: B"),
        ("heading", None, "OPEN SEA"),
        ("description", None, "..and on"),
        ("parenthetical", "McAvoy", "(low)"),
        ("dialogue", "McAvoy", "Hi there. Still me."),
        ("transition", None, "To black."),
        ("description", None, "THE END"),
        ("lyric", None, "La la"),
        ("page", None, "==="),
        ("description", None, "INT. is no place"),
        ("note", None, "why?"),
        ("description", None, "Rain *falls*."),
        ("transition", None, "FADE OUT:"),
    ]


def test_what_is_crossed_out_leaves_a_blank_line():
    script = parse_script("CUT TO:\n/*\nINT. CAR\n\nBO\nNo.\n*/\nEXT. SEA\n\nBO\n~La\nHi.\n")
    assert plain(script) == [
        ("transition", None, "CUT TO:"),
        ("heading", None, "EXT. SEA"),
        ("lyric", "BO", "La"),
        ("dialogue", "BO", "Hi."),
    ]
    assert [each.line for each in script.elements] == [1, 8, 11, 12]


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ('<?xml version="1.0"?><!DOCTYPE a [<!ENTITY b "c">]><FinalDraft/>', "document type"),
        ("<?xml version='1.0'?><html/>", "<html> instead of <FinalDraft>"),
        ("<FinalDraft><Content>", "malformed XML"),
        ("<FinalDraft/>", "without any text"),
    ],
)
def test_final_draft_that_is_refused(text, message):
    with pytest.raises(DataError, match=message):
        parse_script(text)


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (b"", "is empty"),
        (b" \n\n", "is empty"),
        (b"%PDF-1.4", "pdftotext -layout"),
        (b"ANNA\nCaf\xe9\n", ":2: not utf-8 .*--encoding cp1252"),
        (b"\0\1\2", "not a text file"),
    ],
)
def test_files_that_are_refused(tmp_path, content, message):
    file = tmp_path / "script.txt"
    file.write_bytes(content)
    with pytest.raises(DataError, match=message):
        read_script(file)


def test_encodings(tmp_path):
    file = tmp_path / "script.txt"
    for content, encoding in (
        ("ANNA\nCafé\n".encode("cp1252"), "cp1252"),
        ("\ufeffANNA\r\nCafé\r\n".encode("utf-16-le"), None),
        ("\ufeffANNA\nCafé\n".encode(), None),
    ):
        file.write_bytes(content)
        assert plain(read_script(file, encoding=encoding)) == [("dialogue", "ANNA", "Café")]


ROWS = st.sampled_from(
    [
        *("", "", "  ", "ANNA", "BO (V.O.)", "(low)", "Hi *you*.", "INT. CAR", ".SEA", "..a", "!X"),
        *("> IN:", ">x<", "===", "# one", "[[n]]", "[[a", "b]]", "/*", "*/", "@Mc ^", "CUT TO:"),
        *("\\*", "Title: x", "***", "@", ">", "(", "=", "x [[y]] z", "FADE IN:", "_u_ [[", "!"),
        *("~la", "a_b_", "  GO"),
    ]
)


@settings(max_examples=300, deadline=None, derandomize=True)
@given(st.lists(ROWS, max_size=12))
def test_what_is_written_is_read_again(rows):
    try:
        script = parse_script("\n".join(rows), format="fountain")
    except DataError:
        return
    again = parse_script(write_fountain(script.elements), format="fountain")
    assert plain(again) == plain(script)
    assert [each.extensions for each in again.elements] == [
        each.extensions for each in script.elements
    ]


@settings(max_examples=200, deadline=None, derandomize=True)
@given(
    st.lists(st.tuples(st.sampled_from(["", " ", "\t", " " * 12, "\f"]), ROWS), max_size=30),
    st.sampled_from(["auto", "fountain", "text"]),
)
def test_any_text_is_read_or_refused(rows, format):
    try:
        script = parse_script("\n".join(indent + row for indent, row in rows), format=format)
    except DataError:
        return
    assert all(each.text for each in script.elements)
    assert all(1 <= each.line <= max(1, len(rows)) for each in script.elements)
    assert [each.line for each in script.elements if each.kind != "note"] == sorted(
        each.line for each in script.elements if each.kind != "note"
    )


def test_a_format_is_an_entry_of_the_table(monkeypatch):
    marked = formats.ScriptFormat(
        "Marked", lambda text: text.startswith("@"), lambda text, _: parse_fountain(text[1:])
    )
    monkeypatch.setattr(formats, "FORMATS", {"marked": marked, **formats.FORMATS})
    assert parse_script("@INT. CAR\n").counts == {"heading": 1}
    assert parse_script("INT. CAR\n").format == "fountain"
    with pytest.raises(UnknownNameError, match="'fdx'"):
        parse_script("INT. CAR\n", format="fd")
