"""`reelscore demo corpus`: every step of a corpus, on films that are made on the spot."""

from __future__ import annotations

import json

import numpy as np
import pytest

from reelscore.challenges import read_definition
from reelscore.corpus.pipeline import ALIGN
from reelscore.corpus.project import Project
from reelscore.corpus.words.subtitles import read_subtitles
from reelscore_studies.demo_films import FILMS

pytest.importorskip("reelscore_parser")


def test_the_whole_road(run, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("COLUMNS", "80")
    status, out, err = run("demo", "corpus", "--folder", "demo")
    assert status == 0, err
    assert max(map(len, (out + err).splitlines())) <= 80
    commands = [line.split()[3] for line in out.splitlines() if line.startswith("$ reelscore cor")]
    assert list(dict.fromkeys(commands)) == [
        *("new", "add-film", "align", "segment", "subtitles", "script", "transcript", "status"),
        *("descriptions", "assemble", "anonymise", "split", "stats", "export"),
    ]
    assert "$ reelscore score copied.json" in out
    project = Project.open("demo")
    states = project.status()
    assert {state for steps in states.values() for state in steps.values()} == {"done", "open"}
    assert {film_id for film_id, steps in states.items() if steps["script"] == "done"} == {
        FILMS[0].id
    }
    for film in FILMS:  # all that was heard, and the narrator where no cue says it
        media = tmp_path / "demo" / "media" / film.id
        cues = read_subtitles(media / "subtitles.srt").cues
        lines = [line.text for cue in cues for line in cue.lines]
        heard = json.loads((media / "heard.json").read_text())
        narration = [(each["start"], each["end"]) for each in heard if each["text"] not in lines]
        segments = [(each.ad_start, each.ad_end) for each in project.segments(film.id)]
        assert len(segments) == len(narration)
        assert np.allclose(segments, narration, atol=0.12)
    assert project.result(ALIGN, "station").rate == pytest.approx(25 / 24, abs=1e-5)
    release = tmp_path / "demo" / "release"
    references = json.loads((release / "training.json").read_text())["annotations"]
    texts = [each["caption"] for each in references]
    assert "Someone looks at Someone and shakes his head." in texts
    definition = read_definition(release / "challenge" / "challenge.toml")
    assert definition.name == "Demo"
    assert sorted(path.name for path in (tmp_path / "demo" / "media").iterdir()) == [
        "cast.txt",
        *sorted(film.id for film in FILMS),
    ]
    status, _, err = run("demo", "corpus", "--folder", "demo")
    assert (status, "there is something already" in err) == (2, True)
