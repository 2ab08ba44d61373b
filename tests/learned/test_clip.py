"""CLIPScore, RefCLIPScore and EMScore: the published formulas, and what is kept."""

from __future__ import annotations

import math
import re
import shutil
import sys
from collections import Counter
from pathlib import Path

import av
import numpy as np
import pytest

from reelscore import parse_signature, score, score_systems
from reelscore.errors import DataError, MissingExtraError
from reelscore.learned.metrics.clipscore import ClipScore, RefClipScore
from reelscore.learned.metrics.emscore import EmScore, _against_frames, _against_text
from reelscore.learned.metrics.over_references import WeightedReferences
from reelscore.learned.networks.clip_model import TextVectors

torch = pytest.importorskip("torch")
transformers = pytest.importorskip("transformers")
from support.tiny_models import clip  # noqa: E402

# what torchmetrics and transformers warn of is not ours
pytestmark = pytest.mark.filterwarnings("ignore")

CAPTIONS = {"v1": "a man is riding a horse", "v2": "two dog playing with a ball on the beach"}
REFERENCES = {
    "v1": ["the man rides a horse", "a boy on a horse"],
    "v2": ["a dog runs on the beach", "two dog and a ball", "dog"],
}


@pytest.fixture(scope="session")
def model(tmp_path_factory):
    return str(clip(tmp_path_factory.mktemp("clip")))


@pytest.fixture(scope="session")
def videos(tmp_path_factory):
    """Videos of twelve frames each, of which every one is different."""
    folder = tmp_path_factory.mktemp("videos")
    rng = np.random.default_rng(3)
    for item in CAPTIONS:
        with av.open(str(folder / f"{item}.mp4"), "w") as target:
            stream = target.add_stream("libx264", rate=6)
            stream.width, stream.height, stream.pix_fmt = 96, 64, "yuv420p"
            for _ in range(12):
                blocks = rng.integers(0, 255, (8, 12, 3), np.uint8)
                picture = np.kron(blocks, np.ones((8, 8, 1), np.uint8))
                target.mux(stream.encode(av.VideoFrame.from_ndarray(picture, format="rgb24")))
            target.mux(stream.encode())
    return str(folder)


@pytest.fixture(autouse=True)
def cache(tmp_path, monkeypatch):
    monkeypatch.setenv("REELSCORE_CACHE", str(tmp_path / "cache"))
    return tmp_path / "cache" / "clip"


def by_transformers(model, videos, texts, numbers):
    """Unit vectors of texts, and of frames by their numbers, by transformers alone."""
    network = transformers.CLIPModel.from_pretrained(model).eval()
    tokenizer = transformers.PreTrainedTokenizerFast.from_pretrained(model)
    frames = {}
    for item in CAPTIONS:
        with av.open(f"{videos}/{item}.mp4") as file:
            pictures = [frame.to_image() for frame in file.decode(video=0)]
        frames[item] = [pictures[number] for number in numbers]
    vectors = {}
    with torch.no_grad():
        for text in texts:
            out = network.text_model(**tokenizer(text, return_tensors="pt"))
            vectors[text] = unit(network.text_projection(out.pooler_output)[0])
        for item, pictures in frames.items():
            pixels = processor()(pictures, return_tensors="pt")["pixel_values"]
            seen = network.vision_model(pixel_values=pixels).pooler_output
            vectors[item] = [unit(row) for row in network.visual_projection(seen)]
    return vectors


def processor():
    kind = getattr(transformers, "CLIPImageProcessorPil", None) or transformers.CLIPImageProcessor
    return kind(size={"shortest_edge": 32}, crop_size={"height": 32, "width": 32})


def unit(row):
    return (row / row.norm()).double().numpy()


def test_clipscore_by_its_definition(model, videos):
    shown = {item: f"A photo depicts {text}" for item, text in CAPTIONS.items()}
    vectors = by_transformers(model, videos, shown.values(), [1, 4, 7, 10])
    result = score(CAPTIONS, metrics=ClipScore(model, videos, frames=4))["clipscore"]
    for item in CAPTIONS:
        cosines = [float(frame @ vectors[shown[item]]) for frame in vectors[item]]
        expected = np.mean([2.5 * max(cosine, 0) for cosine in cosines])
        assert result.items[item] == pytest.approx(expected, abs=1e-4)
    assert result.scale.most == 2.5
    assert len(set(result.items.values())) == 2


def test_refclipscore_by_its_definition(model, videos):
    shown = {text: f"A photo depicts {text}" for text in CAPTIONS.values()}
    shown |= {text: f"A photo depicts {text}" for own in REFERENCES.values() for text in own}
    vectors = by_transformers(model, videos, shown.values(), [6])
    result = score(CAPTIONS, REFERENCES, RefClipScore(model, videos, frames=1))["refclipscore"]
    for item, caption in CAPTIONS.items():
        own = vectors[shown[caption]]
        seen = 2.5 * max(float(vectors[item][0] @ own), 0)
        likeness = max(0, *(float(own @ vectors[shown[text]]) for text in REFERENCES[item]))
        expected = 2 * seen * likeness / (seen + likeness) if seen + likeness else 0
        assert result.items[item] == pytest.approx(expected, abs=1e-4)


class Plain(torch.nn.Module):
    """A CLIP whose features are tensors, whatever the version of transformers."""

    def __init__(self, folder):
        super().__init__()
        self.network = transformers.CLIPModel.from_pretrained(folder).eval()
        self.config = self.network.config

    def get_image_features(self, pixels):
        return self.network.visual_projection(self.network.vision_model(pixels).pooler_output)

    def get_text_features(self, ids, mask):
        out = self.network.text_model(input_ids=ids, attention_mask=mask)
        return self.network.text_projection(out.pooler_output)


def test_numbers_of_torchmetrics(model, videos):
    from torchmetrics.functional.multimodal.clip_score import _clip_score_update

    from reelscore.video import Sampling, read_frames

    tokenizer = transformers.PreTrainedTokenizerFast.from_pretrained(model)

    def prepared(text=None, images=None, **options):
        if images is None:
            return tokenizer(text, **options)
        return processor()(images, return_tensors="pt")

    result = score(CAPTIONS, metrics=ClipScore(model, videos, frames=3, prefix=""))["clipscore"]
    for item, text in CAPTIONS.items():
        pictures = read_frames(f"{videos}/{item}.mp4", Sampling(3, side=0)).pictures
        images = [torch.from_numpy(picture.copy()).permute(2, 0, 1) for picture in pictures]
        with torch.no_grad():
            theirs, _ = _clip_score_update(images, [text] * 3, Plain(model), prepared)
        expected = 2.5 * theirs.clamp(min=0).mean().item() / 100
        assert result.items[item] == pytest.approx(expected, abs=1e-4)


# EMScore, token by token


def text_vectors(rows, ids):
    rows = np.array(rows, np.float32)
    return TextVectors(rows, rows[-1], ids)


def test_emscore_worked_by_hand():
    text = text_vectors([[1, 0], [0.6, 0.8], [0, 1]], [7, 1, 8])
    frames = np.array([[0.8, 0.6], [0, 1]], np.float32)
    precision, recall, f_score, coarse = _against_frames(text, WeightedReferences([], None), frames)
    # words: .8, max(.96, .8), max(.6, 1); frames: max(.8, .96, .6), max(0, .8, 1)
    assert precision == pytest.approx((0.8 + 0.96 + 1) / 3)
    assert recall == pytest.approx((0.96 + 1) / 2)
    assert f_score == pytest.approx(2 * precision * recall / (precision + recall))
    assert coarse == pytest.approx(0.8 / math.hypot(0.4, 0.8))  # with the mean (.4, .8)
    weights = WeightedReferences(["a"] * 9, {7: 0.0, 1: 3.0, 8: 1.0})
    weighted = _against_frames(text, weights, frames)
    assert weighted[0] == pytest.approx((3 * 0.96 + 1) / 4)
    assert weighted[1] == pytest.approx(recall)


def test_emscore_with_a_reference_worked_by_hand():
    text = text_vectors([[1, 0], [0, 1]], [7, 8])
    reference = text_vectors([[0.6, 0.8], [0.8, 0.6], [0, 1]], [7, 2, 8])
    weights = WeightedReferences(["a"] * 3, {7: 0.0, 8: 1.0})  # token 2 is not known: log 4
    precision, recall, _, coarse = _against_text(text, reference, weights)
    assert precision == pytest.approx(1.0)
    assert recall == pytest.approx((math.log(4) * 0.8 + 1) / (math.log(4) + 1))
    assert coarse == pytest.approx(1.0)


@pytest.mark.parametrize("idf", [True, False])
def test_emscore_as_published(model, videos, idf):
    """All steps again, with transformers and loops."""
    network = transformers.CLIPModel.from_pretrained(model).eval()
    tokenizer = transformers.PreTrainedTokenizerFast.from_pretrained(model)
    texts = [*CAPTIONS.values(), *(text for own in REFERENCES.values() for text in own)]
    local, ids = {}, {}
    for text in texts:
        encoded = tokenizer(text, return_tensors="pt")
        with torch.no_grad():
            rows = network.text_projection(network.text_model(**encoded).last_hidden_state[0])
        local[text] = [unit(row) for row in rows]
        ids[text] = encoded["input_ids"][0].tolist()
    corpus = [text for own in REFERENCES.values() for text in own]
    counts = Counter(token for text in corpus for token in {*ids[text], 0})
    weight = {token: math.log((len(corpus) + 1) / (n + 1)) for token, n in counts.items()}
    weight[max(weight)] = sum(weight.values()) / len(weight)
    if not idf:
        weight = dict.fromkeys(range(100), 1.0)

    def weights(text):
        own = np.array([weight.get(token, math.log(len(corpus) + 1)) for token in ids[text]])
        return own / own.sum()

    def f_score(p, r):
        return 2 * p * r / (p + r)

    vectors = by_transformers(model, videos, texts, [1, 4, 7, 10])
    results = score(CAPTIONS, REFERENCES, EmScore(model, videos, "both", frames=4, idf=idf))
    alone = score(CAPTIONS, REFERENCES, EmScore(model, videos, frames=4, idf=idf))
    for item, text in CAPTIONS.items():
        frames = vectors[item]
        p = sum(
            w * max(word @ frame for frame in frames)
            for w, word in zip(weights(text), local[text], strict=True)
        )
        r = np.mean([max(word @ frame for word in local[text]) for frame in frames])
        middle = np.mean(frames, axis=0)
        of_video = np.array(
            [p, r, f_score(p, r), local[text][-1] @ middle / np.linalg.norm(middle)]
        )
        parts = []
        for reference in REFERENCES[item]:
            theirs = local[reference]
            p = sum(
                w * max(word @ other for other in theirs)
                for w, word in zip(weights(text), local[text], strict=True)
            )
            r = sum(
                w * max(word @ other for word in local[text])
                for w, other in zip(weights(reference), theirs, strict=True)
            )
            parts.append([p, r, f_score(p, r), local[text][-1] @ theirs[-1]])
        both = (of_video + np.max(parts, axis=0)) / 2
        for got, expected in ((alone, of_video), (results, both)):
            row = [got[name].items[item] for name in list(got)]
            assert row[1:] == pytest.approx(expected.tolist(), abs=2e-4)
            assert row[0] == pytest.approx((expected[2] + expected[3]) / 2, abs=2e-4)


# What is kept


def test_frames_are_looked_at_once(model, videos, cache, monkeypatch):
    metric = ClipScore(model, videos, frames=3)
    first = score(CAPTIONS, metrics=metric)["clipscore"]
    files = list(cache.rglob("*.npy"))
    assert len(files) == 2
    monkeypatch.setattr(
        "reelscore.learned.networks.clip_model.read_frames", None
    )  # must not be called
    again = score(CAPTIONS, metrics=metric)["clipscore"]
    assert dict(again.items) == dict(first.items)
    other = score_systems({"a": CAPTIONS, "b": CAPTIONS}, metrics=metric)
    assert dict(other["b"]["clipscore"].items) == dict(first.items)


def test_damaged_files_of_the_cache_are_made_again(model, videos, cache):
    metric = ClipScore(model, videos, frames=3)
    first = score(CAPTIONS, metrics=metric)["clipscore"]
    for file in cache.rglob("*.npy"):
        file.write_bytes(file.read_bytes()[:50])
    assert dict(score(CAPTIONS, metrics=metric)["clipscore"].items) == dict(first.items)


def test_vectors_of_another_configuration_are_not_taken(model, videos, tmp_path):
    other = Path(shutil.copytree(model, tmp_path / "other"))
    config = (other / "config.json").read_text()
    (other / "config.json").write_text(config.replace("quick_gelu", "relu"))
    metric = ClipScore(str(other), videos, frames=3)
    alone = dict(score(CAPTIONS, metrics=metric)["clipscore"].items)
    shutil.rmtree(tmp_path / "cache")
    score(CAPTIONS, metrics=ClipScore(model, videos, frames=3))  # the same weights
    assert dict(score(CAPTIONS, metrics=metric)["clipscore"].items) == alone


def test_a_cache_that_cannot_be_written(model, videos, cache):
    cache.parent.write_text("a file")
    with pytest.raises(DataError, match=r"cache: the cache cannot be written .* REELSCORE_CACHE"):
        score(CAPTIONS, metrics=ClipScore(model, videos, frames=3))


@pytest.mark.parametrize("kind", [ClipScore, RefClipScore, EmScore])
def test_signatures(model, videos, kind):
    metric = kind(model, videos, frames=2)
    result = next(iter(score(CAPTIONS, REFERENCES, metric).values()))
    assert parse_signature(result.signature) == metric
    assert re.search(r"\|revision:[0-9a-f]{8}\|", result.signature)
    empty = score({**CAPTIONS, "v1": "..."}, REFERENCES, metric, empty="zero")
    assert next(iter(empty.values())).items["v1"] == 0


@pytest.mark.parametrize(
    ("metric", "message"),
    [
        (ClipScore(), "clipscore: no model is named. Models are never downloaded"),
        (EmScore("nowhere"), "emscore: nowhere: there is no such folder"),
        (ClipScore("MODEL"), "clipscore: no videos are named"),
        (ClipScore("MODEL", "nowhere"), "nowhere: there is no such folder"),
        (EmScore("MODEL", "VIDEOS"), "idf:yes needs references"),
        (EmScore("MODEL", "VIDEOS", "both", idf=False), r"see:both needs .* emscore\|see:frames"),
        (EmScore("MODEL", see="references"), r"see:references needs .* emscore\|see:frames"),
        (RefClipScore("MODEL", "VIDEOS"), "refclipscore needs references"),
    ],
)
def test_what_is_missing(model, videos, metric, message):
    from dataclasses import replace

    folders = {"MODEL": model, "VIDEOS": videos}
    metric = replace(
        metric,
        model=folders.get(metric.model, metric.model),
        videos=folders.get(metric.videos, metric.videos),
    )
    with pytest.raises(DataError, match=message):
        score(CAPTIONS, metrics=metric)


@pytest.mark.parametrize("kind", [ClipScore, RefClipScore, EmScore])
def test_long_captions_are_cut(model, videos, kind):
    long = {item: f"{text} " * 9 for item, text in CAPTIONS.items()}
    name = kind.name
    note = f"{name}: 2 texts fill all that its model reads; words beyond that were not seen."
    assert note in score(long, REFERENCES, kind(model, videos)).notes
    assert note not in score(CAPTIONS, REFERENCES, kind(model, videos)).notes


def test_rare_words_of_a_single_reference(model, videos):
    with pytest.raises(DataError, match=r"emscore: .*the same words.*emscore\|idf:no"):
        score({"v1": CAPTIONS["v1"]}, {"v1": ["a dog"]}, EmScore(model, videos))


def test_other_models(model, videos, tmp_path):
    from support.tiny_models import bert_like

    bert = bert_like(tmp_path, "bert")
    with pytest.raises(DataError, match="a model of type 'bert'; expected a CLIP"):
        score(CAPTIONS, metrics=ClipScore(str(bert), videos))


@pytest.mark.parametrize(
    "file", ["model.safetensors", "tokenizer.json", "preprocessor_config.json"]
)
def test_a_download_that_was_cut_off(model, videos, tmp_path, file):
    folder = Path(shutil.copytree(model, tmp_path / "cut"))
    whole = (folder / file).read_bytes() if (folder / file).exists() else b"{}"
    (folder / file).write_bytes(whole[: len(whole) // 2])
    with pytest.raises(DataError, match=r"clipscore: .*cut: cannot be loaded: .* fetch it again\."):
        score(CAPTIONS, metrics=ClipScore(str(folder), videos))


def test_settings_of_pictures_that_fit_no_picture(model, videos, tmp_path):
    folder = Path(shutil.copytree(model, tmp_path / "other"))
    (folder / "preprocessor_config.json").write_text('{"image_mean": [0.5, 0.5]}')
    with pytest.raises(DataError, match=r"clipscore: .*other: cannot be loaded: .* fetch it"):
        score(CAPTIONS, metrics=ClipScore(str(folder), videos))


def without_pictures(weights):
    return {name: value for name, value in weights.items() if "vision" not in name}


def shorter(weights):
    return {**weights, "logit_scale": weights["logit_scale"].reshape(1, 1)}


def no_numbers(weights):
    return {name: value * math.nan for name, value in weights.items()}


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (without_pictures, r"cannot be loaded: 39 weights are missing or of another size, such as"),
        (shorter, r"cannot be loaded: 1 weight is missing or of another size.* logit_scale"),
        (no_numbers, r"cannot be used: some of its vectors are not numbers"),
    ],
)
def test_weights_that_cannot_be_used(model, videos, tmp_path, capfd, change, message):
    """Transformers would draw missing weights by chance; NaN would leave no score at all."""
    from safetensors.torch import load_file, save_file

    folder = shutil.copytree(model, tmp_path / "other")
    file = folder / "model.safetensors"
    save_file(change(load_file(file)), file, metadata={"format": "pt"})
    with pytest.raises(DataError, match=message):
        score(CAPTIONS, metrics=ClipScore(str(folder), videos))
    assert not capfd.readouterr().err


def test_metrics_share_a_model(model, videos, tmp_path, monkeypatch):
    folder = str(shutil.copytree(model, tmp_path / "other"))  # not loaded before
    loads = []
    load = transformers.CLIPModel.from_pretrained
    monkeypatch.setattr(
        transformers.CLIPModel,
        "from_pretrained",
        lambda *args, **options: loads.append(1) or load(*args, **options),
    )
    metrics = [kind(folder, videos, frames=2) for kind in (ClipScore, RefClipScore, EmScore)]
    score(CAPTIONS, REFERENCES, metrics)
    assert len(loads) == 1


def test_other_settings_of_pictures_are_other_vectors(model, videos, tmp_path):
    scores = []
    for mean in (0.4, 0.6):
        folder = shutil.copytree(model, tmp_path / str(mean))
        settings = f'{{"image_mean": [{mean}, {mean}, {mean}]}}'
        (folder / "preprocessor_config.json").write_text(settings)
        scores.append(score(CAPTIONS, metrics=ClipScore(str(folder), videos))["clipscore"].score)
    assert scores[0] != scores[1]


@pytest.mark.parametrize("package", ["transformers", "PIL.Image"])
def test_a_package_that_is_missing(model, videos, tmp_path, monkeypatch, package):
    """The extra for training would not bring them all."""
    folder = shutil.copytree(model, tmp_path / "other")  # not loaded before
    monkeypatch.setitem(sys.modules, package, None)
    with pytest.raises(MissingExtraError, match=rf"need {package}\..*reelscore\[torch\]"):
        score(CAPTIONS, metrics=ClipScore(str(folder), videos))
