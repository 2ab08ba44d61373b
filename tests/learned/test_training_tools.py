"""The tools that train the shipped model, at a tiny size: a GPU's time is too dear for a typo."""

from __future__ import annotations

import os
import subprocess
import sys
from collections import Counter
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from reelscore.learned.judged_captions import read_captions, write_captions

TOOLS = Path(__file__).parents[2] / "tools"
YEARS = ["2016", "2017", "2018", "2019", "2020"]


def run(tool, *words):
    environment = {**os.environ, "WORKERS": "2", "CUDA_VISIBLE_DEVICES": ""}
    command = [sys.executable, str(TOOLS / tool), *map(str, words)]
    return subprocess.run(command, env=environment, capture_output=True, text=True, timeout=600)


@pytest.fixture
def judged(captions, tmp_path):
    by_year = [replace(c, group=YEARS[k // 7 % 5]) for k, c in enumerate(captions)]
    write_captions(tmp_path / "judged.jsonl", [c for c in by_year if c.score is not None])
    return tmp_path / "judged.jsonl"


@pytest.fixture
def encoder(tiny, tmp_path):
    """The tiny encoder, for texts as long as the recipe's."""
    import transformers

    folder = tmp_path / "encoder"
    longer = transformers.AutoConfig.from_pretrained(tiny, max_position_embeddings=256)
    transformers.BertModel(longer).save_pretrained(folder)
    transformers.AutoTokenizer.from_pretrained(tiny).save_pretrained(folder)
    return folder


def test_a_way_that_does_not_exist_is_refused_before_training(judged, tiny, tmp_path):
    made = tmp_path / "made"
    done = run("train_bertha.py", judged, tiny, made, "--only", "--last", "bertha:no=1")
    assert done.returncode != 0
    assert "unexpected keyword argument 'no'" in done.stderr
    assert not made.exists()


@pytest.mark.full
def test_from_captions_to_the_tables_of_seeds(judged, encoder, tmp_path):
    few = ("--only", "--no-final", "--members", "1", "--folds", "2017", "2018")
    for seed in ("1", "2"):
        options = (*few, "--seed", seed, "--student", "small:epochs=1;layers=(1,)")
        done = run("train_bertha.py", judged, encoder, tmp_path / f"seed-{seed}", *options)
        assert done.returncode == 0, done.stderr
        kept = np.load(tmp_path / f"seed-{seed}" / "predictions.npz")
        assert {"bertha|MA-2017", "small|MA-2018", "below bertha|2017"} <= set(kept)
    pairs = [(f"{c.kind}-{c.group}", text) for c in read_captions(judged) for text in c.references]
    counts = Counter(folder for folder, _ in pairs)
    np.savez(tmp_path / "similarities.npz", **{f: np.zeros(n) for f, n in counts.items()})
    runs = [tmp_path / "seed-1", tmp_path / "seed-2"]
    done = run("compare_seeds.py", judged, tmp_path / "similarities.npz", *runs)
    assert done.returncode == 0, done.stderr
    assert "| run | 2017 | 2018 | mean | systems | SA |" in done.stdout
    assert "2 runs: mean r" in done.stdout
    assert "| shuffle | " in done.stdout
