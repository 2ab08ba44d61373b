"""Code of pycocoevalcap and aac-metrics moves over by the documented command, with its numbers."""

from __future__ import annotations

import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from reelscore import DataError, UnknownNameError, examples, score
from reelscore.compat import coco

torch = pytest.importorskip("torch")

from reelscore.compat import aac  # noqa: E402

PAGE = Path(__file__).parents[3] / "docs" / "coco.md"
COCO = {"bleu_1": "bleu_1", "bleu_4": "bleu_4", "meteor": "meteor", "rouge_l": "rouge_l"}


@pytest.fixture(scope="module")
def clips():
    systems, references = examples.clips()
    lists = [list(references[clip]) for clip in references]
    scores = score(systems["strong"], references, tokenizer="ptb-coco")
    return [systems["strong"][clip] for clip in references], lists, scores


@pytest.mark.skipif(shutil.which("sed") is None, reason="needs sed")
def test_the_command_in_the_documentation(tmp_path):
    """Import lines of all kinds, and nothing else, are changed; the code then runs."""
    [expression] = re.findall(r"\$ sed -i -E '([^']+)'", PAGE.read_text(encoding="utf-8"))
    script = tmp_path / "evaluate.py"
    script.write_text(
        "import json  # not from pycocoevalcap import x\n"
        "from pycocoevalcap.tokenizer.ptbtokenizer import PTBTokenizer\n"
        "from nlgeval.pycocoevalcap.bleu.bleu import Bleu\n"
        "from .pycocoevalcap.eval import COCOEvalCap, Meteor\n"
        "def late():\n"
        "    from coco_caption.pycocoevalcap.rouge.rouge import Rouge\n"
        "    return Rouge().method()\n"
        "from aac_metrics import evaluate\n"
        "from aac_metrics.functional.cider_d import cider_d as cider\n"
        "from aac_metrics.utils.tokenization import preprocess_mono_sents\n"
        "meteor = Meteor()\n"
        "meteor.close()\n"
        "print(late(), cider.__name__, preprocess_mono_sents(['A man.']))\n"
    )
    subprocess.run(["sed", "-i", "-E", expression, str(script)], check=True)
    changed = script.read_text().splitlines()
    assert changed[0] == "import json  # not from pycocoevalcap import x"
    assert "aac_metrics" not in script.read_text()
    assert sum("pycocoevalcap" in line for line in changed) == 1
    assert changed[5] == "    from reelscore.compat.coco import Rouge"
    done = subprocess.run([sys.executable, str(script)], capture_output=True, text=True, check=True)
    assert done.stdout == "Rouge cider_d ['a man']\n"


def test_scores_are_those_of_the_coco_tools(clips):
    candidates, references, ours = clips
    corpus, sentences = aac.evaluate(
        candidates, references, metrics=[*COCO, "cider_d"], java_path="/no/java", verbose=2
    )
    assert list(corpus) == [*COCO, "cider_d"]
    for name, own in {**COCO, "cider_d": "cider"}.items():
        assert corpus[name].dtype == sentences[name].dtype == torch.float64
        assert corpus[name].item() == ours[own].score
        assert sentences[name].tolist() == list(ours[own].items.values())


def test_functions_take_sentences_as_they_are(clips):
    candidates, references, _ = clips
    tokens = aac.preprocess_mono_sents(candidates)
    lists = aac.preprocess_mult_sents(references)
    corpus, _ = aac.evaluate(candidates, references, metrics="rouge_l")
    assert aac.rouge_l(tokens, lists)[0] == corpus
    assert aac.rouge_l(tokens, lists, return_all_scores=False) == corpus["rouge_l"]
    assert aac.bleu(tokens, lists, n=2)[0].keys() == {"bleu_2"}
    lower = aac.evaluate(
        candidates, references, lambda texts: [t.lower() for t in texts], ["bleu_1"]
    )
    assert (
        lower[0]["bleu_1"] < aac.evaluate(candidates, references, metrics=["bleu_1"])[0]["bleu_1"]
    )


def test_batches(clips):
    candidates, references, _ = clips
    whole = aac.Evaluate(metrics=["bleu_4", aac.cider_d])
    batches = aac.Evaluate(metrics=["bleu_4", aac.cider_d])
    for begin in range(0, len(candidates), 4):
        batches.update(candidates[begin : begin + 4], references[begin : begin + 4])
    assert batches.compute()[0] == whole(candidates, references)[0]
    batches.reset()
    with pytest.raises(DataError, match="There are no candidates"):
        batches.compute()


def test_spider_is_the_mean(clips, monkeypatch):
    monkeypatch.setattr(
        coco.Spice, "compute_score", lambda *_: (0.5, [{"All": {"f": 0.5}} for _ in clips[0]])
    )
    corpus, sentences = aac.evaluate(*clips[:2])
    assert list(corpus)[-3:] == ["cider_d", "spice", "spider"]
    assert corpus["spider"] == (corpus["cider_d"] + 0.5) / 2
    assert torch.equal(sentences["spider"], (sentences["cider_d"] + 0.5) / 2)


def test_refusals():
    with pytest.raises(UnknownNameError, match="Unknown metric 'fense'"):
        aac.evaluate(["a"], [["a"]], metrics=["bleu_1", "fense"])
    with pytest.raises(DataError, match="2 candidates and references of 1 items"):
        aac.rouge_l(["a", "b"], [["a"]])
    with pytest.raises(DataError, match="1 candidates; expected two or more"):
        aac.cider_d(["a"], [["a"]])
    with pytest.raises(DataError, match="only English"):
        aac.meteor(["a"], [["a"]], language="de")
