"""Senses of verbs by four rules, and VerbNet's files."""

from __future__ import annotations

from pathlib import Path

import pytest

pytest.importorskip("reelscore_parser")

from reelscore.errors import DataError, UnknownNameError
from reelscore.text.parser.lexicon import Lexicon
from reelscore.text.parser.roles import Clause, Filler
from reelscore.text.parser.senses import Senses, read_verbnet

VERBNET = """<?xml version="1.0"?>
<VNCLASS ID="shoot-0">
  <MEMBERS><MEMBER name="shoot" wn="shoot%2:32:01"/></MEMBERS>
  <THEMROLES>
    <THEMROLE type="Agent"><SELRESTRS><SELRESTR Value="+" type="animate"/></SELRESTRS></THEMROLE>
    <THEMROLE type="Theme"><SELRESTRS/></THEMROLE>
  </THEMROLES>
  <FRAMES>
    <FRAME>
      <DESCRIPTION primary="NP V NP"/>
      <SYNTAX><NP value="Agent"/><VERB/><NP value="Theme"/></SYNTAX>
    </FRAME>
  </FRAMES>
  <SUBCLASSES>
    <VNSUBCLASS ID="shoot-0-1">
      <MEMBERS><MEMBER name="talk" wn="?talk%2:32:00"/></MEMBERS>
      <THEMROLES/>
      <FRAMES>
        <FRAME>
          <DESCRIPTION primary="NP V PP.recipient"/>
          <SYNTAX>
            <NP value="Agent"/><VERB/><PREP value="to with"/><NP value="Recipient"/>
          </SYNTAX>
        </FRAME>
      </FRAMES>
      <SUBCLASSES/>
    </VNSUBCLASS>
  </SUBCLASSES>
</VNCLASS>
"""


def filler(lemma: str | None, tag: str = "NN") -> Filler | None:
    return Filler(0, lemma, lemma, tag) if lemma else None


def clause(subject: str | None, verb: str, obj: str | None = None, **phrases: str) -> Clause:
    return Clause(
        filler(subject),
        filler(verb, "VBZ"),
        filler(obj),
        None,
        phrases=tuple((preposition, filler(noun)) for preposition, noun in phrases.items()),
    )


def sense(rule: str, said: Clause) -> tuple[int, str]:
    chosen = Senses(Lexicon.load(), rule).apply(said).verb.sense
    return chosen.number, chosen.topic


def test_first_sense_is_wordnets_first() -> None:
    assert sense("first", clause("man", "play", "guitar")) == (1, "competition")


@pytest.mark.parametrize(
    ("verb", "obj", "expected"),
    [
        ("play", "guitar", (7, "creation")),
        ("play", "keyboard", (7, "creation")),
        ("play", "basketball", (1, "competition")),
        ("take", "photo", (16, "communication")),
        ("hold", "baby", (2, "contact")),
        ("hold", "meeting", (1, "stative")),
    ],
)
def test_collocations(verb: str, obj: str, expected: tuple[int, str]) -> None:
    assert sense("collocations", clause("man", verb, obj)) == expected


def test_frames_take_the_first_sense_that_fits_the_clause() -> None:
    # "sing" is transitive first; without an object the second sense is the first to fit
    assert sense("frames", clause("woman", "sing", "song"))[0] == 1
    assert sense("frames", clause("woman", "sing"))[0] == 2
    said = Senses(Lexicon.load(), "frames").apply(clause("woman", "sing"))
    assert said.frame == "WordNet frame 2"


def test_unknown_verbs_have_no_sense() -> None:
    said = Senses(Lexicon.load(), "collocations").apply(clause("man", "blorp", "guitar"))
    assert said.verb.sense is None


def test_verbnet_chooses_by_frame_and_restrictions(tmp_path: Path) -> None:
    (tmp_path / "shoot-0.xml").write_text(VERBNET)
    rule = Senses(Lexicon.load(), "verbnet", read_verbnet(tmp_path))
    filmed = rule.apply(clause("man", "shoot", "video"))
    assert (filmed.verb.sense.number, filmed.frame) == (4, "shoot-0: NP V NP")
    # a camera is not alive: no frame fits, and the first sense stays
    unfit = rule.apply(clause("camera", "shoot", "video"))
    assert (unfit.verb.sense.number, unfit.frame) == (1, None)


def test_verbnet_makes_a_phrase_the_object(tmp_path: Path) -> None:
    (tmp_path / "shoot-0.xml").write_text(VERBNET)
    rule = Senses(Lexicon.load(), "verbnet", read_verbnet(tmp_path))
    said = rule.apply(clause("man", "talk", to="woman"))
    assert said.object.lemma == "woman"
    assert said.frame == "shoot-0-1: NP V PP.recipient"


def test_a_folder_without_verbnet_is_refused(tmp_path: Path) -> None:
    with pytest.raises(DataError, match=r"no VerbNet classes found.*give-13\.1\.xml"):
        read_verbnet(tmp_path)
    (tmp_path / "broken.xml").write_text("<VNCLASS>")
    with pytest.raises(DataError, match=r"broken\.xml: not a VerbNet file"):
        read_verbnet(tmp_path)


def test_an_unknown_rule_is_refused() -> None:
    with pytest.raises(UnknownNameError, match="Did you mean 'frames'"):
        Senses(Lexicon.load(), "frame")
