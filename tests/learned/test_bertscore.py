"""BERTScore: the package's numbers, its options, and folders that cannot be used."""

from __future__ import annotations

import json
import math
import pickle
import re
import shutil
from pathlib import Path

import numpy as np
import pytest

from reelscore import examples, parse_signature, score, score_systems
from reelscore.errors import DataError
from reelscore.learned.metrics.bertscore import BertScore

torch = pytest.importorskip("torch")
from support.tiny_models import bert_like  # noqa: E402

# what the package and transformers warn of is not ours
pytestmark = pytest.mark.filterwarnings("ignore")

REFERENCES = {
    "v1": ["a man is running on the street", "the boy runs"],
    "v2": ["two dogs are playing"],
    "v3": ["a woman plays the guitar and sits at the beach", "girl with guitar", "woman playing"],
}
CAPTIONS = {"v1": "the man runs", "v2": "a cat sits in a car", "v3": "a woman playing guitar"}


@pytest.fixture(scope="session", params=["bert", "roberta", "distilbert"])
def encoder(request, tmp_path_factory):
    return str(bert_like(tmp_path_factory.mktemp(request.param), request.param))


@pytest.fixture(scope="session")
def bert(tmp_path_factory):
    return str(bert_like(tmp_path_factory.mktemp("bert"), "bert"))


def by_package(candidates, references, model, layer, **options):
    bert_score = pytest.importorskip("bert_score")
    options = {"nthreads": 0, "batch_size": 1, **options}
    columns = bert_score.score(
        candidates, references, model_type=model, num_layers=layer, **options
    )
    return np.column_stack([column.numpy() for column in columns])


def ours(candidates, references, metric):
    results = score(candidates, references, metric)
    return np.column_stack([list(result.items.values()) for result in results.values()])


@pytest.mark.parametrize("idf", [False, True])
@pytest.mark.parametrize("layer", [0, 2, 3])
def test_numbers_of_the_package(bert, layer, idf):
    expected = by_package(list(CAPTIONS.values()), list(REFERENCES.values()), bert, layer, idf=idf)
    got = ours(CAPTIONS, REFERENCES, BertScore(bert, layer, idf))
    assert np.abs(got - expected).max() < 1e-5
    assert len(np.unique(got.round(6))) > 6


def test_numbers_of_the_package_on_real_captions():
    systems, references = examples.clips()
    from reelscore.learned.networks.encoders import DEFAULT_ENCODER, encoder_folder

    model = encoder_folder(DEFAULT_ENCODER)
    expected = by_package(
        list(systems["strong"].values()),
        [references[item] for item in systems["strong"]],
        model,
        5,
        batch_size=64,
    )
    got = ours(systems["strong"], references, BertScore(layer=5))
    assert np.abs(got - expected).max() < 1e-5


@pytest.mark.shared
@pytest.mark.full
@pytest.mark.parametrize("idf", [False, True])
def test_numbers_of_the_package_on_a_thousand_pairs(shared, idf):
    from reelscore.learned.networks.encoders import DEFAULT_ENCODER, encoder_folder

    folder = shared / "trecvid-vtt-ha" / "single-annotator" / "2020"
    candidates = (folder / "systems" / "trecvid20-vtt.en-en.RUC_AIM3").read_text().splitlines()
    references = sorted((folder / "references").iterdir())[0].read_text().splitlines()
    candidates, references = candidates[:1000], references[:1000]
    expected = by_package(
        candidates, references, encoder_folder(DEFAULT_ENCODER), 5, idf=idf, batch_size=64
    )
    items = [str(k) for k in range(1000)]
    got = ours(
        dict(zip(items, candidates, strict=True)),
        {item: [text] for item, text in zip(items, references, strict=True)},
        BertScore(layer=5, idf=idf),
    )
    assert np.abs(got - expected).max() < 1e-5


def by_definition(candidate, references, folder, layer, prefix=""):
    """The published formulas, token by token, with transformers."""
    from transformers import AutoModel, PreTrainedTokenizerFast

    model = AutoModel.from_pretrained(folder).eval()
    tokenizer = PreTrainedTokenizerFast(tokenizer_file=f"{folder}/tokenizer.json")

    def vectors(text):
        ids = tokenizer(prefix + text, return_tensors="pt")["input_ids"]
        with torch.no_grad():
            rows = model(ids, output_hidden_states=True).hidden_states[layer][0]
        return rows / rows.norm(dim=1, keepdim=True)

    scores = []
    for reference in references:
        cosines = vectors(candidate) @ vectors(reference).T
        p = cosines.max(dim=1).values[1:-1].mean().item()
        r = cosines.max(dim=0).values[1:-1].mean().item()
        scores.append((p, r, 2 * p * r / (p + r)))
    return np.max(scores, axis=0)


def test_every_kind_of_encoder_by_definition(encoder):
    prefix = " " if "roberta" in encoder else ""
    got = ours(CAPTIONS, REFERENCES, BertScore(encoder, 2))
    for row, item in zip(got, CAPTIONS, strict=True):
        expected = by_definition(CAPTIONS[item], REFERENCES[item], encoder, 2, prefix)
        assert np.abs(row - expected).max() < 1e-5


def test_several_references(bert):
    best = ours(CAPTIONS, REFERENCES, BertScore(bert))
    mean = ours(CAPTIONS, REFERENCES, BertScore(bert, references="mean"))
    assert (best >= mean - 1e-9).all()
    assert (best[0] > mean[0]).all()


def test_a_baseline(bert, tmp_path):
    file = tmp_path / "baseline.tsv"
    file.write_text("LAYER,P,R,F\n0,0.1,0.1,0.1\n1,0.2,0.25,0.3\n2,0.4,0.5,0.6\n")
    plain = ours(CAPTIONS, REFERENCES, BertScore(bert, 2))
    results = score(CAPTIONS, REFERENCES, BertScore(bert, 2, baseline=str(file)))
    rescaled = np.column_stack([list(result.items.values()) for result in results.values()])
    low = np.array([0.4, 0.5, 0.6])
    assert np.allclose(rescaled, (plain - low) / (1 - low))
    assert "|files:" in results["bertscore_f"].signature
    assert results["bertscore_f"].scale.least is None
    expected = by_package(
        list(CAPTIONS.values()),
        list(REFERENCES.values()),
        bert,
        2,
        lang="en",
        rescale_with_baseline=True,
        baseline_path=str(file),
    )
    assert np.abs(rescaled - expected).max() < 1e-5


BAD_BASELINES = [
    ("LAYER,P,R,F\n1,0,0,0\n", "no baseline for layer 2; it has 1"),
    ("layer,p\n2,0\n", "not a file of baselines"),
    ("LAYER,P,R,F\n2,0,x,0\n", "not a file of baselines"),
    ("LAYER,P,R,F\n2,0,1,0\n", "layer 2 are 0, 1, 0; expected numbers below 1"),
    ("LAYER,P,R,F\n2,nan,0,0\n", "layer 2 are nan, 0, 0; expected numbers below 1"),
    ("LAYER,P,R,F\n2,0,0,-inf\n", "layer 2 are 0, 0, -inf; expected numbers below 1"),
    ("LAYER,P,R,F\n2,0\n", "not a file of baselines"),
    ("", "no baseline for layer 2; it has none"),
]


@pytest.mark.parametrize(("text", "message"), BAD_BASELINES)
def test_bad_baselines(bert, tmp_path, text, message):
    file = tmp_path / "baseline.tsv"
    file.write_text(text)
    with pytest.raises(DataError, match=message):
        score(CAPTIONS, REFERENCES, BertScore(bert, 2, baseline=str(file)))


def test_a_baseline_that_changes(bert, tmp_path):
    file = tmp_path / "baseline.tsv"
    scores = []
    for low in (0.1, 0.2):
        file.write_text(f"LAYER,P,R,F\n2,{low},{low},{low}\n")
        metric = BertScore(bert, 2, baseline=str(file))
        scores.append(score(CAPTIONS, REFERENCES, metric)["bertscore_f"].score)
    assert scores[0] > scores[1]


def test_a_baseline_that_is_not_there(bert):
    with pytest.raises(DataError, match=r"nowhere: cannot be read \(No such file"):
        score(CAPTIONS, REFERENCES, BertScore(bert, baseline="nowhere"))


def test_rare_words_among_equal_references(bert):
    """A caption that equals its reference would score 0."""
    alike = {"v1": ["a man runs"], "v2": ["a man runs"]}
    captions = {"v1": "a man runs", "v2": "a dog"}
    for references in ({"v1": alike["v1"]}, alike):
        own = {item: captions[item] for item in references}
        with pytest.raises(DataError, match=r"references have the same words.*idf:no"):
            score(own, references, BertScore(bert, idf=True))
    together = {**alike, "v3": ["a man runs with a dog"]}
    results = score({**captions, "v3": "a man"}, together, BertScore(bert, idf=True))
    assert [result.items["v1"] for result in results.values()] == pytest.approx([1, 1, 1])
    assert results["bertscore_p"].items["v3"] > 0


def test_the_encoder_that_comes_with_it_reads_english(bert):
    captions = {"1": "男の人が馬に乗る", "2": "女の人が料理をする", "3": "犬が走っている"}
    references = {item: [text] for item, text in captions.items()}
    note = "not English but Japanese: bertscore reads English only"
    assert any(note in each for each in score(captions, references, BertScore()).notes)
    other = score(captions, references, BertScore(bert))
    assert not any("English" in each for each in other.notes)
    assert pickle.loads(pickle.dumps(BertScore())).reads == "english"


def test_empty_captions_score_zero(bert):
    results = score({**CAPTIONS, "v2": " "}, REFERENCES, BertScore(bert), empty="zero")
    assert [result.items["v2"] for result in results.values()] == [0, 0, 0]


def test_long_captions_are_cut(bert):
    long = {"v1": "the man runs " * 100}
    results = score(long, {"v1": REFERENCES["v1"]}, BertScore(bert))
    assert math.isfinite(results["bertscore_f"].score)
    note = "bertscore: 1 text fills all that its model reads; words beyond that were not seen."
    assert note in results.notes
    assert not score(CAPTIONS, REFERENCES, BertScore(bert)).notes


def test_scores_do_not_depend_on_other_captions(bert):
    together = ours(CAPTIONS, REFERENCES, BertScore(bert))
    for k, item in enumerate(CAPTIONS):
        alone = ours({item: CAPTIONS[item]}, {item: REFERENCES[item]}, BertScore(bert))
        assert np.abs(alone - together[k]).max() < 1e-6


def test_systems_in_parts(bert, monkeypatch):
    whole = score_systems({"a": CAPTIONS, "b": CAPTIONS}, REFERENCES, BertScore(bert))
    monkeypatch.setattr("reelscore.learned.metrics.bertscore._TOGETHER", 2)
    parts = score_systems({"a": CAPTIONS, "b": CAPTIONS}, REFERENCES, BertScore(bert), threads=2)
    for system in ("a", "b"):
        for name, result in whole[system].items():
            assert dict(result.items) == pytest.approx(dict(parts[system][name].items), abs=1e-6)


def test_the_signature_says_which_layer(bert):
    result = score(CAPTIONS, REFERENCES, BertScore(bert))["bertscore_f"]
    assert "|layer:3|" in result.signature
    assert re.search(r"\|revision:[0-9a-f]{8}\|", result.signature)
    assert "|tok:raw|" in result.signature
    assert parse_signature(result.signature) == BertScore(bert, 3)
    assert result.scale.headline


def test_best_layers_are_those_published(tmp_path):
    from reelscore.learned.networks.token_vectors import effective_layer

    (tmp_path / "model.safetensors").write_bytes(b"")
    for kind, layers, best in [("roberta", 24, 17), ("bert", 12, 9), ("electra", 12, 12)]:
        config = {"model_type": kind, "num_hidden_layers": layers}
        (tmp_path / "config.json").write_text(json.dumps(config))
        assert effective_layer(tmp_path, None) == best


@pytest.mark.parametrize(
    ("model", "layer", "message"),
    [
        ("roberta-large", None, "there is no such folder. Models are never downloaded"),
        ("EMPTY", None, "not the folder of a model|not an encoder"),
        ("BERT", 4, r"layer 4; expected 0 \(the embeddings\) to 3"),
    ],
)
def test_folders_that_cannot_be_used(bert, tmp_path, model, layer, message):
    folder = {"EMPTY": str(tmp_path), "BERT": bert}.get(model, model)
    with pytest.raises(DataError, match=message):
        score(CAPTIONS, REFERENCES, BertScore(folder, layer))


def test_a_folder_without_weights(bert, tmp_path):
    (tmp_path / "config.json").write_text(Path(bert, "config.json").read_text())
    with pytest.raises(DataError, match="there are no weights"):
        score(CAPTIONS, REFERENCES, BertScore(str(tmp_path)))


@pytest.mark.parametrize("file", ["model.safetensors", "tokenizer.json"])
def test_a_download_that_was_cut_off(bert, tmp_path, file):
    folder = Path(shutil.copytree(bert, tmp_path / "cut"))
    whole = (folder / file).read_bytes()
    (folder / file).write_bytes(whole[: len(whole) // 2])
    with pytest.raises(DataError, match=r"bertscore: .*cut: cannot be loaded: .* fetch it again\."):
        score(CAPTIONS, REFERENCES, BertScore(str(folder)))


def test_weights_under_other_names(bert, tmp_path):
    """As of BERT on the hub: part of a larger model, with the names of an older program."""
    from safetensors.torch import load_file, save_file

    folder = Path(shutil.copytree(bert, tmp_path / "named"))
    weights = load_file(folder / "model.safetensors")
    named = {
        f"bert.{name}".replace("Norm.weight", "Norm.gamma").replace("Norm.bias", "Norm.beta"): value
        for name, value in weights.items()
    }
    save_file(named, folder / "model.safetensors", metadata={"format": "pt"})
    for metric in ("bertscore_f", "sts"):
        one, other = (
            score(CAPTIONS, REFERENCES, f"{metric}|model:{each}")[metric] for each in (bert, folder)
        )
        assert dict(one.items) == pytest.approx(dict(other.items), abs=1e-5)


def one_layer_less(weights):
    return {name: value for name, value in weights.items() if "layer.2." not in name}


def fewer_words(weights):
    return {k: v[:8].clone() if "word_embeddings" in k else v for k, v in weights.items()}


def no_numbers(weights):
    return {name: value * math.nan for name, value in weights.items()}


@pytest.mark.parametrize("kind", ["bert", "distilbert"])
@pytest.mark.parametrize(
    ("change", "message"),
    [
        (one_layer_less, r"cannot be loaded: .* weights? (is|are) missing or of another size"),
        (fewer_words, "cannot be used|cannot be loaded: 1 weight is missing or of another size"),
        (no_numbers, "cannot be used: some of its vectors are not numbers"),
    ],
)
def test_weights_that_cannot_be_used(tmp_path, kind, change, message):
    """Other numbers than the signature says, or none, would come of them."""
    from safetensors.torch import load_file, save_file

    file = bert_like(tmp_path, kind) / "model.safetensors"
    save_file(change(load_file(file)), file, metadata={"format": "pt"})
    for metric in (BertScore(str(tmp_path)), f"sts|model:{tmp_path}"):
        with pytest.raises(DataError, match=message):
            score(CAPTIONS, REFERENCES, metric)


def test_a_description_without_fields(bert, tmp_path):
    folder = Path(shutil.copytree(bert, tmp_path / "list"))
    (folder / "config.json").write_text("[]")
    with pytest.raises(DataError, match=r"not the folder of a model.*config\.json has no fields"):
        score(CAPTIONS, REFERENCES, BertScore(str(folder)))


def test_a_folder_without_a_tokenizer(tmp_path):
    """Transformers makes one without words of nothing, and every score would be 0."""
    folder = bert_like(tmp_path, "roberta")
    (folder / "tokenizer.json").unlink()
    with pytest.raises(DataError, match="has no tokenizer"):
        score(CAPTIONS, REFERENCES, BertScore(str(folder)))
