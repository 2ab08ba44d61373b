"""The ActivityNet scorer's class, as densevid_eval's and PDVC's code calls it."""

from __future__ import annotations

from pathlib import Path

import pytest

from reelscore import DataError, examples, stories
from reelscore.compat.densevid import ANETcaptions, eval_dvc

TRUTH = [examples.path("stories/annotator_1.json"), examples.path("stories/annotator_2.json")]
RUN = examples.path("stories/systems/verbose.json")
TIOUS = [0.3, 0.5, 0.7, 0.9]


def test_as_its_main_calls_it(capsys: pytest.CaptureFixture[str]) -> None:
    evaluator = ANETcaptions(
        ground_truth_filenames=TRUTH,
        prediction_filename=RUN,
        tious=TIOUS,
        max_proposals=1000,
        verbose=True,
    )
    evaluator.evaluate()
    assert set(evaluator.scores) == {
        *(f"Bleu_{k}" for k in range(1, 5)),
        *("METEOR", "ROUGE_L", "CIDEr", "Recall", "Precision"),
    }
    direct = stories.score(RUN, TRUTH, "activitynet")
    assert evaluator.scores["CIDEr"] == list(direct["anet_cider"].by_tiou.values())
    assert sum(evaluator.scores["METEOR"]) / 4 == pytest.approx(direct["anet_meteor"].score)
    assert "Calculated tIoU: 0.3, METEOR: 0." in capsys.readouterr().out


def test_as_pdvc_calls_it(capsys: pytest.CaptureFixture[str]) -> None:
    scores = eval_dvc(json_path=RUN, reference=TRUTH)
    assert set(scores) == {"METEOR", "Recall", "Precision", "tiou"}
    fixed = stories.score(RUN, TRUTH, "activitynet", variant="2017-fixed")
    assert sum(scores["METEOR"]) / 4 == pytest.approx(fixed["anet_meteor"].score)
    newer = eval_dvc(json_path=RUN, reference=TRUTH, version="2021")
    assert sum(newer["METEOR"]) > sum(scores["METEOR"])
    assert set(eval_dvc(RUN, TRUTH, no_lang_eval=True)) == {"Recall", "Precision", "tiou"}
    assert capsys.readouterr().out == ""


def test_what_it_forgives(tmp_path: Path) -> None:
    """Unknown videos and reversed segments are no errors to the official scorer."""
    run = tmp_path / "run.json"
    run.write_text(
        '{"results": {"v_kayak": [{"sentence": "", "timestamp": [9, 1]},'
        ' {"sentence": "a man", "timestamp": [-1, 200]}], "v_x": []}}'
    )
    scorer = ANETcaptions(TRUTH, run, [0.5])
    scorer.evaluate()
    assert scorer.results is not None
    assert any("no references" in note for note in scorer.results.notes)


def test_bad_arguments() -> None:
    for arguments in ([TRUTH, RUN, []], [[], RUN, TIOUS], [TRUTH, None, TIOUS]):
        with pytest.raises(DataError, match="is empty"):
            ANETcaptions(*arguments)
