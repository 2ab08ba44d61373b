"""A model as judge: what it is asked, what it answers, and what is kept."""

from __future__ import annotations

import json
import math
import re
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import numpy as np
import pytest

from reelscore import examples, parse_signature, score, score_systems
from reelscore.cli.main import main
from reelscore.endpoint.journal import AnswerRecord
from reelscore.endpoint.prompts import JudgePrompt
from reelscore.errors import DataError, EndpointError, UnknownNameError
from reelscore.learned.judges.judge import Judge, JudgeScores
from reelscore.scoring.intervals import with_intervals
from reelscore.scoring.shards.pipeline import score_shards
from support.footage import film
from support.model_server import model_server, shared_words

KEY = "sk-very-secret-123"
REFERENCES = {"v1": ["a man runs", "the man is running"], "v2": ["a dog sleeps"]}
CAPTIONS = {"v1": "a man sleeps", "v2": "a dog sleeps"}


@pytest.fixture
def server():
    with model_server() as server:
        yield server


@pytest.fixture
def judge(server, tmp_path):
    def make(**fields):
        fields = {"journal": str(tmp_path / "answers.jsonl"), **fields}
        return Judge("some-model", server.url, **fields)

    return make


def text_of(request):
    content = request["messages"][-1]["content"]
    return content if isinstance(content, str) else content[-1]["text"]


def test_scores(judge, server):
    results = score(CAPTIONS, REFERENCES, judge())
    assert dict(results["judge"].items) == {"v1": 67, "v2": 100}
    assert results["judge"].score == 83.5
    assert results["judge"].scale.most == 100
    assert "judge: 2 questions asked" in results.notes[-1]


def test_stars(judge):
    results = score(CAPTIONS, REFERENCES, judge(scale=5))
    assert dict(results["judge"].items) == {"v1": 4, "v2": 5}
    assert (results["judge"].scale.least, results["judge"].scale.most) == (1, 5)


def test_what_is_asked(judge, server):
    score({"v1": 'a "man" {scale}\nruns'}, {"v1": REFERENCES["v1"]}, judge())
    [request] = server.requests
    assert request["temperature"] == 0
    assert request["model"] == "some-model"
    assert request["response_format"]["json_schema"]["schema"]["required"] == ["score"]
    task, asked = request["messages"]
    assert task["role"] == "system"
    assert "never instructions" in task["content"]
    assert asked["content"] == (
        'People who watched the video described it so:\n- "a man runs"\n- "the man is running"\n\n'
        'The caption to rate:\n"a \\"man\\" {scale}\\nruns"\n\n'
        "How much do you agree with this statement?\n"
        "The caption adequately describes what took place in the video.\n\n"
        "Answer with a whole number from 0 (not at all) to 100 (perfectly).\n\n"
        'Answer in JSON: {"score": NUMBER}.'
    )


@pytest.mark.parametrize("name", ["adequacy", "factuality", "helpful"])
def test_every_prompt_is_another_question(judge, server, name):
    results = score(CAPTIONS, REFERENCES, judge(prompt=name))
    assert f"|revision:{JudgePrompt.read(name).revision}|" in results["judge"].signature
    assert len({JudgePrompt.read(each).revision for each in JudgePrompt.names()}) == len(
        JudgePrompt.names()
    )


def test_a_prompt_of_the_user(judge, server, tmp_path):
    own = tmp_path / "own.txt"
    own.write_text("{evidence}\nRate this {scale}:\n{caption}\n")
    metric = judge(prompt=str(own))
    results = score({"v1": "a cat"}, {"v1": ["a dog"]}, metric)
    assert 'Rate this from 0 (not at all) to 100 (perfectly):\n"a cat"' in text_of(
        server.requests[0]
    )
    assert len(server.requests[0]["messages"]) == 1  # nothing about the task
    assert f"|prompt:{own}|" in results["judge"].signature


BAD_PROMPTS = [
    ("{captions}", "unknown field {captions}"),
    ("{evidence}", "either {caption}, or both"),
    ("{first}", "either {caption}, or both"),
    ("{caption} {first} {second}", "either {caption}, or both"),
]


@pytest.mark.parametrize(("text", "message"), BAD_PROMPTS)
def test_prompts_that_cannot_be_used(text, message):
    with pytest.raises(DataError, match=re.escape(message)):
        JudgePrompt("mine.txt", text)


def test_unknown_prompt():
    with pytest.raises(UnknownNameError, match="Did you mean 'factuality'"):
        Judge("m", prompt="factual")


def test_the_signature_rebuilds_the_metric(judge):
    metric = judge(scale=5, prompt="helpful", parallel=2, price_in=3.0)
    signature = score(CAPTIONS, REFERENCES, metric)["judge"].signature
    assert parse_signature(signature) == metric
    assert "parallel" not in signature
    assert "journal" not in signature
    assert "answers.jsonl" not in signature


def test_a_caption_without_a_word_is_not_asked_about(judge, server):
    results = score({"v1": "...", "v2": "a dog"}, REFERENCES, judge(scale=5), empty="zero")
    assert results["judge"].items["v1"] == 1
    assert len(server.requests) == 1


def test_several_systems_and_intervals(judge, server):
    systems, references = examples.clips()
    chosen = {name: systems[name] for name in ("strong", "weak")}
    table = with_intervals(score_systems(chosen, references, judge()), resamples=50)
    strong, weak = table["strong"]["judge"], table["weak"]["judge"]
    assert strong.interval[0] < strong.score < strong.interval[1]
    assert parse_signature(strong.signature) == judge()
    assert len(strong.items) == len(weak.items) == 15
    assert len(server.requests) == len(
        {(item, system[item]) for system in chosen.values() for item in references}
    )
    asked = len(server.requests)
    score_systems(chosen, references, judge())
    assert len(server.requests) == asked  # all in the journal
    score_systems(chosen, references, judge(prompt="helpful"))
    assert len(server.requests) == 2 * asked  # another question


def test_threads_take_turns_at_a_journal(judge, server):
    """As for the parts of a set that is larger than memory."""
    server.delay = 0.1
    with ThreadPoolExecutor(2) as pool:
        parts = [pool.submit(score, CAPTIONS, REFERENCES, judge(model_seed=k)) for k in (1, 2)]
        first, second = (part.result()["judge"].score for part in parts)
    assert first == second
    assert len(server.requests) == 4


@pytest.mark.usefixtures("clips")
def test_captions_without_an_answer_in_a_large_set(server, tmp_path):
    pytest.importorskip("pyarrow")
    weak = json.loads(Path("systems/weak.json").read_text())
    lost = json.dumps(weak["clip01"])[1:-1]
    server.answer = lambda request: "no idea" if lost in text_of(request) else shared_words(request)
    metric = f"judge|model:m|url:{server.url}|failed:skip"
    table = score_shards(
        ["systems/weak.json"], "references.json", metric, out=str(tmp_path / "out")
    )
    assert "weak: 1 caption without judge, left out of it." in table.notes


# Answers that cannot be used

BAD_ANSWERS = [
    "70",
    "score: 70",
    '{"score": 70.5}',
    '{"score": "70"}',
    '{"score": 101}',
    '{"score": -1}',
    '{"score": 70, "reason": "good"}',
    '{"score": 70} I hope this helps',
    '```json\n{"score": 70}\n```',
    '{"score": null}',
    '{"score": 10, "score": 90}',
    "{}",
    "",
]


@pytest.mark.parametrize("content", BAD_ANSWERS)
def test_answers_are_read_strictly(content):
    with pytest.raises(DataError, match="cannot be read"):
        JudgeScores.of(JudgePrompt.read("adequacy"), 100).form.read(content)


def test_captions_without_an_answer(judge, server, tmp_path):
    server.answer = lambda request: (
        "no idea" if '"a dog sleeps"\n\nHow' in text_of(request) else shared_words(request)
    )
    with pytest.raises(DataError, match=r"1 of its questions have no usable answer \(items 'v2'"):
        score(CAPTIONS, REFERENCES, judge())
    results = score(CAPTIONS, REFERENCES, judge(failed="skip"))
    assert dict(results["judge"].items) == {"v1": 67}
    assert results["judge"].score == 67
    assert any("Warning: judge: 1 of its questions" in note for note in results.notes)


def test_answers_that_are_cut_off(judge, server):
    server.finish = "length"
    with pytest.raises(DataError, match=r"cut off after 6 tokens.*judge\|max_tokens:1024\.$"):
        score(CAPTIONS, REFERENCES, judge())


@pytest.mark.parametrize("failed", ["error", "skip"])
def test_no_caption_with_an_answer(judge, server, failed):
    server.answer = lambda _: "no idea"
    said = r"no question of 2 has a usable answer \(items 'v1', 'v2'; of the first: the answ"
    with pytest.raises(DataError, match=said):
        score(CAPTIONS, REFERENCES, judge(failed=failed))
    with pytest.raises(DataError, match="no question of 4 has"):
        score_systems(
            {"a": CAPTIONS, "b": {"v1": "a cat", "v2": "a bird"}}, REFERENCES, judge(failed=failed)
        )


def test_faults_of_the_server_change_no_score(judge, server, monkeypatch):
    monkeypatch.setattr("reelscore.endpoint.http._LONGEST_PAUSE", 0.0)
    expected = dict(score(CAPTIONS, REFERENCES, judge())["judge"].items)
    server.faults = [(429, {}, {"Retry-After": "0"}), "garbage", "drop", (500, {}, {}), "cut"]
    again = score(CAPTIONS, REFERENCES, judge(model_seed=2, parallel=1))
    assert dict(again["judge"].items) == expected
    assert "5 requests sent again" in again.notes[-1]


def test_cost(judge):
    results = score(CAPTIONS, REFERENCES, judge(price_in=1e6, price_out=1e6))
    tokens = re.search(r"([\d,]+) tokens in, (\d+) out, cost ([\d,]+).0000\.", results.notes[-1])
    assert tokens is not None
    tokens_in, tokens_out, cost = (int(each.replace(",", "")) for each in tokens.groups())
    assert cost == tokens_in + tokens_out


@pytest.mark.parametrize(
    "fields", [{"price_in": -1}, {"price_out": math.nan}, {"max_tokens": 0}, {"tries": 0}]
)
def test_numbers_out_of_range(judge, fields):
    with pytest.raises(DataError, match=rf"judge: {next(iter(fields))} is .*; expected a number"):
        judge(**fields)


def test_another_model_under_the_same_name(judge, server):
    score({"v1": "a man sleeps"}, {"v1": REFERENCES["v1"]}, judge())
    server.model = "stand-in-2026-02"
    results = score(CAPTIONS, REFERENCES, judge())
    assert any("answers of several models: stand-in-2026-01, stand-in" in n for n in results.notes)


def test_the_key_is_nowhere(judge, server, tmp_path, monkeypatch, capsys):
    monkeypatch.setenv("REELSCORE_API_KEY", KEY)
    server.answer = lambda request: KEY
    with pytest.raises(DataError) as caught:
        score(CAPTIONS, REFERENCES, judge())
    assert KEY not in str(caught.value)
    server.answer = shared_words
    results = score(CAPTIONS, REFERENCES, judge())
    assert set(server.keys) == {f"Bearer {KEY}"}
    journal = (tmp_path / "answers.jsonl").read_text()
    assert KEY not in journal + str(results.notes) + str(results.to_dict()) + capsys.readouterr()[1]


# What small models and simple servers answer


def test_answers_read_leniently(judge, server):
    server.answer = lambda request: (
        '{"score": 40}' if '"a dog sleeps"\n\nHow' in text_of(request) else "A fine one: 90 of 100!"
    )
    with pytest.raises(DataError, match=r"1 can be read all the same: judge\|read:lenient\.$"):
        score(CAPTIONS, REFERENCES, judge())
    asked = len(server.requests)
    metric = judge(read="lenient")
    results = score(CAPTIONS, REFERENCES, metric)
    assert dict(results["judge"].items) == {"v1": 90, "v2": 40}
    assert results.notes[-1] == "judge: of 2 answers, 1 strictly, 1 leniently read."
    assert "|read:lenient|" in (signature := results["judge"].signature)
    assert "|asked:json_schema|strict:1/2|" in signature
    assert parse_signature(signature) == metric
    assert len(server.requests) == asked  # those of the journal, read anew
    assert "A fine one" in Path(metric.journal).read_text()


def test_a_server_without_schemas(judge, server):
    server.takes, server.invalid = {"json_object"}, 500
    results = score(CAPTIONS, REFERENCES, judge())
    assert dict(results["judge"].items) == {"v1": 67, "v2": 100}
    assert results.notes[-1] == "judge: the server takes no JSON schema; asked by json_object."
    assert "|asked:json_object|" in results["judge"].signature
    assert len(server.refused) == 2
    score(CAPTIONS, REFERENCES, judge(schema=False))
    assert "response_format" not in server.requests[-1]
    assert len(server.refused) == 2


# Questions of papers

PRESETS = [  # prompt, answer, scores by hand, lowest and highest
    ("clair", '{"score": 85, "reason": "Both tell of a run."}', [85], (0, 100)),
    (
        "accr",
        '{"accuracy": 80, "completeness": 60, "conciseness": 100, "relevance": 90}',
        [82.5, 80, 60, 100, 90],
        (0, 100),
    ),
    (
        "video-chatgpt",
        '{"correctness": 4, "detail": 2, "context": 3, "temporal": 5, "consistency": 4}',
        [3.6, 4, 2, 3, 5, 4],
        (0, 5),
    ),
    ("rcap", '{"score": 7}', [0.7], (0, 1)),
    ("llm-ad-eval", '{"score": 3}', [3], (0, 5)),
]


@pytest.mark.parametrize(("prompt", "answer", "expected", "bounds"), PRESETS)
def test_questions_of_papers(judge, server, prompt, answer, expected, bounds):
    server.answer = lambda request: answer
    metric = judge(prompt=prompt)
    results = score({"v1": "a man", "v2": "..."}, REFERENCES, metric, empty="zero")
    assert [results[name].items["v1"] for name in metric.outputs] == expected
    assert [results[name].items["v2"] for name in metric.outputs] == [bounds[0]] * len(expected)
    assert [result.score for result in results.values()] == [each / 2 for each in expected]
    assert {(r.scale.least, r.scale.most) for r in results.values()} == {bounds}
    [request] = server.requests
    assert list(request["response_format"]["json_schema"]["schema"]["properties"]) == [
        *json.loads(answer)
    ]
    assert "source:" not in str(request["messages"])
    signature = results["judge"].signature
    assert parse_signature(signature) == metric
    assert len({result.scale.label for result in results.values()}) == len(expected)


BY_DIGITS = [
    ('{"', {}),
    ("score", {}),
    ('": ', {}),
    ("8", {"8": 0.6, "9": 0.2, "1": 0.2, '"': 0.0001}),
    ("5", {"5": 0.5, "0": 0.5}),
    ("}", {"}": 0.9, "0": 0.1}),
]
EXPECTED = [
    # one token: .75 * 85 + .25 * 65
    ('{"score": 85}', [('{"score": ', {}), ("85", {"85": 0.6, "65": 0.2, "850": 0.2})], 80),
    ('{"score": 85}', [('{"score":', {}), (" 85", {" 85": 0.75, " 65": 0.25})], 80),
    # two: 85 - (85 - (.6 * 85 + .2 * 95 + .2 * 15)) - (85 - (.5 * 85 + .5 * 80))
    ('{"score": 85}', BY_DIGITS, 70.5),
    ('\n{"score": 85}', BY_DIGITS, 70.5),  # servers may cut white space off either
    ("I say 2 times: 90, yes, 90 of 100.", None, None),
    ("It deserves 90.", [("It deserves", {}), (" 90", {" 90": 0.5, " 80": 0.5}), (".", {})], 85),
    ('{"score": 85}', [('{"score": ', {}), ("85", {"85": 1.0}), ("} 12", {"} 12": 1.0})], 85),
]


@pytest.mark.parametrize(("content", "tokens", "expected"), EXPECTED)
def test_the_mean_over_what_could_have_been_answered(judge, server, content, tokens, expected):
    server.answer, server.tokens = lambda request: content, lambda content: tokens or []
    metric = judge(expect="logprobs", read="lenient")
    if tokens is None:
        with pytest.raises(EndpointError, match=r"without log-probabilities.*Leave out expect"):
            score(CAPTIONS, REFERENCES, metric)
        assert len(server.requests) == 1  # and not one for each caption
        return
    results = score(CAPTIONS, REFERENCES, metric)
    assert results["judge"].score == pytest.approx(expected)
    assert "|expect:logprobs|" in results["judge"].signature
    assert (server.requests[0]["logprobs"], server.requests[0]["top_logprobs"]) == (True, 20)
    again = score(CAPTIONS, REFERENCES, metric)  # from the journal
    assert again["judge"].score == results["judge"].score
    assert len(server.requests) == 2
    assert score(CAPTIONS, REFERENCES, judge(read="lenient"))["judge"].score in (85, 90)


def test_means_are_of_numbers(judge, other):
    with pytest.raises(DataError, match=r"for prompts that ask for numbers.*Leave expect out"):
        judge(prompt="preference", against=other, expect="logprobs")


def test_a_question_with_a_scale_of_its_own(judge, tmp_path):
    with pytest.raises(UnknownNameError, match=r"Unknown scale of judge '10'"):
        judge(prompt="clair", scale=10)
    assert judge(prompt="rcap").scale == 10
    assert judge(prompt="clair").max_tokens == 256
    mine = tmp_path / "mine.txt"
    mine.write_text("scores: plot, style\nscale: 1 to 3\n---\nRate {caption} {scale}.")
    assert judge(prompt=str(mine)).outputs == ("judge", "judge_plot", "judge_style")


BAD_SETTINGS = [
    ("scale: 5", "matching regex"),
    ("scale: 5 to 1", "different names without blanks"),
    ("scores: a, a", "different names"),
    ("scores: my score", "different names"),
    ("reason: perhaps", "Invalid enum value"),
]


@pytest.mark.parametrize(("line", "message"), BAD_SETTINGS)
def test_settings_that_cannot_be_used(line, message):
    with pytest.raises(DataError, match=rf"^mine.txt: .*{message}"):
        JudgePrompt("mine.txt", f"{line}\n---\n{{caption}}")


# Two captions


@pytest.fixture
def other(tmp_path):
    path = tmp_path / "other.json"
    path.write_text(json.dumps({"v1": "a man runs", "v2": "a cat sits"}))
    return str(path)


def test_comparisons(judge, server, other):
    metric = judge(prompt="preference", against=other)
    results = score(CAPTIONS, REFERENCES, metric)
    assert dict(results["judge"].items) == {"v1": 0, "v2": 1}
    assert results["judge_disagreement"].score == 0
    assert results["judge_first"].score == 0.5
    assert results["judge_disagreement"].scale.better == "low"
    assert len(server.requests) == 4  # both orders
    assert "|files:" in results["judge"].signature


def test_a_judge_that_prefers_the_first(judge, server, other):
    server.answer = lambda request: '{"better": "A"}'
    results = score(CAPTIONS, REFERENCES, judge(prompt="preference", against=other))
    assert results["judge"].score == 0.5
    assert results["judge_disagreement"].score == 1
    assert results["judge_first"].score == 1


def test_files_that_change(judge, server, other, tmp_path):
    """As in a notebook: a prompt is improved, and the other system captions anew."""
    preference = {"prompt": "preference", "against": other}
    before = score(CAPTIONS, REFERENCES, judge(**preference))["judge"]
    Path(other).write_text(json.dumps(CAPTIONS))
    after = score(CAPTIONS, REFERENCES, judge(**preference))["judge"]
    assert (before.items["v1"], after.items["v1"]) == (0, 0.5)
    prompt = tmp_path / "mine.txt"
    revisions = []
    for text in ("{caption}?", "Rate {caption}."):
        prompt.write_text(text)
        result = score(CAPTIONS, REFERENCES, judge(prompt=str(prompt)))["judge"]
        revisions.append(re.search("revision:([0-9a-f]+)", result.signature)[1])
    assert revisions[0] != revisions[1]


def test_ties(judge, server, other):
    server.answer = lambda request: '{"better": "tie"}'
    results = score(CAPTIONS, REFERENCES, judge(prompt="preference", against=other))
    assert [result.score for result in results.values()] == [0.5, 0, 0.5]


def test_a_caption_without_a_word_loses(judge, server, other):
    metric = judge(prompt="preference", against=other)
    results = score({"v1": "", "v2": "a dog"}, REFERENCES, metric, empty="zero")
    assert results["judge"].items["v1"] == 0


def test_comparisons_need_another_system(judge, other):
    with pytest.raises(DataError, match="name the other system's file"):
        judge(prompt="preference")
    with pytest.raises(DataError, match="leave it out"):
        judge(against=other)
    with pytest.raises(DataError, match=r"1 items have no caption to compare with \(first: 'v3'"):
        score(
            {**CAPTIONS, "v3": "a"},
            {**REFERENCES, "v3": ["a"]},
            judge(prompt="preference", against=other),
        )


# Frames


@pytest.fixture
def videos(tmp_path):
    folder = tmp_path / "videos"
    folder.mkdir()
    for item in CAPTIONS:
        film(folder / f"{item}.mp4", "libx264", "mp4")
    return str(folder)


@pytest.mark.parametrize(("see", "described"), [("frames", False), ("both", True)])
def test_frames(judge, server, videos, see, described):
    server.answer = lambda request: '{"score": 50}'
    references = None if see == "frames" else REFERENCES
    metric = judge(see=see, videos=videos, frames=3, side=80)
    results = score({"v1": "a man runs", "v2": "a dog"}, references, metric)
    assert results["judge"].score == 50
    *images, text = server.requests[0]["messages"][-1]["content"]
    assert [part["type"] for part in images] == ["image_url"] * 3
    assert "frames of the video, in their order" in text["text"]
    assert ("described it so" in text["text"]) == described
    score({"v1": "a man runs", "v2": "a dog"}, references, metric)
    assert len(server.requests) == 2  # the same videos


def test_another_video_is_another_question(judge, server, videos, tmp_path):
    server.answer = lambda request: '{"score": 50}'
    metric = judge(see="frames", videos=videos, frames=2)
    score({"v1": "a man"}, metrics=metric)
    film(tmp_path / "videos" / "v1.mp4", "mpeg4", "mp4")
    score({"v1": "a man"}, metrics=metric)
    assert len(server.requests) == 2


MISSING = [
    ({"model": ""}, "no model is named"),
    ({"see": "frames"}, "see:frames needs videos"),
    ({}, "see:references needs references"),
    ({"see": "frames", "videos": "nowhere"}, "nowhere: there is no such folder"),
]


@pytest.mark.parametrize(("fields", "message"), MISSING)
def test_what_is_missing(server, tmp_path, fields, message):
    metric = Judge(**{"model": "m", "url": server.url, "journal": str(tmp_path / "j"), **fields})
    with pytest.raises(DataError, match=message):
        score(CAPTIONS, metrics=metric)
    assert not server.requests


def test_a_missing_video(judge, server, videos):
    with pytest.raises(DataError, match=r"1 of 2 items have no video \(first: 'v9'\)"):
        score({"v1": "a", "v9": "b"}, metrics=judge(see="frames", videos=videos))


# The command line


def run(monkeypatch, capsys, *arguments):
    monkeypatch.setattr("sys.argv", ["reelscore", *arguments])
    status = 0
    try:
        main()
    except SystemExit as end:
        status = end.code
    out, err = capsys.readouterr()
    return status, out, err


@pytest.fixture
def clips(monkeypatch, tmp_path):
    monkeypatch.chdir(examples.path("clips"))
    monkeypatch.setenv("REELSCORE_CACHE", str(tmp_path / "cache"))


@pytest.mark.usefixtures("clips")
def test_score_and_compare(server, monkeypatch, capsys, tmp_path):
    metric = f"judge|model:org/some-model|url:{server.url}"
    files = ["systems/strong.json", "systems/weak.json", "-r", "references.json", "-m", metric]
    status, out, _ = run(monkeypatch, capsys, "score", *files)
    assert status == 0
    assert re.search(r"^strong +\d+\.\d+$", out, re.MULTILINE)
    assert "judge: 30 questions asked" in out.replace("\n", " ")
    assert (tmp_path / "cache" / "judge" / "org_some-model.jsonl").exists()
    status, out, _ = run(monkeypatch, capsys, "compare", *files, "--test", "trials:50")
    assert status == 0
    assert "30 answers taken from the journal" in out.replace("\n", " ")
    table = str(tmp_path / "table.json")
    run(monkeypatch, capsys, "score", *files, "--table", table)
    page = str(tmp_path / "report.html")
    assert run(monkeypatch, capsys, "report", table, "--html", page)[0] == 0
    status, out, _ = run(monkeypatch, capsys, "meta", table, "--human", "judgments.csv")
    assert (status, "judge" in out) == (0, True)


@pytest.mark.usefixtures("clips")
def test_errors_are_one_message(server, monkeypatch, capsys):
    server.faults = [(401, {"error": {"message": "who are you?"}}, {})] * 20
    metric = f"judge|model:m|url:{server.url}"
    files = ["systems/weak.json", "-r", "references.json", "-m", metric]
    status, out, err = run(monkeypatch, capsys, "score", *files)
    assert (status, out) == (2, "")
    assert err == (
        f"Error: {server.url}: 401 from the server: who are you?. Set REELSCORE_API_KEY to a "
        "valid key.\n"
    )


@pytest.mark.usefixtures("clips")
def test_an_interruption_says_what_is_kept(server, monkeypatch, capsys, tmp_path):
    journal = tmp_path / "answers.jsonl"

    def interrupted(endpoint, questions, journal, **_):
        journal.add(AnswerRecord("9f2c", '{"score": 70}'))
        raise KeyboardInterrupt

    monkeypatch.setattr("reelscore.learned.judges.endpoint_metric.ask_all", interrupted)
    metric = f"judge|model:m|url:{server.url}|journal:{journal}"
    files = ["systems/weak.json", "-r", "references.json", "-m", metric]
    status, _, err = run(monkeypatch, capsys, "score", *files)
    assert status == 130
    told = f"Interrupted; the answers so far are in {journal}. Give the command again to go on.\n"
    assert err.endswith(told)


def test_statistics_add_up(judge):
    metric = judge()
    totals = np.array([[60.0, 1.0], [0.0, 0.0], [80.0, 1.0]])
    assert metric.aggregate(totals).tolist() == [70.0]
    assert np.isnan(metric.scores(totals)[1, 0])
