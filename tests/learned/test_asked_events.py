"""Events found by a model behind an endpoint, and DREAM-1K's scores."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest

import reelscore
from reelscore import DataError
from reelscore.learned.judges.events import Events
from reelscore.report.html import report_of
from reelscore.report.html.page import encoded
from reelscore.report.sentences import SentenceReasons
from reelscore.scoring.intervals import with_intervals
from support.model_server import model_server, quotations
from support.report_payload import decoded

TEXTS = {
    "v": "A man rides a horse. A dog barks.",
    "w": "A woman cooks.",
}
TOLD = {"v": "A man rides a horse. A cat sleeps.", "w": "A woman cooks."}


def sentences(text):
    return [part.strip().rstrip(".") for part in text.split(". ") if part.strip()]


def reader(request):
    """Find an event in each sentence; a description entails what it says word for word."""
    shown = request["messages"][-1]["content"].partition("\nAnswer in JSON")[0]
    if "List the events" in shown:
        return json.dumps({"events": sentences(quotations(shown)[0])})
    description, _, asked = shown.partition("Events, in their order:")
    said = " ".join(quotations(description)).lower()
    events = [json.loads(each) for each in re.findall(r'\d\. (".*")', asked)]
    kinds = ["entailment" if e.lower().rstrip(".") in said else "neutral" for e in events]
    return json.dumps({"verdicts": [{"verdict": k, "reason": "so it says"} for k in kinds]})


@pytest.fixture
def server():
    with model_server(reader) as server:
        yield server


@pytest.fixture
def events(server, tmp_path):
    def make(**fields):
        return Events(
            "m", server.url, by="endpoint", journal=str(tmp_path / "answers.jsonl"), **fields
        )

    return make


def test_scores_are_those_worked_out_by_hand(events, server):
    """v: 1 of 2 told is borne out, 1 of 2 of the reference is told; w: 1 of 1, both."""
    references = {"v": [TEXTS["v"], "A dog barks."], "w": [TEXTS["w"]]}
    results = reelscore.score(TOLD, references, events())
    assert dict(results["events_p"].items) == {"v": 0.5, "w": 1.0}
    assert dict(results["events_r"].items) == {"v": 0.5, "w": 1.0}  # of the reference told best
    assert results["events"].score == 0.75
    # events of 4 texts, w's caption being its reference; then 3 + 2 questions on both sides, of
    # which w's two are one
    assert len(server.requests) == 4 + 4
    reelscore.score(TOLD, references, events())
    assert len(server.requests) == 8  # all in the journal
    signature = results["events"].signature
    assert signature.startswith("events|model:m|")
    assert reelscore.parse_signature(signature) == events()
    assert "|by:endpoint|" in signature
    assert "least" not in signature


def test_a_text_without_events_is_one(events, server):
    server.answer = lambda request: (
        '{"events": []}' if "List the" in str(request) else reader(request)
    )
    results = reelscore.score(TOLD, {name: [text] for name, text in TEXTS.items()}, events())
    assert dict(results["events_p"].items) == {"v": 0.0, "w": 1.0}


def test_every_event_has_a_verdict(events, server):
    """An answer with fewer verdicts than events cannot be used."""
    server.answer = lambda request: (
        '{"verdicts": [{"verdict": "neutral", "reason": ""}]}'
        if "A dog barks" in str(request) and "Events, in their" in str(request)
        else reader(request)
    )
    references = {name: [text] for name, text in TEXTS.items()}
    with pytest.raises(DataError, match=r"of its questions have no usable answer \(items 'v'"):
        reelscore.score(TOLD, references, events())
    results = reelscore.score(TOLD, references, events(failed="skip"))
    assert dict(results["events"].items) == {"w": 1.0}
    assert any("1 caption left out: 1 without a usable answer" in note for note in results.notes)


def line(subset, number, reference, prediction, events, **counts):
    said = {"type": "text", "text": prediction, "reference": reference}
    return {
        "messages": [
            {"role": "user", "content": [{"type": "text", "text": "Describe.", "reference": None}]},
            {"role": "assistant", "content": [said]},
        ],
        "dataset": f"DREAM/{subset}",
        "idx": number,
        "extra_info": {"events": events, "n_events": len(events), "duration": 4.0, **counts},
    }


@pytest.fixture
def dream(tmp_path):
    """Four clips: three of one subset, one of another."""
    one, two = {"n_subjects": 1, "n_shots": 1}, {"n_subjects": 2, "n_shots": 5}
    told = "a man rides a horse. a cat sleeps."
    both = ["A man rides a horse.", "A dog barks."]
    lines = [
        line("videvo", 1, "A man rides a horse. A dog barks.", told, both, **one),
        line("videvo", 2, "A woman cooks.", "A woman cooks.", ["A woman cooks."], **two),
        line("videvo", 3, "A boy runs.", "It is dark!", ["A boy runs.", "He falls."], **one),
        line("youtube", 4, "Rain falls.", "Snow falls.", ["Rain falls."], **one),
    ]
    path = tmp_path / "dream.jsonl"
    path.write_text("\n".join(map(json.dumps, lines)), encoding="utf-8")
    return str(path)


def dark(request):
    """Find no event in a text about the dark."""
    shown = str(request).lower()
    none = "it is dark" in shown and "list the events" in shown
    return '{"events": []}' if none else reader(request)


def test_dream_1k_is_as_its_authors_compute_it(events, server, dream):
    """P: ½, 1, 1 (no event), 0; R: ½, 1, 0, 0."""
    server.answer = dark
    results = reelscore.score(dream, dream, events(preset="dream-1k", clips=dream))
    assert list(results["events_p"].items.values()) == [0.5, 1.0, 1.0, 0.0]
    assert list(results["events_r"].items.values()) == [0.5, 1.0, 0.0, 0.0]
    p, r = (2.5 / 3 + 0) / 2, (1.5 / 3 + 0) / 2  # means of the two subsets' means
    assert results["events_p"].score == pytest.approx(p)
    assert results["events_r"].score == pytest.approx(r)
    assert results["events"].score == pytest.approx(2 * p * r / (p + r))
    videvo = 2 * (2.5 / 3) * 0.5 / (2.5 / 3 + 0.5)
    assert results["events_videvo"].score == pytest.approx(videvo)
    assert results["events_youtube"].score == 0.0
    assert "events_vertical_video" not in results  # no clip is of it
    # one subject: clips 1, 3 and 4, P (½ + 1 + 0) / 3, R (½ + 0 + 0) / 3
    assert results["events_subjects_1"].score == pytest.approx(2 * 0.5 * (1 / 6) / (0.5 + 1 / 6))
    assert results["events_shots_4"].score == 1.0
    assert results["events_events_1"].score == pytest.approx(2 * 0.625 * 0.375)
    # the events of references are the file's, and captions are asked about in small letters
    asked = [str(request["messages"][-1]["content"]) for request in server.requests]
    assert sum("List the events" in text for text in asked) == 4
    assert not any("A cat sleeps" in text for text in asked)


def test_ours_of_dream_1k_counts_every_caption_alike(events, server, dream):
    """A caption without an event is one, which nothing bears out: P is ½, 1, 0, 0."""
    server.answer = dark
    results = reelscore.score(dream, dream, events(clips=dream))
    assert results["events_p"].score == 1.5 / 4
    assert results["events_r"].score == 1.5 / 4
    assert results["events_videvo"].score == 0.5
    table = reelscore.score_systems({"one": dream}, dream, events(clips=dream))
    low, high = with_intervals(table, resamples=200).results["one"]["events"].interval
    assert 0.0 <= low < 1.5 / 4 < high <= 1.0


def test_clips_without_an_answer_are_left_out_by_dream_1k(events, server, dream):
    server.answer = lambda request: "?" if "snow falls" in str(request) else dark(request)
    results = reelscore.score(dream, dream, events(preset="dream-1k", clips=dream))
    assert results["events_p"].score == pytest.approx(2.5 / 3)
    assert len(results["events"].items) == 3


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"dataset": "DREAM/films"}, r"dream.jsonl:1: DREAM-1K has no subset 'DREAM/films'"),
        ({"extra_info": {"events": []}}, r"dream.jsonl:1: not a line of DREAM-1K"),
    ],
)
def test_files_that_are_not_dream_1k(events, tmp_path, dream, change, message):
    first, *rest = Path(dream).read_text(encoding="utf-8").split("\n")
    path = tmp_path / "dream.jsonl"
    path.write_text("\n".join([json.dumps({**json.loads(first), **change}), *rest]))
    with pytest.raises(DataError, match=message):
        reelscore.score(dream, dream, events(clips=str(path)))


def test_descriptions_that_the_file_does_not_have(events, dream):
    with pytest.raises(DataError, match="no clip has the description 'A man walks'"):
        reelscore.score({"v": "a"}, {"v": ["A man walks"]}, events(clips=dream))


@pytest.mark.parametrize(
    ("fields", "message"),
    [
        ({"by": "endpoint", "least": 0.5}, r"by:endpoint does not know 0\.5"),
        ({"model": "m"}, "by:parser does not know 'm'"),
        ({"by": "endpoint", "preset": "dream-1k"}, "name it: clips:DREAM"),
        ({"by": "endpoint"}, "no model is named"),
        ({"by": "people"}, "people"),
    ],
)
def test_parameters_that_do_not_fit(fields, message):
    with pytest.raises(reelscore.ReelscoreError, match=message):
        reelscore.score(TOLD, {name: [text] for name, text in TEXTS.items()}, Events(**fields))


def test_inspect_and_report_show_verdicts_and_reasons(events, server, tmp_path):
    references = {name: [text] for name, text in TEXTS.items()}
    scored = reelscore.score_systems({"one": TOLD, "two": dict(TOLD, w="x")}, references, events())
    asked = len(server.requests)
    head, columns = decoded(encoded(report_of(scored)))
    explained = head["explanations"]["sentences"]
    assert (explained["beside"], explained["borneOut"]) == ("verdict", 1.0)
    assert "A cat sleeps\vneutral: so it says\v0.000" in columns["sentences told"][0]
    assert "A man rides a horse\ventailment: so it says\v1.000" in columns["sentences told"][0]
    reasons = SentenceReasons.of(scored, ["events"])
    assert reasons.of_caption("one", "v") == [
        "✓ 1.00 A man rides a horse (entailment: so it says)",
        "✗ 0.00 A cat sleeps (neutral: so it says)",
        "left out: A dog barks (neutral: so it says)",
    ]
    assert len(server.requests) == asked  # neither asks anything
    (tmp_path / "answers.jsonl").unlink()
    head, _ = decoded(encoded(report_of(scored)))
    assert "sentences" not in head["explanations"]
