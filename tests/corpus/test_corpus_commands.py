"""`reelscore corpus`: projects and loose files, exit status 2 and 3, and work that was killed."""

from __future__ import annotations

import csv
import json
import os
import signal
import subprocess
import sys
import wave

import pytest

from support import killed_commands
from support.film_sound import film_sound, made_pair, write_sound


@pytest.fixture(scope="module")
def pair(tmp_path_factory):
    return made_pair(tmp_path_factory.mktemp("pair"))


@pytest.fixture
def project(run, pair, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    assert run("corpus", "new", "films", "--name", "Films")[0] == 0
    options = ["--project", "films", "--film", str(pair.film), "--ad", str(pair.ad)]
    assert run("corpus", "add-film", "one", *options, "--year", "1968")[0] == 0
    return tmp_path / "films"


def read(path):
    return json.loads(path.read_text())


def test_loose_files(run, pair, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    files = ["--film", str(pair.film), "--ad", str(pair.ad)]
    status, out, err = run("corpus", "align", *files, "-o", "map.json")
    assert (status, out) == (0, "")
    assert "from        to  film from      rate\n0:00.7  0:40.7     0:00.0  1.000000\n" in err
    result = read(tmp_path / "map.json")
    assert result["match"] is True
    assert result["map"][0]["ad_start"] == pytest.approx(0.73, abs=1e-4)
    assert result["made_by"]["command"] == "align"
    assert [len(each["sha256"]) for each in result["inputs"]] == [64, 64]
    status, out, err = run(
        *["corpus", "segment", *files, "--map", "map.json", "--json", "-", "-o", "found.json"]
    )
    assert status == 0
    assert json.loads(out) == read(tmp_path / "found.json")
    segments = json.loads(out)["segments"]
    starts = [start for start, _ in pair.narration]
    assert [each["start"] for each in segments] == pytest.approx(starts, abs=0.1)
    assert [each["ad_start"] - each["start"] for each in segments] == pytest.approx([0.73] * 4)
    assert "4 segments in 4 turns" in err
    assert max(map(len, err.splitlines())) <= 80
    assert sorted(path.name for path in tmp_path.iterdir()) == ["found.json", "map.json"]


def test_segment_aligns_first_where_there_is_no_map(run, pair):
    status, out, _ = run(
        "corpus", "segment", "--film", str(pair.film), "--ad", str(pair.ad), "--json", "-"
    )
    assert (status, len(json.loads(out)["segments"])) == (0, 4)


def test_a_project_from_new_to_status(run, project):
    where = ["--project", "films"]
    assert run("corpus", "status", *where)[2].splitlines() == [
        "film  align  segment  subtitles  script  script times  transcript",
        "one    open     open       open    open          open        open",
    ]
    status, _, err = run("corpus", "segment", *where)
    assert status == 2
    assert err == "Error: Film 'one' is not aligned yet; run 'reelscore corpus align one' first.\n"
    assert run("corpus", "align", *where)[0] == 0
    assert run("corpus", "segment", "one", *where)[0] == 0
    made = {path.name: path.read_bytes() for path in (project / "films/one").glob("*.json")}
    assert "one: already aligned" in run("corpus", "align", *where)[2]
    assert "one: already segmented" in run("corpus", "segment", *where)[2]
    status = json.loads(run("corpus", "status", *where, "--json", "-")[1])
    assert status["name"] == "Films"
    done = [step for step, state in status["films"]["one"].items() if state == "done"]
    assert done == ["align", "segment"]
    assert "already" not in run("corpus", "align", *where, "--again")[2]
    assert (project / "films/one/align.json").read_bytes() == made["align.json"]
    # the same alignment again: what was made from it is still fresh
    assert run("corpus", "status", *where)[2].splitlines()[1].split()[1:3] == ["done"] * 2
    assert run("corpus", "segment", *where, "--method", "min_length:2")[0] == 0
    assert (project / "films/one/segments.json").read_bytes() != made["segments.json"]
    assert list((project / "films/one/cache").iterdir()) == []


def test_narration_over_dialogue_is_less_certain(run, project, pair, tmp_path):
    start, end = pair.narration[1]
    lines = f"1\n00:00:{start:06.3f} --> 00:00:{end - 1:06.3f}\nHello there!\n".replace(".", ",")
    (tmp_path / "film.srt").write_text(lines)
    where = ["--project", "films"]
    assert run("corpus", "align", *where)[0] == 0
    assert run("corpus", "segment", *where)[0] == 0
    recorded = read(project / "films/one/segments.json")["segments"]
    assert min(each["confidence"] for each in recorded) > 0.9
    status = ["corpus", "status", *where, "--json", "-"]
    assert json.loads(run(*status)[1])["films"]["one"]["segment"] == "done"
    assert run("corpus", "subtitles", "one", "film.srt", *where)[0] == 0
    err = run("corpus", "segment", *where)[2]
    shown = [line.split()[-1] for line in err.splitlines() if line.startswith("0:")]
    assert shown[1] == f"{recorded[1]['confidence'] / 2:.2f}"
    assert [shown[k] for k in (0, 2, 3)] == [f"{recorded[k]['confidence']:.2f}" for k in (0, 2, 3)]
    files = ["--film", str(pair.film), "--ad", str(pair.ad), "--subtitles", "film.srt"]
    status, out, _ = run("corpus", "segment", *files, "--json", "-")
    doubted = [each["confidence"] for each in json.loads(out)["segments"]]
    assert doubted[1] == pytest.approx(recorded[1]["confidence"] / 2, abs=1e-3)
    assert doubted[0] == recorded[0]["confidence"]


def test_a_changed_file_makes_results_stale(run, project, pair, tmp_path):
    ad = tmp_path / "ad.wav"
    ad.write_bytes(pair.ad.read_bytes())
    where = ["--project", "films"]
    assert run("corpus", "align", "one", "--ad", str(ad), *where)[0] == 0
    assert run("corpus", "segment", *where)[0] == 0
    ad.write_bytes(pair.ad.read_bytes()[:-1000])
    assert run("corpus", "status", *where)[2].splitlines()[1].split()[1:3] == ["stale"] * 2
    status, _, err = run("corpus", "segment", *where)
    assert status == 2
    assert "have changed since it was aligned" in err


def test_a_bad_film_does_not_keep_the_others_waiting(run, project, pair, tmp_path):
    gone = tmp_path / "gone.wav"
    gone.write_bytes(b"no sound")
    options = ["--project", "films", "--film", str(pair.film), "--ad", str(gone)]
    assert run("corpus", "add-film", "bad", *options)[0] == 0
    assert run("corpus", "add-film", "two", *options[:-1], str(pair.ad))[0] == 0
    status, _, err = run("corpus", "align", "--project", "films")
    assert status == 2
    assert "Error: bad: " in " ".join(err.split())
    states = json.loads(run("corpus", "status", "--project", "films", "--json", "-")[1])["films"]
    assert {film: steps["align"] for film, steps in states.items()} == {
        "one": "done",
        "bad": "open",
        "two": "done",
    }


def test_strangers_are_refused_with_status_3(run, pair, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    other = write_sound(tmp_path / "other.wav", film_sound(40.0, seed=5))
    files = ["--film", str(pair.film), "--ad", str(other)]
    status, _, err = run("corpus", "align", *files, "-o", "map.json")
    assert status == 3
    message = "no-match: other.wav (0:40.0) does not belong to film.wav (0:40.0)"
    assert message in " ".join(err.split())
    assert read(tmp_path / "map.json")["map"] == []
    status, _, err = run("corpus", "segment", *files, "--map", "map.json", "-o", "n.json")
    assert status == 2
    assert "was not found in the film" in err
    assert run("corpus", "segment", *files)[0] == 3
    assert not (tmp_path / "n.json").exists()


def test_a_map_of_other_files_is_refused(run, pair, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    other = write_sound(tmp_path / "other.wav", film_sound(40.0, seed=5))
    film, ad = str(pair.film), str(pair.ad)
    assert run("corpus", "align", "--film", film, "--ad", ad, "-o", "map.json")[0] == 0
    for files, message in (
        ((str(other), ad), f"map.json: made with the film {film}, and not with {other}"),
        ((film, str(other)), f"made with the described track {ad}, and not with {other}"),
        ((ad, film), f"made with the film {film}, and not with {ad}"),
    ):
        names = ["--film", files[0], "--ad", files[1], "--map", "map.json"]
        status, _, err = run("corpus", "segment", *names, "-o", "n.json")
        assert (status, message in err) == (2, True), err
        assert not (tmp_path / "n.json").exists()
    moved = tmp_path / "moved.wav"
    moved.write_bytes(pair.ad.read_bytes())
    names = ["--film", film, "--ad", str(moved), "--map", "map.json", "-o", "n.json"]
    assert run("corpus", "segment", *names)[0] == 0


def test_swapped_files_are_noticed(run, pair):
    files = ["--film", str(pair.ad), "--ad", str(pair.film)]
    status, out, err = run("corpus", "segment", *files, "--json", "-")
    assert status == 3
    [finding] = json.loads(out)["report"]
    assert finding["code"] == "swapped"
    assert "exchange --film and --ad" in " ".join(err.split())


def test_a_film_is_not_its_own_described_track(run, pair, tmp_path):
    status, out, err = run("corpus", "align", "--film", str(pair.film), "--ad", str(pair.film))
    assert (status, out) == (2, "")
    assert "are the same sound (stream 0)" in err
    copy = write_sound(tmp_path / "copy.flac", film_sound(40.0))
    status, out, _ = run(
        *["corpus", "segment", "--film", str(pair.film), "--ad", str(copy), "--json", "-"]
    )
    assert status == 0
    assert [each["code"] for each in json.loads(out)["report"]] == ["no-narration"]


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["align", "--film", "a.wav"], "name one with --ad too"),
        (["align"], "there is no project (corpus.json)"),
        (["align", "--rate", "fast"], "'fast' is neither 'auto' nor a number"),
        (["align", "--rate", "7"], "--rate 7 is not between 0.5 and 2"),
        (["segment", "--search", "5"], "No such option"),
        (["align", "--film", "a.wav", "--ad", "a.wav"], "a.wav: there is no such file"),
        (["align", "--film", "a", "--ad", "a", "-o", "no/map.json"], "there is no folder 'no'"),
        (["segment", "x", "-o", "a.json"], "for work without a project"),
        (["new", "file.txt"], "file.txt: cannot be made"),
    ],
)
def test_bad_input_is_one_message(run, tmp_path, monkeypatch, arguments, message):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "file.txt").write_text("a file")
    status, out, err = run("corpus", *arguments)
    assert (status, out) == (2, "")
    assert message in err
    assert [path.name for path in tmp_path.iterdir()] == ["file.txt"]


ROAD = {
    "new": ["new", "."],
    "add-film": ["add-film", "one", "--film", "film.wav", "--ad", "ad.wav"],
    "align": ["align"],
    "segment": ["segment"],
    "subtitles": ["subtitles", "one", "film.srt"],
    "script": ["script", "one", "film.fountain", "--align"],
    "transcript": ["transcript", "one", "heard.json"],
    "template": ["transcript", "one", "--template", "to-do"],
    "assemble": ["assemble"],
    "anonymise": ["anonymise"],
    "split": ["split", "--ratios", "1 0 0 0"],
    "export": ["export", "-o", "release", "--format", "coco", "--format", "csv"],
}


@pytest.fixture(scope="module")
def killed(pair, tmp_path_factory):
    """Every command of a project, killed while it writes, and then run again."""
    if sys.platform == "win32":
        pytest.skip("kills processes")
    pytest.importorskip("reelscore_parser")
    folder = tmp_path_factory.mktemp("killed")
    for path in (pair.film, pair.ad):
        (folder / path.name).write_bytes(path.read_bytes())
    (folder / "film.srt").write_text("1\n00:00:10,000 --> 00:00:12,000\nDo not open that door!\n")
    (folder / "film.fountain").write_text(
        "INT. CAR - DAY\n\nRain falls.\n\nANNA\nDo not open that door!\n\nShe opens it.\n"
    )
    heard = [
        {"start": start + 0.73, "end": end + 0.73, "text": "Anna nods."}
        for start, end in pair.narration
    ]
    (folder / "heard.json").write_text(json.dumps(heard))
    commands = json.dumps([["corpus", *words] for words in ROAD.values()])
    done = subprocess.run(
        [sys.executable, killed_commands.__file__, commands],
        cwd=folder,
        env={**os.environ, "OPENBLAS_NUM_THREADS": "1", "OMP_NUM_THREADS": "1"},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    return dict(zip(ROAD, map(json.loads, done.stdout.splitlines()), strict=True))


@pytest.mark.parametrize("command", ROAD)
def test_killed_work_leaves_nothing_and_goes_on(killed, command):
    work = killed[command]
    assert work["ended"] == -signal.SIGKILL
    assert work["after"] == work["before"]
    assert work["again"] == 0
    assert work["finally"] != work["before"]


def test_words_long_after_the_film_are_refused(run, project, tmp_path):
    where = ["--project", "films"]
    cues = "1\n00:00:10,000 --> 00:00:12,000\nNo!\n\n2\n{} --> 02:10:02,000\nYes.\n"
    (tmp_path / "late.srt").write_text(cues.format("02:10:00,000"))
    status, _, err = run("corpus", "subtitles", "one", "late.srt", *where)
    message = "late.srt: the last cue ends at 2:10:02.0, and the film at 0:40.0."
    assert (status, message in " ".join(err.split())) == (2, True)
    assert not (project / "films/one/subtitles.json").exists()
    assert run("corpus", "align", *where)[0] == run("corpus", "segment", *where)[0] == 0
    for times, whole in (("ad", "described track at 0:40.7"), ("film", "film at 0:40.0")):
        status, _, err = run("corpus", "transcript", "one", "late.srt", "--times", times, *where)
        message = f"late.srt: the last entry ends at 2:10:02.0, and the {whole}."
        assert (status, message in " ".join(err.split())) == (2, True)
    heard = [(6.0, 8.5, "Anna nods."), (33.0, 36.2, "He waves."), (45.0, 47.0, "Who?")]
    rows = [{"start": start, "end": end, "text": text} for start, end, text in heard]
    (tmp_path / "heard.json").write_text(json.dumps(rows))
    status, _, err = run("corpus", "transcript", "one", "heard.json", "--times", "film", *where)
    assert (status, "2 sentences" in err) == (0, True)
    assert "unmapped: 1 entries have no time in the film" in err  # and are no dialogue


def test_sound_to_transcribe(run, project, tmp_path):
    where = ["--project", "films"]
    assert run("corpus", "align", *where)[0] == 0
    assert run("corpus", "segment", *where)[0] == 0
    template = ["--template", "to-do", "--with-audio"]
    status, _, err = run("corpus", "transcript", "one", *template, *where)
    assert (status, "4 segments to transcribe" in err) == (0, True)
    with (tmp_path / "to-do" / "transcript.csv").open(newline="") as file:
        rows = list(csv.DictReader(file))
    assert len(rows) == 4
    for row in rows:
        with wave.open(str(tmp_path / "to-do" / row["audio"])) as sound:
            seconds = sound.getnframes() / sound.getframerate()
        assert seconds == pytest.approx(float(row["end"]) - float(row["start"]), abs=1e-3)
