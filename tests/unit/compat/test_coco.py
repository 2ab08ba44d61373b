"""The drop-in for pycocoevalcap: its names, arguments, return values and numbers.

Tokenizer and METEOR, which need Java, are compared live in tests/parity.
"""

from __future__ import annotations

import inspect
import random

import numpy as np
import pytest
from pycocoevalcap.bleu.bleu import Bleu as TheirBleu
from pycocoevalcap.cider.cider import Cider as TheirCider
from pycocoevalcap.eval import COCOEvalCap as TheirEval
from pycocoevalcap.meteor.meteor import Meteor as TheirMeteor
from pycocoevalcap.rouge.rouge import Rouge as TheirRouge
from pycocoevalcap.tokenizer.ptbtokenizer import PTBTokenizer as TheirTokenizer

from reelscore import DataError
from reelscore.compat import coco
from reelscore.examples import clips
from reelscore.text.parser import networks as parser
from reelscore.text.parser.trees import Token, Tree

SYSTEMS, REFERENCES = clips()


@pytest.fixture(scope="module")
def tokenized():
    """The example's captions under integer ids, tokenized."""
    tokenizer = coco.PTBTokenizer()
    gts = {k: [{"caption": text} for text in texts] for k, texts in enumerate(REFERENCES.values())}
    res = {k: [{"caption": SYSTEMS["strong"][item]}] for k, item in enumerate(REFERENCES)}
    return tokenizer.tokenize(gts), tokenizer.tokenize(res)


def corpora():
    rng = random.Random(5)
    words = ["a", "man", "the", "dog", "runs", "x\u00a0y", "é"]

    def caption(least):
        return " ".join(rng.choices(words, k=rng.randint(least, 9)))

    for size in (1, 2, 30):
        gts = {f"v{k}": [caption(1) for _ in range(rng.randint(1, 4))] for k in range(size)}
        yield gts, {item: [caption(0)] for item in gts}


PAIRS = [
    (coco.PTBTokenizer, TheirTokenizer),
    (coco.Bleu, TheirBleu),
    (coco.Meteor, TheirMeteor),
    (coco.Rouge, TheirRouge),
    (coco.Cider, TheirCider),
    (coco.COCOEvalCap, TheirEval),
]


@pytest.mark.parametrize(("ours", "theirs"), PAIRS)
def test_signatures(ours, theirs):
    for name, method in inspect.getmembers(theirs, inspect.isfunction):
        if name.startswith("_") and name != "__init__":
            continue
        if name == "__init__" and "__init__" not in vars(ours):
            parameters = []
        else:
            parameters = list(inspect.signature(getattr(ours, name)).parameters)[1:]
        expected = inspect.signature(method).parameters
        assert parameters == list(expected)[1:], name
        for parameter in parameters:
            mine = inspect.signature(getattr(ours, name)).parameters[parameter]
            assert mine.default == expected[parameter].default, (name, parameter)


def test_bleu(capsys):
    for gts, res in corpora():
        score, scores = coco.Bleu(4).compute_score(gts, res)
        printed = capsys.readouterr().out
        their_score, their_scores = TheirBleu(4).compute_score(gts, res)
        assert capsys.readouterr().out == printed
        assert score == pytest.approx(their_score, rel=1e-12, abs=1e-15)
        assert len(scores) == 4
        for mine, theirs in zip(scores, their_scores, strict=True):
            assert mine == pytest.approx(theirs, rel=1e-12, abs=1e-15)
        assert type(score) is type(their_score)
        assert type(scores) is type(their_scores)
        assert type(scores[0]) is type(their_scores[0])
        coco.Bleu(4).compute_score(gts, res, verbose=0)
        assert capsys.readouterr().out == ""


@pytest.mark.parametrize(
    ("ours", "theirs"), [(coco.Rouge(), TheirRouge()), (coco.Cider(), TheirCider())]
)
def test_rouge_and_cider(ours, theirs):
    for gts, res in corpora():
        score, scores = ours.compute_score(gts, res)
        their_score, their_scores = theirs.compute_score(gts, res)
        assert score == pytest.approx(their_score, rel=1e-12, abs=1e-12)
        assert scores.tolist() == pytest.approx(their_scores.tolist(), rel=1e-12, abs=1e-12)
        assert type(score) is type(their_score)
        assert isinstance(scores, np.ndarray)
    assert ours.method() == theirs.method()


def test_rouge_of_one():
    ours, theirs = coco.Rouge(), TheirRouge()
    call = (["a man runs"], ["a man is running", "the man runs fast"])
    assert ours.calc_score(*call) == pytest.approx(theirs.calc_score(*call), rel=1e-12)
    assert ours.beta == theirs.beta


def test_cider_parameters():
    for gts, res in corpora():
        mine = coco.Cider(sigma=2.0).compute_score(gts, res)[0]
        assert mine == pytest.approx(TheirCider(sigma=2.0).compute_score(gts, res)[0], abs=1e-12)


def test_meteor(tokenized):
    gts, res = tokenized
    score, scores = coco.Meteor().compute_score(gts, res)
    assert type(score) is float
    assert type(scores) is list
    assert len(scores) == 15
    assert 0 < score < 1
    assert coco.Meteor().method() == "METEOR"


def test_tokenizer():
    captions = {7: [{"caption": "A man's dog."}, {"caption": "two\nlines"}], "x": [{"caption": ""}]}
    assert coco.PTBTokenizer().tokenize(captions) == {
        7: ["a man 's dog", "two lines"],
        "x": [""],
    }
    # captions of all images are one file: the look-ahead crosses from one to the next
    assert coco.PTBTokenizer().tokenize(
        {1: [{"caption": "plan B."}], 2: [{"caption": "The man"}]}
    ) == {1: ["plan b"], 2: ["the man"]}


class Coco:
    """As much of pycocotools' COCO as the evaluation uses."""

    def __init__(self, captions):
        self.imgToAnns = {
            image: [{"image_id": image, "caption": text} for text in texts]
            for image, texts in captions.items()
        }

    def getImgIds(self):
        return list(self.imgToAnns)


def test_whole_evaluation(tokenized, capsys):
    truth = Coco(dict(enumerate(REFERENCES.values())))
    results = Coco({k: [SYSTEMS["strong"][item]] for k, item in enumerate(REFERENCES)})
    evaluation = coco.COCOEvalCap(truth, results)
    evaluation.evaluate()
    assert list(evaluation.eval) == [
        *("Bleu_1", "Bleu_2", "Bleu_3", "Bleu_4"),
        "METEOR",
        "ROUGE_L",
        "CIDEr",
    ]
    gts, res = tokenized
    assert evaluation.eval["CIDEr"] == pytest.approx(TheirCider().compute_score(gts, res)[0])
    assert evaluation.eval["ROUGE_L"] == pytest.approx(TheirRouge().compute_score(gts, res)[0])
    assert len(evaluation.evalImgs) == len(REFERENCES)
    assert evaluation.imgToEval[3]["image_id"] == 3
    assert set(evaluation.imgToEval[3]) == {"image_id", *evaluation.eval}
    printed = capsys.readouterr().out
    assert "tokenization..." in printed
    assert "CIDEr: " in printed


def test_some_images_only():
    truth = Coco(dict(enumerate(REFERENCES.values())))
    results = Coco({k: [SYSTEMS["weak"][item]] for k, item in enumerate(REFERENCES)})
    evaluation = coco.COCOEvalCap(truth, results)
    evaluation.params["image_id"] = [2, 5]
    evaluation.evaluate()
    assert list(evaluation.imgToEval) == [2, 5]


REFUSED = [
    ({1: ["a"]}, {2: ["a"]}, "only one of gts and res"),
    ({1: ["a"]}, {1: ["a", "b"]}, "a list of one"),
    ({1: ["a"]}, {1: []}, "a list of one"),
    ({1: ["a"]}, {1: "a"}, "a list of one"),
    ({1: []}, {1: ["a"]}, "a list of captions"),
    ({1: "a"}, {1: ["a"]}, "a list of captions"),
]


@pytest.mark.parametrize(("gts", "res", "message"), REFUSED)
def test_refused(gts, res, message):
    for scorer in (coco.Bleu(), coco.Rouge(), coco.Cider(), coco.Meteor()):
        with pytest.raises(DataError, match=message):
            scorer.compute_score(gts, res)


@pytest.fixture
def stub_parser(monkeypatch):
    """Take the last word of a caption for its only noun."""

    def teacher_trees(captions, *, threads=None):
        nouns = [caption.split()[-1] for caption in captions]
        return [Tree((Token(noun, "NN", noun, -1, "root"),)) for noun in nouns]

    monkeypatch.setattr(parser, "teacher_trees", teacher_trees)


def test_spice_keeps_the_order_of_the_tool(stub_parser):
    gts = {"2": ["a cat"], "10": ["a dog"], "1": ["a car", "a bus"]}
    res = {"1": ["an automobile"], "2": ["a house"], "10": ["a dog"]}
    with pytest.warns(UserWarning, match=r"order of sorted ids.*'1' comes where '2' was given"):
        mean, scores = coco.Spice().compute_score(gts, res)
    assert [each["All"]["f"] for each in scores] == pytest.approx([2 / 3, 1, 0])  # 1, 10, 2
    assert float(mean) == pytest.approx(5 / 9)
    assert coco.Spice().method() == "SPICE"


def test_spice_has_seven_dictionaries(stub_parser):
    _, [scores] = coco.Spice().compute_score({1: ["a car", "a bus"]}, {1: ["a car"]})
    assert set(scores) == {
        *("All", "Object", "Attribute", "Relation"),
        "Cardinality",
        "Color",
        "Size",
    }
    counts = {"tp": 1, "fp": 0, "fn": 1, "numImages": 1}
    assert scores["Object"] == scores["All"]
    assert scores["All"] == {"pr": 1, "re": 0.5, "f": pytest.approx(2 / 3), **counts}
    assert all(np.isnan(scores["Color"][name]) for name in ("pr", "re", "f"))


def test_spice_says_what_is_wrong(stub_parser):
    with pytest.raises(DataError, match="cannot be sorted"):
        coco.Spice().compute_score({1: ["a"], "2": ["b"]}, {1: ["a"], "2": ["b"]})
    with pytest.raises(DataError, match="only one of gts and res"):
        coco.Spice().compute_score({1: ["a"]}, {1: ["a"], 2: ["b"]})
