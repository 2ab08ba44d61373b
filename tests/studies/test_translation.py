"""Semantic representations by a random field, and sentences by phrase-based translation."""

from __future__ import annotations

import itertools
import json

import numpy as np
import pytest
from click.testing import CliRunner

from reelscore.errors import DataError

pytest.importorskip("sklearn_crfsuite", reason="the random field needs sklearn-crfsuite")
pytest.importorskip("nltk", reason="phrases need nltk")
from safetensors.numpy import save_file

from reelscore.cli.main import cli
from reelscore.report.tuples import Roles, Tuples
from reelscore_studies.baselines.clip_features import Features
from reelscore_studies.translation.crf import NONE, SemanticField, representations
from reelscore_studies.translation.phrases import PhraseTable, align
from reelscore_studies.translation.translation import (
    BEGIN,
    END,
    Decoder,
    TranslationParameters,
    Translator,
    TrigramModel,
    Weights,
)

VERBS, PLACES = ["run", "sit", "eat"], ["kitchen", "street"]


@pytest.fixture(scope="module")
def clips():
    """Clips whose label scores say what they show, with some noise."""
    rng = np.random.default_rng(0)
    captions, tuples, scores = {}, {}, {}
    for k in range(120):
        verb, place = VERBS[k % 3], PLACES[(k // 3) % 2] if k % 4 else None
        item = f"c{k:03d}"
        captions[item] = [f"Someone {verb}s{f' in the {place}' if place else ''}."]
        tuples[item] = [Roles("someone", verb, None, place)]
        row = [verb == own for own in VERBS] + [place == own for own in PLACES]
        scores[item] = np.float32(row) + rng.normal(0, 0.1, 5).astype(np.float32)
    return captions, Tuples(tuples), Features.of(scores)


def random_field(rng, pairs):
    labels = tuple(tuple(f"{role}{k}" for k in range(3 + role)) for role in range(4))
    unary = tuple(rng.normal(size=(len(own), 6)) for own in labels)
    ties = [(0, 1), (1, 2), (2, 3)]
    if pairs == "full":
        ties = list(itertools.combinations(range(4), 2))
    return SemanticField(labels, unary, {(r, s): rng.normal(size=(3 + r, 3 + s)) for r, s in ties})


@pytest.mark.parametrize("pairs", ["chain", "full"])
def test_the_best_labels_are_those_of_an_exhaustive_search(pairs):
    rng = np.random.default_rng(1)
    field = random_field(rng, pairs)
    rows = rng.normal(size=(25, 5))
    for row, found in zip(rows, field.best(rows), strict=True):
        potentials = [weights @ np.append(row, 1) for weights in field.unary]
        choices = itertools.product(*(range(len(own)) for own in field.labels))
        best = max(choices, key=lambda chosen: field.value(potentials, chosen))
        assert found == tuple(field.labels[role][k] for role, k in enumerate(best))


@pytest.mark.parametrize("pairs", ["chain", "full"])
def test_the_field_learns(clips, pairs):
    _, tuples, scores = clips
    known = representations(tuples, minimum=5)
    field = SemanticField.train(known, scores, pairs=pairs)
    assert field.best(scores.matrix) == [known[item] for item in scores.items]


def test_rare_labels_are_left_out():
    tuples = Tuples({"a": [Roles("man", "run"), Roles("man", "sit")], "b": [Roles("dog", "run")]})
    assert representations(tuples, minimum=2)["a"] == (NONE, "run", NONE, NONE)


def test_alignment_finds_what_belongs_together():
    pairs = [
        (("someone", verb, place), ("someone", f"{verb}s", "in", "the", place))
        for verb in VERBS
        for place in PLACES
    ]
    for (labels, words), links in zip(pairs, align(pairs), strict=True):
        assert {(0, 0), (1, 1), (2, 4)} <= links
        assert {w for _, w in links} >= {0, 1, 4}
        assert len(labels) == 3
        assert len(words) == 5


def test_phrases_are_consistent_and_chances_sum_to_one():
    pairs = [(("run",), ("he", "runs")), (("run",), ("runs",)), (("sit",), ("he", "sits"))]
    table = PhraseTable.learn(pairs)
    for options in table.options.values():
        assert sum(np.exp(option.forward) for option in options) == pytest.approx(1)
    assert ("runs",) in [option.words for option in table.options["run",]]


def test_labels_of_two_words_are_one_label():
    table = PhraseTable.learn([(("someone", "pick up"), ("someone", "picks", "up"))])
    assert ("someone", "pick up") in table.options


def test_the_language_model_is_a_distribution():
    model = TrigramModel([["a", "man", "runs"], ["a", "man", "sits"], ["dogs", "run"]])
    for history in [(BEGIN, BEGIN), ("a", "man"), ("never", "seen"), ("man", "a")]:
        total = sum(np.exp(model.log_chance(history, word)) for word in model.words)
        assert total == pytest.approx(1)
    # Witten and Bell by hand: after "a man" two different words, each once
    after = 1 / (2 + 2) + 2 / (2 + 2) * np.exp(model.log_chance(("man",), "runs"))
    assert np.exp(model.log_chance(("a", "man"), "runs")) == pytest.approx(after)


def slow_best(decoder, labels):
    """Every way to divide, order and say labels."""
    count, best = len(labels), (-np.inf, ())
    spans = [(i, j) for i in range(count) for j in range(i + 1, count + 1)]
    for size in range(1, count + 1):
        for chosen in itertools.permutations(spans, size):
            if sorted(k for i, j in chosen for k in range(i, j)) != list(range(count)):
                continue
            options = [decoder.table.options.get(labels[i:j], ()) for i, j in chosen]
            for said in itertools.product(*options):
                score, words, end = 0.0, [], 0
                w = decoder.weights
                for (i, j), option in zip(chosen, said, strict=True):
                    score += w.forward * option.forward + w.backward * option.backward
                    score += w.word * len(option.words) - w.phrase - w.jump * abs(i - end)
                    words, end = [*words, *option.words], j
                history = (BEGIN, BEGIN)
                for word in [*words, END]:
                    score += w.language * decoder.model.log_chance(history, word)
                    history = (history[1], word)
                if score > best[0] + 1e-12:
                    best = score, tuple(words)
    return best[1]


@pytest.mark.parametrize("weights", [Weights(), Weights(word=0, language=0.5, jump=0.1)])
def test_the_decoder_finds_the_best_translation(weights):
    sentences = [
        (("man", "run"), "a man runs"),
        (("man", "sit", "street"), "the man sits in the street"),
        (("run", "street"), "someone runs on the street"),
        (("dog", "sit"), "a dog sits"),
    ]
    pairs = [(labels, tuple(text.split())) for labels, text in sentences]
    model = TrigramModel([words for _, words in pairs])
    decoder = Decoder(PhraseTable.learn(pairs), model, weights, stack=1000)
    for labels in [("man", "run", "street"), ("dog", "run"), ("sit", "man"), ("street",)]:
        assert decoder(labels) == slow_best(decoder, labels)


def test_a_training_sentence_comes_back_from_its_unique_tuple(clips):
    captions, tuples, scores = clips
    captions = {**captions, "own": ["The old captain slowly opens a heavy door."]}
    tuples = Tuples({**tuples.by_item, "own": [Roles("captain", "open", "door")]})
    scores = Features.of({**dict(zip(scores.items, scores.matrix, strict=True)), "own": [0.0] * 5})
    translator = Translator.train(captions, tuples, scores, TranslationParameters(minimum=1))
    said = translator.translate(("captain", "open", "door", NONE))
    assert said == "the old captain slowly opens a heavy door"
    assert translator.translate(("someone", "run", NONE, "street")) == "someone runs in the street"


def test_labels_that_cannot_be_said_are_counted(clips):
    captions, tuples, scores = clips
    translator = Translator.train(captions, tuples, scores, TranslationParameters(minimum=5))
    left = []
    sentences = translator._sentences([("someone", "fly", NONE, NONE)] * 2, left.extend)
    assert left == ["fly", "fly"]
    assert sentences[0].startswith("someone")
    assert translator.translate((NONE, NONE, NONE, NONE)) == translator.usual


def test_translate_command(clips, tmp_path):
    captions, tuples, scores = clips
    for name in ("train", "val", "test"):
        rows = dict(zip(scores.items, np.ascontiguousarray(scores.matrix), strict=True))
        save_file(rows, tmp_path / f"{name}.safetensors")
    (tmp_path / "captions.json").write_text(json.dumps({k: v[0] for k, v in captions.items()}))
    (tmp_path / "tuples.jsonl").write_text("".join(f"{line}\n" for line in tuples.lines()))
    words = (
        f"caption translate --captions {tmp_path}/captions.json --tuples {tmp_path}/tuples.jsonl"
    )
    words += f" --labels {tmp_path} --val-refs {tmp_path}/captions.json --recipe minimum:5"
    result = CliRunner().invoke(cli, [*words.split(), "-o", str(tmp_path / "out.json")])
    assert result.exit_code == 0, result.output
    said = json.loads((tmp_path / "out.json").read_text())
    right = [said[item] == captions[item][0].lower().rstrip(".") for item in captions]
    assert np.mean(right) > 0.95
    record = json.loads((tmp_path / "out.run.json").read_text())
    assert len(record["grid"]) == 6
    assert record["signature"].startswith("translation|minimum:5|kind:text|pairs:chain|stack:100|")
    chosen = max(record["grid"], key=lambda row: row["meteor"])
    assert (record["weights"]["word"], record["weights"]["language"]) == (
        chosen["word"],
        chosen["language"],
    )
    for more, message in (
        ("--recipe minimum:900", "No label occurs in at least 900 items"),
        ("--labels nowhere", "nowhere/train.safetensors: no such file; expected the folder"),
    ):
        bad = CliRunner().invoke(cli, [*words.split(), *more.split(), "-o", str(tmp_path / "no")])
        assert isinstance(bad.exception, DataError)
        assert message in str(bad.exception)
    (tmp_path / "captions.json").write_text(json.dumps({**captions, "x": ["A dog sits."]}))
    skipping = [*words.split(), "--missing", "skip", "-o", str(tmp_path / "skipped.json")]
    assert CliRunner().invoke(cli, skipping).exit_code == 0
    assert json.loads((tmp_path / "skipped.json").read_text()) == said
