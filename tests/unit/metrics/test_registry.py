"""Names and signatures of metrics."""

from __future__ import annotations

import sys

import pytest

from reelscore import DataError, UnknownNameError, metric_names, parse
from reelscore.metrics.bleu import Bleu
from reelscore.metrics.cider import Cider
from reelscore.metrics.registry import metric_class, rebuilt, resolve
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
    assert parse(signature) == metric, why


REFUSED = [
    ("blue", UnknownNameError, "Did you mean 'bleu'"),
    ("", UnknownNameError, "Unknown metric ''"),
    ("bleu|n", DataError, "not of the form parameter:value"),
    ("bleu|", DataError, "not of the form parameter:value"),
    ("bleu|n:four", DataError, "'n' of bleu is 'four'; expected int"),
    ("bleu|n:2.5", DataError, "expected int"),
    ("bleu|m:2", UnknownNameError, "Unknown parameter of bleu 'm'"),
    ("cider|sigma:wide", DataError, "expected float"),
    ("bleu,meteor", UnknownNameError, "Unknown metric 'bleu,meteor'"),
]


@pytest.mark.parametrize(("signature", "error", "message"), REFUSED)
def test_refused(signature, error, message):
    with pytest.raises(error, match=message.replace("|", r"\|")):
        parse(signature)


def test_a_parameter_given_twice():
    with pytest.raises(DataError):
        parse("bleu|n:2|n:3")


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


@pytest.mark.parametrize("metrics", ["bleu,bleu", ["bleu", Bleu(2)], "cider,cider|variant:plain"])
def test_twice(metrics):
    with pytest.raises(DataError, match="named twice"):
        resolve(metrics)


@pytest.mark.parametrize("metrics", [None, [3], 3])
def test_no_name(metrics):
    with pytest.raises(DataError):
        resolve(metrics)


JUDGES = ("bertscore", "judge")


def test_every_metric_is_documented():
    for name in metric_names():
        metric = metric_class(name)
        assert metric.name == name
        part = "learned" if name in ("bertha", "sts", "fusion") else "metrics"
        part = "judges" if name in JUDGES else part
        assert metric.__module__ == f"reelscore.{part}.{name}"
        assert metric.__doc__
        assert "Scale" in (sys.modules[metric.__module__].__doc__ or "") or (
            name == "diversity"  # its outputs have different scales, each stated
        )


def test_a_metric_is_rebuilt_with_its_tokenizer():
    signature = RougeL().signature(tok="none", v="0.1.0")
    assert rebuilt(signature) == (RougeL(), "none")
    assert rebuilt("rouge_l|gamma:1") is None
