"""`reelscore corpus anonymise` to `export`: commands on loose files and on projects."""

from __future__ import annotations

import csv
import json
import re
import shlex
import shutil
from dataclasses import asdict, replace
from datetime import datetime, timezone
from pathlib import Path

import av
import numpy as np
import pytest

from reelscore.challenges import read_definition
from reelscore.corpus.pipeline import SEGMENT, write_file
from reelscore.corpus.project import Film, Project
from reelscore.corpus.project_files import (
    Decision,
    Element,
    NarrationSegments,
    Segment,
    TimedSentence,
)
from reelscore.corpus.release.caption_clips import read_clips
from reelscore.corpus.release.corpus_size import published_figures
from reelscore.corpus.release.film_sets import SETS
from reelscore.corpus.review.decisions import append_decision
from reelscore.video import Sampling, read_frames

pytest.importorskip("reelscore_parser")


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


@pytest.fixture
def project(tmp_path, monkeypatch):
    """Six films with narration, one of them with a script too, and one with a script alone."""
    monkeypatch.chdir(tmp_path)
    project = Project.new("films", "Demo")
    for number in range(7):
        film_id = f"f{number}"
        project.add_film(Film(film_id, title=f"Film {number}", year=2000))
        folder = project.place(film_id, "x").parent
        sentences = [
            TimedSentence(f"s{k}", text, 10.0 * k, 10.0 * k + 1.5 * k, "ad")
            for k, text in enumerate(["Anna nods.", "The Haleys wave.", "Rose petals fall."])
        ]
        if number < 6:
            write_file(folder / "transcript.json", {"sentences": [asdict(s) for s in sentences]})
        if number >= 5:
            told = Element("e1", 1, "description", None, "Mark runs.", start=50.0, end=51.0)
            elements = [
                replace(told, accepted=True),
                replace(told, id="e2", text="Never timed."),
                Element("e3", 1, "dialogue", "MARK HALEY", "Hello."),
            ]
            script = {"elements": [asdict(e) for e in elements]}
            write_file(folder / "script.json", script)
            timed = [
                TimedSentence(
                    "e1.0", "Mark runs.", 50.0, 51.0, "script", parent="e1", state="accepted"
                ),
                TimedSentence("e2.0", "Never timed.", 50.0, 51.0, "script", parent="e2"),
            ]
            sentences = [asdict(sentence) for sentence in timed]
            write_file(folder / "aligned.json", {**script, "sentences": sentences})
    return project


def test_from_sentences_to_scores(run, project, tmp_path):
    (tmp_path / "cast.txt").write_text("ANNA\nROSE\nMARK HALEY\n")
    where = ["--project", "films"]
    status, _, err = run("corpus", "export", *where, "-o", "release")
    assert (status, "run 'reelscore corpus assemble' first" in err) == (2, True)
    status, _, err = run("corpus", "assemble", *where)
    assert status == 0
    assert "f5        4          4" in err
    status, _, err = run("corpus", "export", *where, "-o", "release")
    assert (status, "run 'reelscore corpus anonymise' first" in err) == (2, True)
    assert run("corpus", "anonymise", *where, "--cast", "cast.txt")[0] == 0
    ratios = ["--ratios", "4 1 1 1"]
    status, _, err = run("corpus", "split", *where, *ratios, "--place", "f5=public-test")
    assert status == 0
    assert "1 clips from scripts are left out" in err
    options = ["--blind", "--format", "coco", "--format", "stories"]
    status, _, err = run("corpus", "export", *where, "-o", "release", *options)
    assert status == 0, err
    files = sorted(path.name for path in (tmp_path / "release").iterdir())
    assert files == sorted(
        [f"{name}{end}" for name in SETS[:3] for end in (".json", ".stories.json")]
        + ["blind_clips.json", "blind_references.json"]
    )
    content = {name: json.loads((tmp_path / "release" / name).read_text()) for name in files}
    blind = (tmp_path / "release/blind_clips.json").read_text()
    assert "caption" not in blind
    assert "references" not in blind
    seen = set()
    for name in [*(f"{name}.json" for name in SETS[:3]), "blind_references.json"]:
        films = {image["film"] for image in content[name]["images"]}
        assert films
        assert not films & seen
        seen |= films
        texts = {each["caption"] for each in content[name]["annotations"]}
        assert texts <= {"Someone nods.", "People wave.", "Rose petals fall.", "Someone runs."}
        assert ("Someone runs." in texts) == (name == "training.json")
    # reelscore score reads every clip
    images = [image["id"] for image in content["public-test.json"]["images"]]
    (tmp_path / "system.json").write_text(
        json.dumps([{"image_id": each, "caption": "Someone nods."} for each in images])
    )
    status, out, err = run(
        *["score", "system.json", "-r", "release/public-test.json", "-m", "bleu", "--json", "-"]
    )
    assert status == 0, err
    assert all(each in out for each in images)
    stories = "release/public-test.stories.json"
    status, _, err = run("stories", stories, "-r", stories, "--scores", "soda_c")
    assert status == 0, err


def test_a_ready_challenge(run, project, tmp_path):
    (tmp_path / "cast.txt").write_text("ANNA\nROSE\nMARK HALEY\n")
    where = ["--project", "films"]
    assert run("corpus", "assemble", *where)[0] == 0
    assert run("corpus", "anonymise", *where, "--cast", "cast.txt")[0] == 0
    export = ["corpus", "export", *where, "-o", "release", "--challenge"]
    status, _, err = run(*export)
    assert (status, "run 'reelscore corpus split' first" in err) == (2, True)
    assert run("corpus", "split", *where, "--ratios", "4 1 1 0")[0] == 0
    status, _, err = run(*export)
    assert (status, "The blind test has no clips" in err) == (2, True)
    assert not (tmp_path / "release").exists()
    assert run("corpus", "split", *where, "--ratios", "4 1 1 1")[0] == 0
    status, _, err = run(*export, "--opens", "2026-06-01")
    assert status == 0, err
    folder = tmp_path / "release" / "challenge"
    definition = read_definition(folder / "challenge.toml")
    assert (definition.id, definition.name) == ("demo", "Demo")
    public_phase, blind_phase = definition.phases
    opening = datetime(2026, 6, 1, tzinfo=timezone.utc)
    assert public_phase.opens == opening.timestamp() * 1_000_000
    assert blind_phase.opens == public_phase.closes < blind_phase.reveals
    splits = json.loads(Path("films/splits.json").read_text())["clips"]
    for split in definition.splits:
        (references_file,) = split.files
        references = json.loads((folder / references_file).read_text())
        ids = sorted(clip for clip, name in splits.items() if name == f"{split.id}-test")
        assert sorted(image["id"] for image in references["images"]) == ids
        for kind in ("clips", "sample"):
            text = (folder / "participants" / f"{split.id}_{kind}.json").read_text()
            assert all(each in text for each in ids)
        # the sample can be handed in as it is
        sample = str(folder / "participants" / f"{split.id}_sample.json")
        metrics = ["-m", ",".join(definition.scoring.metrics)]
        status, _, err = run("score", sample, "-r", str(folder / references_file), *metrics)
        assert status == 0, err
    blind = json.loads((folder / "blind_references.json").read_text())["annotations"]
    assert (folder / "blind_references.json").stat().st_mode & 0o077 == 0
    for path in (folder / "participants").iterdir():
        text = path.read_text()
        assert "references" not in text
        assert not any(each["caption"] in text for each in blind)
    for page in definition.pages.values():
        assert "blind_references" not in (folder / page).read_text()


def test_clips_of_loose_files(run, project, tmp_path):
    for name, path in (("said", "f5/transcript.json"), ("script", "f5/aligned.json")):
        (tmp_path / f"{name}.json").write_bytes((project.folder / "films" / path).read_bytes())
    files = ["--sentences", "said.json", "--sentences", "script.json"]
    options = ["--film", "up", "-o", "clips.json"]
    status, _, err = run("corpus", "assemble", *files, *options)
    assert status == 0, err
    clips = json.loads((tmp_path / "clips.json").read_text())["clips"]
    assert [clip["origin"] for clip in clips] == ["ad", "ad", "ad", "script"]
    assert clips[-1]["id"] == "up_00.00.50.000-00.00.51.000"
    status, _, err = run("corpus", "assemble", "--sentences", "clips.json", "-o", "x.json")
    assert status == 0, err  # it has sentences, too
    status, _, err = run("corpus", "assemble", "--sentences", "films/corpus.json")
    assert (status, "expected sentences" in err) == (2, True)
    status, _, err = run("corpus", "assemble", "--project", "films", "-o", "x.json")
    assert (status, "name --sentences" in err) == (2, True)


def test_sets_and_exports_of_loose_files(run, project, tmp_path):
    assert run("corpus", "assemble", "--project", "films")[0] == 0
    clips = json.loads((project.folder / "clips.json").read_text())
    (tmp_path / "clips.json").write_text(json.dumps(clips))
    loose = ["--clips", "clips.json"]
    status, _, err = run(
        "corpus", "split", *loose, "--ratios", "5 1 1 1", "--seed", "1", "-o", "splits.json"
    )
    assert status == 0, err
    films = json.loads((tmp_path / "splits.json").read_text())["films"]
    assert set(films) == {clip["film"] for clip in clips["clips"]}
    splits = ["--splits", "splits.json", "-o", "release", "--blind", "--challenge"]
    status, _, err = run("corpus", "export", *loose, *splits)
    assert status == 0, err
    blind = json.loads((tmp_path / "release" / "blind_clips.json").read_text())
    assert {films[each["film"]] for each in blind["images"]} == {"blind-test"}
    assert (tmp_path / "release" / "challenge" / "challenge.toml").is_file()
    refused = [
        (["split", "--clips", "splits.json", "-o", "x.json"], "expected clips"),
        (["split", "--project", "films", "-o", "x.json"], "name --clips"),
        (["export", *loose, "--splits", "release/blind_clips.json", "-o", "y"], "expected sets"),
        (["export", "--project", "films", "--splits", "splits.json", "-o", "y"], "--clips"),
    ]
    for command, reason in refused:
        status, _, err = run("corpus", *command)
        assert (status, reason in err) == (2, True), err
    assert not (tmp_path / "x.json").exists()
    assert not (tmp_path / "y").exists()


def test_names_to_check_are_written(run, project, tmp_path):
    (tmp_path / "cast.txt").write_text("ANNA\nROSE\nMARK HALEY\n")
    where = ["--project", "films"]
    assert run("corpus", "assemble", *where)[0] == 0
    options = ["--cast", "cast.txt", "--report", "check.csv"]
    assert run("corpus", "anonymise", *where, *options)[0] == 0
    with (tmp_path / "check.csv").open(newline="") as file:
        rows = list(csv.DictReader(file))
    assert rows[0] == {
        "film": "f0",
        "sentence": "s0",
        "to check": "",
        "before": "Anna nods.",
        "after": "Someone nods.",
    }
    assert {row["to check"] for row in rows if "petals" in row["before"]} == {"Rose kept"}
    (tmp_path / "text.txt").write_text("Rose petals fall.\nIt rains.\n")
    loose = ["--text", "text.txt", "--cast", "cast.txt", "--report", "loose.csv"]
    assert run("corpus", "anonymise", *loose)[0] == 0
    assert (tmp_path / "loose.csv").read_text().splitlines()[1:] == [
        ",1,Rose kept,Rose petals fall.,Rose petals fall."
    ]


def test_stages_know_when_they_are_fresh(run, project):
    where = ["--project", "films"]
    assert "assemble" not in run("corpus", "status", *where)[2]
    run("corpus", "assemble", *where)
    assert "assemble: done, anonymise: open, split: open" in run("corpus", "status", *where)[2]
    before = (project.folder / "clips.json").read_bytes()
    assert "already assembled" in run("corpus", "assemble", *where)[2]
    assert (project.folder / "clips.json").read_bytes() == before
    now = "2026-01-01T00:00:00Z"
    append_decision(project.place("f0", "decisions.jsonl"), Decision(now, "ada", "s1", "reject"))
    states = json.loads(run("corpus", "status", *where, "--json", "-")[1])["corpus"]
    assert states == {"assemble": "stale", "anonymise": "open", "split": "open"}
    status, _, err = run("corpus", "split", *where, "--ratios", "4 1 1 1")
    assert (status, "has changed since clips.json was made" in err) == (2, True)
    run("corpus", "assemble", *where)
    assert run("corpus", "split", *where, "--ratios", "4 1 1 1")[0] == 0
    run("corpus", "assemble", *where, "--expand", "none")
    assert (project.folder / "clips.json").read_bytes() != before
    status, _, err = run("corpus", "export", *where, "-o", "release", "--original")
    assert (status, "clips.json has changed since splits.json was made" in err) == (2, True)


def test_clips_are_cut(run, tmp_path, monkeypatch):
    """A film whose brightness says the second; work that broke off goes on, changes are seen."""
    if shutil.which("ffmpeg") is None:
        pytest.skip("ffmpeg is not there")
    monkeypatch.chdir(tmp_path)
    brightness_film(tmp_path / "a film.mp4", 8)
    project = Project.new("films", "Demo")
    project.add_film(Film("f", film="a film.mp4"))
    told = [TimedSentence("s1", "A.", 2.0, 4.0, "ad"), TimedSentence("s2", "B.", 5.0, 7.0, "ad")]
    content = {"sentences": [asdict(each) for each in told]}
    write_file(project.place("f", "transcript.json"), content)
    where = ["--project", "films"]
    cut = ["corpus", "cut", *where, "-o", "clips"]
    status, _, err = run(*cut)
    assert (status, "run 'reelscore corpus assemble' first" in err) == (2, True)
    assert run("corpus", "assemble", *where)[0] == 0
    status, out, _ = run(*cut, "--dry-run")
    assert (status, (tmp_path / "clips").exists()) == (0, False)
    commands = [shlex.split(line) for line in out.splitlines()]
    assert commands[0][:4] == ["ffmpeg", "-v", "error", "-nostdin"]
    names = ["f_00.00.02.000-00.00.04.000", "f_00.00.05.000-00.00.07.000"]
    assert [Path(command[-1]).stem for command in commands] == names
    status, _, err = run(*cut)
    assert (status, "2 clips cut, 0 were there" in err) == (0, True)
    files = [tmp_path / "clips" / f"{name}.mp4" for name in names]
    assert sorted((tmp_path / "clips").iterdir()) == files
    for file, start in zip(files, (2, 5), strict=True):
        frames = read_frames(file, Sampling(2, 0))
        shown = [picture.mean() / 25 for picture in frames.pictures]  # 25 brighter each second
        assert shown == pytest.approx([start + 0.4, start + 1.4], abs=0.5)
        assert frames.duration == pytest.approx(2.0, abs=0.11)
    files[0].write_bytes(files[0].read_bytes()[:500])
    assert "1 clips cut, 1 were there" in run(*cut)[2]
    assert run("corpus", "assemble", *where, "--expand", "tail")[0] == 0
    assert "2 clips cut, 0 were there" in run(*cut)[2]  # at other times
    (tmp_path / "a film.mp4").write_bytes(b"no film")
    status, _, err = run(*cut)
    assert (status, "could not be cut; ffmpeg: " in err) == (2, True)
    assert sorted((tmp_path / "clips").iterdir()) == files


def brightness_film(file, seconds):
    with av.open(str(file), "w") as target:
        stream = target.add_stream("mpeg4", rate=10)
        stream.width, stream.height, stream.pix_fmt = 64, 64, "yuv420p"
        for k in range(10 * seconds):
            picture = np.full((64, 64, 3), 2.5 * k, np.uint8)
            target.mux(stream.encode(av.VideoFrame.from_ndarray(picture, format="rgb24")))
        target.mux(stream.encode())


def test_lsmdc_files_are_read_back(run, project, tmp_path):
    where = ["--project", "films"]
    assert run("corpus", "assemble", *where)[0] == 0
    assert run("corpus", "anonymise", *where)[0] == 0
    assert run("corpus", "split", *where, "--ratios", "4 1 1 1")[0] == 0
    options = ["--format", "lsmdc", "--format", "csv", "--blind"]
    assert run("corpus", "export", *where, "-o", "out", *options)[0] == 0
    (written,) = read_clips("out/training.lsmdc.csv").values()
    (wanted,) = read_clips("out/training.csv").values()
    assert written == [replace(clip, origin="") for clip in wanted]
    line = (tmp_path / "out/training.lsmdc.csv").read_text().splitlines()[1]
    times = "00.00.10.000\t00.00.11.500\t00.00.09.750\t00.00.11.750"
    assert re.fullmatch(rf"f\d_00.00.10.000-00.00.11.500\t{times}\tThe Haleys wave\.", line)
    blind = (tmp_path / "out/blind_clips.lsmdc.csv").read_text().splitlines()
    assert {len(line.split("\t")) for line in blind} == {5}
    status, out, _ = run("corpus", "stats", "out/training.lsmdc.csv", "-o", "-.csv")
    assert (status, out.splitlines()[-1].split(",")[4]) == (0, str(len(wanted)))


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (["--ratios", "1 2"], "Give 4 shares"),
        (["--ratios", "a b c d"], "expected four numbers"),
        (["--place", "f0"], "expected FILM=SET"),
        (["--place", "f0=nowhere"], "is not a set"),
        (["--place", "f6=blind-test"], "only clips from a script"),
    ],
)
def test_bad_splits(run, project, options, message):
    run("corpus", "assemble", "--project", "films")
    status, _, err = run("corpus", "split", "--project", "films", *options)
    assert status == 2
    assert message in err
    assert not (project.folder / "splits.json").exists()


def test_statistics(run, project):
    where = ["--project", "films"]
    now = "2026-01-01T00:00:00Z"
    reject = Decision(now, "ada", "s1", "reject", note="sound or music")
    append_decision(project.place("f0", "decisions.jsonl"), reject)
    run("corpus", "assemble", *where)
    status, out, err = run("corpus", "stats", *where, "--tagger", "parser", "--json", "-")
    assert status == 0, err
    content = json.loads(out)
    assert content["sizes"]["all"]["films"] == 7
    assert content["sizes"]["narration"]["clips"] == 17
    assert content["sizes"]["narration"]["words"] == 6 * 2 + 5 * 3 + 6 * 3
    assert content["sizes"]["script"]["vocabulary"] == 2
    assert content["sizes"]["script"]["parts"] == {
        "nouns": 1,
        "verbs": 1,
        "adjectives": 0,
        "adverbs": 0,
    }
    assert content["review"]["ad"]["reasons"] == {"sound or music": 1}
    assert content["review"]["ad"]["words_lost"] == pytest.approx(3 / 48, abs=1e-4)
    status, out, err = run("corpus", "stats", *where)
    assert out.splitlines()[0].split("  ")[0] == "part"
    assert max(map(len, out.splitlines())) <= 80
    assert "not counted without a tagger" in err
    for form, start in ((".csv", "part,films,words"), (".tex", "begin{tabular}")):
        assert start in run("corpus", "stats", *where, "-o", f"-{form}")[1]
    assert run("corpus", "stats", *where, "-o", "lengths.svg")[0] == 0
    figure = Path("lengths.svg").read_text()
    assert all(word in figure for word in ("seconds (20: or more)", "share of sentences", "script"))


def test_statistics_of_any_file(run, project, tmp_path):
    where = ["--project", "films"]
    run("corpus", "assemble", *where)
    run("corpus", "split", *where, "--ratios", "4 1 1 1")
    formats = [part for name in ("coco", "jsonl", "csv", "stories") for part in ("--format", name)]
    run("corpus", "export", *where, "-o", "release", "--original", *formats)
    expected = json.loads(run("corpus", "stats", *where, "--json", "-")[1])["sizes"]
    for ending in (".json", ".jsonl", ".csv", ".stories.json"):
        files = [f"release/{name}{ending}" for name in ("validation", "training")]
        status, out, err = run("corpus", "stats", *files, "--json", "-")
        assert status == 0, err
        sizes = json.loads(out)["sizes"]
        if ending == ".stories.json":  # with the times of the sentences alone
            assert sizes["validation"]["mean_length"] == expected["validation"]["mean_raw"]
            assert sizes["validation"]["words"] == expected["validation"]["words"]
            continue
        assert sizes["validation"] == expected["validation"]
        assert list(sizes)[-1] == "all"
        if ending in (".jsonl", ".csv"):  # these say where sentences come from
            assert sizes["script"] == expected["script"]
    clip = "1001_Up_00.00.51.926-00.00.52.926"
    times = "00.00.51.926\t00.00.52.926\t00.00.51.426\t00.00.53.426"
    (tmp_path / "LSMDC16_annos_test.csv").write_text(f"{clip}\t{times}\tSomeone nods.\n")
    out = run("corpus", "stats", "LSMDC16_annos_test.csv")[1]
    assert " ".join(out.splitlines()[1].split()) == "all 1 2 1 1 2.0 (1.0) 0.00 (0.00) 2"
    (tmp_path / "refs.json").write_text('{"v1": ["A man walks.", "Someone strolls."]}')
    out = run("corpus", "stats", "refs.json", "-o", "lengths.svg")[1]
    assert " ".join(out.splitlines()[1].split()) == "all - 5 2 1 - - 5"
    status, _, err = run("corpus", "stats", "nothing.json")
    assert (status, "nothing.json" in err) == (2, True)


def test_published_facts(run):
    status, out, _ = run("corpus", "stats", "--published", "-o", "-.csv")
    assert status == 0
    assert '"Tables 1 and 2, all cells",not in our copy,3.4' in out
    golden = Path(__file__).parents[1] / "golden" / "specification" / "corpus_numbers.json"
    printed = json.loads(golden.read_text())
    numbers = re.findall(r"\d[\d,]*\d", "".join(row[1] for row in published_figures()))
    assert len(numbers) > 25
    assert [number for number in numbers if number not in printed] == []
    text = run("corpus", "stats", "--published")[1]
    assert max(map(len, text.splitlines())) <= 80


def test_transcripts_of_a_project(run, project, tmp_path):
    segment = Segment("n00.00.04.000", 4.0, 6.5, 4.0, 6.5, -8.1, 0.9)
    where = ["--project", "films"]
    status, _, err = run("corpus", "transcript", "f6", "--template", "to-do", *where)
    assert (status, "has no segments" in err) == (2, True)
    project.write(SEGMENT, NarrationSegments(segments=(segment,)), "f6")
    wordless = ["corpus", "descriptions", "f6", *where]
    assert json.loads(run(*wordless, "--json", "-")[1])["narrated"] == 2.5
    decisions, now = project.place("f6", "decisions.jsonl"), "2026-01-01T00:00:00Z"
    append_decision(decisions, Decision(now, "ada", segment.id, "reject"))
    status, _, err = run(*wordless)
    assert (status, "has no narration" in err) == (2, True)
    append_decision(decisions, Decision(now, "ada", segment.id, "accept"))
    assert run("corpus", "transcript", "f6", "--template", "to-do", *where)[0] == 0
    table = tmp_path / "to-do" / "transcript.csv"
    status, _, err = run("corpus", "transcript", "f6", "--template", "to-do", *where)
    assert (status, "there is a table already" in err) == (2, True)
    status, _, err = run("corpus", "transcript", "f6", str(table), *where)
    assert (status, "no-sentences" in err) == (3, True)
    table.write_text(table.read_text().rstrip() + "Anna nods.\n")
    assert run("corpus", "transcript", "f6", str(table), *where)[0] == 0
    assert "was read already" in run("corpus", "transcript", "f6", str(table), *where)[2]
    assert project.status()["f6"]["transcript"] == "done"
    vtt = tmp_path / "f6.vtt"
    status, out, err = run("corpus", "descriptions", "f6", *where, "--vtt", str(vtt), "--json", "-")
    assert status == 0
    assert json.loads(out)["words_per_minute"] == 48.0
    assert "not known without subtitles" in err
    assert "00:00:04.000 --> 00:00:06.500\nAnna nods.\n" in vtt.read_text()
    table.write_text(table.read_text().replace("nods", "waves"))
    assert project.status()["f6"]["transcript"] == "stale"


def test_transcripts_and_descriptions_of_loose_files(run, project, tmp_path):
    segment = Segment("n00.00.04.000", 4.0, 6.5, 5.0, 7.5, -8.1, 0.9)
    write_file(tmp_path / "narration.json", {"segments": [asdict(segment)]})
    piece = {"ad_start": 1.0, "ad_end": 90.0, "film_start": 0.0, "rate": 1.0}
    write_file(tmp_path / "map.json", {"map": [piece]})
    (tmp_path / "heard.json").write_text('[{"start": 5.0, "end": 7.0, "text": "Anna nods."}]')
    (tmp_path / "film.srt").write_text("1\n00:00:06,000 --> 00:00:20,000\nHello!\n")
    files = ["--segments", "narration.json", "--map", "map.json", "-o", "said.json"]
    status, _, err = run("corpus", "transcript", "heard.json", *files)
    assert (status, err) == (0, "1 sentences with 2 words\n")
    said = json.loads((tmp_path / "said.json").read_text())["sentences"][0]
    assert (said["start"], said["end"], said["parent"]) == (4.0, 6.0, segment.id)
    options = ["--subtitles", "film.srt", "--json", "-"]
    for name, overlap in (("said.json", 0.0), ("narration.json", 0.5)):
        status, out, err = run("corpus", "descriptions", "--segments", name, *options)
        assert (status, json.loads(out)["overlap"]) == (0, overlap)
        assert max(map(len, err.splitlines())) <= 80
    assert run("corpus", "descriptions")[0] == 2
    status, _, err = run("corpus", "descriptions", "--segments", "map.json")
    assert (status, "expected segments or sentences" in err) == (2, True)


def test_round_trip_of_public_films(run, shared, tmp_path, monkeypatch):
    scripts, told = shared / "movie" / "scripts", shared / "movie" / "elephants_dream"
    if not (scripts.is_dir() and told.is_dir()):
        pytest.skip("the scripts and descriptions are not there")
    monkeypatch.chdir(tmp_path)
    where = ["--project", "films"]
    run("corpus", "new", "films")
    run("corpus", "add-film", "s1", *where)
    assert run("corpus", "subtitles", "s1", str(scripts / "s1-close.srt"), *where)[0] == 0
    script = str(scripts / "s1-close.fountain")
    assert run("corpus", "script", "s1", script, "--align", *where)[0] == 0
    for number in range(4):
        run("corpus", "add-film", f"e{number}", *where)
        files = [f"e{number}", str(told / "descriptions.en.vtt")]
        assert run("corpus", "transcript", *files, "--times", "film", *where)[0] == 0
    (tmp_path / "cast.txt").write_text("PROOG\nEMO\n")
    assert run("corpus", "assemble", *where)[0] == 0
    assert run("corpus", "anonymise", "--cast", "cast.txt", *where)[0] == 0
    assert run("corpus", "split", "--ratios", "7 1 1 1", *where)[0] == 0
    assert run("corpus", "export", "-o", "release", "--blind", *where)[0] == 0
    exported = {path.stem: json.loads(path.read_text()) for path in tmp_path.glob("release/*")}
    cast = json.loads((scripts / "words.json").read_text())["characters"]
    names = {
        part for name in cast if name not in ("OLD WOMAN", "GUARD #2") for part in name.split()
    }
    pattern = re.compile(rf"\b({'|'.join(sorted(names))}|PROOG|EMO)\b", re.IGNORECASE)
    for name in ("training", "validation", "public-test", "blind_references"):
        content = exported[name]
        ids = [image["id"] for image in content["images"]]
        assert sorted(set(ids)) == sorted(ids)
        assert {each["image_id"] for each in content["annotations"]} == set(ids)
        assert ("s1" in {image["film"] for image in content["images"]}) == (name == "training")
        captions = [each["caption"] for each in content["annotations"]]
        named = [
            text for text in captions for match in pattern.finditer(text) if match[0].istitle()
        ]
        assert named == []
        answers = [{"image_id": each, "caption": "Someone walks."} for each in ids]
        (tmp_path / "system.json").write_text(json.dumps(answers))
        references = f"release/{name}.json"
        status, _, err = run("score", "system.json", "-r", references, "-m", "bleu")
        assert status == 0, err
