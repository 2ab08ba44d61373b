"""Training: it learns, repeats itself, and goes on where it was interrupted."""

from __future__ import annotations

import re
from dataclasses import replace

import numpy as np
import pytest
from click.testing import CliRunner

from reelscore.cli.main import cli
from reelscore.errors import DataError, UnknownNameError
from reelscore.learned.judged_captions import write_captions
from reelscore.learned.networks.pair_scores import predict_captions
from reelscore.learned.networks.sentence_vectors import SentenceEncoder
from reelscore.learned.training.checkpoints import read_checkpoint
from reelscore.learned.training.examples import training_examples
from reelscore.learned.training.fit import average, train_by_recipe
from reelscore.learned.training.hold_out import validation_split
from reelscore.learned.training.loop import steps_of, train
from reelscore.learned.training.recipes import Recipe, Stage, recipe_of

# same seed, same machine kind
TOLERANCE = 1e-6

SHORT = Recipe(
    "short",
    (
        Stage("similarity", epochs=1, batch=32),
        Stage("people", epochs=1, batch=64),
        Stage("judgments", ("SA",), epochs=2, batch=16, correlation=0.5),
        Stage("judgments", ("MA",), epochs=2, batch=8, references=2),
        Stage("anchors", epochs=1, batch=32, damaged=8, similarity=(0.3, 1.0)),
    ),
    max_length=32,
)


class Interrupted(Exception):
    pass


def interrupt_at(step):
    def progress(done, total):
        if done == step:
            raise Interrupted

    return progress


@pytest.fixture(scope="module")
def embedding(tiny):
    return SentenceEncoder(tiny, device="cpu")


def trained(captions, tiny, embedding, **options):
    model = train(
        captions, SHORT, encoder=tiny, seed=7, device="cpu", embedding=embedding, **options
    )
    return predict_captions(model.network, captions), model


@pytest.fixture(scope="module")
def whole(captions, tiny, embedding):
    """The scores after a training without interruption, and the training."""
    return trained(captions, tiny, embedding)


def test_the_same_again(captions, tiny, embedding, whole):
    one, first = whole
    two, _ = trained(captions, tiny, embedding)
    assert np.abs(one - two).max() <= TOLERANCE
    other = train(captions, SHORT, encoder=tiny, seed=8, device="cpu", embedding=embedding)
    assert np.abs(one - predict_captions(other.network, captions)).max() > 1e-4
    assert set(first.campaigns) == {f"{kind}-g{k}" for kind in ("MA", "SA") for k in range(3)}


# in the middle of each stage
@pytest.mark.parametrize(
    "step", [4, 17, *(pytest.param(each, marks=pytest.mark.full) for each in (11, 26))]
)
def test_resumed_is_uninterrupted(captions, tiny, embedding, whole, tmp_path, step):
    scores, training = whole
    assert training.steps > 26
    with pytest.raises(Interrupted):
        trained(captions, tiny, embedding, folder=tmp_path, every=3, progress=interrupt_at(step))
    resumed, again = trained(captions, tiny, embedding, folder=tmp_path, every=3)
    assert np.abs(scores - resumed).max() <= TOLERANCE
    assert again.steps == training.steps


def test_resumed_between_stages_and_after_the_end(captions, tiny, embedding, whole, tmp_path, full):
    scores, training = whole
    ends = []
    for number, stage in enumerate(SHORT.stages):
        rows = training_examples(
            stage, captions, np.random.default_rng([7, number]), embedding=embedding
        )
        ends.append(sum(ends[-1:]) + steps_of(stage, rows))
    assert ends[-1] == training.steps
    for number, end in enumerate(ends):
        if number in (1, 2) and not full:
            continue
        home = tmp_path / str(number)
        interrupted = interrupt_at(end + 1 if end < training.steps else -1)
        try:
            trained(captions, tiny, embedding, folder=home, every=10**6, progress=interrupted)
        except Interrupted:
            assert read_checkpoint_step(home) == end
        resumed, _ = trained(captions, tiny, embedding, folder=home, every=10**6)
        assert np.abs(scores - resumed).max() <= TOLERANCE


def read_checkpoint_step(folder):
    from safetensors import safe_open

    with safe_open(folder / "checkpoint.safetensors", "pt") as file:
        return int(file.metadata()["step"])


def test_a_checkpoint_of_another_training(captions, tiny, embedding, tmp_path):
    trained(captions, tiny, embedding, folder=tmp_path, every=3)
    with pytest.raises(DataError, match="of another training"):
        train(
            captions,
            SHORT,
            encoder=tiny,
            seed=1,
            device="cpu",
            embedding=embedding,
            folder=tmp_path,
        )


def test_a_damaged_checkpoint(tmp_path):
    (tmp_path / "checkpoint.safetensors").write_bytes(b"nonsense" * 10)
    with pytest.raises(DataError, match="damaged"):
        read_checkpoint(tmp_path, "x")


def test_it_learns(captions, tiny):
    stage = Stage("judgments", epochs=60, rate=2e-3, batch=16, correlation=0.5)
    judged = [c for c in captions if c.score is not None]
    model = train(judged, Recipe("long", (stage,), max_length=32), encoder=tiny, device="cpu")
    scores = predict_captions(model.network, judged)
    assert np.corrcoef(scores, [c.score for c in judged])[0, 1] > 0.7


# learns too fast, so that later epochs are worse
WILD = Recipe(
    "wild",
    (Stage("judgments", epochs=40, rate=3e-2, batch=16),),
    validation=0.3,
    patience=4,
    max_length=32,
)


def test_early_stopping(captions, tiny):
    stage = Stage("judgments", epochs=40, rate=1e-7, batch=16)  # learns nothing: stops
    recipe = Recipe("still", (stage,), validation=0.2, patience=2, max_length=32)
    model = train(captions, recipe, encoder=tiny, device="cpu")
    assert 3 <= len(model.validation) < 40


def test_early_stopping_returns_to_the_best_epoch(captions, tiny):
    model = train(captions, WILD, encoder=tiny, device="cpu")
    assert model.validation[-1] < max(model.validation) - 1e-3
    _, kept = validation_split(captions, WILD, 0)
    r = np.corrcoef(predict_captions(model.network, kept), [c.score for c in kept])[0, 1]
    assert r == pytest.approx(max(model.validation), abs=1e-6)


def test_every_validation_is_told(captions, tiny):
    told = []
    recipe = replace(WILD, stages=(replace(WILD.stages[0], epochs=3),))
    model = train(
        *(captions, recipe),
        encoder=tiny,
        device="cpu",
        validated=lambda stage, reached: told.append((stage.source, *reached)),
    )
    assert told[-1] == ("judgments", *model.validation)
    assert [len(each) - 1 for each in told] == [1, 2, 3]


def test_every_validation_is_shown(captions, tiny, tmp_path):
    write_captions(tmp_path / "judged.jsonl", captions)
    command = ["bertha", "train", str(tmp_path / "judged.jsonl"), str(tmp_path / "run")]
    options = [
        "--recipe",
        "plain-sa|validation:0.3|patience:9",
        "--encoder",
        tiny,
        "--device",
        "cpu",
    ]
    done = CliRunner().invoke(cli, [*command, *options, "--hold-out", "g2"])
    assert done.exit_code == 0, done.output
    first, second, _, _, title, *_ = done.output.splitlines()
    shown = re.compile(
        r"judgments SA, epoch (\d): r = (-?0\.\d{3}) with people(, the best so far)?"
    )
    epochs = [shown.fullmatch(line) for line in (first, second)]
    assert [match[1] for match in epochs] == ["1", "2"]
    assert epochs[0][3]
    assert bool(epochs[1][3]) == (float(epochs[1][2]) >= float(epochs[0][2]))
    assert title == "Agreement with people (Pearson's r) on captions held out"
    described = CliRunner().invoke(cli, ["bertha", "info", str(tmp_path / "run" / "model")]).output
    assert f"r = {epochs[0][2]}, {epochs[1][2]} after each epoch" in " ".join(described.split())


def test_early_stopping_resumed(captions, tiny, tmp_path):
    whole = train(captions, WILD, encoder=tiny, device="cpu")
    per_epoch = whole.steps // 40
    best = int(np.argmax(whole.validation)) + 1
    options = {"encoder": tiny, "device": "cpu", "folder": tmp_path, "every": 3}
    with pytest.raises(Interrupted):  # after the best epoch, before the end
        train(captions, WILD, **options, progress=interrupt_at(best * per_epoch + 4))
    again = train(captions, WILD, **options)
    assert again.validation == pytest.approx(whole.validation, abs=1e-6)
    scores = [predict_captions(each.network, captions) for each in (whole, again)]
    assert np.abs(scores[0] - scores[1]).max() <= TOLERANCE


def test_each_stage_is_judged_by_itself(captions, tiny):
    """The best epoch of the first stage must not end the second."""
    still = Stage("judgments", epochs=3, rate=1e-9, batch=16)
    recipe = replace(WILD, stages=(WILD.stages[0], still), patience=3)
    model = train(captions, recipe, encoder=tiny, device="cpu")
    assert len(model.validation) >= 3 + recipe.patience + 1


def test_bad_data_before_training(captions, tiny):
    with pytest.raises(DataError, match="two systems"):
        train([replace(c, system="me") for c in captions], SHORT, encoder=tiny)


def test_members_are_averaged(captions, tiny, embedding, tmp_path):
    apart = replace(SHORT, members=2, stages=own_stages(SHORT))
    options = {"encoder": tiny, "device": "cpu", "embedding": embedding, "seed": 5}
    model = train_by_recipe(captions, apart, folder=tmp_path, **options)
    states = [read_any(tmp_path / f"member_{k}") for k in (1, 2)]
    assert any((states[0][name] != states[1][name]).any() for name in states[0])
    mean = average(states)
    for name, value in model.network.state().items():
        assert abs(value - mean[name]).max() < 1e-7


def test_the_stage_of_anchors_starts_from_the_average(captions, tiny, embedding, tmp_path):
    still = replace(SHORT.stages[-1], rate=0.0)
    assert still.source == "anchors"
    options = {"encoder": tiny, "device": "cpu", "embedding": embedding, "seed": 5}
    apart = replace(SHORT, members=2, stages=own_stages(SHORT))
    average_of_two = train_by_recipe(captions, apart, **options).network.state()
    whole = replace(apart, stages=(*apart.stages, still))
    after = train_by_recipe(captions, whole, **options).network.state()
    for name, value in average_of_two.items():
        assert abs(value - after[name]).max() < 1e-7


def own_stages(recipe):
    return tuple(stage for stage in recipe.stages if stage.source != "anchors")


def read_any(folder):
    from safetensors.torch import load_file

    tensors = load_file(folder / "checkpoint.safetensors")
    return {
        name.removeprefix("weight."): value
        for name, value in tensors.items()
        if name.startswith("weight.") and name != "weight.scales"
    }


def test_recipes():
    assert recipe_of("averaged").members == 3
    assert recipe_of("careful").stages[:-1] == recipe_of("averaged").stages
    with pytest.raises(UnknownNameError, match="Did you mean 'plain'"):
        recipe_of("plane")
