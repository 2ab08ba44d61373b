"""Events: which are told, and which are invented."""

from __future__ import annotations

import json

import numpy as np
import pytest

import reelscore
from reelscore.learned.judges import events as events_module
from reelscore.learned.judges.events import Events
from reelscore.report.html import report_of
from reelscore.report.html.page import encoded
from reelscore.report.sentences import sentence_matches
from reelscore.text.parser.sentences import parse
from support.report_payload import decoded

pytest.importorskip("reelscore_parser", reason="events are found by the package reelscore-parser")

WORDS = ["ride", "horse", "cook", "bark", "man", "woman", "dog"]


class Vectors:
    """A model whose vectors count the words that it knows; a word counts in any form."""

    def vectors(self, texts, threads):
        rows = np.array([[float(word in text.lower()) for word in WORDS] for text in texts])
        return rows / np.maximum(np.linalg.norm(rows, axis=1, keepdims=True), 1)


@pytest.fixture
def by_words(monkeypatch):
    monkeypatch.setattr(events_module, "pair_scorer", lambda model, dtype: Vectors())


def test_a_caption_is_divided_into_events():
    told = "The man slices an onion, while he sings, and eats it as a dog barks. Two cups."
    [sentence, bare] = parse([told, "two dogs"])
    assert sentence.events == [
        "The man slices an onion",
        "man sings",
        "man eats it",
        "a dog barks",
    ]
    assert bare.events == ["two dogs"]


REFERENCES = {"v": ["A man rides a horse. A dog barks."], "w": ["a woman cooks"]}
CANDIDATES = {"v": "a man rides a horse", "w": "A woman cooks. A man rides a horse."}


def test_scores_are_those_worked_out_by_hand(by_words):
    """v: 1 of 1 told, 1 of 2 asked; w: 1 of 2 told, 1 of 1 asked."""
    results = reelscore.score(CANDIDATES, REFERENCES, "events|least:0.9")
    assert dict(results["events_p"].items) == {"v": 1.0, "w": 0.5}
    assert dict(results["events_r"].items) == {"v": 0.5, "w": 1.0}
    assert dict(results["events"].items) == pytest.approx({"v": 2 / 3, "w": 2 / 3})
    # F1 of the means .75 and .75, which is not the mean of the items' F1
    assert [result.score for result in results.values()] == [0.75, 0.75, 0.75]


@pytest.mark.parametrize("offer", ["Would you like me to ride on?", "I hope this helps!"])
def test_what_is_addressed_to_the_reader_is_no_event(by_words, offer):
    closed = {item: f"{caption.rstrip('.')}. {offer}" for item, caption in CANDIDATES.items()}
    asked = {item: [f"{text.rstrip('.')}. {offer}"] for item, [text] in REFERENCES.items()}
    plain, talking = (
        reelscore.score(*texts, "events|least:0.9")
        for texts in ((CANDIDATES, REFERENCES), (closed, asked))
    )
    for name in ("events_p", "events_r"):
        assert dict(talking[name].items) == dict(plain[name].items)


def test_without_a_bound_cosines_count(by_words):
    """*man ride horse* shares one word of one with *man*, and nothing with *dog bark*."""
    caption, reference = "a man rides a horse", "a man. a dog barks"
    results = reelscore.score({"v": caption}, {"v": [reference]}, "events")
    assert results["events_p"].score == pytest.approx(1 / np.sqrt(3))
    assert results["events_r"].score == 0.0  # "a man" is no event where something else happens
    several = [reference, "a man", "a horse and a man"]
    [found] = sentence_matches(Events(), "ptb", [caption], [several])
    assert (found.told[0].match, found.reference) == ("a horse and a man", 2)
    assert found.score == pytest.approx(2 / np.sqrt(6))


def test_every_caption_counts(by_words):
    captions = {**CANDIDATES, "w": "..."}
    results = reelscore.score(captions, REFERENCES, "events|least:0.9", empty="zero")
    assert dict(results["events_p"].items) == {"v": 1.0, "w": 0.0}
    assert results["events"].score == pytest.approx(2 * 0.5 * 0.25 / 0.75)


def test_shipped_vectors_tell_an_invented_event():
    pytest.importorskip("reelscore_bertha")
    caption = "A man lights a fire and a cat knocks over a vase. A dog is lying on a rug."
    reference = "a man opens a door. he lights a fire in the stove. a dog lies on the carpet."
    metric = Events()
    [found] = sentence_matches(metric, "ptb", [caption], [[reference]])
    assert [each.score >= metric.borne_out for each in found.told] == [True, False, True]
    assert [each.score >= metric.borne_out for each in found.asked] == [False, True, True]
    result = reelscore.score({"v": caption}, {"v": reference}, "events")["events"]
    assert result.score == pytest.approx(found.score)
    assert reelscore.parse_signature(result.signature) == metric
    assert "|parser:reelscore-parser-" in result.signature


def test_inspect_and_report_show_each_event(by_words, tmp_path, run):
    systems = {"one": CANDIDATES, "two": dict.fromkeys(CANDIDATES, "a dog barks")}
    for name, captions in {**systems, "refs": REFERENCES}.items():
        (tmp_path / f"{name}.json").write_text(json.dumps(captions))
    files = [str(tmp_path / f"{name}.json") for name in systems]
    refs, table = str(tmp_path / "refs.json"), str(tmp_path / "scores.json")
    run("score", *files, "-r", refs, "-m", "events|least:0.9", "--table", table)
    shown = run("inspect", table, "--captions", *files, "-r", refs, "-m", "events")[1]
    assert "✗ 0.00 A man rides a horse (nearest: a woman cooks)" in shown
    assert "left out: a woman cooks" in shown
    scored = reelscore.score_systems(systems, REFERENCES, "events|least:0.9")
    head, columns = decoded(encoded(report_of(scored)))
    assert head["explanations"]["sentences"] == {
        "score": "Events F1",
        "borneOut": 0.9,
        "part": "event",
        "beside": "nearest",
    }
    assert columns["sentences told"][3] == "a dog barks\va woman cooks\v0.000"


def test_a_bound_is_a_share():
    with pytest.raises(reelscore.DataError, match=r"events: least is 2; expected a number from 0"):
        Events(least=2)
