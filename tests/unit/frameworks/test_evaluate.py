"""The module for evaluate, loaded by the real package without a network."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from importlib.util import find_spec

import pytest

from reelscore import score
from reelscore.frameworks import evaluate_module

SCRIPT = """
import json, sys
import evaluate
module = evaluate.load(sys.argv[1])
captions, references = ["a man rides", "two dogs"], [["a man rides a horse"], ["dogs", "two dogs"]]
first = module.compute(predictions=captions, references=references)
module.add_batch(predictions=captions[:1], references=["a man rides a horse"])
second = module.compute(metrics="bleu|n:2", threads=1)
print(json.dumps([first, second]))
"""


def test_evaluate_loads_the_module(tmp_path):
    if find_spec("evaluate") is None:
        pytest.skip("evaluate is not installed")
    done = subprocess.run(
        [sys.executable, "-c", SCRIPT, evaluate_module()],
        env={**os.environ, "HF_HOME": str(tmp_path), "HF_HUB_OFFLINE": "1"},
        capture_output=True,
        text=True,
        timeout=300,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    first, second = json.loads(done.stdout.splitlines()[-1])
    captions = {"1": "a man rides", "2": "two dogs"}
    references = {"1": ["a man rides a horse"], "2": ["dogs", "two dogs"]}
    expected = score(captions, references)
    assert first == {name: result.score for name, result in expected.items()}
    alone = score({"1": "a man rides"}, {"1": references["1"]}, "bleu|n:2")
    assert second == {name: result.score for name, result in alone.items()}
