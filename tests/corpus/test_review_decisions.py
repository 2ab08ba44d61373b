"""Decisions of review: what they change, undoing, versions, and what the next steps make of it."""

from __future__ import annotations

import json

import pytest

from reelscore.corpus.project_files import Decision, Segment, TimedSentence
from reelscore.corpus.release.clip_assembly import assemble
from reelscore.corpus.review.actions import Reviewer, split_text, suggested_flags
from reelscore.corpus.review.decisions import append_decision, read_decisions, replay
from reelscore.corpus.time_map import Piece, TimeMap
from reelscore.errors import DataError, RefusedError

NOW = "2026-01-01T00:00:00Z"
SEGMENTS = [Segment(f"n{k}", k, k + 2.0, k + 0.5, k + 2.5, -8.0, 0.9) for k in (4.0, 8.0, 12.0)]
SENTENCES = [
    TimedSentence("t8", "Anna opens the door. Rain falls.", 8.0, 10.0, "ad", parent="n8.0"),
    TimedSentence("e1.0", "A car stops.", 8.5, 9.5, "script", parent="e1"),
]


class Somebody:
    """Somebody who decides about a film with three segments and two sentences."""

    def __init__(self, segments=SEGMENTS, sentences=SENTENCES):
        self.segments, self.sentences, self.decisions = segments, sentences, []

    @property
    def reviewed(self):
        return replay(self.segments, self.sentences, self.decisions)

    def decide(self, action, *arguments):
        time_map = TimeMap((Piece(0.0, 99.5, -0.5, 1.0),))
        desk = Reviewer(self.reviewed, self.decisions, "ada", 99.0, time_map, lambda: NOW)
        # as it is read back from its line
        decision = json.loads(json.dumps(vars(getattr(desk, action)(*arguments))))
        self.decisions.append(Decision(**decision))
        return self.decisions[-1]

    def passages(self):
        return {each.id: each for each in self.reviewed.passages()}


def test_passages_are_sentences_and_segments_without_words():
    passages = Somebody().passages()
    assert list(passages) == ["n4.0", "t8", "e1.0", "n12.0"]
    assert (passages["t8"].confidence, passages["e1.0"].confidence) == (0.9, None)


def test_edges_move_in_both_times():
    reviewer = Somebody()
    reviewer.decide("move", "n4.0", 4.0, 6.05)
    segment = reviewer.reviewed.segments[0]
    assert (segment.end, segment.ad_end, segment.state) == (6.05, 6.55, "edited")
    with pytest.raises(DataError, match=r"at least 0\.05 s"):
        reviewer.decide("move", "n4.0", 6.0, 6.01)
    reviewer.decide("move", "t8", 7.5, 200.0)
    assert (reviewer.passages()["t8"].start, reviewer.passages()["t8"].end) == (7.5, 99.0)


def test_sentences_split_and_join():
    reviewer = Somebody()
    reviewer.decide("split", "t8", 9.4)
    texts = {each.id: each.text for each in reviewer.reviewed.sentences if each.origin == "ad"}
    assert texts == {"t8": "Anna opens the door.", "t00.00.09.400": "Rain falls."}
    reviewer.decide("merge", "t8")
    assert reviewer.reviewed.sentences[0].text == SENTENCES[0].text
    assert (reviewer.passages()["t8"].end, len(reviewer.passages())) == (10.0, 4)
    with pytest.raises(DataError, match="not inside"):
        reviewer.decide("split", "t8", 10.0)
    with pytest.raises(DataError, match="no passage after"):
        reviewer.decide("merge", "e1.0")
    with pytest.raises(DataError, match="one word"):
        split_text("Rain.", 0.5)


def test_segments_split_join_and_are_drawn():
    reviewer = Somebody()
    reviewer.decide("split", "n4.0", 5.0)
    assert [(each.start, each.end, each.ad_start) for each in reviewer.reviewed.segments[:2]] == [
        (4.0, 5.0, 4.5),
        (5.0, 6.0, 5.5),
    ]
    reviewer.decide("merge", "n4.0")
    reviewer.decide("new", 20.0, 18.0)
    drawn = reviewer.reviewed.segments[-1]
    assert (drawn.id, drawn.start, drawn.end, drawn.source) == ("n00.00.18.000", 18, 20, "hand")
    reviewer.decide("edit", drawn.id, " Words  of a person. ")
    clips = assemble("f", reviewer.reviewed.sentences)
    assert clips[-1].id == "f_00.00.18.000-00.00.20.000"
    assert reviewer.reviewed.sentences[1].text == "Words of a person."
    assert drawn.id not in reviewer.passages()


def test_every_step_can_be_undone():
    reviewer = Somebody()
    states = [reviewer.reviewed]
    for action, *arguments in [
        ("accept", "n4.0"),
        ("reject", "t8", "sound or music"),
        ("move", "n4.0", 3.0, 6.0),
        ("split", "n4.0", 5.0),
        ("merge", "n4.0"),
        ("new", 30.0, 31.0),
        ("edit", "n12.0", "Text."),
        ("name", "t8", "Anna", True),
    ]:
        reviewer.decide(action, *arguments)
        states.append(reviewer.reviewed)
    while len(states) > 1:
        states.pop()
        reviewer.decide("undo")
        assert reviewer.reviewed == states[-1]
    with pytest.raises(DataError, match="nothing to undo"):
        reviewer.decide("undo")


def test_reasons_of_rejecting_go_with_the_state():
    reviewer = Somebody()
    reviewer.decide("reject", "n8.0", "text on screen")  # the segment of the sentence
    assert reviewer.reviewed.sentences[0].flags == ("text on screen",)
    reviewer.decide("accept", "t8")
    assert (reviewer.passages()["t8"].state, reviewer.passages()["t8"].reason) == ("accepted", "")
    assert reviewer.reviewed.sentences[0].flags == ()


def test_decisions_follow_segments_that_were_made_again():
    reviewer = Somebody()
    reviewer.decide("move", "n4.0", 4.0, 6.5)
    reviewer.decide("split", "n4.0", 5.0)
    reviewer.segments = [Segment("other", 4.1, 6.2, 4.6, 6.7, -8.0, 0.9)]
    first, second = reviewer.reviewed.segments
    assert (first.id, first.start, first.end, second.end) == ("other", 4.0, 5.0, 6.5)
    reviewer.segments = []
    assert len(reviewer.reviewed.orphaned) == 2


def test_versions_keep_two_reviewers_apart(tmp_path):
    file = tmp_path / "decisions.jsonl"
    accept = Decision(NOW, "ada", "n1", "accept")
    assert append_decision(file, accept, version=0) == 1
    with pytest.raises(RefusedError, match="somebody else has decided") as conflict:
        append_decision(file, accept, version=0)
    assert conflict.value.reason == "conflict"
    assert len(read_decisions(file)) == 1
    file.write_bytes(file.read_bytes() + b'{"at": "2026')  # the line of a crash does not count
    assert append_decision(file, accept, version=1) == 2


def test_damaged_decisions_are_named():
    for after, words in (({"end": "late"}, "sets end"), ({"added": [{"id": 1}]}, "neither")):
        with pytest.raises(DataError, match=words):
            replay(SEGMENTS, [], [Decision(NOW, "ada", "n4.0", "move", {"start": 4.0}, after)])


@pytest.mark.parametrize(
    ("text", "start", "flags"),
    [
        ("Blue Door Pictures presents", 10.0, ["introduction or ending"]),
        ("Blue Door Pictures presents", 1000.0, []),
        ("Directed by Ada.", 3500.0, ["introduction or ending"]),
        ('A sign says "Closed".', 1000.0, ["text on screen"]),
        ("Letters form: NEW YORK CITY.", 1000.0, ["text on screen"]),
        ("The letter reads: come home.", 1000.0, ["text on screen"]),
        ("She reaches the TV.", 1000.0, []),
        ("Soft music plays.", 1000.0, ["sound or music"]),
        ("They hear the sound of a car.", 1000.0, ["sound or music"]),
        ("Anna heads for the music hall.", 1000.0, ["sound or music"]),  # it only suggests
        ("Anna opens the door.", 10.0, []),
    ],
)
def test_suggestions(text, start, flags):
    assert list(suggested_flags(text, start, start + 2, 3600.0)) == flags
