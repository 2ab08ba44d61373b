"""Fusion of metrics by regression."""

from __future__ import annotations

import subprocess
import sys

import numpy as np
import pytest

import reelscore
from reelscore import examples
from reelscore.errors import DataError
from reelscore.learned.metrics.fusion import (
    Coefficients,
    Fusion,
    read_coefficients,
    write_coefficients,
)
from reelscore_studies.repro.regression import fit_fusion


def test_the_weighted_sum(tmp_path):
    write_coefficients(
        tmp_path / "mine.json",
        Coefficients(["bleu|n:2", "rouge_l"], {"bleu_2": 2.0, "rouge_l": -1.0}, 0.5),
    )
    systems, references = examples.clips()
    own = reelscore.score(systems["weak"], references, "bleu|n:2,rouge_l")
    fused = reelscore.score(systems["weak"], references, [Fusion(str(tmp_path / "mine.json"))])
    expected = 0.5 + 2 * own["bleu_2"].items.array - own["rouge_l"].items.array
    assert np.allclose(fused["fusion"].items.array, expected, atol=1e-12)
    assert fused["fusion"].score == pytest.approx(expected.mean())
    assert "files:" in fused["fusion"].signature


def test_coefficients_are_found_again():
    rng = np.random.default_rng(0)
    scores = {"meteor": rng.random(300), "cider": 10 * rng.random(300)}
    human = 3 * scores["meteor"] - 0.2 * scores["cider"] + 0.1 + rng.normal(size=300) / 1000
    fitted = fit_fusion(scores, human, ["meteor", "cider"], provenance={"data": "made up"})
    assert fitted.weights == pytest.approx({"meteor": 3, "cider": -0.2}, abs=1e-3)
    assert fitted.intercept == pytest.approx(0.1, abs=1e-3)
    assert fitted.provenance == {"captions": 300, "data": "made up"}


def test_the_shipped_ones_say_where_they_come_from():
    for name in ("classical", "learned"):
        stored = read_coefficients(name)
        assert stored.provenance["captions"] == 7700
        assert "TRECVid" in stored.provenance["data"]
    key = "r on the year left out, 2016-2020"
    assert len(read_coefficients("classical").provenance[key]) == 5
    # its coefficients rest on scores of models that saw the year to be tested
    assert read_coefficients("learned").provenance[key] == "not measured"


def test_classical_fusion_needs_no_torch():
    script = (
        "import sys, reelscore\n"
        "reelscore.score({'v': 'a man'}, {'v': ['a man']}, 'fusion')\nprint('torch' in sys.modules)"
    )
    done = subprocess.run(
        [sys.executable, "-c", script], capture_output=True, text=True, check=True
    )
    assert done.stdout.strip() == "False"


def test_bad_files(tmp_path):
    with pytest.raises(DataError, match="cannot be read"):
        read_coefficients(str(tmp_path / "nothing.json"))
    (tmp_path / "bad.json").write_text("[]")
    with pytest.raises(DataError, match="not the coefficients"):
        read_coefficients(str(tmp_path / "bad.json"))


@pytest.mark.parametrize("inner", ["fusion", "ensemble|weights:{}", "Fusion|weights:{}"])
def test_a_fusion_of_itself(tmp_path, inner):
    file = tmp_path / "loop.json"
    write_coefficients(file, Coefficients([inner.format(file)], {"fusion": 1.0}, 0.0))
    with pytest.raises(DataError, match="a fusion cannot contain another"):
        reelscore.score({"v": "a man"}, {"v": ["a man"]}, Fusion(str(file)))


def test_bad_fits():
    with pytest.raises(DataError, match="No metric of rouge_l gives 'meteor'"):
        fit_fusion({"meteor": [1.0] * 9}, [1.0] * 9, ["rouge_l"])
    with pytest.raises(DataError, match="give many more"):
        fit_fusion({"meteor": [1.0, 2.0]}, [1.0, 2.0], ["meteor"])
