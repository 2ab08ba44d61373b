"""Questions about videos, answered from captions: VDCscore and CAPability."""

from __future__ import annotations

import json
import re

import pytest

import reelscore
from reelscore import DataError
from reelscore.learned.judges.benchmark_files import DIMENSIONS, read_questions
from reelscore.learned.judges.questions import Questions
from support.model_server import model_server, quotations


def reader(request):
    """Answer with the caption; compare by words; find an annotation where all its words are."""
    shown = request["messages"][-1]["content"].partition("\nAnswer in JSON")[0]
    texts = quotations(shown)
    if "Answer in a phrase" in shown:
        return json.dumps({"answer": texts[0]})
    words = [set(re.findall(r"\w+", text.lower())) for text in texts]
    if "The answer to check" in shown:
        _, right, answer = words
        score = round(5 * len(right & answer) / len(right))
        return json.dumps({"same": "yes" if score == 5 else "no", "score": score})
    caption, truth = words
    said = "right" if truth <= caption else "wrong" if "blue" in caption else "missing"
    return json.dumps({"verdict": said, "reason": ""})


@pytest.fixture
def server():
    with model_server(reader) as server:
        yield server


@pytest.fixture
def questions(server, tmp_path):
    def make(file, **fields):
        return Questions(
            "m", server.url, journal=str(tmp_path / "answers.jsonl"), file=file, **fields
        )

    return make


@pytest.fixture
def vdc(tmp_path):
    """Two questions about v, one about w, two about x; a line a video, as in VDC, w twice."""
    lines = [
        {"w": [asked("What runs?", "a cat")]},
        {"v": [asked("Who runs?", "a man"), asked("Where?", "in the snow")]},
        {"w": [asked("What sleeps?", "a dog")]},
        {"x": [asked("What is red?", "the car"), asked("How many?", "four")]},
    ]
    path = tmp_path / "short.jsonl"
    path.write_text("\n".join(map(json.dumps, lines)), encoding="utf-8")
    return str(path)


def asked(question, answer):
    return {"question": question, "answer": answer, "category": "short"}


def samples(tmp_path, captions):
    """Write captions as lmms-eval does."""
    rows = [
        {"doc_id": k, "doc": {"video_id": item}, "target": "", "resps": [[caption]]}
        for k, (item, caption) in enumerate(captions.items())
    ]
    path = tmp_path / "samples.json"
    path.write_text(json.dumps(rows), encoding="utf-8")
    return str(path)


CAPTIONS = {"v": "a man runs in the rain", "w": "a dog", "x": "blue"}


def test_vdcscore_counts_every_caption(questions, server, vdc, tmp_path):
    """v: yes with 5, and 2 of 3 words, 3; w: yes, 5; x: no, 0 and 0."""
    results = reelscore.score(samples(tmp_path, CAPTIONS), metrics=questions(vdc))
    assert dict(results["questions"].items) == {"v": 0.5, "w": 1.0, "x": 0.0}
    assert dict(results["questions_score"].items) == {"v": 4.0, "w": 5.0, "x": 0.0}
    assert results["questions"].score == 0.5
    assert results["questions_score"].score == 3.0
    assert len(server.requests) == 10


def test_vdcscore_as_published_leaves_captions_out(questions, server, vdc, tmp_path):
    """x has no yes, and w no answer that can be used: v alone is left."""
    server.answer = lambda request: "?" if "What sleeps" in str(request) else reader(request)
    metric = questions(vdc, preset="vdc-published")
    results = reelscore.score({**CAPTIONS, "y": "a cat"}, metrics=metric)
    assert dict(results["questions"].items) == {"v": 0.5}
    assert results["questions_score"].score == 4.0
    told = "questions: 3 captions left out: 1 without a usable answer to every question, "
    assert told + "1 without a right answer, 1 without questions." in results.notes
    assert reelscore.parse_signature(results["questions"].signature) == metric


def test_captions_that_say_the_same_are_asked_about_once(questions, server, vdc):
    """Two systems differ in x, whose two new answers are compared anew."""
    systems = {"one": CAPTIONS, "two": {**CAPTIONS, "x": "the car"}}
    table = reelscore.score_systems(systems, metrics=questions(vdc))
    assert len(server.requests) == 10 + 4
    assert table["two"]["questions"].score == pytest.approx(2 / 3)  # "the car" is not four


def test_a_caption_without_a_word_answers_nothing(questions, server, vdc):
    captions = {**CAPTIONS, "v": "..."}
    results = reelscore.score(captions, metrics=questions(vdc), empty="zero")
    assert results["questions"].items["v"] == 0.0
    assert results["questions"].score == pytest.approx(1 / 3)
    assert len(server.requests) == 6


def test_items_and_questions_that_have_no_partner(questions, vdc):
    with pytest.raises(DataError, match=r"short.jsonl: 1 items have no questions \(first: 'y'\)"):
        reelscore.score({**CAPTIONS, "y": "a cat"}, metrics=questions(vdc))
    results = reelscore.score({"w": "a dog"}, metrics=questions(vdc))
    assert any("2 items of" in note and "have no caption" in note for note in results.notes)


def test_files_that_hold_no_questions(questions, tmp_path):
    path = tmp_path / "questions.jsonl"
    path.write_text('{"v": [{"question": "Who?"}]}')
    with pytest.raises(DataError, match=r"questions.jsonl:1: expected questions of VDC"):
        reelscore.score(CAPTIONS, metrics=questions(str(path)))
    path.write_text('{"file_id": "v", "task": "smell", "annotation": "roses"}')
    with pytest.raises(DataError, match="no task 'smell'; there are object_category"):
        reelscore.score(CAPTIONS, metrics=questions(str(path), preset="capability"))
    with pytest.raises(DataError, match="No such file"):
        reelscore.score(CAPTIONS, metrics=questions("none.jsonl"))


@pytest.fixture
def capability(tmp_path):
    """Annotations as lmms-eval writes them: a file for each dimension, with the captions."""
    told = "a red car and three dogs"
    rows = {
        "object_color": [
            ("a", told, {"car": "red", "sky": None}),
            ("b", "blue sea", {"sea": "red"}),
        ],
        "dynamic_object_number": [("c", told, {"dogs": "three", "cats": "two"})],
        "style": [("d", "...", "realistic")],
    }
    folder = tmp_path / "inference"
    folder.mkdir()
    captions = {}
    for task, own in rows.items():
        lines = [
            {"file_id": item, "caption": caption, "annotation": annotation, "task": task}
            for item, caption, annotation in own
        ]
        captions |= {item: caption for item, caption, _ in own}
        (folder / f"{task}.jsonl").write_text("\n".join(map(json.dumps, lines)))
    return str(folder), captions


def test_capability(questions, capability, server):
    """Colour: 1 right, 1 wrong; number: 1 right, 1 missing; style: missing, not asked.

    Precision ½, 1, 0; recall ½, ½, 0; hit rate 1, ½, 0; F1 ½, 2/3, 0. Means over three dimensions.
    """
    folder, captions = capability
    metric = questions(folder, preset="capability")
    results = reelscore.score(captions, metrics=metric, empty="zero")
    assert results["questions"].score == pytest.approx((0.5 + 2 / 3 + 0) / 3)
    assert results["questions_p"].score == pytest.approx(1.5 / 3)
    assert results["questions_r"].score == pytest.approx(1 / 3)
    assert results["questions_hit"].score == pytest.approx(1.5 / 3)
    assert results["questions_dynamic_object_number"].score == pytest.approx(2 / 3)
    assert "questions_scene" not in results
    assert len(server.requests) == 4
    assert len(metric.outputs) == 4 + 13


def test_captions_are_read_from_the_same_files(questions, capability):
    folder, captions = capability
    own = {item: text for item, text in captions.items() if item != "d"}
    paths = f"{folder}/*o*.jsonl"  # all but that of styles
    metric = questions(paths, preset="capability")
    results = reelscore.score(own, metrics=metric)
    assert results["questions_object_color"].score == 0.5
    from reelscore.data import read_candidates

    assert read_candidates(f"{folder}/object_color.jsonl") == {"a": own["a"], "b": own["b"]}
    assert len(read_questions(folder, annotations=True)) == 4
    assert len(DIMENSIONS) == 13
