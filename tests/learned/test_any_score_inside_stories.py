"""Stories matched by metrics that read sentences: each pair is scored once, and only if needed."""

from __future__ import annotations

import pytest

from reelscore import DataError, examples, score, stories
from support.model_server import model_server
from support.story_twins import soda

SYSTEMS, ANNOTATORS = examples.stories()
VIDEO = "v_dogwash"
CANDIDATES = {
    "v1": [
        {"timestamp": [0, 10], "sentence": "A man runs."},
        {"timestamp": [10, 20], "sentence": "a dog sleeps"},
        {"timestamp": [20, 30], "sentence": "A man runs."},
        {"timestamp": [50, 60], "sentence": "nobody is there"},
    ]
}
REFERENCES = {
    "v1": [
        {"timestamp": [0, 10], "sentence": "a man runs home"},
        {"timestamp": [10, 30], "sentence": "a man runs home"},
    ]
}


@pytest.fixture
def judged(tmp_path):
    def score_by(**choices):
        journal = tmp_path / "answers.jsonl"
        f = f"judge|model:m|url:{server.url}|journal:{journal}"
        return stories.score(CANDIDATES, REFERENCES, "soda_c", f=f, **choices), server.requests

    with model_server() as server:
        yield score_by


def test_a_judge_is_asked_once_for_each_pair_that_overlaps(judged):
    """The server says 100 × the share of words that the reference has.

    "runs." is no word of it, and "a" is the only one of "a dog sleeps": 67 and 33. Costs: 1 × 67
    for the first, 0.5 × 33 and 0.5 × 67 for the second reference; the best path has 67 + 33.5 =
    100.5; 4 candidates and 2 references.
    """
    results, requests = judged()
    asked = [request["messages"][-1]["content"] for request in requests]
    assert len(asked) == 2
    assert sum('"A man runs."' in text for text in asked) == 1
    assert not any("nobody" in text for text in asked)
    parts = [results[f"soda_c{end}"].score for end in ("_precision", "_recall", "")]
    precision, recall = 100.5 / 4, 100.5 / 2
    assert parts == pytest.approx(
        [precision, recall, 2 * precision * recall / (precision + recall)]
    )
    assert "judge: 2 questions asked" in results.notes[-1]
    assert "|f:judge/model:m/" in results["soda_c"].signature
    assert "/revision:" in results["soda_c"].signature
    assert "|tok:raw|" in results["soda_c"].signature
    again, requests = judged(annotators="merge")
    assert len(requests) == 2  # the journal has them
    assert again["soda_c"].score == results["soda_c"].score


def test_rdcap_is_soda_with_the_question_of_rcap(tmp_path):
    """Every pair has 7 of 10: .7 and half of it of 4 candidates and 2 references; nothing is 0."""
    with model_server(lambda request: '{"score": 7}') as server:
        f = f"judge|prompt:rcap|model:m|url:{server.url}|journal:{tmp_path / 'answers.jsonl'}"
        ours, truth = {**CANDIDATES, "v2": []}, {**REFERENCES, "v2": REFERENCES["v1"]}
        results = stories.score(ours, truth, "soda_c", f=f)
    precision, recall = (0.7 + 0.35) / 4, (0.7 + 0.35) / 2
    f1 = 2 * precision * recall / (precision + recall)
    assert results["soda_c"].items.to_dict() == pytest.approx({"v1": f1, "v2": 0.0})


@pytest.mark.parametrize("f", ["sts", "bertha", "bertscore", "spice"])
def test_metrics_that_read_sentences(f):
    truth = ANNOTATORS["annotator_1"]
    results = stories.score({VIDEO: SYSTEMS["concise"]["results"][VIDEO]}, {VIDEO: truth[VIDEO]},
                            "soda_c", f=f)  # fmt: skip
    name = {"bertscore": "bertscore_f"}.get(f, f)

    def of_pair(candidate: str, reference: str) -> float:
        metric = "bertha|scale:percent" if f == "bertha" else f
        return max(0.0, score({"v": candidate}, {"v": [reference]}, metric)[name].score)

    ours = [(each["timestamp"], each["sentence"]) for each in SYSTEMS["concise"]["results"][VIDEO]]
    theirs = list(zip(truth[VIDEO]["timestamps"], truth[VIDEO]["sentences"], strict=True))
    parts = [results[f"soda_c{end}"].score for end in ("_precision", "_recall", "")]
    assert parts == pytest.approx(soda(ours, theirs, "soda_c", of_pair), abs=1e-5)


def test_what_cannot_be_asked_about_pairs():
    with pytest.raises(DataError, match="does not compare a sentence with a reference"):
        stories.score(CANDIDATES, REFERENCES, f="judge|model:m|see:frames|videos:clips")
