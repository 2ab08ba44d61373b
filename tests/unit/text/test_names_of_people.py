"""Names to Someone and people: the public sentences with their truth, and properties."""

from __future__ import annotations

import json

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from reelscore.errors import DataError
from reelscore.text.names.cast import Cast
from reelscore.text.names.name_replacement import anonymise, unknown_names

pytest.importorskip("reelscore_parser")

CAST = ["ANNA", "ROSE", "WILL", "MAY", "MARK HALEY", "DR. STONE", "GUARD #2", "OLD WOMAN"]


def only(text, cast=CAST):
    return anonymise([text], cast)[0].text


def test_public_sentences(shared):
    path = shared / "movie" / "scripts" / "anonymise.json"
    if not path.is_file():
        pytest.skip("the sentences with names are not there")
    truth = json.loads(path.read_text(encoding="utf-8"))
    texts = [sentence["text"] for sentence in truth["sentences"]]
    expected = [sentence["expected"] for sentence in truth["sentences"]]
    assert [done.text for done in anonymise(texts, truth["cast"])] == expected
    # also without the other sentences as evidence
    assert [only(text, truth["cast"]) for text in texts] == expected


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("Mr. and Mrs. Stone dance.", "Someone and Someone dance."),
        ("The Haleys wave.", "People wave."),
        ("In early May the snow melts.", "In early May the snow melts."),
        ("May they escape?", "May they escape?"),
        ("Will Anna escape?", "Will Someone escape?"),
        ("He waits for May.", "He waits for Someone."),
        ("Rose petals are on the floor.", "Rose petals are on the floor."),
        ("Rose enters carrying a tray.", "Someone enters carrying a tray."),
        ("Will slowly turns.", "Someone slowly turns."),
        ("Rose-coloured light fills the hall.", "Rose-coloured light fills the hall."),
        ("ROSE PETALS. ANNA WAITS.", "ROSE PETALS. Someone WAITS."),
        ("Dr. Mark Haley's car stops.", "Someone's car stops."),
    ],
)
def test_rules(text, expected):
    assert only(text) == expected


def test_headings_of_roles_are_no_names():
    roles = ["GUARD #2", "OLD WOMAN", "TAXI DRIVER", "MAN IN HAT", "NURSE", "POLICE OFFICER (O.S.)"]
    assert Cast.of(roles).names == frozenset()
    assert Cast.of(["HUNTER"]).names == frozenset()
    assert Cast.of(["HUNTER"], ["She looks at Hunter."]).names == {"hunter"}
    assert Cast.of(["HUNTER"], ["She looks at the Hunter."]).names == frozenset()
    assert Cast.of(["DR. KING", "FRANK"]).names == {"king", "frank"}


def test_replacements_have_places_of_the_original():
    text = "Anna's dog sees the Haleys."
    done = anonymise([text], CAST)[0]
    assert [text[each.start : each.end] for each in done.replacements] == ["Anna", "the Haleys"]
    assert [each.text for each in done.replacements] == ["Anna", "the Haleys"]


def test_doubtful_words_are_listed():
    petals, smile = anonymise(["Rose petals fall.", "Rose smiles."], CAST)
    assert (petals.doubts, smile.doubts) == ((("Rose", False),), (("Rose", True),))
    texts = ["He sees Zorblax."] * 3 + ["In Paris, Anna sees Dr. Qwyx.", "On Monday, Blorf."]
    assert unknown_names(texts, Cast.of(CAST)) == {"Zorblax": 3, "Qwyx": 1}


WORDS = (
    "Anna Rose Will May Mark Haley Stone Dr. Mr. and Mrs. the The Haleys Haleys' Stones rose will "
    "petals smiles is 's , . ? \" ( a in of Someone people quickly ROSE ANNA Annas' - :"
)


@settings(max_examples=300, deadline=None, derandomize=True)
@given(st.lists(st.sampled_from(WORDS.split()), max_size=9), st.booleans())
def test_a_second_time_changes_nothing(words, spaced):
    text = " ".join(words)
    if spaced:
        text = text.replace(" ,", ",").replace(" .", ".").replace(" '", "'")
    done = anonymise([text], CAST)[0]
    assert only(done.text) == done.text
    rebuilt, place = "", 0
    for each in done.replacements:
        assert text[each.start : each.end] == each.text
        rebuilt += text[place : each.start] + each.token
        place = each.end
    assert rebuilt + text[place:] == done.text


def test_a_token_is_one_word():
    with pytest.raises(DataError, match="cannot stand for a name"):
        anonymise(["Anna waits."], CAST, token="Some one")
