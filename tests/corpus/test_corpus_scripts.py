"""`reelscore corpus subtitles` and `corpus script`: projects, loose files, refusals."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys

import pytest

SCRIPT = """\
INT. CAR - NIGHT

ANNA
Who is there at this late hour?

The door opens. Rain falls in.

TOM
It is only me and the old dog.
"""
CUES = """\
1
00:00:01,000 --> 00:00:03,000
Who's there at this late hour?

2
00:00:08,000 --> 00:00:10,000
<i>It is only me</i> and the old dog.
"""
WHERE = ["--project", "films"]


@pytest.fixture
def folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "film.fountain").write_text(SCRIPT)
    (tmp_path / "film.srt").write_text(CUES)
    return tmp_path


@pytest.fixture
def project(run, folder):
    assert run("corpus", "new", "films")[0] == 0
    assert run("corpus", "add-film", "one", *WHERE)[0] == 0
    return folder / "films"


def steps(run):
    status = json.loads(run("corpus", "status", *WHERE, "--json", "-")[1])["films"]["one"]
    return [status[step] for step in ("subtitles", "script", "script times")]


def test_loose_files(run, folder):
    status, out, err = run("corpus", "subtitles", "film.srt", "-o", "cues.json")
    assert (status, out) == (0, "")
    assert err == "2 cues (srt), 2 with words, from 0:01.0 to 0:10.0\n"
    align = ["corpus", "script", "film.fountain", "--align", "--subtitles"]
    status, out, err = run(*align, "cues.json", "--json", "-")
    assert status == 0
    aligned = json.loads(out)
    assert aligned["lines"] == {"all": 2, "matched": 2}
    assert [each["cues"] for each in aligned["elements"]] == [[], [0], [], [1]]
    assert [each["text"] for each in aligned["sentences"]] == ["The door opens.", "Rain falls in."]
    assert "lines           2           2\ndescriptions    1           1\n" in err
    assert json.loads(run(*align, "film.srt", "--json", "-")[1])["elements"] == aligned["elements"]
    parsed = json.loads(run("corpus", "script", "film.fountain", "--json", "-")[1])
    assert parsed["counts"] == {"heading": 1, "dialogue": 2, "description": 1}
    assert parsed["made_by"]["command"] == "script"
    assert sorted(path.name for path in folder.iterdir()) == [
        "cues.json",
        "film.fountain",
        "film.srt",
    ]


def test_a_project_needs_no_sound(run, project, folder):
    script = ["corpus", "script", "one", "film.fountain", "--align", *WHERE]
    status, _, err = run(*script)
    assert status == 2
    assert "has no subtitles yet; run 'reelscore corpus subtitles one PATH' first" in err
    assert run("corpus", "subtitles", "one", "film.srt", *WHERE)[0] == 0
    assert run(*script)[0] == 0
    assert steps(run) == ["done", "done", "done"]
    err = run(*script)[2]
    assert "the script was read already" in err
    assert "the script has its times already" in err
    made = (project / "films/one/aligned.json").read_bytes()
    assert "already" not in run(*script, "--again")[2]
    assert (project / "films/one/aligned.json").read_bytes() == made
    (folder / "film.srt").write_text(CUES.replace("Who's", "Who is"))
    assert steps(run) == ["stale", "done", "stale"]
    status, _, err = run(*script)
    assert status == 2
    assert "have changed since they were read" in err
    assert run("corpus", "subtitles", "one", "film.srt", *WHERE)[0] == 0
    assert steps(run) == ["done", "done", "stale"]
    assert run(*script)[0] == 0
    assert steps(run) == ["done", "done", "done"]


def test_another_film_is_not_trusted(run, project, folder):
    (folder / "film.srt").write_text(CUES.translate(str.maketrans("eioa", "xyuz")))
    assert run("corpus", "subtitles", "one", "film.srt", *WHERE)[0] == 0
    status, _, err = run("corpus", "script", "one", "film.fountain", "--align", *WHERE)
    assert status == 3
    assert "Not to be trusted: no-match: 0 of 2 lines are in the subtitles" in err.replace(
        "\n ", ""
    )
    assert steps(run) == ["done", "done", "failed"]


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["script", "one", "empty.txt"], "empty.txt: the file is empty."),
        (["script", "one", "nowhere.txt"], "nowhere.txt: there is no such file."),
        (["script", "nowhere.txt"], "nowhere.txt: there is no such file."),
        (["script", "two", "film.fountain"], "'two'"),
        (["script", "film.fountain", "--align"], "name them with --subtitles"),
        (["script", "film.fountain", "--format", "fdx"], "malformed XML"),
        (["script", "one", "film.fountain", "-o", "a.json"], "--output is for work without"),
        (["subtitles", "one", "latin.srt"], "latin.srt:3: not utf-8"),
        (["subtitles", "latin.srt", "--encoding", "martian"], "'martian' is not known"),
        (["subtitles", "film.fountain"], "expected SRT, WebVTT"),
        (["subtitles", "a", "b", "c"], "a film and a file, or a file alone"),
        (["script", "film.fountain", "--align", "--subtitles", "other.json"], "expected cues"),
    ],
)
def test_refusals(run, project, folder, arguments, message):
    (folder / "empty.txt").write_text("\n")
    (folder / "other.json").write_text("{}")
    (folder / "latin.srt").write_bytes(CUES.replace("Who's", "Où").encode("latin-1"))
    before = sorted(folder.rglob("*.json"))
    status, out, err = run("corpus", *arguments, *WHERE)
    assert (status, out) == (2, "")
    assert message in " ".join(err.split())
    assert sorted(folder.rglob("*.json")) == before


@pytest.mark.skipif(sys.platform == "win32", reason="kills a process")
def test_killed_while_writing(run, project):
    assert run("corpus", "subtitles", "one", "film.srt", *WHERE)[0] == 0
    program = (
        "import os, sys; from reelscore.cli.main import main\n"
        "os.replace = lambda *paths: os.kill(os.getpid(), 9)\n"
        "sys.argv = ['reelscore', 'corpus', *sys.argv[1:]]; main()"
    )
    script = ["script", "one", "film.fountain", "--align", *WHERE]
    process = subprocess.run([sys.executable, "-c", program, *script], check=False, env=os.environ)
    assert process.returncode == -signal.SIGKILL
    assert steps(run) == ["done", "open", "open"]
    assert run("corpus", *script)[0] == 0
    assert steps(run) == ["done", "done", "done"]
