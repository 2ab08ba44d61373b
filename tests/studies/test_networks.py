"""The networks that describe label scores: what they are made of, how they learn and decode."""

from __future__ import annotations

import hashlib
import json
import subprocess
import sys
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from click.testing import CliRunner

pytest.importorskip("torch", reason="networks need torch ('make learned')")
import torch
from safetensors.numpy import load_file, save_file

from reelscore.cli.main import cli
from reelscore.errors import DataError, MissingExtraError
from reelscore.scoring.captions import score
from reelscore_studies.baselines.clip_features import Features
from reelscore_studies.baselines.networks.caption_words import BEGIN, END, PAD, UNKNOWN
from reelscore_studies.baselines.networks.captioner import Captioner
from reelscore_studies.baselines.networks.decoding import decode
from reelscore_studies.baselines.networks.lstm import CaptionNetwork, DropMask, NetworkShape
from reelscore_studies.baselines.networks.training_run import (
    Examples,
    NetworkRecipe,
    TrainingSettings,
    train,
)
from reelscore_studies.rendered.grammar import captions_of

ARCHS = ["1layer", "2layer-unfact", "2layer-fact"]
PLACES = {"none": set(), "lang": {"lang"}, "vis": {"vis"}, "concat": {"lang", "vis"}}
PLACES["lstm"] = {"lstm"}


@pytest.mark.parametrize(
    ("arch", "layers"),
    [
        ("1layer", [(7 + 5, 11)]),
        ("2layer-unfact", [(7 + 5, 11), (11, 11)]),
        ("2layer-fact", [(7, 11), (11 + 5, 11)]),
    ],
)
def test_parameters_are_counted(arch, layers):
    network = CaptionNetwork(NetworkShape(40, 5, arch, hidden=11, embedding=7))
    inside = sum(4 * h * (n + h) + 8 * h for n, h in layers)
    assert network.parameter_count() == 40 * 7 + 40 * 11 + inside


@pytest.mark.parametrize("arch", ARCHS)
def test_where_labels_come_in(arch):
    """Labels move the layer that sees them: the second of the factored network alone."""
    network = CaptionNetwork(NetworkShape(20, 3, arch, hidden=6, embedding=4))
    words = torch.tensor([[BEGIN, 5, 6]])
    (one, states), (two, others) = (
        network.logits(words, torch.tensor([[value, 0.0, 0.0]])) for value in (0.0, 5.0)
    )
    assert not torch.equal(one, two)
    first_moves = not torch.equal(states[0][0], others[0][0])
    assert first_moves == (arch != "2layer-fact")


@pytest.mark.parametrize("place", list(PLACES))
@pytest.mark.parametrize("ratio", [0.5, 0.25])
def test_dropped_units(place, ratio):
    drop = DropMask(place, ratio, torch.Generator().manual_seed(0))
    ones = torch.ones(50, 4, 30)
    for where in ("lang", "vis", "lstm"):
        values = drop(where, ones)
        if where not in PLACES[place]:
            assert torch.equal(values, ones)
            continue
        assert (values == 0).float().mean().item() == pytest.approx(ratio, abs=0.03)
        assert values.unique().tolist() == pytest.approx([0, 1 / (1 - ratio)])
        assert values.mean().item() == pytest.approx(1, abs=0.05)  # the expectation is kept
        assert not torch.equal(values[:, 0], values[:, 1])  # another mask at each step


def test_each_place_is_used_in_the_network():
    network = CaptionNetwork(NetworkShape(20, 3, hidden=6, embedding=4))
    words, labels = torch.tensor([[BEGIN, 5, 6]]), torch.ones(1, 3)
    seen = []

    def watch(place, values):
        seen.append((place, tuple(values.shape)))
        return values

    network.logits(words, labels, drop=watch)
    assert seen == [("lang", (1, 3, 4)), ("vis", (1, 3, 3)), ("lstm", (1, 3, 6))]


# Training

TEXTS = {f"c{k:02d}": captions_of(0, k, 3)[0].text for k in range(20)}
SCORES = dict(zip(TEXTS, np.eye(20, dtype=np.float32) * 3, strict=True))
REFERENCES = {item: [text] for item, text in TEXTS.items()}
SMALL = NetworkRecipe(hidden=48, embedding=24, drop="none", rate=0.01, iterations=160, every=40)


def trained(recipe=SMALL, **options):
    clips = Examples(REFERENCES, Features.of(SCORES))
    kept = {name: options.pop(name) for name in ("folder", "origin") if name in options}
    return train(clips, clips, TrainingSettings(recipe, threads=1, **options), **kept)


@pytest.fixture(scope="module")
def learned():
    return trained()


def test_overfits_twenty_clips(learned):
    itself = score(TEXTS, REFERENCES, "meteor")
    assert learned.best.meteor >= 0.95 * itself["meteor"].score
    assert learned.history[-1].loss < learned.history[0].loss / 4


@pytest.mark.parametrize("arch", ARCHS[1:])
def test_other_architectures_learn(arch):
    recipe = replace(SMALL, arch=arch, rate=0.02, iterations=60, every=60)
    assert trained(recipe).history[0].loss < 2.5 < np.log(50)


def test_the_paper_optimiser_learns():
    recipe = NetworkRecipe.of("paper", hidden=32, embedding=16, rate=0.5, iterations=60, every=30)
    history = trained(recipe).history
    assert history[1].loss < history[0].loss


def test_schedules():
    paper = NetworkRecipe.of("paper")
    assert (paper.rate, paper.step, paper.decay, paper.batch, paper.iterations) == (
        *(0.01, 4000, 0.5, 100),
        25_000,
    )
    assert [paper.rate_at(k) for k in (0, 3999, 4000, 8000)] == [0.01, 0.01, 0.005, 0.0025]
    adam = NetworkRecipe(iterations=300)
    assert [adam.rate_at(k) for k in (0, 99, 100, 200, 299)] == [3e-3, 3e-3, 1.5e-3, *[7.5e-4] * 2]


def test_training_stops_without_gain():
    recipe = NetworkRecipe(hidden=8, embedding=4, rate=1e-9, iterations=1000, every=1, patience=3)
    assert len(trained(recipe).history) == 4


def weights_hash(tensors):
    text = hashlib.sha256()
    for name in sorted(tensors):
        text.update(tensors[name].detach().cpu().numpy().tobytes())
    return text.hexdigest()


KILLED = """
import os, signal, sys
import numpy as np
sys.path.insert(0, sys.argv[3])
from test_networks import RESUMED, trained

def progress(done, total):
    if done == int(sys.argv[2]):
        os.kill(os.getpid(), signal.SIGKILL)

trained(RESUMED, folder=sys.argv[1], progress=progress)
"""
RESUMED = NetworkRecipe(hidden=16, embedding=8, iterations=60, every=10, patience=9, batch=6)


def test_a_killed_training_goes_on_bit_for_bit(tmp_path, full):
    whole = trained(RESUMED)
    steps = np.random.default_rng().integers(11, 60, 5 if full else 1)
    for step in steps:
        folder = tmp_path / str(step)
        here = str(__file__).rpartition("/")[0]
        run = subprocess.run([sys.executable, "-c", KILLED, folder, str(step), here])
        assert run.returncode == -9
        resumed = trained(RESUMED, folder=folder)
        assert resumed.history == whole.history, step
        assert weights_hash(resumed.last) == weights_hash(whole.last), step
        assert weights_hash(resumed.network.weights()) == weights_hash(whole.network.weights())


def test_another_training_is_not_resumed(tmp_path):
    recipe = NetworkRecipe(hidden=8, embedding=4, iterations=2, every=1)
    trained(recipe, folder=tmp_path)
    with pytest.raises(DataError, match="the checkpoint of another training"):
        trained(recipe, folder=tmp_path, seed=1)


# Decoding


@pytest.fixture(scope="module")
def unsure():
    """A network that was hardly trained: its captions are long and its beams differ."""
    network = trained(
        NetworkRecipe(hidden=24, embedding=12, drop="none", iterations=25, every=25)
    ).network
    labels = torch.from_numpy(np.stack(list(SCORES.values())))
    return network, labels


def test_a_beam_of_one_is_greedy(unsure):
    from reelscore_studies.baselines.networks import decoding

    network, labels = unsure
    greedy = decode([network], [labels], longest=9)
    with torch.no_grad():
        beam = decoding._beam([network], [labels], 1, 9).tolist()
    assert beam == greedy


def slow_beam(network, labels, beam, longest, alpha=0.7):
    """The same search one sentence at a time."""
    alive = [((), 0.0)]
    for step in range(longest):
        following = []
        for order, (words, total) in enumerate(alive):
            if words and words[-1] == END:
                following.append((-total / len(words) ** alpha, order, PAD, words, total))
                continue
            with torch.no_grad():
                logits, _ = network.logits(torch.tensor([[BEGIN, *words]]), labels[None])
            logs = torch.log_softmax(logits[0, -1].double(), dim=0).tolist()
            for word, log in enumerate(logs):
                if word in (PAD, BEGIN, UNKNOWN) or (step == 0 and word == END):
                    continue
                key = -(total + log) / (len(words) + 1) ** alpha
                following.append((key, order, word, (*words, word), total + log))
        alive = [(words, total) for *_, words, total in sorted(following)[:beam]]
    return list(min(alive, key=lambda own: -own[1] / len(own[0]) ** alpha)[0])


def test_a_beam_is_that_of_a_slow_search(unsure):
    network, labels = unsure
    rows = decode([network], [labels], beam=3, longest=8)
    stripped = [[word for word in row if word != PAD] for row in rows]
    assert stripped == [slow_beam(network, own, 3, 8) for own in labels]
    assert rows != decode([network], [labels], longest=8)  # it is not greedy


def test_an_ensemble_of_a_model_with_itself_is_the_model(unsure):
    network, labels = unsure
    for beam in (1, 3):
        alone = decode([network], [labels], beam=beam)
        assert decode([network, network, network], [labels] * 3, beam=beam) == alone


def test_marks_are_never_said_and_there_is_a_word(unsure):
    network, labels = unsure
    wanting = CaptionNetwork(network.shape)
    with torch.no_grad():
        wanting.modules["output"].weight.zero_()  # all words are alike: the first number wins
    for beam in (1, 2):
        for row in decode([wanting], [labels], beam=beam, longest=4):
            assert row[0] not in (PAD, BEGIN, END, UNKNOWN)
            assert not {BEGIN, UNKNOWN} & set(row)


def test_an_ensemble_averages_distributions(unsure):
    """Two networks of which each is sure of another word: the surer one decides."""
    network, labels = unsure
    networks = []
    for word, certainty in ((7, 9.0), (9, 4.0)):
        own = CaptionNetwork(network.shape)
        with torch.no_grad():
            for weight in own.weights().values():
                weight.zero_()
            own.modules["lstm1"].bias_ih_l0[:] = 20.0  # every unit is on
            own.modules["output"].weight[word] = certainty / network.shape.hidden
        networks.append(own)
    one = decode(networks, [labels[:2]] * 2, longest=1)
    assert one == [[7], [7]]


# Models in folders


@pytest.fixture
def files(tmp_path):
    save_file(SCORES, tmp_path / "train.safetensors")
    save_file(SCORES, tmp_path / "val.safetensors")
    save_file(SCORES, tmp_path / "test.safetensors")
    (tmp_path / "captions.json").write_text(json.dumps(TEXTS))
    return tmp_path


def command(*words):
    return CliRunner().invoke(cli, ["caption", *map(str, words)], catch_exceptions=False)


def test_train_and_generate(files):
    options = ["--captions", files / "captions.json", "--val-refs", files / "captions.json"]
    small = "hidden:48|embedding:24|drop:none|rate:0.01|iterations:160|every:80"
    recipe = ["--recipe", small]
    for seed in (0, 1):
        model = files / f"model{seed}"
        run = command("train", files, *options, *recipe, "--seed", seed, "-o", model)
        assert "best after" in run.stdout
        assert "METEOR" in run.stderr
    record = json.loads((files / "model0/model.json").read_text())
    assert {"python", "numpy", "torch"} <= set(record["libraries"])
    assert set(record["data"]) == {"captions", "val_refs", "labels_train", "labels_val"}
    assert "+".join(record["data"].values()) in record["signature"]
    assert record["wall_seconds"] > 0
    assert record["cpu_seconds"] > 0
    assert {"command", "version", "seed", "recipe", "words", "history"} <= set(record)
    before = (files / "model0/best.safetensors").stat().st_mtime_ns
    command("train", files, *options, *recipe, "--seed", 0, "-o", files / "model0")
    assert (files / "model0/best.safetensors").stat().st_mtime_ns == before
    labels = ["--labels", files / "test.safetensors", "-o", files / "out.json"]
    command("generate", files / "model0", files / "model1", *labels)
    captions = json.loads((files / "out.json").read_text())
    assert list(captions) == list(TEXTS)
    alike = [captions[i] == TEXTS[i].lower().rstrip(".") for i in TEXTS]
    assert np.mean(alike) > 0.9
    record = json.loads((files / "out.run.json").read_text())
    assert "visual_labels|arch:1layer|drop:" in record["signature"]
    assert "|ensemble:2:" in record["signature"]
    weights = load_file(files / "model0/best.safetensors")
    assert weights["embedding.weight"].shape[1] == 24


def test_items_on_one_side_and_folders(files):
    more = {**TEXTS, "x": "Someone nods."}
    (files / "more.json").write_text(json.dumps(more))
    captions = ["--captions", files / "more.json", "--val-refs", files / "captions.json"]
    small = ["--recipe", "hidden:8|embedding:4|iterations:2|every:1"]
    with pytest.raises(DataError, match=r"1 caption has no label scores .*pass --missing skip"):
        command("train", files, *captions, *small, "-o", files / "model")
    out = command("train", files, *captions, *small, "--missing", "skip", "-o", files / "model")
    assert "|missing:skip|" in out.stdout.replace("\n  ", "")
    with pytest.raises(DataError, match=r"more\.json: is a file; name a folder"):
        command("train", files, *captions, *small, "--missing", "skip", "-o", files / "more.json")
    (files / "labels.json").write_text("{}")
    command("generate", files / "model", "--labels", files, "-o", files / "out.json")
    assert len(json.loads((files / "out.json").read_text())) == 20
    (files / "test.safetensors").unlink()
    with pytest.raises(DataError, match="no scores of test items; make the labels with --test-fea"):
        command("generate", files / "model", "--labels", files, "-o", files / "out.json")


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ("rate:nan", "rate=nan"),
        ("rate:inf", "rate=inf"),
        ("min_count:1000", "No word occurs 1000 times"),
    ],
)
def test_a_training_that_cannot_begin_leaves_no_folder(files, options, message):
    captions = ["--captions", files / "captions.json", "--val-refs", files / "captions.json"]
    small = ["--recipe", "hidden:8|embedding:4|iterations:2|every:1"]
    recipe = f"{small[1]}|{options}"
    with pytest.raises(DataError, match=message):
        command("train", files, *captions, "--recipe", recipe, "-o", files / "model")
    assert not (files / "model").exists()
    assert command("train", files, *captions, *small, "-o", files / "model").exit_code == 0


def test_without_torch(files, monkeypatch):
    monkeypatch.setitem(sys.modules, "torch", None)
    captions = ["--captions", files / "captions.json", "--val-refs", files / "captions.json"]
    with pytest.raises(MissingExtraError, match=r"write captions need torch.*\[torch\]"):
        command("train", files, *captions, "-o", files / "model")
    assert not (files / "model").exists()


def test_a_folder_of_other_files_is_no_place_for_a_model(files, monkeypatch):
    captions = ["--captions", files / "captions.json", "--val-refs", files / "captions.json"]
    small = ["--recipe", "hidden:8|embedding:4|iterations:2|every:1"]
    before = sorted(files.iterdir())
    said = r"holds other files \(captions.json, test.safetensors, train.safetensors …\) and no "
    with pytest.raises(DataError, match=said + "training.json; choose an empty folder"):
        command("train", files, *captions, *small, "-o", files)
    assert sorted(files.iterdir()) == before
    # a log in the model's own folder is none of them
    logged = []

    class Writer:
        def __init__(self, folder):
            Path(folder).mkdir()
            logged.append(folder)

        def add_scalar(self, tag, value, step):
            logged.append((tag, step))

        def close(self):
            logged.append("closed")

    monkeypatch.setattr("reelscore.report.training_log.summary_writer", lambda: Writer)
    home = files / "model"
    command("train", files, *captions, *small, "-o", home, "--tensorboard", home / "log")
    scores = [(tag, step) for step in (1, 2) for tag in ("train/loss", "val/meteor")]
    assert logged == [str(home / "log"), *scores, "closed"]


@pytest.mark.skipif(torch.cuda.is_available(), reason="there is a GPU")
def test_a_missing_gpu_is_said_before_anything_is_written(files):
    words = f"caption train {files} --captions {files}/captions.json --device cuda"
    words += f" --val-refs {files}/captions.json -o {files}/model"
    result = CliRunner().invoke(cli, words.split())
    assert isinstance(result.exception, DataError)
    assert "torch finds no GPU here" in str(result.exception)
    assert not (files / "model").exists()


def test_what_models_refuse(files):
    features = Features.of(SCORES)
    recipe = TrainingSettings(NetworkRecipe(hidden=8, embedding=4, iterations=2, every=1))
    given = ((features, features), REFERENCES, REFERENCES, files / "model")
    model = Captioner.train(*given, recipe)
    with pytest.raises(DataError, match=r"begun here \(seed:0, not seed:1\)\. Name"):
        Captioner.train(*given, replace(recipe, seed=1))
    with pytest.raises(DataError, match="2 label scores, the model was trained on 20"):
        model.generate(Features.of({"a": [1.0, 2.0]}))
    narrow = Features.of({item: vector[:3] for item, vector in SCORES.items()})
    with pytest.raises(DataError, match="Training items have 20 label scores, validation items 3"):
        Captioner.train((features, narrow), REFERENCES, REFERENCES, files / "other", recipe)
    silent = {**REFERENCES, next(iter(REFERENCES)): [""]}
    with pytest.raises(DataError, match=r"1 reference is empty .*\. Fix them\.$"):
        Captioner.train((features, features), REFERENCES, silent, files / "other", recipe)
    assert not (files / "other").exists()
    with pytest.raises(DataError, match="there is no model"):
        Captioner.load(files / "none")
    with pytest.raises(DataError, match="1 caption has no label scores"):
        Captioner.train((features, features), {"x": ["a"]}, REFERENCES, files / "other", recipe)
    (files / "model/best.safetensors").write_bytes(b"damaged")
    with pytest.raises(DataError, match="Train the model again"):
        Captioner.load(files / "model")
