"""Captions of a model in a folder: offline, in batches, resumed."""

from __future__ import annotations

import json
import shutil
import socket
import sys
from dataclasses import replace
from pathlib import Path

import pytest

from reelscore.captioners import CaptionSettings, run
from reelscore.errors import DataError, MissingExtraError
from reelscore.examples.drawn_videos import draw_videos
from support.footage import film
from support.tiny_models import llava

pytest.importorskip("transformers")

from safetensors.numpy import load_file, save_file

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
    with pytest.raises(MissingExtraError, match=r"with torchvision only.*torchvision==0\.\d\d\."):
        run(f"hf:{model}", videos, tmp_path / "out.json", CaptionSettings(sent="video"))


@pytest.mark.parametrize("sent", ["images", "video"])
def test_a_torchvision_of_another_torch(model, videos, tmp_path, monkeypatch, sent):
    """It keeps transformers from loading, whatever is sent."""
    own = tmp_path / "packages/torchvision"
    own.mkdir(parents=True)
    broken = "raise RuntimeError('operator torchvision::nms does not exist')\n"
    (own / "__init__.py").write_text(broken)
    monkeypatch.syspath_prepend(own.parent)
    monkeypatch.delitem(sys.modules, "torchvision", raising=False)
    message = (
        r"torchvision .* cannot be used with torch 2\..*nms does not exist.*Install torchvision=="
    )
    with pytest.raises(DataError, match=message):
        run(f"hf:{model}", videos, tmp_path / "out.json", CaptionSettings(sent=sent))
    assert not list(tmp_path.glob("out*"))


def test_models_that_take_no_videos(model, videos, tmp_path, monkeypatch):
    """They would describe a clip without having seen it."""
    (tmp_path / "packages/torchvision").mkdir(parents=True)
    (tmp_path / "packages/torchvision/__init__.py").touch()
    monkeypatch.syspath_prepend(tmp_path / "packages")
    with pytest.raises(DataError, match="'llava' takes no videos; leave out sent="):
        run(f"hf:{model}", videos, tmp_path / "out.json", CaptionSettings(sent="video"))
    sys.modules.pop("torchvision", None)


def test_folders_that_cannot_be_used(model, videos, tmp_path):
    from support.tiny_models import bert_like

    (tmp_path / "bert").mkdir()
    with pytest.raises(DataError, match="'bert': cannot be loaded as one that describes"):
        run(f"hf:{bert_like(tmp_path / 'bert', 'bert')}", videos, tmp_path / "out.json")


def cut_off(path):
    path.write_bytes(path.read_bytes()[: path.stat().st_size * 2 // 3])


def without_a_tensor(path):
    tensors = load_file(path)
    tensors.pop("model.language_model.norm.weight", None) or tensors.popitem()
    save_file(tensors, path, {"format": "pt"})


def with_a_longer_tensor(path):
    tensors = load_file(path)
    name = next(name for name in tensors if name.endswith("norm.weight"))
    tensors[name] = tensors[name].repeat(2)
    save_file(tensors, path, {"format": "pt"})


@pytest.mark.parametrize(
    ("name", "damage", "message"),
    [
        ("model.safetensors", cut_off, "cannot be loaded as one that describes pictures: Error wh"),
        ("model.safetensors", Path.unlink, "there are no weights"),
        ("model.safetensors", without_a_tensor, "1 weight is missing or of another size, such as"),
        ("model.safetensors", with_a_longer_tensor, "1 weight is missing or of another size"),
        ("config.json", cut_off, r"not the folder of a model; expected config\.json.*Unterminated"),
        ("config.json", Path.unlink, r"not the folder of a model; expected config\.json"),
        ("processor_config.json", cut_off, "processor or tokenizer cannot be loaded: .*not a va"),
        ("processor_config.json", Path.unlink, "processor or tokenizer cannot be loaded: Can't"),
        ("tokenizer.json", cut_off, "processor or tokenizer cannot be loaded: Unterminated"),
        ("tokenizer.json", Path.unlink, "processor or tokenizer cannot be loaded: Couldn't inst"),
        ("tokenizer_config.json", cut_off, "processor or tokenizer cannot be loaded: Unterminated"),
        ("tokenizer_config.json", Path.unlink, "cannot describe a clip: Asking to pad"),
        ("chat_template.jinja", cut_off, "cannot describe a clip: Encountered unknown tag"),
        ("chat_template.jinja", Path.unlink, "the model has no chat template"),
    ],
)
def test_damaged_folders(model, videos, tmp_path, name, damage, message):
    folder = tmp_path / "model"
    shutil.copytree(model, folder)
    damage(folder / name)
    with pytest.raises(DataError, match=message):
        run(f"hf:{folder}", videos, tmp_path / "out.json", SETTINGS)
    assert not (tmp_path / "out.json").exists()
