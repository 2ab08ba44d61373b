"""Captions of a model in a folder: offline, in batches, resumed."""

from __future__ import annotations

import json
import shutil
import socket
from dataclasses import replace

import pytest

from reelscore.captioners import CaptionSettings, run
from reelscore.errors import DataError, MissingExtraError
from reelscore.web.demo import draw_videos
from support.footage import film
from support.tiny_models import llava

pytest.importorskip("transformers")

ITEMS = ["one", "two", "three"]
SETTINGS = CaptionSettings(frames=8, side=32, max_tokens=6)


@pytest.fixture(scope="module")
def model(tmp_path_factory):
    return llava(tmp_path_factory.mktemp("llava"))


@pytest.fixture(scope="module")
def videos(tmp_path_factory):
    folder = tmp_path_factory.mktemp("videos")
    draw_videos(folder, ITEMS, seconds=1.0)
    film(folder / "short.mp4", "libx264", "mp4")  # six frames: in a batch, its text is padded
    return folder


@pytest.fixture(autouse=True)
def offline(monkeypatch):
    def refused(*arguments):
        raise AssertionError("something wants to go out")

    monkeypatch.setattr(socket.socket, "connect", refused)


def test_batches_give_what_single_clips_give(model, videos, tmp_path):
    single = run(f"hf:{model}", videos, tmp_path / "a.json", SETTINGS)
    pairs = run(f"hf:{model}", videos, tmp_path / "b.json", SETTINGS, batch=2)
    assert single.captions == pairs.captions
    assert sorted(single.captions) == sorted([*ITEMS, "short"])
    assert all(single.captions.values())
    assert len(set(single.captions.values())) > 1  # it looks at the pictures
    record = json.loads((tmp_path / "b.run.json").read_text())
    assert record["adapter"] == "hf"
    assert record["device"] == "cpu"
    assert {"torch", "transformers"} <= set(record["libraries"])
    assert record["cut_short"] == sum(
        json.loads(line)["finish"] == "length"
        for line in (tmp_path / "b.journal.jsonl").read_text().splitlines()
        if "finish" in line
    )
    assert record["tokens_in"] > (3 * 8 + 6) * 4  # four tokens of each picture


def test_a_model_that_knows_no_task(model, videos, tmp_path):
    """Its template refuses it; it is told in the question."""
    strict = tmp_path / "strict"
    shutil.copytree(model, strict)
    template = strict / "chat_template.jinja"
    refusal = "{% if messages[0].role == 'system' %}{{ raise_exception('no system') }}{% endif %}"
    template.write_text(refusal + template.read_text())
    (tmp_path / "mine.txt").write_text("a dog runs\n---\nthe man is")
    settings = replace(SETTINGS, prompt=str(tmp_path / "mine.txt"))
    assert len(run(f"hf:{strict}", videos, tmp_path / "out.json", settings).captions) == 4


def test_it_goes_on_from_the_journal(model, videos, tmp_path):
    made = run(f"hf:{model}", videos, tmp_path / "out.json", SETTINGS)
    journal = tmp_path / "out.journal.jsonl"
    journal.write_text("".join(journal.read_text().splitlines(keepends=True)[:2]))
    again = run(f"hf:{model}", videos, tmp_path / "out.json", SETTINGS)
    assert again.record["reused"] == 2
    assert again.captions == made.captions


def test_videos_need_torchvision(model, videos, tmp_path, monkeypatch):
    monkeypatch.setattr("reelscore.captioners.adapters.hugging_face.find_spec", lambda name: None)
    with pytest.raises(MissingExtraError, match="with torchvision only"):
        run(f"hf:{model}", videos, tmp_path / "out.json", CaptionSettings(sent="video"))


def test_folders_that_cannot_be_used(model, videos, tmp_path):
    from support.tiny_models import bert_like

    (tmp_path / "bert").mkdir()
    with pytest.raises(DataError, match="'bert' that cannot be loaded as one that describes"):
        run(f"hf:{bert_like(tmp_path / 'bert', 'bert')}", videos, tmp_path / "out.json")
