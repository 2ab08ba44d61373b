"""Names and signatures of metrics."""

from __future__ import annotations

import dataclasses
import pickle
import sys

import pytest

import reelscore
from reelscore import (
    DataError,
    Scorer,
    ScoreTable,
    UnknownNameError,
    compare,
    examples,
    metric_names,
    parse_signature,
    score_systems,
    stories,
)
from reelscore.metrics.base import CONTEXT_KEYS
from reelscore.metrics.bleu import Bleu
from reelscore.metrics.cider import Cider
from reelscore.metrics.registry import metric_class, rebuilt, resolve, standard_name
from reelscore.metrics.rouge_l import RougeL

PARSED = [
    ("bleu", Bleu(), "defaults"),
    ("bleu|n:2", Bleu(2), "a parameter"),
    (" bleu|n:2\n", Bleu(2), "blanks around it"),
    ("bleu|n:2|tok:ptb|items:7|refs:1-5|data:00|missing:error|empty:zero|v:9", Bleu(2), "context"),
    ("cider|variant:plain|frequencies:a%2Cb%7Cc%25.json", None, "escaped"),
    ("cider|frequencies:none", Cider(), "none is no file"),
]


@pytest.mark.parametrize(("signature", "metric", "why"), PARSED)
def test_parse(signature, metric, why):
    if metric is None:
        metric = Cider(variant="plain", frequencies="a,b|c%.json")
    assert parse_signature(signature) == metric, why


REFUSED = [
    ("blue", UnknownNameError, "Did you mean 'bleu'"),
    ("", UnknownNameError, "Unknown metric ''"),
    ("bleu|n", DataError, "not of the form parameter:value"),
    ("bleu|", DataError, "not of the form parameter:value"),
    ("bleu|n:four", DataError, "'n' of bleu is 'four'; expected int"),
    ("bleu|n:2.5", DataError, "expected int"),
    ("bleu|m:2", UnknownNameError, "Unknown parameter of bleu 'm'"),
    ("cider|sigma:wide", DataError, "expected float"),
    ("bertscore|idf:true", DataError, "'idf' of bertscore is 'true'; expected yes or no"),
    ("bleu,meteor", UnknownNameError, "Unknown metric 'bleu,meteor'"),
]


@pytest.mark.parametrize(("signature", "error", "message"), REFUSED)
def test_refused(signature, error, message):
    with pytest.raises(error, match=message.replace("|", r"\|")):
        parse_signature(signature)


def test_a_parameter_given_twice():
    with pytest.raises(DataError):
        parse_signature("bleu|n:2|n:3")


@pytest.mark.parametrize("name", metric_names())
def test_no_parameter_is_called_as_a_part_of_the_context(name):
    """A signature would have it twice, and could not be parsed."""
    assert not CONTEXT_KEYS & {field.name for field in dataclasses.fields(metric_class(name))}


RESOLVED = [
    ("bleu,meteor", ["bleu", "meteor"]),
    ("bleu, meteor ,", ["bleu", "meteor"]),
    (["bleu", "rouge_l,cider"], ["bleu", "rouge_l", "cider"]),
    (Bleu(2), ["bleu"]),
    ([Bleu(2), "cider"], ["bleu", "cider"]),
    ((name for name in ["bleu"]), ["bleu"]),
]


@pytest.mark.parametrize(("metrics", "names"), RESOLVED)
def test_resolve(metrics, names):
    assert [metric.name for metric in resolve(metrics)] == names


@pytest.mark.parametrize("metrics", ["", ",", [], [""]])
def test_no_metric(metrics):
    with pytest.raises(DataError, match="No metric given"):
        resolve(metrics)


@pytest.mark.parametrize("metrics", ["bleu,bleu", ["bleu", Bleu()], "bleu,bleu4", "cider,CIDEr-D"])
def test_twice(metrics):
    with pytest.raises(DataError, match="named twice"):
        resolve(metrics)


SPELLINGS = [
    ("METEOR", "meteor", ""),
    ("Meteor", "meteor", ""),
    ("rouge-l", "rouge_l", ""),
    ("ROUGE-L", "rouge_l", ""),
    ("rougeL", "rouge_l", ""),
    ("ROUGE_L", "rouge_l", ""),
    ("CIDEr", "cider", ""),
    ("CIDEr-D", "cider|variant:d", ""),
    ("Self-BLEU", "self_bleu", ""),
    ("bleu4", "bleu", "bleu_4"),
    ("bleu_4", "bleu", "bleu_4"),
    ("BLEU-4", "bleu", "bleu_4"),
    ("Bleu_4", "bleu", "bleu_4"),
    ("B@4", None, ""),
    ("Distinct-2", "diversity", "distinct_2"),
    ("spice_object", "spice", "spice_object"),
]


@pytest.mark.parametrize(("name", "metric", "score"), SPELLINGS)
def test_spellings(name, metric, score):
    if metric is None:
        with pytest.raises(UnknownNameError, match="Unknown metric"):
            standard_name(name)
    else:
        assert standard_name(name) == (metric, score)


def test_one_score_of_several():
    systems, references = examples.clips()
    table = score_systems(systems, references, "METEOR,bleu4,bleu_2")
    assert table.metrics == ["meteor", "bleu_2", "bleu_4"]
    assert score_systems(systems, references, "bleu")["weak"]["bleu_4"] == table["weak"]["bleu_4"]
    with pytest.raises(DataError, match=r"'bleu_4\|n:2' gives no 'bleu_4'; it gives bleu_1, b"):
        parse_signature("bleu_4|n:2")


VARIANTS = [
    ("cider,cider|variant:plain", ["cider", "cider|variant:plain"], ["CIDEr", "CIDEr (plain)"]),
    ("cider|variant:plain,CIDEr-D", ["cider|variant:plain", "cider"], ["CIDEr (plain)", "CIDEr"]),
    ("cider|variant:plain", ["cider"], ["CIDEr (plain)"]),
    (
        "meteor|alpha:0.5|beta:1,meteor|alpha:0.6",
        ["meteor|alpha:0.5|beta:1", "meteor|alpha:0.6"],
        ["METEOR (alpha:0.5, beta:1)", "METEOR (alpha:0.6)"],
    ),
    (
        "bleu|n:1,bleu|n:2",
        ["bleu_1|n:1", "bleu_1|n:2", "bleu_2"],
        ["BLEU-1 (n:1)", "BLEU-1 (n:2)", "BLEU-2"],
    ),
]


@pytest.mark.parametrize(("metrics", "names", "labels"), VARIANTS)
def test_variants_in_one_table(metrics, names, labels, tmp_path):
    systems, references = examples.clips()
    table = score_systems(systems, references, metrics)
    assert table.metrics == names
    assert list(table.labels.values()) == labels
    for part, own in zip(metrics.split(","), resolve(metrics), strict=True):
        alone = score_systems(systems, references, part)
        for name in (
            name for name in names if parse_signature(table["weak"][name].signature) == own
        ):
            output = name.partition("|")[0]
            assert table["weak"][name].items.to_dict() == alone["weak"][output].items.to_dict()
    for ending in ("json", "csv"):
        table.write(tmp_path / f"scores.{ending}")
        read = ScoreTable.read(tmp_path / f"scores.{ending}")
        assert (read.metrics, read.notes) == (names, [])
        if ending == "json" or len(names) > 1:  # CSV has no signatures, and the name says nothing
            assert read.labels == table.labels
        assert [read.scale(name).better for name in names] == ["high"] * len(names)
    stored = ScoreTable.read(tmp_path / "scores.json")
    fresh, again = (
        [list(each.pairs) for each in compare(t, "weak", tests=["bootstrap"], resamples=50)]
        for t in (table, stored)
    )
    assert fresh == again
    assert all(fresh)


def test_variants_in_a_scorer():
    scorer = Scorer({"v1": ["a man runs"], "v2": ["a dog"]}, "cider,cider|variant:plain,bleu_1")
    scorer.update({"v1": "a man runs", "v2": "a cat"})
    assert list(pickle.loads(pickle.dumps(scorer)).compute()) == [
        *("cider", "cider|variant:plain", "bleu_1")
    ]


def test_stories_take_one_variant():
    systems, annotators = examples.stories()
    with pytest.raises(DataError, match="cider is named in two variants"):
        stories.score_systems(systems, annotators.values(), metrics="cider,cider|variant:plain")


def test_stories_in_any_spelling():
    systems, annotators = examples.stories()
    table = stories.score_systems(
        systems, annotators.values(), "SODA_c", f="METEOR", meteor_order="swapped"
    )
    assert table.labels["soda_c"] == "SODA_c"
    bleu = [stories.score_systems(systems, annotators.values(), "soda_c", f=f) for f in BLEU]
    assert bleu[0]["concise"]["soda_c"] == bleu[1]["concise"]["soda_c"]


BLEU = ("bleu_2", "BLEU-2")


@pytest.mark.parametrize("metrics", [None, [3], 3])
def test_no_name(metrics):
    with pytest.raises(DataError):
        resolve(metrics)


JUDGES = ("bertscore", "clipscore", "refclipscore", "emscore", "judge")


def test_every_metric_is_documented():
    for name in metric_names():
        metric = metric_class(name)
        assert metric.name == name
        rooms = ("metrics", "learned.metrics", "learned.judges")
        assert metric.__module__.rpartition(".")[0] in {f"reelscore.{room}" for room in rooms}
        assert metric.__doc__
        assert "Scale" in (sys.modules[metric.__module__].__doc__ or "") or (
            name == "diversity"  # its outputs have different scales, each stated
        )


def test_a_metric_is_rebuilt_with_its_tokenizer():
    signature = RougeL().signature(tok="none", v="0.1.0")
    assert rebuilt(signature) == (RougeL(), "none")
    assert rebuilt("rouge_l|gamma:1") is None


def test_every_score_has_a_label():
    for name in metric_names():
        kind = metric_class(name)
        labels = [kind.output_scale.label]
        if not labels[0]:
            labels = [scale.label for scale in kind().output_scales]
        assert all(labels), name
        assert len({*labels}) == len(labels), name


def test_the_old_name_of_parse_signature():
    with pytest.warns(DeprecationWarning, match=r"is now reelscore\.parse_signature"):
        assert reelscore.parse is parse_signature
