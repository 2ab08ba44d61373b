"""``reelscore repro unseen-years`` on the real judgments: 7,700 captions by six metrics."""

from __future__ import annotations

import json

import pytest
from click.testing import CliRunner

from reelscore.cli.main import cli

pytestmark = [pytest.mark.shared, pytest.mark.full]


def test_evaluate(shared, tmp_path):
    pytest.importorskip("reelscore_bertha")
    page, numbers = tmp_path / "agreement.html", tmp_path / "agreement.json"
    command = ["repro", "unseen-years", "--data", shared / "trecvid-vtt-ha"]
    done = CliRunner().invoke(
        cli, [*map(str, command), "--html", str(page), "--json", str(numbers)]
    )
    assert done.exit_code == 0, done.output
    data = json.loads(numbers.read_text())["captions"]
    assert data["meteor"] == pytest.approx([0.234, 0.409, 0.477, 0.520, 0.500], abs=1e-3)
    assert sum(data["bertha"]) / 5 == pytest.approx(0.804, abs=1e-3)
    assert "fusion|weights:classical" in data
    assert "fusion|weights:learned" not in data
    assert "MA, captions" in done.output
    assert "Agreement with people on TRECVid, MA" in page.read_text()
