"""`reelscore corpus anonymise` to `export`: commands on loose files and on projects."""

from __future__ import annotations

import json


def test_names_of_loose_files(run, tmp_path):
    (tmp_path / "cast.txt").write_text("ANNA\nROSE\nGUARD #2\n")
    (tmp_path / "text.txt").write_text("Rose petals fall.\nAnna sees the guard.\n")
    files = ["--text", str(tmp_path / "text.txt"), "--cast", str(tmp_path / "cast.txt")]
    status, out, err = run("corpus", "anonymise", *files, "--json", "-")
    assert status == 0
    result = json.loads(out)
    assert [each["text"] for each in result["sentences"]] == [
        "Rose petals fall.",
        "Someone sees the guard.",
    ]
    assert result["cast"] == ["anna", "rose"]
    assert "Rose  kept      1" in err
    assert "1 names replaced in 1 of 2 sentences" in err
